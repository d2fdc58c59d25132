"""Running any policy step by step: slow, with the compiled agents' random streams.

A policy that uses random numbers of its own (posterior sampling) is a mixture over the
numbers that it draws before the episode: `with_stream` returns the policy for one draw,
and the compiled agent draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol, runtime_checkable

import numpy as np

from simgap._kernels.walking.streams import episode_keys, mixed, uniform
from simgap._kernels.walking.walk import (
    STATE,
    Record,
    Run,
    World,
    begin,
    finish,
    new_run,
    step_with,
)
from simgap.arrays import AnyArray, OffsetArray
from simgap.errors import InvalidArgument, OutsideClass
from simgap.policies import Policy, Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.worlds import RealModels


@runtime_checkable
class Switching(Protocol):
    """A policy that plays one plan until it switches to another."""

    def playing(self, memory: Any) -> Hashable:
        """Return what decides the actions until it changes."""
        ...


@runtime_checkable
class Eliminating(Switching, Protocol):
    """A policy that says which models it still deems possible."""

    def survivors(self, memory: Any) -> frozenset[int]:
        """Return the models that are not eliminated."""
        ...


@runtime_checkable
class RandomizedPolicy(Protocol):
    """A policy that draws random numbers before the episode."""

    def with_stream(self, key: int) -> Policy[Any]:
        """Return the policy for one random stream, itself if it needs none."""
        ...


def run_stepwise(
    policy: Policy[Any],
    real: RealModels,
    world: World,
    member: int,
    keys: AnyArray,
    grid: OffsetArray,
    record: Record,
) -> None:
    """Run one episode per key; fills what it can of the record (`Program.run`)."""
    run = new_run(world)
    for i, key in enumerate(keys):
        begin(world, key, run)
        _episode(policy, real, world, run, grid, record, i)
        finish(world, run, record, i)


def _episode(
    policy: Policy[Any],
    real: RealModels,
    world: World,
    run: Run,
    grid: OffsetArray,
    record: Record,
    at: int,
) -> None:
    observed, n_actions = real.observed, real.simulators.n_actions
    sees = observed.signal is not RewardSignal.UNSEEN
    if isinstance(policy, RandomizedPolicy):
        policy = policy.with_stream(int(run.stream[2]))
    watched = policy if isinstance(policy, Eliminating) else None
    state = int(run.clock[STATE])
    memory = policy.start(state)
    _note_dropped(watched, memory, record, at, 0)
    plans = policy if isinstance(policy, Switching) else None
    playing = plans.playing(memory) if plans else None
    left: OutsideClass | None = None
    for h in range(real.horizon):
        try:
            chances = policy.act(memory, h, state)
        except InvalidArgument:
            if left is None:
                raise
            raise left from None  # what it remembers belongs to another state
        action = _chosen(chances, run, h, n_actions)
        edge = step_with(world, run, state * n_actions + action, grid, record.trace[at])
        reward = float(observed.seen_reward[edge]) if sees else None
        after = int(world.next_state[edge])
        try:
            memory = policy.observe(memory, Step(h, state, action, after, reward))
        except OutsideClass as error:  # it remembers what it did (theory 2.3)
            left = error
        state = after
        _note_dropped(watched, memory, record, at, h + 1)
        if plans is not None and plans.playing(memory) != playing:
            playing = plans.playing(memory)
            record.switches[at] += 1


def _note_dropped(
    watched: Eliminating | None, memory: Any, record: Record, at: int, step: int
) -> None:
    if watched is None:
        return
    left = watched.survivors(memory)
    for m in range(record.eliminated.shape[1]):
        if m not in left and record.eliminated[at, m] < 0:
            record.eliminated[at, m] = step


def _chosen(chances: AnyArray, run: Run, h: int, n_actions: int) -> int:
    """Return the action; only a policy that mixes uses a random number."""
    if chances.shape != (n_actions,):
        raise InvalidArgument(
            f"the policy gives probabilities of shape {chances.shape} at step {h}",
            hint=f"there are {n_actions} actions",
        )
    likely = np.flatnonzero(chances)
    if likely.size == 1:
        return int(likely[0])
    quantile, total = uniform(run.stream[2], h), 0.0
    for action in likely:
        total += float(chances[action])
        if quantile < total:
            break
    return int(action)


def keys_of(seed: int, member: int, first: int, count: int) -> AnyArray:
    """Return the keys of runs `first`, `first` + 1, ... in one model."""
    of_seed = np.uint64(mixed(np.uint64(seed), 0))
    of_model = np.uint64(mixed(of_seed, member))
    return np.asarray(episode_keys(of_model, first, count))
