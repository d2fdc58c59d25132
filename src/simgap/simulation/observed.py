"""What an agent gets to see of a class: edges, with or without rewards (theory 7.2).

An edge is one thing that can follow a state and an action. If rewards are unseen it is
a next state. If they are seen, and differ between models, it is a next state together
with a reward, so that a reward is evidence like any other: likelihoods, posteriors and
tests need not know which kind of edge they count.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from simgap.errors import InvalidArgument, InvalidModel, OutsideClass
from simgap.mdp import SimulatorClass
from simgap.policies import Step

SAME = 1e-9  # rewards closer than this look the same


class RewardSignal(Enum):
    """What an agent learns from the reward of a step."""

    UNSEEN = "rewards are not seen"
    SEEN = "rewards are seen, each is R(s, a) of the real model"
    RANDOM = "rewards are seen, each is 0 or 1 with mean R(s, a) of the real model"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ObservedClass:
    """A class as edges: `indptr` as in its transitions, E edges in all."""

    simulators: SimulatorClass
    signal: RewardSignal
    indptr: OffsetArray  # (S A + 1,)
    next_state: IndexArray  # (E,)
    row: IndexArray  # (E,), s A + a
    chances: FloatArray  # (M, E)
    seen_reward: FloatArray  # (E,), NaN if rewards are unseen
    reward: FloatArray  # (M, E), what the step pays in each model

    @property
    def n_edges(self) -> int:
        return int(self.next_state.size)

    def edge(self, step: Step) -> int:
        """Return the edge of a step, or raise if no model of the class has it."""
        row = step.state * self.simulators.n_actions + step.action
        begin, end = int(self.indptr[row]), int(self.indptr[row + 1])
        for e in range(begin, end):
            if self.next_state[e] != step.next_state or not self.chances[:, e].any():
                continue
            if self.signal is RewardSignal.UNSEEN:
                return e
            if step.reward is None:
                raise InvalidArgument(
                    f"step {step.h} has no reward, and this agent sees rewards",
                    hint="pass Step(..., reward=r), or build it for unseen rewards",
                )
            if abs(step.reward - self.seen_reward[e]) <= SAME:
                return e
        raise OutsideClass(
            f"no model of the class goes from state {step.state} by action "
            f"{step.action} to {step.next_state}"
            + ("" if step.reward is None else f" with reward {step.reward}"),
            hint="the real model is not in the class",
            step=step,
        )


def observed_class(
    simulators: SimulatorClass, signal: RewardSignal = RewardSignal.UNSEEN
) -> ObservedClass:
    """Return the edges of a class; unseen rewards cost nothing to represent."""
    kernel = simulators.transitions
    rows = np.repeat(
        np.arange(kernel.indptr.size - 1, dtype=np.int32), np.diff(kernel.indptr)
    )
    members = len(simulators)
    flat = simulators.rewards.reshape(len(simulators.rewards), -1)
    every: FloatArray = np.broadcast_to(flat, (members, flat.shape[1]))
    shared = simulators.shared_rewards and signal is RewardSignal.SEEN
    if signal is RewardSignal.UNSEEN or shared:
        return ObservedClass(
            simulators=simulators,
            signal=RewardSignal.UNSEEN,  # a reward that is the same anyway says nothing
            indptr=read_only(kernel.indptr, np.int64),
            next_state=read_only(kernel.indices, np.int32),
            row=read_only(rows, np.int32),
            chances=read_only(kernel.values),
            seen_reward=read_only(np.full(rows.size, np.nan)),
            reward=read_only(every[:, rows]),
        )
    if signal is RewardSignal.RANDOM and ((every < 0.0) | (every > 1.0)).any():
        raise InvalidModel(
            "rewards outside [0, 1] cannot be the mean of rewards 0 and 1",
            hint="scale the rewards, or use RewardSignal.SEEN",
        )
    return _with_rewards(simulators, signal, rows, every)


def _with_rewards(
    simulators: SimulatorClass,
    signal: RewardSignal,
    rows: IndexArray,
    rewards: FloatArray,
) -> ObservedClass:
    """Split every successor by the reward that may come with it."""
    kernel = simulators.transitions
    next_state, row, chances, seen = [], [], [], []
    for e, r in enumerate(rows):
        for value, weight in _rewards_of(rewards[:, r], signal):
            next_state.append(kernel.indices[e])
            row.append(r)
            chances.append(kernel.values[:, e] * weight)
            seen.append(value)
    lengths = np.bincount(row, minlength=kernel.indptr.size - 1)
    table = np.stack(chances, axis=1)
    paid = np.broadcast_to(np.array(seen), table.shape)
    return ObservedClass(
        simulators=simulators,
        signal=signal,
        indptr=read_only(np.concatenate([[0], np.cumsum(lengths)]), np.int64),
        next_state=read_only(np.array(next_state), np.int32),
        row=read_only(np.array(row), np.int32),
        chances=read_only(table),
        seen_reward=read_only(np.array(seen)),
        reward=read_only(paid),
    )


def _rewards_of(
    means: FloatArray, signal: RewardSignal
) -> list[tuple[float, FloatArray]]:
    """Return the rewards that a row can pay, each with its chance in every model."""
    if signal is RewardSignal.RANDOM:
        return [(0.0, 1.0 - means), (1.0, np.array(means))]
    values: list[float] = []
    for mean in np.sort(means):
        if not values or mean - values[-1] > SAME:
            values.append(float(mean))
    nearest = np.abs(means[:, None] - np.array(values)).argmin(axis=1)
    return [
        (value, (nearest == place).astype(np.float64))
        for place, value in enumerate(values)
    ]
