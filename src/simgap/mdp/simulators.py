"""The simulator class U: M models over one state space and one action space."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import final

import numpy as np

from simgap.arrays import FloatArray, digest
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp.asked_once import asked_once
from simgap.mdp.grid_origin import GRID_NOISE, GridOrigin
from simgap.mdp.labels import Labels, Parameters, checked_names
from simgap.mdp.tabular import TabularMDP
from simgap.mdp.transitions import Transitions
from simgap.mdp.validation import check_rows, checked_rewards, checked_start
from simgap.records.provenance import ON_GRID, Certainty


@final
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SimulatorClass:
    """U: all models that may be real, one for each value of what is hidden."""

    transitions: Transitions
    rewards: FloatArray  # the user's own: (1, S, A) for all models, or (M, S, A)
    start: FloatArray  # int64 (1,) or (M,) states; float64 (1, S) or (M, S) laws
    model_names: tuple[str, ...] = ()  # (M,)
    labels: Labels = field(default_factory=Labels)
    parameters: Parameters | None = None
    notes: tuple[str, ...] = ()  # choices made while building, for people to read
    grid: GridOrigin | None = None  # a table of a simulator: which, and on what grid

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        members, kernel = self.transitions.n_models, self.transitions
        n_states, n_actions = kernel.n_states, kernel.n_actions
        names = checked_names(self.model_names, members, "model", default="model ")
        set_field(self, "model_names", names)
        labels = Labels(
            checked_names(self.labels.states, n_states, "state"),
            checked_names(self.labels.actions, n_actions, "action"),
        )
        set_field(self, "labels", labels)
        check_rows(kernel, names, labels)
        rewards = checked_rewards(self.rewards, members, n_states, n_actions)
        set_field(self, "rewards", rewards)
        set_field(self, "start", checked_start(self.start, members, n_states))
        if self.parameters is None:
            set_field(self, "parameters", Parameters.none(members))
        elif self.parameters.values.shape[0] != members:
            raise InvalidModel(
                f"{self.parameters.values.shape[0]} rows of parameters "
                f"for {members} models",
                hint="give one parameter vector per model",
            )
        if self.grid is not None:
            self.grid.check(n_states)

    def __len__(self) -> int:
        return self.transitions.n_models

    def __getitem__(self, member: int) -> TabularMDP:
        at = self.member(member)
        return TabularMDP(
            transitions=self.transitions.model(at),
            rewards=self.rewards[at if len(self.rewards) > 1 else 0],
            start=self.start[at if len(self.start) > 1 else 0],
            name=self.model_names[at],
            labels=self.labels,
            parameters=self.theta.of(at),
            notes=self.notes,
            grid=self.grid,
        )

    def __iter__(self) -> Iterator[TabularMDP]:
        return (self[i] for i in range(len(self)))

    @property
    def n_models(self) -> int:
        return self.transitions.n_models

    @property
    def n_states(self) -> int:
        return self.transitions.n_states

    @property
    def n_actions(self) -> int:
        return self.transitions.n_actions

    @property
    def theta(self) -> Parameters:
        """The parameters of all models (none at all is an empty table)."""
        assert self.parameters is not None  # set by __post_init__
        return self.parameters

    @property
    def shared_rewards(self) -> bool:
        return len(self.rewards) == 1

    @property
    def reward_ends(self) -> FloatArray:
        """The least and the greatest reward of each model, (2, M)."""
        return _reward_ends(self)

    @property
    def certified(self) -> Certainty:
        """What a proved number is called: one about a grid's table says so."""
        return "certified" if self.on_grid is None else ON_GRID

    @property
    def on_grid(self) -> str | None:
        """The simulator and the grid that the class is a table of, in words."""
        if self.grid is not None:
            return self.grid.words
        older = any(note.startswith(GRID_NOISE) for note in self.notes)
        return "a grid that its file does not hold" if older else None

    @property
    def nbytes(self) -> int:
        return self.transitions.nbytes + self.rewards.nbytes + self.start.nbytes

    @property
    def hash(self) -> str:
        """Return a digest of the numbers and names; storage does not enter it."""
        return content_hash(self)

    def member(self, index: int) -> int:
        """Return the index of a model counted from 0, or raise."""
        if not isinstance(index, (int, np.integer)) or isinstance(index, bool):
            raise InvalidArgument(
                f"{index!r} is not the index of a model",
                hint="index with a whole number; class_from_models makes a part of it",
            )
        if not -len(self) <= index < len(self):
            raise InvalidArgument(
                f"there is no model {index} in a class of {len(self)}",
                hint=f"models are numbered 0 to {len(self) - 1}",
            )
        return index % len(self)

    def start_law(self, member: int) -> FloatArray:
        """Return the distribution of the first state in one model, (S,)."""
        row = self.start[member if len(self.start) > 1 else 0]
        if self.start.ndim == 2:
            return np.asarray(row)
        law: FloatArray = np.zeros(self.n_states)
        law[int(row)] = 1.0
        return law

    def at_start(self, values: FloatArray) -> FloatArray:
        """Return the mean over the first state of values (M, S), as (M,)."""
        if self.start.ndim == 2:
            weighted: FloatArray = np.einsum("ms,ms->m", self._start_laws(), values)
            return weighted
        states = np.broadcast_to(self.start, (len(self),)).astype(np.int64)
        picked: FloatArray = values[np.arange(len(self)), states]
        return picked

    def _start_laws(self) -> FloatArray:
        laws: FloatArray = np.broadcast_to(self.start, (len(self), self.n_states))
        return laws

    def renamed(self, model_names: Sequence[str]) -> SimulatorClass:
        """Return the same class with other model names."""
        return replace(self, model_names=tuple(model_names))


@asked_once
def _reward_ends(simulators: SimulatorClass) -> FloatArray:
    rewards = simulators.rewards
    ends = np.stack([rewards.min(axis=(1, 2)), rewards.max(axis=(1, 2))])
    by_model: FloatArray = np.broadcast_to(ends, (2, len(simulators)))
    return by_model


def content_hash(
    simulators: SimulatorClass, scale: tuple[float, float] = (0.0, 1.0)
) -> str:
    """Return the sha256 of a class, equal for equal content in either storage form.

    `scale` is the offset and factor that files of simgap 0.1 could have.
    """
    kernel = simulators.transitions
    used = (kernel.values != 0.0).any(axis=0)
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    lengths = np.bincount(rows[used], minlength=kernel.indptr.size - 1)
    rewards = simulators.rewards
    if (rewards == rewards[:1]).all():
        rewards = rewards[:1]
    laws = simulators.start
    if laws.ndim == 2 and ((laws == 0.0) | (laws == 1.0)).all():
        laws = laws.argmax(axis=1)
    if (laws == laws[:1]).all():
        laws = laws[:1]
    names = (
        simulators.model_names,
        simulators.labels.states,
        simulators.labels.actions,
        simulators.theta.names,
        scale,
    )
    return digest(
        repr((int(kernel.n_states), int(kernel.n_actions), names)).encode(),
        lengths.astype(np.int64),
        kernel.indices[used],
        np.stack([row[used] for row in kernel.values]) + 0.0,
        rewards + 0.0,
        laws.astype(np.int64) if laws.ndim == 1 else laws,
        simulators.theta.values + 0.0,
    )
