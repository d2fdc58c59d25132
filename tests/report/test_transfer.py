"""The page of a transfer: verdict, map, cards, figures, tables, and what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidFile
from simgap.intervals import Estimate
from simgap.records import Record, Transfer, plain, write_record
from simgap.report.figures import figures_of
from simgap.report.folder import read_folder
from simgap.report.heat_plots import HeatPlot, SlidingHeat
from simgap.report.part import Part
from simgap.report.parts import MAKERS
from simgap.report.parts.transfer_words import region_words, transfer_verdict
from simgap.report.plots import BarPlot, CurvePlot
from tests.report import transfer_cases as cases
from tests.report.explorer_cases import data_of, page_of
from tests.report.tags import Tags


def made(record: Transfer) -> Part:
    return MAKERS["transfer"](plain(record), "record-1")


def page(folder: Path, *records: Record) -> str:
    for each in records:
        write_record(each, folder / f"{getattr(each, 'kind', '')}.json")
    return page_of(folder)


def text_of(html: str) -> str:
    return re.sub(r"\s+", " ", Tags(html).text)


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


def test_the_verdict_says_where_by_how_much_and_how_sure() -> None:
    found = transfer_verdict(cases.transfer())
    assert found is not None
    assert found.headline == (
        "ppo loses more than 20 at 25 % to 50 % of the points: where "
        "length is 1 to 1.25 and delay is 1."
    )
    assert "loses 40 (10 to 70, 95 %) against lean" in found.reason
    assert "100 (75 to 130, 95 %)" in found.reason
    assert found.warnings == ("more episodes would help",)


@pytest.mark.parametrize(("possible", "told"), [(0.97, False), (0.4, True)])
def test_a_share_that_tells_nothing_is_not_told(possible: float, told: bool) -> None:
    vague = replace(cases.policy("ppo"), region=region(0.0, possible))
    assert bool(region_words(cases.transfer(), vague)) == told


# the map


def test_the_map_has_the_two_parameters_that_matter_and_a_slider() -> None:
    found = picture(cases.transfer())
    assert isinstance(found, SlidingHeat)
    assert (found.column_axis, found.row_axis, found.slider) == (
        "length",
        "delay",
        "mass",
    )
    assert found.rows == ("1", "0")  # upwards
    top = [[cell.value for cell in row] for row in found.tables[2]]
    expected = [[100.0 * x + y + 0.3 for x in (0.5, 0.9, 1.3)] for y in (1.0, 0.0)]
    assert top == [pytest.approx(row) for row in expected]


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


def test_a_slider_shows_each_point_once_and_begins_at_the_worst() -> None:
    found = picture(cases.transfer())
    places = [dot.place for dot in found.dots]
    assert sorted(set(places)) == [0, 1, 2]
    worst = max(found.dots, key=lambda dot: dot.number.value)
    assert found.first == worst.place


def test_a_fitted_loss_is_never_more_than_can_be_lost() -> None:
    found = picture(cases.transfer(bounds=(0.0, 60.0)))
    values = [cell.value for row in found.tables[0] for cell in row]
    assert max(values) == 60.0
    assert min(values) < 60.0


def test_a_map_over_one_parameter_is_a_curve() -> None:
    found = picture(cases.transfer(maps=(cases.loss_map("length"),)))
    assert isinstance(found, CurvePlot)
    assert [point[:2] for point in found.curves[0].points] == [
        (0.5, 50.0),
        (0.9, 90.0),
        (1.3, 130.0),
    ]


def test_a_map_with_too_few_cells_is_damaged() -> None:
    short = replace(cases.loss_map("length", "delay"), loss=(1.0, 2.0))
    with pytest.raises(InvalidFile):
        made(cases.transfer(maps=(short,)))


# the other figures


def plots(record: Transfer) -> dict[str, Any]:
    return {plot.title: plot for plot in made(record).plots}


def test_returns_stand_against_every_parameter_the_weightiest_first() -> None:
    found = [plot for plot in made(cases.transfer()).plots if "Return" in plot.title]
    assert [plot.title for plot in found] == [
        f"Return against {name}" for name in ("length", "delay", "mass")
    ]
    ppo, lean = found[0].curves  # type: ignore[union-attr]
    assert ppo.points[-1] == (1.25, 125.0, 100.0, 150.0)  # mean, least, most
    assert {point[1] for point in lean.points} == {200.0}


def test_many_values_are_told_at_few_places() -> None:
    policy = cases.policy("ppo")
    points = tuple(
        replace(policy.points[0], theta={"length": 0.01 * at}) for at in range(100)
    )
    record = cases.transfer(policies=(replace(policy, points=points),), maps=())
    curve = plots(record)["Return against length"].curves[0]
    assert len(curve.points) == 8
    assert curve.points[0][0] == pytest.approx(0.01 * 5.5)  # the first 12 of 100


def test_shares_have_intervals_and_pairs_that_matter() -> None:
    found = plots(cases.transfer())["Which parameter the loss goes with"]
    assert isinstance(found, BarPlot)
    assert [name for name, _ in found.bars] == [
        "length",
        "delay",
        "mass",
        "length x delay",
    ]
    assert found.bars[0][1].ends == pytest.approx((70.0, 69.0, 71.0))
    assert found.ticks == (90.0, 30.0, 5.0, None)


def test_success_is_drawn_where_it_is_known() -> None:
    titles = "How often they succeed"
    assert titles not in plots(cases.transfer())
    known = cases.policy("ppo", success=Estimate(0.5, 0.4, 0.6, 0.95))
    found = plots(cases.transfer(policies=(known,)))[titles]
    assert found.bars[0][1].ends == (50.0, 40.0, 60.0)


# the page


def test_the_first_screen_has_verdict_map_and_six_cards(tmp_path: Path) -> None:
    html = page(tmp_path, cases.transfer(), cases.check("ok"))
    found = Tags(html)
    assert "cartpole with randomized length, delay, mass, 200 steps" in text_of(html)
    assert "Will it transfer? Not everywhere" in text_of(html)
    cards = [a for tag, a in found.tags if tag == "li" and "score" in str(a)]
    assert len(cards) == 6
    assert html.count('data-figure="record-1-transfer-map-1"') == 1
    assert html.index('id="record-1-transfer-map-1"') < html.index('id="scorecard"')
    assert "not asked" not in found.text
    assert "record-1-transfer-map-1" in data_of(html)


def test_little_known_is_a_sentence_and_no_crash(tmp_path: Path) -> None:
    text = text_of(page(tmp_path, cases.bare()))
    assert "Will it transfer? Not compared" in text
    assert "the points do not tell" in text
    assert read_folder(tmp_path).troubles == ()


def test_broken_episodes_and_failed_checks_stand_on_top(tmp_path: Path) -> None:
    broken = cases.transfer(failures=(cases.broken_episode(),))
    text = text_of(page(tmp_path, broken, cases.check("ok", "fail")))
    above = text[: text.index("Will it transfer?")]
    assert "1 episode broke" in above
    assert "length=1.25, delay=1, mass=0.3, step 17: the action is nan" in above
    assert "A check failed" in above


def test_a_check_alone_is_a_page(tmp_path: Path) -> None:
    text = text_of(page(tmp_path, cases.check("ok", "warning")))
    assert "Ready to be measured; 1 warning to read." in text
    assert "Nobody has asked" not in text


def test_every_number_at_every_point_is_in_the_file(tmp_path: Path) -> None:
    data = data_of(page(tmp_path, cases.transfer()))
    rows = data["record-1-transfer-table-3"]["rows"]
    assert len(rows) == 2 * len(cases.LENGTHS) * len(cases.MASSES) * len(cases.DELAYS)


def test_a_notebook_shows_the_map_once() -> None:
    titles = figures_of(cases.transfer()).titles
    assert titles.count("What ppo loses, and where") == 1
    assert len(titles) == 6
