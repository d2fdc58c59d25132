"""Run one episode in each world of a batch: returns, successes, what broke.

An action that is not a number, a simulator that fails and a reward that is not a number
cost the episode they happen in, and no other one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import (
    LARGEST,
    Batch,
    BroughtPolicy,
    Space,
    Worlds,
)
from simgap.continuous.policies.actions import clips_actions, to_actions
from simgap.continuous.policies.remembering import what_failed
from simgap.errors import SimgapError
from simgap.interrupts import time_limit

LONGEST = 1_000  # characters of a message


class Look(Protocol):
    """Is shown every step of a batch."""

    def __call__(
        self, step: int, memory: Any, gained: FloatArray, alive: BoolArray
    ) -> None:
        """Take step 0, 1, ...: the memory that its actions were chosen with.

        `gained` is what it added to each return, `alive` which episodes ran before it.
        """
        ...


class Broken(NamedTuple):
    """An episode of a batch that broke."""

    row: int
    step: int
    code: str
    text: str


@final
@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """What B episodes came to."""

    returns: FloatArray  # (B,), NaN where an episode broke
    success: FloatArray | None  # (B,) of 0 and 1, where the simulator says
    steps: OffsetArray  # (B,)
    clipped: float  # share of the actions' numbers that lay outside their ends
    broken: tuple[Broken, ...]


def run_episodes(
    worlds: Worlds,
    policy: BroughtPolicy,
    space: Space,
    horizon: int,
    batch: Batch,
    look: Look | None = None,
) -> Episodes:
    """Return what a policy gets in one episode of at most `horizon` steps per world."""
    size = batch.size
    watch = _Watch(size)
    returns, success = np.zeros(size), np.full(size, np.nan)
    steps = np.zeros(size, np.int64)
    clipped, asked = 0.0, 0
    with time_limit():
        seen = _started(worlds, batch, watch)
        memory: Any = policy.reset(batch)
    for step in range(horizon):
        if seen is None or not watch.alive.any():
            break
        with time_limit():
            acted = _acted(policy, seen, memory, step, watch)
        if acted is None:
            break
        raw, memory = acted
        clip = clips_actions(policy)
        actions, beyond = to_actions(raw, space, watch.alive, clip=clip)
        clipped += beyond * watch.alive.sum()
        asked += int(watch.alive.sum())
        alive = watch.alive.copy()
        with time_limit():
            after = worlds.step(actions, alive)
        steps += alive
        watch.all_of(after.broken, step, "simulator-failed")
        watch.not_finite(after.reward, step, "reward-not-finite", "a reward")
        running = watch.alive & ~after.ended
        watch.not_finite(
            np.where(running[:, None], after.observation, 0.0),
            step,
            "observation-not-finite",
            "an observation",
        )
        gained = np.where(watch.alive, after.reward, 0.0)
        returns += gained
        if look is not None:
            look(step, memory, gained, alive)
        if after.success is not None:
            success = np.where(alive, np.fmax(success, after.success), success)
        watch.alive &= ~after.ended
        seen = after.observation
    for each in watch.broken:
        returns[each.row] = np.nan
        success[each.row] = 0.0 if np.isfinite(success[each.row]) else np.nan
    return Episodes(
        returns=returns,
        success=None if np.isnan(success).all() else success,
        steps=steps,
        clipped=float(clipped / asked) if asked else 0.0,
        broken=tuple(watch.broken),
    )


class _Watch:
    """Which episodes still run, and which broke."""

    def __init__(self, size: int) -> None:
        self.alive: BoolArray = np.ones(size, np.bool_)
        self.broken: list[Broken] = []

    def one(self, row: int, step: int, code: str, text: str) -> None:
        if self.alive[row]:
            self.alive[row] = False
            self.broken.append(Broken(row, step, code, text[:LONGEST]))

    def all_of(self, found: Mapping[int, str], step: int, code: str) -> None:
        for row, text in sorted(found.items()):
            self.one(row, step, code, text)

    def everyone(self, step: int, code: str, error: BaseException) -> None:
        text = f"{type(error).__name__}: {error}"
        self.all_of(dict.fromkeys(range(self.alive.size), text), step, code)

    def not_finite(self, found: FloatArray, step: int, code: str, what: str) -> None:
        fine = (np.abs(found) <= LARGEST).reshape(self.alive.size, -1).all(axis=1)
        for row in np.flatnonzero(self.alive & ~fine).tolist():
            self.one(row, step, code, f"{what} is {found[row]}")


def _started(worlds: Worlds, batch: Batch, watch: _Watch) -> FloatArray | None:
    try:
        seen = worlds.reset(batch.seeds)
    except SimgapError:
        raise
    except (Exception, SystemExit) as error:  # of the user's simulator
        watch.everyone(0, "simulator-failed", error)
        return None
    watch.not_finite(seen, 0, "observation-not-finite", "the first observation")
    return seen


def _acted(
    policy: BroughtPolicy, seen: FloatArray, memory: Any, step: int, watch: _Watch
) -> tuple[FloatArray, Any] | None:
    try:
        raw, memory = policy.act(seen, memory)
    except SimgapError:
        raise
    except (Exception, SystemExit) as error:  # of the user's policy
        watch.everyone(step, "policy-failed", error)
        return None
    raw = np.asarray(raw, np.float64)
    watch.all_of(what_failed(memory), step, "policy-failed")
    watch.not_finite(raw, step, "action-not-finite", "an action")
    return np.where(np.isfinite(raw), raw, 0.0), memory
