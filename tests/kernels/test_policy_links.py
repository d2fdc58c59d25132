"""Nodes of the upper side: where they may lead and what they choose, by plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap._kernels.beliefs.oracle_upper_side import upper_step, upper_steps
from simgap._kernels.beliefs.policy_graph_links import link_points
from simgap.arrays import AnyArray, FloatArray
from simgap.oracle.bounded.lower_nodes import pairs_of
from simgap.oracle.bounded.points import BeliefPoints
from simgap.oracle.bounded.upper_nodes import LOG_ODDS, UpperNodes, upper_nodes
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import random_latent

PRUNE = 1.3
NOTHING = np.empty(0, np.int32), np.empty(0, np.int64)


def case(seed: int, *, levels: int = 3) -> tuple[LossForm, UpperNodes]:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, members=4, zeros=0.4, without_prior=seed % 2)
    form = loss_form(latent, horizon=4)
    beliefs = rng.dirichlet(np.ones(form.n_models), 9)
    beliefs *= rng.random(beliefs.shape) < 0.7
    beliefs[:, 0] += 0.01
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    states = rng.integers(0, form.pattern.n_states, 9).astype(np.int32)
    return form, upper_nodes(form, BeliefPoints(states, beliefs), levels=levels)


def successors(form: LossForm, nodes: UpperNodes, node: int) -> list[tuple[int, ...]]:
    """Return (action, column, target state, place in links) of a node."""
    pattern, s = form.pattern, int(nodes.node_state[node])
    origin = pattern.indptr[s * pattern.n_actions]
    return [
        (a, k, int(pattern.indices[k]), int(nodes.link_offsets[node] + k - origin))
        for a in range(pattern.n_actions)
        for row in (s * pattern.n_actions + a,)
        for k in range(pattern.indptr[row], pattern.indptr[row + 1])
    ]


@pytest.mark.parametrize("levels", [1, 2, 5, 9])
def test_pairs_lead_to_the_levels_around_their_posterior_or_commit(levels: int) -> None:
    form, nodes = case(levels, levels=levels)
    first, second = pairs_of(form)
    reach = min(LOG_ODDS, 1.2 * (levels - 1))
    odds = np.linspace(-reach, reach, levels)
    members, kinds = form.n_models, set()
    for node, local in enumerate(nodes.local(np.arange(nodes.size)).tolist()):
        if local >= nodes.structured:
            continue
        for _, k, t, at in successors(form, nodes, node):
            ways = nodes.links[at]
            found = (ways[ways >= 0] - nodes.state_offsets[t]).tolist()
            if local < members:
                assert found == [local]
                continue
            pair, level = divmod(local - members, levels)
            i, j = int(first[pair]), int(second[pair])
            one, two = form.likelihood[k, [i, j]]
            base = members + pair * levels
            if one > 0.0 and two > 0.0:
                place = odds[level] + np.log(two / one)
                below = [q for q in range(levels) if odds[q] < place]
                above = [q for q in range(levels) if odds[q] >= place]
                around = [*above[:1], *below[-1:]]
                if one == two:
                    around = [level]
                split = len(around)
                assert found[:split] == [base + q for q in around]
                assert sorted(found[split:]) == [i, j]
                kinds.add(len(around) if one != two else 0)
            elif one > 0.0 or two > 0.0:
                assert found == [i if one > 0.0 else j]
                kinds.add(3)
            else:
                share = form.likelihood[k] * (form.latent.prior + 1e-12)
                assert found == [int(share.argmax())]
                kinds.add(4)
    assert kinds >= ({0, 1, 2, 3, 4} if levels == 5 else {0, 1, 3, 4})


@pytest.mark.parametrize("seed", range(4))
def test_points_lead_to_the_best_node_first_and_keep_their_other_ways(
    seed: int,
) -> None:
    form, nodes = case(seed)
    rng = np.random.default_rng(seed)
    vectors = rng.random((nodes.size, form.n_models))
    losses, cheap = form.losses[0], 0
    value = np.zeros(nodes.size)
    for look in range(3):
        before = nodes.links.copy()
        for state in range(form.pattern.n_states):
            link_points(
                int(nodes.state_offsets[state] + nodes.structured),
                int(nodes.state_offsets[state + 1]), form.pattern.indptr,
                form.pattern.indices, form.likelihood, form.pattern.n_actions, losses,
                PRUNE, nodes.state_offsets, nodes.node_state, nodes.beliefs,
                nodes.link_offsets, nodes.links, np.ascontiguousarray(vectors.T), value,
            )  # fmt: skip
        points = nodes.point_numbers()
        for node in set(range(nodes.size)) - set(points.tolist()):
            ways = slice(nodes.link_offsets[node], nodes.link_offsets[node + 1])
            assert (nodes.links[ways] == before[ways]).all()
        for node in points:
            s, belief = nodes.node_state[node], nodes.beliefs[node]
            for a, k, t, at in successors(form, nodes, int(node)):
                weight = belief * form.likelihood[k]
                here = slice(nodes.state_offsets[t], nodes.state_offsets[t + 1])
                dear = belief @ losses[s, a] > PRUNE * value[node]
                if weight.sum() <= 0.0 or dear:
                    cheap += 1
                    likely = int((weight + 1e-30 * form.likelihood[k]).argmax())
                    if before[at, 0] < 0:
                        before[at, 0] = nodes.state_offsets[t] + likely
                    assert (nodes.links[at] == before[at]).all()
                    continue
                best = here.start + int((vectors[here] @ weight).argmin())
                others = [q for q in before[at] if q != best]
                wanted = [best, *others][: before.shape[1]]
                assert nodes.links[at].tolist() == wanted
        vectors = rng.random(vectors.shape)
        value[:] = rng.random(nodes.size) if look else 10.0
    assert cheap > 0


def chosen_cost(
    form: LossForm,
    nodes: UpperNodes,
    h: int,
    after: FloatArray,
    node: int,
    rule: AnyArray,
) -> tuple[float, FloatArray]:
    """Return what a rule (action, *successors) costs at a node, and its vector."""
    pattern, s, action = form.pattern, int(nodes.node_state[node]), int(rule[0])
    vector = form.losses[h, s, action].copy()
    row = s * pattern.n_actions + action
    for k, to in zip(range(*pattern.indptr[row : row + 2]), rule[1:], strict=False):
        vector += form.likelihood[k] * after[to]
    return float(nodes.beliefs[node] @ vector), vector


def least_cost(
    form: LossForm, nodes: UpperNodes, h: int, after: FloatArray, node: int
) -> float:
    """Return the least cost of an action with any of the candidates as successors."""
    s, weights = int(nodes.node_state[node]), nodes.beliefs[node]
    costs = form.losses[h, s] @ weights
    for a, k, _, at in successors(form, nodes, node):
        ways = [q for q in nodes.links[at] if q >= 0]
        costs[a] += min(float((weights * form.likelihood[k]) @ after[q]) for q in ways)
    return float(costs.min())


def linked(seed: int) -> tuple[LossForm, UpperNodes, np.random.Generator]:
    """Return nodes whose points have random candidates, some fewer than others."""
    form, nodes = case(seed)
    rng = np.random.default_rng(100 + seed)
    for node in nodes.point_numbers():
        for _, _, t, at in successors(form, nodes, int(node)):
            here = np.arange(nodes.state_offsets[t], nodes.state_offsets[t + 1])
            count = int(rng.integers(1, nodes.links.shape[1] + 1))
            nodes.links[at, :count] = rng.choice(here, count, replace=False)
    return form, nodes, rng


@pytest.mark.parametrize("seed", range(5))
def test_a_backward_step_makes_the_best_choice_and_writes_its_vector(seed: int) -> None:
    """First without a choice, then again where other successors are better."""
    form, nodes, rng = linked(seed)
    longest = int(np.diff(form.pattern.indptr).max())
    action_of = np.full(nodes.size, -1, np.int32)
    next_of = np.zeros((nodes.size, longest), np.int32)
    now, value = np.zeros((nodes.size, form.n_models)), np.zeros(nodes.size)
    changed = np.empty(nodes.size, np.int32)
    no_rules = (NOTHING[0], NOTHING[0], np.empty((0, longest), np.int32))

    def step(h: int, after: FloatArray, spare: float, *old: Any) -> list[int]:
        count = upper_step(
            form.pattern.indptr, form.likelihood, form.pattern.n_actions,
            form.losses[h], 1.0, nodes.node_state, nodes.beliefs, nodes.link_offsets,
            nodes.links, after, now, value, action_of, next_of, changed,
            np.full(nodes.size, spare), h, *old,
        )  # fmt: skip
        return [int(node) for node in changed[:count]]

    none = (*no_rules, NOTHING[1], NOTHING[1])
    first = rng.random(now.shape)
    assert step(3, first, 0.0, *none) == list(range(nodes.size))
    stayed = 0
    for h, after, spare in ((2, rng.random(now.shape), 0.0), (1, first, 1e9)):
        old = np.column_stack([action_of, next_of])
        different = step(h, after, spare, *none)
        for node in range(nodes.size):
            rule = np.array([action_of[node], *next_of[node]])
            if node in different:
                assert (rule != old[node]).any()
            else:
                assert (rule == old[node]).all()
                stayed += 1
            cost, vector = chosen_cost(form, nodes, h, after, node, rule)
            assert now[node] == pytest.approx(vector, rel=1e-12, abs=1e-14)
            assert value[node] == pytest.approx(cost, rel=1e-12, abs=1e-14)
            if spare == 0.0:
                kept = chosen_cost(form, nodes, h, after, node, old[node])[0]
                least = min(kept, least_cost(form, nodes, h, after, node))
                assert cost == pytest.approx(least, rel=1e-9, abs=1e-14)
        assert bool(different) == (spare == 0.0)
    assert stayed > nodes.size

    # rules of an earlier pass: one of another step, one that holds now and may be best
    offsets = 2 * np.arange(nodes.size + 1)
    until = np.tile(np.array([1, 3], np.int32), nodes.size)
    actions = rng.integers(0, form.pattern.n_actions, until.size).astype(np.int32)
    targets = rng.integers(0, nodes.size, (until.size, longest)).astype(np.int32)
    after, held = 10.0 * rng.random(now.shape), np.column_stack([action_of, next_of])
    pointers, taken = offsets[1:] - 1, 0
    step(2, after, 0.0, until, actions, targets, pointers, offsets[:-1])
    assert (pointers == offsets[1:] - 1).all()
    for node in range(nodes.size):
        rule = np.array([actions[2 * node + 1], *targets[2 * node + 1]])
        before = chosen_cost(form, nodes, 2, after, node, rule)[0]
        own = chosen_cost(form, nodes, 2, after, node, held[node])[0]
        other = min(own, least_cost(form, nodes, 2, after, node))
        assert value[node] == pytest.approx(min(before, other), rel=1e-9, abs=1e-14)
        taken += before < other * (1.0 - 1e-9)
    assert taken > 0
    step(1, after, 0.0, until, actions, targets, pointers, offsets[:-1])
    assert (pointers == offsets[:-1]).all()


@pytest.mark.parametrize("seed", range(3))
def test_steps_at_once_are_steps_one_by_one_up_to_the_first_change(seed: int) -> None:
    form, nodes, rng = linked(seed)
    longest = int(np.diff(form.pattern.indptr).max())
    no_rule = np.empty((0, longest), np.int32)
    old: Any = (NOTHING[0], NOTHING[0], no_rule, NOTHING[1], NOTHING[1])
    one_step: Any = upper_step
    at_once: Any = upper_steps
    world: Any = (form.pattern.indptr, form.likelihood, form.pattern.n_actions)
    ways: Any = (nodes.node_state, nodes.beliefs, nodes.link_offsets, nodes.links)
    first = rng.random((nodes.size, form.n_models))

    def fresh() -> Any:
        return (
            first.copy(), np.zeros_like(first), np.zeros(nodes.size),
            np.full(nodes.size, -1, np.int32),
            np.zeros((nodes.size, longest), np.int32), np.empty(nodes.size, np.int32),
        )  # fmt: skip

    part = (0.0, 1e-3, 1e9)[seed]
    after, now, value, action_of, next_of, changed = state = fresh()
    done = at_once(*world, form.losses, *ways, *state, part, 3, 4, *old)
    assert done == (1, nodes.size)  # everybody has chosen for the first time
    done = at_once(*world, form.losses, *ways, now, after, *state[2:], part, 2, 3, *old)
    one, two, worth, actions, nexts, which = single = fresh()
    count = 0
    for made, h in enumerate((3, 2, 1, 0)):
        spare = part * worth
        count = one_step(
            *world, form.losses[h], 1.0, *ways, one, two, *single[2:], spare, h, *old
        )
        one, two = two, one
        if made and count:
            break
    assert done == (made, count)
    assert (made < 3) == (seed < 2)
    last = now if made % 2 == 0 else after
    for mine, theirs in ((last, one), (value, worth), (action_of, actions)):
        assert (mine == theirs).all()
    assert (next_of == nexts).all()
    assert (changed[:count] == which[:count]).all()
