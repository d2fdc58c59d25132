"""The upper side of the average gap: policy graphs, chosen and evaluated backwards.

Each node has a vector: the gap, in each model, of what follows from it. One backward
pass chooses actions and successors and evaluates them at once, so that the vectors are
those of an executable policy and prior . vector is an upper bound whatever was chosen.

In the first pass a node chooses by its own belief. Then the graph is run forwards: the
weights of the models with which node n is visited at step h are the posterior of "the
memory is n at step h", and the next pass chooses by those. A choice at step h changes
nothing before h, and everything after h is already final, so that no pass can make the
bound worse (coordinate descent on the graph itself).

With a discount the first steps are planned in the same way, on top of a stationary
graph that follows them for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from simgap._kernels.beliefs.oracle_upper_side import (
    follow_choices,
    upper_step,
    upper_steps,
)
from simgap._kernels.beliefs.policy_graph_links import link_points
from simgap._kernels.time_limit import AT_ONCE
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.oracle.bounded.lower_side import Relinking, remembered_steps
from simgap.oracle.bounded.upper_graph import (
    Rules,
    UpperNodes,
    UpperPass,
    Visits,
    planned_steps,
    settling_steps,
)
from simgap.oracle.loss_form import LossForm
from simgap.policies import FOREVER

FLICKER = 1e-3  # the part of the bound that rules may lose by changing rarely
OFF_THE_WAY = 1e-4  # the same at nodes that are not visited, as a part of their value
MUCH = 0.02  # a gain of new successors after which to look for others soon
PRUNE = 1.3  # actions that cost this many times the value at once are not linked
CHUNK = 256  # nodes between two looks at the clock
PART_FOR_NODES = 0.07  # of the time left, for the first pass over points
# halved: 1.054, 2.855, 1.002; doubled: 1.085, 3.068, 1.002 (see `planner`)
MUCH_TIME = 60.0
MOST_FIRST_POINTS = 8000

_Backwards = tuple[IndexArray, IndexArray, IndexArray, OffsetArray, OffsetArray]


def upper_pass(
    form: LossForm,
    nodes: UpperNodes,
    keep_going: Callable[[], None],
    *,
    earlier: Rules | None = None,
    visits: Visits | None = None,
    bound: float = 0.0,
) -> UpperPass:
    """Choose and evaluate a graph backwards; no worse than `earlier` at its visits.

    `bound` is an upper bound of the gap so far: what is worth a rule depends on it.
    """
    longest = int(np.diff(form.pattern.indptr).max())
    after: FloatArray = np.zeros((nodes.size, form.n_models))
    action_of = np.full(nodes.size, -1, np.int32)
    next_of = np.zeros((nodes.size, longest), np.int32)
    gathered, loose = _Gathered(), 0.0
    if form.horizon is None:
        if earlier is None:
            loose = _settle(form, nodes, keep_going, after, action_of, next_of)
        else:
            loose = _take_over(form, earlier, after, action_of, next_of, nodes)
        every = np.arange(nodes.size, dtype=np.int32)
        gathered.add(every, FOREVER, action_of.copy(), next_of.copy())
    now = np.zeros_like(after)
    value = np.zeros(nodes.size)
    changed = np.empty(nodes.size, np.int32)
    steps = planned_steps(form)
    look, remember = Relinking(MUCH), remembered_steps(steps)
    points = nodes.point_numbers()
    old = _backwards(earlier, longest)
    enough = FLICKER * bound / (max(steps, 1) * (longest + 1))
    snapshots: dict[int, FloatArray] = {}
    looks = 0
    if form.horizon is None:
        snapshots[0] = after.astype(np.float32)
    to_go = 0
    while to_go < steps:
        to_go += 1
        h = steps - to_go
        losses = form.losses[h if form.horizon is not None else 0]
        weights = nodes.beliefs
        if visits is not None:
            weights = nodes.beliefs.copy()
            seen, posterior, chance = visits[h]
            weights[seen] = posterior
            spare = OFF_THE_WAY * value
            spare[seen] = np.minimum(spare[seen], enough / chance)
        else:
            spare = OFF_THE_WAY * value
        if to_go in remember and form.horizon is not None:
            snapshots[to_go - 1] = after.astype(np.float32)
        here = (form, nodes, losses, weights, after, now, value, action_of, next_of)
        if to_go == 1:  # points have nowhere to go yet
            _link(form, nodes, weights, losses, after, value, keep_going)
        if to_go == look.due:
            first = _choose(*here, changed, spare, h, old)
            before = float(value[points].sum())
            _link(form, nodes, weights, losses, after, value, keep_going)
            which = np.union1d(first, _choose(*here, changed, spare, h, old))
            total = float(value[points].sum())
            look.learned(to_go, (before - total) / max(before, 1e-300))
            looks += 1
        elif visits is None and form.horizon is not None:
            most = _undisturbed(form, nodes, to_go, steps, look.due, remember)
            done, which = _choose_on(*here, changed, h, most, old)
            to_go, h = to_go + done - 1, h - done + 1
            if done % 2 == 0:
                now, after = after, now
        else:
            which = _choose(*here, changed, spare, h, old)
        if which.size:
            gathered.add(which, h, action_of[which], next_of[which])
        now, after = after, now
        keep_going()
    loose *= form.discount**steps
    upper, roots = _at_root(form, nodes, after)
    effort = upper_effort(form, nodes.size, points.size, looks)
    rules = gathered.sorted(nodes.size)
    return UpperPass(
        nodes, after, rules, upper + loose, loose, roots, snapshots, effort
    )


def upper_effort(
    form: LossForm, nodes: int, points: int, looks: int, *, members: int | None = None
) -> float:
    """Return about how many nanoseconds a pass takes, for all models or so many.

    A count: the same on every machine, so that plans do not depend on how busy it is.
    """
    members, pattern = members or form.n_models, form.pattern
    successors = pattern.indices.size / pattern.n_states
    steps = planned_steps(form) + looks
    if form.horizon is None:
        steps += settling_steps(form)
    step = nodes * (100.0 + 8.0 * members * successors / pattern.n_actions)
    look = points * successors * 0.1 * members * nodes / pattern.n_states
    return steps * step + looks * look


def _choose(
    form: LossForm,
    nodes: UpperNodes,
    losses: FloatArray,
    weights: FloatArray,
    after: FloatArray,
    now: FloatArray,
    value: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
    changed: IndexArray,
    spare: FloatArray,
    h: int,
    old: _Backwards,
) -> IndexArray:
    """Make one backward step; return the nodes whose choice changed."""
    count = upper_step(
        form.pattern.indptr, form.likelihood, form.pattern.n_actions, losses,
        form.discount, nodes.node_state, weights, nodes.link_offsets, nodes.links,
        after, now, value, action_of, next_of, changed, spare, h, *old,
    )  # fmt: skip
    return changed[:count].copy()


def _choose_on(
    form: LossForm,
    nodes: UpperNodes,
    losses: FloatArray,
    weights: FloatArray,
    after: FloatArray,
    now: FloatArray,
    value: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
    changed: IndexArray,
    h: int,
    most: int,
    old: _Backwards,
) -> tuple[int, IndexArray]:
    """Make steps until a choice changes; return how many, and the nodes that did."""
    done, count = upper_steps(
        form.pattern.indptr, form.likelihood, form.pattern.n_actions, form.losses,
        nodes.node_state, weights, nodes.link_offsets, nodes.links, after, now, value,
        action_of, next_of, changed, OFF_THE_WAY, h, most, *old,
    )  # fmt: skip
    return done, changed[:count].copy()


def _undisturbed(
    form: LossForm,
    nodes: UpperNodes,
    to_go: int,
    steps: int,
    due: int,
    remember: frozenset[int],
) -> int:
    """Return how many steps can be made at once: no look, nothing to remember."""
    events = [each for each in (due, *remember) if each > to_go]
    until = min([*events, steps + 1])
    work = nodes.size * form.likelihood.size / form.pattern.n_states
    return int(max(1, min(until - to_go, AT_ONCE / max(work, 1.0))))


class _Gathered:
    """Choices as they change, from the last step to the first."""

    def __init__(self) -> None:
        self.nodes: list[IndexArray] = []
        self.until: list[IndexArray] = []
        self.actions: list[IndexArray] = []
        self.successors: list[IndexArray] = []

    def add(
        self, nodes: IndexArray, step: int, actions: IndexArray, following: IndexArray
    ) -> None:
        self.nodes.append(nodes)
        self.until.append(np.full(nodes.size, step, np.int32))
        self.actions.append(actions)
        self.successors.append(following)

    def sorted(self, size: int) -> Rules:
        if not self.nodes:
            empty = np.empty(0, np.int32)
            return Rules(np.zeros(size + 1, np.int64), empty, empty, empty[:, None])
        nodes, until = np.concatenate(self.nodes), np.concatenate(self.until)
        order = np.lexsort((until, nodes))
        counts = np.bincount(nodes, minlength=size)
        return Rules(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            until[order],
            np.concatenate(self.actions)[order],
            np.concatenate(self.successors)[order],
        )


def _backwards(earlier: Rules | None, longest: int) -> _Backwards:
    """Return the rules of an earlier pass as a step reads them, from the end."""
    if earlier is None:
        none, nowhere = np.empty(0, np.int32), np.empty(0, np.int64)
        return none, none, np.empty((0, longest), np.int32), nowhere, nowhere
    offsets = earlier.offsets
    return (
        earlier.until,
        earlier.actions,
        earlier.successors,
        offsets[1:] - 1,
        offsets[:-1],
    )


def _settle(
    form: LossForm,
    nodes: UpperNodes,
    keep_going: Callable[[], None],
    after: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
) -> float:
    """Find stationary choices by backward steps, and the vectors of following them."""
    value, changed = np.zeros(nodes.size), np.empty(nodes.size, np.int32)
    now = np.zeros_like(after)
    sweeps = settling_steps(form)
    look = remembered_steps(sweeps, 1.6)
    old = _backwards(None, next_of.shape[1])
    for sweep in range(1, sweeps + 1):
        if sweep in look:
            _link(form, nodes, nodes.beliefs, form.losses[0], after, value, keep_going)
        _choose(
            form, nodes, form.losses[0], nodes.beliefs, after, now, value, action_of,
            next_of, changed, np.zeros(nodes.size), 0, old,
        )  # fmt: skip
        after[:] = now
        keep_going()
    return _follow(form, nodes, keep_going, after, action_of, next_of)


def _take_over(
    form: LossForm,
    earlier: Rules,
    after: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
    nodes: UpperNodes,
) -> float:
    """Take the stationary choices of an earlier graph; new nodes go on as corners."""
    last = earlier.offsets[1:] - 1
    known = np.diff(earlier.offsets) > 0
    action_of[known] = earlier.actions[last[known]]
    next_of[known] = earlier.successors[last[known]]
    fresh = np.flatnonzero(~known)
    likely = nodes.beliefs[fresh].argmax(axis=1)
    corner = nodes.state_offsets[nodes.node_state[fresh]] + likely
    action_of[fresh] = action_of[corner]
    next_of[fresh] = next_of[corner]
    return _follow(form, nodes, lambda: None, after, action_of, next_of)


def _follow(
    form: LossForm,
    nodes: UpperNodes,
    keep_going: Callable[[], None],
    after: FloatArray,
    action_of: IndexArray,
    next_of: IndexArray,
) -> float:
    """Bring the vectors of stationary choices close to their fixed point.

    Returns how far from it they may be: a backup of what the last sweep left changes
    nothing by more than discount times what that sweep changed. The bound itself is
    computed later, from the finished graph, to the last digit.
    """
    scale, change = 1e-300, 0.0
    for _ in range(0, ceil(12.0 / (1.0 - form.discount)), 8):
        change = follow_choices(
            form.pattern.indptr, form.likelihood, form.pattern.n_actions,
            form.losses[0], form.discount, nodes.node_state, action_of, next_of, 8,
            after,
        )  # fmt: skip
        scale = max(scale, float(after.max(initial=0.0)))
        keep_going()
        if change <= 1e-5 * (1.0 - form.discount) * scale:
            break
    return form.discount * change / (1.0 - form.discount)


def _link(
    form: LossForm,
    nodes: UpperNodes,
    weights: FloatArray,
    losses: FloatArray,
    vectors: FloatArray,
    value: FloatArray,
    keep_going: Callable[[], None],
) -> None:
    """Look again for the best successors of all points."""
    transposed = np.ascontiguousarray(vectors.T)
    for state in range(form.pattern.n_states):
        first = nodes.state_offsets[state] + nodes.structured
        last = nodes.state_offsets[state + 1]
        for begin in range(first, last, CHUNK):
            link_points(
                begin, min(begin + CHUNK, last), form.pattern.indptr,
                form.pattern.indices, form.likelihood, form.pattern.n_actions, losses,
                PRUNE, nodes.state_offsets, nodes.node_state, weights,
                nodes.link_offsets, nodes.links, transposed, value,
            )  # fmt: skip
            keep_going()


def _at_root(
    form: LossForm, nodes: UpperNodes, vectors: FloatArray
) -> tuple[float, IndexArray]:
    total, chosen = 0.0, []
    for state, weights in zip(form.root_states, form.root_weights, strict=True):
        first, last = nodes.state_offsets[state], nodes.state_offsets[state + 1]
        dots = vectors[first:last] @ weights
        chosen.append(int(first + dots.argmin()))
        total += float(dots.min())
    return total, np.array(chosen, np.int32)


def first_points(form: LossForm, seconds: float, *, members: int | None = None) -> int:
    """Return how many points a time limit allows first, for all or so many models."""
    states = form.pattern.n_states
    each = upper_effort(form, 1000, 1000, 12, members=members) / 1000
    count = 1e9 * PART_FOR_NODES * min(seconds, MUCH_TIME) / each
    most = min(MOST_FIRST_POINTS, max(1500, 400 * states))
    return int(np.clip(count, max(4 * states, 500), most))
