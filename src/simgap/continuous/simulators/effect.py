"""Does a parameter do anything? The same seeds and actions at two of its values.

A number that is written where the simulator does not read it makes every policy look
robust. So before anything is measured, episodes at both ends of its range are run side
by side under the same actions, and one observation, reward or end must differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Box, Simulator, Worlds
from simgap.interrupts import time_limit

STEPS = 200  # of an episode, at most
SEEDS = 4  # episodes of each style of acting
WIDEST = 1e3  # actions without ends are drawn up to here


def episodes_differ(
    simulator: Simulator, one: Mapping[str, float], other: Mapping[str, float]
) -> bool:
    """Return whether episodes with two sets of values ever differ.

    Actions are random, random but held for a while, and held at either end: a goal or a
    wall that random actions do not reach has no effect on them.
    """
    rows = len(_STYLES) * SEEDS
    worlds = simulator.instantiate(
        {name: np.repeat([one[name], other[name]], rows) for name in one}
    )
    seeds = np.tile(np.arange(rows, dtype=np.int64), 2)
    actions = np.concatenate([_actions(simulator)] * 2, axis=1)
    try:
        return any(
            not np.array_equal(seen[:rows], seen[rows:], equal_nan=True)
            for seen in _episode(worlds, seeds, actions)
        )
    finally:
        worlds.close()


def repeats(simulator: Simulator) -> bool:
    """Return whether a world begins anew: the same seed and actions twice in a row.

    It does not if the seed is ignored, or if something of an episode is left when the
    next one starts.
    """
    worlds = simulator.instantiate({})
    seeds, actions = np.zeros(1, np.int64), _actions(simulator)[:, :1]
    try:
        first, _, again = (
            list(_episode(worlds, seeds + seed, actions)) for seed in (0, 1, 0)
        )
    finally:
        worlds.close()
    return len(first) == len(again) and all(
        np.array_equal(one, two, equal_nan=True)
        for one, two in zip(first, again, strict=True)
    )


def _episode(
    worlds: Worlds, seeds: OffsetArray, actions: FloatArray
) -> Iterator[FloatArray]:
    """Yield everything that is seen of an episode in each world, step by step."""
    with time_limit():
        first = worlds.reset(seeds)
    yield first
    alive: BoolArray = np.ones(seeds.size, np.bool_)
    for now in actions:
        with time_limit():
            after = worlds.step(now, alive.copy())
        broken = np.zeros(seeds.size)
        broken[list(after.broken)] = 1.0
        seen = np.column_stack([after.observation, after.reward, after.ended, broken])
        yield np.where(alive[:, None], seen, 0.0)
        alive &= ~after.ended & (broken == 0.0)
        if not alive.any():
            return


def _actions(simulator: Simulator) -> FloatArray:
    """Return what is done, (steps, styles * seeds, A), or without A for choices."""
    space, steps = simulator.action, min(STEPS, simulator.horizon or STEPS)
    drawn = [
        style(np.random.default_rng([at, seed]).random, steps, space.size)
        for at, style in enumerate(_STYLES)
        for seed in range(SEEDS)
    ]
    part: FloatArray = np.stack(drawn, axis=1)  # of the way from low to high
    if not isinstance(space, Box):
        chosen: FloatArray = np.minimum(np.floor(part[..., 0] * space.n), space.n - 1.0)
        return chosen
    low, high = np.maximum(space.low, -WIDEST), np.minimum(space.high, WIDEST)
    found: FloatArray = low + part * (high - low)
    return found


Draw = Callable[[tuple[int, int]], FloatArray]


def _random(draw: Draw, steps: int, size: int) -> FloatArray:
    return draw((steps, size))


def _held(draw: Draw, steps: int, size: int) -> FloatArray:
    return np.repeat(draw((steps // 10 + 1, size)), 10, axis=0)[:steps]


def _at_low(draw: Draw, steps: int, size: int) -> FloatArray:
    return np.zeros((steps, size))


def _at_high(draw: Draw, steps: int, size: int) -> FloatArray:
    return np.ones((steps, size))


_STYLES = (_random, _held, _at_low, _at_high)
