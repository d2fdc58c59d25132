"""Where a class on a grid comes from: the simulator it is a table of, and the grid.

A certificate about such a class holds for its table, not for the simulator. The class
keeps this record in files and in parts of the class, so that every answer can say so
and a policy can be played in the simulator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, read_only
from simgap.errors import InvalidModel
from simgap.mdp.grid_states import NodeSet
from simgap.mdp.physics import OneStepError, Physics
from simgap.mdp.state_grid import Interpolation, StateGrid

GRID_NOISE = "the spread of the corners is noise that the simulator does not have"
TOO_COARSE = 1.0  # noise of a step / its motion: above, the noise is what moves


@final
@dataclass(frozen=True, slots=True, eq=False)
class GridOrigin:
    """A simulator seen on a grid."""

    simulator: str  # its name
    grid: StateGrid
    scheme: Interpolation
    states: NodeSet
    ends: bool  # the last state of the table is that of an episode that is over
    restart: bool  # whether that state leads to the start
    fixed: Mapping[str, float]  # parameters that are the same in all models
    state_of_node: OffsetArray  # (nodes,), its own state or that of the nearest one
    one_step: OneStepError
    actions: tuple[float, ...] = ()  # (A,), the numbers that the equations take
    samples: int = 1  # steps of the simulator behind every row of the table
    physics: Physics | None = None  # the simulator itself: not in files

    def __post_init__(self) -> None:
        object.__setattr__(self, "fixed", MappingProxyType(dict(self.fixed)))
        object.__setattr__(
            self, "state_of_node", read_only(self.state_of_node, np.int64)
        )
        found = self.state_of_node
        if found.shape != (self.grid.size,) or (found.size and found.min() < 0):
            raise InvalidModel(
                f"state_of_node has shape {found.shape} for {self.grid.size} nodes",
                hint="one state of the table for every node of the grid",
            )
        step, axes = self.one_step, len(self.grid.axes)
        for measured in (step.spread, step.motion, step.beyond):
            if measured.shape != (axes,) or not np.isfinite(measured).all():
                raise InvalidModel(
                    f"what a step adds is {measured} on a grid of {axes} axes",
                    hint="one number per axis",
                )

    def check(self, n_states: int) -> None:
        """Raise unless the nodes are states of a table with `n_states`."""
        most = int(self.state_of_node.max()) + 1 + self.ends
        if most != n_states:
            raise InvalidModel(
                f"the grid has {most} states, the table {n_states}",
                hint="a grid belongs to the class that was made with it",
            )

    @property
    def end(self) -> int | None:
        """The state of an episode that is over; None if episodes do not end."""
        return int(self.state_of_node.max()) + 1 if self.ends else None

    @property
    def noise(self) -> dict[str, float]:
        """Noise of a step that the grid adds / motion of a step, for every axis."""
        pairs = zip(
            self.grid.axes, self.one_step.spread, self.one_step.motion, strict=True
        )
        return {
            axis.name: float(spread / motion) if motion > 0.0 else 0.0
            for axis, spread, motion in pairs
        }

    @property
    def too_coarse(self) -> bool:
        """Whether a step's noise exceeds its motion along some axis."""
        return max(self.noise.values()) > TOO_COARSE

    @property
    def words(self) -> str:
        """Return `Pendulum-v1 on 41x41 nodes`, and what sampling may have moved."""
        cells = "x".join(str(cells) for cells in self.grid.shape)
        sampled = (
            f", rows sampled {self.samples} times (standard error of a probability up "
            f"to {0.5 / self.samples**0.5:.2g})"
            if self.samples > 1
            else ""
        )
        return f"{self.simulator} on {cells} nodes{sampled}"


class Rounding(Enum):
    """As which state of the table a state of the simulator is seen."""

    NEAREST = "nearest"  # the nearest node, axis by axis
    STOCHASTIC = "stochastic"  # a corner of the cell, drawn by the table's own weights


def seen_states(
    origin: GridOrigin,
    points: FloatArray,
    rounding: Rounding,
    random: np.random.Generator,
) -> OffsetArray:
    """Return the state of the table as which each point (n, d) is seen, (n,)."""
    if rounding is Rounding.NEAREST:
        nodes = origin.grid.nearest(points)
    else:
        uniforms = random.random(len(points))
        nodes = origin.grid.drawn(points, origin.scheme, uniforms)
    return origin.state_of_node[nodes]
