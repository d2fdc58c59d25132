"""How far predictions are off: worlds are put where the log was, and step on.

A *window* begins at a row of the log. The worlds are placed at what was observed there,
get the commands of the log (those of `delay` steps before), and what they show after so
many steps is compared with what was observed. One world per candidate meets the same
windows, so that a simulator that holds one world per object makes few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast, final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.identification.real_log import RealLog
from simgap.continuous.interfaces import Choices, Placeable, Simulator
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.simulators.delay import DELAY
from simgap.errors import InvalidArgument
from simgap.text import counted

LENGTHS = (1, 5)  # steps of a prediction
LEAST_WINDOWS = 20  # of one step
MOST_WINDOWS = 2_000  # of each length
FLOOR = 1e-4  # of a channel's deviation: what no log is better than


@final
@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Places of a log from where so many steps are predicted."""

    log: RealLog
    steps: int
    rows: OffsetArray  # (W,)
    scale: FloatArray  # (C,), of the channels that are compared
    channels: OffsetArray  # (C,), those that change at all

    @property
    def observed(self) -> FloatArray:
        """What was seen at the end of each window, (W, C), in units of `scale`."""
        ends = self.log.next_observation[self.rows + self.steps - 1]
        found: FloatArray = ends[:, self.channels] / self.scale
        return found


def windows(log: RealLog, steps: int, *, before: int, most: int) -> Windows:
    """Return windows that share no step, at most so many, evenly over the log."""
    rows = log.starts(steps, before=before, apart=steps)
    if rows.size > most:
        rows = rows[np.linspace(0, rows.size - 1, most).round().astype(np.int64)]
    scale = log.next_observation.std(axis=0)
    moving = np.flatnonzero(np.ptp(log.next_observation, axis=0) > 0.0)
    return Windows(log, steps, rows, scale[moving], moving)


def usable_windows(
    log: RealLog, lengths: tuple[int, ...], *, before: int
) -> tuple[Windows, ...]:
    """Return the windows of each length that is long enough to say something.

    `before` are the steps in front of a window that say what was done.
    """
    seen = [windows(log, steps, before=before, most=MOST_WINDOWS) for steps in lengths]
    if seen[0].rows.size < LEAST_WINDOWS:
        raise InvalidArgument(
            f"{counted(len(log), 'step')} in {counted(log.n_episodes, 'episode')}: the "
            f"first {before} of each only say what was done before, "
            f"{seen[0].rows.size} are left",
            hint=f"record at least {LEAST_WINDOWS + before} steps without a gap",
            code="log-short",
        )
    if not seen[0].channels.size:
        raise InvalidArgument(
            "no observation of the log ever changes",
            hint="move the machine while it is recorded",
            code="log-still",
        )
    return tuple(each for each in seen if each.rows.size > each.channels.size + 1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Predictor:
    """A simulator whose parameters are points of a unit cube, which is nu.

    The cube has a dimension for each draw that varies but the delay, which is looked
    for in another way.
    """

    simulator: Simulator
    nu: BoundRandomization

    @property
    def free(self) -> tuple[int, ...]:
        """Return the draws of nu that are looked for, (F,)."""
        names = self.nu.names
        return tuple(at for at in self.nu.varying if names[at] != DELAY.name)

    def theta(self, points: FloatArray) -> FloatArray:
        """Return the draws at points of the cube, (n, F) -> (n, P)."""
        whole = np.full((len(points), len(self.nu.names)), 0.5)
        whole[:, self.free] = points
        return self.nu.quantile(whole)

    def errors(
        self, points: FloatArray, delays: OffsetArray, seen: Windows
    ) -> Iterator[FloatArray]:
        """Yield for each window what was seen less what each world shows, (n, C).

        World i has the parameters of point i and a delay of its own. In units of the
        channels' scales; rows of worlds that broke are NaN.
        """
        size, log = len(points), seen.log
        values = self.nu.values(self.theta(points))
        values.pop(DELAY.name, None)
        worlds = _placeable(self.simulator, values)
        alive = np.ones(size, np.bool_)
        try:
            worlds.reset(np.zeros(size, np.int64))
            for row, observed in zip(seen.rows.tolist(), seen.observed, strict=True):
                worlds.place(np.repeat(log.observation[row : row + 1], size, axis=0))
                for at in range(row, row + seen.steps):
                    told = log.action[at - delays]
                    if isinstance(self.simulator.action, Choices):
                        told = told[:, 0]
                    found = worlds.step(told, alive)
                predicted = found.observation[:, seen.channels] / seen.scale
                predicted[list(found.broken)] = np.nan
                yield observed - predicted
        finally:
            worlds.close()

    def all_errors(
        self, points: FloatArray, delays: OffsetArray, seen: Windows
    ) -> FloatArray:
        """Return the same for few points at once, (n, W, C)."""
        return np.stack(list(self.errors(points, delays, seen)), axis=1)

    def log_likelihood(
        self, points: FloatArray, delays: OffsetArray, seen: Windows
    ) -> FloatArray:
        """Return the log-likelihood of each point with its delay, (n,)."""
        size = seen.channels.size
        squares: FloatArray = np.zeros((len(points), size, size))
        for off in self.errors(points, delays, seen):
            squares += off[:, :, None] * off[:, None, :]
        return log_likelihood(squares, seen.rows.size)


def log_likelihood(squares: FloatArray, windows: int) -> FloatArray:
    """Return log |S|^(-W/2) of sums S of e e', (n, C, C) -> (n,).

    Errors e of W windows are normal with a covariance that nobody knows, and Jeffreys'
    prior on it is integrated out. Channels that always err together count once. A
    floor keeps a log without noise from claiming more digits than logs have.
    """
    broken = np.isnan(squares.sum(axis=(1, 2)))
    floor = windows * FLOOR**2 * np.eye(squares.shape[1])
    sizes = np.linalg.slogdet(np.where(broken[:, None, None], 0.0, squares) + floor)[1]
    return np.where(broken, -np.inf, -0.5 * windows * sizes)


def _placeable(simulator: Simulator, values: Mapping[str, FloatArray]) -> Placeable:
    worlds = simulator.instantiate(values)
    if not hasattr(worlds, "place"):
        raise InvalidArgument(
            f"{simulator.name} cannot be put where a log was: it has no set_state",
            hint="give the file of make a function set_state(env, observation) that "
            "puts the environment into the state which shows that observation",
            code="cannot-place",
        )
    return cast(Placeable, worlds)


def refuse_noise(simulator: Simulator, log: RealLog) -> None:
    """Refuse a simulator whose step is not a function of state and action."""
    values = {
        each.name: np.full(2, each.nominal)
        for each in simulator.parameters
        if np.isfinite(each.nominal)
    }
    worlds = _placeable(simulator, values)
    try:
        worlds.reset(np.arange(2, dtype=np.int64))
        worlds.place(np.repeat(log.observation[:1], 2, axis=0))
        action = np.repeat(log.action[:1], 2, axis=0)
        if isinstance(simulator.action, Choices):
            action = action[:, 0]
        after = worlds.step(action, np.ones(2, np.bool_))
    finally:
        worlds.close()
    one, two = after.observation
    if not after.broken and not np.array_equal(one, two, equal_nan=True):
        raise InvalidArgument(
            f"{simulator.name} draws random numbers: the same state and action give "
            f"{one.tolist()} and {two.tolist()}",
            hint="give adapt the simulator without noise of its own: how noisy the "
            "real log is, it finds out",
            code="simulator-draws",
        )
