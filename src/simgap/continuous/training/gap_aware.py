"""Gap-aware draws: more of where the policy is farthest from an informed one.

nu is cut into 64 cells of equal chance, as a Sobol sequence fills them: by halving one
side of the unit cube after the other. What the policy returns in a cell is estimated
from the episodes of the training themselves; what an informed policy returns there was
measured before. Cells are drawn by the difference, a share of them evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray, read_only
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.randomization.distributions import Choice
from simgap.continuous.randomization.draws import uniforms
from simgap.continuous.training.beforehand import Needed, Reference
from simgap.continuous.training.samplers import Met
from simgap.errors import InvalidArgument

CELLS = 64


@final
@dataclass(frozen=True, slots=True)
class GapAware:
    """The numbers of the gap-aware sampler."""

    evenly: float = 0.3  # share of the episodes that are drawn from all cells alike
    temperature: float = 0.1  # gap that makes a cell e times as likely: of the way
    newest: float = 0.1  # weight of the newest return of a cell

    @property
    def needs(self) -> Needed:
        """Return what is trained before."""
        return Needed.INFORMED

    def start(
        self, randomization: BoundRandomization, reference: Reference
    ) -> GapSampler:
        """Return the sampler of a training; the reference tells returns by cell."""
        cells = cells_of(randomization)
        if reference.cells.size != cells.count:
            raise InvalidArgument(
                f"{reference.cells.size} returns of an informed policy for "
                f"{cells.count} cells",
                hint="measure it at the points of each cell: Cells.points",
                code="reference-cells",
            )
        nothing = np.zeros(cells.count)
        return GapSampler(self, cells, reference, nothing, nothing.astype(np.int64))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Boxes of equal chance under nu."""

    randomization: BoundRandomization
    parts: tuple[int, ...]  # (P,), into which each side of the unit cube is cut

    @property
    def count(self) -> int:
        """Return how many there are."""
        return int(np.prod(self.parts))

    def theta(self, cell: OffsetArray, cube: FloatArray) -> FloatArray:
        """Return points of cells, for points of the unit cube (n, P)."""
        corner = np.stack(np.unravel_index(cell, self.parts), axis=-1)
        return self.randomization.quantile((corner + cube) / np.array(self.parts))

    def points(self, each: int, seed: int) -> FloatArray:
        """Return so many points of each cell, cell by cell, (cells * each, P)."""
        numbers = np.arange(self.count * each)
        return self.theta(numbers // each, self.randomization.uniforms(seed, numbers))


def cells_of(randomization: BoundRandomization) -> Cells:
    """Return the cells of a randomization, at most 64.

    The side in the fewest parts is halved next; choices are cut no finer than they are
    many, and of the rows of a file only the row is chosen.
    """
    most = [_parts(randomization, i) for i in range(len(randomization.columns))]
    parts = [1] * len(most)
    while np.prod(parts) < CELLS:
        open_ones = [i for i, part in enumerate(parts) if part < most[i]]
        if not open_ones:
            break
        parts[min(open_ones, key=lambda i: parts[i])] *= 2
    if np.prod(parts) == 1:
        raise InvalidArgument(
            "nothing is randomized: there is one cell",
            hint="randomize a parameter, or draw uniformly",
            code="nothing-to-adapt",
        )
    return Cells(randomization, tuple(parts))


@final
@dataclass(frozen=True, slots=True, eq=False)
class GapSampler:
    """What is known of the policy in each of C cells."""

    settings: GapAware
    cells: Cells
    reference: Reference
    mean: FloatArray  # (C,), recent return of the policy
    count: OffsetArray  # (C,), episodes so far

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", read_only(self.mean))
        object.__setattr__(self, "count", read_only(self.count, np.int64))

    @property
    def gap(self) -> FloatArray:
        """Return by how much the informed policy is better, (C,), exploration included.

        Where no episode was so far, the greatest gap is assumed.
        """
        found = self.reference.cells - self.mean
        seen = self.count > 0
        greatest = found[seen].max() if seen.any() else 0.0
        return np.where(seen, found, greatest)

    @property
    def chances(self) -> FloatArray:
        """Return how likely each cell is drawn, (C,)."""
        raised = self.gap / (self.settings.temperature * self.reference.way)
        preferred = np.exp(raised - raised.max())
        evenly, even = self.settings.evenly, 1.0 / self.cells.count
        return np.asarray((1.0 - evenly) * preferred / preferred.sum() + evenly * even)

    @property
    def share(self) -> float:
        """Return e to the entropy of the chances, as a share of all cells."""
        chances = self.chances
        return float(np.exp(-(chances * np.log(chances)).sum()) / chances.size)

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return theta in cells that are drawn by their gaps."""
        cube = self.cells.randomization.uniforms(seed, episodes)
        return self.cells.theta(self._cells(seed, episodes), cube)

    def weights(self, seed: int, episodes: OffsetArray) -> FloatArray:
        """Return what episodes count in a mean over nu, (n,): 1 on average."""
        chances = self.chances[self._cells(seed, episodes)]
        return np.asarray(1.0 / (self.cells.count * chances))

    def met(self, episodes: Met) -> GapSampler:
        """Return the sampler with the returns of some episodes."""
        cell, most = self._cells(episodes.seed, episodes.number), self.cells.count
        more = np.bincount(cell, None, most)
        new = np.bincount(cell, episodes.returned, most) / np.maximum(more, 1)
        share = np.where(self.count, 1.0 - (1.0 - self.settings.newest) ** more, 1.0)
        mean = np.where(more, self.mean + share * (new - self.mean), self.mean)
        return replace(self, mean=mean, count=self.count + more)

    def arrays(self) -> Mapping[str, AnyArray]:
        """Return what is known of the policy in each cell."""
        return {"mean": self.mean, "count": self.count}

    def restored(self, arrays: Mapping[str, AnyArray]) -> GapSampler:
        """Return the sampler with what a checkpoint kept."""
        return replace(self, mean=arrays["mean"], count=arrays["count"])

    def _cells(self, seed: int, episodes: OffsetArray) -> OffsetArray:
        drawn = uniforms(seed, episodes, "the cell that is drawn")
        found = np.searchsorted(np.cumsum(self.chances)[:-1], drawn, side="right")
        return found.astype(np.int64)


def _parts(randomization: BoundRandomization, place: int) -> float:
    """Return into how many parts a side may be cut."""
    rows = randomization.rows
    if rows is not None and place >= randomization.alone:
        return len(rows.values) if place == randomization.alone else 1
    column = randomization.columns[place]
    if isinstance(column.distribution, Choice):
        return len(column.distribution.values)
    return inf if column.varies else 1
