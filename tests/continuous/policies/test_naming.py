"""Texts and objects that become policies, and what they play."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous import Batch, BroughtPolicy, open_policy, read_policy_text
from simgap.errors import SimgapError
from tests.continuous.policies.cases import choosing, linear, tabular

SEEDS = np.array([5, 0, 7, 1, 2**31, 9])


def played(policy: BroughtPolicy, steps: int = 4, seeds: Any = SEEDS) -> Any:
    """Return the actions at zeros, (steps, B, ...)."""
    memory = policy.reset(Batch(seeds, {"gain": np.arange(len(seeds)) / 10.0}))
    actions = []
    for _ in range(steps):
        given, memory = policy.act(np.zeros((len(seeds), 3)), memory)
        actions.append(given)
    return np.array(actions)


@pytest.mark.parametrize(
    ("text", "name", "rest"),
    [
        ("random", "random", "random"),
        ("mine=random", "mine", "random"),
        (" mine = runs/a.onnx", "mine", "runs/a.onnx"),
        ("runs/lr=0.1/a.onnx", "runs/lr=0.1/a.onnx", "runs/lr=0.1/a.onnx"),
        ("ppo 2=file.py:f", "ppo 2", "file.py:f"),
    ],
)
def test_a_name_may_stand_before_a_policy(text: str, name: str, rest: str) -> None:
    assert read_policy_text(text) == (name, rest)


def test_random_actions_depend_on_seed_and_step_alone() -> None:
    policy = open_policy("random", linear(size=3))
    whole = played(policy)
    for row, seed in enumerate(SEEDS.tolist()):
        alone = played(policy, seeds=np.array([seed]))
        assert np.array_equal(alone[:, 0], whole[:, row])
    assert len(set(whole.ravel().tolist())) == whole.size  # nothing is drawn twice
    assert whole.min() >= -1.0
    assert whole.max() <= 1.0


def test_random_choices_are_equally_likely() -> None:
    policy = open_policy("random", choosing(choices=3))
    drawn = played(policy, 100, np.arange(300))
    off = np.abs(np.bincount(drawn.astype(int).ravel()) / drawn.size - 1.0 / 3.0)
    bound = np.sqrt(np.log(2.0 / 1e-6) / (2.0 * drawn.size))  # Hoeffding
    assert off.max() < bound
    assert (np.abs(drawn.mean(axis=1) - drawn.mean()) > 0.0).any()


def test_random_needs_ends() -> None:
    with pytest.raises(SimgapError) as caught:
        open_policy("random", linear(end=np.inf))
    assert caught.value.code == "no-ends"


def test_a_function_remembers_each_world(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "def counts(observation, memory):\n"
        "    memory = (memory or 0) + 1\n"
        "    return [memory / 10, observation[0]], memory\n"
        "def informed(observation, memory, theta):\n"
        "    return [theta['gain'], 0.0], None\n"
        "def many(observations, memory):\n"
        "    memory = 1 if memory is None else memory + 1\n"
        "    return observations[:, :2] + memory / 10, memory\n"
        "many.batched = True\n"
        "class Object:\n"
        "    def reset(self, batch):\n"
        "        return batch.seeds * 0.0\n"
        "    def act(self, observations, memory):\n"
        "        return observations[:, :2] + memory[:, None], memory + 0.1\n"
    )
    steps = np.arange(1, 5) / 10
    found = played(open_policy(f"{tmp_path}/mine.py:counts", linear()))
    assert np.allclose(found[:, :, 0], steps[:, None])
    told = played(open_policy(f"{tmp_path}/mine.py:informed", linear()))
    assert np.allclose(told[0, :, 0], np.arange(len(SEEDS)) / 10)
    batched = played(open_policy(f"{tmp_path}/mine.py:many", linear()))
    assert np.allclose(batched[:, 2, 1], steps)
    policy = open_policy(f"b={tmp_path}/mine.py:Object", linear())
    assert policy.name == "b"
    assert np.allclose(played(policy)[:, 0, 0], steps - 0.1)


def test_a_function_of_a_table_sees_the_state() -> None:
    def act(observation: int, memory: object) -> tuple[int, object]:
        assert isinstance(observation, int)
        return observation % 2, memory

    policy = open_policy(act, tabular())
    actions, _ = policy.act(np.array([[0.0], [3.0]]), policy.reset(Batch(np.arange(2))))
    assert actions.tolist() == [0.0, 1.0]


def test_a_function_that_fails_in_one_world_costs_that_world() -> None:
    def act(observation: Any, memory: Any) -> Any:
        if observation[0] > 5:
            raise ValueError("too far")
        return observation[:2], None

    policy = open_policy(act, linear())
    seen = np.array([[0.0, 1, 2], [9, 9, 9], [3, 4, 5]])
    memory = policy.reset(Batch(np.arange(3)))
    actions, memory = policy.act(seen, memory)
    assert np.isnan(actions[1]).all()
    assert np.array_equal(actions[[0, 2]], seen[[0, 2], :2])
    assert list(memory.failed) == [1]
    assert "ValueError: too far" in memory.failed[1]
    again, memory = policy.act(np.zeros((3, 3)), memory)
    assert np.isnan(again).any(axis=1).tolist() == [False, True, False]


class Recurrent:
    """`predict` as sb3-contrib has it: (layers, envs, hidden) states, starts."""

    def __init__(self) -> None:
        self.starts: list[list[bool]] = []

    def predict(
        self,
        observation: Any,
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = False,
    ) -> Any:
        assert deterministic
        assert observation.dtype == np.float32
        self.starts.append(episode_start.tolist())
        if state is None:
            state = (np.zeros((1, len(observation), 1)),)
        state = (state[0] + 1.0,)
        return observation[:, :2] + state[0][0] / 10, state


def test_an_object_with_predict_keeps_its_state() -> None:
    model = Recurrent()
    policy = open_policy(model, linear())
    model.starts.clear()
    assert np.allclose(played(policy)[:, 1, 0], np.arange(1, 5) / 10)
    assert model.starts == [[True] * 6] + [[False] * 6] * 3
