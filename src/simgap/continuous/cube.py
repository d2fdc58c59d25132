"""Returns that were measured: policy x training seed x parameters x episode.

Everything that is said about a transfer is computed from this. It comes from episodes
that were run here, or from a table that somebody brings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, read_only
from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """An episode that broke: an action that is not a number, a crashed simulator."""

    policy: str
    training_seed: int  # place on the axis of training seeds
    point: int  # place on the axis of theta
    episode: int
    step: int
    code: str  # "action-not-finite", "simulator-failed", "reward-not-finite", ...
    text: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cube:
    """Returns over policies, training seeds, parameters and episodes.

    Entries that were not run, and episodes that broke, are NaN. Episode k at a point
    has the same seed for every policy, unless `paired` is False.
    """

    policies: tuple[str, ...]  # (N,)
    parameters: tuple[str, ...]  # (P,)
    theta: FloatArray  # (T, P), as drawn: a factor stays a factor
    inside: BoolArray  # (T,), False: beyond the range, for extrapolation
    returns: FloatArray  # (N, S, T, K)
    success: FloatArray | None = None  # (N, S, T, K): 1, 0 or NaN
    references: tuple[str, ...] = ()  # names among the policies
    bounds: tuple[float, float] | None = None  # of one return
    failures: tuple[Failure, ...] = ()
    paired: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "inside", read_only(self.inside, np.bool_))
        for name in ("theta", "returns", "success"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(value))
        points = (len(self.policies), self.theta.shape[0])
        if (
            self.returns.ndim != 4
            or (self.returns.shape[0], self.returns.shape[2]) != points
            or self.theta.shape[1:] != (len(self.parameters),)
            or self.inside.shape != points[1:]
            or (self.success is not None and self.success.shape != self.returns.shape)
        ):
            raise InvalidArgument(
                f"returns of shape {self.returns.shape} for {points[0]} policies and "
                f"theta of shape {self.theta.shape} with {len(self.parameters)} names",
                hint="returns are (policies, training seeds, points, episodes)",
            )
        if missing := set(self.references) - set(self.policies):
            raise InvalidArgument(
                f"there is no policy {sorted(missing)[0]!r} to refer to",
                hint="a reference is one of the policies",
            )

    def of(self, policy: str) -> FloatArray:
        """Return the returns of one policy, (S, T, K)."""
        found: FloatArray = self.returns[self.policies.index(policy)]
        return found

    @property
    def episodes(self) -> int:
        """Return how many episodes were measured in all."""
        return int(np.isfinite(self.returns).sum())
