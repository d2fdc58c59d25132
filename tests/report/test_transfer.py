"""The page of a transfer: the verdict follows from the intervals; map and table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simgap.records.files import plain
from simgap.records.kept import write_record
from simgap.records.record import Record
from simgap.records.transfer import Transfer
from simgap.report.heat_plots import HeatPlot
from simgap.report.part import Part
from simgap.report.parts import MAKERS
from simgap.report.parts.transfer_words import transfer_verdict
from tests.report import transfer_cases as cases
from tests.report.explorer_cases import data_of, page_of


def made(record: Transfer) -> Part:
    return MAKERS["transfer"](plain(record), "record-1")


def page(folder: Path, *records: Record) -> str:
    for each in records:
        write_record(each, folder / f"{getattr(each, 'kind', '')}.json")
    return page_of(folder)


def picture(record: Transfer) -> Any:
    return made(record).picture


# the verdict


def judged(**changes: Any) -> tuple[str, str]:
    record = cases.transfer(policies=(cases.policy("ppo", **changes),))
    found = transfer_verdict(record)
    assert found is not None
    return found.answer, found.mood


def region(certain: float, possible: float) -> Any:
    known = cases.policy("ppo").region
    assert known is not None
    return replace(known, certain=certain, possible=possible)


def no_worst(estimate: float = 100.0) -> Any:
    known = cases.policy("ppo").worst_gap
    assert known is not None
    return replace(known, lower=-10.0, estimate=estimate)


@pytest.mark.parametrize(
    ("changes", "answer"),
    [
        ({}, ("Not everywhere", "mind")),
        ({"gap": cases.about(40.0, 10.0)}, ("No", "bad")),
        ({"region": region(0.0, 1.0)}, ("Not everywhere", "mind")),
        ({"region": region(0.0, 0.0), "worst_gap": no_worst()}, ("Yes", "good")),
        (
            {
                "region": region(0.0, 1.0),
                "worst_gap": no_worst(15.0),
                "gap": cases.about(5.0, 10.0),
            },
            ("Yes, on average", "but"),
        ),
        (
            {
                "region": region(0.0, 1.0),
                "worst_gap": no_worst(),
                "gap": cases.about(5.0, 10.0),
            },
            ("On average only", "mind"),
        ),
        (
            {"region": region(0.0, 1.0), "worst_gap": no_worst()},
            ("Undecided", "open"),
        ),
        ({"gap": None, "worst_gap": None}, ("Not compared", "open")),
    ],
)
def test_the_verdict_follows_from_the_ends_of_intervals(
    changes: dict[str, Any], answer: tuple[str, str]
) -> None:
    assert judged(**changes) == answer


# the map


def test_measured_points_lie_where_they_were_measured() -> None:
    found = picture(cases.transfer(maps=(cases.loss_map("length", "delay"),)))
    assert isinstance(found, HeatPlot)
    inside = 4 * len(cases.MASSES) * len(cases.DELAYS)
    assert len(found.dots) == inside
    at = {(round(dot.x, 3), dot.y): dot.number.value for dot in found.dots}
    # 1.25 is 0.875 of the way from the second column, 0.9, to the third, 1.3
    assert at[1.875, 0.0] == cases.lost(1.25, 1.0)
    assert at[0.0, 1.0] == cases.lost(0.5, 0.0)
    assert found.data()["high"] == cases.lost(1.25, 1.0)


def test_a_fitted_loss_is_never_more_than_can_be_lost() -> None:
    found = picture(cases.transfer(bounds=(0.0, 60.0)))
    values = [cell.value for row in found.tables[0] for cell in row]
    assert max(values) == 60.0
    assert min(values) < 60.0


# the page


def test_every_number_at_every_point_is_in_the_file(tmp_path: Path) -> None:
    data = data_of(page(tmp_path, cases.transfer()))
    rows = data["record-1-transfer-table-3"]["rows"]
    assert len(rows) == 2 * len(cases.LENGTHS) * len(cases.MASSES) * len(cases.DELAYS)
