"""The lower side of the average gap: what no policy can avoid losing.

G is concave in the belief and zero at the corners. An agent that knows "i or j is real"
can only lose less, so pairs of models, solved on a grid of their odds, bound the gap
of every belief through the best mixture of such pairs (a small linear program). Nodes
at beliefs met in simulation add what pairs miss: each is backed up with, at every
successor, the best mixture of nodes of that state. Every value is a lower bound: linear
interpolation under-estimates a concave function, and so does every mixture.

Between two looks for the best successors the structure is fixed, and what it gives is
valid whether or not it is still the best. A look that gained much is followed by
another soon, a look that gained little by a longer wait.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs.envelope import best_mixture, link_rows
from simgap._kernels.beliefs.oracle_lower_side import lower_step
from simgap.arrays import FloatArray, IndexArray
from simgap.oracle.bounded.lower_nodes import LowerStructure, LowerValues
from simgap.oracle.loss_form import LossForm

FEW_ROOTS = 20  # first states up to which a linear program is solved for each
MUCH = 2e-3  # a gain of new mixtures after which to look for others soon
PRUNE = 1.5  # actions that cost this many times the best sum at once are not linked
# halved: 1.071, 2.766, 1.120; doubled: 1.071, 2.708, 1.002 (see `planner`)
CHUNK = 64  # nodes between two looks at the clock
SETTLED = 1e-3  # with a discount: what later steps may still add, as a part
MOST_SWEEPS = 20_000
SOONER, LATER = 0.5, 1.7


def lower_pass(
    form: LossForm, made: LowerStructure, keep_going: Callable[[], None]
) -> tuple[FloatArray, LowerValues]:
    """Return the lower bound at every node at the first step, and before that.

    `keep_going` is called between pieces of work and raises to stop. With a discount
    the steps go on until they change nothing that matters: each is a lower bound.
    """
    now = np.zeros(made.node_state.size)
    after = np.zeros(made.node_state.size)
    favourite = np.zeros(made.node_state.size, np.int32)
    steps = form.horizon
    if steps is None:
        steps = min(ceil(log(0.1 * SETTLED) / log(form.discount)), MOST_SWEEPS)
    points = made.point_numbers()
    look, remember = Relinking(MUCH), remembered_steps(steps)
    snapshots: dict[int, FloatArray] = {}
    looks = 0
    for to_go in range(1, steps + 1):
        losses = form.losses[steps - to_go if form.horizon is not None else 0]
        if to_go in remember:
            snapshots[to_go - 1] = after.copy()
        _step(form, made, losses, favourite, after, now)
        if to_go in (look.due, form.horizon):  # the start matters most
            before = float(now[points].sum())
            _link_points(form, made, losses, after, keep_going)
            _step(form, made, losses, favourite, after, now)
            total = float(now[points].sum())
            look.learned(to_go, (total - before) / max(total, 1e-300))
            looks += 1
        now, after = after, now
        keep_going()
        if form.horizon is None and to_go % 8 == 0:
            rise = float((after - now).max()) / (1.0 - form.discount)
            if rise < SETTLED * float(after.max()):
                break
    effort = lower_effort(form, made, steps, looks)
    return after, _lower_values(form, made, snapshots, after, effort)


def lower_effort(form: LossForm, made: LowerStructure, steps: int, looks: int) -> float:
    """Return about how many nanoseconds a pass takes: a count, as above."""
    points = made.point_numbers().size
    successors = form.pattern.indices.size / form.pattern.n_states
    mixture = 2000.0 + 100.0 * form.n_models**2
    step = 1.5 * made.term_node.size + 10.0 * made.node_state.size
    return (steps + looks) * step + looks * points * successors * mixture


def _step(
    form: LossForm,
    made: LowerStructure,
    losses: FloatArray,
    favourite: IndexArray,
    after: FloatArray,
    now: FloatArray,
) -> None:
    lower_step(
        form.pattern.n_actions, form.pattern.indptr, losses, made.node_state,
        made.node_offsets, made.node_model, made.node_weight, made.row_offsets,
        made.terms_each, made.term_node, made.term_weight, favourite, after, now,
    )  # fmt: skip


def _lower_values(
    form: LossForm,
    made: LowerStructure,
    snapshots: dict[int, FloatArray],
    last: FloatArray,
    effort: float,
) -> LowerValues:
    if form.horizon is None:
        return LowerValues(made, np.zeros(2, np.int32), last[None], effort)
    to_go = form.horizon - np.arange(form.horizon + 1)
    known = sorted(snapshots)
    which = np.searchsorted(known, to_go, side="right") - 1
    stacked = [snapshots[each] for each in known] or [last]
    first: IndexArray = np.maximum(which, 0).astype(np.int32)
    return LowerValues(made, first, np.array(stacked), effort)


def _link_points(
    form: LossForm,
    made: LowerStructure,
    losses: FloatArray,
    values: FloatArray,
    keep_going: Callable[[], None],
) -> None:
    """Choose anew the mixtures at the successors of all points."""
    face = made.pair_first.size * (made.grid.size - 2)
    for state in range(form.pattern.n_states):
        first, last = made.state_offsets[state] + face, made.state_offsets[state + 1]
        for begin in range(first, last, CHUNK):
            link_rows(
                begin, min(begin + CHUNK, last), form.pattern.indptr,
                form.pattern.indices, form.likelihood, form.pattern.n_actions, losses,
                PRUNE, made.state_offsets, made.pair_first, made.pair_second,
                made.grid.size - 2, made.node_state, made.node_offsets,
                made.node_model, made.node_weight, made.row_offsets, made.term_node,
                made.term_weight, values, form.discount, 3 * form.n_models,
            )  # fmt: skip
            keep_going()


def root_lower(form: LossForm, made: LowerStructure, values: FloatArray) -> float:
    """Return the best mixture of nodes at the start of the episode."""
    if made.point_numbers().size == 0 and form.root_states.size <= FEW_ROOTS:
        total = _mixtures_by_program(form, made, values)  # nothing to compile for it
        return max(0.0, total * (1.0 - form.relative_rounding) - form.rounding)
    members, total = form.n_models, 0.0
    scratch = (np.empty((members, members)), np.empty((5, members)))
    basis, known = np.empty(members, np.int64), np.full(members, -1, np.int32)
    for state, weights in zip(form.root_states, form.root_weights, strict=True):
        mass = float(weights.sum())
        total += mass * best_mixture(
            weights / mass, made.state_offsets[state], made.state_offsets[state + 1],
            made.pair_first, made.pair_second, made.grid.size - 2, made.node_offsets,
            made.node_model, made.node_weight, values, 20 * members, known, *scratch,
            basis,
        )  # fmt: skip
    return max(0.0, total * (1.0 - form.relative_rounding) - form.rounding)


def _mixtures_by_program(
    form: LossForm, made: LowerStructure, values: FloatArray
) -> float:
    from scipy.optimize import linprog

    total = 0.0
    for state, weights in zip(form.root_states, form.root_weights, strict=True):
        first, last = made.state_offsets[state], made.state_offsets[state + 1]
        entries = slice(*made.node_offsets[[first, last]])
        lengths = np.diff(made.node_offsets[first : last + 1])
        columns = np.zeros((form.n_models, last - first))
        which = np.repeat(np.arange(last - first), lengths)
        columns[made.node_model[entries], which] = made.node_weight[entries]
        found = linprog(-values[first:last], A_ub=columns, b_ub=weights)
        mix = np.maximum(found.x, 0.0) if found.x is not None else np.zeros(0)
        if mix.size == 0:
            continue  # not solved: zero is a bound too
        used = columns @ mix
        over = used > weights  # by rounding
        fit = float((weights[over] / used[over]).min()) if over.any() else 1.0
        total += fit * float(values[first:last] @ mix)
    return total


def pair_prices_below(
    form: LossForm, made: LowerStructure, values: FloatArray
) -> FloatArray:
    """Return what not knowing i from j costs at least, (M, M).

    The price is the average gap of the class of these two models with their prior.
    """
    prices = np.zeros((form.n_models, form.n_models))
    cells, weights = made.grid.size - 1, form.root_weights
    for state, root in zip(form.root_states, weights, strict=True):
        for p, (i, j) in enumerate(zip(made.pair_first, made.pair_second, strict=True)):
            total = root[i] + root[j]
            if root[i] <= 0.0 or root[j] <= 0.0:
                continue
            base = made.state_offsets[state] + p * (cells - 1)
            face = np.concatenate([[0.0], values[base : base + cells - 1], [0.0]])
            prices[i, j] += total * np.interp(root[j] / total, made.grid, face)
    prior = form.latent.prior
    both = prior[:, None] + prior
    prices = np.divide(prices + prices.T, both, where=both > 0.0, out=prices)
    sure = prices * (1.0 - form.relative_rounding) - form.rounding
    return np.asarray(np.maximum(0.0, sure))


@final
@dataclass(slots=True)
class Relinking:
    """Steps to go at which to look again."""

    much: float  # a gain, as a part of the values, after which to look sooner
    due: int = 1  # steps to go of the next look
    wait: float = 1.0

    def learned(self, to_go: int, gain: float) -> None:
        """Set the next look after one that gained a part of the values."""
        self.wait = max(1.0, self.wait * (SOONER if gain > self.much else LATER))
        self.due = to_go + int(self.wait)


def remembered_steps(count: int, ratio: float = 1.4) -> frozenset[int]:
    """Return numbers of steps to go, from 1 to count: many small ones, few large."""
    found, at = set(), 1.0
    while at <= count:
        found.add(int(at))
        at = max(at * ratio, at + 1.0)
    return frozenset(found)
