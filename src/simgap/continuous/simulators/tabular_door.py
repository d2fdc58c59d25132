"""The door `model:`: a class of tables run as a black box, like any other simulator.

`model:riverswim?success=0.2:0.5:3` and `model:mine.simgap` open an instance or a file
of the certified half, and a class that was built in Python is opened as it is. What is
observed is the number of the state, what is done the number of an action. Everything
that the certified half knows of the class is then a judge of what is measured here.

The parameters are those that the models differ in. A class knows its models and
nothing between them: other values are refused, never moved to the nearest model. Where
models have no parameters, or are not all combinations of some values, so that one
cannot vary alone, the parameter is `model`, their number from 0 on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Choices, Parameter, Stepped
from simgap.continuous.randomization.draws import LOW, SHIFT, chances
from simgap.continuous.simulators.values import checked_values
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.interop import load_model, looks_like_file
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.text import listed, number

MODEL = "model"
KEY = np.uint64(0x7461626C), np.uint64(0x6573)  # of the steps that tables draw
SAME = 1e-9  # relative: a value that a text rounds is still that of its model
MOST_TOLD = 8
WORD = re.compile(r"[A-Za-z_][\w.]*")  # a name that --randomize can be given

Table = LatentMDP | SimulatorClass | TabularMDP


def open_model(text: str) -> TabularSimulator:
    """Return the simulator of an instance of the catalogue, or of a model file."""
    source = Path(text) if looks_like_file(text) else text
    return tabular_simulator(
        load_model(source, instance=build_instance), f"{MODEL}:{text}"
    )


def tabular_simulator(
    given: Table, name: str = "a class of tables"
) -> TabularSimulator:
    """Return a class as a simulator; a prior is not part of it."""
    if isinstance(given, TabularMDP):
        given = given.as_class()
    simulators = given if isinstance(given, SimulatorClass) else given.simulators
    combined = _combined(simulators)
    names = simulators.theta.names if combined else (MODEL,)
    thetas = simulators.theta.values
    if not combined:
        thetas = np.arange(len(simulators), dtype=np.float64)[:, None]
    return TabularSimulator(
        name=name,
        simulators=simulators,
        parameters=tuple(
            Parameter(
                each,
                float(column[0]),
                float(column.min()),
                float(column.max()),
                whole=not combined,
                meaning="hidden parameter of the class"
                if combined
                else "which model of the class",
            )
            for each, column in zip(names, thetas.T, strict=True)
        ),
        thetas=thetas,
    )


def _combined(simulators: SimulatorClass) -> bool:
    """Return whether the models are all combinations of values of parameters."""
    names, values = simulators.theta.names, simulators.theta.values
    sizes = [np.unique(column).size for column in values.T]
    return (
        all(WORD.fullmatch(name) for name in names)
        and bool(names)
        and len(np.unique(values, axis=0)) == len(simulators) == prod(sizes)
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class TabularSimulator:
    """A class of tables behind the interface of all simulators."""

    name: str
    simulators: SimulatorClass
    parameters: tuple[Parameter, ...]
    thetas: FloatArray  # (M, P)
    horizon: None = None
    rows: int = 1024  # worlds that are stepped together: a step is a few array sums

    @property
    def observation(self) -> Choices:
        """Return the states."""
        return Choices(self.simulators.n_states)

    @property
    def action(self) -> Choices:
        """Return the actions."""
        return Choices(self.simulators.n_actions)

    def return_bounds(self, horizon: int) -> tuple[float, float]:
        """Return the least and the greatest reward of a step, so many times."""
        rewards = self.simulators.rewards
        return horizon * float(rewards.min()), horizon * float(rewards.max())

    def instantiate(self, values: Mapping[str, FloatArray]) -> TabularWorlds:
        """Return worlds of the models that have these parameters."""
        _, every = checked_values(self, values)
        asked = np.column_stack([every[each.name] for each in self.parameters])
        return TabularWorlds(self.simulators, self._members(asked))

    def _members(self, asked: FloatArray) -> OffsetArray:
        """Return which model has the parameters of each row, (B, P) -> (B,)."""
        distinct, row = np.unique(asked, axis=0, return_inverse=True)
        members = np.empty(len(distinct), np.int64)
        for at, theta in enumerate(distinct):
            fits = np.isclose(self.thetas, theta, rtol=SAME, atol=0.0).all(axis=1)
            if not fits.any():
                raise self._no_model(theta)
            members[at] = int(np.argmax(fits))
        return members[row.reshape(-1)]

    def _no_model(self, theta: FloatArray) -> InvalidArgument:
        names = [each.name for each in self.parameters]
        told = " ".join(
            f"{name}={number(value)}" for name, value in zip(names, theta, strict=True)
        )
        has = " ".join(
            f"{name}={{{','.join(f'{each:.9g}' for each in np.unique(column))}}}"
            for name, column in zip(names, self.thetas.T, strict=True)
            if np.unique(column).size <= MOST_TOLD
        )
        return InvalidArgument(
            f"{self.name} has no model with {told}",
            hint=f"a class knows its models alone: {has or listed(names)}",
            code="no-such-model",
        )


@final
class TabularWorlds:
    """B worlds, each of one model; episodes do not end before the horizon."""

    def __init__(self, simulators: SimulatorClass, members: OffsetArray) -> None:
        self._simulators, self._members = simulators, members
        size = len(members)
        self._paid = members if len(simulators.rewards) > 1 else np.zeros(size, int)
        self._seeds = self._state = np.zeros(size, np.int64)
        self._steps = 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world, in a state drawn from its model's law."""
        self._seeds, self._steps = np.asarray(seeds, np.int64), 0
        self._state, drawn = np.empty_like(self._members), self._uniforms()
        for member in np.unique(self._members).tolist():
            here = self._members == member
            upto = np.cumsum(self._simulators.start_law(member))
            found = np.searchsorted(upto, drawn[here] * upto[-1], side="right")
            self._state[here] = found
        return self._shown()

    def place(self, observations: FloatArray) -> None:
        """Put world i into the state of that number."""
        self._state = observations[:, 0].astype(np.int64)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step in every world: a function of its seed and of the step."""
        self._steps += 1
        kernel, played = self._simulators.transitions, actions.astype(np.int64)
        reward = self._simulators.rewards[self._paid, self._state, played]
        row = self._state * kernel.n_actions + played
        begin, end = kernel.indptr[row], kernel.indptr[row + 1]
        at = begin[:, None] + np.arange(int((end - begin).max()))
        there = at < end[:, None]
        at = np.where(there, at, begin[:, None])
        upto = np.cumsum(kernel.values[self._members[:, None], at] * there, axis=1)
        drawn = self._uniforms() * upto[:, -1]
        column = (upto <= drawn[:, None]).sum(axis=1)
        self._state = kernel.indices[begin + column].astype(np.int64)
        return Stepped(self._shown(), reward, np.zeros(len(row), np.bool_))

    def close(self) -> None:
        """Nothing is held."""

    def _shown(self) -> FloatArray:
        return self._state[:, None].astype(np.float64)

    def _uniforms(self) -> FloatArray:
        """Return a number in [0, 1) for each world: of its seed and of this step."""
        seeds = self._seeds.astype(np.uint64)
        step = np.full_like(seeds, self._steps)
        return chances((seeds & LOW, seeds >> SHIFT, step, np.zeros_like(step)), KEY)
