"""The page of a sweep: what is drawn, what is missing, tables that do not fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from simgap.report.explorer import write_explorer
from simgap.report.folder import read_folder
from simgap.report.part import Part
from simgap.report.sweep_plot import SweepPlot
from tests.report import sweep_cases as cases
from tests.report.tags import Tags


def part_of(folder: Path) -> Part:
    found = read_folder(folder)
    assert not found.troubles
    [part] = found.parts
    return part


def plot_of(folder: Path) -> SweepPlot:
    [plot] = part_of(folder).plots
    assert isinstance(plot, SweepPlot)
    return plot


def test_all_cells_are_in_the_figure_in_the_order_of_the_plan(tmp_path: Path) -> None:
    data = plot_of(cases.write_sweep(tmp_path)).data()
    assert [each["name"] for each in data["axes"]] == [
        "states",
        "horizon",
        "policy",
        "seed",
    ]
    assert data["axes"][1]["values"] == (5.0, 10.0, 20.0, 40.0, 80.0)
    assert data["axes"][1]["log"]
    assert data["axes"][2]["values"] is None
    assert len(data["states"]) == 90
    assert [each["name"] for each in data["columns"]] == ["average", "worst"]
    at = (1 * 5 + 3) * 6 + 1 * 2 + 1  # 4 states, 40 steps, likelihood, seed 1
    value = 0.1 * 40**0.7 * 4 * 1.1
    first = data["columns"][0]
    assert first["value"][at] == value
    assert first["lower"][at] == value - value / 6
    assert data["words"][first["sure"][at]] == "estimated, 95 %"
    assert data["sures"][first["sure"][at]] == "estimated"
    bracket = at - 2  # oracle, seed 1
    assert data["words"][first["sure"][bracket]] == "certified"
    low = 0.02 * 40**0.7 * 4
    assert (first["lower"][bracket], first["upper"][bracket]) == (low, low * 1.1)
    assert first["value"][bracket] == pytest.approx(low * 1.05)


def test_what_is_not_there_is_told_and_has_no_number(tmp_path: Path) -> None:
    folder = cases.write_sweep(tmp_path)
    part = part_of(folder)
    data = plot_of(folder).data()
    assert [data["states"].count(each) for each in (0, 1, 2)] == [87, 2, 1]
    for at, state in enumerate(data["states"]):
        assert (data["columns"][0]["value"][at] is None) == (state != 0)
    write_explorer(folder, tmp_path / "page.html")
    text = Tags((tmp_path / "page.html").read_text()).text
    assert "87 of 90 cells done, 2 failed, 1 not there yet." in text
    assert "simgap resume RUN" in text
    assert "simgap retry RUN" in text
    [_, failed] = part.sheets
    assert failed.full[0] == (
        "4",
        "20",
        "memoryless",
        "0",
        "used 4.1 GB of memory: 4 are allowed (raise memory in [limits])",
        "memory-limit",
        1,
    )


def test_a_hundred_thousand_cells_make_a_small_page_that_says_so(
    tmp_path: Path,
) -> None:
    axes: dict[str, list[Any]] = {
        "states": [3, 4, 6, 8],
        "horizon": list(range(1, 51)),
        "policy": ["oracle", "likelihood", "memoryless", "other", "another"],
        "seed": list(range(100)),
    }

    def numbers(cell: Any) -> Sequence[cases.Four]:
        value = cell["horizon"] / (7.0 + cell["seed"])
        return [cases.certified(value, value * 1.1), cases.estimated(value, 0.1)]

    columns = {"average": "loss", "worst": "worst"}
    folder = cases.write_sweep(tmp_path, axes, numbers, columns=columns)
    size = write_explorer(folder, tmp_path / "page.html")
    assert size < 3_000_000
    plot = plot_of(folder)
    seeds = len(plot.axes[3].labels)
    assert len(plot.states) == 4 * 50 * 5 * seeds <= 30_000
    assert 10 < seeds < 100
    assert plot.axes[3].labels[0] == "0"
    assert plot.axes[3].labels[-1] == "99"
    assert f"Of 100 values of seed this page holds {seeds}." in plot.note
    last = plot.columns[0].numbers[-1]
    assert last is not None
    assert last.ends[0] == 50 / 106


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("horizon,", "steps,", 1),
        lambda text: text[: len(text) // 2],
        lambda text: text + text.splitlines()[-1] + "\n",
        lambda text: text.replace("oracle", "random", 1),
        lambda text: text.replace(",certified", ",proved", 1),
        lambda text: text.replace("estimated, 95", "estimated, 9x5", 1),
        lambda text: text.replace("0.2", '"0.2', 1),
        lambda _: "",
        lambda _: "\x00\xff",
    ],
)
def test_a_table_of_another_sweep_is_a_sentence(change: Any, tmp_path: Path) -> None:
    table = cases.write_sweep(tmp_path) / "table.csv"
    table.write_text(change(table.read_text()))
    found = read_folder(tmp_path)
    assert found.parts == ()
    [trouble] = found.troubles
    assert trouble.problem == "table.csv is not the table of this sweep"


def test_the_table_is_the_one_beside_the_record(tmp_path: Path) -> None:
    """A record of a stranger names no file elsewhere."""
    elsewhere = cases.write_sweep(tmp_path / "elsewhere")
    moved = cases.write_sweep(tmp_path / "moved", table=str(elsewhere / "table.csv"))
    assert part_of(moved).plots
    (moved / "table.csv").unlink()
    assert not part_of(moved).plots
    write_explorer(moved, tmp_path / "page.html")
    text = Tags((tmp_path / "page.html").read_text()).text
    assert "There is no table beside the record" in text
