"""Where findings, verdicts and commands of an audit change, at the very boundary.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from math import inf
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import named_model
from simgap.answers.audit import (
    grid,
    numbers,
    theory as theories,
    words,
)
from simgap.answers.audit.losses import Losses, Settings
from simgap.answers.audit.verdict import Judgement
from simgap.answers.stakes import Stakes
from simgap.answers.weighted_models import weighted_models
from simgap.errors import NotSolved
from simgap.intervals import Certified, Estimate
from simgap.oracle import Outcome
from simgap.records import InSimulator, WorstModel
from simgap.text import NOISE
from tests.answers.audit_cases import coins, theory_of

auditing: Any = import_module("simgap.answers.audit.audit")
smoothness: Any = import_module("simgap.answers.audit.smoothness")
LATENT = coins(0.2, 0.9)


def stake(low: float, high: float) -> Stakes:
    return Stakes(Certified(low, high), (Certified(low, high),))


@pytest.mark.parametrize(
    ("least", "spans", "residual", "rounding", "code"),
    [
        (1e-9, None, 0.0, None, "well-conditioned"),
        (0.9e-9, None, 0.0, None, "small-probability"),
        (0.5, 1e-6 * 2.0**52, 0.0, None, "well-conditioned"),
        (0.5, 1.1e-6 * 2.0**52, 0.0, None, "large-values"),
        (0.5, None, 1e-6, 1e-6, "well-conditioned"),
        (0.5, None, 1.1e-6, None, "unsolved-equations"),
        (0.5, None, 0.0, 1.1e-6, "rounding"),
    ],
)
def test_digits_are_doubted_beyond_their_limits(
    least: float, spans: float | None, residual: float, rounding: Any, code: str
) -> None:
    values = np.array([[1.0 - least, least, 0.0]])
    every: Any = Stand(transitions=Stand(values=values))
    given = None if spans is None else np.array([1.0, spans])
    found = numbers.conditioning_finding(
        every, spans=given, residual=residual, rounding=rounding
    )
    assert (found.code, found.value) == (code, least)
    assert found.status == ("ok" if code == "well-conditioned" else "warning")


def test_a_table_and_its_simulator_disagree_beyond_the_acceptable_loss() -> None:
    def graded(low: float, high: float, name: str = "p") -> InSimulator:
        sampled = Estimate(0.5 * (low + high), low, high, 0.95)
        return InSimulator(name, Certified(1.0, 2.0), sampled, 100, 0.0)

    def found(*each: InSimulator, at_stake: Any = None) -> InSimulator | None:
        lost = Losses(stakes=at_stake or stake(2.0, 5.0), in_simulator=each)
        return grid._disagreement(lost, 0.1)

    assert found(graded(2.5, 3.0)) is None  # half apart, a tenth of 5
    assert found(graded(2.75, 3.0)) == graded(2.75, 3.0)
    most = graded(-1.0, 0.0, "q")
    assert found(graded(2.75, 3.0), most) == most
    assert found() is None
    assert grid._disagreement(Losses(in_simulator=(most,)), 0.1) is None


def test_noise_of_a_grid_is_worth_a_warning_beyond_half_of_the_motion() -> None:
    def code(noise: float, *, coarse: bool = False) -> str:
        origin = Stand(
            noise={"x": noise, "y": 0.25}, too_coarse=coarse, samples=2, words="drawn"
        )
        (found,) = grid.grid_findings(Stand(grid=origin))  # type: ignore[arg-type]
        assert found.value == max(noise, 0.25)
        assert "drawn" in found.text
        return found.code

    assert (code(0.5), code(0.51)) == ("on-grid", "grid-noisy")
    assert code(0.1, coarse=True) == "grid-too-coarse"


def test_commands_carry_on_from_a_verdict() -> None:
    def verbs(given: Any, verdict: Any = "yes", horizon: int | None = 7) -> list[str]:
        told = auditing._next_commands(
            named_model(given), horizon, verdict, Settings(time_limit=5.0)
        )
        assert all(f"-H {horizon or 200}" in each for each in told)
        return [" ".join(each.split()[1:2] + each.split()[5:]) for each in told]

    named = coins(0.2, 0.9, named=True)
    assert verbs(named, horizon=None) == ["audit"]
    assert verbs(named, "undecided") == ["audit --time-limit 30"]
    assert verbs(named) == ["gap", "identify", "blame", "width --param chance"]
    assert verbs(LATENT) == ["gap", "identify"]
    assert verbs(coins(0.2, 0.9, prior=(1.0, 0.0))) == ["gap"]
    assert verbs(named, "undecided: grid too coarse") == []


@pytest.mark.parametrize(
    ("outcome", "planned", "code", "status"),
    [
        (None, 0, "not-planned", "info"),
        (Outcome.EXACT, 2, "solved", "ok"),
        (Outcome.SOLVED, 1, "in-part", "ok"),
        (Outcome.STALLED, 2, "stopped-early", "warning"),
        (Outcome.OUT_OF_TIME, 1, "stopped-early", "warning"),
    ],
)
def test_an_audit_says_how_planning_ended(
    outcome: Outcome | None, planned: int, code: str, status: str
) -> None:
    lost = Losses(horizon=9, outcome=outcome, planned=planned)
    (found,) = auditing._planning(weighted_models(LATENT), lost)
    assert (found.code, found.status) == (code, status)
    assert found.value == (None if outcome is None else planned)
    assert auditing._planning(weighted_models(LATENT), Losses()) == ()


def test_a_verdict_is_exact_only_where_nothing_was_computed_in_floats() -> None:
    apart: Any = Stand(confused=())
    assert auditing._certainty(LATENT, None, apart) == "exact"
    assert auditing._certainty(LATENT, 5, apart) == "certified"
    apart.confused = ((0, 1),)
    assert auditing._certainty(LATENT, None, apart) == "certified"


def test_a_trip_longer_than_the_episode_is_a_warning() -> None:
    far: Any = Stand(model=0, lower=7.0, upper=7.5, source=[0, 0], target=[1, 1])
    models = weighted_models(LATENT)
    assert theories._diameter(models, far, None).code == "measured"
    assert theories._diameter(models, far, 7).code == "measured"
    found = theories._diameter(models, far, 6)
    assert (found.code, found.value) == ("longer-than-episode", 7.0)
    far.upper = far.lower = 0.0
    assert theories._diameter(models, far, 6).code == "one-state"


def test_a_diameter_that_takes_too_long_is_counted_in_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = 2 * 2 * LATENT.simulators.transitions.nonzeros
    monkeypatch.setattr(theories, "MOST_TRIPS", work)
    assert theory_of(LATENT, 9).trip.code == "measured"
    monkeypatch.setattr(theories, "MOST_TRIPS", work - 1)
    found = theory_of(LATENT, 9)
    assert (found.trip.code, found.trip.value) == ("not-measured", 1.0)
    assert found.diameter == Certified(1.0, inf)
    assert (found.facts, found.theorem, found.promised) == (None, None, None)
    unknown = theories._not_solved(NotSolved("no", hint="", result=(3.0, inf)))
    assert unknown.diameter == Certified(3.0, inf)
    assert (unknown.trip.code, unknown.trip.value) == ("not-solved", 3.0)


def test_pairs_of_too_many_models_are_not_smooth_or_rough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = weighted_models(coins(0.2, 0.9, named=True))

    def code() -> str:
        found = smoothness.smoothness_finding(
            models, np.zeros(2), stake=1.0, acceptable=0.1
        )
        return str(found.code)

    monkeypatch.setattr(smoothness, "MOST_MODELS", 2)
    assert code() == "smooth"
    monkeypatch.setattr(smoothness, "MOST_MODELS", 1)
    assert code() == "not-measured"


def test_words_name_the_worst_model_beyond_what_is_acceptable() -> None:
    latent = coins(0.2, 0.9, prior=(0.01, 0.99))
    worst = WorstModel("model 0", 1.0, 0.25)
    assert words._worst(latent, worst, 0.25, "It") == ""
    assert words._worst(latent, None, 0.25, "It") == ""
    said = words._worst(latent, worst, 0.24, "It")
    assert "25 %" in said and "probability" not in said
    rare = coins(0.2, 0.9, prior=(0.0099, 0.9901))
    assert "probability 0.0099" in words._worst(rare, worst, 0.24, "It")
    assert words._between(Certified(0.25, 0.25)) == "25 %"
    assert words._between(Certified(0.25, 0.5)) == "between 25 % and 50 %"
    assert words._at_most(NOISE) == "nothing"
    assert words._at_most(0.25) == "at most 25 %"


def test_a_judgement_on_a_grid_names_the_grid_or_is_left_open() -> None:
    said = Judgement("yes", "Yes.", "So.")

    def judged(**changes: Any) -> Judgement:
        usual: dict[str, Any] = {"grid": None, "on_grid": None}
        every: Any = Stand(**{**usual, **changes})
        return grid.on_this_grid(said, every, Losses(), 0.1)

    assert judged() == said
    named = judged(on_grid="21x21", grid=Stand(too_coarse=False))
    assert (named.verdict, named.code) == ("yes", None)
    assert named.reason.startswith("So. ") and "21x21" in named.reason
    coarse = judged(on_grid="5x5", grid=Stand(too_coarse=True, noise={"x": 2.0}))
    assert (coarse.verdict, coarse.code) == (
        "undecided: grid too coarse",
        "grid-too-coarse",
    )
    assert "200 %" in coarse.headline and "Yes." in coarse.reason
