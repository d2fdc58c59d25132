"""What a real log says about each of a few models of a simulator with equations.

A class on a grid is a table, and a table that rounds states calls some steps of a real
machine impossible. So its models are judged by the simulator behind it: its equations
at each model's parameters predict one step and five from every place of the log, for
each delay of actions, and the size of the errors is integrated out as for a simulator.
A test of what is left over says of every model whether it explains the log.

Coordinates on a circle are compared by cosine and sine. Ends of episodes are no part of
the equations: steps are predicted as if the episode went on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.identification.fit_test import Fit, tested_fit
from simgap.continuous.identification.modes import Mode
from simgap.continuous.identification.predictions import (
    LENGTHS,
    Windows,
    delays_up_to,
    log_likelihood,
    usable_windows,
)
from simgap.continuous.identification.real_log import RealLog
from simgap.continuous.interfaces import Box, Choices, Space
from simgap.errors import InvalidArgument
from simgap.instances import CONTROLS
from simgap.mdp import Discretisation, StateGrid
from simgap.text import listed

SAME = 1e-9  # of the range of actions: what rounding may move one by


@final
@dataclass(frozen=True, slots=True, eq=False)
class JudgedModels:
    """A posterior over M models and D delays, and a test of each model."""

    delays: OffsetArray  # (D,)
    log_likelihood: FloatArray  # (M, D, K), for K lengths of predictions
    fits: tuple[Fit, ...]  # (M,), each at its likeliest delay
    axes: tuple[str, ...]  # the coordinate of every channel of a fit

    def weights(self, prior: FloatArray) -> FloatArray:
        """Return the posterior (M, D, K) of each length; all delays begin alike."""
        with np.errstate(divide="ignore"):
            logs = self.log_likelihood + np.log(prior)[:, None, None]
        sizes = np.exp(logs - logs.max(axis=(0, 1)))
        found: FloatArray = sizes / sizes.sum(axis=(0, 1))
        return found


def judged_models(
    table: Discretisation,
    log: RealLog,
    *,
    longest_delay: int = 0,
    false_alarm: float = 0.01,
) -> JudgedModels:
    """Return what a log says about every model of a class on a grid."""
    states = _states(table, log.observation)
    action, told = _actions(table, log)
    seen_log = replace(
        log,
        observation=_channels(table.grid, states),
        action=told,
        next_observation=_channels(table.grid, _states(table, log.next_observation)),
    )
    delays = delays_up_to(longest_delay)
    seen = usable_windows(seen_log, LENGTHS, before=int(delays.max()) + 1)
    levels = (
        table.physics.actions[told[:, 0].astype(np.int64)]
        if isinstance(action, Choices)
        else told[:, 0]
    )
    modes = [
        [
            [_mode(table, m, delay, each, states, levels) for each in seen]
            for delay in delays.tolist()
        ]
        for m in range(len(table.simulators))
    ]
    likely = np.array(
        [[[mode.log_likelihood for mode in row] for row in rows] for rows in modes]
    )
    if not np.isfinite(likely).any(axis=(0, 1)).all():
        raise InvalidArgument(
            f"{table.physics.name} shows no finite numbers in any model when it starts "
            "where the log was",
            hint="are the observations of the log in the order and the units of the "
            "simulator's?",
            code="no-predictions",
        )
    best = likely.sum(axis=2).argmax(axis=1)
    fits = tuple(
        tested_fit(
            list(zip(seen, rows[at], strict=True)), action, false_alarm=false_alarm
        )
        for rows, at in zip(modes, best.tolist(), strict=True)
    )
    return JudgedModels(delays, likely, fits, _axes(table.grid))


def _mode(
    table: Discretisation,
    member: int,
    delay: int,
    seen: Windows,
    states: FloatArray,
    levels: FloatArray,
) -> Mode:
    """Return the errors of one model at one delay, with nothing left to choose."""
    points, theta = states[seen.rows], table.thetas[member]
    for at in range(seen.steps):
        points = table.physics.moved(
            theta, points, levels[seen.rows + at - delay]
        ).state
    predicted = _channels(table.grid, points)[:, seen.channels] / seen.scale
    errors = seen.observed - predicted
    likely = log_likelihood((errors.T @ errors)[None], seen.rows.size)
    return Mode(
        point=np.zeros(0),
        delay=delay,
        log_likelihood=float(likely[0]),
        errors=np.nan_to_num(errors),
        slopes=np.zeros((*errors.shape, 0)),
        covariance=np.zeros((0, 0)),
    )


def _states(table: Discretisation, observations: FloatArray) -> FloatArray:
    """Return observations as coordinates of the grid, (N, O) -> (N, d).

    They are the coordinates themselves, or what the environment of that name shows.
    """
    axes, known = table.grid.axes, CONTROLS.get(table.physics.name)
    if observations.shape[1] == len(axes):
        return observations
    try:
        assert known is not None
        return known.state_of(observations)
    except (AssertionError, ValueError):
        names = listed([axis.name for axis in axes])
        raise InvalidArgument(
            f"the log has {observations.shape[1]} observations in a row, "
            f"{table.physics.name} {len(axes)} coordinates",
            hint=f"its columns obs_0, obs_1, ... are {names}, in this order"
            + (", or what the environment shows" if known else ""),
            code="log-width",
        ) from None


def _actions(table: Discretisation, log: RealLog) -> tuple[Space, FloatArray]:
    """Return what can be done, and the actions of a log: numbers, or their places."""
    physics, known = table.physics, CONTROLS.get(table.physics.name)
    if log.action.shape[1] != 1:
        raise InvalidArgument(
            f"the log has {log.action.shape[1]} actions in a row, {physics.name} 1",
            hint="its column is act_0",
            code="log-width",
        )
    told, levels = log.action[:, 0], physics.actions
    if known is not None and not known.actions:  # any torque: a table has some of them
        return Box(levels[:1], levels[-1:]), log.action
    apart = np.abs(told[:, None] - levels)
    wrong = np.flatnonzero(apart.min(axis=1) > SAME * max(1.0, float(np.ptp(levels))))
    if wrong.size:
        raise InvalidArgument(
            f"action {told[wrong[0]]:g} in step {wrong[0]} of the log",
            hint=f"actions of {physics.name} are "
            f"{listed([f'{each:g}' for each in levels.tolist()])}",
            code="log-action",
        )
    return Choices(levels.size), apart.argmin(axis=1)[:, None].astype(np.float64)


def _channels(grid: StateGrid, states: FloatArray) -> FloatArray:
    """Return numbers that can be compared, (n, d) -> (n, C)."""
    found = []
    for axis, column in zip(grid.axes, states.T, strict=True):
        if axis.periodic:
            turn = 2.0 * np.pi * column / (axis.high - axis.low)
            found += [np.cos(turn), np.sin(turn)]
        else:
            found.append(column)
    return np.column_stack(found)


def _axes(grid: StateGrid) -> tuple[str, ...]:
    return tuple(
        axis.name for axis in grid.axes for _ in range(2 if axis.periodic else 1)
    )
