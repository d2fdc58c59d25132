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

A simulator with randomness of its own is sampled: a row is the mean of `samples` such
mixtures, and the class says how large the error of sampling may be. Without `samples`
the simulator is refused, because one random step would stand for all of them. All
models should use the same random stream (those of `environment_physics` do); otherwise
they differ by their samples alone.

The noise has one more effect, which returns do not show: a state rounded to the grid
says less about theta than the state itself, from which theta could be computed after
one step of a deterministic simulator. The class is the problem of an agent that sees
rounded states.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument, InvalidModel, RandomSimulator
from simgap.mdp.grid_origin import GRID_NOISE, GridOrigin
from simgap.mdp.grid_states import NodeSet, NodeSteps, kept_nodes, numbered
from simgap.mdp.labels import Labels, Parameters
from simgap.mdp.node_table import NodeTable
from simgap.mdp.parametric import name_of
from simgap.mdp.physics import OneStepError, Physics, StepTally, Theta
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.state_grid import Interpolation, StateGrid

END = "end"
TRIED_TWICE = 500  # nodes from which a step is repeated, to notice randomness
MOST_MOVED = 0.05  # of the probability, to nodes near those that are left out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Discretisation:
    """A class on a grid, with the simulator it stands for."""

    simulators: SimulatorClass  # its `grid` has the rest
    physics: Physics

    @property
    def origin(self) -> GridOrigin:
        """Where the class comes from."""
        assert self.simulators.grid is not None
        return self.simulators.grid

    @property
    def thetas(self) -> tuple[Theta, ...]:
        """All parameters of every model, also those that do not vary, (M,)."""
        fixed, theta = self.origin.fixed, self.simulators.theta
        return tuple(
            {**fixed, **theta.of(member)} for member in range(len(self.simulators))
        )

    @property
    def grid(self) -> StateGrid:
        return self.origin.grid

    @property
    def scheme(self) -> Interpolation:
        return self.origin.scheme

    @property
    def restart(self) -> bool:
        """Whether `end` leads to the start."""
        return self.origin.restart

    @property
    def state_of_node(self) -> OffsetArray:
        return self.origin.state_of_node

    @property
    def one_step(self) -> OneStepError:
        return self.origin.one_step

    @property
    def end(self) -> int | None:
        """The state of an episode that is over; None if episodes do not end."""
        return self.origin.end


def discretise(
    physics: Physics,
    grid: StateGrid,
    parameters: Mapping[str, Sequence[float]],
    *,
    scheme: Interpolation = Interpolation.MULTILINEAR,
    restart: bool = True,
    states: NodeSet = NodeSet.ALL,
    samples: int = 1,
    notes: tuple[str, ...] = (),
) -> Discretisation:
    """Return the class of a simulator over a product grid of its parameters.

    Parameters with one value are told in a note; the others name the models, the last
    one moving fastest. `samples` are the steps from every node with every action of a
    simulator that has randomness of its own.
    """
    thetas = _product(parameters)
    varying = tuple(name for name, points in parameters.items() if len(points) > 1)
    if len(physics.start) != len(grid.axes):
        raise InvalidArgument(
            f"{physics.name} starts in {len(physics.start)} coordinates, the grid has "
            f"{len(grid.axes)} axes",
            hint="give one axis per coordinate",
        )
    _check_luck(physics, grid, thetas, samples)
    if states is NodeSet.COMMUNICATING and physics.ends and not restart:
        raise InvalidArgument(
            "nothing leads back from an end that is kept for ever",
            hint="let episodes restart, or keep other states (reachable, all)",
        )
    start = grid.law_of_uniform(physics.start)
    tally = StepTally(len(grid.axes))
    steps, paid = [], []
    for theta in thetas:
        went, rewards = _steps(physics, grid, theta, scheme, tally, samples)
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
    fixed = {name: at for name, at in thetas[0].items() if name not in varying}
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
            *_told(physics, grid, scheme, restart, states, kept, measured, samples),
        ),
        grid=GridOrigin(
            simulator=physics.name,
            grid=grid,
            scheme=scheme,
            states=states,
            ends=physics.ends,
            restart=restart,
            fixed=fixed,
            state_of_node=table.state_of_node,
            one_step=measured,
            actions=tuple(physics.actions.tolist()),
            samples=samples,
            physics=physics,
        ),
    )
    return Discretisation(simulators, physics)


def _check_luck(
    physics: Physics, grid: StateGrid, thetas: Sequence[Theta], samples: int
) -> None:
    """Raise if steps from one state differ and one sample would stand for them."""
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < 1:
        raise InvalidArgument(
            f"samples is {samples!r}", hint="a whole number, such as 200"
        )
    if samples > 1:
        return
    some = np.unique(np.linspace(0, grid.size - 1, TRIED_TWICE).astype(np.int64))
    states = grid.points[some]
    for theta in {id(each): each for each in (thetas[0], thetas[-1])}.values():
        for action in physics.actions.tolist():
            levels = np.full(len(states), action)
            once, again = (physics.moved(theta, states, levels) for _ in range(2))
            apart = _differ(once.state, again.state).any(axis=1)
            apart |= _differ(once.reward, again.reward) | (once.ended != again.ended)
            if apart.any():
                at = int(np.argmax(apart))
                raise RandomSimulator(
                    f"{physics.name} steps from {states[at]} to {once.state[at]} with "
                    f"reward {once.reward[at]:.9g}, and from the same state to "
                    f"{again.state[at]} with {again.reward[at]:.9g}",
                    hint="its steps are random: discretise(..., samples=200) takes "
                    "the mean of 200 steps; or put() does not set everything that a "
                    "step depends on",
                )


def _differ(once: FloatArray, again: FloatArray) -> BoolArray:
    """Return where two numbers differ; what is no number is refused elsewhere."""
    return np.asarray((once != again) & np.isfinite(once) & np.isfinite(again))


def _product(parameters: Mapping[str, Sequence[float]]) -> tuple[Theta, ...]:
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
    samples: int,
) -> tuple[NodeSteps, FloatArray]:
    """Return where one model goes from every node, and what it pays, (nodes, A)."""
    points = grid.points
    corners, weights, rewards = [], [], []
    for action in physics.actions.tolist():
        paid: FloatArray = np.zeros(grid.size)
        for _ in range(samples):
            moved = physics.moved(theta, points, np.full(grid.size, action))
            lower, part = grid.located(moved.state)
            nodes, shares = grid.corners_of_cell(lower, part, scheme)
            nodes[moved.ended] = grid.size
            shares[moved.ended] = 0.0
            shares[moved.ended, 0] = 1.0
            goes_on = ~moved.ended
            motion, far = moved.state - points, grid.beyond(moved.state)
            tally.add(part[goes_on], motion[goes_on], far[goes_on])
            corners.append(nodes.astype(np.int32))
            weights.append(shares / samples)
            paid += physics.checked_rewards(moved.reward)
        rewards.append(paid / samples)
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
    samples: int,
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
    if samples > 1:
        told.append(
            f"samples={samples}: steps are random, and every row is the mean "
            f"of {samples} steps, which moves a probability by up to "
            f"{0.5 / samples**0.5:.2g} (one standard error)"
        )
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
