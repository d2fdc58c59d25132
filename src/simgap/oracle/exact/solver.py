"""The oracle exactly: every belief that can occur, merged on sufficient counts.

    G_h(s, b) = min_a { b . loss(h, s, a) + sum_s' p_b(s' | s, a) G_{h+1}(s', b') }

over the nodes of `BeliefTree` (theory 5.1, 5.2). Sums of non-negative numbers only:
each backup rounds relatively, by `relative_rounding`, and the stored losses misstate
the gap of any policy by at most `form.rounding`; `exact_rounding` is both together.

Ties: an action is called optimal if its sum is within that rounding of the least. So
the optimal actions are among those called optimal, and the intervals of gaps over all
optimal policies are never too narrow. They are too wide only if two actions differ by
less than rounding but do differ, which no float can tell; progress says how many
actions are tied in this way without being equal to the last bit.

How many beliefs there are is guessed before anything is compiled: the first steps are
walked in plain Python, beliefs rounded, and the growth of their number is carried on to
the horizon. Only the choice of a solver depends on it.

The policy graph has tree nodes first, then plans that lose nothing. A node has one
rule, for its own step. A plan (support, state) has one rule for each run of steps with
the same action. Where no model of positive prior can lead, the graph goes on with the
plan of the model that makes the step likeliest, so that its gap is defined in every
model of the class.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import inf, log
from time import perf_counter

import numpy as np

from simgap._kernels.beliefs.belief_tree_graph import first_steps, tree_rules
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import Certified, around
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.exact.evidence import Supports, relative_rounding, tie_slack
from simgap.oracle.exact.follow import Skeleton, follow, single_plan
from simgap.oracle.exact.gaps import (
    bytes_of_gaps,
    least_worst_gap,
    no_vectors,
    single_plan_gaps,
    tree_gaps,
)
from simgap.oracle.exact.symmetry import find_symmetry, members_of
from simgap.oracle.exact.tree import (
    BeliefTree,
    DoesNotFit,
    Limits,
    TreeValues,
    solve_tree,
)
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Moment, Outcome, Planned
from simgap.oracle.settings import ExactOracle
from simgap.oracle.watch import ends_planning
from simgap.policies import NOWHERE, GraphPolicy

DEFAULT_MEMORY = 4 * 2**30  # bytes, if no limit is given
# A count gives up at so many links per node, at these bytes, or when it has learned so
# many supports, each of which costs a pass over the losses.
COUNT_LINKS, COUNT_MEMORY, COUNT_LESSONS, COUNT_WORK = 64, 2**27, 5_000, 2e8
LOOKED_AT = 1000  # beliefs
MARGIN = 20.0  # how far above the limit the outlook must be
DIGITS = 10


def solve_exact(
    form: LossForm,
    settings: ExactOracle,
    *,
    clock: Callable[[], float] = perf_counter,
    progress: Callable[[str], None] | None = None,
) -> Planned:
    """Return the oracle of a finite horizon, up to rounding (Outcome.EXACT).

    The ends enclose the average gap and differ by what floating point can be off. If
    the tree does not fit the limits of `settings`, the bracket is from 0 to the gap of
    the best plan made for one model; also if it is interrupted and `settings` say so.
    """
    _check_finite(form)
    _compile()
    say = progress or _silent
    started = clock()
    tree = BeliefTree(form, _supports(form), _limits(settings, clock, started))
    try:
        tree.grow()
        say(f"{tree.size} beliefs")
        tree.reserve(bytes_of_gaps(tree))
        values = solve_tree(tree)
        if values.uncertain:
            say(f"{values.uncertain} actions are tied up to rounding, not to the bit")
        return _planned(tree, values)
    except DoesNotFit as reason:
        outcome = reason.outcome
    except KeyboardInterrupt:
        if not ends_planning(settings):
            raise
        outcome = Outcome.INTERRUPTED
    say(f"{outcome.value} at {tree.size} beliefs")
    return _unfinished(tree, outcome)


def count_nodes(form: LossForm, limit: int) -> int | None:
    """Return how many beliefs the exact recursion would visit; None above `limit`.

    It also gives up, quickly, where nodes are so large that planning would be slow.
    """
    _check_finite(form)
    links = COUNT_LINKS * max(1_000, limit)
    work = form.losses.size / form.n_models + form.likelihood.size
    lessons = min(COUNT_LESSONS, COUNT_WORK / max(1.0, work))
    limits = Limits(limit, links, lessons, COUNT_MEMORY, inf, _still, 0.0)
    tree = BeliefTree(form, _supports(form), limits)
    try:
        tree.grow()
    except DoesNotFit:
        return None
    return tree.size


def exact_rounding(form: LossForm, gap: float) -> float:
    """Return how far floating point can be off the exact average gap.

    That of the stored losses, twice `tie_slack` for losses that the plans of settled
    beliefs and the choice among ties overlook, and that of the backups.
    """
    stored = form.rounding + 2.0 * tie_slack(form)
    backups = 2.0 * form.steps * relative_rounding(form)
    return stored + (backups + form.relative_rounding) * gap


def _planned(tree: BeliefTree, values: TreeValues) -> Planned:
    form, supports = tree.form, tree.supports
    weights = supports.members.roots.sum(axis=1)
    planted = tree.roots >= 0
    gap = float(weights[planted] @ values.value[tree.roots[planted]])
    followed = follow(tree, values)
    found = tree_gaps(tree, values, followed)
    off = form.rounding + form.relative_rounding * found.intervals[:, 1]
    low, high = around(found.intervals, off[:, None])[:, (0, 1), (0, 1)].T
    bracket = Certified.around(gap, exact_rounding(form, gap)).not_negative()
    if form.nothing_hidden:
        bracket = Certified(0.0, 0.0)
    seconds = tree.limits.clock() - tree.limits.started
    return Planned(
        lower=bracket.ends[0],
        upper=bracket.ends[1],
        outcome=Outcome.EXACT,
        policy=policy_graph(form, supports, followed.skeleton, "exact oracle"),
        gaps=found.gaps,
        vectors=found.vectors,
        nodes=tree.size,
        largest_bytes=tree.largest_bytes,
        trace=(Moment(seconds, *bracket.ends),),
        gap_intervals=owned(np.column_stack([np.maximum(low, 0.0), high])),
        least_worst_gap=least_worst_gap(tree, values, gap, found.intervals),
    )


def _unfinished(tree: BeliefTree, outcome: Outcome) -> Planned:
    form, supports = tree.form, tree.supports
    each = single_plan_gaps(form, supports)
    average = each @ form.latent.prior
    model = int(average.argmin())
    upper = form.around(float(average[model])).ends[1]
    seconds = tree.limits.clock() - tree.limits.started
    name = form.latent.simulators.model_names[model]
    return Planned(
        lower=0.0,
        upper=upper,
        outcome=outcome,
        policy=policy_graph(
            form, supports, single_plan(form, model), f"plan of {name}"
        ),
        gaps=owned(each[model].copy()),
        vectors=no_vectors(form),
        nodes=tree.size,
        largest_bytes=tree.largest_bytes,
        trace=(Moment(seconds, 0.0, upper),),
    )


def _supports(form: LossForm) -> Supports:
    members = members_of(form)
    return Supports(form, members, find_symmetry(form, members))


def _limits(
    settings: ExactOracle, clock: Callable[[], float], started: float
) -> Limits:
    return Limits(
        nodes=settings.max_nodes,
        links=2**31 - 1,
        lessons=inf,
        memory=DEFAULT_MEMORY if settings.max_memory is None else settings.max_memory,
        seconds=inf if settings.time_limit is None else settings.time_limit,
        clock=clock,
        started=started,
    )


def _check_finite(form: LossForm) -> None:
    if form.horizon is None:
        raise InvalidArgument(
            "the exact oracle needs a horizon, this one has a discount",
            hint="use BoundedOracle() with a discount",
        )


@cache
def _compile() -> None:
    """Run every kernel once, so that limits of time are about planning."""
    kernel = np.full((3, 2, 2, 2), 0.5)
    kernel[0, 0, 0], kernel[1, 0, 1] = (0.25, 0.75), (0.0, 1.0)
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    models = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    form = loss_form(LatentMDP(models, np.array([0.5, 0.5, 0.0])), horizon=3)
    tree = BeliefTree(form, _supports(form), _limits(ExactOracle(), _still, 0.0))
    tree.grow()
    _planned(tree, solve_tree(tree))


def _still() -> float:
    return 0.0


def _silent(message: str) -> None:
    pass


def looks_hopeless(form: LossForm, limit: int) -> bool:
    """Return whether there are surely many more beliefs than `limit`."""
    if form.horizon is None:
        return True
    layer = {
        (int(state), _key(weights)): weights / weights.sum()
        for state, weights in zip(form.root_states, form.root_weights, strict=True)
    }
    totals = [len(layer)]
    for _ in range(form.horizon - 1):
        layer = _next_layer(form, layer)
        totals.append(totals[-1] + len(layer))
        if totals[-1] > LOOKED_AT:
            break
    else:
        return False
    depth = len(totals)
    middle = min(depth // 2, depth - 2)  # many starts can end the look at depth 2
    power = log(totals[-1] / totals[middle]) / log(depth / (middle + 1))
    outlook = totals[-1] * float(form.horizon / depth) ** power
    return bool(outlook > MARGIN * limit)


def _next_layer(
    form: LossForm, layer: dict[tuple[int, bytes], FloatArray]
) -> dict[tuple[int, bytes], FloatArray]:
    found: dict[tuple[int, bytes], FloatArray] = {}
    pattern, n_actions = form.pattern, form.pattern.n_actions
    for (state, _), belief in layer.items():
        first, last = pattern.indptr[[state * n_actions, (state + 1) * n_actions]]
        joint = form.likelihood[first:last] * belief
        total = joint.sum(axis=1)
        for at in np.flatnonzero(total > 0.0):
            after = joint[at] / total[at]
            if after.max() < 1.0 - 1e-12:  # a settled belief needs no planning
                found[int(pattern.indices[first + at]), _key(after)] = after
        if len(found) > LOOKED_AT:
            break
    return found


def _key(weights: FloatArray) -> bytes:
    rounded: FloatArray = np.round(weights / weights.sum(), DIGITS) + 0.0
    return rounded.tobytes()


def policy_graph(
    form: LossForm, supports: Supports, skeleton: Skeleton, name: str
) -> GraphPolicy:
    """Return the policy graph of a skeleton, without nodes that cannot be reached."""
    pattern, steps = form.pattern, form.steps
    first = np.full((supports.count, pattern.n_states), steps + 1, np.int32)
    for s, link in enumerate(skeleton.starts):
        if link <= -2:
            first[-2 - link, s] = 0
    settled, plan_next = supports.settled[: supports.count], supports.plan_next
    first_steps(
        pattern.indptr, pattern.indices, pattern.n_actions, settled, plan_next,
        supports.corner, skeleton.layers, skeleton.state, skeleton.action,
        skeleton.on_path, skeleton.first_link, skeleton.links, first,
    )  # fmt: skip
    in_tree = np.flatnonzero(skeleton.on_path)
    number = np.full(skeleton.on_path.size, NOWHERE, np.int32)
    number[in_tree] = np.arange(in_tree.size)
    plans = np.argwhere(first <= steps)  # (plans, 2): support and state
    plan_number = np.full(first.shape, NOWHERE, np.int32)
    plan_number[plans[:, 0], plans[:, 1]] = in_tree.size + np.arange(len(plans))

    step_of = np.repeat(np.arange(steps), np.diff(skeleton.layers))[in_tree]
    runs = [_runs(settled[i, :, s], int(first[i, s])) for i, s in plans]
    per_plan = [len(each) for each in runs]
    flat = np.array([run for each in runs for run in each], np.int64).reshape(-1, 3)
    since = np.concatenate([step_of, flat[:, 0]])
    until = np.concatenate([step_of, flat[:, 1]])
    action = np.concatenate([skeleton.action[in_tree], flat[:, 2]])
    of_plan = np.repeat(np.arange(len(plans)), per_plan)
    rule_state = np.concatenate([skeleton.state[in_tree], plans[of_plan, 1]])
    rows = rule_state.astype(np.int64) * pattern.n_actions + action
    lengths = np.diff(pattern.indptr)[rows]
    next_offsets = _offsets(lengths)
    next_node = np.full(int(next_offsets[-1]), NOWHERE, np.int32)
    tree_rules(
        pattern.indptr, pattern.indices, pattern.n_actions, supports.corner,
        skeleton.layers, skeleton.state, skeleton.action, skeleton.first_link,
        skeleton.links, number, plan_number, next_offsets, next_node,
    )  # fmt: skip
    for rule, plan in enumerate(of_plan, start=in_tree.size):
        columns = np.arange(pattern.indptr[rows[rule]], pattern.indptr[rows[rule] + 1])
        there = plan_next[plans[plan, 0], columns]
        known = there >= 0
        after = np.full(columns.size, NOWHERE, np.int32)
        after[known] = plan_number[there[known], pattern.indices[columns[known]]]
        next_node[next_offsets[rule] : next_offsets[rule + 1]] = after
    starts = skeleton.starts
    start_node = np.full(pattern.n_states, NOWHERE, np.int32)
    for s, link in enumerate(starts):
        if link >= 0:
            start_node[s] = number[link]
        elif link <= -2:
            start_node[s] = plan_number[-2 - link, s]
    return GraphPolicy(
        name=name,
        pattern=pattern,
        horizon=form.horizon,
        node_state=owned(
            np.concatenate([skeleton.state[in_tree], plans[:, 1]]).astype(np.int32)
        ),
        start_node=owned(start_node),
        rule_offsets=owned(_offsets(np.concatenate([np.ones(in_tree.size), per_plan]))),
        rule_since=owned(since.astype(np.int32)),
        rule_until=owned(until.astype(np.int32)),
        rule_action=owned(action.astype(np.int32)),
        next_offsets=owned(next_offsets),
        next_node=owned(next_node),
    )


def _runs(actions: IndexArray, first: int) -> list[tuple[int, int, int]]:
    """Return (since, until, action) of the runs of one action from a step on."""
    own = actions[first:]
    if not own.size:
        return []
    ends = np.append(np.flatnonzero(np.diff(own)), own.size - 1)
    begins = np.append(0, ends[:-1] + 1)
    runs = zip(begins + first, ends + first, own[begins], strict=True)
    return [(int(a), int(b), int(action)) for a, b, action in runs if action >= 0]


def _offsets(lengths: FloatArray | OffsetArray) -> OffsetArray:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    offsets[1:] = np.cumsum(lengths)
    return offsets
