"""How a policy is trained: the numbers of proximal policy optimisation (PPO).

What is collected for an update is `rows` rows of `horizon` steps. A row begins with an
episode; where one ends early the next one follows in the same row. So whole episodes
are learnt from, a row is never continued, and an update depends on nothing but the
weights and its number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt
from typing import Any, final

from simgap.continuous.training.memory import Memory
from simgap.errors import InvalidArgument

BATCH = 6400  # steps of an update, or more
LEAST_ROWS, MOST_ROWS = 16, 256
SHORT, SHORT_ROWS = 256, 64  # shorter episodes: so many rows at least
RATE = 2e-3


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The numbers of a training; those of a preset fit most simulators."""

    memory: Memory
    horizon: int  # steps of an episode
    rows: int  # collected for each update
    discount: float  # of what is learnt; returns are always told without it
    trace: float = 0.95  # lambda of generalised advantages
    epochs: int = 4
    minibatches: int = 4
    clip: float = 0.2
    rate: float = RATE  # learning rate at the start
    last_rate: float = 0.1  # of it, at the end
    gradient: float = 0.5  # longest gradient
    value_weight: float = 0.5
    entropy: float = 0.0  # bonus
    spread: float = -0.5  # logarithm of the first standard deviation of actions
    units: int = 64  # of each layer and of the memory
    informed: bool = False  # the policy is told the parameters
    masked: bool = False  # of an informed one: some are hidden in each episode

    def __post_init__(self) -> None:
        if self.rows % self.minibatches:
            raise InvalidArgument(
                f"{self.rows} rows in {self.minibatches} minibatches",
                hint="the number of rows is a multiple of the minibatches",
            )

    @property
    def batch(self) -> int:
        """Return the steps of one update."""
        return self.rows * self.horizon

    def updates(self, steps: int) -> int:
        """Return the updates that so many steps of the simulator pay for, at least 1.

        The first collection only measures what numbers look like; it counts too.
        """
        return max(1, steps // self.batch - 1)


def preset(memory: Memory, horizon: int, **changes: Any) -> Settings:
    """Return settings for episodes of a length; `changes` are other fields."""
    least = SHORT_ROWS if horizon <= SHORT else LEAST_ROWS
    rows = 2 ** round(log2(max(1.0, BATCH / horizon)))
    rows = min(max(rows, least), MOST_ROWS)
    found: dict[str, Any] = {
        "rows": rows,
        "discount": 1.0 - 1.0 / min(max(horizon / 4.0, 25.0), 100.0),
        "rate": RATE * min(1.0, sqrt(rows / SHORT_ROWS)),  # fewer rows: more noise
    }
    return Settings(memory=memory, horizon=horizon, **{**found, **changes})
