"""How the points were chosen: what the mean over them says about nu."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, read_only
from simgap.errors import InvalidArgument


class Drawn(Enum):
    """What the points are of nu."""

    INDEPENDENT = "independent draws of nu"
    SCRAMBLED = "scrambled Sobol sequences over nu, or who knows what"
    EVERY = "every point of nu, with its weight"
    CHOSEN = "chosen points, which are all that is spoken of"


@final
@dataclass(frozen=True, slots=True, eq=False)
class DrawnPoints:
    """The points of a cube: how they were drawn, what each weighs, where it lies in nu.

    Points beyond the range weigh something too: the weights of the points inside are
    scaled to 1, and so are those beyond. Replicates are independent of each other; each
    has the mean of nu on average. Without them each drawn point stands alone.
    """

    drawn: Drawn
    weights: FloatArray | None = None  # (T,), all equal if not given
    uniforms: FloatArray | None = None  # (T, P), theta = quantile(uniforms)
    shared: bool = False  # episodes may have the same noise at every point
    replicates: OffsetArray | None = None  # (T,), which sequence a point belongs to

    def __post_init__(self) -> None:
        for name in ("weights", "uniforms"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(value))
        if self.replicates is not None:
            object.__setattr__(self, "replicates", read_only(self.replicates, np.int64))
        if self.weights is not None and not (
            np.all(np.isfinite(self.weights)) and np.all(self.weights > 0.0)
        ):
            raise InvalidArgument(
                "a point with a weight that is not positive", hint="leave it out"
            )

    @property
    def sampled(self) -> bool:
        """Return whether other points of nu could have been met."""
        return self.drawn in (Drawn.INDEPENDENT, Drawn.SCRAMBLED)

    def shares(self, chosen: BoolArray) -> FloatArray:
        """Return what each of the chosen points weighs, (chosen,), in sum 1."""
        weights = np.ones(chosen.size) if self.weights is None else self.weights
        if weights.shape != chosen.shape:
            raise InvalidArgument(
                f"{weights.size} weights for {chosen.size} points",
                hint="give each point one",
            )
        shares: FloatArray = weights[chosen] / weights[chosen].sum()
        return shares
