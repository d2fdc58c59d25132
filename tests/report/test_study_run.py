"""The page of a study of a simulator: its questions first, trainings, worths, gaps."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from simgap.records import Note, plain, write_record
from simgap.report.folder import read_folder
from simgap.report.page_title import page_title
from simgap.report.parts import MAKERS
from simgap.report.parts.train import trainings_part
from simgap.report.plots import BarPlot, CurvePlot
from simgap.report.scorecard import STUDIED, top_of
from tests.report import study_cases as cases, transfer_cases
from tests.report.explorer_cases import page_of
from tests.report.tags import Tags


def test_the_first_screen_answers_the_questions(tmp_path: Path) -> None:
    found = read_folder(cases.folder(tmp_path))
    top = top_of(found.parts)
    assert top is not None and top.verdict is not None
    assert (top.verdict.answer, top.verdict.mood) == ("Yes", "good")
    assert "memory" in top.question
    cards = {each.title: each.entries for each in top.scores}
    assert list(cards) == list(STUDIED.values())
    assert cards[STUDIED["memory"]][0].card.value == "28"
    assert cards[STUDIED["parameter"]][0].card.value == "length"
    assert not cards[STUDIED["width"]]  # not asked: the page names the command
    picture = top.picture
    assert isinstance(picture, CurvePlot)
    assert [curve.name for curve in picture.curves] == ["gru", "none"]  # both gaps
    html = page_of(tmp_path)
    text = re.sub(r"\s+", " ", Tags(html).text)
    assert "Does the policy need memory?" in text
    assert "Will it transfer?" not in text
    assert "simgap width" in text


def test_the_plan_is_no_record_that_is_not_drawn(tmp_path: Path) -> None:
    found = read_folder(cases.folder(tmp_path))
    assert found.unknown == () and found.troubles == ()
    title = page_title(found.parts, "run")
    assert title.words == "cartpole with randomized length, mass, 200 steps"


@pytest.mark.parametrize(
    ("memory", "near", "rough", "answer", "mood"),
    [
        ("yes", "yes", (), "Yes", "good"),
        ("no", "yes", (), "No", "good"),
        ("yes", "no", (), "Yes", "mind"),
        ("yes", "undecided", (), "Yes", "open"),
        ("undecided", "yes", (), "Undecided", "open"),
        ("yes", "yes", ("gru (1 of 3)",), "Yes, so far", "but"),
    ],
)
def test_the_verdict_has_a_colour(
    memory: str, near: str, rough: tuple[str, ...], answer: str, mood: str
) -> None:
    answers = (
        cases.answer("memory", memory, "", not_converged=rough),
        cases.answer("information", near, ""),
    )
    part = MAKERS["study_run"](plain(cases.study(answers=answers)), "record-1")
    assert (part.line.answer, part.line.mood) == (answer, mood)


def test_what_weakens_a_verdict_stands_beside_it(tmp_path: Path) -> None:
    notes = (Note("not-converged", "gru: 1 of 3"), Note("few-seeds", "seeds: 3"))
    record = cases.study(notes=(*notes, Note("other", "something else")))
    write_record(record, tmp_path / "study_run.json")
    top = top_of(read_folder(tmp_path).parts)
    assert top is not None and top.verdict is not None
    assert top.verdict.warnings == ("seeds: 3", "gru: 1 of 3")


def test_trainings_are_drawn_with_all_seeds(tmp_path: Path) -> None:
    found = read_folder(cases.folder(tmp_path, rough=2))
    part = found.parts[-1]
    assert part.template == "train.html"
    assert (part.line.answer, part.line.mood) == ("2 not converged", "mind")
    first, *others = part.plots
    assert isinstance(first, CurvePlot) and first.band
    assert len(first.curves) == len(others) == 5  # a figure of each kind
    for each in others:
        assert isinstance(each, CurvePlot)
        assert [curve.name for curve in each.curves] == ["seed 0", "seed 1", "seed 2"]
    gru = next(curve for curve in first.curves if curve.name == "gru")
    assert gru.points[0] == (6400.0, 106.0, 105.0, 107.0)  # mean, worst, best seed


def test_one_training_alone_is_drawn_too() -> None:
    part = trainings_part([cases.training()], "record-1")
    assert len(part.plots) == 1 and part.line.key.text == "151"
    assert MAKERS["train"](plain(cases.training()), "record-1").plots == part.plots


def test_a_damaged_training_is_a_sentence(tmp_path: Path) -> None:
    folder = cases.folder(tmp_path)
    (folder / "none" / "train.json").write_text('{"schema": 1, "kind": "train"}')
    found = read_folder(folder)
    assert [each.name for each in found.troubles] == ["none/train.json"]
    assert len(found.parts[-1].plots) == 1 + 4


def test_seeds_of_different_lengths_have_a_mean_where_all_are() -> None:
    record = cases.training(seeds=2)
    short = replace(record.policies[0], curve=record.policies[0].curve[:4])
    part = trainings_part(
        [replace(record, policies=(short, record.policies[1])), cases.training("none")],
        "record-1",
    )
    first = part.plots[0]
    assert isinstance(first, CurvePlot)
    assert [len(curve.points) for curve in first.curves] == [4, 10]


def test_worths_have_both_intervals() -> None:
    part = MAKERS["transfer"](plain(cases.graded()), "record-1")
    (plot,) = [p for p in part.plots if p.key.endswith("worths")]
    assert isinstance(plot, BarPlot)
    assert [name for name, _ in plot.bars] == ["memory", "information"]
    assert [each.ends for _, each in plot.bars] == [
        (28.0, 21.0, 35.0),
        (3.0, -6.0, 12.0),
    ]
    assert plot.ranges == ((27.0, 29.0), (2.0, 4.0))  # of these very policies


def test_gaps_are_drawn_over_every_parameter() -> None:
    part = MAKERS["transfer"](plain(cases.graded()), "record-1")
    plots = [p for p in part.plots if "-lost-" in p.key]
    assert [plot.x for plot in plots if isinstance(plot, CurvePlot)] == [
        "length",
        "delay",
        "mass",
    ]
    plain_one = MAKERS["transfer"](plain(transfer_cases.transfer()), "record-1")
    assert not [p for p in plain_one.plots if "-lost-" in p.key]  # not of trainings
