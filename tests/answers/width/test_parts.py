"""Parts of the answers about widths: boundaries, tolerances and words."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.width.choice import Choice, chosen_width, turned
from simgap.answers.width.ranges import asked_ranges, middle_value, offered_ranges
from simgap.answers.width.run_words import decided, reason_of
from simgap.answers.width.width import narrowest, solver_of_range
from simgap.continuous import Combination, Drawn, DrawnPoints
from simgap.intervals import Certified, Estimate
from simgap.oracle import AutoOracle
from tests.answers.width.test_choice import cube_of

CHOICE: Any = import_module("simgap.answers.width.choice")
WIDTH: Any = import_module("simgap.answers.width.width")
SENTENCES: Any = import_module("simgap.answers.width.sentences")


def between(low: float, high: float) -> Estimate:
    return Estimate(0.5 * (low + high), low, high, 0.95)


def more(low: float, high: float, half: float = 0.1) -> Combination:
    """What another width gets more."""
    middle = 0.5 * (low + high)
    return Combination(between(low, high), between(middle - half, middle + half), 0.5)


# choice


@pytest.mark.parametrize(
    ("others", "word"),
    [
        ([(-1.0, 1.0)], "enough"),
        ([(-1.0, 1.01)], "open"),
        ([(1.0, 2.0)], "open"),
        ([(1.01, 2.0)], "not enough"),
        ([(-1.0, 1.0), (0.0, 3.0)], "open"),
        ([(-1.0, 1.0), (1.5, 3.0)], "not enough"),
        ([], "enough"),
    ],
)
def test_a_width_is_enough_if_no_other_can_be_better_by_more(
    others: list[tuple[float, float]], word: str
) -> None:
    assert CHOICE._verdict([more(*each) for each in others], 1.0) == word


@pytest.mark.parametrize(("count", "parts"), [(2, 1), (3, 2), (4, 3), (1, 1)])
def test_intervals_of_several_widths_share_the_chance_of_an_error(
    count: int, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: list[float] = []
    right = CHOICE.combined

    def noted(*given: Any, confidence: float) -> Any:
        met.append(confidence)
        return right(*given, confidence=confidence)

    monkeypatch.setattr(CHOICE, "combined", noted)
    means = (5.0, 7.0, 8.0, 9.0)[:count]
    cube = cube_of(means, seeds=5, spread=0.05, noise=0.1, luck=0)
    points = DrawnPoints(Drawn.INDEPENDENT)
    found = chosen_width(cube, cube.policies, points, spare=1.0, confidence=0.9)
    assert met == [pytest.approx(1.0 - 0.1 / parts)] * (count * (count - 1) // 2)
    assert found.best == count - 1
    assert [each is None for each in found.behind].index(True) == count - 1


def test_a_difference_the_other_way_round_has_its_ends_turned() -> None:
    found = turned(more(1.0, 3.0, half=0.5))
    assert found.value.ends == (-3.0, -1.0) and found.value.estimate == -2.0
    assert found.evaluation.ends == (-2.5, -1.5) and found.spread == 0.5


# ranges


@pytest.mark.parametrize("count", [2, 3, 6, 7, 10, 14, 22, 30, 46, 49])
def test_of_equal_weights_the_lower_median_is_the_middle(count: int) -> None:
    """Sums of such weights miss a half by their rounding."""
    values = np.arange(count, dtype=float)[::-1].copy()
    found = middle_value(values, np.full(count, 1.0 / count))
    assert found == (count - 1) // 2


def test_values_that_rounding_parts_are_one_edge() -> None:
    """0.3 and 0.1 + 0.2 are the same distance from either side."""
    values = np.array([0.0, 0.1 + 0.2, 0.3, 0.6])
    prior = np.full(4, 0.25)
    found, possible = offered_ranges(values, prior, 0.3)
    assert [each.width for each in found] == [0.0, 0.6] and possible == 2
    assert [int(each.kept.sum()) for each in found] == [2, 4]
    assert (found[0].low, found[0].high) == (0.3, 0.3)
    off, _ = offered_ranges(values, prior, 0.25)
    assert [int(each.kept.sum()) for each in off] == [2, 3, 4]


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_an_edge_is_as_wide_as_the_values_are_large(unit: float) -> None:
    values = unit * np.array([0.1, 0.2, 0.1 + 0.2, 0.4])
    (found,) = asked_ranges(values, np.full(4, 0.25), 0.2 * unit, [0.2 * unit])
    assert found.kept.tolist() == [True, True, True, False]
    near = unit * np.array([0.1, 0.2, 0.2 + 1e-10, 0.4])
    (found,) = asked_ranges(near, np.full(4, 0.25), 0.2 * unit, [0.0])
    assert found.kept.tolist() == [False, True, False, False]


def test_ranges_that_are_asked_for_keep_their_widths() -> None:
    values, prior = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.0, 0.5])
    found = asked_ranges(values, prior, 1.0, [6.0, 0.5, 6.0])
    assert [(each.width, each.low, each.high) for each in found] == [
        (0.5, 1.0, 1.0),
        (6.0, 1.0, 4.0),
    ]
    assert [each.kept.tolist() for each in found] == [
        [True, False, False],
        [True, False, True],
    ]


def test_the_least_loss_is_known_to_its_upper_end() -> None:
    losses = [Certified(3.0, 9.0), Certified(2.0, 4.0), Certified(1.0, 2.5)]
    assert narrowest(losses, 0.5) == 0  # 2.5 and a half
    assert narrowest(losses, 0.49) == 1


# planning


@pytest.mark.parametrize(
    ("slack", "optimal", "random", "negligible"),
    [
        (0.2, (10.0, 10.0), 4.0, 0.5 * 0.2 * 3.0 / 10.0),  # of the value
        (0.2, (1.0, 1.0), 7.0, 0.5 * 0.2 * 3.0 / 6.0),  # of that of random actions
        (0.2, (-9.0, 1.0), 4.0, 0.5 * 0.2 * 3.0 / 8.0),
        (1.0, (0.1, 0.1), 0.1, 0.5),
        (0.0, (10.0, 10.0), 4.0, 0.01),
    ],
)
def test_a_bracket_is_as_narrow_as_the_slack_asks(
    slack: float, optimal: tuple[float, float], random: float, negligible: float
) -> None:
    """The value of an oracle lies between that of random actions and the best one."""
    usual = AutoOracle(negligible=0.01)
    models = tuple(Certified(0.0, random) for _ in range(2))
    stakes: Any = Stand(average=Certified(2.0, 3.0), models=models)
    form: Any = Stand(optimal=np.array(optimal))
    share = np.array([0.5, 0.5])

    def solver(tolerance: float | None) -> AutoOracle:
        return solver_of_range(
            usual, form, stakes, share, slack=slack, gap_tolerance=tolerance
        )

    assert solver(None).negligible == pytest.approx(negligible)
    asked = solver(0.125)
    assert (asked.gap_tolerance, asked.negligible) == (0.125, 0.0)
    form.optimal = np.zeros(2)
    stakes.models = (Certified(0.0, 0.0),) * 2
    assert solver(None) is usual


def test_losses_beyond_a_range_are_told_by_their_distance() -> None:
    distances = np.array([0.0, 0.5, 0.5 + 1e-13, 2.0, -1.0])
    kept = np.array([True, False, False, False, True])
    ends = np.array([[9.0, 9.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [9.0, 9.0]])
    weights = np.array([0.2, 0.1, 0.3, 0.2, 0.2])
    found = WIDTH._beyond(distances, kept, ends, weights, 1e-12)
    assert [(each.distance, each.models) for each in found] == [(0.5, 2), (2.0, 1)]
    assert found[0].gap.ends == pytest.approx((2.5, 3.5))
    assert found[1].gap.ends == pytest.approx((5.0, 6.0))
    assert found[0].gap.lower < 2.5 and found[0].gap.upper > 3.5


# words


def choice(**changes: Any) -> Choice:
    usual: dict[str, Any] = {
        "best": 2,
        "behind": (more(3.0, 4.0), more(0.5, 1.5), None),
        "verdicts": ("not enough", "open", "enough"),
        "recommended": None,
        "guess": 1,
    }
    return Choice(**{**usual, **changes})


@pytest.mark.parametrize(
    ("changes", "seeds", "at_stake", "recommended", "code"),
    [
        ({"recommended": 1}, 2, 0.1, 0.5, None),
        ({"recommended": 1}, 2, 0.0, None, "nothing-learnt"),
        ({"recommended": 1}, 1, 0.1, None, "one-seed"),
        ({}, 2, 0.1, None, "widths-not-separated"),
    ],
)
def test_a_width_is_recommended_or_there_is_a_reason(
    changes: dict[str, Any],
    seeds: int,
    at_stake: float,
    recommended: float | None,
    code: str | None,
) -> None:
    found = decided(choice(**changes), (0.0, 0.5, 1.0), seeds=seeds, at_stake=at_stake)
    assert found.recommended == recommended
    assert [each.code for each in found.notes] == ([] if code is None else [code])
    if code == "widths-not-separated":
        assert "0.5, 1 is" in found.notes[0].text


@pytest.mark.parametrize(("half", "word"), [(0.2, "--seeds"), (0.25, "--episodes")])
def test_what_would_help_is_what_intervals_are_wide_by(half: float, word: str) -> None:
    """Trainings make them twice as wide as episodes alone, and more."""
    behind = (more(3.0, 4.0, half), None, more(0.5, 1.5, half))
    (note,) = decided(choice(behind=behind), (0.0, 0.5, 1.0), seeds=2, at_stake=1).notes
    assert word in note.text


@pytest.mark.parametrize(
    ("recommended", "words"),
    [
        (0.0, ("one point", "0.25 less", "best width, 1")),
        (0.5, ("0.5 of the ranges: a=1..2", "Width 0 is", "[3, 4]")),
        (1.0, ("all of the ranges", "greatest mean", "Width 0.5 is")),
        (None, ("Width 1 has", "0.5 seems", "0.25 less")),
    ],
)
def test_a_reason_names_the_width_and_the_one_before(
    recommended: float | None, words: tuple[str, ...]
) -> None:
    rows = [
        Stand(
            width=width,
            randomize="a=1..2",
            mean=between(8.0, 9.0),
            behind=None if width == 1.0 else between(3.0, 4.0),
        )
        for width in (0.0, 0.5, 1.0)
    ]
    found: Any = Stand(
        widths=rows,
        best=1.0,
        guess=0.5,
        slack=0.05,
        spare=0.25,
        recommended=recommended,
    )
    text = reason_of(found)
    for each in words:
        assert each in text, text
    assert ("Width" in text) is (recommended != 0.0)


def row(width: float, gap: float, worst: float, **more: Any) -> Any:
    usual: dict[str, Any] = {
        "width": width,
        "low": 1.0,
        "high": 1.0 + width,
        "models": int(1 + width),
        "gap": Certified(gap, gap),
        "worst": Certified(worst, worst),
        "worst_model": "wild",
        "at_nominal": Certified(0.125, 0.125),
    }
    return Stand(**{**usual, **more})


def table(recommended: float, criterion: str = "average", **changes: Any) -> Any:
    usual: dict[str, Any] = {
        "widths": [row(0.0, 4.0, 9.0), row(1.0, 2.0, 5.0), row(2.0, 1.5, 7.0)],
        "recommended": recommended,
        "recommended_average": recommended,
        "recommended_worst": recommended,
        "criterion": criterion,
        "real": [None] * 3,
        "param": "mass",
        "nominal": 1.0,
        "slack": 0.003,
        "at_stake": 20.0,
        "least_possible": Certified(1.25, 1.5),
    }
    return Stand(**{**usual, **changes})


@pytest.mark.parametrize(
    ("found", "words", "never"),
    [
        (
            table(1.0),
            ("from 1 to 2", "10 %", "range loses 4 on", "most 0.75: ", "1.25 on av"),
            ("would be", "whole class", "alone"),
        ),
        (
            table(2.0, "worst"),
            ("from 1 to 3", "Narrower ranges lose 5 or more at worst", "whole class"),
            ("can gain", "gain at most"),
        ),
        (
            table(0.0, "worst", least_possible=None),
            ("mass = 1 alone", "gain at most 4."),
            ("If mass is really", "arrower range", "0 to"),
        ),
        (
            table(1.0, recommended_worst=2.0),
            ("By the worst model the width would be 2: 7 instead of 5",),
            ("By the average",),
        ),
        (
            table(1.0, "worst", recommended_average=2.0),
            ("By the average the width would be 2: 1.5 instead of 2",),
            ("By the worst",),
        ),
        (table(2.0, real=[None] * 4), ("from 1 to 3",), ("whole class",)),
    ],
)
def test_a_reason_compares_with_narrower_and_wider_ranges(
    found: Any, words: tuple[str, ...], never: tuple[str, ...]
) -> None:
    text = SENTENCES.reason_of(found, nothing_at_stake=False)
    for each in words:
        assert each in text, text
    for each in never:
        assert each not in text, text
    short = SENTENCES.reason_of(found, nothing_at_stake=True)
    assert len(short) < len(text) and "%" not in short


def test_a_part_of_what_is_at_stake_is_told_of_a_loss() -> None:
    rows = [row(0.0, 2e-8, 0.0)]
    tiny = table(0.0, widths=rows)
    assert "of what is at stake (" not in SENTENCES.reason_of(
        tiny, nothing_at_stake=False
    )
    rows[0].gap = Certified(0.0, 2.1e-8)
    assert "of what is at stake (" in SENTENCES.reason_of(tiny, nothing_at_stake=False)
