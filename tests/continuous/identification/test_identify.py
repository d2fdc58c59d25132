"""Known truth: what a log says about parameters and delay, and when it must protest."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.continuous import Identified, RealLog, Sampler, bind, identified
from simgap.continuous.identification.modes import modes
from simgap.continuous.identification.predictions import Predictor, windows
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


def test_a_log_without_noise_is_explained_and_precise() -> None:
    found = found_in(recorded(4, noise=(0.0, 0.0)))
    assert found.fit.p_value > 0.01 and found.delay == 0
    low, high = found.interval(0)
    assert low - 1e-3 < TRUTH["mass"] < high + 1e-3 and high - low < 0.01


def test_the_same_seed_gives_the_same_samples() -> None:
    log = recorded(6)
    one, two, other = (found_in(log, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.theta, two.theta)
    assert not np.array_equal(one.theta, other.theta)


def test_rows_of_the_posterior_have_its_moments() -> None:
    found = found_in(recorded(7, delay=1))
    header, rows = found.rows(seed=0)
    assert header == ["mass", "length", "delay"]
    assert rows[:, 0].mean() == pytest.approx(
        found.weights @ found.theta[:, 0], abs=2e-3
    )
    assert set(rows[:, 2]) == {1.0}


def test_a_mode_beats_its_neighbours() -> None:
    log = recorded(8)
    simulator = ToyPendulum()
    predictor = Predictor(simulator, bind(RANGES, simulator))
    seen = windows(log, 1, before=1, most=500)
    none = np.zeros(1, np.int64)
    (mode,) = modes(predictor, np.array([[0.2, 0.9]]), none, seen)
    around = mode.point + 0.01 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1]])
    beside = predictor.log_likelihood(around, np.zeros(5, np.int64), seen)
    assert (beside < mode.log_likelihood).all()


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


@pytest.mark.slow
def test_long_open_loops_are_overconfident() -> None:
    """Why predictions of twenty steps are not used: half of their intervals miss."""
    simulator = ToyPendulum()
    nu = bind(RANGES, simulator)
    hits: dict[tuple[int, ...], list[bool]] = {(1, 5): [], (20,): []}
    for seed in range(20):
        truth = drawn_truth(seed)
        log = recorded(seed, truth=truth, steps=600)
        for lengths, all_hits in hits.items():
            sampler = Sampler(size=128, effective=100.0)
            found = identified(simulator, nu, log, lengths=lengths, sampler=sampler)
            all_hits.extend(covers(found, truth))
    assert np.mean(hits[1, 5]) >= 0.9 and np.mean(hits[20,]) < 0.8
