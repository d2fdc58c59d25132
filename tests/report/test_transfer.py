"""The page of a transfer: the verdict follows from the intervals; map and table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from simgap.records.files import plain
from simgap.records.kept import write_record
from simgap.records.record import Record
from simgap.records.transfer import Transfer, VerdictCode
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


def region(certain: float, possible: float) -> Any:
    known = cases.policy("ppo").region
    assert known is not None
    return replace(known, certain=certain, possible=possible)


def test_the_page_draws_the_verdict_of_the_record() -> None:
    words = {}
    for code in get_args(VerdictCode):
        found = transfer_verdict(
            cases.transfer(verdict=cases.verdict(code=code, text=f"this is {code}"))
        )
        assert found is not None and found.headline == f"this is {code}"
        words[code] = found.answer, found.mood
    assert len(set(words.values())) == len(words)
    assert [code for code in words if words[code][1] == "good"] == ["transfers"]
    assert transfer_verdict(cases.transfer(verdict=None)) is None
    told = transfer_verdict(cases.transfer())
    assert told is not None and told.warnings == ("more episodes would help",)


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


def test_points_that_are_not_compared_are_on_the_map() -> None:
    lean, ppo = cases.policy("lean", reference=True), cases.policy("ppo")
    holes = tuple(
        replace(each, gap=None) if each.theta["length"] > 1.0 else each
        for each in ppo.points
    )
    maps = (cases.loss_map("length", "delay"),)
    some = replace(ppo, points=holes)
    found = picture(cases.transfer(policies=(some, lean), maps=maps))
    missing = [each for each in found.dots if each.number.value is None]
    assert len(missing) == len(cases.MASSES) * len(cases.DELAYS) < len(found.dots)
    fewer = replace(ppo, points=ppo.points[: len(ppo.points) // 2])
    found = picture(cases.transfer(policies=(fewer, lean), maps=maps))
    whole = picture(cases.transfer(policies=(ppo, lean), maps=maps))
    assert len(found.dots) == len(whole.dots)
    assert all(each.number.value is not None for each in whole.dots)  # the control


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
