"""The randomized pendulum for every trainer, and those of Stable-Baselines3 on it.

`benchmarks.train` starts this module in an interpreter that has Stable-Baselines3 and
sb3-contrib (and need not have simgap), once for each row of its table.

All trainers are judged alike: the policy without its noise, on a grid of the
parameters, by the equations of `Pendulum-v1` for many worlds at once. What that costs
is not counted as training but told.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from math import log, pi
from typing import Any

import numpy as np

from benchmarks.results import Asked, answer

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Act = Callable[[Any, int], Any]  # observations (B, 3), number of the step -> torques

RANGES = {"mass": (0.5, 1.5), "length": (0.6, 1.4), "g": (7.0, 13.0)}
ATTRIBUTES = ("m", "l", "g")  # of Gymnasium's class
HORIZON = 200
WANTED = -300.0  # mean return over the grid
EVERY = 1.0  # CPU seconds of training between two evaluations, or more
ROWS = 64  # environments side by side, where the batch is equal
POINTS, EPISODES = 5, 8  # of the grid: along each parameter, and at each point
ENDLESS = 10**9  # steps: a watch ends a training
UNTRAINED = 24 * ROWS  # episodes before training, for the check of equal work


class Watch:
    """CPU seconds since the process started, without those of evaluations.

    It is told of every update, looks at the policy now and then, and says when training
    is over: the wanted return is reached, or the seconds are spent.
    """

    def __init__(self, asked: Asked, act: Act | None) -> None:
        self._asked, self._act = asked, act
        self._marks: list[tuple[int, float]] = []
        self._looked = self._judging = 0.0
        self._mean: float | None = None
        self._reached: tuple[int, float] | None = None

    def spent(self) -> float:
        """Return the CPU seconds that count."""
        return time.process_time() - self._judging

    def over(self, steps: int) -> bool:
        """Note an update after so many steps of the environment."""
        now = self.spent()
        self._marks.append((steps, now))
        late = now >= self._asked["seconds"] and len(self._marks) >= 3
        due = late or now - self._looked >= EVERY
        if self._act is not None and due:
            begin = time.process_time()
            self._mean = float(returns(self._act).mean())
            self._judging += time.process_time() - begin
            self._looked = now
            if self._mean >= WANTED:
                self._reached = (steps, now)
        return late or self._reached is not None

    def figures(self) -> Asked:
        """Return what was measured; the rate is that of all updates after the first."""
        (first, begin), (last, end) = self._marks[0], self._marks[-1]
        return {
            "steps": last,
            "updates": len(self._marks),
            "rate": (last - first) / (end - begin),
            "first": begin,
            "reached": self._reached,
            "seconds": end,
            "judging": self._judging,
            "mean": self._mean,
        }


def returns(act: Act) -> Numbers:
    """Return the returns of a policy at all points of the grid, the same starts always.

    A world is one episode: (points * EPISODES,).
    """
    ends = [np.linspace(*each, POINTS) for each in RANGES.values()]
    theta = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))
    theta = np.repeat(theta, EPISODES, axis=0)
    rng = np.random.default_rng(1)
    angle, speed = rng.uniform((-pi, -1.0), (pi, 1.0), (len(theta), 2)).T
    total = np.zeros(len(theta))
    for step in range(HORIZON):
        seen = np.stack([np.cos(angle), np.sin(angle), speed], axis=1)
        torque = np.asarray(act(seen.astype(np.float32), step), np.float64)[:, 0]
        angle, speed, reward = moved(angle, speed, torque, theta)
        total += reward
    return total


def moved(
    angle: Numbers, speed: Numbers, torque: Numbers, theta: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Return angles, speeds and rewards after a step of `Pendulum-v1`."""
    mass, length, g = theta.T
    torque = np.clip(torque, -2.0, 2.0)
    wrapped = (angle + pi) % (2.0 * pi) - pi
    reward = -(wrapped**2 + 0.1 * speed**2 + 0.001 * torque**2)
    push = 1.5 * g / length * np.sin(angle) + 3.0 / (mass * length**2) * torque
    speed = np.clip(speed + 0.05 * push, -8.0, 8.0)
    return angle + 0.05 * speed, speed, reward


def effects(theta: Numbers, returned: Numbers) -> Asked:
    """Return the mean return and what each parameter does to it, with standard errors.

    Least squares on parameters from -1 to 1: the first number belongs to the middle.
    """
    low, high = np.array(list(RANGES.values())).T
    scaled = (2.0 * theta - low - high) / (high - low)
    given = np.column_stack([np.ones(len(theta)), scaled])
    found, _, _, _ = np.linalg.lstsq(given, returned, rcond=None)
    left = returned - given @ found
    inverse = np.linalg.inv(given.T @ given)
    errors = np.sqrt(np.diag(inverse) * (left @ left) / (len(theta) - given.shape[1]))
    return {"effects": found.tolist(), "errors": errors.tolist()}


def trained(asked: Asked) -> Iterator[Asked]:
    """Train by Stable-Baselines3 and say how it went."""
    import torch
    from stable_baselines3.common.callbacks import BaseCallback

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    torch.set_num_threads(1)
    model = _model(asked)
    watch = Watch(asked, _deterministic(model))

    class Told(BaseCallback):  # type: ignore[misc]
        """Tells the watch of every update, which ends where a collection begins."""

        over = False

        def _on_rollout_start(self) -> None:
            if self.num_timesteps:
                self.over = watch.over(self.num_timesteps)

        def _on_step(self) -> bool:
            return not self.over

    model.learn(total_timesteps=ENDLESS, callback=Told())
    found = watch.figures()
    batch = model.n_steps * model.n_envs
    counted = sum(model.get_env().get_attr("steps")) - model.n_envs  # of the last call
    if not found["steps"] == found["updates"] * batch == counted:
        raise AssertionError(f"{counted} steps were made: {found}, batch {batch}")
    yield {**found, "batch": batch, **effects(*_untrained(asked))}


def _model(asked: Asked) -> Any:
    """Return a new learner; what is not said here is the library's own choice."""
    from sb3_contrib import RecurrentPPO
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    lstm = asked["memory"] == "lstm"
    policy = "MlpLstmPolicy" if lstm else "MlpPolicy"
    size, settings = _settings(asked, lstm=lstm)
    redrawn = _redrawn()
    seeds = np.random.SeedSequence(asked["seed"]).spawn(size)
    envs: Any = DummyVecEnv([lambda seed=each: redrawn(seed) for each in seeds])
    if asked["choice"] in ("equal", "lean"):
        envs = VecNormalize(envs, gamma=settings["gamma"])
    return (RecurrentPPO if lstm else PPO)(
        policy, envs, seed=asked["seed"], device="cpu", **settings
    )


def _settings(asked: Asked, *, lstm: bool) -> tuple[int, Asked]:
    """Return how many environments there are, and the settings of the learner."""
    if asked["choice"] == "defaults":
        return 1, {}
    if asked["choice"] == "tuned":  # RL Baselines3 Zoo, for pendulums that do not vary
        return 4, {
            "n_steps": 1024,
            "gamma": 0.9,
            "learning_rate": 1e-3,
            "use_sde": True,
            "sde_sample_freq": 4,
        }
    ours = asked["settings"]
    net: Asked = {"log_std_init": ours["spread"] + log(2.0)}  # torques are up to 2
    if lstm:
        net |= {
            "features_extractor_class": _encoder(ours["units"]),
            "lstm_hidden_size": ours["units"],
            "net_arch": {"pi": [ours["units"]], "vf": [ours["units"]] * 2},
        }
        if asked["choice"] == "lean":
            net |= {"shared_lstm": True, "enable_critic_lstm": False}
    else:
        net["net_arch"] = [ours["units"]] * 2

    def rate(left: float) -> float:
        over = min(1.0, (1.0 - left) * ENDLESS / asked["steps"])
        return float(ours["rate"] * (1.0 - (1.0 - ours["last_rate"]) * over))

    return ROWS, {
        "n_steps": HORIZON,
        "batch_size": ROWS * HORIZON // ours["minibatches"],
        "n_epochs": ours["epochs"],
        "gamma": ours["discount"],
        "gae_lambda": ours["trace"],
        "clip_range": ours["clip"],
        "max_grad_norm": ours["gradient"],
        "learning_rate": rate,
        "policy_kwargs": net,
    }


def _encoder(units: int) -> Any:
    """Return the layer that stands before the memory."""
    import torch
    from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

    class Encoder(BaseFeaturesExtractor):  # type: ignore[misc]
        """A layer with tanh."""

        def __init__(self, space: Any) -> None:
            super().__init__(space, units)
            self.layer = torch.nn.Linear(space.shape[0], units)

        def forward(self, seen: Any) -> Any:
            return torch.tanh(self.layer(seen))

    return Encoder


def _redrawn() -> Callable[[np.random.SeedSequence], Any]:
    """Return what makes an environment whose parameters are drawn for each episode."""
    import gymnasium

    low, high = np.array(list(RANGES.values())).T

    class Redrawn(gymnasium.Wrapper):  # type: ignore[misc]
        """Pendulum-v1; the last step tells the parameters and the return."""

        def __init__(self, seed: np.random.SeedSequence) -> None:
            super().__init__(gymnasium.make("Pendulum-v1", disable_env_checker=True))
            self._rng = np.random.default_rng(seed)
            self.steps = 0

        def reset(self, **given: Any) -> Any:
            self._theta = self._rng.uniform(low, high)
            for name, value in zip(ATTRIBUTES, self._theta.tolist(), strict=True):
                assert hasattr(self.unwrapped, name)
                setattr(self.unwrapped, name, value)
            self._returned = 0.0
            return self.env.reset(**given)

        def step(self, action: Any) -> Any:
            seen, reward, ended, late, told = self.env.step(action)
            self.steps += 1
            self._returned += reward
            if ended or late:
                told = {"met": (*self._theta.tolist(), float(self._returned))}
            return seen, reward, ended, late, told

    return Redrawn


def _deterministic(model: Any) -> Act:
    """Return the policy without noise, for any number of worlds."""
    from stable_baselines3.common.vec_env import VecNormalize

    envs, memory = model.get_env(), None

    def act(seen: Any, step: int) -> Any:
        nonlocal memory
        if step == 0:
            memory = None
        if isinstance(envs, VecNormalize):
            seen = envs.normalize_obs(seen)
        first = np.full(len(seen), step == 0)
        action, memory = model.predict(seen, memory, first, deterministic=True)
        return action

    return act


def _untrained(asked: Asked) -> tuple[Numbers, Numbers]:
    """Return parameters and returns of episodes of a policy that has learnt nothing."""
    model = _model(asked)
    envs: Any = model.get_env()
    seen, memory, first = envs.reset(), None, np.ones(envs.num_envs, np.bool_)
    met: list[tuple[float, ...]] = []
    while len(met) < UNTRAINED:
        action, memory = model.predict(seen, memory, first)
        seen, _, first, told = envs.step(action)
        met += [each["met"] for each in told if "met" in each]
    every = np.array(met)
    return every[:, :-1], every[:, -1]


if __name__ == "__main__":
    sys.exit(answer(trained))
