"""Does a parameter do anything? The same seeds and actions at two of its values.

A number that is written where the simulator does not read it makes every policy look
robust. So before anything is measured, episodes at both ends of its range are run side
by side under the same actions, and one observation, reward or end must differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Box, Simulator, Worlds
from simgap.interrupts import time_limit

REPEATS = "repeats"  # code
ENDS = 3  # numbers beside an observation: reward, end, broken
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


def repetition(
    simulator: Simulator,
    one: Mapping[str, float] | None = None,
    other: Mapping[str, float] | None = None,
) -> str:
    """Return whether the same seed and actions give the same episode, or why not.

    REPEATS, or a code: `seed-ignored`; `global-random-state`, it draws from the global
    generators of Python or numpy; `episodes-share-state`, something of an episode is
    left when the next one starts; `worlds-share-state`, a world behaves otherwise
    beside one with other parameters.
    """
    both = [one or {}, other or one or {}]
    first, again = _two_episodes(simulator, both)
    if not _same(first, again):
        if _same(first, _two_episodes(simulator, both)[0]):
            return "episodes-share-state"
        with _global_seeds():
            seeded = _two_episodes(simulator, both)[0]
        with _global_seeds():
            same = _same(seeded, _two_episodes(simulator, both)[0])
        return "global-random-state" if same else "seed-ignored"
    if not both[0]:  # there is one world
        return REPEATS
    apart = (_two_episodes(simulator, [each, each])[0] for each in both)
    alone = (found[:, at] for at, found in enumerate(apart))
    if all(_same(first[:, at], found) for at, found in enumerate(alone)):
        return REPEATS
    return "worlds-share-state"


def first_episode(
    simulator: Simulator, one: Mapping[str, float], other: Mapping[str, float]
) -> FloatArray:
    """Return what is seen of an episode in two worlds, (steps, 2, numbers)."""
    return _two_episodes(simulator, [one, other])[0]


def _two_episodes(
    simulator: Simulator, thetas: Sequence[Mapping[str, float]]
) -> tuple[FloatArray, FloatArray]:
    """Return two episodes of the same seed in the same worlds, another between them."""
    worlds = simulator.instantiate(
        {name: np.array([each[name] for each in thetas]) for name in thetas[0]}
    )
    size = len(thetas) if thetas[0] else 1
    seeds = np.zeros(size, np.int64)
    actions = np.repeat(_actions(simulator)[:, :1], size, axis=1)
    try:
        first, _, again = (_seen(worlds, seeds + seed, actions) for seed in (0, 1, 0))
    finally:
        worlds.close()
    return first, again


def _seen(worlds: Worlds, seeds: OffsetArray, actions: FloatArray) -> FloatArray:
    """Return everything that is seen of an episode; zeros after its end."""
    every = list(_episode(worlds, seeds, actions))
    width = every[0].shape[1] + ENDS
    found = np.zeros((len(actions) + 1, seeds.size, width))
    for step, seen in enumerate(every):
        found[step, :, : seen.shape[1]] = seen
    return found


def _same(one: FloatArray, other: FloatArray) -> bool:
    return bool(np.array_equal(one, other, equal_nan=True))


@contextmanager
def _global_seeds() -> Iterator[None]:
    """Seed the generators of the process, and leave them as they were."""
    before = random.getstate(), np.random.get_state()  # noqa: NPY002 (it is about it)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002


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
