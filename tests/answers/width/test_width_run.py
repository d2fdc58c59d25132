"""How wide to randomize a simulator: closed forms, and a training of simgap's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.answers.width.width_run import width_run
from simgap.records.files import read_record
from simgap.records.train import Train
from simgap.records.width_run import WidthRun
from tests.answers.target import Guess, MeanGuess, Target
from tests.note_codes import codes

WIDTHS = (0.0, 0.25, 0.5, 0.75, 1.0)


def asked(simulator: Any = Target(), **more: Any) -> WidthRun:  # noqa: B008 (frozen)
    usual: dict[str, Any] = {
        "randomize": "theta=0..4",
        "memory": "none",
        "seeds": 4,
        "train_fn": MeanGuess(0.01),
        "slack": 0.015,
        "design": "grid:41",
        "episodes": 2,
    }
    return width_run(simulator, **{**usual, **more})


def test_returns_and_recommendation_are_those_of_the_closed_form() -> None:
    """On the part f of 0..4 about 1 the best guess is 1 + f.

    It gets -4/3 - (1 - f)^2 over all, and -(4 f)^2 / 12 over its own range. Random
    actions get -80/3, so that a slack of 0.015 is 0.38: half of the range is enough.
    """
    found = asked()
    assert [each.width for each in found.widths] == list(WIDTHS)
    for each in found.widths:
        f = each.width
        assert each.mean.estimate == pytest.approx(-4 / 3 - (1 - f) ** 2, abs=0.15)
        assert each.inside.estimate == pytest.approx(-((4 * f) ** 2) / 12, abs=0.35)
        if each.behind is not None:
            assert each.behind.lower <= (1 - f) ** 2 <= each.behind.upper
            assert each.behind.estimate == pytest.approx((1 - f) ** 2, abs=0.05)
    assert found.widths[2].randomize == "theta=0.5..2.5"
    assert found.at_stake == pytest.approx(76 / 3, rel=0.3)
    assert (found.best, found.recommended, found.guess) == (1.0, 0.5, 0.5)
    assert found.outcome == "recommended"
    words = [each.verdict for each in found.widths]
    assert words == ["not enough"] * 2 + ["enough"] * 3
    assert "cost-not-counted" in codes(found) and found.steps is None


def test_where_the_nominal_value_is_the_mean_no_width_is_needed() -> None:
    """The control: all widths are as good, so that the narrowest is recommended."""
    found = asked(Target(nominal=2.0))
    assert found.recommended == 0.0
    assert [each.verdict for each in found.widths] == ["enough"] * 5


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"train_fn": MeanGuess(1.0)}, "widths-not-separated"),
        ({"seeds": 1}, "too-few-seeds"),
        ({"train_fn": lambda *given: Guess(8.0)}, "nothing-learnt"),
    ],
)
def test_what_cannot_be_told_is_undecided(more: dict[str, Any], code: str) -> None:
    found = asked(**more)
    assert (found.outcome, found.recommended) == ("undecided", None)
    assert code in codes(found)


def test_a_longer_training_that_gets_more_leaves_the_width_undecided() -> None:
    """The best guess of all, 2, against widths whose guesses are at most 1.25."""
    about: dict[str, Any] = {"randomize": "theta=0..4", "memory": "none", "seeds": 4}
    longer, worse = (
        simgap.train(Target(), train_fn=lambda *_, g=g: Guess(g), name="whole", **about)
        for g in (2.0, 0.5)
    )
    found = asked(widths=(0.0, 0.25), longer=longer)
    assert (found.outcome, found.recommended) == ("undecided", None)
    assert "trainings-too-short" in codes(found)
    best = max(each.mean.estimate for each in found.widths)
    assert found.longer is not None and found.longer.estimate > best
    control = asked(widths=(0.0, 0.25), longer=worse)
    assert "trainings-too-short" not in codes(control)
    assert control.widths == found.widths


@pytest.mark.slow
def test_policies_of_wider_ranges_begin_with_narrower_ones(tmp_path: Path) -> None:
    """simgap's own trainer: equal steps, one learner, and a second run trains none."""
    whole: dict[str, Any] = {
        "train_fn": None,
        "settings": {"rows": 16, "units": 8, "rate": 3e-2},
        "steps": 16 * 120,
        "widths": (0.0, 0.5, 1.0),
        "seeds": 2,
        "out": tmp_path,
    }
    told: list[str] = []
    found = asked(Target(noise=0.0), progress=told.append, **whole)
    assert found.steps == 16 * 120
    assert found.training_steps == 2 * 16 * 120 * 2  # (3 + 1) / 2 trainings, two seeds
    assert "equal-cost" in codes(found)
    records = [
        read_record(tmp_path / f"width-{each}" / "train.json", Train)
        for each in ("0", "0.5", "1")
    ]
    assert [each.steps for each in records] == [2 * 640, 640, 640]
    assert all("warm-start" in codes(each) for each in records)
    assert [each.randomize for each in records] == [
        "theta=1",
        "theta=0.5..2.5",
        "theta=0..4",
    ]
    # a warm start: the policy of the widest range is near the best guess
    assert found.widths[2].mean.estimate == pytest.approx(-4 / 3, abs=0.5)
    again = asked(Target(noise=0.0), **whole)
    assert again.widths == found.widths
    assert read_record(tmp_path / "width_run.json", WidthRun).widths == found.widths
