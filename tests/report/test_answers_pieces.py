"""Figures, certainty, commands and size of the page about a study."""

from __future__ import annotations

import json
import random
from base64 import b64decode
from gzip import decompress
from math import inf
from pathlib import Path
from typing import Any

import pytest

from simgap.intervals import Certified, Estimate
from simgap.records import Gap, as_record, write_record
from simgap.report.commands import commands_of, is_plain_call
from simgap.report.folder import read_folder
from simgap.report.heat_plots import HeatPlot, SlidingHeat, spread_out
from simgap.report.how_sure import (
    AT_STAKE,
    certainty_sheet,
    least_loss,
    widest_brackets,
)
from simgap.report.page_data import LARGE, MANY, held_data
from simgap.report.part import Part
from simgap.report.parts import MAKERS
from simgap.report.parts.horizons import MOST_CELLS, growth_plot, trained_plot
from simgap.report.plots import CurvePlot
from simgap.report.scorecard import top_of
from simgap.report.sheet import Heading, sheet
from simgap.report.shown_number import show
from tests.report import answer_cases as cases, explorer_cases
from tests.report.answer_cases import LAKES, study_folder
from tests.report.explorer_cases import certified, data_of, page_of
from tests.report.tags import Tags


def made(kind: str, **changes: Any) -> Part:
    make = {**cases.KINDS, "width": cases.width}[kind]
    return MAKERS[kind](make(*LAKES, **changes), "record-1")


def typed(record: dict[str, Any]) -> Gap:
    return as_record(record, Gap, "it")


# figures


def test_the_slider_has_all_horizons_and_one_scale_of_colours(tmp_path: Path) -> None:
    study = page_of(study_folder(tmp_path))
    figure = next(d for d in data_of(study).values() if "places" in d)
    assert figure["places"] == [str(h) for h in cases.HORIZONS]
    given = cases.growing_gap(*LAKES)["by_horizon"]
    assert figure["tables"] == [row["train"] for row in given]
    largest = max(cell for row in given for line in row["train"] for cell in line)
    assert figure["high"] == largest
    slider = next(a for _, a in Tags(study).tags if a.get("type") == "range")
    assert (slider["min"], slider["max"], slider["value"]) == ("0", "5", "5")
    assert slider["aria-valuetext"] == "200"


def test_bounds_are_marked_where_they_stay_below_what_is_at_stake() -> None:
    record = cases.growing_gap(*LAKES)
    record["by_horizon"] = record["by_horizon"][:5]
    values = (1e9, 0.0, 1e9, 1.0, 1.0)
    for row, value in zip(record["by_horizon"], values, strict=True):
        row["bounds"] = [{"name": "Theorem 9", "value": value}]
    growth = growth_plot(typed(record), "a")
    assert isinstance(growth, CurvePlot)
    assert growth.marks == ((50.0, "Theorem 9 says something"),)
    for row in record["by_horizon"]:
        row["bounds"][0]["value"] = 1e9
    growth = growth_plot(typed(record), "a")
    assert isinstance(growth, CurvePlot)
    assert growth.marks == ()
    assert "Here none does." in growth.note
    assert [curve.bound for curve in growth.curves] == [False, False, False, True]
    assert [curve.hidden for curve in growth.curves] == [False, False, False, True]


def test_gaps_of_rounding_do_not_stretch_a_logarithmic_axis() -> None:
    record = cases.growing_gap(*LAKES)
    record["by_horizon"][0] |= {"random": 2.4e-15, "memoryless": certified(0.0)}
    growth = growth_plot(typed(record), "a")
    assert isinstance(growth, CurvePlot)
    heights = [point[1] for curve in growth.curves for point in curve.points]
    assert min(heights) > 1e-6


def test_a_map_of_many_models_is_thinned_and_says_so() -> None:
    names = [f"m{k}" for k in range(60)]
    record = cases.growing_gap(*names)
    record["by_horizon"] = [cases.at_horizon(h, 60) for h in range(1, 41)]
    heat = trained_plot(typed(record), "a")
    assert isinstance(heat, SlidingHeat)
    cells = sum(len(row) for table in heat.tables for row in table)
    assert 0.5 * MOST_CELLS < cells <= MOST_CELLS
    assert heat.note.endswith(f"{len(heat.rows)} of 60 models are drawn.")
    assert (heat.rows[0], heat.rows[-1]) == ("m0", "m59")
    corner = record["by_horizon"][39]["train"][0][59]
    assert heat.tables[39][0][-1].value == corner


@pytest.mark.parametrize(
    ("count", "most"), [(1, 5), (5, 5), (1000, 48), (7, 2), (9, 1)]
)
def test_places_are_spread_with_both_ends(count: int, most: int) -> None:
    places = spread_out(count, most)
    assert len(places) == min(count, most) == len(set(places))
    assert places[0] == 0
    assert most == 1 or places[-1] == count - 1
    assert list(places) == sorted(places)


def test_pairs_show_the_upper_end_and_never_is_infinite() -> None:
    part = made("identify")
    heat = next(plot for plot in part.plots if isinstance(plot, HeatPlot))
    assert heat.cells[0][1].value == heat.cells[1][0].value == 57.0
    assert heat.cells[0][1].lower == 40.0
    assert heat.cells[0][3].value == inf
    assert heat.cells[0][0].value is None
    assert "Every pair, the slowest first" in part.sheets[0].title
    assert part.sheets[0].rows[0][-1].text == "infinite"


def test_the_recommended_width_is_marked() -> None:
    curves = made("width").plots[0]
    assert isinstance(curves, CurvePlot)
    assert curves.marks == ((0.4, "recommended: 0.4"),)
    assert [curve.name for curve in curves.curves] == [
        "average over all real models",
        "worst real model, in reward",
        "average inside the range",
        "average outside the range",
    ]
    assert len(curves.curves[3].points) == 3


def test_a_width_of_nothing_and_a_blame_of_nothing_are_told_plainly() -> None:
    part = made("width", recommended=0.0)
    assert part.cards[0].value == "0.6"
    record = cases.blame(*LAKES, rounding=1e-12, whole=certified(0.0, 1e-13))
    for each in record["parameters"]:
        each |= {"share": certified(0.0, 1e-13), "part": None}
    part = MAKERS["blame"](record, "record-1")
    assert (part.cards[0].value, part.cards[0].words) == ("none", "nothing is lost")
    assert part.line.answer == ""


# how sure, and how again


def test_the_certainty_table_has_every_record_and_the_widest_bracket(
    tmp_path: Path,
) -> None:
    parts = read_folder(study_folder(tmp_path)).parts
    table = certainty_sheet(parts)
    assert table is not None
    assert [row[0] for row in table.full] == [part.line.what for part in parts]
    oracle = next(row for row in table.full if row[0] == "oracle")
    assert "average loss of the best agent" in oracle[2]
    assert oracle[3] == "average loss of the policy to run"
    assert "solver: bounded: 59654 beliefs; outcome: within tolerance" in oracle[6]
    gap = next(row for row in table.full if row[0] == "gap")
    assert "loss of likelihood" in gap[3]  # as its own headline is
    said = " ".join(word for row in table.full for word in row[1:4])
    for key in ("everywhere", "ignored whole", "beyond", "gap interval"):
        assert key not in said


def test_the_card_of_certainty_is_the_widest_cell_of_its_table(tmp_path: Path) -> None:
    parts = read_folder(study_folder(tmp_path)).parts
    table, top = certainty_sheet(parts), top_of(parts)
    assert table is not None
    assert top is not None
    certified_widest, sampled_widest = widest_brackets(parts)
    for at, widest in ((4, certified_widest), (5, sampled_widest)):
        assert widest.against == AT_STAKE  # as the audit of the class says
        cells = [row[at] for row in table.full if AT_STAKE in row[at]]
        shares = [float(cell.split()[1]) for cell in cells]
        assert widest.half_width == f"{max(shares):g} %"
        cell = next(row[at] for row in table.full if row[0] == widest.record)
        assert cell == f"± {widest.half_width} {AT_STAKE} ({widest.name})"
    (entry,) = top.scores[-1].entries
    assert entry.card.value == f"± {certified_widest.half_width}"
    assert f"± {sampled_widest.half_width}" in entry.card.words


def test_brackets_of_one_number_are_met() -> None:
    records = {
        "audit": cases.audit(*LAKES, average_gap=certified(0.1, 0.3)),
        "blame": cases.blame(*LAKES, whole=certified(0.2, 0.4)),
    }
    parts = [MAKERS[kind](each, kind) for kind, each in records.items()]
    episode = parts[0].certainties.episode
    found = least_loss(parts, episode)
    assert found is not None
    assert (found.bounds.lower, found.bounds.upper) == (0.2, 0.3)
    assert found.records == ("audit", "blame")
    assert least_loss(parts, ("another class", "200")) is None
    records["blame"]["whole"] = certified(0.31, 0.4)
    apart = [parts[0], MAKERS["blame"](records["blame"], "blame")]
    assert least_loss(apart, episode) is None  # one of them is wrong: no card says both


def test_a_bracket_without_a_stake_is_compared_with_its_end() -> None:
    record = explorer_cases.oracle(*LAKES)
    part = MAKERS["oracle"](record, "record-1")
    assert widest_brackets([part])[0].name == "value of training on all models"
    record |= {"value_of_memory": None, "value_of_randomization": None}
    part = MAKERS["oracle"](record, "record-1")
    widest, _ = widest_brackets([part])
    assert widest.against == "of its larger end"
    assert widest.share == pytest.approx((2.1 - 1.6) / 2.0 / 2.1, rel=1e-12)
    record["average_gap"] = certified(0.0, 1e-14)
    quiet = MAKERS["oracle"](record, "record-1")
    names = [name for name, told in quiet.certainties.brackets if told.text == "0"]
    assert names == ["average loss of the best agent"]
    *_, other = widest_brackets([quiet])
    assert other.name == "average loss of the policy to run"
    assert other.certainty == "estimated"


@pytest.mark.parametrize(
    ("command", "plain"),
    [
        ("simgap audit 'a?b=1&c=2' -H 20", True),
        ('simgap audit "a?b" --out x', True),
        ("simgap audit a.npz -H 20", True),
        ("simgap audit a; rm -rf /", False),
        ("simgap audit a && evil", False),
        ("simgap audit a | sh", False),
        ("simgap audit $(evil)", False),
        ('simgap audit "$(evil)"', False),
        ("simgap audit `evil`", False),
        ("simgap audit a > /etc/passwd", False),
        ("simgap audit 'a", False),
        ("simgap audit a #", False),
        ("simgap audit a\\\nevil", False),
        ("evil", False),
        ("simgapx audit", False),
        ("", False),
        ("'' ''", False),
        ("simgap audit a?b", False),
        ("simgap audit !evil", False),
    ],
)
def test_only_plain_calls_of_simgap_are_lines_to_copy(
    command: str, plain: bool
) -> None:
    assert is_plain_call(command) is plain


def test_commands_of_strangers_stay_comments(tmp_path: Path) -> None:
    bad = "simgap audit a; rm -rf /"
    source = cases.origin("audit") | {"command": bad, "model_hash": "ab\ncd"}
    record = cases.audit(*LAKES, provenance=source | {"seed": None})
    write_record(record, tmp_path / "audit.json")
    write_record(cases.adapt(*LAKES), tmp_path / "adapt.json")
    script = commands_of(read_folder(tmp_path).parts)
    lines = script.splitlines()
    assert lines == [
        "# made with simgap 0.1.0, python 3.12.4, numpy 2.1.0",
        r"# audit: model hash ab\ncd",
        f"# not a plain call of simgap: {bad}",
        "# adapt: model hash 7c1e09a2, seed 7",
        cases.origin("adapt")["command"],
    ]


# size


def test_large_data_are_cut_and_packed_and_small_ones_are_not() -> None:
    noise = random.Random(0)
    table = {"kind": "table", "rows": [[noise.random()] for _ in range(MANY)]}
    small = held_data({"a": table})
    assert (small.packed, small.cut) == (False, frozenset())
    assert json.loads(small.text) == {"a": table}
    rows = [[noise.random(), "<&'>"] for _ in range(20_000)]
    large = held_data({"a": table, "b": {"rows": rows}})
    assert (large.packed, large.cut) == (True, frozenset({"b"}))
    text = decompress(b64decode(large.text))
    assert len(text) > LARGE > len(large.text)
    found = json.loads(text)
    assert found["a"] == table
    for (value, word), (given, _) in zip(found["b"]["rows"], rows, strict=True):
        assert value == pytest.approx(given, rel=5e-7)
        assert word == "<&'>"
    assert not set("<>&'") & set(small.text)


def test_columns_say_once_how_sure_all_their_numbers_are() -> None:
    heads = [Heading("name"), Heading("gap"), Heading("mixed")]
    rows = [
        ("a", show(Certified(1.0, 2.0)), show(Certified(1.0, 1.0))),
        ("b", show(Certified(3.0, 4.0)), show(Certified(1.0, 2.0))),
        ("c", show(None), show(None)),
    ]
    made_sheet = sheet("key", "title", heads, rows)
    assert [head.certainty for head in made_sheet.headings] == ["", "certified", ""]
    assert [row[1].certainty for row in made_sheet.rows] == ["", "", ""]
    assert [row[2].certainty for row in made_sheet.rows] == ["exact", "certified", ""]
    assert made_sheet.full[1][1:4] == (3.5, 3.0, 4.0)


def test_what_rounding_made_is_nothing_but_stays_certified() -> None:
    found = show(Certified(0.0, 1e-13), noise=1e-12)
    assert (found.text, found.certainty) == ("0", "certified")
    assert found.ends == (0.0, 0.0, 0.0)
    assert show(Certified(0.0, 1e-11), noise=1e-12).upper == 1e-11
    assert show(-1e-13, noise=1e-12, certainty="exact").text == "0"
    near = show(Estimate(1e-16, -0.5, 0.5, 0.95), noise=1e-12)
    assert (near.text, near.detail) == ("0", "-0.5 to 0.5, approximately 95 %")


def test_a_class_that_loses_nothing_has_calm_figures() -> None:
    record = cases.width(*LAKES, at_stake=11.5)
    for row in record["widths"]:
        for end in ("gap", "worst", "inside", "outside"):
            row[end] = certified(0.0, 3e-13)
        row["gaps"] = [2e-16 * k for k in range(len(LAKES))]
    part = MAKERS["width"](record, "record-1")
    curves, heat = part.plots
    assert isinstance(curves, CurvePlot)
    assert {point[1:] for each in curves.curves for point in each.points} == {
        (0.0, 0.0, 0.0)
    }
    assert heat.data()["high"] == 1.0
    assert part.cards[0].words.endswith("it loses 0 on average")
