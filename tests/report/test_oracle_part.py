"""The page about the oracle: figures with room for their numbers, no surprises."""

from __future__ import annotations

import re
from itertools import pairwise
from math import inf
from typing import Any

import pytest

from simgap.errors import InvalidFile
from simgap.records import Certified
from simgap.report import render_page
from simgap.report.figures import bar_figure
from simgap.report.heat_map import LEVELS, MOST_MODELS, heat_map
from simgap.report.trace_figure import HEIGHT, MOST_POINTS, WIDTH, trace_figure
from tests.report.tags import HOSTILE, Tags
from tests.report.test_page import record

TIMINGS = {
    "schema": 1,
    "trace": [
        {
            "seconds": 0.01 * 2**k,
            "lower": 0.4 - 0.3 / (k + 1),
            "upper": 0.5 + 1 / (k + 1),
        }
        for k in range(9)
    ],
}

LABELS: dict[str, Any] = {"unit": "u", "certainty": "exact"}


def oracle_record(*names: str, policy: str = "memoryless") -> dict[str, Any]:
    """A record as `simgap demo` writes it, about these models."""
    prices = [[0.1 * abs(i - j) for j in range(len(names))] for i in range(len(names))]
    full = record(*names)
    for at, model in enumerate(full["models"]):
        model |= {
            "value": 2.5 + at,
            "gap": 0.5,
            "relative_gap": 0.1,
            "gap_interval": {"lower": 0.25, "upper": 0.75},
        }
    lost = [{"name": name, "value": 1.0, "gap": 1.25} for name in names]
    return full | {
        "verdict": {"headline": "It loses little.", "points": ["Memory helps."]},
        "average_gap": {"lower": 0.4, "upper": 0.5},
        "estimated_gap": {
            "estimate": 0.45,
            "lower": 0.44,
            "upper": 0.46,
            "confidence": 0.99,
        },
        "baselines": {
            policy: {
                "about": "looks at the state",
                "value": 1.0,
                "average_gap": {"lower": 1.25, "upper": 1.25},
                "worst_gap": 1.25,
                "models": lost,
                "certainty": "certified",
                "note": "a note",
            }
        },
        "pair_prices": {"lower": prices, "upper": prices},
        "certainty": {"optimal": "certified", "gap": "certified"},
    }


def test_the_verdict_comes_first_and_every_policy_is_labelled() -> None:
    page = render_page(oracle_record("a=1", "a=2"), TIMINGS)
    text = Tags(page).text
    assert text.index("It loses little.") < text.index("At a glance")
    for part in (
        "Memory helps.",
        "looks at the state; a note",
        "What simpler policies lose",
    ):
        assert part in text
    assert re.search(r"memoryless<tspan [^>]*>certified<", page)
    assert re.search(r"tracks the posterior<tspan [^>]*>estimated<", page)
    assert "estimated" in text[text.index("How sure are these numbers?") :]


def test_all_figures_have_words_for_those_who_do_not_see_them() -> None:
    found = Tags(render_page(oracle_record("a=1", "a=2", "a=3"), TIMINGS))
    figures = [attributes for tag, attributes in found.tags if tag == "svg"]
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(figures) == 6
    assert len(ids) == len(set(ids))
    for attributes in figures:
        labels = attributes["aria-labelledby"]
        assert labels is not None
        assert set(labels.split()) <= set(ids)
    assert "a=1 or a=3: 0.2." in found.text


def test_a_record_without_an_oracle_has_a_page_without_one() -> None:
    page = render_page(record("a", "b"))
    assert "Who loses how much" not in page
    assert "In short" not in page


@pytest.mark.parametrize("key", list(oracle_record("a")))
def test_a_missing_part_is_no_crash(key: str) -> None:
    lacking = oracle_record("a", "b")
    del lacking[key]
    assert "</html>" in render_page(lacking, TIMINGS)
    assert "</html>" in render_page(lacking)


@pytest.mark.parametrize(
    "changes",
    [
        {"average_gap": 3.0},
        {"baselines": ["memoryless"]},
        {"baselines": {"memoryless": 3}},
        {"verdict": "good"},
        {"verdict": {"points": "good"}},
        {"pair_prices": {"lower": [["x", 1], [1, 1]], "upper": [[1, 1], [1, 1]]}},
    ],
)
def test_a_record_of_another_shape_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidFile):
        render_page(oracle_record("a", "b") | changes)


def test_prices_of_another_size_are_not_drawn() -> None:
    prices = {"lower": [[0.0]], "upper": [[0.0]]}
    page = render_page(oracle_record("a", "b") | {"pair_prices": prices})
    assert "What it costs not to know" not in page


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name: str) -> None:
    calm, hostile = (Tags(render_page(_told(text), TIMINGS)) for text in ("calm", name))
    assert [tag for tag, _ in hostile.tags] == [tag for tag, _ in calm.tags]
    assert [set(each) for _, each in hostile.tags] == [set(e) for _, e in calm.tags]


def _told(text: str) -> dict[str, Any]:
    verdict = {"headline": text, "points": [text]}
    return oracle_record(text, "b", policy=text) | {"verdict": verdict}


@pytest.mark.parametrize("members", [2, 3, 6, 7, MOST_MODELS, 40])
def test_cells_stay_inside_their_drawing_and_hold_their_numbers(members: int) -> None:
    names = [f"success={i / 7:.6g}" for i in range(members)]
    price = [[abs(i - j) / 3 for j in range(members)] for i in range(members)]
    dearer = [[1.2 * each for each in row] for row in price]
    figure = heat_map(names, price, dearer)
    assert figure is not None
    drawn = min(members, MOST_MODELS)
    assert len(figure.cells) == drawn * (drawn - 1)
    assert figure.left_out == members - drawn
    assert figure.what == "success"
    for cell in figure.cells:
        assert 0.0 <= cell.left <= figure.width - figure.cell_width + 1e-9
        assert cell.top + figure.cell_height <= figure.height
        assert 0 <= cell.level < LEVELS
        for line in cell.lines:  # 13 units high, digits about 8 wide
            assert 8.0 * len(line) <= figure.cell_width


def test_brackets_in_cells_are_rounded_outwards_and_dear_pairs_are_dark() -> None:
    lower = [[0.0, 0.1119, 1.0], [0.1119, 0.0, 0.0], [1.0, 0.0, 0.0]]
    upper = [[0.0, 0.1341, 1.0], [0.1341, 0.0, 0.0], [1.0, 0.0, 0.0]]
    figure = heat_map(["a", "b", "c"], lower, upper)
    assert figure is not None
    assert figure.what == ""
    assert figure.dearest == "a and c: 1"
    first, second, *_, last = figure.cells
    assert first.lines == ("0.11", "0.14")
    assert second.lines == ("1.00",)
    assert (first.level, second.level, last.level) == (0, LEVELS - 1, 0)
    assert heat_map(["a"], [[0.0]], [[0.0]]) is None
    assert heat_map(["a", "b"], [[0.0] * 2] * 2, [[0.0] * 2] * 2) is not None
    endless = heat_map(["a", "b"], [[0.0, 1.0]] * 2, [[0.0, inf]] * 2)
    assert endless is not None


def test_a_closing_bracket_stays_inside_its_drawing() -> None:
    points = [(0.001 * k, 0.2 - 0.1 / k, 0.2 + 1.0 / k) for k in range(1, 1500)]
    figure = trace_figure(points)
    assert figure is not None
    assert figure.area.count("L") < 6 * MOST_POINTS
    for path in (figure.upper_path, figure.lower_path):
        places = re.findall(r"([\d.]+) ([\d.]+)", path)
        assert len(places) > 10
        for x, y in places:
            assert 0.0 <= float(x) <= WIDTH
            assert 0.0 <= float(y) <= HEIGHT
    heights = sorted(y for y, _ in figure.values)
    assert all(b - a > 12.0 for a, b in pairwise(heights))


def test_a_trace_that_says_nothing_is_not_drawn() -> None:
    assert trace_figure([]) is None
    assert trace_figure([(1.0, 0.0, 1.0)]) is None
    assert trace_figure([(1.0, 0.0, inf), (2.0, 0.0, 1.0)]) is None
    flat = trace_figure([(0.0, 0.5, 0.5), (0.0, 0.5, 0.5)])  # solved at once
    assert flat is not None


def test_one_giant_does_not_flatten_all_other_bars() -> None:
    small = [("a", Certified(1.0, 1.0)), ("b", Certified(2.0, 2.5))]
    drawn = bar_figure("k", "t", [*small, ("c", Certified(99.0, 99.0))], **LABELS)
    assert drawn is not None
    assert [bar.beyond for bar in drawn.bars] == [False, False, True]
    assert drawn.bars[1].width > 100.0
    assert drawn.bars[2].text == "99"
    whole = bar_figure("k", "t", [*small, ("c", Certified(9.0, 9.0))], **LABELS)
    assert whole is not None
    assert not any(bar.beyond for bar in whole.bars)


def test_noise_of_rounding_is_told_as_zero() -> None:
    told = oracle_record("a", "b") | {"rounding": 1e-12}
    told["models"][0] |= {"gap": 3e-13, "relative_gap": 1e-13}
    assert "3e-13" in render_page(told | {"rounding": None})
    assert "3e-13" not in render_page(told)
