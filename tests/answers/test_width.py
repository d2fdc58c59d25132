"""How wide to randomize: the curve against exact twins, and the recommendation."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.width.width import (
    CLOSE,
    Criterion,
    WidthCurve,
    WidthSettings,
    average,
    narrowest,
    width_curve,
)
from simgap.errors import InvalidArgument
from simgap.instances import catalogue
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle.entry import (
    domain_randomization_oracle,
    planned_in_part,
    planned_policy,
)
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome, Planned
from simgap.oracle.settings import AutoOracle, BoundedOracle, ExactOracle, Solver
from tests.answers.width_cases import (
    EXACTLY,
    built,
    coins,
    holds,
    random_case,
    two_parameters,
)
from tests.reference.latent import exact_gap
from tests.reference.width import (
    gaps_of_range,
    least_average_gap,
    restricted,
    with_parameters,
)

BOUNDED = BoundedOracle(gap_tolerance=0.2, time_limit=None, episodes=2)


@pytest.mark.parametrize(
    ("seed", "solver"),
    [*((seed, EXACTLY) for seed in range(24)), *((seed, BOUNDED) for seed in range(8))],
)
def test_the_curve_is_what_following_the_policies_by_hand_gives(
    seed: int, solver: Solver
) -> None:
    """Inside: recursion over beliefs; in each model: a sum over histories, exact."""
    latent, horizon = random_case(seed)
    settings = WidthSettings(solver=solver)
    curve = width_curve(latent, horizon=horizon, param="p", settings=settings)
    prior = curve.weights
    for row in curve.rows:
        kept = [int(m) for m in curve.real[row.kept]]
        inner = restricted(latent, kept)
        found = domain_randomization_oracle(inner, horizon=horizon, solver=solver)
        twin = gaps_of_range(latent, kept, found.policy, horizon)
        gaps = np.array([float(twin[int(m)]) for m in curve.real])
        assert row.gaps == pytest.approx(gaps, abs=1e-12)
        assert holds(row.inside, exact_gap(inner, horizon))
        assert holds(row.gap, prior @ gaps)
        assert holds(row.worst, gaps.max())
        assert gaps[row.worst_model] == pytest.approx(gaps.max(), abs=1e-12)
        if row.kept.all():
            assert row.outside is None
            assert row.beyond == ()
        else:
            outside = ~row.kept
            assert row.outside is not None
            mean = prior[outside] @ gaps[outside] / prior[outside].sum()
            assert holds(row.outside, mean)
            assert sum(each.models for each in row.beyond) == outside.sum()
    assert curve.rows[-1].kept.all()


def test_random_cases_have_surprises_and_several_ranges() -> None:
    """The test above would be blind if every range allowed everything."""
    curves = []
    for seed in range(24):
        latent, horizon = random_case(seed)
        settings = WidthSettings(solver=EXACTLY)
        curves.append(width_curve(latent, horizon=horizon, settings=settings))
    assert sum(any(row.surprising for row in curve.rows) for curve in curves) >= 5
    assert sum(len(curve.rows) >= 3 for curve in curves) >= 5


def test_inside_is_the_least_over_all_policies_of_histories() -> None:
    latent = coins(0.25, 0.5, 0.75)
    settings = WidthSettings(solver=EXACTLY)
    curve = width_curve(latent, horizon=2, settings=settings)
    assert [row.width for row in curve.rows] == [0.0, 0.5]
    everything = least_average_gap(latent, 2)
    assert holds(curve.rows[1].inside, everything)
    assert holds(curve.rows[0].inside, 0)
    assert curve.whole is not None
    assert holds(curve.whole, everything)


def test_training_on_one_coin_loses_what_arithmetic_says() -> None:
    """H = 2: arm 1 at once pays 0 + p, arm 0 pays 1/2 + 1/2; then both pay the state.

    Trained on p = 1/4 the policy takes 1/2 twice: 1 in all. With p = 1 arm 1 first
    gives 0 + 1, as much; with three steps it gives 0 + 1 + 1 = 2 and loses 1/2.
    """
    latent = coins(0.25, 1.0, prior=np.array([0.75, 0.25]))
    settings = WidthSettings(solver=EXACTLY, nominal=0.25)
    short = width_curve(latent, horizon=2, settings=settings)
    assert short.rows[0].gaps == pytest.approx([0.0, 0.0], abs=1e-12)
    long = width_curve(latent, horizon=3, settings=settings)
    assert long.rows[0].gaps == pytest.approx([0.0, 0.5], abs=1e-12)
    assert holds(long.rows[0].gap, 0.125)
    assert long.rows[0].outside is not None
    assert holds(long.rows[0].outside, 0.5)
    assert [each.distance for each in long.rows[0].beyond] == [0.75]


def test_the_whole_class_has_the_least_average_gap() -> None:
    for seed in range(30, 42):
        latent, horizon = random_case(seed)
        settings = WidthSettings(solver=EXACTLY)
        curve = width_curve(latent, horizon=horizon, settings=settings)
        whole = curve.rows[-1]
        assert whole.gap.upper == pytest.approx(whole.inside.upper, abs=1e-12)
        for row in curve.rows:
            assert row.gap.upper is not None
            assert whole.inside.lower is not None
            assert row.gap.upper >= whole.inside.lower


def test_other_parameters_stay_random() -> None:
    latent = two_parameters()
    settings = WidthSettings(nominal=0.3, solver=EXACTLY)
    curve = width_curve(latent, horizon=4, param="success", settings=settings)
    assert [row.kept.tolist() for row in curve.rows] == [
        [True, True, False, False],
        [True] * 4,
    ]
    first = curve.rows[0]
    assert holds(first.inside, exact_gap(restricted(latent, [0, 1]), 4))
    assert holds(first.at_nominal, float(first.gaps[:2].mean()))


def test_models_of_prior_zero_cannot_be_real() -> None:
    prior = np.array([0.5, 0.0, 0.5])
    latent = coins(0.2, 0.5, 0.9, prior=prior)
    curve = width_curve(latent, horizon=3, settings=WidthSettings(solver=EXACTLY))
    assert curve.real.tolist() == [0, 2]
    assert curve.nominal == 0.2  # the lower of the two medians
    assert [row.kept.tolist() for row in curve.rows] == [[True, False], [True, True]]


def test_equal_sets_of_models_are_planned_once_and_agree() -> None:
    latent = coins(0.25, 0.5, 0.75)
    seen: list[tuple[int, int]] = []
    curve = width_curve(
        latent,
        horizon=3,
        settings=WidthSettings(widths=(0.0, 0.1, 0.5), solver=EXACTLY),
        progress=lambda done, whole: seen.append((done, whole)),
    )
    first, second, third = curve.rows
    assert first.gaps.tolist() == second.gaps.tolist()
    assert (second.low, second.high) == (0.5, 0.5)  # the models inside
    assert third.kept.all()
    assert seen == [(0, 3), (1, 3), (2, 3)]
    assert [each.distance for each in second.beyond] == [0.25]


def losses(*numbers: float) -> list[Certified]:
    return [Certified(x - 1e-13, x + 1e-13) for x in numbers]


def test_the_narrowest_within_the_slack_is_recommended() -> None:
    assert narrowest(losses(5.0, 3.0, 2.9, 2.95), 0.0) == 2
    assert narrowest(losses(5.0, 3.0, 2.9, 2.95), 0.1) == 1
    assert narrowest(losses(5.0, 3.0, 2.9, 2.95), 3.0) == 0


def test_rounding_does_not_make_a_range_wider() -> None:
    assert narrowest(losses(1.0 + 1e-13, 1.0), 0.0) == 0
    assert narrowest(losses(1.0 + 1e-12, 1.0), 0.0) == 1


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("slack", [0.0, 0.02, 0.3, 1.0])
def test_the_recommendation_follows_from_the_table(
    criterion: Criterion, slack: float
) -> None:
    latent = LatentMDP.uniform(
        catalogue.build_instance(
            "riverswim?states=3&success=0.05:0.85:5&left_reward=0.4"
        )
    )
    settings = WidthSettings(criterion=criterion, slack=slack, solver=EXACTLY)
    curve = width_curve(latent, horizon=8, settings=settings)

    def judged(at: int) -> float:
        row = curve.rows[at]
        bounds = row.gap if criterion is Criterion.AVERAGE else row.worst
        assert bounds.upper is not None
        return bounds.upper

    assert curve.at_stake.upper is not None
    spare = slack * curve.at_stake.upper
    least = min(judged(at) for at in range(len(curve.rows)))
    assert judged(curve.recommended) <= least + spare + 1e-9
    assert all(judged(at) > least + spare + 1e-9 for at in range(curve.recommended))


def test_if_nothing_is_at_stake_the_narrowest_range_is_enough() -> None:
    kernel = np.zeros((3, 2, 2, 2))
    kernel[..., 0] = np.array([0.2, 0.5, 0.8])[:, None, None]
    kernel[..., 1] = 1.0 - kernel[..., 0]
    latent = LatentMDP.uniform(built(kernel, np.full((2, 2), 0.7)))
    latent = with_parameters(latent, ("p",), [[0.2], [0.5], [0.8]])
    curve = width_curve(latent, horizon=4, settings=WidthSettings(slack=0.0))
    assert curve.at_stake.lower == 0.0
    assert curve.recommended == 0
    assert curve.rows[0].gap.upper == pytest.approx(0.0, abs=1e-12)


def test_the_usual_solver_stops_at_a_part_of_the_slack_and_repeats_itself() -> None:
    latent = LatentMDP.uniform(
        catalogue.build_instance("riverswim?states=5&success=0.1:0.9:5&left_reward=0.4")
    )

    def curve(slack: float) -> WidthCurve:
        return width_curve(latent, horizon=60, settings=WidthSettings(slack=slack))

    found, again = curve(0.05), curve(0.05)
    for row, twin in zip(found.rows, again.rows, strict=True):
        assert row.gaps.tolist() == twin.gaps.tolist()
        assert row.outcome in (Outcome.EXACT, Outcome.SOLVED)
        assert row.inside.lower is not None
        assert row.inside.upper is not None
        assert found.at_stake.upper is not None
        close = CLOSE * 0.05 * found.at_stake.upper
        wide = row.inside.upper - row.inside.lower
        assert wide <= max(close, 0.05 * row.inside.upper, 1e-9)


def test_many_models_share_the_time_and_every_loss_is_exact(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    latent, horizon = coins(*np.linspace(0.1, 0.9, 12).tolist()), 4
    asked: list[float | None] = []

    def watched(form: LossForm, solver: Solver) -> Planned:
        asked.append(solver.time_limit)
        if form.n_models <= 4 or not isinstance(solver, AutoOracle):
            return planned_policy(form, solver)
        return planned_in_part(form, solver, 4)

    monkeypatch.setattr("simgap.answers.width.policy.planned_policy", watched)
    settings = WidthSettings(widths=(0.0, 0.4, 2.0), time_limit=30.0)
    width_curve(latent, horizon=horizon, settings=settings)
    assert set(asked) == {30.0}
    asked.clear()
    monkeypatch.setattr("simgap.answers.width.width.MANY", 6)
    curve = width_curve(latent, horizon=horizon, settings=settings)
    assert set(asked) == {10.0}
    form = loss_form(latent, horizon=horizon)
    whole = solve_exact(form, ExactOracle())
    last = curve.rows[-1]
    assert last.kept.all() and last.gaps.shape == (12,)
    assert holds(last.inside, whole.lower, 1e-9)
    assert holds(last.gap, float(latent.prior @ last.gaps), 1e-9)
    assert (last.gap.upper or 0.0) >= whole.lower - 1e-9


def test_a_limit_is_told() -> None:
    latent = LatentMDP.uniform(
        catalogue.build_instance("riverswim?states=6&success=0.1:0.9:5&left_reward=0.4")
    )
    short = AutoOracle(gap_tolerance=1e-9, negligible=0.0, time_limit=0.01, episodes=2)
    curve = width_curve(latent, horizon=200, settings=WidthSettings(solver=short))
    assert curve.rows[-1].outcome is Outcome.OUT_OF_TIME
    for row in curve.rows:  # valid all the same
        assert row.inside.lower is not None
        assert row.gap.upper is not None
        assert curve.rows[-1].inside.lower is not None
        assert row.gap.upper >= curve.rows[-1].inside.lower


def test_an_interrupt_ends_the_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning returns what it has when it is interrupted; the curve does not."""

    def interrupted(form: LossForm, solver: Solver) -> Planned:
        found = planned_policy(form, solver)
        return replace(found, outcome=Outcome.INTERRUPTED)

    place = "simgap.answers.width.policy.planned_policy"
    monkeypatch.setattr(place, interrupted)
    with pytest.raises(KeyboardInterrupt):
        width_curve(coins(0.2, 0.6), horizon=2)


def test_averages_are_rounded_outwards() -> None:
    ends = np.array([[0.1, 0.1], [0.2, 0.2], [0.7, 0.7]])
    weights = np.array([0.1, 0.3, 0.2])
    exact = sum(
        (Fraction(w) * Fraction(e) for w, e in zip(weights, ends[:, 0], strict=True)),
        Fraction(0),
    ) / sum(map(Fraction, weights), Fraction(0))
    assert holds(average(ends, weights), exact, slack=0.0)


@pytest.mark.parametrize(
    "settings",
    [
        {"slack": -0.1},
        {"slack": 1.5},
        {"slack": float("nan")},
        {"nominal": float("inf")},
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        WidthSettings(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("widths", [(), (-0.1,), (float("nan"),)])
def test_widths_out_of_range_are_refused(widths: tuple[float, ...]) -> None:
    with pytest.raises(InvalidArgument):
        width_curve(coins(0.2, 0.6), horizon=2, settings=WidthSettings(widths=widths))
