"""The story and the findings of a study: whose numbers they tell."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from math import inf
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers.study.story import story_of
from simgap.answers.study.verdicts import (
    answers_of,
    further_answer,
    threshold,
    words_of,
)
from simgap.intervals import Certified, Estimate
from tests.report.study_cases import graded, trainings, worth
from tests.report.trained_cases import blamed, identified
from tests.report.transfer_cases import about

FINDINGS: Any = import_module("simgap.answers.study.findings")
NAMES = ("calm", "wild", "odd")
TABLE = ((0.0, 6.0, 3.0), (4.0, 0.0, 8.0), (1.0, 2.0, 0.0))  # trained on, real


def oracle(**changes: Any) -> Any:
    """An oracle of three models, as a story reads it."""
    prior, gaps, best = (0.5, 0.25, 0.25), (1.0, 3.0, 2.0), (10.0, 0.0, -5.0)
    usual: dict[str, Any] = {
        "models": [
            Stand(name=name, prior=weight, gap=gap, optimal=value)
            for name, weight, gap, value in zip(NAMES, prior, gaps, best, strict=True)
        ],
        "baselines": {
            "single-simulator": Stand(cross_gaps=TABLE),
            "memoryless": Stand(
                models=NAMES,
                gaps=(2.0, 2.5, 7.0),
                average_gap=Certified(3.3, 3.5),
                note="",
            ),
        },
        "memory": None,
        "rounding": 0.125,
        "average_gap": Certified(1.5, 1.75),
        "estimated_gap": None,
    }
    return Stand(**{**usual, **changes})


def test_the_first_chapter_is_about_the_best_single_model_or_the_one_asked_for() -> (
    None
):
    """Averages over the prior are 2.25, 4 and 1."""
    for alone, trained, average, real, lost in (
        (None, "odd", 1.0, "wild", 2.0),
        (0, "calm", 2.25, "wild", 6.0),
        (1, "wild", 4.0, "odd", 8.0),
    ):
        first = story_of(oracle(), alone=alone)[0]
        assert first.average_gap == Certified(average - 0.125, average + 0.125)
        assert (first.worst_gap, first.worst_model) == (lost, real)
        assert trained in first.text and real in first.text
    small = story_of(oracle(rounding=3.0))[0].average_gap
    assert small == Certified(0.0, 4.0)  # no gap is negative


def test_a_part_is_told_of_a_value_above_zero_alone() -> None:
    """The worst of model 0 is wild, whose value is 0; that of a loss is no whole."""
    for value, told in ((0.0, False), (-5.0, False), (0.5, True)):
        given = oracle()
        given.models[1].optimal = value
        assert (" of 0.5" in story_of(given, alone=0)[0].text) is told
        assert " of -5" not in story_of(given, alone=0)[0].text
        assert " of 0," not in story_of(given, alone=0)[0].text


def test_chapters_are_told_of_what_was_planned() -> None:
    chapters = story_of(oracle())
    assert [each.average_gap.upper for each in chapters] == [1.125, 3.5, 1.75]
    assert [each.worst_gap for each in chapters] == [2.0, 7.0, 3.0]
    assert [each.worst_model for each in chapters] == ["wild", "odd", "wild"]
    assert len(story_of(oracle(baselines={}))) == 1
    empty = {
        "single-simulator": Stand(cross_gaps=None),
        "memoryless": Stand(models=()),
    }
    assert len(story_of(oracle(baselines=empty))) == 1


def test_the_policy_to_run_is_spoken_of_where_it_was_measured() -> None:
    assert "estimated" not in story_of(oracle())[-1].text
    estimate = Estimate(2.25, 2.0, 2.5, 0.95)
    text = story_of(oracle(estimated_gap=estimate))[-1].text
    assert "2.25" in text and "estimated" in text
    memory = Stand(sentences=lambda: ("Of memory.", "It is needed."))
    assert "It is needed." in story_of(oracle(memory=memory))[1].text


def test_findings_name_the_slowest_pair_and_the_likeliest_model() -> None:
    pairs = [
        Stand(first_name="a", second_name="b", steps=Certified(3.0, 4.0)),
        Stand(first_name="c", second_name="d", steps=Certified(7.0, 9.0)),
    ]
    found = Stand(slowest=None, pairs=pairs, error=0.05)
    assert list(FINDINGS._identified(found)) == []
    found.slowest = 1
    (line,) = FINDINGS._identified(found)
    assert "c and d" in line and "7 and 9" in line and "5 %" in line
    pairs[1].steps = Certified(inf, inf)
    (line,) = FINDINGS._identified(found)
    assert "never" in line and "c and d" in line


def test_a_finding_of_real_data_is_a_posterior_or_an_alarm() -> None:
    models = [
        Stand(name="a", probability=None),
        Stand(name="b", probability=0.75),
        Stand(name="c", probability=0.25),
    ]
    found = Stand(
        outside_class=False,
        gap_bound_after=Certified(0.5, 0.5),
        gap_bound_before=Certified(2.0, 2.0),
        transitions=12,
        false_alarm=0.02,
        posterior=models,
    )
    line = FINDINGS._adapted(found)
    assert "b has probability 0.75" in line and "from 2 to 0.5" in line
    for change in ({"outside_class": True}, {"gap_bound_after": None}):
        line = FINDINGS._adapted(Stand(**{**vars(found), **change}))
        assert "12 real transitions" in line and "2 %" in line and "0.75" not in line


def test_answers_of_a_transfer_are_those_that_it_compares() -> None:
    """The first worth of each kind; the loss that matters is that of the regions."""
    given = graded()
    assert threshold(given) == 20.0
    memory, near = answers_of(trainings(rough=1), given, "transfer.json")
    assert (memory.question, memory.code) == ("memory", "memory-pays")
    assert memory.value == given.worths[0].value and memory.against is None
    assert memory.not_converged == ("gru (1 of 3)",)
    gaps = {each.name: each.gap for each in given.policies}
    assert (near.question, near.value) == ("information", gaps["gru"])
    assert near.against == gaps["none"]
    assert near.record == memory.record == "transfer.json"
    verdict, headline, reason = words_of([memory, near], 3)
    assert (verdict, headline) == ("yes", memory.text)
    assert reason.startswith(near.text) and "3 trainings" in reason


def test_randomization_pays_by_its_own_worth() -> None:
    given = graded()
    nominal = worth("randomization", "gru", "nominal-gru", about(-30.0, 3.0))
    later = worth("memory", "other", "none", about(-30.0, 3.0))
    more = replace(given, worths=(*given.worths, nominal, later))
    found = {each.question: each for each in answers_of([], more, "transfer.json")}
    assert list(found) == ["memory", "information", "randomization"]
    assert found["memory"].code == "memory-pays"  # the first pair is the one
    assert found["randomization"].value == nominal.value
    assert found["randomization"].answer == "yes"  # at the worst point it does
    assert found["randomization"].code == "randomization-pays-at-worst"


def test_further_answers_have_the_totals_of_their_records() -> None:
    rough = trainings(rough=2)
    found = further_answer(blamed(policy="gru"), rough, "blame_run.json")
    assert (found.question, found.answer) == ("parameter", "length")
    assert found.value == blamed().total and found.not_converged == ("gru (2 of 3)",)
    found = further_answer(identified(), rough, "identify_run.json")
    assert (found.question, found.answer) == ("time", "10 steps")
    assert found.value == identified().total
    assert (found.record, found.not_converged) == (
        "identify_run.json",
        ("gru (2 of 3)",),
    )


@pytest.mark.parametrize("missing", ["memory", "information"])
def test_what_was_not_compared_is_no_answer(missing: str) -> None:
    given = graded()
    left = Stand(
        worths=tuple(each for each in given.worths if each.what != missing),
        policies=given.policies,
    )
    found = list(answers_of([], left, "transfer.json"))  # type: ignore[arg-type]
    assert missing not in [each.question for each in found] and len(found) == 1
    if missing == "memory":
        assert found[0].against is None  # no policy without memory to compare with
        assert words_of(found, 3)[0] == "undecided"
