"""How wide to randomize: the curve against exact twins, and the recommendation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from simgap.answers.width.width import width
from simgap.instances import catalogue
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle.entry import (
    domain_randomization_oracle,
)
from simgap.oracle.settings import BoundedOracle, Solver
from tests.answers.hidden_cases import with_prior
from tests.answers.width_cases import (
    EXACTLY,
    coins,
    holds,
    kept_by,
    planned_by,
    random_case,
    two_parameters,
)
from tests.reference.latent import exact_gap
from tests.reference.width import (
    gaps_of_range,
    least_average_gap,
    restricted,
)

BOUNDED = BoundedOracle(gap_tolerance=0.2, time_limit=None, episodes=2)


@pytest.fixture
def exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    planned_by(EXACTLY, monkeypatch)


@pytest.mark.parametrize(
    ("seed", "solver"),
    [*((seed, EXACTLY) for seed in range(24)), *((seed, BOUNDED) for seed in range(8))],
)
def test_the_curve_is_what_following_the_policies_by_hand_gives(
    seed: int, solver: Solver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside: recursion over beliefs; in each model: a sum over histories, exact."""
    latent, horizon = random_case(seed)
    planned_by(solver, monkeypatch)
    found = width(latent, horizon, "p")
    real = np.flatnonzero(latent.prior > 0.0)
    prior, names = latent.prior[real], [each.name for each in found.real]
    for row in found.widths:
        inside = kept_by(found, row)
        kept = real[inside].tolist()
        inner = restricted(latent, kept)
        oracle = domain_randomization_oracle(inner, horizon=horizon, solver=solver)
        twin = gaps_of_range(latent, kept, oracle.policy, horizon)
        gaps = np.array([float(twin[int(m)]) for m in real])
        assert row.gaps == pytest.approx(gaps, abs=1e-12)
        assert holds(row.inside, exact_gap(inner, horizon))
        assert holds(row.gap, prior @ gaps)
        assert holds(row.worst, gaps.max())
        worst = names.index(row.worst_model)
        assert gaps[worst] == pytest.approx(gaps.max(), abs=1e-12)
        assert row.models == inside.sum()
        if inside.all():
            assert row.outside is None
            assert row.beyond == ()
        else:
            outside = ~inside
            assert row.outside is not None
            mean = prior[outside] @ gaps[outside] / prior[outside].sum()
            assert holds(row.outside, mean)
            assert sum(each.models for each in row.beyond) == outside.sum()
    assert found.widths[-1].models == real.size


@pytest.mark.usefixtures("exactly")
def test_inside_is_the_least_over_all_policies_of_histories() -> None:
    latent = coins(0.25, 0.5, 0.75)
    found = width(latent, 2)
    assert [row.width for row in found.widths] == [0.0, 0.5]
    everything = least_average_gap(latent, 2)
    assert holds(found.widths[1].inside, everything)
    assert holds(found.widths[0].inside, 0)
    assert found.least_possible is not None
    assert holds(found.least_possible, everything)


@pytest.mark.usefixtures("exactly")
def test_training_on_one_coin_loses_what_arithmetic_says() -> None:
    """H = 2: arm 1 at once pays 0 + p, arm 0 pays 1/2 + 1/2; then both pay the state.

    Trained on p = 1/4 the policy takes 1/2 twice: 1 in all. With p = 1 arm 1 first
    gives 0 + 1, as much; with three steps it gives 0 + 1 + 1 = 2 and loses 1/2.
    """
    latent = coins(0.25, 1.0, prior=np.array([0.75, 0.25]))
    short = width(latent, 2, nominal=0.25).widths[0]
    assert short.gaps == pytest.approx([0.0, 0.0], abs=1e-12)
    long = width(latent, 3, nominal=0.25).widths[0]
    assert long.gaps == pytest.approx([0.0, 0.5], abs=1e-12)
    assert holds(long.gap, 0.125)
    assert long.outside is not None
    assert holds(long.outside, 0.5)
    assert [each.distance for each in long.beyond] == [0.75]


@pytest.mark.usefixtures("exactly")
def test_the_whole_class_has_the_least_average_gap() -> None:
    for seed in range(30, 42):
        latent, horizon = random_case(seed)
        found = width(latent, horizon)
        whole = found.widths[-1]
        assert whole.gap.upper == pytest.approx(whole.inside.upper, abs=1e-12)
        for row in found.widths:
            assert row.gap.upper >= whole.inside.lower


@pytest.mark.usefixtures("exactly")
def test_other_parameters_stay_random() -> None:
    latent = two_parameters()
    found = width(latent, 4, "success", nominal=0.3)
    assert [kept_by(found, row).tolist() for row in found.widths] == [
        [True, True, False, False],
        [True] * 4,
    ]
    first = found.widths[0]
    assert holds(first.inside, exact_gap(restricted(latent, [0, 1]), 4))
    assert holds(first.at_nominal, sum(first.gaps[:2]) / 2)
    weighted = with_prior(latent, np.array([3.0, 1.0, 2.0, 2.0]))
    whole = width(weighted, 4, "success", nominal=0.3).widths[-1]
    assert whole.gaps[0] != whole.gaps[1]
    assert holds(whole.at_nominal, 0.75 * whole.gaps[0] + 0.25 * whole.gaps[1])


@pytest.mark.usefixtures("exactly")
def test_models_of_prior_zero_cannot_be_real() -> None:
    prior = np.array([0.5, 0.0, 0.5])
    latent = coins(0.2, 0.5, 0.9, prior=prior)
    found = width(latent, 3)
    assert [each.value for each in found.real] == [0.2, 0.9]
    assert found.nominal == 0.2  # the lower of the two medians
    assert [row.models for row in found.widths] == [1, 2]


@pytest.mark.usefixtures("exactly")
def test_equal_sets_of_models_are_planned_once_and_agree() -> None:
    latent = coins(0.25, 0.5, 0.75)
    seen: list[str] = []
    found = width(latent, 3, widths=(0.0, 0.1, 0.5), progress=seen.append)
    first, second, third = found.widths
    assert first.gaps == second.gaps
    assert (second.low, second.high) == (0.5, 0.5)  # the models inside
    assert third.models == 3
    assert len(seen) == 3
    assert [each.distance for each in second.beyond] == [0.25]


def losses(*numbers: float) -> list[Certified]:
    return [Certified(x - 1e-13, x + 1e-13) for x in numbers]


@pytest.mark.usefixtures("exactly")
@pytest.mark.parametrize("criterion", ["average", "worst"])
@pytest.mark.parametrize("slack", [0.0, 0.02, 0.3, 1.0])
def test_the_recommendation_follows_from_the_table(
    criterion: Literal["average", "worst"], slack: float
) -> None:
    latent = LatentMDP.uniform(
        catalogue.build_instance(
            "riverswim?states=3&success=0.05:0.85:5&left_reward=0.4"
        )
    )
    found = width(latent, 8, criterion=criterion, slack=slack)
    losses = [
        (row.gap if criterion == "average" else row.worst).upper for row in found.widths
    ]
    chosen = [row.width for row in found.widths].index(found.recommended)
    enough = min(losses) + slack * found.at_stake + 1e-9
    assert losses[chosen] <= enough
    assert all(each > enough for each in losses[:chosen])
