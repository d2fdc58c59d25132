"""What others do with a simulator and a policy: a plain loop, and Stable-Baselines3.

`benchmarks.transfer` starts this module in its own interpreter for the plain loop over
`gymnasium.make`, and in one that has Stable-Baselines3 (and need not have simgap).

The plain loop asks the ONNX file through onnxruntime, one observation at a time. For
`evaluate_policy` the same weights are a PyTorch module, as its own policies are; it
gets all values of the parameter at once, stepped in turn on one core and by a process
each on two (`DummyVecEnv`, `SubprocVecEnv`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.results import Asked, answer

Weights = Mapping[str, Any]
AT_ONCE = 4  # episodes at each value, before the clock is looked at


def played(asked: Asked) -> Iterator[Asked]:
    """Return how fast a program plays, a task and policy at a time."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: asked["cores"]])
    sys.path += asked["places"]  # last: nothing that is here is hidden
    play = _plain_loop if asked["program"] == "plain loop" else _evaluate_policy
    for case in asked["cases"]:
        who = {key: case[key] for key in ("task", "policy")}
        yield {**play({**asked, **case}), **who, "program": asked["program"]}


def rate(batches: Iterator[list[tuple[float, int]]], seconds: float) -> Asked:
    """Return how many episodes there are in a second, from (return, steps) of each.

    The first batch is not counted: first calls are slower.
    """
    next(batches)
    returns: list[float] = []
    steps = 0
    begin, cpu = time.perf_counter(), time.process_time()
    for batch in batches:
        returns += [each for each, _ in batch]
        steps += sum(length for _, length in batch)
        if time.perf_counter() - begin >= seconds:
            break
    return figures(
        returns,
        steps,
        clock=time.perf_counter() - begin,
        cpu=time.process_time() - cpu,
    )


def figures(
    returns: Any, steps: int, *, clock: float, cpu: float, **more: Any
) -> Asked:
    """Return one measurement as what is printed of it."""
    count = len(returns)
    return {
        "steps": steps / count,
        "clock": count / clock,
        "cpu": count / cpu,
        "mean": float(np.mean(returns)),
        "error": float(np.std(returns) / np.sqrt(count)),
        **more,
    }


def make(case: Asked, theta: float) -> Any:
    """Return Gymnasium's environment with one parameter set, cut at the horizon."""
    for name in ("glfw", "imageio"):  # for pictures, which nobody needs here
        sys.modules.setdefault(name, ModuleType(name))
    import gymnasium

    env = gymnasium.make(case["gym_id"], max_episode_steps=case["horizon"])
    inside: Any = env.unwrapped
    if case["task"] == "CartPole":
        inside.length = theta
        inside.polemass_length = inside.masspole * theta
    elif case["task"] == "Pendulum":
        inside.m = theta
    else:
        inside.model.opt.gravity[2] = theta
    return env


def _plain_loop(case: Asked) -> Asked:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        case["onnx"], options, providers=["CPUExecutionProvider"]
    )
    states = [(each.name, each.shape[2]) for each in session.get_inputs()[1:]]
    discrete = case["task"] == "CartPole"

    def episode(env: Any, seed: int) -> tuple[float, int]:
        observation, _ = env.reset(seed=seed)
        memory = {name: np.zeros((1, 1, n), np.float32) for name, n in states}
        total, steps, over = 0.0, 0, False
        while not over:
            shown = np.asarray(observation, np.float32)[None]
            raw, *after = session.run(None, {"obs": shown, **memory})
            memory = dict(zip(memory, after, strict=True))
            action = int(np.argmax(raw[0])) if discrete else raw[0]
            observation, reward, ended, late, _ = env.step(action)
            total, steps, over = total + float(reward), steps + 1, ended or late
        return total, steps

    def batches() -> Iterator[list[tuple[float, int]]]:
        first = 0
        while True:  # AT_ONCE episodes at each value, in turn
            for theta in case["theta"]:
                env = make(case, theta)
                seeds = range(first, first + AT_ONCE)
                yield [episode(env, seed) for seed in seeds]
                env.close()
                first += AT_ONCE  # no episode is met twice: errors are of all of them

    return rate(batches(), case["seconds"])


def _evaluate_policy(case: Asked) -> Asked:
    import torch
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv

    torch.set_num_threads(1)
    with np.load(case["weights"]) as weights:
        model: Any = _Twin(dict(weights), case)

    def maker(theta: float) -> Callable[[], Any]:
        return lambda: Monitor(make(case, theta))

    def batches() -> Iterator[list[tuple[float, int]]]:
        every = [maker(each) for each in case["theta"]]
        envs = (DummyVecEnv if case["cores"] == 1 else SubprocVecEnv)(every)
        count = AT_ONCE * len(every)
        while True:
            told: Any = evaluate_policy(
                model, envs, n_eval_episodes=count, return_episode_rewards=True
            )
            yield list(zip(*told, strict=True))

    return rate(batches(), case["seconds"])


class _Twin:
    """The weights of an ONNX file as PyTorch's, with SB3's `predict`."""

    def __init__(self, weights: Weights, case: Asked) -> None:
        import torch

        self._torch, self._case = torch, case
        given = {name: torch.as_tensor(each) for name, each in weights.items()}
        self._lstm: Any = None
        layers: list[Any] = []
        if "input_weight" in given:
            wide, inputs = given["input_weight"].shape
            self._lstm = torch.nn.LSTM(inputs, wide // 4)
            for ours, theirs in (("weight", "weight"), ("bias", "bias")):
                self._set(self._lstm, f"{theirs}_ih_l0", given[f"input_{ours}"])
                self._set(self._lstm, f"{theirs}_hh_l0", given[f"hidden_{ours}"])
        else:
            for at in ("1", "2"):
                layers += [self._dense(given, at), torch.nn.Tanh()]
        self._net = torch.nn.Sequential(*layers, self._dense(given, "head"))

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, **_: Any
    ) -> tuple[Any, Any]:
        """Return an action for each environment, and the state after it."""
        torch = self._torch
        with torch.no_grad():
            at = torch.as_tensor(np.asarray(observation, np.float32))
            if self._lstm is not None:
                if state is not None:
                    kept = torch.as_tensor(~episode_start).float()[None, :, None]
                    state = tuple(each * kept for each in state)
                at, state = self._lstm(at[None], state)
                at = at[0]
            raw = self._net(at).numpy()
        if self._case["task"] == "CartPole":
            return raw.argmax(axis=1), state
        return np.clip(raw, *self._case["ends"]), state

    def _dense(self, given: Weights, name: str) -> Any:
        weight = given[f"weight_{name}"]
        layer = self._torch.nn.Linear(weight.shape[1], weight.shape[0])
        self._set(layer, "weight", weight)
        self._set(layer, "bias", given[f"bias_{name}"])
        return layer

    def _set(self, layer: Any, name: str, values: Any) -> None:
        getattr(layer, name).data = values.float()


if __name__ == "__main__":
    sys.exit(answer(played))
