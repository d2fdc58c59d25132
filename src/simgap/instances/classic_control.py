"""Gymnasium's classic-control simulators as classes on a grid of states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_STATES,
    Points,
    check_volume,
    checked_grid,
    checked_points,
    checked_whole,
)
from simgap.instances.classic_physics import CONTROLS, TORQUE, Control, control
from simgap.instances.spelling import suggestion
from simgap.instances.toy_text import Terminal
from simgap.mdp import (
    Axis,
    Discretisation,
    Interpolation,
    NodeSet,
    Physics,
    SimulatorClass,
    StateGrid,
    discretise,
)

NOTHING: Mapping[str, Points] = {}
TORQUES = 5
MOST_TORQUES = 1_000


def classic_control(
    gym_id: str,
    *,
    grid: Mapping[str, Points] = NOTHING,
    cells: int | Sequence[int] | None = None,
    actions: int | None = None,
    scheme: Interpolation = Interpolation.MULTILINEAR,
    terminal: Terminal = Terminal.RESTART,
    states: NodeSet | None = None,
) -> Discretisation:
    """Return a Gymnasium simulator as a class over a grid of its parameters.

    `cells` are the nodes along each coordinate (one number: along all), `actions` the
    evenly spaced torques of Pendulum-v1. Without `states` those are kept that every
    model reaches and leaves, or, where an end is kept for ever, that some model
    reaches. The class is `.simulators`.
    """
    known = control(gym_id)
    for name in grid:
        if name not in known.parameters:
            raise InvalidInstance(
                f"{gym_id} has no parameter {name!r}",
                hint=suggestion(name, tuple(known.parameters)),
            )
    points = checked_grid(
        {
            name: checked_points(name, grid.get(name, each.default), each.allowed)
            for name, each in known.parameters.items()
        }
    )
    shape = _shape(known, cells)
    physics = _physics(known, actions)
    if known.ends and terminal is Terminal.ERROR:
        raise InvalidInstance(
            f"episodes of {gym_id} end",
            hint="choose terminal=restart (back to the start) or terminal=absorb",
        )
    absorbs = known.ends and terminal is Terminal.ABSORB
    if absorbs and states is NodeSet.COMMUNICATING:
        raise InvalidInstance(
            f"{gym_id} with terminal=absorb has no way back from its end",
            hint="choose terminal=restart, or states=reachable or all",
        )
    usual = NodeSet.REACHABLE if absorbs else NodeSet.COMMUNICATING
    members = prod(len(each) for each in points.values())
    corners = len(shape) + 1 if scheme is Interpolation.SIMPLEX else 2 ** len(shape)
    check_volume(
        f"{gym_id} at {'x'.join(str(n) for n in shape)} nodes",
        prod(shape) * len(physics.actions) * members * corners,
    )
    axes = tuple(
        Axis(each.name, each.low, each.high, nodes, each.periodic)
        for each, nodes in zip(known.coordinates, shape, strict=True)
    )
    return discretise(
        physics,
        StateGrid(axes),
        points,
        scheme=scheme,
        restart=not absorbs,
        states=usual if states is None else states,
        notes=(f"equations and time step of Gymnasium's {gym_id}",),
    )


def simulator_of(simulators: SimulatorClass) -> Discretisation | None:
    """Return a class on a grid with its simulator, if that is at hand.

    It is where the class was made in this process; classic control is known by its
    name, parameters and actions, also to a class from a file.
    """
    origin = simulators.grid
    if origin is None:
        return None
    if origin.physics is not None:
        return Discretisation(simulators, origin.physics)
    known = CONTROLS.get(origin.simulator)
    named = {*origin.fixed, *simulators.theta.names}
    if known is None or set(known.parameters) != named or not origin.actions:
        return None
    physics = _physics(known, None if known.actions else len(origin.actions))
    same = tuple(physics.actions.tolist()) == origin.actions
    same &= physics.action_names == simulators.labels.actions
    return Discretisation(simulators, physics) if same else None


def _shape(known: Control, cells: int | Sequence[int] | None) -> tuple[int, ...]:
    """Return the nodes along every coordinate."""
    if cells is None:
        return known.cells
    axes = len(known.coordinates)
    given = [cells] * axes if isinstance(cells, int | np.integer) else list(cells)
    if len(given) == 1:
        given = given * axes
    if len(given) != axes:
        names = ", ".join(each.name for each in known.coordinates)
        raise InvalidInstance(
            f"cells are {'x'.join(str(each) for each in given)}, {known.gym_id} has "
            f"{axes} coordinates ({names})",
            hint=f"write {'x'.join(str(each) for each in known.cells)}, or one number "
            "for all",
        )
    shape = tuple(
        checked_whole(f"cells of {each.name}", nodes, least=2)
        for each, nodes in zip(known.coordinates, given, strict=True)
    )
    if prod(shape) > MOST_STATES:
        raise InvalidInstance(
            f"cells {'x'.join(str(each) for each in shape)} are {prod(shape)} states",
            hint=f"at most {MOST_STATES} are built",
        )
    return shape


def _physics(known: Control, actions: int | None) -> Physics:
    levels, names = known.actions, known.action_names
    if not levels:
        count = TORQUES if actions is None else actions
        count = checked_whole("actions", count, least=2, most=MOST_TORQUES)
        # exact ends and an exact 0 in the middle
        levels = tuple(
            TORQUE * (2 * i - (count - 1)) / (count - 1) for i in range(count)
        )
        names = tuple(f"torque={level:.6g}" for level in levels)
    elif actions is not None:
        raise InvalidInstance(
            f"{known.gym_id} has the actions {', '.join(names)}",
            hint="only torques can be chosen: leave actions out",
        )
    return Physics(
        name=known.gym_id,
        step=known.step,
        actions=np.array(levels),
        action_names=names,
        start=known.start,
        reward_range=known.reward_range,
        ends=known.ends,
    )
