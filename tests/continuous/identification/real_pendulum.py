"""Logs of a real pendulum: noisy observations, commands that may arrive late."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous import RealLog
from tests.continuous.toy import ToyPendulum, shown

TRUTH = {"mass": 0.9, "length": 1.1}
RANGES = "mass=0.5..1.5 length=0.5..1.5"


def drawn_truth(seed: int) -> dict[str, float]:
    """Return parameters inside the ranges."""
    mass, length = np.random.default_rng([7, seed]).uniform(0.6, 1.4, 2)
    return {"mass": float(mass), "length": float(length)}


def recorded(
    seed: int,
    *,
    truth: Mapping[str, float] | None = None,
    steps: int = 200,
    episodes: int = 1,
    noise: tuple[float, float] = (0.01, 0.05),
    friction: float = 0.0,
    delay: int = 0,
    feedback: bool = False,
) -> RealLog:
    """Return a log: commands are held for five steps, or follow what is measured.

    `noise` are deviations of the measured angle and speed.
    """
    random = np.random.default_rng([11, seed])
    values = {name: np.full(episodes, x) for name, x in (truth or TRUTH).items()}
    worlds = ToyPendulum(friction).instantiate(values)
    worlds.reset(random.integers(0, 2**31, episodes))

    def measured() -> FloatArray:
        return shown(worlds.state + random.normal(size=(episodes, 2)) * noise)

    seen = [measured()]
    told: list[FloatArray] = []
    for step in range(steps):
        if feedback:
            cos, _, speed = seen[-1].T
            torque = speed * (1.0 - cos) + 0.3 * random.normal(size=episodes)
            told.append(np.clip(torque, -2.0, 2.0)[:, None])
        elif step % 5 == 0:
            told.append(random.uniform(-2.0, 2.0, (episodes, 1)))
        else:
            told.append(told[-1])
        arrives = told[step - delay] if step >= delay else np.zeros((episodes, 1))
        worlds.step(arrives, np.ones(episodes, np.bool_))
        seen.append(measured())
    every, acts = np.stack(seen, axis=1), np.stack(told, axis=1)
    return RealLog(
        np.repeat(np.arange(episodes), steps),
        every[:, :-1].reshape(-1, 3),
        acts.reshape(-1, 1),
        every[:, 1:].reshape(-1, 3),
    )


def written(log: RealLog, path: Path) -> Path:
    """Write a log as CSV with consecutive rows; the last of an episode has no action.

    The reader does not use the action of the last row.
    """
    lines = ["episode,time,obs_0,obs_1,obs_2,act_0"]
    for episode in np.unique(log.episode):
        rows = np.flatnonzero(log.episode == episode)
        seen = [*log.observation[rows], log.next_observation[rows[-1]]]
        acts = [*log.action[rows, 0], 0.0]
        for step, (obs, act) in enumerate(zip(seen, acts, strict=True)):
            numbers = ",".join(repr(float(x)) for x in (*obs, act))
            lines.append(f"{episode},{0.05 * step:.2f},{numbers}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
