"""Memory is enough, memory is needed: two sentences, each with its own label."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from simgap.intervals import Certified
from simgap.records import Memory
from simgap.text import at_least, at_most
from tests.report import answer_cases as cases
from tests.report.answer_cases import LAKES
from tests.report.explorer_cases import page_with
from tests.report.tags import Tags


def sentences(**changes: Any) -> tuple[str, str]:
    plain: dict[str, Any] = {
        "enough": "certified",
        "needed": "certified",
        "with_memory": Certified(0.1, 0.13456),
        "without_memory": Certified(0.28224, 0.4845),
        "searched": 338,
        "stationary": False,
    }
    return Memory(**plain | changes).sentences()


@pytest.mark.parametrize(
    ("changes", "labels"),
    [
        ({}, (True, True)),
        ({"needed": "not proved"}, (True, False)),
        ({"needed": "no"}, (True, True)),
        ({"enough": "no"}, (True, True)),
        ({"enough": "not proved", "needed": "not proved"}, (False, False)),
    ],
)
def test_each_sentence_has_its_own_label(
    changes: dict[str, str], labels: tuple[bool, bool]
) -> None:
    first, second = sentences(**changes)
    assert (first.endswith("(certified)."), second.endswith("(certified).")) == labels
    assert ("not proved" in first, "not proved" in second) == tuple(
        not each for each in labels
    )


def test_on_a_grid_the_label_says_so() -> None:
    grid = "certified for this grid"
    for each in sentences(enough=grid, needed=grid):
        assert each.endswith(f"({grid}).")


def test_what_was_searched_and_which_kind_of_policies_is_told() -> None:
    assert "best of 338 policies" in sentences(needed="not proved")[1]
    assert "deterministic" in sentences(stationary=True)[1]


def test_what_is_lost_at_least_is_rounded_down_and_at_most_up() -> None:
    for gap in (0.28226, 0.1345999, 123456.7, 1e-7 / 3, 99999.0, 1.0):
        low, high = at_least(gap), at_most(gap)
        assert Fraction(low) <= Fraction(gap) <= Fraction(high)
        assert float(low) == pytest.approx(gap, rel=1e-3)
        assert float(high) == pytest.approx(gap, rel=1e-3)
    assert at_most(1e-12) == "1e-12"  # a certificate of 0 is one of 0
    first, _ = sentences(with_memory=Certified(0.0, 0.134501))
    assert "at most 0.1346 " in first


def text_with(folder: Path, record: dict[str, Any]) -> str:
    return " ".join(Tags(page_with(folder, "audit", record)).text.split())


def test_a_verdict_with_memory_has_one_label_only_if_both_halves_are_certified(
    tmp_path: Path,
) -> None:
    record = cases.audit(*LAKES)
    assert "Yes, with memory certified" in text_with(tmp_path, record)
    record["memory"] |= {"needed": "not proved"}
    text = text_with(tmp_path, record)
    assert "Yes, with memory" in text
    assert "Yes, with memory certified" not in text
    assert "Whether memory is needed is not proved" in text
    del record["memory"]  # a record of an older version proves neither
    text = text_with(tmp_path, record)
    assert "Yes, with memory certified" not in text
