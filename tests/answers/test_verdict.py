"""The verdict is a comparison of certified ends, at the edge as well."""

from __future__ import annotations

from math import inf, nextafter

import pytest

from simgap.answers.audit.verdict import (
    WorstCases,
    verdict_in_steps,
    verdict_in_the_long_run,
)
from simgap.intervals import Certified
from simgap.records.audit import Verdict

STAKE = Certified(8.0, 8.0)
EDGE = 1.0  # an eighth of the stake
UP, DOWN = nextafter(EDGE, 2.0), nextafter(EDGE, 0.0)


@pytest.mark.parametrize(
    ("average", "memoryless", "expected"),
    [
        ((0.0, 0.0), (0.0, 0.0), "yes"),
        ((0.5, 0.6), (0.5, EDGE), "yes"),  # at the edge is acceptable
        ((0.5, 0.6), (0.5, UP), "with memory"),
        ((0.5, EDGE), (UP, 3.0), "with memory"),
        ((0.5, UP), (0.5, 3.0), "undecided"),
        ((EDGE, UP), (EDGE, 3.0), "undecided"),  # the loss may be at the edge
        ((DOWN, 8.0), (DOWN, 8.0), "undecided"),
        ((UP, UP), (UP, 3.0), "no"),
        ((8.0, 8.0), (8.0, 8.0), "no"),
    ],
)
def test_the_ends_of_the_brackets_decide(
    average: tuple[float, float], memoryless: tuple[float, float], expected: Verdict
) -> None:
    found = verdict_in_steps(
        Certified(*average), Certified(*memoryless), STAKE, acceptable=0.125
    )
    assert found == expected


@pytest.mark.parametrize(
    ("without", "remembering", "expected"),
    [
        (0.125, 0.0, "yes"),  # acceptable in every model
        (0.5, 0.1, "with memory"),  # one model is lost, and memory saves it
        (0.5, 0.249, "with memory"),
        (0.2, 0.125, "with memory"),  # acceptable with memory
        (0.5, 0.25, "yes"),  # memory does not help: the words name the model
        (0.5, inf, "yes"),  # nothing is known of memory
    ],
)
def test_a_policy_that_is_fine_on_average_alone_may_need_memory(
    without: float, remembering: float, expected: Verdict
) -> None:
    little = Certified(0.5, 0.5)
    found = verdict_in_steps(
        little,
        little,
        STAKE,
        acceptable=0.125,
        worst=WorstCases(without, remembering),
    )
    assert found == expected


@pytest.mark.parametrize(
    ("ways_back", "loss", "expected"),
    [
        (True, Certified(0.0, 0.0), "in the long run"),
        (True, Certified(0.0, 1e-9), "in the long run"),
        (True, Certified(0.1, 0.1), "not promised"),
        (True, None, "not promised"),
        (False, Certified(0.0, 0.0), "not promised"),
    ],
)
def test_the_long_run_needs_ways_back_and_models_that_show(
    ways_back: bool, loss: Certified | None, expected: Verdict
) -> None:
    found = verdict_in_the_long_run(ways_back=ways_back, loss_per_step=loss)
    assert found == expected
