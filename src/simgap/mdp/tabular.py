"""One simulator: a finite MDP whose horizon is an argument, never a field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidModel
from simgap.mdp.asked_once import asked_once
from simgap.mdp.grid_origin import GridOrigin
from simgap.mdp.labels import Labels, Parameters, checked_names
from simgap.mdp.transitions import Transitions
from simgap.mdp.validation import check_rows, checked_rewards, checked_start

if TYPE_CHECKING:
    from simgap.mdp.simulators import SimulatorClass


@final
@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class TabularMDP:
    """M = (S, A, P, R, s1), Section 3.1; s1 may be a distribution (theory 7.1)."""

    transitions: Transitions  # of one model
    rewards: FloatArray  # (S, A), the user's own
    start: FloatArray | int  # a state, or a distribution (S,)
    name: str = "model 0"
    labels: Labels = field(default_factory=Labels)
    parameters: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    grid: GridOrigin | None = None  # as in SimulatorClass

    def __post_init__(self) -> None:
        set_field, kernel = object.__setattr__, self.transitions
        n_states, n_actions = kernel.n_states, kernel.n_actions
        if kernel.n_models != 1:
            raise InvalidModel(
                f"a TabularMDP is one model, its transitions hold {kernel.n_models}",
                hint="use SimulatorClass for several",
            )
        checked_names((self.name,), 1, "model")
        labels = Labels(
            checked_names(self.labels.states, n_states, "state"),
            checked_names(self.labels.actions, n_actions, "action"),
        )
        set_field(self, "labels", labels)
        check_rows(kernel, (self.name,), labels)
        set_field(
            self, "rewards", checked_rewards(self.rewards, 1, n_states, n_actions)[0]
        )
        start = checked_start(self.start, 1, n_states)[0]
        set_field(self, "start", int(start) if np.ndim(start) == 0 else start)
        set_field(self, "parameters", MappingProxyType(dict(self.parameters)))

    @property
    def n_states(self) -> int:
        return self.transitions.n_states

    @property
    def n_actions(self) -> int:
        return self.transitions.n_actions

    @property
    def hash(self) -> str:
        return self.as_class().hash

    def probability(self, state: int, action: int, after: int) -> float:
        """Return P(after | state, action)."""
        return self.transitions.probability(0, state, action, after)

    def as_class(self) -> SimulatorClass:
        """Return the class of this one model; it shares the memory."""
        return _class_of(self)


@asked_once
def _class_of(model: TabularMDP) -> SimulatorClass:
    from simgap.mdp.simulators import SimulatorClass

    names = tuple(model.parameters)
    theta = np.array([[float(model.parameters[name]) for name in names]])
    return SimulatorClass(
        transitions=model.transitions,
        rewards=model.rewards,
        start=np.asarray(model.start),
        model_names=(model.name,),
        labels=model.labels,
        parameters=Parameters(names, theta.reshape(1, len(names))),
        notes=model.notes,
        grid=model.grid,
    )
