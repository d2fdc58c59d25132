"""The guide to sweeps is true, and the plans of the examples run."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from simgap.report.report import draw_report
from simgap.sweeps.reading import read_plan
from tests.sweeps.guide_tables import GUIDE, written
from tests.sweeps.small import Here, changed, swept, table

EXAMPLES = Path(__file__).parents[2] / "examples"
PLANS = re.findall(r"^```toml\n(.*?)^```$", GUIDE.read_text(), re.M | re.S)


def test_the_guide_has_every_question_field_number_and_limit() -> None:
    assert GUIDE.read_text() == written()


@pytest.mark.parametrize("text", PLANS)
def test_the_plans_of_the_guide_are_plans(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(text)
    plan = read_plan(tmp_path / "plan.toml")
    assert plan.size in (81, 8)


def test_the_plan_of_trainings_is_that_of_the_examples() -> None:
    assert PLANS[1] in (EXAMPLES / "headings.toml").read_text()


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda f: f.name)
def test_an_example_plan_is_a_plan_and_stands_in_the_guide(file: Path) -> None:
    assert read_plan(file).title
    assert f"examples/{file.name}" in GUIDE.read_text()
    assert f"simgap sweep examples/{file.name} --out" in file.read_text()


def test_a_shorter_copy_of_the_lakes_says_that_memory_is_needed(tmp_path: Path) -> None:
    text = (EXAMPLES / "lakes.toml").read_text()
    shorter = changed(text, ("[100, 150, 200, 300, 400]", "[20]"))
    assert tomllib.loads(shorter)["axes"] == {"horizon": [20]}
    found = swept(tmp_path / "lakes", shorter, Here())
    assert (found.done, found.failed) == (1, 0)
    (line,) = table(tmp_path / "lakes")
    assert line["outcome"] == "exact up to rounding"  # so few steps
    for name in ("average_gap", "memoryless_gap", "value_of_memory"):
        assert line[f"{name}_certainty"] == "certified"
    low, high = (float(line[f"average_gap_{end}"]) for end in ("lower", "upper"))
    assert 0.0 < low < high <= 1.25 * low
    assert float(line["memoryless_gap_upper"]) >= low
    page = draw_report(tmp_path / "lakes")
    assert (page.drawn, page.troubles) == (1, ())


@pytest.mark.slow
def test_the_lakes_have_the_numbers_of_the_documents(tmp_path: Path) -> None:
    text = (EXAMPLES / "lakes.toml").read_text()
    swept(tmp_path / "lakes", changed(text, ("[100, 150, 200, 300, 400]", "[200]")))
    (line,) = table(tmp_path / "lakes")
    assert float(line["average_gap_upper"]) <= 0.143
    assert float(line["memoryless_gap_lower"]) >= 0.282
