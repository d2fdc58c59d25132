"""A continuous simulator with parameters as a class of tables on one grid.

The states of the table are nodes of a grid. From node x under action a and parameters
theta the simulator itself makes one step to x'; the table goes to the corners of the
cell of x' with the weights of `state_grid` as probabilities, and is paid what the
simulator pays at (x, a). So, inside the grid, the mean of the next state is the
simulator's own next state, and the table differs from the simulator by noise whose
standard deviation is at most half a cell per axis and step.

A simulator that ends has one more state, `end`, entered when x' itself has ended, never
by interpolation: all nodes are alive, and one on the border of the goal stands for the
states just before it. From `end` every action leads to the start law, or nowhere, with
reward 0, as for the toy-text environments.

The noise has a price that no measure of returns shows: a state seen through the grid
says less about theta than the state itself, which in a deterministic simulator gives
theta away in one step. The class is the problem of an agent that sees rounded states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp.grid_states import NodeSet, NodeSteps, kept_nodes, numbered
from simgap.mdp.labels import Labels, Parameters
from simgap.mdp.node_table import NodeTable
from simgap.mdp.one_step import OneStepError, StepTally
from simgap.mdp.parametric import name_of
from simgap.mdp.physics import Physics, Theta
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.state_grid import Interpolation, StateGrid

END = "end"
GRID_NOISE = "the spread of the corners is noise that the simulator does not have"
MOST_MOVED = 0.05  # of the probability, to nodes near those that are left out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Discretisation:
    """A class on a grid, with the simulator it stands for."""

    simulators: SimulatorClass
    physics: Physics
    grid: StateGrid
    thetas: tuple[Theta, ...]  # (M,), all parameters, also those that do not vary
    scheme: Interpolation
    restart: bool  # whether `end` leads to the start
    state_of_node: OffsetArray  # (nodes,), its own state or that of the nearest one
    one_step: OneStepError

    @property
    def end(self) -> int | None:
        """The state of an episode that is over; None if episodes do not end."""
        return self.simulators.n_states - 1 if self.physics.ends else None


def discretise(
    physics: Physics,
    grid: StateGrid,
    parameters: Mapping[str, Sequence[float]],
    *,
    scheme: Interpolation = Interpolation.MULTILINEAR,
    restart: bool = True,
    states: NodeSet = NodeSet.ALL,
    notes: tuple[str, ...] = (),
) -> Discretisation:
    """Return the class of a simulator over a product grid of its parameters.

    Parameters with one value are told in a note; the others name the models, the last
    one moving fastest.
    """
    thetas = _thetas(physics, grid, parameters)
    if states is NodeSet.COMMUNICATING and physics.ends and not restart:
        raise InvalidArgument(
            "nothing leads back from an end that is kept for ever",
            hint="let episodes restart, or keep other states (reachable, all)",
        )
    start = grid.law_of_uniform(physics.start)
    tally = StepTally(len(grid.axes))
    steps, paid = [], []
    for theta in thetas:
        went, rewards = _steps(physics, grid, theta, scheme, tally)
        steps.append(went)
        paid.append(rewards)
    kept = kept_nodes(grid, steps, start, states, ends=physics.ends)
    measured = tally.measured(grid, steps, kept)
    if measured.moved_share > MOST_MOVED:
        raise InvalidModel(
            f"leaving out the nodes that not all models reach moves "
            f"{100 * measured.moved_share:.3g} % of the probability",
            hint=f"at most {100 * MOST_MOVED:g} % is allowed; keep states=reachable "
            "or all, or let the models differ less",
        )
    table = _table(physics, grid, start, kept, restart)
    varying = tuple(name for name, points in parameters.items() if len(points) > 1)
    fixed = {name: thetas[0][name] for name in parameters if name not in varying}
    nodes = grid.names()
    labels = [nodes[at] for at in np.flatnonzero(kept)] + [END] * physics.ends
    simulators = SimulatorClass(
        transitions=table.transitions(steps, physics.name),
        rewards=table.rewards(np.stack(paid)),
        start=_law(start, table),
        model_names=_model_names(physics, thetas, varying),
        labels=Labels(tuple(labels), physics.action_names),
        parameters=Parameters(
            varying,
            np.array([[each[name] for name in varying] for each in thetas]).reshape(
                len(thetas), len(varying)
            ),
        ),
        notes=(
            *notes,
            *(f"{name} = {value:.9g} in all models" for name, value in fixed.items()),
            *_told(physics, grid, scheme, restart, states, kept, measured),
        ),
    )
    return Discretisation(
        simulators,
        physics,
        grid,
        thetas,
        scheme,
        restart,
        table.state_of_node,
        measured,
    )


def _thetas(
    physics: Physics, grid: StateGrid, parameters: Mapping[str, Sequence[float]]
) -> tuple[Theta, ...]:
    if len(physics.start) != len(grid.axes):
        raise InvalidArgument(
            f"{physics.name} starts in {len(physics.start)} coordinates, the grid has "
            f"{len(grid.axes)} axes",
            hint="give one axis per coordinate",
        )
    thetas = tuple(
        dict(zip(parameters, (float(each) for each in point), strict=True))
        for point in product(*parameters.values())
    )
    if not thetas:
        raise InvalidArgument(
            "a parameter has no values", hint="give every parameter at least one"
        )
    return thetas


def _steps(
    physics: Physics,
    grid: StateGrid,
    theta: Theta,
    scheme: Interpolation,
    tally: StepTally,
) -> tuple[NodeSteps, FloatArray]:
    """Return where one model goes from every node, and what it pays, (nodes, A)."""
    points = grid.points
    corners, weights, rewards = [], [], []
    for action in physics.actions.tolist():
        moved = physics.moved(theta, points, np.full(grid.size, action))
        lower, part = grid.located(moved.state)
        nodes, shares = grid.corners_of_cell(lower, part, scheme)
        nodes[moved.ended] = grid.size
        shares[moved.ended] = 0.0
        shares[moved.ended, 0] = 1.0
        goes_on = ~moved.ended
        motion = moved.state - points
        tally.add(part[goes_on], motion[goes_on], grid.beyond(moved.state)[goes_on])
        corners.append(nodes.astype(np.int32))
        weights.append(shares)
        rewards.append(physics.checked_rewards(moved.reward))
    went = NodeSteps(np.concatenate(corners, axis=1), np.concatenate(weights, axis=1))
    return went, np.stack(rewards, axis=1)


def _table(
    physics: Physics,
    grid: StateGrid,
    start: FloatArray,
    kept: BoolArray,
    restart: bool,
) -> NodeTable:
    number = owned(numbered(grid, kept))
    n_states, n_actions = int(kept.sum()) + physics.ends, len(physics.actions)
    if not physics.ends:
        return NodeTable(n_states, n_actions, kept, number, None)
    after: FloatArray = np.zeros(n_states)
    if restart:
        np.add.at(after, number, start)
    else:
        after[-1] = 1.0
    return NodeTable(n_states, n_actions, kept, number, after)


def _law(start: FloatArray, table: NodeTable) -> FloatArray:
    """Return the start law on states; what nodes left out had goes with them."""
    law: FloatArray = np.zeros(table.n_states)
    np.add.at(law, table.state_of_node, start)
    return law


def _model_names(
    physics: Physics, thetas: Sequence[Theta], varying: tuple[str, ...]
) -> tuple[str, ...]:
    names = [
        name_of({name: theta[name] for name in varying}) or physics.name
        for theta in thetas
    ]
    return tuple(names) if len(set(names)) == len(names) else ()


def _told(
    physics: Physics,
    grid: StateGrid,
    scheme: Interpolation,
    restart: bool,
    states: NodeSet,
    kept: BoolArray,
    measured: OneStepError,
) -> list[str]:
    nodes = ", ".join(
        f"{axis.name} in {axis.cells} nodes {axis.spacing:.4g} apart"
        + (
            " on a circle"
            if axis.periodic
            else f" from {axis.low:.4g} to {axis.high:.4g}"
        )
        for axis in grid.axes
    )
    noise = ", ".join(
        f"{axis.name} {spread:.3g} (motion {motion:.3g})"
        for axis, spread, motion in zip(
            grid.axes, measured.spread, measured.motion, strict=True
        )
    )
    told = [
        f"grid: {nodes}",
        f"scheme={scheme.value}: a step leads to corners of the cell it ends in, whose "
        "mean is the simulator's next state",
        f"{GRID_NOISE}, root mean square per step: {noise}",
    ]
    if physics.ends:
        where = "to the start" if restart else "nowhere"
        told.append(
            f"terminal={'restart' if restart else 'absorb'}: an episode that is over "
            f"is in state {END!r}, which leads {where} with reward 0"
        )
    if measured.beyond_share > 0.0:
        far = ", ".join(
            f"{axis.name} by up to {beyond:.3g}"
            for axis, beyond in zip(grid.axes, measured.beyond, strict=True)
            if beyond > 0.0
        )
        told.append(
            f"{100 * measured.beyond_share:.3g} % of the steps leave the grid ({far}) "
            "and are moved to its border"
        )
    if not kept.all():
        lost = f"states={states.value}: {int((~kept).sum())} of {grid.size} nodes"
        told.append(
            f"{lost} left out; {100 * measured.moved_share:.3g} % of the probability "
            "went to them and goes to the nearest others"
            if measured.moved_share > 0.0
            else f"{lost} left out, to which no step leads"
        )
    return told
