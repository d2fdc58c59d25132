"""One episode per world: what is added up, and what an episode that breaks costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import Batch, Box, Stepped
from simgap.continuous.measuring.episodes import Episodes, run_episodes
from simgap.continuous.measuring.jobs import episode_seeds

SPACE = Box(np.array([-1.0]), np.array([1.0]))
B = 4


class Counting:
    """World i pays its action, and ends after i + 1 steps; the third may break."""

    def __init__(self, fault: str = "") -> None:
        self.fault, self.step_number = fault, 0
        self.stepped: list[BoolArray] = []

    def reset(self, seeds: OffsetArray) -> FloatArray:
        if self.fault == "reset":
            raise RuntimeError("no start")
        self.step_number = 0
        return np.zeros((B, 1))

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        self.stepped.append(alive.copy())
        seen, reward = np.full((B, 1), float(self.step_number)), actions[:, 0].copy()
        if self.fault == "reward":
            reward[2] = np.nan
        if self.fault == "observation":
            seen[2] = np.inf
        broken = {2: "it fell apart"} if self.fault == "step" else {}
        ended = np.arange(B) <= self.step_number
        self.step_number += 1
        return Stepped(seen, reward, ended, ended & (np.arange(B) > 1), broken)

    def close(self) -> None: ...


class Constant:
    name = "constant"

    def __init__(self, action: float = 0.5, wrong: float | None = None) -> None:
        self.action, self.wrong = action, wrong

    def reset(self, batch: Batch) -> int:
        return 0

    def act(self, observations: FloatArray, memory: int) -> tuple[FloatArray, Any]:
        actions = np.full((len(observations), 1), self.action)
        if self.wrong is not None and memory == 1:
            actions[2] = self.wrong
        return actions, memory + 1


def run(worlds: Counting, policy: Constant, horizon: int = 10) -> Episodes:
    return run_episodes(worlds, policy, SPACE, horizon, Batch(np.arange(B)))


def test_rewards_are_added_until_an_episode_ends() -> None:
    found = run(Counting(), Constant())
    assert found.returns.tolist() == [0.5, 1.0, 1.5, 2.0]
    assert found.steps.tolist() == [1, 2, 3, 4]
    assert found.success is not None
    assert found.success.tolist() == [0.0, 0.0, 1.0, 1.0]
    assert found.broken == ()


def test_the_horizon_ends_what_does_not_end_by_itself() -> None:
    assert run(Counting(), Constant(), 2).steps.tolist() == [1, 2, 2, 2]


def test_a_world_whose_episode_is_over_is_not_alive_any_more() -> None:
    worlds = Counting()
    run(worlds, Constant())
    assert [each.sum() for each in worlds.stepped] == [4, 3, 2, 1]


@pytest.mark.parametrize(
    ("fault", "wrong", "code", "step"),
    [
        ("step", None, "simulator-failed", 0),
        ("reward", None, "reward-not-finite", 0),
        ("observation", None, "observation-not-finite", 0),
        ("", np.nan, "action-not-finite", 1),
    ],
)
def test_what_breaks_costs_its_own_episode_only(
    fault: str, wrong: float | None, code: str, step: int
) -> None:
    found = run(Counting(fault), Constant(wrong=wrong))
    assert [(each.row, each.step, each.code) for each in found.broken] == [
        (2, step, code)
    ]
    assert np.isnan(found.returns[2])
    assert found.returns[[0, 1, 3]].tolist() == [0.5, 1.0, 2.0]
    assert found.success is None or found.success[2] == 0.0


def test_a_simulator_that_cannot_start_breaks_every_episode_of_its_batch() -> None:
    found = run(Counting("reset"), Constant())
    assert {each.code for each in found.broken} == {"simulator-failed"}
    assert np.isnan(found.returns).all()


def test_actions_beyond_their_ends_are_clipped_and_counted() -> None:
    found = run(Counting(), Constant(3.0))
    assert found.clipped == 1.0
    assert found.returns.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert run(Counting(), Constant()).clipped == 0.0


def test_seeds_are_a_function_of_seed_point_and_episode() -> None:
    whole = episode_seeds(3, np.arange(50), np.arange(40))
    part = episode_seeds(3, np.arange(10, 20), np.arange(5, 9))
    assert np.array_equal(whole[10:20, 5:9], part)
    assert np.unique(whole).size == whole.size
    assert not np.intersect1d(
        whole, episode_seeds(4, np.arange(50), np.arange(40))
    ).size
    assert whole.min() >= 0 and whole.max() < 2**32
    bits = (whole.ravel()[:, None] >> np.arange(32)) & 1
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 6.0 * 0.5 / np.sqrt(whole.size)
