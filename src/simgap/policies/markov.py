"""Policies that look at the state and the step, and remember nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, read_only
from simgap.errors import InvalidArgument
from simgap.policies.checks import (
    check_lived,
    check_name,
    check_state,
    check_step,
    surely,
)
from simgap.policies.interface import Step


@final
@dataclass(frozen=True, slots=True, eq=False)
class MarkovPolicy:
    """A table of actions or of their probabilities; memory is None.

    Whole numbers are actions, (S,) or (H, S); other numbers are probabilities, (S, A)
    or (H, S, A). Without the first axis the policy is the same at every step.
    """

    name: str
    n_actions: int
    table: AnyArray  # int32 (S,) or (H, S); float64 (S, A) or (H, S, A)

    def __post_init__(self) -> None:
        check_name(self.name)
        given = np.asarray(self.table)
        certain = given.dtype.kind in "iu"
        if given.dtype.kind not in "iuf" or given.ndim not in (
            (1, 2) if certain else (2, 3)
        ):
            raise InvalidArgument(
                f"a policy of shape {given.shape} and type {given.dtype}",
                hint="give actions (S,) or (H, S), or probabilities (S, A) or "
                "(H, S, A)",
            )
        if certain:
            _check_actions(given, self.n_actions)
        else:
            _check_mixture(given, self.n_actions)
        if given.shape[-1 if certain else -2] == 0:
            raise InvalidArgument(
                f"a policy of shape {given.shape}", hint="there is at least one state"
            )
        stored = read_only(self.table, np.int32 if certain else np.float64)
        object.__setattr__(self, "table", stored)

    @property
    def certain(self) -> bool:
        """Whether the table holds actions (and not their probabilities)."""
        return self.table.dtype.kind == "i"

    @property
    def horizon(self) -> int | None:
        """How many steps the table has; None if it holds at every step."""
        stationary = self.table.ndim == (1 if self.certain else 2)
        return None if stationary else int(self.table.shape[0])

    @property
    def n_states(self) -> int:
        return int(self.table.shape[-1 if self.certain else -2])

    def start(self, state: int) -> None:
        """Return None: nothing is remembered."""
        check_state(state, self.n_states)

    def act(self, memory: None, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,)."""
        check_step(h, self.horizon)
        check_state(state, self.n_states)
        of_step = self.table if self.horizon is None else self.table[h]
        if self.certain:
            return surely(int(of_step[state]), self.n_actions)
        return np.array(of_step[state])

    def observe(self, memory: None, step: Step) -> None:
        """Return None: nothing is remembered."""
        check_lived(step, self.horizon, self.n_states, self.n_actions)


def _check_actions(table: AnyArray, n_actions: int) -> None:
    wrong = (table < 0) | (table >= n_actions)
    if wrong.any():
        raise InvalidArgument(
            f"the policy plays action {table[wrong][0]}",
            hint=f"actions are numbered 0 to {n_actions - 1}",
        )


def _check_mixture(table: AnyArray, n_actions: int) -> None:
    if table.shape[-1] != n_actions:
        raise InvalidArgument(
            f"probabilities of {table.shape[-1]} actions, there are {n_actions}",
            hint="the last axis of the table counts actions",
        )
    if (
        not np.isfinite(table).all()
        or (table < 0.0).any()
        or (np.abs(table.sum(axis=-1) - 1.0) > 1e-9).any()
    ):
        raise InvalidArgument(
            "the policy has a row that is not a distribution over actions",
            hint="each row of action probabilities is >= 0 and sums to 1",
        )
