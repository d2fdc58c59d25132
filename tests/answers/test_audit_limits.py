"""Where the parts of an audit change their mind: every condition at its boundary.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from itertools import product
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import audit
from simgap.answers.audit import (
    losses,
)
from simgap.answers.audit.losses import Losses, Settings, losses_in_steps
from simgap.answers.stakes import Stakes, stakes
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.oracle import Outcome, bytes_of_losses
from simgap.planning import optimal_values, policy_values
from simgap.records import WorstModel
from tests.answers.audit_cases import coins

smoothness: Any = import_module("simgap.answers.audit.smoothness")
LATENT = coins(0.2, 0.9)


def stake(low: float, high: float) -> Stakes:
    return Stakes(Certified(low, high), (Certified(low, high),))


@pytest.mark.parametrize(
    "options",
    [
        {"acceptable": 0.0},
        {"acceptable": 1.0},
        {"time_limit": 0.0},
        {"horizon": 0},
    ],
)
def test_what_no_audit_can_answer_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        audit(LATENT, **options)


def test_memory_is_worth_the_difference_of_two_brackets_and_never_less_than_0() -> None:
    lost = Losses(
        stakes=stake(2.0, 4.0),
        average_gap=Certified(0.25, 0.5),
        memoryless_gap=Certified(0.375, 1.0),
    )
    assert lost.value_of_memory == Certified(0.0, 0.75)
    assert replace(lost, worth=Certified(0.1, 0.2)).value_of_memory == Certified(
        0.1, 0.2
    )
    part = lost.part(lost.average_gap)
    assert part is not None
    assert part.ends == pytest.approx((0.0625, 0.25))
    for less in (replace(lost, average_gap=None), replace(lost, memoryless_gap=None)):
        assert (less.value_of_memory, less.memory(0.5)) == (None, None)
    nothing = replace(lost, stakes=None)
    assert (nothing.memory(0.5), nothing.part(lost.average_gap)) == (None, None)


@pytest.mark.parametrize(
    ("average", "rounding", "enough", "needed"),
    [
        ((0.1, 0.25), 0.0, "certified", "certified"),
        ((0.1, 0.26), 0.0, "not proved", "certified"),  # a tenth of the stake: 0.25
        ((0.26, 0.3125), 0.0, "not proved", "certified"),  # 0.5, if it is large
        ((0.51, 0.625), 0.0, "no", "certified"),
        ((0.1, 0.25), 0.05, "certified", "not proved"),  # ten times that is noise
        ((0.1, 0.25), 0.049, "certified", "certified"),
    ],
)
def test_memory_is_enough_or_needed_by_what_is_acceptable_and_noise(
    average: tuple[float, float], rounding: float, enough: str, needed: str
) -> None:
    lost = Losses(
        stakes=stake(2.5, 5.0),
        average_gap=Certified(*average),
        memoryless_gap=Certified(0.75, 1.0),
        rounding=rounding,
        searched=3,
    )
    found = lost.memory(0.1)
    assert found is not None
    assert (found.enough, found.needed, found.searched) == (enough, needed, 3)


def test_a_policy_is_fine_everywhere_up_to_what_is_acceptable() -> None:
    lost = Losses(
        worst=WorstModel("a", 1.0, 0.25), memoryless_worst=WorstModel("b", 1.0, 0.5)
    )
    assert lost.everywhere("yes", 0.5) and not lost.everywhere("yes", 0.49)
    assert lost.everywhere("with memory", 0.25)
    assert lost.everywhere("with memory", 0.24) is False
    assert lost.everywhere("no", 0.5) is None
    assert Losses().everywhere("yes", 0.5) is None


@pytest.mark.parametrize(
    ("informed", "ends", "expected"),
    [
        (10.0, (4.0, 6.0), 0.2 * 0.1 * 4.0 / 10.0),
        (-10.0, (4.0, 6.0), 0.2 * 0.1 * 4.0 / 16.0),
        (2.0, (4.0, 12.0), 0.2 * 0.1 * 4.0 / 10.0),
        (0.0, (0.0, 0.0), 0.0),
        (0.5, (-1.0, 0.25), 0.0),
        (0.01, (1.0, 0.015), 0.5),
    ],
)
def test_a_small_part_of_the_acceptable_loss_is_a_part_of_the_value(
    informed: float, ends: tuple[float, float], expected: float
) -> None:
    known: Any = Stand(average=Stand(ends=ends))
    form: Any = Stand(informed=informed)
    found = losses._negligible(form, known, Settings(acceptable=0.1))
    assert found == pytest.approx(expected)


def test_the_worst_model_loses_the_largest_part_of_its_own_stake() -> None:
    latent = coins(0.2, 0.5, 0.9, prior=(0.5, 0.5, 0.0))
    least = (Certified(4.0, 5.0), Certified(1.0, 2.0), Certified(1.0, 2.0))
    known = Stakes(Certified(1.0, 2.0), least)
    found = losses._worst(latent, known, np.array([2.0, 1.0, 9.0]))
    assert found == WorstModel("model 1", 1.0, 1.0)  # nobody expects the third
    tiny = replace(known, models=(least[0], Certified(4e-9, 1.0), least[2]))
    found = losses._worst(latent, tiny, np.array([2.0, 1.0, 9.0]))
    assert found == WorstModel("model 0", 2.0, 0.5)  # nothing is at stake in the second
    nothing = replace(known, models=(Certified(0.0, 0.0),) * 3)
    assert losses._worst(latent, nothing, np.zeros(3)) is None
    with pytest.raises(AssertionError):
        losses._worst(latent, known, np.array([np.nan, 1.0, 1.0]))


def test_episodes_too_long_to_follow_keep_the_promise_of_a_theorem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = LATENT.simulators.transitions.values.size
    monkeypatch.setattr(losses, "MOST_BACKUPS", 5 * entries)
    assert losses_in_steps(LATENT, 5, Settings()).stakes is not None
    monkeypatch.setattr(losses, "MOST_BACKUPS", 5 * entries - 1)
    found = losses_in_steps(LATENT, 5, Settings(), promised=0.75)
    assert (found.stakes, found.average_gap) == (None, Certified(0.0, 0.75))
    assert losses_in_steps(LATENT, 5, Settings()).average_gap is None
    assert losses_in_steps(LATENT, 5, Settings(thorough=True)).stakes is not None


def test_a_class_too_large_to_plan_is_bounded_by_what_is_at_hand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the best of all tables of actions."""
    size = bytes_of_losses(LATENT, 3)
    monkeypatch.setattr(losses, "LARGEST_LOSSES", size)
    assert losses_in_steps(LATENT, 3, Settings()).outcome is Outcome.EXACT
    monkeypatch.setattr(losses, "LARGEST_LOSSES", size - 1)
    found = losses_in_steps(LATENT, 3, Settings(acceptable=0.9))
    assert (found.outcome, found.gaps, found.rounding) == (None, None, None)
    assert found.memoryless_gap is not None and found.average_gap is not None
    best = optimal_values(LATENT.simulators, 3).start
    lost = [
        best - policy_values(LATENT.simulators, actions, 3).start
        for actions in np.array([*product(range(2), repeat=6)], np.int32).reshape(
            64, 3, 2
        )
    ]
    gaps = min(lost, key=lambda each: float(LATENT.prior @ each))
    assert found.memoryless_gap.upper == pytest.approx(LATENT.prior @ gaps)
    assert found.average_gap == found.memoryless_gap
    assert found.memoryless_gap.lower == 0.0
    worst = found.memoryless_worst
    assert worst is not None
    parts = gaps / (2 * np.array([0.15, 0.2]))  # what a random coin loses
    assert worst.name == f"model {parts.argmax()}"
    assert worst.gap == pytest.approx(gaps[parts.argmax()])
    assert worst.relative == pytest.approx(parts.max())


def test_what_is_not_planned_is_bounded_by_random_actions_or_a_theorem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(losses, "LARGEST_LOSSES", 0.0)
    monkeypatch.setattr(losses, "stationary_gaps", lambda *_: None)
    random = losses_in_steps(LATENT, 3, Settings())
    assert random.memoryless_gap is not None and random.memoryless_worst is None
    assert random.memoryless_gap.upper == stakes(LATENT, 3).average.upper
    assert random.average_gap == random.memoryless_gap
    promised = losses_in_steps(LATENT, 3, Settings(), promised=0.125).average_gap
    assert promised == Certified(0.0, 0.125)
    large = losses_in_steps(LATENT, 3, Settings(), promised=100.0).average_gap
    assert large == random.average_gap
