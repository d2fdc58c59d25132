"""The judge of the benchmark of training."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.train_peers import ATTRIBUTES, RANGES, effects, moved, returns

LOW, HIGH = np.array(list(RANGES.values())).T


def test_the_judge_moves_pendulums_as_gymnasium_does() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    random = np.random.default_rng(3)
    for theta in random.uniform(LOW, HIGH, (5, 3)):
        env = gymnasium.make("Pendulum-v1").unwrapped
        for name, value in zip(ATTRIBUTES, theta, strict=True):
            setattr(env, name, value)
        env.reset(seed=0)
        angle, speed = env.state[:1], env.state[1:]
        for torque in random.uniform(-3.0, 3.0, (50, 1)):
            _, wanted, *_ = env.step(torque)
            angle, speed, reward = moved(angle, speed, torque, theta[None])
            assert reward == pytest.approx([wanted], abs=1e-9)
        assert np.array([angle[0], speed[0]]) == pytest.approx(env.state, abs=1e-9)


def test_the_judge_meets_every_policy_with_the_same_starts() -> None:
    starts = []

    def act(seen: Any, step: int) -> Any:
        if step == 0:
            starts.append(seen)
        return np.zeros((len(seen), 1))

    assert (returns(act) == returns(act)).all()
    assert (starts[0] == starts[1]).all()
    assert len(starts[0]) == 1000
    assert len(np.unique(starts[0], axis=0)) == 1000


def test_effects_are_those_of_parameters_from_minus_one_to_one() -> None:
    theta = np.random.default_rng(0).uniform(LOW, HIGH, (400, 3))
    scaled = (2.0 * theta - LOW - HIGH) / (HIGH - LOW)
    noise = np.random.default_rng(1).normal(size=400)
    found = effects(theta, -1000.0 + scaled @ (0.0, 30.0, -20.0) + 3.0 * noise)
    apart = np.abs(np.array(found["effects"]) - (-1000.0, 0.0, 30.0, -20.0))
    assert (apart < 5.0 * np.array(found["errors"])).all()
    assert found["errors"][0] == pytest.approx(3.0 / np.sqrt(400), rel=0.1)


@pytest.mark.slow
def test_the_benchmark_runs_without_its_peers() -> None:
    pytest.importorskip("mujoco")
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.train", "--quick"],
        cwd=Path(__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split(" | ") for line in ran.stdout.splitlines() if " | " in line]
    trainers = {tuple(row[:2]) for row in rows}
    assert trainers > {("| simgap", "gru"), ("| simgap", "none"), ("| puck", "none")}
