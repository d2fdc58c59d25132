"""Can every state be reached from every other? Decided on the graph, before numerics.

The union graph of a model has an edge s -> s' if some action moves there with positive
probability *in that model*; explicit zeros of the shared pattern do not count.

From which states can a target be reached with probability 1, and by what actions?

From all other states the expected travel time is infinite. The answer is the greatest
set W in which every state has an action that stays in W and leads towards the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.solving.reachability import strong_components
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray, digest, owned
from simgap.errors import InvalidArgument, NotCommunicating
from simgap.mdp import SimulatorClass, TabularMDP, Transitions, asked_once

SHOWN = 4  # components, and states of each, that a message prints


def as_class(simulators: SimulatorClass | TabularMDP) -> SimulatorClass:
    """Return a class; one model is a class of one."""
    if isinstance(simulators, SimulatorClass):
        return simulators
    if isinstance(simulators, TabularMDP):
        return simulators.as_class()
    raise InvalidArgument(
        f"a model or a class of models is needed, got {type(simulators).__name__}",
        hint="give a SimulatorClass or a TabularMDP; a LatentMDP has .simulators",
    )


def communicating(simulators: SimulatorClass | TabularMDP) -> BoolArray:
    """Return for each model whether its union graph is strongly connected, (M,)."""
    return _communicating(as_class(simulators).transitions)


@asked_once
def _communicating(kernel: Transitions) -> BoolArray:
    component = np.empty(kernel.n_states, np.int64)
    answers: dict[str, bool] = {}  # models with the same support share an answer
    out = np.empty(kernel.n_models, np.bool_)
    for member, row in enumerate(kernel.values):
        whole = kernel.n_models == 1 or bool(row.all())
        key = "whole" if whole else digest(np.packbits(row > 0.0))
        if key not in answers:
            found = strong_components(
                kernel.indptr, kernel.indices, row, kernel.n_actions, component
            )
            answers[key] = found == 1
        out[member] = answers[key]
    frozen: BoolArray = owned(out)
    return frozen


def components(simulators: SimulatorClass, member: int) -> OffsetArray:
    """Return the strongly connected component of each state of one model, (S,)."""
    kernel = simulators.transitions
    component = np.empty(kernel.n_states, np.int64)
    strong_components(
        kernel.indptr,
        kernel.indices,
        kernel.values[member],
        kernel.n_actions,
        component,
    )
    return component


def communicating_components(
    simulators: SimulatorClass | TabularMDP, member: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected components of one model, each as its states."""
    every = as_class(simulators)
    component = components(every, every.member(member))
    return tuple(
        tuple(int(s) for s in np.flatnonzero(component == c))
        for c in range(int(component.max()) + 1)
    )


def require_communicating(simulators: SimulatorClass) -> None:
    """Raise, with the components named, if some model is not communicating."""
    answers = communicating(simulators).tolist()
    if not all(answers):
        raise not_communicating(simulators, answers.index(False))


def not_communicating(simulators: SimulatorClass, member: int) -> NotCommunicating:
    """Return the error that names the components of one model."""
    parts = communicating_components(simulators, member)
    label = simulators.labels.state
    shown = []
    for part in parts[:SHOWN]:
        states = ", ".join(label(s) for s in part[:SHOWN])
        more = f", ... {len(part)} states" if len(part) > SHOWN else ""
        shown.append(f"{{{states}{more}}}")
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return NotCommunicating(
        f"model {simulators.model_names[member]!r} is not communicating: its states "
        f"fall into {len(parts)} components, {', '.join(shown)}{more}, "
        "and not every one can be reached from every other",
        hint="gain, bias and diameter need a way back from everywhere: let terminal "
        "states restart, or drop unreachable states; values for a horizon H need "
        "none of this",
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class SureStates:
    """The sub-model on W; an action that may leave W is a copy of one that does not."""

    states: OffsetArray  # increasing
    indptr: OffsetArray
    indices: IndexArray
    values: FloatArray
    n_actions: int
    actions: IndexArray  # (states, A), the action of the model behind each of its own


def sure_states(kernel: Transitions, member: int, target: int) -> SureStates:
    """Return the states that can make sure of the target, and their safe actions."""
    probabilities = kernel.values[member]
    used = probabilities > 0.0
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    rows, after = rows[used], kernel.indices[used].astype(np.int64)
    weights = probabilities[used]
    n_rows = kernel.indptr.size - 1
    inside = np.ones(kernel.n_states, np.bool_)
    while True:
        safe = np.bincount(rows, ~inside[after], minlength=n_rows) == 0
        reached = _backward(rows, after, safe, kernel.n_actions, inside, target)
        if (reached == inside).all():
            break
        inside = reached
    return _restricted(rows, after, weights, safe, inside, target, kernel.n_actions)


def _backward(
    rows: OffsetArray,
    after: OffsetArray,
    safe: BoolArray,
    n_actions: int,
    inside: BoolArray,
    target: int,
) -> BoolArray:
    reached = np.zeros(inside.size, np.bool_)
    reached[target] = True
    usable = safe[rows] & inside[rows // n_actions]
    sources, goals = rows[usable] // n_actions, after[usable]
    while True:
        wider = reached.copy()
        wider[sources[reached[goals]]] = True
        if (wider == reached).all():
            return reached
        reached = wider


def _restricted(
    rows: OffsetArray,
    after: OffsetArray,
    weights: FloatArray,
    safe: BoolArray,
    inside: BoolArray,
    target: int,
    n_actions: int,
) -> SureStates:
    states = np.flatnonzero(inside)
    place = np.cumsum(inside) - 1
    begins = np.searchsorted(rows, np.arange(safe.size + 1))
    indptr, indices, values = [0], [np.zeros(0, np.int64)], [np.zeros(0)]
    actions: list[OffsetArray] = []
    for state in states.tolist():
        own = np.arange(state * n_actions, (state + 1) * n_actions)
        chosen = np.where(safe[own], own, own[np.argmax(safe[own])])
        actions.append(chosen - own[0])
        for row in chosen.tolist():
            if state == target:  # whatever it does is not looked at
                indices.append(np.array([place[state]]))
                values.append(np.ones(1))
            else:
                indices.append(place[after[begins[row] : begins[row + 1]]])
                values.append(weights[begins[row] : begins[row + 1]])
            indptr.append(indptr[-1] + indices[-1].size)
    return SureStates(
        states,
        np.array(indptr, np.int64),
        np.concatenate(indices).astype(np.int32),
        np.concatenate(values),
        n_actions,
        np.array(actions, np.int32),
    )
