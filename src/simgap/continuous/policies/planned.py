"""The reference `grid`: of every theta the optimum of a table, played in the simulator.

`grid:41x41` plans, for each theta that it is told, the simulator on a grid of its
states, and plays that plan in the simulator itself: among the actions of the plan the
one whose reward and next state, which the equations of the simulator say, are worth
most, the value of the next state being interpolated between nodes. It knows theta, so
that no policy that has to find theta out is owed more; but a grid is not the simulator,
and a better policy may exist.

What the plan earns in the table is certified, for that table. It stands beside what is
measured, and differs from it by what the grid adds: noise of up to half a cell a step.
It is no bound of what can be earned in the simulator: the noise of a grid costs.

A class of tables (`model:`) is its own grid: its optimal plan is optimal there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Batch, Simulator
from simgap.continuous.simulators.tabular_door import TabularSimulator
from simgap.continuous.simulators.wrapped import WrappedSimulator
from simgap.errors import InvalidArgument
from simgap.instances import CONTROLS, Terminal, classic_control
from simgap.intervals import Certified, around
from simgap.mdp import Discretisation, NodeSet, TabularMDP
from simgap.planning import EpisodicPlan, solve_episodic
from simgap.records import ON_GRID, Certainty
from simgap.text import listed, shown

GRID = "grid"
SIZES = re.compile(rf"{GRID}(?::(\d{{1,4}}(?:x\d{{1,4}})*))?")
BUILT_IN: Mapping[str, str] = {
    "pendulum": "Pendulum-v1",
    "mountain-car": "MountainCar-v0",
}
MOST_AXES = 3
TORQUES = 9  # evenly spaced, where actions are not numbered
KEPT = 128  # plans that are kept
MOST_BYTES = 2**31  # of the plans of a batch of episodes


class Plan(Protocol):
    """The optimum of one table."""

    @property
    def optimum(self) -> Certified:
        """What it earns in the table, averaged over the start."""
        ...

    def played(self, step: int, observations: FloatArray) -> FloatArray:
        """Return the actions at a step, (B, O) -> (B,) or (B, A)."""
        ...


class Playing(NamedTuple):
    """Which plan each episode follows, and how far it is."""

    plans: tuple[Plan, ...]
    plan_of: OffsetArray  # (B,)
    step: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class GridPolicy:
    """The optimum of the table of each theta, for a horizon."""

    name: str
    source: _Control | _Tables
    steps: int  # of an episode
    nominal: Mapping[str, float] = field(repr=False)
    informed: bool = True

    @property
    def certified(self) -> Certainty:
        """What the optimum of a plan is called."""
        if isinstance(self.source, _Control):
            return ON_GRID
        return self.source.simulator.simulators.certified

    def plan(self, theta: Mapping[str, float]) -> Plan:
        """Return the plan for the simulator's parameters; others are nominal."""
        known = {name: theta.get(name, value) for name, value in self.nominal.items()}
        return _planned(self.source, tuple(map(float, known.values())), self.steps)

    def reset(self, batch: Batch) -> Playing:
        """Return the plan of each episode."""
        columns = [
            np.broadcast_to(batch.theta.get(name, value), batch.size)
            for name, value in self.nominal.items()
        ]
        thetas, plan_of = np.unique(
            np.column_stack(columns), axis=0, return_inverse=True
        )
        self._check_size(len(thetas))
        plans = (dict(zip(self.nominal, each, strict=True)) for each in thetas.tolist())
        return Playing(tuple(map(self.plan, plans)), plan_of.reshape(-1), 0)

    def _check_size(self, plans: int) -> None:
        """Raise if so many plans do not fit into memory."""
        size = plans * (self.steps + 1) * self.source.nodes * 4
        if size > MOST_BYTES:
            raise InvalidArgument(
                f"{self.name} at {plans} points is a table of {size / 2**30:.1f} GB",
                hint=f"at most {MOST_BYTES // 2**30} are kept: fewer nodes, fewer "
                "points or a shorter horizon",
                code="grid-too-large",
            )

    def act(
        self, observations: FloatArray, memory: Playing
    ) -> tuple[FloatArray, Playing]:
        """Return the actions of the plans; after its last step a plan stays there."""
        plans, plan_of, step = memory
        seen = np.nan_to_num(observations)  # of episodes that are over
        actions: list[FloatArray] = [np.empty(0)] * len(plans)
        rows = [np.flatnonzero(plan_of == at) for at in range(len(plans))]
        for at, plan in enumerate(plans):
            actions[at] = plan.played(min(step, self.steps - 1), seen[rows[at]])
        played = np.concatenate(actions)
        return played[np.argsort(np.concatenate(rows))], Playing(
            plans, plan_of, step + 1
        )


def grid_policy(
    text: str, name: str, simulator: Simulator, horizon: int | None
) -> GridPolicy:
    """Return the optimum of `grid` or `grid:41x41` in a simulator that has a table."""
    source = _source(text, simulator)
    limits = [each for each in (horizon, simulator.horizon) if each is not None]
    if not limits:
        raise InvalidArgument(
            f"{text} plans for a number of steps, and none is given",
            hint="give a horizon: -H 200",
            code="no-horizon",
        )
    nominal = {each.name: each.nominal for each in simulator.parameters}
    names = source.parameters
    return GridPolicy(
        name, source, min(limits), {each: nominal[each] for each in names}
    )


@final
@dataclass(frozen=True, slots=True)
class _Control:
    """A simulator of classic control, on a grid of so many nodes."""

    gym_id: str
    cells: tuple[int, ...]  # along each coordinate

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(CONTROLS[self.gym_id].parameters)

    @property
    def nodes(self) -> int:
        return prod(self.cells)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Tables:
    """A class of tables."""

    simulator: TabularSimulator

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.simulator.parameters)

    @property
    def nodes(self) -> int:
        return self.simulator.simulators.n_states


@lru_cache(maxsize=KEPT)
def _planned(source: _Control | _Tables, theta: tuple[float, ...], steps: int) -> Plan:
    if isinstance(source, _Tables):
        return _TablePlan(*_solved(source.simulator.model(theta), steps))
    known = CONTROLS[source.gym_id]
    table = classic_control(
        source.gym_id,
        grid={n: (v,) for n, v in zip(source.parameters, theta, strict=True)},
        cells=source.cells,
        actions=None if known.actions else TORQUES,
        terminal=Terminal.ABSORB,
        states=NodeSet.ALL,
    )
    plan, optimum = _solved(table.simulators[0], steps)
    return _GridPlan(plan.values[0].astype(np.float32), optimum, table)


def _solved(model: TabularMDP, steps: int) -> tuple[EpisodicPlan, Certified]:
    plan = solve_episodic(model, steps)
    return plan, Certified(*around(plan.start, plan.error)[0].tolist())


@final
@dataclass(frozen=True, slots=True, eq=False)
class _TablePlan:
    """An optimal plan of one model, over its own states."""

    plan: EpisodicPlan
    optimum: Certified

    def played(self, step: int, observations: FloatArray) -> FloatArray:
        states = observations[:, 0].astype(np.int64)
        actions: FloatArray = self.plan.policy[0, step, states].astype(np.float64)
        return actions


@final
@dataclass(frozen=True, slots=True, eq=False)
class _GridPlan:
    """Values of all nodes at every step, and the equations between the nodes."""

    values: AnyArray  # (H + 1, nodes, and the end), of single precision
    optimum: Certified
    table: Discretisation

    def played(self, step: int, observations: FloatArray) -> FloatArray:
        table, ahead = self.table, self.values[step + 1]
        known, physics = CONTROLS[table.physics.name], table.physics
        points, worth = known.state_of(observations), []
        for action in physics.actions.tolist():
            moved = physics.moved(table.thetas[0], points, np.full(len(points), action))
            nodes, weights = table.grid.corners(moved.state, table.scheme)
            later = (weights * ahead[nodes]).sum(axis=1)
            worth.append(moved.reward + np.where(moved.ended, 0.0, later))
        levels = np.array([known.played(each) for each in physics.actions.tolist()])
        chosen: Any = levels[np.argmax(worth, axis=0)]
        return np.asarray(chosen, np.float64)


def _source(text: str, simulator: Simulator) -> _Control | _Tables:
    """Return what can be planned, or say why not."""
    asked = SIZES.fullmatch(text)
    if asked is None:
        raise InvalidArgument(
            f"{shown(text)!r} is no grid",
            hint="write grid or grid:41x41",
            code="no-grid",
        )
    sizes = asked[1]
    inner: Any = simulator
    while isinstance(inner, WrappedSimulator):
        inner = inner.inner
    if isinstance(inner, TabularSimulator):
        if sizes:
            raise InvalidArgument(
                f"{text}: {simulator.name} is a table, which no grid refines",
                hint=f"write {GRID}",
                code="no-grid",
            )
        return _Tables(inner)
    gym_id = BUILT_IN.get(simulator.name, simulator.name.removeprefix("gym:"))
    known = CONTROLS.get(gym_id)
    if known is None or len(known.coordinates) > MOST_AXES:
        offered = [*BUILT_IN, *(f"gym:{each}" for each in BUILT_IN.values())]
        raise InvalidArgument(
            f"{simulator.name} has no table to plan in",
            hint=f"{text} is for {listed(offered)} and classes model:INSTANCE; bring "
            "an informed policy of your own: a function with a parameter theta",
            code="no-grid",
        )
    cells = tuple(int(each) for each in sizes.split("x")) if sizes else known.cells
    if len(cells) == 1:
        cells *= len(known.coordinates)
    return _Control(gym_id, cells)
