"""Algorithm 4 on the cells of a cover that is refined where the data leave it open.

    Z = Znew = []; cells = the roots, halved to the coarse radius
    k = the alive cell with the greatest bound on its gain
    for h = 1..H:
        a = policy of the centre of k, greedy for its bias l; observe s'
        append (s, a, s', l) to Znew
        if the score of (k, an alive cell) reaches 1, or Znew is as long as Z:
            Z += Znew; Znew = []
            halve alive cells until their radius is at most sqrt(log(2H) / |Z|),
                those with the greatest bounds on their gain first
            halve the one with the greatest bound until it is finer than that, too
            k = the alive cell with the greatest bound on its gain

Alive cells are those of `cover_confidence`, found anew at every switch from all data;
what can be lost is in `cover_guarantee`. Cells that are not alive are kept as they are.
The proof compares k with the real cell alone, so the score is taken over pairs with k.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log, sqrt
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.infinite.cover import Cell, FamilyCover
from simgap.base_policies.infinite.cover_confidence import (
    TOLD,
    Counts,
    Evidence,
    Played,
    evidence,
)
from simgap.base_policies.infinite.cover_guarantee import (
    ALPHA,
    TOP,
    CoverGuarantee,
    cover_guarantee,
)
from simgap.base_policies.infinite.cover_search import refined
from simgap.errors import InvalidArgument, OutsideClass
from simgap.planning import checked_horizon
from simgap.policies import (
    Step,
    check_lived,
    check_name,
    check_state,
    check_step,
    surely,
)

ROUNDING = 1e-9  # of the way to the next look, lest rounding skip a switch


@final
@dataclass(frozen=True, slots=True)
class CoverData:
    """Z, the cells, and the one that is played until the next switch."""

    played: tuple[Played, ...]  # the episodes of Z
    cells: tuple[Cell, ...]
    alive: tuple[int, ...]  # indices of cells
    current: int  # index of the cell that is played
    room: tuple[float, ...]  # for each alive cell |f_k - f_b|^2 over Z, plus alpha
    steps: int  # in Z
    held_back: bool  # whether max_cells has ever kept an alive cell too large
    misfit: float  # greatest n radius^2 / 4 of an alive cell at a switch

    @property
    def cell(self) -> Cell:
        """The cell that is played."""
        return self.cells[self.current]


@final
@dataclass(frozen=True, slots=True)
class CoverMemory:
    """What the agent remembers: Z and its cells, and counts of what came since."""

    data: CoverData
    fresh: Counts  # (S, S), steps s -> s' in Znew
    steps: int  # in Znew
    look_at: int  # steps in Znew at which the score is computed again


@final
@dataclass(frozen=True, slots=True)
class Resolution:
    """How fine a cover has become, and what follows for the regret."""

    coarsest: float  # greatest radius of an alive cell
    current: float  # radius of the cell that is played
    cells: int
    alive: int
    held_back: bool  # true: max_cells was too small for the guarantee's schedule
    guarantee: CoverGuarantee  # with the misfit of this run if it was held back


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimisticCover:
    """Algorithm 4 on a cover; `optimistic_cover` builds it."""

    name: str
    cover: FamilyCover
    horizon: int
    coarse: float  # radius of alive cells before there are data
    finest: float  # radius at which halving stops
    max_cells: int
    first: CoverMemory

    def start(self, state: int) -> CoverMemory:
        """Return the memory of an agent without data."""
        check_state(state, len(self.cover.rewards))
        return self.first

    def act(self, memory: CoverMemory, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        n_states, n_actions = self.cover.rewards.shape
        check_step(h, self.horizon)
        check_state(state, n_states)
        return surely(int(memory.data.cell.policy[state]), n_actions)

    def observe(self, memory: CoverMemory, step: Step) -> CoverMemory:
        """Return the memory after a step: append, look at the score, switch."""
        self._check(memory, step)
        fresh = _with_one_more(memory.fresh, step.state, step.next_state)
        memory = CoverMemory(memory.data, fresh, memory.steps + 1, memory.look_at)
        if memory.steps < memory.look_at:
            return memory
        if memory.steps >= max(1, memory.data.steps) or self.score(memory) >= 1.0:
            return self._switched(memory)
        return replace(memory, look_at=memory.steps + self._steps_until(memory))

    def playing(self, memory: CoverMemory) -> int:
        """Return the number of switches."""
        return len(memory.data.played)

    def score(self, memory: CoverMemory) -> float:
        """Return the greatest score of a pair (k, alive cell) (theory 2.13)."""
        apart = self._apart(memory.data)
        visits = np.array(memory.fresh).sum(axis=1)
        return float((apart @ visits / np.array(memory.data.room)).max())

    def resolution(
        self, memory: CoverMemory, *, diameter: float, eluder_dimension: int
    ) -> Resolution:
        """Return the resolution reached and the guarantee that it leaves."""
        data = memory.data
        misfit = data.misfit if data.held_back else None
        return Resolution(
            coarsest=max(data.cells[b].radius for b in data.alive),
            current=data.cell.radius,
            cells=len(data.cells),
            alive=len(data.alive),
            held_back=data.held_back,
            guarantee=self.guarantee(
                diameter=diameter, eluder_dimension=eluder_dimension, misfit=misfit
            ),
        )

    def guarantee(
        self, *, diameter: float, eluder_dimension: int, misfit: float | None = None
    ) -> CoverGuarantee:
        """Return what the agent can lose in a family of this diameter."""
        roots = self.cover.roots
        spread = float(np.ptp(self.cover.rewards))
        return cover_guarantee(
            horizon=self.horizon,
            eluder_dimension=eluder_dimension,
            diameter=diameter,
            parameters=len(self.cover.names),
            widest=max(cell.radius for cell in roots),
            finest=self.finest,
            proved=self.cover.proved,
            roots=len(roots),
            spread=spread,
            defect=2.0 * TOLD * spread,
            misfit=misfit,
        )

    def _switched(self, memory: CoverMemory) -> CoverMemory:
        data, cell = memory.data, memory.data.cell
        policy, bias = tuple(cell.policy.tolist()), tuple(cell.bias.tolist())
        played = (*data.played, Played(policy, bias, memory.fresh))
        steps = data.steps + memory.steps
        return self._planned(data.cells, played, steps, data)

    def _planned(
        self,
        cells: tuple[Cell, ...],
        played: tuple[Played, ...],
        steps: int,
        before: CoverData | None,
    ) -> CoverMemory:
        """Return the memory at the start of an episode with these data."""
        told = self._evidence(played)
        target = max(self.finest, self.coarse)
        if steps > 0:
            asked = sqrt(log(2.0 * self.horizon) / steps)
            target = max(self.finest, min(self.coarse, asked))
        found = refined(
            self.cover,
            cells,
            told,
            radius=target,
            top_radius=max(self.finest, TOP * target),
            max_cells=self.max_cells,
            horizon=self.horizon,
        )
        cells, alive = found.cells, np.flatnonzero(found.seen.alive)
        predicted, visits = found.predicted, told.visits.reshape(-1)
        apart = (predicted[alive] - predicted[found.current]) ** 2 @ visits
        misfit = steps * max(cells[b].radius for b in alive) ** 2 / 4.0
        data = CoverData(
            played=played,
            cells=cells,
            alive=tuple(alive.tolist()),
            current=found.current,
            room=tuple((apart + ALPHA).tolist()),
            steps=steps,
            held_back=found.held_back or (before is not None and before.held_back),
            misfit=max(misfit, 0.0 if before is None else before.misfit),
        )
        n_states = len(self.cover.rewards)
        memory = CoverMemory(data, ((0,) * n_states,) * n_states, 0, 0)
        return replace(memory, look_at=self._steps_until(memory))

    def _steps_until(self, memory: CoverMemory) -> int:
        """Return after how many steps the next switch may come."""
        data = memory.data
        apart = self._apart(data)
        most = apart.max(axis=1)
        done = apart @ np.array(memory.fresh).sum(axis=1)
        moving = most > 0.0
        left = (np.array(data.room) - done)[moving] / most[moving]
        by_score = floor(min(left.min(initial=2.0**61), 2.0**61) * (1.0 - ROUNDING))
        return max(1, min(int(by_score), max(1, data.steps) - memory.steps))

    def _apart(self, data: CoverData) -> FloatArray:
        """Return (f_k - f_b)^2 of every alive cell in every state, (n, S)."""
        cell = data.cell
        nothing = ((0,) * cell.bias.size,) * cell.bias.size
        now = Played(tuple(cell.policy.tolist()), tuple(cell.bias.tolist()), nothing)
        told = self._evidence((now,))
        predicted = told.predictions([data.cells[b] for b in data.alive])
        return np.asarray((predicted - told.predictions([cell])) ** 2)

    def _evidence(self, played: tuple[Played, ...]) -> Evidence:
        spread = float(np.ptp(self.cover.rewards))
        return evidence(played, self.cover.support, least_width=TOLD * spread)

    def _check(self, memory: CoverMemory, step: Step) -> None:
        n_states, n_actions = self.cover.rewards.shape
        check_lived(step, self.horizon, n_states, n_actions)
        planned = int(memory.data.cell.policy[step.state])
        if planned != step.action:
            raise InvalidArgument(
                f"action {step.action} in state {step.state} is not what this agent "
                f"plays there, {planned}",
                hint="show the agent its own steps: samples belong to its policy",
            )
        if not self.cover.support[step.state, step.action, step.next_state]:
            raise OutsideClass(
                f"at step {step.h} action {step.action} in state {step.state} led to "
                f"state {step.next_state}, which no model of the family allows",
                hint="the world is not in the family; leave out same_support?",
                step=step,
            )


def optimistic_cover(
    cover: FamilyCover,
    horizon: int,
    *,
    coarse: float = 0.25,
    finest: float = 0.0,
    max_cells: int = 2000,
    name: str = "optimistic cover",
) -> OptimisticCover:
    """Return Algorithm 4 for the family of a cover and a horizon (theory 3.3).

    Radii are in max-L1 of kernels. With `finest` = 0 cells are halved as far as data of
    this horizon can make use of.
    """
    check_name(name)
    if checked_horizon(horizon) < 1:
        raise InvalidArgument("a horizon of 0", hint="give at least one step")
    if not (np.isfinite(coarse) and coarse > 0.0):
        raise InvalidArgument(f"coarse is {coarse}", hint="it is a positive radius")
    if not (np.isfinite(finest) and finest >= 0.0):
        raise InvalidArgument(f"finest is {finest}", hint="it is a radius from 0 on")
    if max_cells < len(cover.roots):
        raise InvalidArgument(
            f"max_cells is {max_cells} and the cover begins with {len(cover.roots)}",
            hint="allow at least as many cells as there are roots",
        )
    roots = cover.roots
    nothing = CoverData((), roots, (0,), 0, (ALPHA,), 0, False, 0.0)
    blank = OptimisticCover(
        name, cover, horizon, coarse, finest, max_cells, CoverMemory(nothing, (), 0, 0)
    )
    return replace(blank, first=blank._planned(roots, (), 0, None))


def _with_one_more(counts: Counts, state: int, after: int) -> Counts:
    row = counts[state]
    row = (*row[:after], row[after] + 1, *row[after + 1 :])
    return (*counts[:state], row, *counts[state + 1 :])
