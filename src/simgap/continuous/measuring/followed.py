"""Episodes step by step: every reward, and what a policy remembers at some steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.measuring.jobs import Job, Work, run_job
from simgap.continuous.policies.remembering import memory_reader


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """One episode at each of T points, of at most H steps."""

    rewards: FloatArray  # (T, H), 0 after the end; NaN: the episode broke
    memory: tuple[FloatArray, ...]  # (T, numbers) at each step that was asked for
    # a row is NaN where the episode was over by then, or broke
    steps: int  # of the simulator


def followed(work: Work, policy: int, steps: Sequence[int] = ()) -> Followed:
    """Return the first episode of a policy at every point, the same for every policy.

    `steps` count from 1 on: what is remembered when the action of that step is chosen.
    """
    rewards: FloatArray = np.zeros((len(work.points.theta), work.horizon))
    kept: list[list[FloatArray]] = [[] for _ in steps]
    made = 0
    for low in range(0, len(rewards), work.rows):
        high = min(low + work.rows, len(rewards))
        rows = rewards[low:high]
        notes = _Notes(memory_reader(work.policies[policy]), rows, tuple(steps))
        done = run_job(work, Job(policy, (low, high), (0, 1)), notes.look)
        made += done.steps
        broken = np.isnan(done.returns[:, 0])
        rows[broken] = np.nan
        for place, at in enumerate(steps):
            kept[place].append(notes.memory_at(at, broken))
    return Followed(rewards, tuple(_joined(each) for each in kept), made)


class _Notes:
    """What is written down while episodes run."""

    def __init__(
        self,
        read: Callable[[Any], FloatArray] | None,
        rewards: FloatArray,
        steps: tuple[int, ...],
    ) -> None:
        self._read, self._rewards, self._steps = read, rewards, steps
        self._memory: dict[int, FloatArray] = {}

    def look(
        self, step: int, memory: Any, gained: FloatArray, alive: BoolArray
    ) -> None:
        self._rewards[:, step] = gained
        if self._read is not None and step + 1 in self._steps:
            found = np.array(self._read(memory), np.float64)
            found[~alive] = np.nan
            self._memory[step + 1] = found

    def memory_at(self, step: int, broken: BoolArray) -> FloatArray:
        nothing: FloatArray = np.full((broken.size, 0), np.nan)
        found = self._memory.get(step, nothing)  # all episodes were over
        found[broken] = np.nan
        return found


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    """Return all rows; those of episodes that were over have nothing but NaN."""
    width = max(each.shape[1] for each in parts)
    whole = [
        each if each.shape[1] == width else np.full((len(each), width), np.nan)
        for each in parts
    ]
    return np.concatenate(whole)
