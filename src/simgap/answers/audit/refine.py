"""A ladder of grids: does the answer stand still when the cells become smaller?

Every rung is the same simulator on a grid with about half as many nodes again along
every axis, audited like the first. The answer stands still when, on two rungs in a row,
one bracket of the average loss leaves the other by no more than `tolerance`, a part of
what is at stake; the verdict of both tables is the same; and the grid adds less noise
than a step moves. A limit of time, of size or of rungs ends the ladder before; the
verdict then stays open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import final

from simgap.answers.audit.audit import Audit, audit
from simgap.answers.audit.finding import percent
from simgap.answers.audit.grid import MOVES, undecided
from simgap.answers.audit.large_oracle import Report
from simgap.answers.audit.losses import (
    LARGEST_LOSSES,
    LARGEST_THOROUGH,
    PlanningSettings,
)
from simgap.answers.audit.verdict import Verdict
from simgap.errors import InvalidArgument, InvalidModel
from simgap.instances import simulator_of
from simgap.intervals import Certified
from simgap.mdp import (
    MOST_NUMBERS,
    Axis,
    Discretisation,
    Interpolation,
    LatentMDP,
    StateGrid,
    on_grid,
)
from simgap.oracle import working_seconds
from simgap.simulation import InSimulator

FACTOR = 1.5  # nodes along every axis, from rung to rung


class LadderEnd(Enum):
    """Why there is no further rung."""

    STANDS_STILL = "the answer stands still"
    OUT_OF_TIME = "stopped at the time limit"
    OUT_OF_SIZE = "stopped at the largest table"
    OUT_OF_RUNGS = "stopped at the last rung allowed"
    NOT_MADE = "a finer table could not be made"


@final
@dataclass(frozen=True, slots=True)
class RefineSettings:
    """How far to climb, and how the rungs are audited."""

    tolerance: float = 0.01  # of what is at stake: how far a bracket may move
    rungs: int = 6
    time_limit: float = 120.0  # seconds, for the whole ladder
    planning: PlanningSettings = field(default_factory=PlanningSettings)


@final
@dataclass(frozen=True, slots=True)
class Rung:
    """What one grid says."""

    cells: tuple[int, ...]
    states: int
    noise: float  # of a step that the grid adds / its motion, along the worst axis
    average_gap: Certified | None
    at_stake: float
    verdict: Verdict  # of the table
    in_simulator: tuple[InSimulator, ...]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Ladder:
    """All rungs, and the audit of the last one with the verdict that is left."""

    rungs: tuple[Rung, ...]
    end: LadderEnd
    settings: RefineSettings
    latent: LatentMDP  # of the last rung
    audit: Audit


DEFAULT = RefineSettings()


def refine(
    latent: LatentMDP,
    horizon: int,
    *,
    settings: RefineSettings = DEFAULT,
    progress: Report = None,
    tell: Callable[[str], None] | None = None,
) -> Ladder:
    """Return the audits of a class on finer and finer grids, until one stands still."""
    _check(settings)
    begin, rungs = working_seconds(), []
    table = _at_hand(latent)
    while True:
        since = working_seconds()
        left = max(1.0, settings.time_limit - (since - begin))
        planning = replace(
            settings.planning, time_limit=min(settings.planning.time_limit, left)
        )
        found = audit(latent, horizon, settings=planning, progress=progress)
        rungs.append(_rung(table, found))
        if tell is not None:
            tell(f"{'x'.join(str(n) for n in rungs[-1].cells)} nodes audited")
        if len(rungs) > 1 and _stands_still(rungs[-2], rungs[-1], table, settings):
            end = LadderEnd.STANDS_STILL
            break
        if len(rungs) >= settings.rungs:
            end = LadderEnd.OUT_OF_RUNGS
            break
        grid = finer(table.grid)
        grown = grid.size / table.grid.size
        now = working_seconds()
        # the first rung has costs of its own, and says little about the next one
        next_one = grown * (now - since) if len(rungs) > 1 else 0.0
        if now - begin + next_one > settings.time_limit:
            end = LadderEnd.OUT_OF_TIME
            break
        if _too_large(latent, grid, horizon, settings.planning, table):
            end = LadderEnd.OUT_OF_SIZE
            break
        try:
            table = remade(table, grid)
        except InvalidModel:
            end = LadderEnd.NOT_MADE
            break
        latent = LatentMDP(table.simulators, latent.prior)
    return Ladder(tuple(rungs), end, settings, latent, _judged(found, rungs, end))


def finer(grid: StateGrid) -> StateGrid:
    """Return a grid with about half as many nodes again along every axis.

    An odd number stays odd, so that the middle of an axis stays a node.
    """
    axes = []
    for axis in grid.axes:
        cells = max(axis.cells + 1, round(FACTOR * axis.cells))
        cells += axis.cells % 2 == 1 and cells % 2 == 0
        axes.append(Axis(axis.name, axis.low, axis.high, cells, axis.periodic))
    return StateGrid(tuple(axes))


def remade(table: Discretisation, grid: StateGrid) -> Discretisation:
    """Return the same models of the same simulator on another grid."""
    origin = table.origin
    return on_grid(
        table.physics,
        grid,
        table.thetas,
        table.simulators.theta.names,
        scheme=origin.scheme,
        restart=origin.restart,
        states=origin.states,
        samples=origin.samples,
    )


def _at_hand(latent: LatentMDP) -> Discretisation:
    if latent.simulators.on_grid is None:
        raise InvalidArgument(
            "the class is not on a grid: there is nothing to refine",
            hint="leave --refine out; a table is what it is",
        )
    table = simulator_of(latent.simulators)
    if table is None:
        raise InvalidArgument(
            f"the simulator behind {latent.on_grid} is not at hand: a file has its "
            "table alone",
            hint="name the instance (discretise:...), or call simgap.refine where the "
            "class is made",
        )
    return table


def _rung(table: Discretisation, found: Audit) -> Rung:
    lost = found.transfer
    stake = 0.0
    if lost is not None and lost.stakes is not None:
        stake = lost.stakes.average.ends[1]
    return Rung(
        cells=table.grid.shape,
        states=table.simulators.n_states,
        noise=max(table.origin.noise.values()),
        average_gap=None if lost is None else lost.average_gap,
        at_stake=stake,
        verdict=found.verdict if lost is None else lost.verdict,
        in_simulator=() if lost is None else lost.in_simulator,
    )


def _stands_still(
    before: Rung, now: Rung, table: Discretisation, settings: RefineSettings
) -> bool:
    if before.verdict is not now.verdict or table.origin.too_coarse:
        return False
    if before.average_gap is None or now.average_gap is None:
        return False
    brackets = before.average_gap.ends, now.average_gap.ends
    both = max(high for _, high in brackets) - min(low for low, _ in brackets)
    widest = max(high - low for low, high in brackets)
    return both - widest <= settings.tolerance * now.at_stake


def _too_large(
    latent: LatentMDP,
    grid: StateGrid,
    horizon: int,
    planning: PlanningSettings,
    table: Discretisation,
) -> bool:
    """Return whether a table would not be built, or not be planned for."""
    rows = grid.size * latent.simulators.n_actions * len(latent.simulators)
    simplex = table.scheme is Interpolation.SIMPLEX
    corners = len(grid.axes) + 1 if simplex else 2 ** len(grid.axes)
    room = LARGEST_THOROUGH if planning.thorough else LARGEST_LOSSES
    numbers = rows * corners * table.origin.samples
    return numbers > MOST_NUMBERS or 8.0 * horizon * rows > room


def _judged(found: Audit, rungs: list[Rung], end: LadderEnd) -> Audit:
    """Return the last audit; its verdict is open if the answer did not stand still."""
    if end is LadderEnd.STANDS_STILL or found.code is not None:
        return found
    parts = ", ".join(
        percent((rung.average_gap.ends[1] if rung.average_gap else 0.0) / rung.at_stake)
        for rung in rungs
        if rung.at_stake > 0.0
    )
    headline = (
        f"Undecided: grid too coarse. On {len(rungs)} grids the loss does not stand "
        f"still (at most {parts} of what is at stake): {end.value}."
    )
    judged = undecided(headline, found.words, MOVES)
    return replace(found, verdict=judged.verdict, words=judged.words, code=judged.code)


def _check(settings: RefineSettings) -> None:
    if not 0.0 < settings.tolerance < 1.0:
        raise InvalidArgument(
            f"a tolerance of {settings.tolerance!r}",
            hint="it is a part of what is at stake, above 0 and below 1: 0.01",
        )
    if isinstance(settings.rungs, bool) or settings.rungs < 2:
        raise InvalidArgument(
            f"{settings.rungs!r} rungs", hint="two or more, to compare them"
        )
    if not settings.time_limit > 0.0:
        raise InvalidArgument(
            f"a time limit of {settings.time_limit!r}", hint="seconds, above 0"
        )
