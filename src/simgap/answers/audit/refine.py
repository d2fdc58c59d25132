"""A ladder of grids: does the answer stand still when the cells become smaller?

Every rung is the same simulator on a grid with about half as many nodes again along
every axis, audited like the first. The answer stands still when, on two rungs in a row,
one bracket of the average loss leaves the other by no more than TOLERANCE, a part of
what is at stake; the verdict of both tables is the same; and the grid adds less noise
than a step moves. A limit of time, of size or of rungs ends the ladder before; the
verdict then stays open.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

from simgap._kernels.time_limit import time_limited
from simgap.answers.audit.grid import left_open
from simgap.answers.audit.losses import LARGEST_LOSSES, LARGEST_THOROUGH, Settings
from simgap.answers.audit.table import audited_table, next_commands
from simgap.answers.audit.verdict import Judgement
from simgap.answers.model import NamedModel
from simgap.answers.planned_class import Tell
from simgap.answers.time_limits import whole_time
from simgap.errors import InvalidArgument, InvalidModel, OutOfTime
from simgap.instances import simulator_of
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
from simgap.records import Audit, Ladder, Rung, Verdict
from simgap.text import percent

FACTOR = 1.5  # nodes along every axis, from rung to rung
TOLERANCE = 0.01  # of what is at stake: how far a bracket may move
MOST_RUNGS = 6
TIME = 6.0  # limits of one planning, for the whole ladder


class LadderEnd(Enum):
    """Why there is no further rung."""

    STANDS_STILL = "the answer stands still"
    OUT_OF_TIME = "stopped at the time limit"
    OUT_OF_SIZE = "stopped at the largest table"
    OUT_OF_RUNGS = "stopped at the last rung allowed"
    NOT_MADE = "a finer table could not be made"


def climbed(
    given: NamedModel,
    horizon: int,
    settings: Settings,
    *,
    progress: Tell | None = None,
) -> Audit:
    """Return the audit of a class on finer and finer grids, until one stands still."""
    begin, limit = working_seconds(), TIME * settings.time_limit
    rungs: list[Rung] = []
    table = _at_hand(given.latent)
    while True:
        since = working_seconds()
        left = max(1.0, limit - (since - begin))
        planning = replace(settings, time_limit=min(settings.time_limit, left))
        try:
            with time_limited(whole_time(planning.time_limit)):
                made = audited_table(given, horizon, planning, progress=progress)
        except OutOfTime:
            if not rungs:
                raise
            end = LadderEnd.OUT_OF_TIME
            break
        found, verdict = made
        rungs.append(_rung(table, found, verdict))
        if progress is not None:
            progress(f"{'x'.join(str(n) for n in rungs[-1].cells)} nodes audited")
        if len(rungs) > 1 and _stands_still(rungs[-2], rungs[-1], table):
            end = LadderEnd.STANDS_STILL
            break
        if len(rungs) >= MOST_RUNGS:
            end = LadderEnd.OUT_OF_RUNGS
            break
        grid = finer(table.grid)
        grown = grid.size / table.grid.size
        now = working_seconds()
        # the first rung has costs of its own, and says little about the next one
        next_one = grown * (now - since) if len(rungs) > 1 else 0.0
        if now - begin + next_one > limit:
            end = LadderEnd.OUT_OF_TIME
            break
        if _too_large(table, grid, horizon, thorough=settings.thorough):
            end = LadderEnd.OUT_OF_SIZE
            break
        try:
            table = remade(table, grid)
        except InvalidModel:
            end = LadderEnd.NOT_MADE
            break
        given = replace(given, latent=LatentMDP(table.simulators, given.latent.prior))
    if end is not LadderEnd.STANDS_STILL and found.verdict_code is None:
        found = _still_moving(found, rungs, end)
    return replace(
        found,
        ladder=Ladder(end.value, TOLERANCE, tuple(rungs)),
        next=next_commands(given, horizon, found.verdict, settings, refined=True),
    )


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
            hint="name the instance (discretise:...), or call simgap.audit with "
            "refine=True where the class is made",
        )
    return table


def _rung(table: Discretisation, found: Audit, verdict: Verdict) -> Rung:
    return Rung(
        cells=table.grid.shape,
        states=found.states,
        noise=max(table.origin.noise.values()),
        average_gap=found.average_gap,
        at_stake=found.at_stake or 0.0,
        verdict=verdict,
        in_simulator=found.in_simulator,
    )


def _stands_still(before: Rung, now: Rung, table: Discretisation) -> bool:
    if before.verdict != now.verdict or table.origin.too_coarse:
        return False
    if before.average_gap is None or now.average_gap is None:
        return False
    brackets = before.average_gap.ends, now.average_gap.ends
    both = max(high for _, high in brackets) - min(low for low, _ in brackets)
    widest = max(high - low for low, high in brackets)
    return both - widest <= TOLERANCE * now.at_stake


def _too_large(
    table: Discretisation, grid: StateGrid, horizon: int, *, thorough: bool
) -> bool:
    """Return whether a table would not be built, or not be planned for."""
    rows = grid.size * table.simulators.n_actions * len(table.simulators)
    simplex = table.scheme is Interpolation.SIMPLEX
    corners = len(grid.axes) + 1 if simplex else 2 ** len(grid.axes)
    room = LARGEST_THOROUGH if thorough else LARGEST_LOSSES
    numbers = rows * corners * table.origin.samples
    return numbers > MOST_NUMBERS or 8.0 * horizon * rows > room


def _still_moving(found: Audit, rungs: list[Rung], end: LadderEnd) -> Audit:
    """Return the last audit with its verdict left open."""
    parts = ", ".join(
        percent((rung.average_gap.upper if rung.average_gap else 0.0) / rung.at_stake)
        for rung in rungs
        if rung.at_stake > 0.0
    )
    headline = (
        f"Undecided: grid too coarse. On {len(rungs)} grids the loss does not stand "
        f"still (at most {parts} of what random actions lose): {end.value}."
    )
    table = Judgement(found.verdict, found.headline, found.reason)
    judged = left_open(table, headline, "answer-moves")
    return replace(
        found,
        verdict=judged.verdict,
        headline=judged.headline,
        reason=judged.reason,
        verdict_code=judged.code,
        everywhere=None,
        passed=all(each.status != "fail" for each in found.findings),
    )
