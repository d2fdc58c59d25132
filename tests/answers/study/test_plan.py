"""The plan of a study: counted work that a budget of seconds pays for."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest

from simgap.answers.study.costs import (
    Speeds,
    measuring_seconds,
    told_sets,
    training_seconds,
)
from simgap.answers.study.kinds import (
    INFORMED,
    MASKED,
    MEMORY,
    MEMORYLESS,
    NOMINAL,
    WINDOW,
    kinds_of,
)
from simgap.answers.study.plan import (
    DESIGNS,
    FEW_SEEDS,
    LEAST_ROUNDS,
    MOST_STEPS,
    PLANNED,
    SEEDS,
    STEPS,
    Asked,
    Plan,
    planned,
)
from simgap.answers.study.speeds import step_seconds
from simgap.answers.train.asked import asked_training
from simgap.errors import InvalidArgument
from tests.note_codes import codes

SPEEDS = Speeds(13.0, {"gru": 2e-5, "none": 5e-6}, 7e-6, 6.0)
ASKED = Asked(1, 100, 6400, None, 300.0, 2)


def test_kinds_are_called_what_train_calls_them() -> None:
    for kind in (MEMORY, MEMORYLESS, NOMINAL, INFORMED, MASKED, WINDOW):
        given = {k: v for k, v in kind.options.items() if k != "masked"}
        given["informed"] = kind.informed or kind.masked
        asked = asked_training(
            "heading",
            randomize="mounting_angle=-1..1",
            at=None,
            horizon=None,
            noise="",
            checked=False,
            **given,
        )
        assert kind.name == asked.name(masked=kind.masked)


def test_one_parameter_needs_no_training_for_blame() -> None:
    assert MASKED not in kinds_of(1, window=False)
    assert MASKED in kinds_of(2, window=False)
    assert WINDOW in kinds_of(1, window=True)


@pytest.mark.parametrize(
    ("jobs", "workers", "seconds"),
    [
        ([(MEMORY, 100)], 1, 10.0 + 100.0),
        ([(MEMORY, 100)] * 2, 1, 10.0 + 200.0),  # compiled once
        ([(MEMORY, 100)] * 2, 2, 10.0 + 100.0),
        ([(MEMORY, 100), (NOMINAL, 100)], 1, 10.0 + 200.0),  # the same program
        ([(MEMORY, 100), (MEMORYLESS, 100)], 1, 20.0 + 150.0),
        ([(MEMORY, 100)] * 3, 2, 10.0 + 200.0),  # one core waits at the end
        ([(MEMORY, 10), (MASKED, 10), (MEMORYLESS, 10), (MEMORY, 10)], 1, 40 + 35.0),
    ],
)
def test_trainings_begin_as_soon_as_a_core_is_free(
    jobs: list[tuple[object, int]], workers: int, seconds: float
) -> None:
    """A process keeps two programs: in the last case the first is compiled anew."""
    speeds = Speeds(10.0, {"gru": 1.0, "none": 0.5}, 0.0, 0.0)
    assert training_seconds(jobs, speeds, workers) == seconds  # type: ignore[arg-type]


def test_measuring_is_shared_by_all_cores() -> None:
    one = measuring_seconds(10, 100, 50, SPEEDS, 1)
    assert one == pytest.approx(6.0 + 10 * 100 * 50 * 7e-6)
    assert measuring_seconds(10, 100, 50, SPEEDS, 2) < one
    assert [told_sets(each) for each in (1, 2, 6)] == [2, 4, 64]
    assert told_sets(12) < 2**12


def test_the_first_call_compiles_and_is_no_measure_of_a_step() -> None:
    """Seconds of calls: 5 of compiling, 0.5 for each call, 1e-3 for a step."""
    assert step_seconds([6.5, 1.5, 8.5], (1000, 1000, 8000)) == pytest.approx(1e-3)
    assert step_seconds([6.5, 0.5, 0.5], (1000, 1000, 2000)) > 0.0  # a coarse clock


@pytest.mark.parametrize("budget", [120.0, 300.0, 700.0, 2000.0])
@pytest.mark.parametrize("parameters", [1, 3])
def test_a_plan_fits_its_budget_and_spends_it(budget: float, parameters: int) -> None:
    asked = replace(ASKED, budget=budget, parameters=parameters)
    try:
        plan = planned(asked, SPEEDS, 20.0)
    except InvalidArgument as error:
        assert budget == 120.0 and error.code == "budget-too-small"
        return
    assert plan.expected == sum(plan.seconds.values()) <= PLANNED * budget
    assert plan.seconds["planning"] == 20.0
    assert plan.steps % ASKED.batch == 0
    more = replace(asked, budget=budget + 60.0)
    assert planned(more, SPEEDS, 20.0).expected > plan.expected
    assert plan.expected > 0.8 * PLANNED * budget  # not much is left over


def test_a_small_budget_has_fewer_seeds_and_says_so() -> None:
    small, large = (planned(replace(ASKED, budget=b), SPEEDS) for b in (200.0, 900.0))
    assert (small.seeds, large.seeds) == (FEW_SEEDS, SEEDS)
    assert codes(small) == ["few-seeds", "no-time-for-width"] and codes(large) == []
    assert small.width is None and large.width is not None
    told = planned(replace(ASKED, budget=200.0, seeds=2), SPEEDS)
    assert told.seeds == 2 and "few-seeds" not in codes(told)


def test_a_budget_that_is_too_small_names_one_that_is_not() -> None:
    """And that one is the least: a second less is refused."""
    with pytest.raises(InvalidArgument) as caught:
        planned(replace(ASKED, budget=30.0), SPEEDS, 20.0)
    assert caught.value.code == "budget-too-small"
    (least,) = map(int, re.findall(r"--time-budget (\d+)", caught.value.hint))
    plan = planned(replace(ASKED, budget=float(least)), SPEEDS, 20.0)
    assert plan.steps >= LEAST_ROUNDS * ASKED.batch
    assert plan.transfer == DESIGNS[-1]
    with pytest.raises(InvalidArgument):
        planned(replace(ASKED, budget=least - 2.0), SPEEDS, 20.0)


def test_without_a_budget_steps_are_those_of_train() -> None:
    plan = planned(replace(ASKED, budget=None), SPEEDS)
    assert (plan.steps, plan.seeds) == (STEPS, SEEDS)
    assert WINDOW not in plan.kinds  # its speed is not known
    known = replace(SPEEDS, step={**SPEEDS.step, "window:8": 1e-5})
    assert WINDOW in planned(replace(ASKED, budget=None), known).kinds


def test_a_large_budget_is_not_spent_to_the_end() -> None:
    plan = planned(replace(ASKED, budget=1e6), SPEEDS)
    assert 0.9 * MOST_STEPS < plan.steps <= MOST_STEPS


def test_episodes_take_a_small_part_of_the_budget() -> None:
    """However many sets of parameters blame has to tell."""

    def seconds(plan: Plan) -> float:
        return plan.seconds["blame"] + plan.seconds["transfer"]

    plan = planned(replace(ASKED, budget=600.0, parameters=6), SPEEDS)
    assert plan.blame is not None
    assert plan.blame.each < plan.transfer.each
    assert seconds(plan) < 0.25 * 600.0


def test_points_of_a_design_are_a_power_of_two_and_each_is_cheaper() -> None:
    """A Sobol sequence is even over so many points only."""
    for each in DESIGNS:
        assert each.points.bit_count() == each.episodes.bit_count() == 1
    costs = [each.each for each in DESIGNS]
    assert costs == [2048 >> at for at in (0, 1, 2, 3, 4, 5, 6)]


ROUND = Speeds(10.0, {"gru": 1e-5, "none": 5e-6}, 1e-6, 3.0)


@pytest.mark.parametrize(
    ("asked", "seconds", "width_seeds"),
    [
        (
            Asked(2, 10, 100, 2, None, 2),
            {
                "planning": 7.0,
                "training": 10 + 20 + 20 + 30 + 20 + 20,  # a seed of each on a core
                "transfer": 3 + 0.5 * (5 * 2 * 1.25) * 2048 * 10 * 1e-6,
                "blame": 3 + 0.5 * (4 + 2) * 2 * 2048 * 10 * 1e-6,
                "identify": 3 + 2 * 2 * 512 * 10 * 1e-6,  # by one process
                "width": 10 + 30 + 3 + 0.5 * (2 * 5 * 2 * 1.25) * 2048 * 10 * 1e-6,
                "page": 8.0,
            },
            2,
        ),
        (
            Asked(1, 10, 100, None, None, 1),
            {
                "planning": 7.0,
                "training": 3 * 10 + 10 * 20 + 10 * 10,
                "transfer": 3 + (4 * 5 * 1.25) * 2048 * 10 * 1e-6,
                "identify": 3 + 2 * 5 * 512 * 10 * 1e-6,
                "width": 10 + 3 * 30 + 3 + (2 * 5 * 3 * 1.25) * 2048 * 10 * 1e-6,
                "page": 8.0,
            },
            3,
        ),
    ],
)
def test_the_seconds_of_a_plan_are_the_work_of_its_parts(
    asked: Asked, seconds: dict[str, float], width_seeds: int
) -> None:
    """Two million steps of each training, half of them behind each width."""
    plan = planned(asked, ROUND, 7.0)
    assert plan.seconds == pytest.approx(seconds, rel=1e-12)
    assert (plan.steps, plan.worlds) == (2_000_000, 512)
    assert plan.width is not None
    assert (plan.width.seeds, plan.width.steps) == (width_seeds, 1_000_000)
    assert {plan.transfer, plan.width.episodes} == {DESIGNS[0]}
    assert plan.blame == (DESIGNS[0] if asked.parameters > 1 else None)
    assert plan.notes == () and plan.expected == sum(plan.seconds.values())


def test_episodes_of_a_question_take_a_tenth_of_the_budget_at_most() -> None:
    """The best design that fits is taken; a step takes as long as that it decides."""
    for budget in (400.0, 1000.0, 4000.0):
        for step in (1e-6, 1e-5, 4e-5, 2e-4):
            speeds = replace(SPEEDS, measured_step=step)
            asked = replace(ASKED, budget=budget, seeds=1, parameters=2)
            try:
                plan = planned(asked, speeds)
            except InvalidArgument:
                continue
            policies = len(plan.kinds) * plan.seeds * 1.25
            costs = [
                measuring_seconds(policies, each.each, asked.horizon, speeds, 2)
                for each in DESIGNS
            ]
            fitting = [at for at, each in enumerate(costs) if each <= 0.1 * budget]
            at = DESIGNS.index(plan.transfer)
            assert at == (fitting[0] if fitting else len(DESIGNS) - 1)
            assert plan.seconds["transfer"] == costs[at]


def test_what_a_budget_leaves_out_is_left_out_in_turn() -> None:
    """A window if there are 300 rounds, then width, then five seeds at 200 rounds."""
    speeds = replace(SPEEDS, step={**SPEEDS.step, "window:8": 1e-5})
    seen: list[tuple[bool, bool, int]] = []
    for budget in range(150, 1500, 45):
        plan = planned(replace(ASKED, budget=float(budget)), speeds)
        rounds = plan.steps // ASKED.batch
        kind = (WINDOW in plan.kinds, plan.width is not None, plan.seeds)
        least = {(True, True, 5): 300, (False, True, 5): 200, (False, False, 5): 200}
        assert rounds >= least.get(kind, 40)
        if not seen or seen[-1] != kind:
            seen.append(kind)
    assert seen == [
        (False, False, 3),
        (False, False, 5),
        (False, True, 5),
        (True, True, 5),
    ]


@pytest.mark.parametrize("last", range(10))
def test_the_most_rounds_that_fit_are_found(last: int) -> None:
    home: Any = import_module("simgap.answers.study.plan")
    assert home._most(lambda rounds: rounds <= last, 9) == last
