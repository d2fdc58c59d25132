"""Numbers, tables and curves as the page about a folder holds them."""

from __future__ import annotations

from math import inf
from typing import Any

from simgap.intervals import NOTHING_KNOWN, Certified, Estimate
from simgap.records import as_record
from simgap.report.plots import MOST_POINTS, thinned
from simgap.report.sheet import MOST_ROWS, Heading, sheet
from simgap.report.shown_number import NOTHING, show
from tests.report import explorer_cases as cases


def estimated(middle: float, half: float) -> Estimate:
    return Estimate(middle, middle - half, middle + half, 0.95)


# pieces


def test_a_number_says_how_sure_it_is() -> None:
    assert show(Certified(1.0, 1.0)).certainty == "exact"
    assert show(Certified(1.0, 2.0)).certainty == "certified"
    assert show(Certified(1.0, 2.0)).text == "[1, 2]"
    found = show(estimated(1.5, 0.5))
    assert (found.text, found.detail) == ("1.5", "1 to 2, approximately 95 %")
    for label in ("guaranteed", "approximate"):  # the page says which
        labelled = as_record(cases.estimate(1.5, 0.5) | {"label": label}, Estimate, "")
        assert label in show(labelled).detail
    assert found.certainty == "estimated"
    assert show(3).certainty == "unlabelled"
    assert show(3, certainty="certified").certainty == "certified"
    assert show(3, certainty="sure").certainty == "unlabelled"
    assert show(3, certainty="").certainty == ""
    assert show(None) is show(NOTHING_KNOWN) is NOTHING
    assert show(Certified(0.0, inf)).text == "[0, infinite]"
    assert not show(inf).drawable
    assert show(estimated(19049.6, 800.0)).text == "19050"
    assert show(407_312.0).text == "407312"
    near = show(Estimate(1.5972, 1.59717, 1.59953, 0.95))
    assert (near.text, near.detail.split(",")[0]) == ("1.597", "1.597 to 1.6")
    close = show(estimated(3.0, 2e-8))
    assert close.detail.startswith("2.99999998 to 3.00000002")


def test_a_table_keeps_full_numbers_for_the_spreadsheet() -> None:
    rows: list[tuple[Any, ...]] = [
        ("a", show(estimated(0.1234567, 0.1)), 1 / 3, 12345678),
        ("b", show(Certified(2.0, 2.0)), inf, 1),
    ]
    heads = [Heading(name) for name in ("name", "gap", "part", "count")]
    made = sheet("key", "title", heads, rows)
    assert made.wide == ("name", "gap", "gap, lower", "gap, upper", "part", "count")
    assert made.full[0][:2] == ("a", 0.1234567)
    assert made.full[1] == ("b", 2.0, 2.0, 2.0, inf, 1)
    assert [cell.text for cell in made.rows[0]] == [
        "a",
        "0.1235",
        "0.333333",
        "12345678",
    ]
    many = sheet("key", "title", heads[:1], [("x",)] * (MOST_ROWS + 7))
    assert (len(many.rows), many.left_out, len(many.full)) == (
        MOST_ROWS,
        7,
        MOST_ROWS + 7,
    )


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    points = [(float(k), 0.0, 0.0, 0.0) for k in range(3 * MOST_POINTS + 1)]
    kept = thinned(points)
    assert len(kept) <= MOST_POINTS + 1
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert thinned(points[:MOST_POINTS]) == points[:MOST_POINTS]
