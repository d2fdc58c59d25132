"""The tree of beliefs, walked by every history and judged by plain recursions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import inf

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_tree_gaps import largest_losses
from simgap._kernels.beliefs.belief_tree_graph import linked_plans
from simgap.arrays import AnyArray, FloatArray
from simgap.instances import best_arm, needle
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.exact.evidence import Supports
from simgap.oracle.exact.follow import follow
from simgap.oracle.exact.gaps import tree_gaps
from simgap.oracle.exact.members import members_of
from simgap.oracle.exact.policy import policy_graph
from simgap.oracle.exact.symmetry import find_symmetry
from simgap.oracle.exact.tree import BeliefTree, Limits, TreeValues, solve_tree
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import random_latent as sparse_latent
from tests.reference.belief_bounds import belief_gap
from tests.reference.episodic import optimal_values
from tests.reference.latent import gap_intervals, random_latent, rational
from tests.reference.policy_graph import gaps_of_nodes

CLOSE = 1e-12


@cache
def cases() -> list[tuple[LossForm, BeliefTree, TreeValues]]:
    """Classes whose models are ruled out one by one, ones with ties, symmetric ones."""
    drawn = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        latent = sparse_latent(rng, states=2, members=4, without_prior=seed % 2)
        drawn.append((latent, 4 - seed % 2))
    rng = np.random.default_rng(8)
    drawn += [random_latent(rng, denominator=8, most_histories=120) for _ in range(16)]
    drawn += [
        (LatentMDP.uniform(needle(4)), 4),
        (LatentMDP.uniform(best_arm(2, 0.25)), 6),
        (LatentMDP.uniform(best_arm(3, 0.25)), 4),
    ]
    forms = [loss_form(latent, horizon=horizon) for latent, horizon in drawn]
    return [(form, *grown(form)) for form in forms]


def grown(form: LossForm) -> tuple[BeliefTree, TreeValues]:
    members = members_of(form)
    limits = Limits(10**7, 2**31, inf, inf, inf, lambda: 0.0, 0.0)
    symmetry = find_symmetry(form, members)
    tree = BeliefTree(form, Supports(form, members, symmetry), limits)
    tree.grow()
    return tree, solve_tree(tree)


class Walker:
    """Follows all histories down a tree, with the weights of the members."""

    def __init__(self, form: LossForm, tree: BeliefTree, values: TreeValues) -> None:
        self.form, self.tree, self.values = form, tree, values
        self.members = tree.supports.members
        self.met: set[int] = set()
        self.beliefs: set[tuple[int, int, bytes]] = set()

    def start(self) -> None:
        roots = zip(
            self.form.root_states, self.members.roots, self.tree.roots, strict=True
        )
        for s, weights, link in roots:
            everybody = np.arange(weights.size)
            self.meet(0, int(s), weights, int(link), everybody)

    def meet(
        self, h: int, s: int, weights: FloatArray, link: int, order: AnyArray
    ) -> None:
        """Check a link; member m of the history is member order[m] of its node."""
        if link == -1:
            assert not weights.any()
            return
        assert weights.any()
        if link <= -2:
            left = self.tree.supports.share[-2 - link] > 0.0
            assert set(np.flatnonzero(weights)) == set(np.flatnonzero(left))
            assert self.least(h, s, weights) == pytest.approx(0.0, abs=CLOSE)
            return
        tree = self.tree
        assert tree.layers[h] <= link < tree.layers[h + 1]
        assert tree.state[link] == s
        belief = np.empty_like(weights)
        belief[order] = weights / weights.sum()
        assert tree.belief[link] == pytest.approx(belief, abs=CLOSE)
        if link not in self.met:
            self.met.add(link)
            self.beliefs.add((h, s, np.round(belief, 9).tobytes()))
            self.expand(h, s, weights, link, order)

    def expand(
        self, h: int, s: int, weights: FloatArray, node: int, order: AnyArray
    ) -> None:
        """Check the value and the actions of a node, then its successors."""
        tree, pattern, actions = (
            self.tree,
            self.form.pattern,
            self.form.pattern.n_actions,
        )
        unsorted = weights[np.argsort(order)]  # as the node has them
        costs = [self.cost(h, s, a, unsorted) / weights.sum() for a in range(actions)]
        assert self.values.value[node] == pytest.approx(min(costs), abs=CLOSE)
        tied = np.array(costs) <= min(costs) + CLOSE
        assert (self.values.tied[node] == tied).all()
        assert self.values.action[node] == tied.argmax()
        if h + 1 == self.form.steps:
            return
        base = pattern.indptr[s * actions]
        for k in range(base, pattern.indptr[(s + 1) * actions]):
            at = tree.first_link[node] + k - base
            rest = unsorted * self.members.likelihood[k]
            moved = tree.place[at] if len(tree.place) else np.arange(rest.size)
            self.meet(h + 1, int(pattern.indices[k]), rest, int(tree.links[at]), moved)

    def cost(self, h: int, s: int, a: int, weights: FloatArray) -> float:
        """Return what an action costs that is followed by the best ones."""
        pattern = self.form.pattern
        row = s * pattern.n_actions + a
        cost = float(self.members.losses[h, s, a] @ weights)
        for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
            rest = weights * self.members.likelihood[k]
            cost += self.least(h + 1, int(pattern.indices[k]), rest)
        return cost

    def least(self, h: int, s: int, weights: FloatArray) -> float:
        every = np.zeros(self.form.n_models)
        every[self.members.models] = weights
        return belief_gap(self.form, h, s, every)


def test_every_history_leads_to_the_node_of_its_posterior() -> None:
    """Values and ties are those of a recursion that merges nothing."""
    sorted_ones = several = 0
    for form, tree, values in cases():
        walker = Walker(form, tree, values)
        walker.start()
        assert walker.met == set(range(tree.size))
        several += tree.size > len(walker.beliefs)
        sorted_ones += len(tree.place) > 0
    assert sorted_ones >= 3
    assert several == 0  # what is believed alike is one node here


def test_gaps_on_the_tree_are_those_of_its_policy_and_of_all_optimal_ones() -> None:
    """Numbers k / 8 are exact as floats, so that ties of the twin are true ties."""
    ties = outside = 0
    for form, tree, values in cases():
        assert form.horizon is not None
        followed = follow(tree, values)
        found = tree_gaps(tree, values, followed)
        policy = policy_graph(form, tree.supports, followed.skeleton, "tree")
        judged = gaps_of_nodes(form, policy)
        for m, gap in enumerate(found.gaps):
            law = form.latent.simulators.start_law(m)
            first = [judged[policy.start_node[s], m] for s in np.flatnonzero(law)]
            assert gap == pytest.approx(float(law[law > 0.0] @ first), abs=CLOSE)
        ends = gap_intervals(rational(form.latent), form.horizon)
        exact = np.array([[float(low), float(high)] for low, high in ends])
        inside = form.latent.prior > 0.0
        assert found.intervals[inside] == pytest.approx(exact[inside], abs=1e-11)
        assert (found.intervals[~inside, 0] <= exact[~inside, 0] + CLOSE).all()
        assert (found.intervals[~inside, 1] >= exact[~inside, 1] - CLOSE).all()
        ties += bool((exact[inside, 1] > exact[inside, 0]).any())
        outside += not inside.all()
    assert ties >= 3
    assert outside >= 2


def test_the_largest_losses_are_those_of_the_worst_policy() -> None:
    """V* - min V is V* of the rewards and of their opposites together."""
    for form, _, _ in cases()[:10]:
        models = np.arange(0, form.n_models, 2, dtype=np.int32)
        now, after = np.full((2, form.pattern.n_states, form.n_models), np.nan)
        after[:] = 0.0
        for h in range(form.steps - 1, -1, -1):
            largest_losses(
                form.pattern.indptr, form.pattern.indices, form.likelihood,
                form.losses[h], models, after, now,
            )  # fmt: skip
            now, after = after, now
        for m, model in enumerate(rational(form.latent).models):
            opposite = [[-r for r in row] for row in model.rewards]
            best, worst = (
                optimal_values(model.transitions, rewards, form.steps)[0]
                for rewards in (model.rewards, opposite)
            )
            wanted = [
                float(b + w) if m in models else 0.0
                for b, w in zip(best, worst, strict=True)
            ]
            assert after[:, m] == pytest.approx(wanted, abs=CLOSE)


def test_plans_that_nodes_lead_to_are_marked() -> None:
    marked = 0
    for form, tree, _ in cases():
        pattern, plans = form.pattern, np.zeros((tree.supports.count, 4), np.bool_)
        for h in range(form.steps - 1):
            begin, end = tree.layers[h], tree.layers[h + 1]
            plans[:] = False
            linked_plans(
                pattern.indptr, pattern.indices, pattern.n_actions, begin, end,
                tree.state, tree.first_link, tree.links, plans,
            )  # fmt: skip
            wanted = set()
            for node in range(begin, end):
                rows = tree.state[node] * pattern.n_actions + [0, pattern.n_actions]
                edges = slice(*pattern.indptr[rows])
                first = tree.first_link[node]
                links = tree.links[first : first + edges.stop - edges.start]
                both = zip(links.tolist(), pattern.indices[edges].tolist(), strict=True)
                wanted |= {(-2 - link, t) for link, t in both if link <= -2}
            assert set(map(tuple, np.argwhere(plans).tolist())) == wanted
            marked += len(wanted)
    assert marked > 50


def test_the_chosen_policy_is_somewhere_at_every_step() -> None:
    """Chances of nodes and of what was settled before add up to one."""
    for form, tree, values in cases():
        chance = follow(tree, values).chance
        pattern, members = form.pattern, tree.supports.members
        roots = members.roots.sum(axis=1)
        gone = float(roots[tree.roots < 0].sum())
        for h in range(form.steps):
            layer = range(tree.layers[h], tree.layers[h + 1])
            assert chance[layer].sum() + gone == pytest.approx(1.0, abs=CLOSE)
            for node in layer if h + 1 < form.steps else ():
                base = pattern.indptr[tree.state[node] * pattern.n_actions]
                row = tree.state[node] * pattern.n_actions + values.action[node]
                for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                    if tree.links[tree.first_link[node] + k - base] < 0:
                        mass = float(tree.belief[node] @ members.likelihood[k])
                        gone += chance[node] * mass


def test_evidence_that_almost_rules_out_a_model_can_be_taken_back() -> None:
    """Beliefs of 1e-400 are no floats; the counts remember what was seen."""
    rare, steps = 1e-80, 11
    kernel = np.empty((2, 2, 2, 2))
    kernel[:] = 0.5
    kernel[0, :, 0] = kernel[1, :, 1] = 1.0 - rare, rare  # in one model each, by action
    rewards = np.zeros((2, 2, 2))
    rewards[0, :, 0] = rewards[1, :, 1] = 1.0
    simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    form = loss_form(LatentMDP(simulators, np.array([0.25, 0.75])), horizon=steps)
    tree, _ = grown(form)
    pattern = form.pattern
    known = {int(tree.roots[0]): [Fraction(1, 4), Fraction(3, 4)]}
    least, back = Fraction(1), 0
    for node in range(tree.layers[-2]):  # a node comes after those that lead to it
        weights, base = known[node], pattern.indptr[tree.state[node] * 2]
        for k in range(base, pattern.indptr[tree.state[node] * 2 + 2]):
            child = int(tree.links[tree.first_link[node] + k - base])
            both = zip(weights, form.likelihood[k].tolist(), strict=True)
            seen = [w * Fraction(p) for w, p in both]
            belief = [w / sum(seen) for w in seen]
            assert tree.belief[child] == pytest.approx(
                [float(b) for b in belief], rel=1e-9, abs=1e-290
            )
            back += min(weights) < Fraction(10) ** -300 < min(belief)
            least = min(least, *belief)
            known[child] = belief
    assert set(known) == set(range(tree.size))
    assert least < Fraction(10) ** -400
    assert back > 0


def test_a_large_tree_has_one_node_for_every_count_of_evidence() -> None:
    """Thousands of nodes, so that all arrays and the table of hashes have to grow."""
    steps, arms = 13, 3
    kernel = np.full((arms, 2, arms, 2), (0.75, 0.25))
    for m in range(arms):
        kernel[m, :, m] = (0.25, 0.75)
    rewards = np.repeat([[0.0], [1.0]], arms, axis=1)
    simulators = class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)
    prior = np.array([0.5, 0.375, 0.125])
    tree, _ = grown(loss_form(LatentMDP(simulators, prior), horizon=steps))
    now = {(0, (0,) * arms)}  # state, successes less failures by arm
    for h in range(steps - 1):  # nothing is lost at the last step
        layer = slice(tree.layers[h], tree.layers[h + 1])
        state = np.array([s for s, _ in now])
        belief = prior * 3.0 ** np.array([counts for _, counts in now])
        belief /= belief.sum(axis=1, keepdims=True)
        wanted = np.column_stack([state, belief])
        found = np.column_stack([tree.state[layer], tree.belief[layer]])
        assert len(found) == len(wanted)
        orders = (np.lexsort(np.round(each, 9).T) for each in (found, wanted))
        assert found[next(orders)] == pytest.approx(wanted[next(orders)], abs=1e-12)
        now = {
            (s, (*counts[:a], counts[a] + 2 * s - 1, *counts[a + 1 :]))
            for _, counts in now
            for a in range(arms)
            for s in range(2)
        }
    assert tree.layers[-1] - tree.layers[-2] == 0
    assert tree.size > 4000
