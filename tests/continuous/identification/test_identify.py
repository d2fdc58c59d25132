"""Known truth: what a log says about parameters and delay, and when it must protest."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.continuous import Identified, RealLog, Sampler, bind, identified
from simgap.errors import InvalidArgument
from tests.continuous.identification.real_pendulum import (
    RANGES,
    TRUTH,
    drawn_truth,
    recorded,
)
from tests.continuous.toy import ToyPendulum

LOGS = 5


def found_in(log: RealLog, spec: str = RANGES, seed: int = 0) -> Identified:
    simulator = ToyPendulum()
    sampler = Sampler(size=128, effective=100.0, seed=seed)
    return identified(simulator, bind(spec, simulator), log, sampler=sampler)


def covers(found: Identified, truth: dict[str, float]) -> list[bool]:
    ends = [found.interval(at) for at in range(2)]
    return [
        low <= truth[name] <= high
        for name, (low, high) in zip(found.nu.names, ends, strict=True)
    ]


@pytest.mark.parametrize("delay", [0, 2])
def test_parameters_and_delay_are_recovered(delay: int) -> None:
    hits = []
    for seed in range(LOGS):
        truth = drawn_truth(seed)
        found = found_in(recorded(seed, truth=truth, delay=delay))
        assert found.delay == delay and found.samples.settled
        assert found.fit.p_value > 0.01
        assert not any(found.disagree(at) or found.at_edge(at) for at in range(2))
        hits += covers(found, truth)
        assert abs(found.weights @ found.theta[:, 0] - truth["mass"]) < 0.1
        assert found.remaining(0) < 0.5  # it says something: a control of covering
    assert np.mean(hits) >= 0.9


def test_a_wrong_truth_is_not_covered() -> None:
    """The control: intervals that covered everything would cover this."""
    found = found_in(recorded(3, truth=TRUTH))
    assert not any(covers(found, {"mass": 1.2, "length": 0.8}))


def test_hidden_friction_and_a_delay_beyond_those_tried_raise_the_alarm() -> None:
    alarms = {
        name: np.mean(
            [found_in(recorded(seed, **wrong)).fit.p_value < 0.01 for seed in range(3)]
        )
        for name, wrong in (
            ("friction", {"friction": 0.3}),
            ("delay", {"delay": 5}),
            ("nothing", {}),
            ("feedback", {"feedback": True}),
        )
    }
    assert alarms["friction"] == 1.0 and alarms["delay"] > 0.5
    assert alarms["nothing"] == 0.0 and alarms["feedback"] == 0.0  # the controls


def test_the_drag_that_the_test_promises_to_see_is_seen() -> None:
    """A friction of twice that size raises the alarm; a tenth of it does not."""
    log = recorded(5, truth=TRUTH)
    drag = found_in(log).fit.drag[2]
    pull = 0.05 * 3.0 / (TRUTH["mass"] * TRUTH["length"] ** 2)  # of friction 1, a step
    seen = [
        [
            found_in(recorded(seed, friction=times * drag / pull)).fit.p_value < 0.01
            for seed in (5, 6)
        ]
        for times in (2.0, 0.1)
    ]
    assert sum(seen[0]) == 2 and sum(seen[1]) == 0


def test_a_truth_beyond_the_range_leans_on_its_end() -> None:
    found = found_in(recorded(2, truth={"mass": 1.8, "length": 1.0}))
    assert found.at_edge(0)
    assert not found_in(recorded(2)).at_edge(0)


def test_a_choice_and_a_factor_are_found() -> None:
    spec = "mass*=0.5..1.5 length={0.7, 1.1, 1.4} g=10"
    found = found_in(recorded(1), spec)
    assert found.free == (0, 1)
    likely = found.theta[:, 1] == 1.1
    assert found.weights[likely].sum() > 0.99
    low, high = found.interval(0)
    assert low < TRUTH["mass"] < high


def test_rows_of_the_posterior_have_its_moments() -> None:
    found = found_in(recorded(7, delay=1))
    header, rows = found.rows(seed=0)
    assert header == ["mass", "length", "delay"]
    assert rows[:, 0].mean() == pytest.approx(
        found.weights @ found.theta[:, 0], abs=2e-3
    )
    assert set(rows[:, 2]) == {1.0}


class NoPlace:
    """A simulator whose worlds cannot be placed."""

    def __init__(self) -> None:
        self.inner = ToyPendulum()

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def instantiate(self, values: object) -> object:
        return object()


@pytest.mark.parametrize(
    ("code", "simulator", "spec", "log"),
    [
        ("cannot-place", NoPlace(), RANGES, recorded(0, steps=60)),
        ("nothing-randomized", ToyPendulum(), "mass=1", recorded(0, steps=60)),
        ("log-short", ToyPendulum(), RANGES, recorded(0, steps=20)),
        ("log-short", ToyPendulum(), RANGES, recorded(0, steps=4, episodes=50)),
        (
            "log-still",
            ToyPendulum(),
            RANGES,
            RealLog(
                np.zeros(50, np.int64),
                np.ones((50, 3)),
                np.ones((50, 1)),
                np.ones((50, 3)),
            ),
        ),
        (
            "log-width",
            ToyPendulum(),
            RANGES,
            RealLog(
                np.zeros(50, np.int64),
                np.ones((50, 2)),
                np.ones((50, 1)),
                np.ones((50, 2)),
            ),
        ),
        (
            "log-width",
            ToyPendulum(),
            RANGES,
            RealLog(
                np.zeros(50, np.int64),
                np.ones((50, 3)),
                np.ones((50, 2)),
                np.ones((50, 3)),
            ),
        ),
    ],
)
def test_what_cannot_be_answered_is_told(
    code: str, simulator: ToyPendulum, spec: str, log: RealLog
) -> None:
    with pytest.raises(InvalidArgument) as told:
        identified(simulator, bind(spec, simulator), log)
    assert told.value.code == code and told.value.hint
