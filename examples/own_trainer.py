"""A trainer of one's own: random search over linear policies, graded by simgap.

Run it with `python examples/own_trainer.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import simgap
from simgap.answers.width.width_run import width_run

POLES = "length=0.3..1.5 masspole=0.05..0.8 force_mag=3..14"
EPISODES, TRIALS = 16, 40


def random_search(simulator: Any, sampler: Any, memory: str) -> Any:
    """Return the best of some linear policies; `memory` is "none" here."""
    random = np.random.default_rng(sampler.seed)
    best, most = np.zeros(4), -1.0
    for trial in range(TRIALS):
        weights = best + random.normal(size=4)
        got = mean_return(simulator, sampler, weights, first=trial * EPISODES)
        if got > most:
            best, most = weights, got

    def push(observations: Any, memory: Any) -> Any:
        return observations @ best > 0.0, None

    push.batched = True  # type: ignore[attr-defined] # it is asked for all worlds
    return push


def mean_return(simulator: Any, sampler: Any, weights: Any, first: int) -> float:
    """Return the mean return of EPISODES episodes, each with parameters of its own."""
    numbers = range(first, first + EPISODES)
    theta = sampler.draw(sampler.seed, numbers)
    worlds = simulator.instantiate(sampler.values(theta))
    seen = worlds.reset(sampler.seeds(sampler.seed, numbers))
    alive, total = np.ones(EPISODES, bool), 0.0
    for _ in range(sampler.horizon):
        after = worlds.step((seen @ weights > 0.0).astype(float), alive)
        total += after.reward[alive].sum()
        alive &= ~after.ended
        seen = after.observation
    return float(total) / EPISODES


if __name__ == "__main__":
    task: dict[str, Any] = {"randomize": POLES, "memory": "none", "horizon": 100}
    mine: dict[str, Any] = {"train_fn": random_search, "seeds": 2}
    over = simgap.train("cartpole", **task, **mine)
    single = simgap.train("cartpole", nominal=True, **task, **mine)
    few: dict[str, Any] = {"design": "sobol:16", "episodes": 8}
    for worth in simgap.transfer([over, single], **few).worths:
        print(worth.line)
    print(width_run("cartpole", **task, **mine, **few, widths=(0, 0.5, 1)))
