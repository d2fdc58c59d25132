"""When and where the next candidate takes over: start laws chained by convolution.

f'(t', s') = sum over t, s of f(t, s) g(t' - t, s' | s), with f the law of the start of
an episode and g the law of its length and last state. Short sums are added up
directly, which keeps a small relative error; long ones go through the FFT, whose error
is bounded in total: with relative error e of a transform in the 2-norm,
||error||_1 <= sqrt(L) e (2 |f|_1 |g|_2 + |f|_2 |g|_1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log2, sqrt
from typing import final

import numpy as np
from scipy import fft

from simgap.arrays import FloatArray, OffsetArray

DIRECT = 2**26  # products of one convolution that are added up directly
FFT_ROUNDING = 8.0  # units of 2^-52 a level; a careful radix-2 transform has 3.4
EPS = 2.0**-52


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
