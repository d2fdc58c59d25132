"""Exchangeable models: what is merged, that it is sound, and what it saves."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
import pytest

from simgap.instances import best_arm, needle
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
from simgap.oracle.exact import solve_exact
from simgap.oracle.exact.evidence import Supports
from simgap.oracle.exact.gaps import least_worst_gap
from simgap.oracle.exact.symmetry import (
    Members,
    Symmetry,
    find_symmetry,
    members_of,
    no_symmetry,
)
from simgap.oracle.exact.tree import BeliefTree, Limits, TreeValues, solve_tree
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import ExactOracle
from tests.oracle.test_exact_policy import belief_policy, gaps_by_histories
from tests.reference.latent import exact_gap, gap_intervals, rational

Finder = Callable[[LossForm, Members], Symmetry]


def solved(form: LossForm, finder: Finder) -> tuple[BeliefTree, TreeValues]:
    members = members_of(form)
    limits = Limits(10**7, 2**31, inf, inf, inf, lambda: 0.0, 0.0)
    tree = BeliefTree(form, Supports(form, members, finder(form, members)), limits)
    tree.grow()
    return tree, solve_tree(tree)


def root_gap(tree: BeliefTree, values: TreeValues) -> float:
    """Return the average gap; all episodes begin in one state here."""
    (root,) = tree.roots
    return float(values.value[root])


def permuted_arms(rng: np.random.Generator, members: int) -> SimulatorClass:
    """Random bandits that are each other's images, with three states and ties.

    Arm a of model m is the good one if a == m; its law, that of the others, and the
    rewards are random, and one model of its own keeps the class from being one orbit.
    """
    laws = rng.multinomial(16, [1 / 3] * 3, size=(3, 2)) / 16.0  # (S, good or not, S)
    kernel = np.empty((members + 1, 3, members, 3))
    kernel[:] = laws[:, None, 1]
    for m in range(members):
        kernel[m, :, m] = laws[:, 0]
    kernel[members] = rng.multinomial(16, [1 / 3] * 3, size=(3, 1)) / 16.0
    rewards = np.repeat(rng.integers(0, 5, (3, 1)) / 4.0, members, axis=1)
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def test_arms_are_exchangeable_and_a_prior_can_spoil_it() -> None:
    simulators = needle(4)
    same = loss_form(LatentMDP.uniform(simulators), horizon=5)
    assert len(set(find_symmetry(same, members_of(same)).orbit)) == 1
    uneven = loss_form(LatentMDP(simulators, np.array([0.4, 0.2, 0.2, 0.2])), horizon=5)
    orbit = find_symmetry(uneven, members_of(uneven)).orbit
    assert orbit[0] not in orbit[1:]
    assert len(set(orbit[1:])) == 1
    different = loss_form(
        LatentMDP(simulators, np.array([0.4, 0.3, 0.2, 0.1])), horizon=5
    )
    assert not find_symmetry(different, members_of(different)).found


@pytest.mark.parametrize(
    ("simulators", "horizon", "fewer"),
    [
        (needle(8), 20, 30.0),
        (best_arm(2, 0.1), 20, 1.8),
        (best_arm(3, 0.1), 14, 4.0),
        (best_arm(4, 0.1), 9, 8.0),
    ],
)
def test_sorting_beliefs_saves_nodes_and_changes_nothing(
    simulators: SimulatorClass, horizon: int, fewer: float
) -> None:
    form = loss_form(LatentMDP.uniform(simulators), horizon=horizon)
    plain, plain_values = solved(form, no_symmetry)
    merged, merged_values = solved(form, find_symmetry)
    gap = root_gap(plain, plain_values)
    assert root_gap(merged, merged_values) == pytest.approx(gap, rel=1e-12)
    assert plain.size > fewer * merged.size
    planned = solve_exact(form, ExactOracle())
    assert planned.nodes == merged.size
    assert planned.least_worst_gap == pytest.approx(gap, rel=1e-12)


def test_sorted_beliefs_are_sound_on_random_classes() -> None:
    """Gap, intervals, graph and belief policy against the twin; two orbits each."""
    rng = np.random.default_rng(8)
    lost = 0
    for i in range(25):
        latent = LatentMDP.uniform(permuted_arms(rng, 2 + i % 2))
        horizon = 4 if i % 2 == 0 else 3
        form = loss_form(latent, horizon=horizon)
        assert find_symmetry(form, members_of(form)).found
        planned = solve_exact(form, ExactOracle())
        assert planned.upper == pytest.approx(
            float(exact_gap(latent, horizon)), abs=1e-12
        )
        judged = [
            (float(a), float(b)) for a, b in gap_intervals(rational(latent), horizon)
        ]
        # a prior of thirds is no float: a tie of the class may be none for the twin
        assert planned.gap_intervals is not None
        for (low, high), (a, b) in zip(planned.gap_intervals, judged, strict=True):
            assert low <= a + 1e-11
            assert high >= b - 1e-11
        by_histories = gaps_by_histories(form, planned.policy)
        assert planned.gaps == pytest.approx(by_histories, abs=1e-11)
        assert latent.prior @ planned.gaps == pytest.approx(planned.upper, abs=1e-11)
        tracked = gaps_by_histories(form, belief_policy(form, planned))
        assert latent.prior @ np.array(tracked) == pytest.approx(
            planned.upper, abs=1e-9
        )
        lost += planned.upper > 1e-3
    assert lost > 10


def test_a_mixture_treats_exchangeable_models_alike() -> None:
    """The least worst gap is the same with and without merging."""
    rng = np.random.default_rng(18)
    for _ in range(6):
        form = loss_form(LatentMDP.uniform(permuted_arms(rng, 2)), horizon=4)
        planned = solve_exact(form, ExactOracle())
        assert planned.gap_intervals is not None
        tree, values = solved(form, no_symmetry)
        plain = least_worst_gap(tree, values, planned.upper, planned.gap_intervals)
        assert plain is not None
        assert planned.least_worst_gap == pytest.approx(plain, abs=1e-8)
