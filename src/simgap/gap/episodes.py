"""Algorithm 3 from start to end: one candidate after another, in all its chances.

Each pass of the loop is one episode: the law of its start (time and state) meets the
law of what the candidate does from each first state, and gives the start of the next.
Laws depend on the candidate and the first state alone, so a second round over the
candidates finds them made.

When and where the next candidate takes over: start laws chained by convolution.

f'(t', s') = sum over t, s of f(t, s) g(t' - t, s' | s), with f the law of the start of
an episode and g the law of its length and last state. Short sums are added up
directly, which keeps a small relative error; long ones go through the FFT, whose error
is bounded in total: with relative error e of a transform in the 2-norm,
||error||_1 <= sqrt(L) e (2 |f|_1 |g|_2 + |f|_2 |g|_1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2, sqrt
from typing import final

import numpy as np
from scipy import fft

from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.gap.passage_law import CandidateRun, PassageLaw, passage_law
from simgap.intervals import EPS

MOST_KEPT = 2**27  # numbers of passage laws kept for another round: a gigabyte
NEGLIGIBLE = 100.0  # times `prune`: a start less likely than that is dropped
DIRECT = 2**26  # products of one convolution that are added up directly
FFT_ROUNDING = 8.0  # units of 2^-52 a level; a careful radix-2 transform has 3.4


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


@final
@dataclass(frozen=True, slots=True, eq=False)
class StartTimes:
    """Chances that an episode starts after t steps in state s."""

    earliest: int
    chances: FloatArray  # (S, L), for t = earliest .. earliest + L - 1

    @property
    def total(self) -> float:
        return float(self.chances.sum())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Passages:
    """Chances that an episode is over after n steps in one of some states."""

    states: OffsetArray  # (R,)
    earliest: int
    chances: FloatArray  # (R, L), for n = earliest .. earliest + L - 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class NextStarts:
    """The start law of the next episode."""

    starts: StartTimes
    error: float  # bounds the sum of |stored - true| that the FFT is to blame for
    terms: int  # products in a sum, for the rounding of direct sums; 0 if none
    dropped: float  # chance cut off at both ends


def next_starts(
    starts: StartTimes,
    passages: Mapping[int, Passages],
    horizon: int,
    *,
    prune: float,
) -> NextStarts:
    """Return the law of the start after an episode, by time t <= H and state."""
    n_states = starts.chances.shape[0]
    used = {s: law for s, law in passages.items() if law.chances.size > 0}
    if not used:
        nothing = StartTimes(horizon, np.zeros((n_states, 0)))
        return NextStarts(nothing, 0.0, 0, 0.0)
    first = min(law.earliest for law in used.values())
    length = max(law.earliest + law.chances.shape[1] for law in used.values()) - first
    earliest = starts.earliest + first
    room = min(horizon + 1 - earliest, starts.chances.shape[1] + length - 1)
    chances = np.zeros((n_states, max(room, 0)))
    error, terms = 0.0, 0
    if chances.size > 0:
        products = sum(law.chances.size for law in used.values())
        if products * starts.chances.shape[1] <= DIRECT:
            terms = _add_directly(starts, used, first, chances)
        else:
            error = _add_by_fft(starts, used, (first, length), chances)
    columns = chances.sum(axis=0)
    kept = np.flatnonzero(columns >= prune)
    begin, end = (int(kept[0]), int(kept[-1]) + 1) if kept.size else (0, 0)
    dropped = float(columns[:begin].sum() + columns[end:].sum())
    inside = StartTimes(earliest + begin, chances[:, begin:end])
    return NextStarts(inside, error, terms, dropped)


def _add_directly(
    starts: StartTimes, used: Mapping[int, Passages], first: int, out: FloatArray
) -> int:
    """Add the convolutions to `out`; return how many terms a sum can have."""
    terms = 0
    for state, law in used.items():
        given = starts.chances[state]
        shift = law.earliest - first
        for target, chances in zip(law.states, law.chances, strict=True):
            total = np.convolve(given, chances)[: max(out.shape[1] - shift, 0)]
            out[target, shift : shift + total.size] += total
        terms += min(given.size, law.chances.shape[1]) + 1
    return terms


def _add_by_fft(
    starts: StartTimes,
    used: Mapping[int, Passages],
    window: tuple[int, int],
    out: FloatArray,
) -> float:
    """Add the convolutions to `out`; return a bound of the sum of their errors."""
    first, length = window
    size = fft.next_fast_len(starts.chances.shape[1] + length - 1, real=True)
    relative = FFT_ROUNDING * EPS * log2(size)
    sums = np.zeros((out.shape[0], size // 2 + 1), np.complex128)
    error = 0.0
    for state, law in used.items():
        given = starts.chances[state]
        shift = law.earliest - first
        laid_out = np.zeros((law.states.size, length))
        laid_out[:, shift : shift + law.chances.shape[1]] = law.chances
        sums[law.states] += fft.rfft(given, size) * fft.rfft(laid_out, size)
        one, two = given.sum(), float(np.linalg.norm(given))
        for chances in law.chances:
            error += 2.0 * one * float(np.linalg.norm(chances)) + two * chances.sum()
    error *= relative * sqrt(out.shape[1]) * (1.0 + len(used) * EPS)
    out += fft.irfft(sums, size)[:, : out.shape[1]]
    out[out < error / out.size] = 0.0  # noise, and what is negative: as much again
    return 2.0 * error
