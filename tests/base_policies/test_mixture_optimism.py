"""Optimism over a set of mixtures: the bracket holds the true maximum of a grid."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import (
    ConfidenceSet,
    confidence_set,
)
from simgap.base_policies.infinite.mixture_optimism import optimistic_member
from simgap.base_policies.infinite.mixture_planning import relaxed_plan
from simgap.planning import diameter, solve_average_reward
from tests.base_policies.mixtures import (
    grid,
    random_ball,
    random_mixture,
    second_arm,
)
from tests.reference import mixture as twin


def after(
    mixture: MixtureClass, truth: FloatArray, visits: int, *, failure: float = 0.01
) -> ConfidenceSet:
    """Return the set after noiseless data of a truth, `visits` at each pair."""
    bias = np.arange(mixture.n_states) / max(1, mixture.n_states - 1)
    pairs = mixture.n_states * mixture.n_actions
    x = (mixture.directions @ bias).reshape(mixture.dimension, pairs)
    gram = visits * x @ x.T
    return confidence_set(
        mixture.region, gram, gram @ truth, ridge=0.5, failure=failure
    )


def cases(seed: int) -> list[tuple[MixtureClass, ConfidenceSet]]:
    rng = np.random.default_rng(seed)
    mixtures = [
        random_mixture(rng, members=3),
        random_ball(rng, axes=2),
        random_ball(rng, axes=1, states=4),
        random_mixture(rng, members=2, states=4, actions=3),
    ]
    out = []
    for mixture in mixtures:
        eye = np.eye(mixture.dimension)
        truth = mixture.region.nearest(rng.normal(size=mixture.dimension), eye)
        out += [(mixture, after(mixture, truth, n)) for n in (0, 30, 3000)]
    return out


@pytest.mark.parametrize("seed", range(4))
def test_the_bracket_holds_the_greatest_gain_of_a_fine_grid(seed: int) -> None:
    for mixture, members in cases(seed):
        points = 15 if mixture.dimension == 2 else 60
        inside = [u for u in grid(mixture, points) if members.contains(u)]
        best = twin.greatest_gain(mixture, np.array([*inside, members.fit]))
        found = optimistic_member(mixture, members, tolerance=1e-8)
        assert found.lower <= found.upper
        assert best <= found.upper + 1e-10
        assert found.lower >= best - 1e-7  # a search: it finds what the grid finds
        assert members.contains(found.u, slack=1e-6)
        again = solve_average_reward(mixture.model(found.theta))
        assert again.gain[0] == pytest.approx(found.lower, abs=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_the_relaxed_backup_is_above_that_of_every_member(seed: int) -> None:
    """The certificate: T l - l is at most the gain, for a member per pair."""
    for mixture, members in cases(seed):
        plan = relaxed_plan(mixture, members, tolerance=1e-8)
        inside = [u for u in grid(mixture, 9) if members.contains(u)]
        backed = twin.relaxed_backup(
            mixture, np.array([*inside, members.fit]), plan.bias
        )
        assert (backed - plan.bias <= plan.gain + 1e-12).all()
        assert plan.defect <= 1e-8
        assert plan.bias.min() == 0.0


@pytest.mark.parametrize("seed", range(4))
def test_spans_are_at_most_the_diameter_of_any_member(seed: int) -> None:
    """sp(l) <= D(u) (gain - min R) for every u of the set: errata E6's bound again."""
    for mixture, members in cases(seed):
        plan = relaxed_plan(mixture, members, tolerance=1e-8)
        longest = diameter(mixture.at(members.fit)).upper
        least = float(mixture.rewards.min())
        assert plan.span <= longest * (plan.gain - least) + 1e-7


def test_proposition_2_is_solved_in_closed_form() -> None:
    """Gain max(1/2, upper end of the second mean), bias (0, 1) (theory 4.9, row 13)."""
    mixture = second_arm()
    for truth, visits in ((0.4, 400), (-0.5, 400), (-0.5, 40_000)):
        u = mixture.coordinates([0.5, truth])
        members = after(mixture, u, visits)
        found = optimistic_member(mixture, members, tolerance=1e-10)
        ends = [float(mixture.theta(members.inward(np.array([e])))[1]) for e in (-1, 1)]
        mean = 0.5 + max(ends)
        assert found.upper == pytest.approx(max(0.5, mean), abs=1e-9)
        assert found.lower == pytest.approx(found.upper, abs=1e-9)
        assert found.plan.bias == pytest.approx([0.0, 1.0], abs=1e-9)
