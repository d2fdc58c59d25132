"""Collecting from a simulator that is no program of JAX: waves of episodes.

In a wave every row that has room left plays one episode. Rows are filled one episode
after the other, the last one cut where the row ends, as in `scanned`; the numbers are
the same, up to the rounding of the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simgap.arrays import AnyArray, BoolArray, FloatArray
from simgap.continuous.interfaces import Choices, Parameter, Simulator, Space
from simgap.continuous.training.draws import Drawn
from simgap.continuous.training.rows import Rows
from simgap.errors import SimgapError

Act = Callable[[Any, AnyArray, AnyArray, BoolArray, AnyArray, AnyArray], Any]
# memory, observations, previous, first, shown, noise -> memory, action, played, ...


class BrokenTraining(SimgapError):
    """Too many episodes of a training broke."""


class Collected(NamedTuple):
    """Rows, and what went wrong in them."""

    rows: Rows
    broken: tuple[str, ...]  # what happened, at which parameters


def collected_in_waves(
    simulator: Simulator,
    horizon: int,
    act: Act,
    begin: Callable[[], Any],
    drawn: Drawn,
    noise: AnyArray,
) -> Collected:
    """Return `horizon` steps of each row.

    `act` is the policy of all rows at once, `begin` its empty memory. An episode that
    breaks is over: what it got so far counts.
    """
    size, most = drawn.seeds.shape
    every, previous_size = np.arange(size), noise.shape[-1]
    width = _width(simulator.observation)
    rows = Rows(
        observation=np.zeros((horizon + 1, size, width), np.float32),
        first=np.zeros((horizon + 1, size), np.bool_),
        time=np.zeros((horizon + 1, size), np.float32),
        draw=np.zeros((horizon + 1, size), np.int32),
        action=np.zeros(
            (horizon, size)
            if isinstance(simulator.action, Choices)
            else (horizon, size, simulator.action.size),
            np.int32 if isinstance(simulator.action, Choices) else np.float32,
        ),
        reward=np.zeros((horizon, size), np.float32),
        ended=np.zeros((horizon, size), np.bool_),
    )
    at, draw = np.zeros(size, np.int64), np.zeros(size, np.int64)
    broken: list[str] = []
    while (alive := at < horizon).any():
        values = {name: each[every, draw] for name, each in drawn.values.items()}
        worlds = simulator.instantiate(for_worlds(simulator.parameters, values, size))
        try:
            seen = worlds.reset(drawn.seeds[every, draw])
            memory, number = begin(), 0
            previous = np.zeros((size, previous_size), np.float32)
            first = np.ones(size, np.bool_)
            shown = drawn.draws.shown[every, draw]
            while alive.any():
                numbers = _numbers(simulator.observation, seen)
                here = (np.minimum(at, horizon - 1), every)
                memory, action, played, previous = act(
                    memory, numbers, previous, first, shown, noise[here]
                )
                after = worlds.step(np.asarray(played, np.float64), alive)
                number += 1
                ended = np.asarray(after.ended) | (number >= horizon)
                bad = ~np.isfinite(after.observation).all(axis=1) & ~ended
                bad |= ~np.isfinite(after.reward)
                for row in after.broken:
                    bad[row] = True
                broken += [
                    _what(after.broken.get(row), values, row, number)
                    for row in np.flatnonzero(bad & alive).tolist()
                ]
                ended |= bad
                places = np.flatnonzero(alive)
                when = (at[places], places)
                rows.observation[when] = numbers[places]
                rows.first[when], rows.draw[when] = first[places], draw[places]
                rows.time[when] = (number - 1) / horizon
                rows.action[when] = np.asarray(action)[places]
                rows.reward[when] = np.where(bad, 0.0, after.reward)[places]
                rows.ended[when] = ended[places]
                at[places] += 1
                going = alive & ~ended
                full = going & (at == horizon)
                rows.observation[horizon, full] = _numbers(
                    simulator.observation, after.observation
                )[full]
                rows.first[horizon, full] = False  # whatever ended in the row before
                rows.time[horizon, full] = number / horizon
                rows.draw[horizon, full] = draw[full]
                over = alive & ended
                draw[over] = np.minimum(draw[over] + 1, most - 1)
                rows.first[horizon, over] = True
                rows.draw[horizon, over] = draw[over]
                alive = going & ~full
                seen = np.where(alive[:, None], after.observation, 0.0)
                first = np.zeros(size, np.bool_)
        finally:
            worlds.close()
    return Collected(rows, tuple(broken))


def for_worlds(
    parameters: Sequence[Parameter], values: Mapping[str, FloatArray], size: int
) -> Mapping[str, FloatArray]:
    """Return values for so many worlds, nominal ones if nothing is randomized."""
    if values or not parameters:
        return values
    return {parameters[0].name: np.full(size, parameters[0].nominal)}


def _what(
    text: str | None, values: Mapping[str, FloatArray], row: int, step: int
) -> str:
    where = ", ".join(f"{name}={each[row]:.4g}" for name, each in values.items())
    what = text or "an observation or a reward is not finite"
    return f"{what}, at {where or 'nominal values'}, step {step}"


def _width(space: Space) -> int:
    return space.n if isinstance(space, Choices) else space.size


def _numbers(space: Space, seen: FloatArray) -> AnyArray:
    """Return observations as a network takes them: one of n as n numbers."""
    if isinstance(space, Choices):
        return np.eye(space.n, dtype=np.float32)[seen[:, 0].astype(np.int64)]
    return seen.astype(np.float32)
