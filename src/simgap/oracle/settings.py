"""Solvers are their settings: frozen records that say how far to go.

`gap_tolerance` is the width of the bracket of the average gap as a part of its upper
end, `tolerance` as a part of the upper bound of the value; if both are given the
stricter holds. A width of `negligible` parts of the value, less what every policy gets,
is solved in any case (0: only if rounding could have made it). Planning stops there, or
at the first limit that is reached; the bracket reached is valid in every case.

An interrupt raises KeyboardInterrupt, so that nobody takes half a plan for a whole one.
Who wants the bracket reached instead asks for it: `bracket_if_interrupted`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class ExactOracle:
    """Every reachable belief, merged on sufficient counts; finite horizons only."""

    max_nodes: int = 5_000_000
    time_limit: float | None = None  # seconds, compilation apart
    max_memory: float | None = None  # bytes
    episodes: int = 5_000  # for the estimated gap
    seed: int = 0
    bracket_if_interrupted: bool = False


@final
@dataclass(frozen=True, slots=True)
class BoundedOracle:
    """Two-sided bounds that close with time: faces below, policy graphs above."""

    gap_tolerance: float | None = 0.05
    tolerance: float | None = None
    time_limit: float | None = 60.0  # seconds, compilation apart
    max_memory: float | None = None  # bytes
    negligible: float = 1e-6  # a width, as a part of the value, that is solved
    episodes: int = 5_000  # for the estimated gap
    seed: int = 0
    bracket_if_interrupted: bool = False


@final
@dataclass(frozen=True, slots=True)
class GridOracle:
    """Two or three models on a grid of beliefs, refined; for very long horizons."""

    gap_tolerance: float | None = 0.05
    tolerance: float | None = None
    time_limit: float | None = 60.0  # seconds, compilation apart
    max_memory: float | None = None  # bytes
    negligible: float = 1e-6  # a width, as a part of the value, that is solved
    episodes: int = 5_000  # for the estimated gap
    seed: int = 0
    bracket_if_interrupted: bool = False


@final
@dataclass(frozen=True, slots=True)
class AutoOracle:
    """Exact if that fits, a grid for two or three models, bounds otherwise."""

    gap_tolerance: float | None = 0.05
    tolerance: float | None = None
    time_limit: float | None = 60.0  # seconds, compilation apart
    max_memory: float | None = None  # bytes
    negligible: float = 1e-6  # a width, as a part of the value, that is solved
    episodes: int = 5_000  # for the estimated gap
    seed: int = 0
    bracket_if_interrupted: bool = False


AnytimeSolver = BoundedOracle | GridOracle | AutoOracle
Solver = ExactOracle | AnytimeSolver
