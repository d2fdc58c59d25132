"""The best policy of a short memory: coordinate ascent, and a bound on all of them.

Finite horizons. A policy gives every node (a state, or a window of the last steps) and
every step an action. With w_m(h, n) = nu_m P_m(at n after h steps) and g the gaps of
what follows, the best actions of step h, all else equal, minimise at every node alone

    sum_m w_m(h, n) [loss_m(h, s, a) + sum_s' P_m(s'|s,a) g_m(h + 1, n')].

Weights depend on earlier steps and gaps on later ones, so one pass from the last step
to the first improves all of them in turn, and the average gap never rises. The problem
is NP-hard (Steimle et al. 2021), so ascent starts from several policies and from
perturbations of the best.

Chance does not help. An episode meets a pair (h, n) at most once, so the average value
is linear in the action probabilities of each pair, the others fixed: rounding pair by
pair to the better action never loses, and some deterministic policy is as good as any
random one. A bound on the deterministic ones, by branch and bound, thus holds for all.
Where there are too many of them, two coupled copies of the agent bound what all of them
lose (`coupled`).

With a discount the policy is stationary and deterministic: the average is a ratio of
polynomials in the policy, one node's action is changed at a time, and its effect on
all later visits is counted exactly. Random or time-dependent ones could be better than
the best of these: a bound by enumeration is one for deterministic stationary policies
only, one by coupling holds for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain
from math import inf, log2
from typing import final

import numpy as np

from simgap._kernels.beliefs.memoryless import (
    follow_gaps,
    improve_backward,
    reach_weights,
    stationary_sweep,
)
from simgap._kernels.beliefs.memoryless_bound import least_gap
from simgap._kernels.time_limit import check_time, claim
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.intervals import EPS, Certified
from simgap.oracle.baselines.coupled import least_by_coupling
from simgap.oracle.baselines.stationary import (
    inverse_fits,
    policy_kernel,
    reachable_nodes,
    stationary_gaps,
)
from simgap.oracle.baselines.windowed import MemoryNodes, first_weights, past_weights
from simgap.oracle.loss_form import LossForm

WORK_PER_SECOND = 4e8  # multiplications; a budget of work repeats itself, time does not
LARGEST_WEIGHTS = 30_000_000  # entries of H x N x M
SMALLEST_WORK = 1e5  # of one sweep: what Python adds
WORTHWHILE = 1e-11  # of the average gap: less than this is rounding
PERTURBED = 0.1  # of the actions, between two ascents
PROOF = 2.0  # of the effort of a search: what coupling may take, less with a window
LARGEST_SEARCH = 4000.0  # bits of a policy, beyond which no bound is looked for
MOST_ENUMERATED = 20_000  # stationary policies
NO_GUIDE: FloatArray = np.zeros((0, 0, 0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class ShortMemoryPlan:
    """A policy over nodes with its gaps."""

    nodes: MemoryNodes
    actions: IndexArray  # (T, N)
    gaps: FloatArray  # (M,)
    average: float  # prior @ gaps
    rounding: float  # absolute, of `gaps` and `average`; that of the losses included
    least: float | None = None  # lower bound of the average gap of any such policy
    most: float | None = None  # upper bound for the best of them, if not `average`
    starts: int = 1  # ascents made

    @property
    def average_ends(self) -> Certified:
        """Return numbers that enclose the average gap of the policy."""
        return Certified.around(self.average, self.rounding).not_negative()

    def for_nodes(self, nodes: MemoryNodes) -> IndexArray:
        """Return the same actions for an agent that remembers more, (T, N')."""
        if self.nodes.window == 0:
            return np.ascontiguousarray(self.actions[:, nodes.node_state])
        return self.actions[:, _shortened(nodes, self.nodes)]


def fits(form: LossForm, size: int) -> bool:
    """Return whether a memory of `size` nodes can be searched."""
    if form.horizon is None:
        return inverse_fits(form, size)
    return form.steps * size * form.n_models <= LARGEST_WEIGHTS


def evaluated(
    form: LossForm, nodes: MemoryNodes, actions: IndexArray
) -> ShortMemoryPlan:
    """Return a policy (T, N) of actions with its gap in every model."""
    check_time()
    if form.horizon is None:
        gaps, slip = stationary_gaps(form, nodes, actions[0])
    else:
        gaps = np.empty((nodes.size, form.n_models))
        follow_gaps(*_graph(form, nodes), form.losses, actions, gaps)
        slip = 0.0
    return _plan(form, nodes, actions, gaps, slip)


def guided_plan(
    form: LossForm, nodes: MemoryNodes, guide: FloatArray, slack: float
) -> ShortMemoryPlan:
    """Return the best found of the policies that a guide (T, S, A) allows.

    Allowed are the actions within `slack` of the least entry in their state. With the
    losses of one model as the guide, these are its optimal policies, and ties are
    broken by the prior average.
    """
    near = guide <= guide.min(axis=2, keepdims=True) + slack
    average = np.where(near, form.losses @ form.latent.prior, inf)
    actions = average.argmin(axis=2).astype(np.int32)
    start = np.ascontiguousarray(actions[:, nodes.node_state])
    if not fits(form, nodes.size):  # ties stay broken by the loss of the step
        return evaluated(form, nodes, start)
    return _ascended(form, nodes, _rows(start), guide=guide, slack=slack)[0]


def best_plan(
    form: LossForm,
    nodes: MemoryNodes,
    starts: Iterable[IndexArray],
    *,
    effort: float = 1.0,
    seed: int = 0,
    prove: bool = True,
) -> ShortMemoryPlan:
    """Return the best policy found from the starts (T, N) and random changes of it.

    `effort` is in seconds of a usual machine, spent as a fixed amount of work, so that
    the same seed finds the same policy everywhere. To `prove` a bound on all policies
    of this memory takes up to twice as much again.
    """
    rng = np.random.default_rng(seed)
    budget = 0.7 * effort * WORK_PER_SECOND
    best: ShortMemoryPlan | None = None
    made = 0
    for start in chain(starts, _explored(form, nodes)):
        found, work = _ascended(form, nodes, _rows(start), budget=budget)
        made, budget = made + 1, budget - work
        if best is None or found.average < best.average:
            best = found
    assert best is not None  # _explored yields some
    if prove:
        best = _bounded(form, nodes, best, effort * WORK_PER_SECOND)
    least, n_actions = best.least, form.pattern.n_actions
    while budget > 0.0 and best.average > (least or 0.0) + 2.0 * best.rounding:
        changed = np.array(best.actions)
        where = rng.random(changed.shape) < PERTURBED * rng.random()
        changed[where] = rng.integers(0, n_actions, int(where.sum()))
        found, work = _ascended(form, nodes, changed, budget=budget)
        made, budget = made + 1, budget - work
        if found.average < best.average:
            best = found
    return replace(best, least=least, starts=made)


def _rows(actions: IndexArray) -> IndexArray:
    """Return a copy of a table of actions, always in the same layout."""
    return np.array(actions, np.int32, order="C")


def _explored(form: LossForm, nodes: MemoryNodes) -> list[IndexArray]:
    """Return policies that are best for weights of an agent that tries everything."""
    shape = (form.steps, nodes.size)
    actions = np.zeros(shape, np.int32)
    if form.horizon is None:
        average = form.losses[0] @ form.latent.prior
        greedy = average.argmin(axis=1).astype(np.int32)
        return [np.ascontiguousarray(greedy[nodes.node_state][None])]
    found = []
    for explore in (1.0, 0.2):
        weights = _weights(form, nodes, actions, explore)
        _improve(form, nodes, weights, actions, True, NO_GUIDE, 0.0)
        found.append(np.array(actions))
    return found


def _ascended(
    form: LossForm,
    nodes: MemoryNodes,
    actions: IndexArray,
    *,
    guide: FloatArray = NO_GUIDE,
    slack: float = 0.0,
    budget: float = inf,
) -> tuple[ShortMemoryPlan, float]:
    """Return a policy that no step or node alone improves, and the work done.

    Out of budget, the policy reached so far is returned: every sweep makes it better.
    """
    if form.horizon is None:
        return _ascended_stationary(form, nodes, actions, guide, slack, budget)
    sweep, work = _work(form, nodes), 0.0
    last = inf
    while True:
        weights = _weights(form, nodes, actions, 0.0)
        revise = last == inf  # once: nodes off the path cost time
        gaps, changed = _improve(form, nodes, weights, actions, revise, guide, slack)
        work += sweep if revise else sweep / 2.0
        plan = _plan(form, nodes, actions, gaps, 0.0)
        settled = changed == 0 or not plan.average < last * (1.0 - WORTHWHILE)
        if settled or work > budget:
            return plan, work
        last = plan.average


def _ascended_stationary(
    form: LossForm,
    nodes: MemoryNodes,
    actions: IndexArray,
    guide: FloatArray,
    slack: float,
    budget: float,
) -> tuple[ShortMemoryPlan, float]:
    update = float(nodes.size**2 * form.n_models)  # after one change
    sweep = 0.1 * nodes.size * update + SMALLEST_WORK  # inverses are fast
    claim(32.0 * update)
    best, work = evaluated(form, nodes, actions), sweep
    graph, first = _graph(form, nodes), first_weights(form, nodes)
    while work <= budget:
        check_time()
        policy = np.array(best.actions[0])
        kernel = policy_kernel(form, nodes, policy)  # (M, N, N)
        inverse = np.linalg.inv(np.eye(nodes.size) - form.discount * kernel)
        paid = form.losses[0, nodes.node_state, policy]  # (N, M)
        gaps = np.einsum("mij,jm->im", inverse, paid)
        visits = np.einsum("im,mij->jm", first, inverse)
        changed = stationary_sweep(
            *graph, form.losses, form.discount, guide, slack, policy,
            np.ascontiguousarray(np.moveaxis(inverse, 0, 2)),
            np.ascontiguousarray(gaps), np.ascontiguousarray(visits),
        )  # fmt: skip
        work += 2.0 * sweep + changed * update
        if changed == 0:
            break
        found = evaluated(form, nodes, policy[None])
        better = found.average < best.average
        settled = not found.average < best.average * (1.0 - WORTHWHILE)
        best = found if better else best
        if settled:
            break
    return best, work


def _bounded(
    form: LossForm, nodes: MemoryNodes, best: ShortMemoryPlan, work: float
) -> ShortMemoryPlan:
    """Return the plan, or a better one, with a lower bound of the average gap."""
    how = enumerated if form.horizon is None else branched
    best, least = how(form, nodes, best, 0.3 * work)
    if best.average > least + 4.0 * best.rounding:
        coupled = least_by_coupling(
            form, nodes.window, PROOF * work / (1 + nodes.window)
        )
        if coupled > best.average + best.rounding:
            raise AssertionError("a policy below the bound of all: a defect")
        least = max(least, coupled)
    safe = max(0.0, min(least, best.average) - best.rounding)
    says_something = safe > 0.0 or best.average <= 2.0 * best.rounding
    return replace(best, least=safe if says_something else None)


def branched(
    form: LossForm,
    nodes: MemoryNodes,
    best: ShortMemoryPlan,
    work: float,
    *,
    bits: float | None = None,
) -> tuple[ShortMemoryPlan, float]:
    """Return the plan, or a better one, and a bound by branching over actions.

    `bits` are those of a policy; None: all actions are open everywhere.
    """
    pattern = form.pattern
    if bits is None:
        bits = form.steps * pattern.n_states * log2(pattern.n_actions)
    if bits > LARGEST_SEARCH:
        return best, 0.0  # the search would not come near the end of the episode
    first = first_weights(form, nodes)
    each = pattern.n_actions * form.n_models  # of one lookahead
    each *= max(1, pattern.indices.size // pattern.n_states)
    limit, least, actions = int(work / each), 0.0, np.array(best.actions)
    depth = 0
    while True:
        check_time()
        bound, gap, used = least_gap(
            *_graph(form, nodes), form.losses, first, depth, best.average, limit,
            actions,
        )  # fmt: skip
        if bound < 0.0:
            break
        least, limit = max(least, bound), limit - used
        if depth == form.steps:
            if gap < best.average:
                best = evaluated(form, nodes, actions)
            break
        depth = min(depth + 1 + depth // 4, form.steps)
    return best, least


def enumerated(
    form: LossForm, nodes: MemoryNodes, best: ShortMemoryPlan, work: float
) -> tuple[ShortMemoryPlan, float]:
    """Return the best of all deterministic stationary policies, if they are few."""
    size, n_actions = nodes.size, form.pattern.n_actions
    reached = reachable_nodes(form, nodes)
    policies = float(n_actions) ** int(reached.sum())
    if policies > min(MOST_ENUMERATED, work / (form.n_models * size**3 + 1e3)):
        return best, 0.0
    free = np.flatnonzero(reached)
    first = first_weights(form, nodes)
    policy = np.array(best.actions[0])
    for code in range(int(policies)):
        check_time()
        rest = code
        for node in free:
            rest, policy[node] = divmod(rest, n_actions)
        kernel = policy_kernel(form, nodes, policy)
        system = np.eye(size) - form.discount * kernel
        paid = form.losses[0, nodes.node_state, policy]
        gaps = np.linalg.solve(system, paid.T[:, :, None])[:, :, 0]
        if float((first.T * gaps).sum()) < best.average * (1.0 - 1e-12):
            found = evaluated(form, nodes, np.array(policy[None]))
            best = found if found.average < best.average else best
    return best, best.average


def _plan(
    form: LossForm,
    nodes: MemoryNodes,
    actions: IndexArray,
    gaps: FloatArray,
    slip: float,
) -> ShortMemoryPlan:
    laws = np.stack([form.latent.simulators.start_law(m) for m in range(form.n_models)])
    at_start = np.einsum("ms,sm->m", laws, gaps[: form.pattern.n_states])
    longest = int(np.diff(form.pattern.indptr).max())
    length = form.steps if form.horizon is not None else 1.0 / (1.0 - form.discount)
    backups = form.steps if form.horizon is not None else 1
    relative = (backups + 1) * (form.n_models + longest + 4) * EPS
    relative += (length + 4) * form.defect + (form.n_models + 4) * EPS  # and the mean
    rounding = form.rounding + slip + relative * float(at_start.max(initial=0.0))
    if (at_start < -rounding).any():
        raise AssertionError("a gap below zero: a defect of the evaluation")
    return ShortMemoryPlan(
        nodes=nodes,
        actions=owned(np.array(actions)),
        gaps=owned(np.maximum(at_start, 0.0)),
        average=float(form.latent.prior @ np.maximum(at_start, 0.0)),
        rounding=rounding,
    )


def _graph(
    form: LossForm, nodes: MemoryNodes
) -> tuple[OffsetArray, IndexArray, OffsetArray, IndexArray, FloatArray]:
    return (
        form.pattern.indptr, nodes.node_state, nodes.shift, nodes.next_node,
        form.likelihood,
    )  # fmt: skip


def _weights(
    form: LossForm, nodes: MemoryNodes, actions: IndexArray, explore: float
) -> FloatArray:
    check_time()
    claim(8.0 * form.steps * nodes.size * form.n_models)
    weights: FloatArray = np.empty((form.steps, nodes.size, form.n_models))
    if form.steps:
        weights[0] = first_weights(form, nodes)
    reach_weights(
        *_graph(form, nodes), form.pattern.n_actions, actions, explore, weights
    )
    return weights


def _improve(
    form: LossForm,
    nodes: MemoryNodes,
    weights: FloatArray,
    actions: IndexArray,
    revise: bool,
    guide: FloatArray,
    slack: float,
) -> tuple[FloatArray, int]:
    check_time()
    gaps: FloatArray = np.zeros((nodes.size, form.n_models))
    changed = improve_backward(
        *_graph(form, nodes), form.losses, weights, past_weights(form, nodes), revise,
        np.array(guide, order="C"), slack, actions, gaps,
    )  # fmt: skip
    return gaps, int(changed)


def _work(form: LossForm, nodes: MemoryNodes) -> float:
    columns = form.pattern.indices.size / form.pattern.n_states * nodes.size
    return 1.5 * form.steps * columns * form.n_models + SMALLEST_WORK


def _shortened(nodes: MemoryNodes, short: MemoryNodes) -> IndexArray:
    """Return the node of a shorter window for every node of a longer one, (N,)."""
    found = np.arange(nodes.size, dtype=np.int32)
    known = short.size
    if known == nodes.size:
        return found
    # Nodes come by levels: the shorter window moves to the same places by column.
    for node in range(known, nodes.size):
        before = found[nodes.parent[node]]
        found[node] = short.next_node[short.shift[before] + nodes.column[node]]
    return found
