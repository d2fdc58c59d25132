"""How a gap is found: exactly, or by sampling; an evaluator is its settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.errors import InvalidArgument

MOST_EPISODES = 10**8


@final
@dataclass(frozen=True, slots=True)
class Exact:
    """Follow every history, those that the agent cannot tell apart as one."""

    max_nodes: int = 300_000  # things to remember, over all steps

    def __post_init__(self) -> None:
        _check("max_nodes", self.max_nodes, 1, 10**9)


@final
@dataclass(frozen=True, slots=True)
class MonteCarlo:
    """Sample episodes: a fixed number, or until an interval is narrow enough."""

    episodes: int = 2_000  # in every model; with `half_width`, the first batch
    seed: int = 0
    confidence: float = 0.95
    half_width: float | None = None  # absolute, of the interval
    most_episodes: int = 1_000_000  # where the search for a half-width gives up
    threads: int = 1

    def __post_init__(self) -> None:
        _check("episodes", self.episodes, 2, MOST_EPISODES)
        _check("most_episodes", self.most_episodes, self.episodes, MOST_EPISODES)
        _check("seed", self.seed, 0, 2**63 - 1)
        _check("threads", self.threads, 1, 4096)
        if not 0.0 < self.confidence < 1.0:
            raise InvalidArgument(
                f"a confidence of {self.confidence!r}", hint="it is between 0 and 1"
            )
        if self.half_width is not None and not self.half_width > 0.0:
            raise InvalidArgument(
                f"a half-width of {self.half_width!r}",
                hint="give a positive number of reward units, or None",
            )


def _check(name: str, number: int, low: int, high: int) -> None:
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or not low <= number <= high:
        raise InvalidArgument(
            f"{name} is {number!r}", hint=f"a whole number from {low} to {high}"
        )
