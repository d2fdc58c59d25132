"""The tree of beliefs, walked by every history and judged by plain recursions."""

from __future__ import annotations

from functools import cache
from math import inf

import numpy as np
import pytest

from simgap._kernels.beliefs.belief_tree_gaps import largest_losses
from simgap.arrays import AnyArray, FloatArray
from simgap.instances import best_arm, needle
from simgap.mdp import LatentMDP
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
