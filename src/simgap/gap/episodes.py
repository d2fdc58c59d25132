"""Algorithm 3 from start to end: one candidate after another, in all its chances.

Each pass of the loop is one episode: the law of its start (time and state) meets the
law of what the candidate does from each first state, and gives the start of the next.
Laws depend on the candidate and the first state alone, so a second round over the
candidates finds them made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.gap.passage_law import CandidateRun, PassageLaw, passage_law
from simgap.gap.start_times import Passages, StartTimes, next_starts

EPS = 2.0**-52
MOST_KEPT = 2**27  # numbers of passage laws kept for another round: a gigabyte
NEGLIGIBLE = 100.0  # times `prune`: a start less likely than that is dropped


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Expectations over all histories; true ones are within what the last rows say."""

    steps: FloatArray  # (M,), steps that a candidate is played
    eliminated: FloatArray  # (M,), chance of its elimination in the first round
    eliminations: float
    loss: float  # sum over the steps of what the actions lose
    end: float  # bias of the real model in the last state
    rounding: float  # relative error of the sums above
    moved: float  # chance that the FFT may have moved elsewhere
    lost: float  # chance dropped on the way: it is missing in the sums
    columns: int
    cells: int
    finished: bool


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Episode:
    """One candidate from one first state, summed up over N = 0..steps steps."""

    steps: int
    played: FloatArray  # (N + 1,), expected steps among the first N
    loss: FloatArray  # (N + 1,), expected loss over them
    end: FloatArray  # (N + 1,), bias where it stands after N, if not eliminated
    over: FloatArray  # (N + 1,), chance that it is eliminated by step N
    passages: Passages
    lost: float
    columns: int


def follow_episodes(
    start_law: FloatArray,
    runs: Sequence[CandidateRun],
    order: OffsetArray,
    losses: FloatArray,
    bias: FloatArray,
    *,
    horizon: int,
    prune: float,
    most_work: int,
) -> Followed:
    """Return what H steps of Algorithm 3 come to in the real model.

    `losses` (M, S) is what the action of a candidate loses in a state, `bias` (S,) the
    real model's.
    """
    known: dict[tuple[int, int], _Episode] = {}
    starts = StartTimes(0, np.array(start_law).reshape(-1, 1))
    steps, eliminated = np.zeros((2, len(runs)))
    eliminations = loss = end = moved = lost = rounding = inherited = 0.0
    columns, cells, finished, stage, kept = 1, 0, True, 0, 0
    floor = NEGLIGIBLE * prune
    while starts.chances.size > 0 and starts.total > floor:
        member = int(order[stage % len(runs)])
        passages: dict[int, Passages] = {}
        over = 0.0
        for state in np.flatnonzero(starts.chances.any(axis=1)).tolist():
            given = starts.chances[state]
            if given.sum() <= floor:
                lost += float(given.sum())
                continue
            delay = int(np.flatnonzero(given)[0])
            ahead = horizon - starts.earliest - delay  # steps left at the earliest
            episode = known.get((member, state))
            if episode is None or episode.steps < ahead:
                work = most_work - cells
                law = passage_law(
                    runs[member], state, ahead, prune=prune, most_work=work
                )
                episode = _summed(law, losses[member], bias, ahead)
                kept += 4 * ahead + episode.passages.chances.size
                if kept <= MOST_KEPT:
                    known[member, state] = episode
                cells += law.cells
                finished = finished and law.finished
            given = given[delay:]
            left = slice(ahead, ahead - given.size if ahead >= given.size else None, -1)
            steps[member] += given @ episode.played[left]
            loss += float(given @ episode.loss[left])
            end += float(given @ episode.end[left])
            over += float(given @ episode.over[left])
            lost += float(given.sum()) * episode.lost
            columns = max(columns, episode.columns)
            passages[state] = episode.passages
        eliminations += over
        if stage < len(runs):
            eliminated[member] = over
        sums = 2 * columns + 2 * horizon + 2 * bias.size + 8
        rounding = max(rounding, inherited + sums * EPS)
        following = next_starts(starts, passages, horizon, prune=prune)
        inherited += (columns + following.terms + 4) * EPS
        moved += following.error
        lost += following.dropped
        starts = following.starts
        stage += 1
    if starts.chances.size > 0:
        lost += starts.total
    return Followed(
        steps=owned(steps),
        eliminated=owned(eliminated),
        eliminations=eliminations,
        loss=loss,
        end=end,
        rounding=rounding,
        moved=moved,
        lost=lost,
        columns=columns,
        cells=cells,
        finished=finished,
    )


def _summed(
    law: PassageLaw, losses: FloatArray, bias: FloatArray, steps: int
) -> _Episode:
    """Return the sums of an episode; the table by state goes, but for passages."""
    alive = law.alive
    ever = np.flatnonzero(law.passed.any(axis=0))
    when = np.flatnonzero(law.passed.any(axis=1))
    begin, end = (int(when[0]), int(when[-1]) + 1) if when.size else (0, 0)
    return _Episode(
        steps=steps,
        played=_before(alive.sum(axis=1)),
        loss=_before(alive @ losses[law.states]),
        end=alive @ bias[law.states],
        over=np.cumsum(law.passed.sum(axis=1)),
        passages=Passages(
            states=law.states[ever],
            earliest=begin,
            chances=np.ascontiguousarray(law.passed[begin:end, ever].T),
        ),
        lost=law.lost,
        columns=law.columns,
    )


def _before(series: FloatArray) -> FloatArray:
    """Return the sums of what comes before each place, the first being 0."""
    out: FloatArray = np.concatenate([[0.0], np.cumsum(series[:-1])])
    return out
