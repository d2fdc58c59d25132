"""Models of a class on a grid, judged by the equations behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from simgap.continuous import JudgedModels, RealLog, bind, judged_models
from simgap.continuous.identification.predictions import Predictor, windows
from simgap.errors import InvalidArgument
from simgap.instances import CONTROLS, classic_control
from simgap.mdp import Discretisation
from tests.continuous.identification.real_pendulum import recorded
from tests.continuous.toy import ToyPendulum

MASSES = (0.7, 0.9, 1.1)
TRUE = 1  # the mass of the recorded pendulum


@cache
def pendulum() -> Discretisation:
    grid = {"mass": MASSES, "length": (1.1,)}
    return classic_control("Pendulum-v1", grid=grid, cells=9)


def judged(log: RealLog) -> JudgedModels:
    return judged_models(pendulum(), log)


def test_likelihoods_are_those_of_a_simulator_that_is_put_there() -> None:
    """The judge: the identification of simulators, which steps worlds one by one."""
    log = recorded(1, steps=60, delay=1)
    found = judged(log)
    nu = bind("mass=0.7..1.1 length=1.1", ToyPendulum())
    worlds = Predictor(ToyPendulum(), nu)
    points = np.array([[0.0], [0.5], [1.0 - 1e-12]])
    for at, steps in enumerate((1, 5)):
        seen = windows(log, steps, before=4, most=2_000)
        for column, delay in enumerate(found.delays.tolist()):
            told = worlds.log_likelihood(points, np.full(3, delay), seen)
            assert found.log_likelihood[:, column, at] == pytest.approx(told, rel=1e-9)


def _alarms(log: Callable[[int], RealLog], logs: int) -> tuple[int, int]:
    """Return how often the true model was refused, and was the likeliest."""
    refused = likeliest = 0
    for seed in range(logs):
        found = judged(log(seed))
        refused += found.fits[TRUE].p_value < 0.01
        pooled = found.weights(np.full(3, 1 / 3)).mean(axis=2).sum(axis=1)
        likeliest += int(pooled.argmax()) == TRUE
    return refused, likeliest


def test_the_true_model_is_found_and_seldom_refused() -> None:
    refused, likeliest = _alarms(recorded, 60)
    assert likeliest == 60
    assert refused <= 4  # 0.6 are expected at 1 %, more than 4 have chance 4e-4


def test_hidden_friction_refuses_the_true_model_too() -> None:
    """The control of the test above."""
    refused, _ = _alarms(lambda seed: recorded(seed, friction=0.1), 20)
    assert refused >= 18


def test_other_masses_are_refused() -> None:
    fits = judged(recorded(3)).fits
    assert [each.p_value > 0.01 for each in fits] == [False, True, False]


def test_coordinates_of_the_grid_will_do_as_well() -> None:
    log = recorded(2, steps=50)
    state_of = CONTROLS["Pendulum-v1"].state_of
    plain = replace(
        log,
        observation=state_of(log.observation),
        next_observation=state_of(log.next_observation),
    )
    found, again = judged(log), judged(plain)
    assert again.log_likelihood == pytest.approx(found.log_likelihood)


def test_actions_of_a_car_are_numbers_of_actions() -> None:
    table = classic_control("MountainCar-v0", grid={"gravity": (0.002, 0.003)}, cells=9)
    random = np.random.default_rng(4)
    acts = random.integers(0, 3, 80).astype(np.float64)
    states = [np.array([-0.5, 0.0])]
    for act in acts:
        moved = table.physics.moved(table.thetas[1], states[-1][None], np.array([act]))
        states.append(moved.state[0])
    seen = np.array(states) + random.normal(size=(81, 2)) * [1e-3, 1e-4]
    log = RealLog(np.zeros(80, np.int64), seen[:-1], acts[:, None], seen[1:])
    weights = judged_models(table, log).weights(np.array([0.5, 0.5]))
    assert weights.mean(axis=2).sum(axis=1)[1] > 0.9
    with pytest.raises(InvalidArgument) as told:
        judged_models(table, replace(log, action=log.action + 0.5))
    assert told.value.code == "log-action"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"observation": np.zeros((50, 5)), "next_observation": np.zeros((50, 5))},
         "log-width"),
        ({"action": np.zeros((50, 2))}, "log-width"),
        ({"observation": np.ones((50, 3)), "next_observation": np.ones((50, 3))},
         "log-still"),
    ],
)  # fmt: skip
def test_logs_that_do_not_fit_are_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(InvalidArgument) as told:
        judged(replace(recorded(1, steps=50), **change))  # type: ignore[arg-type]
    assert told.value.code == code
