"""The grid of a class in a model file: one description, and one array of states."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import AnyArray
from simgap.errors import InvalidFile
from simgap.mdp import Axis, GridOrigin, Interpolation, NodeSet, OneStepError, StateGrid


@final
@dataclass(frozen=True, slots=True)
class GridDescription:
    """What a file says of the simulator and the grid behind its class."""

    simulator: str
    axes: tuple[Axis, ...]
    scheme: Interpolation
    states: NodeSet
    ends: bool
    restart: bool
    fixed: dict[str, float]
    spread: tuple[float, ...]
    motion: tuple[float, ...]
    beyond: tuple[float, ...]
    beyond_share: float
    moved_share: float
    samples: int
    actions: tuple[float, ...] = ()


def described(origin: GridOrigin) -> GridDescription:
    """Return the description of a grid, all but `state_of_node`."""
    step = origin.one_step
    return GridDescription(
        simulator=origin.simulator,
        axes=origin.grid.axes,
        scheme=origin.scheme,
        states=origin.states,
        ends=origin.ends,
        restart=origin.restart,
        fixed=dict(origin.fixed),
        spread=tuple(step.spread.tolist()),
        motion=tuple(step.motion.tolist()),
        beyond=tuple(step.beyond.tolist()),
        beyond_share=step.beyond_share,
        moved_share=step.moved_share,
        samples=origin.samples,
        actions=origin.actions,
    )


def assembled(about: GridDescription, state_of_node: AnyArray) -> GridOrigin:
    """Return a grid from its parts; what does not fit is refused there."""
    grid = StateGrid(about.axes)
    if state_of_node.shape != (grid.size,):
        raise InvalidFile(
            f"state_of_node has shape {state_of_node.shape} for {grid.size} nodes",
            hint="export the model again",
        )
    return GridOrigin(
        simulator=about.simulator,
        grid=grid,
        scheme=about.scheme,
        states=about.states,
        ends=about.ends,
        restart=about.restart,
        fixed=about.fixed,
        state_of_node=state_of_node.astype(np.int64),
        one_step=OneStepError(
            spread=np.array(about.spread),
            motion=np.array(about.motion),
            beyond=np.array(about.beyond),
            beyond_share=about.beyond_share,
            moved_share=about.moved_share,
        ),
        samples=about.samples,
        actions=about.actions,
    )


def as_text(origin: GridOrigin) -> str:
    """Return the description as JSON, for files that hold arrays alone."""
    import msgspec

    return msgspec.json.encode(described(origin)).decode()


def of_text(text: str, what: str) -> GridDescription:
    """Return the description of a JSON text, or say that it is none."""
    import msgspec

    try:
        return msgspec.json.decode(text, type=GridDescription)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise InvalidFile(
            f"{what} is not the description of a grid: {str(error)[:200]}",
            hint="export the model again",
        ) from error
