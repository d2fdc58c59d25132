"""The picture of the verdict, and ranges that are no error bars."""

from __future__ import annotations

from pathlib import Path

import pytest

from simgap.intervals import Certified
from simgap.records import write_record
from simgap.report.folder import read_folder
from simgap.report.parts import MAKERS
from simgap.report.parts.verdict_plot import MOST_MODELS, Losses, verdict_plot
from simgap.report.plots import BarPlot, GroupPlot
from simgap.report.scorecard import top_of
from simgap.report.shown_number import show
from tests.report import answer_cases as cases, explorer_cases
from tests.report.answer_cases import LAKES


def losses(*values: float) -> Losses:
    mean = sum(values) / len(values)
    found = tuple(show(Certified(value, value)) for value in values)
    return Losses(show(Certified(mean, mean)), found)


def test_losses_are_parts_of_what_is_at_stake_in_each_model() -> None:
    plot = verdict_plot(
        {
            "oracle": losses(1.0, 0.0),
            "memoryless": losses(2.0, 0.5),
            "random": losses(4.0, 10.0),
        },
        ("rate=1", "rate=2"),
        "key",
    )
    assert plot is not None
    assert plot.groups == ("on average", "1", "2")
    shown = {name: [each.value for each in bars] for name, bars in plot.series}
    assert shown == {
        "with memory": pytest.approx([100.0 / 14.0, 25.0, 0.0]),
        "without memory": pytest.approx([250.0 / 14.0, 50.0, 5.0]),
    }


def test_ends_of_a_part_allow_for_those_of_the_whole() -> None:
    plot = verdict_plot(
        {
            "oracle": Losses(show(Certified(1.0, 2.0)), (show(Certified(1.0, 2.0)),)),
            "memoryless": losses(2.0),
            "random": Losses(show(Certified(4.0, 5.0)), (show(Certified(4.0, 5.0)),)),
        },
        ("m",),
        "key",
    )
    assert plot is not None
    low, high = plot.series[0][1][0].lower, plot.series[0][1][0].upper
    assert (low, high) == (20.0, 50.0)


def test_of_many_models_the_worst_is_drawn() -> None:
    gaps = [0.0] * 100
    gaps[41] = 3.0
    names = [f"m{k}" for k in range(100)]
    found = {
        "oracle": losses(*gaps),
        "memoryless": losses(*gaps),
        "random": losses(*[4.0] * 100),
    }
    plot = verdict_plot(found, names, "key")
    assert plot is not None
    assert len(plot.groups) == MOST_MODELS + 1
    assert "m41" in plot.groups


@pytest.mark.parametrize("lacking", ["oracle", "memoryless", "random"])
def test_nothing_to_compare_is_no_picture(lacking: str) -> None:
    found = {name: losses(1.0) for name in ("oracle", "memoryless", "random")}
    del found[lacking]
    assert verdict_plot(found, ("m",), "key") is None


def test_an_audit_alone_has_a_picture_with_what_is_acceptable(tmp_path: Path) -> None:
    write_record(cases.audit(*LAKES), tmp_path / "audit.json")
    top = top_of(read_folder(tmp_path).parts)
    assert top is not None
    assert isinstance(top.picture, GroupPlot)
    assert top.picture.level == pytest.approx(5.0)
    assert top.picture.series[1][1][1].value == pytest.approx(60.0)


def test_a_range_over_policies_is_no_error_bar() -> None:
    """`gap_interval` holds what optimal policies lose; the gap itself is one number."""
    part = MAKERS["oracle"](explorer_cases.oracle("a", "b"), "record-1")
    plot = next(each for each in part.plots if each.key.endswith("-models"))
    assert isinstance(plot, BarPlot)
    assert all(bar.lower == bar.value == bar.upper for _, bar in plot.bars)
    given = explorer_cases.oracle("a", "b")["models"]
    assert plot.ranges == tuple(
        (each["gap_interval"]["lower"], each["gap_interval"]["upper"]) for each in given
    )
    assert "policies" in plot.range_name
