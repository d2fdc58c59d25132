"""Ways to build a model or a class: from arrays, functions, counts, or models.

Every builder ends in the same storage (`UnionPattern`) and the same checks. Rewards
are indexed [state, action] throughout, or [model, state, action] for a class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from operator import index
from typing import Any, final

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp.grid_origin import GridOrigin
from simgap.mdp.kernel_rows import (
    checked_edges,
    csr_of_dense,
    csr_of_sorted,
    without_zeros,
)
from simgap.mdp.labels import Labels, Parameters, RewardUnits
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.union import UnionPattern
from simgap.mdp.validation import as_floats

Successors = Iterable[tuple[int, float]]


class IndexOrder(Enum):
    """How a dense kernel is indexed."""

    STATE_ACTION = "P[state, action, next_state]"
    ACTION_STATE = "P[action, state, next_state]"


@final
@dataclass(frozen=True, slots=True)
class Details:
    """What a class may carry besides its numbers."""

    start: Any = 0  # a state, a distribution, or one of either per model
    model_names: Sequence[str] = ()
    state_names: Sequence[str] = ()
    action_names: Sequence[str] = ()
    parameters: Parameters | None = None
    units: RewardUnits = field(default_factory=RewardUnits)  # of rewards as given
    notes: tuple[str, ...] = ()
    grid: GridOrigin | None = None


PLAIN = Details()


def class_from_arrays(
    transitions: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    order: IndexOrder | None = None,
    details: Details = PLAIN,
) -> SimulatorClass:
    """Return a class from dense kernels (M, S, A, S) or (M, A, S, S).

    The order is read off the shape when only one fits; when S = A both do, and it
    must be named.
    """
    given = as_floats(transitions, "transitions")
    if given.ndim != 4:
        raise InvalidModel(
            f"transitions have shape {given.shape}; a class needs four axes",
            hint="(models, states, actions, states); one model goes to mdp_from_arrays",
        )
    members = given.shape[0]
    if order is not None and not isinstance(order, IndexOrder):
        raise InvalidArgument(
            f"order {order!r} is not an IndexOrder",
            hint="give IndexOrder.STATE_ACTION or IndexOrder.ACTION_STATE",
        )
    order = order or _order_from_shape(given.shape[1:])
    if order is IndexOrder.ACTION_STATE:
        given = given.transpose(0, 2, 1, 3)
    _check_square(given.shape[1:])
    _, n_states, n_actions, _ = given.shape
    pattern = UnionPattern(n_states, n_actions, members)
    for kernel in given:
        pattern.add(*csr_of_dense(kernel.reshape(n_states * n_actions, n_states)))
    return _finish(pattern, rewards, details)


def mdp_from_arrays(
    transitions: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    order: IndexOrder | None = None,
    details: Details = PLAIN,
) -> TabularMDP:
    """Return one model from a dense kernel (S, A, S) or (A, S, S)."""
    given = as_floats(transitions, "transitions")
    if given.ndim != 3:
        raise InvalidModel(
            f"transitions have shape {given.shape}; one model needs three axes",
            hint="(states, actions, states); a class goes to class_from_arrays",
        )
    return class_from_arrays(given[None], rewards, order=order, details=details)[0]


def class_from_edges(
    edges: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    shape: tuple[int, int, int],
    details: Details = PLAIN,
) -> SimulatorClass:
    """Return a class from edges (n, 4) of (model, s, a, s') and their probabilities.

    `shape` is (M, S, A). Edges given twice are added up, as Gymnasium's tables need.
    """
    members, n_states, n_actions = _checked_shape(shape)
    table, weights = checked_edges(edges, probabilities, (*shape, n_states))
    order = np.lexsort((table[:, 3], table[:, 2], table[:, 1], table[:, 0]))
    table, weights = table[order], weights[order]
    rows = table[:, 1] * n_actions + table[:, 2]
    ends = np.searchsorted(table[:, 0], np.arange(members + 1))
    pattern = UnionPattern(n_states, n_actions, members)
    for begin, end in pairwise(ends.tolist()):
        chosen = slice(begin, end)
        pattern.add(
            *csr_of_sorted(
                rows[chosen],
                table[chosen, 3],
                weights[chosen],
                n_states * n_actions,
                n_states,
            )
        )
    return _finish(pattern, rewards, details)


def mdp_from_edges(
    edges: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    shape: tuple[int, int],
    details: Details = PLAIN,
) -> TabularMDP:
    """Return one model from edges (n, 3) of (s, a, s') and their probabilities."""
    table = np.asarray(edges)
    if table.ndim != 2 or table.shape[1] != 3:
        raise InvalidModel(
            f"edges have shape {table.shape}, (n, 3) is needed",
            hint="a row is (state, action, next state)",
        )
    numbered = np.column_stack([np.zeros(len(table), table.dtype), table])
    return class_from_edges(
        numbered, probabilities, rewards, shape=(1, *shape), details=details
    )[0]


def mdp_from_function(
    successors: Callable[[int, int], Successors],
    rewards: npt.ArrayLike | Callable[[int, int], float],
    *,
    shape: tuple[int, int],
    details: Details = PLAIN,
) -> TabularMDP:
    """Return one model from a function (s, a) -> pairs (s', probability)."""
    _, n_states, n_actions = _checked_shape((1, *shape))
    edges: list[tuple[int, int, int]] = []
    weights: list[float] = []
    for s in range(n_states):
        for a in range(n_actions):
            try:
                for after, probability in successors(s, a):
                    edges.append((s, a, index(after)))
                    weights.append(float(probability))
            except (TypeError, ValueError) as error:
                raise InvalidModel(
                    f"the transition function failed at (s={s}, a={a}): {error}",
                    hint="it must return pairs (next_state, probability)",
                ) from error
    if callable(rewards):
        reward_of = rewards
        rewards = [
            [float(reward_of(s, a)) for a in range(n_actions)] for s in range(n_states)
        ]
    table = np.array(edges, np.int64).reshape(-1, 3)
    return mdp_from_edges(table, weights, rewards, shape=shape, details=details)


def mdp_from_counts(
    counts: npt.ArrayLike,
    rewards: npt.ArrayLike,
    *,
    pseudo_count: float = 0.0,
    details: Details = PLAIN,
) -> TabularMDP:
    """Return the model of observed frequencies, from counts N[s, a, s'].

    `pseudo_count` is added to every successor of every pair. Without it, a pair that
    was never tried has no law and is refused by name.
    """
    given = as_floats(counts, "counts")
    if given.ndim != 3 or given.shape[0] != given.shape[2]:
        raise InvalidModel(
            f"counts have shape {given.shape}",
            hint="counts are indexed [state, action, next state]",
        )
    if not (np.isfinite(given).all() and (given >= 0.0).all()):
        s, a, t = (
            int(i) for i in np.argwhere(~(np.isfinite(given) & (given >= 0.0)))[0]
        )
        raise InvalidModel(
            f"count of (s={s}, a={a}, s'={t}) is {given[s, a, t]}",
            hint="counts are whole numbers from 0 on",
        )
    if not (np.isfinite(pseudo_count) and pseudo_count >= 0.0):
        raise InvalidModel(
            f"pseudo_count is {pseudo_count}", hint="it is a number from 0 on"
        )
    smoothed = given + pseudo_count
    totals = smoothed.sum(axis=2, keepdims=True)
    if (totals <= 0.0).any():
        s, a, _ = (int(i) for i in np.argwhere(totals <= 0.0)[0])
        raise InvalidModel(
            f"(s={s}, a={a}) was never observed",
            hint="give pseudo_count > 0, or leave the action out",
        )
    return mdp_from_arrays(
        smoothed / totals, rewards, order=IndexOrder.STATE_ACTION, details=details
    )


def class_from_models(
    models: Sequence[TabularMDP], *, notes: tuple[str, ...] = ()
) -> SimulatorClass:
    """Return the class of some models over the same states and actions."""
    models = list(models)
    if len(models) == 0:
        raise InvalidModel("a class needs at least one model", hint="give a model")
    for model in models:
        if not isinstance(model, TabularMDP):
            raise InvalidModel(
                f"a class is made of models, got a {type(model).__name__}",
                hint="give TabularMDP objects; list(simulators) has those of a class",
            )
    first = models[0]
    pattern = UnionPattern(first.n_states, first.n_actions, len(models))
    for model in models:
        if (model.n_states, model.n_actions) != (first.n_states, first.n_actions):
            raise InvalidModel(
                f"model {model.name!r} has {model.n_states} states and "
                f"{model.n_actions} actions, {first.name!r} has {first.n_states} "
                f"and {first.n_actions}",
                hint="models of a class share states and actions",
            )
        if tuple(model.parameters) != tuple(first.parameters):
            raise InvalidModel(
                f"model {model.name!r} has parameters {tuple(model.parameters)}, "
                f"{first.name!r} has {tuple(first.parameters)}",
                hint="models of a class have the same parameters, or none",
            )
        pattern.add(*without_zeros(model))
    names = [model.name for model in models]
    theta = np.array([list(model.parameters.values()) for model in models], np.float64)
    return _finish(
        pattern,
        _shared(np.stack([model.rewards for model in models])),
        Details(
            start=_joint_start(models),
            model_names=names if len(set(names)) == len(names) else (),
            state_names=first.labels.states,
            action_names=first.labels.actions,
            parameters=Parameters(
                tuple(first.parameters),
                theta.reshape(len(models), len(first.parameters)),
            ),
            notes=notes or first.notes,
            grid=next((each.grid for each in models if each.grid is not None), None),
        ),
    )


def _finish(
    pattern: UnionPattern, rewards: npt.ArrayLike, details: Details
) -> SimulatorClass:
    transitions = pattern.finish()
    notes = details.notes
    if pattern.repaired_rows:
        notes = (
            *notes,
            f"{pattern.repaired_rows} rows divided by sums within 1e-9 of 1",
        )
    return SimulatorClass(
        transitions=transitions,
        rewards=details.units.meant(as_floats(rewards, "rewards")),
        start=details.start,
        model_names=tuple(details.model_names),
        labels=Labels(tuple(details.state_names), tuple(details.action_names)),
        parameters=details.parameters,
        notes=notes,
        grid=details.grid,
    )


def _order_from_shape(shape: tuple[int, ...]) -> IndexOrder:
    first, second, last = shape
    state_action, action_state = first == last, second == last
    if state_action and action_state and last > 1:
        raise InvalidModel(
            f"a kernel of shape {shape} may be P[state, action, next] or "
            "P[action, state, next]",
            hint="name the order: order=IndexOrder.STATE_ACTION or ACTION_STATE",
            code="kernel-order",
        )
    if action_state:
        return IndexOrder.ACTION_STATE
    return IndexOrder.STATE_ACTION


def _check_square(shape: tuple[int, ...]) -> None:
    if shape[0] != shape[2]:
        raise InvalidModel(
            f"a kernel of shape {shape} has {shape[0]} states before a step and "
            f"{shape[2]} after it",
            hint="kernels are (states, actions, states) or (actions, states, states)",
            code="kernel-shape",
        )


def _checked_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    if len(shape) != 3 or min(shape) < 1:
        raise InvalidModel(
            f"shape {tuple(shape)} of a class",
            hint="shape is (models, states, actions), each at least 1",
        )
    members, n_states, n_actions = (int(size) for size in shape)
    return members, n_states, n_actions


def _shared(rewards: FloatArray) -> FloatArray:
    return rewards[:1] if (rewards == rewards[:1]).all() else rewards


def _joint_start(models: Sequence[TabularMDP]) -> Any:
    if all(isinstance(model.start, int) for model in models):
        states = np.array([model.start for model in models], np.int64)
        return states[:1] if (states == states[0]).all() else states
    laws = np.stack([model.as_class().start_law(0) for model in models])
    return _shared(laws)
