"""How one episode of Algorithm 3 ends: the joint law of its length and last state.

A candidate is played until its test fires. In the real model the pair (state, sum of
rewards) is a Markov chain, and the test is a bound on it that moves with the number of
steps (theory 3.2), so the law of the first passage is a forward recursion. Columns of
the recursion that carry less than `prune` are dropped at both ends, and what they
carried is counted as lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import final

import numpy as np

from simgap._kernels.agents.first_passage import passage_steps
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import NotSolved
from simgap.intervals import EPS

CHUNK = 1024  # steps between two chances to interrupt
FIRST_COLUMNS = 256
MOST_CELLS = 2**26  # of one table: half a gigabyte
MOST_UNITS = 10_000  # between the least and the greatest reward
SHOWN = 6  # rewards that an error message prints


@final
@dataclass(frozen=True, slots=True, eq=False)
class CandidateRun:
    """A candidate's policy in the real model, and the test that ends its episode."""

    origins: IndexArray  # (E,), moves with a positive chance
    targets: IndexArray  # (E,)
    chances: FloatArray  # (E,)
    rewards: FloatArray  # (S,), of the candidate's model
    gain: float  # that the candidate claims
    bias: FloatArray  # (S,), the candidate's
    thresholds: FloatArray  # (H + 1,), for n steps, tolerance included; [0] is unused
    two_sided: bool


@final
@dataclass(frozen=True, slots=True, eq=False)
class PassageLaw:
    """Chances for an episode that starts in `first`, over n = 0..N steps."""

    first: int
    states: OffsetArray  # (R,), those that can be reached
    alive: FloatArray  # (N + 1, R): not yet eliminated after n steps, and in s
    passed: FloatArray  # (N + 1, R): eliminated by step n, which led to s
    lost: float  # chance dropped, or decided within rounding, or left undone
    columns: int  # the greatest number of reward counts held at once
    cells: int  # the work that was done
    finished: bool  # False: the work allowed was used up


def passage_law(
    run: CandidateRun, first: int, steps: int, *, prune: float, most_work: int
) -> PassageLaw:
    """Return the law of an episode from state `first` that has `steps` left."""
    known = _reachable(run, first)
    states = np.flatnonzero(known)
    rewards, rise = run.rewards[states], run.bias[first] - run.bias[states]
    thresholds = np.array(run.thresholds[: steps + 1])
    if _never_fires(run, rewards, rise, thresholds):
        thresholds[:] = np.inf  # the reward need not be followed
        rewards = np.full(states.size, run.gain)
    lattice = reward_lattice(rewards)
    fuzz = _fuzz(run, lattice, rise, thresholds)
    moves = _moves_by_target(run, known)
    alive, passed = np.zeros((2, steps + 1, states.size))
    alive[0, np.searchsorted(states, first)] = 1.0
    place: OffsetArray = np.array([0, 0, 1, 0], np.int64)
    lost = np.zeros(2)
    now, spare = np.zeros((2, states.size, FIRST_COLUMNS))
    now[:, 0] = alive[0]
    columns, cells, reach = 1, 0, int(lattice.jumps.max())
    while place[0] < steps and place[2] > 0 and cells < most_work:
        if place[2] + reach > now.shape[1]:
            if 2 * states.size * (place[2] + reach) > MOST_CELLS:
                break
            now, spare = _wider(now, place, reach)
        cells += passage_steps(
            *moves,
            lattice.jumps,
            rise,
            run.gain - lattice.base,
            lattice.unit,
            thresholds,
            fuzz,
            run.two_sided,
            prune,
            min(steps, int(place[0]) + CHUNK),
            place,
            now,
            spare,
            alive,
            passed,
            lost,
        )
        columns = max(columns, int(place[2]))
    finished = bool(place[0] == steps or place[2] == 0)
    undone = 0.0 if finished else float(alive[place[0]].sum())
    return PassageLaw(
        first=first,
        states=states,
        alive=alive,
        passed=passed,
        lost=float(lost.sum()) + undone,
        columns=columns,
        cells=cells,
        finished=finished,
    )


def _reachable(run: CandidateRun, first: int) -> BoolArray:
    """Return which states the policy can come to, the first included, (S,)."""
    known: BoolArray = np.zeros(run.rewards.size, np.bool_)
    known[first] = True
    before = 0
    while before < known.sum():
        before = int(known.sum())
        known[run.targets[known[run.origins]]] = True
    return known


def _moves_by_target(
    run: CandidateRun, known: BoolArray
) -> tuple[OffsetArray, IndexArray, FloatArray]:
    """Return (indptr, sources, chances) among the known states, by where they lead."""
    number = np.cumsum(known) - 1
    used = known[run.origins]
    origins, targets = number[run.origins[used]], number[run.targets[used]]
    order = np.argsort(targets, kind="stable")
    counts = np.bincount(targets, minlength=int(known.sum()))
    indptr: OffsetArray = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return indptr, origins[order].astype(np.int32), run.chances[used][order]


def _never_fires(
    run: CandidateRun, rewards: FloatArray, rise: FloatArray, thresholds: FloatArray
) -> bool:
    """Return whether no history of this length can take the statistic that far."""
    steps = np.arange(thresholds.size)
    room = thresholds * (1.0 - 1e-9) - 1e-9
    above = steps * (run.gain - rewards.min()) + rise.max()
    below = steps * (run.gain - rewards.max()) + rise.min()
    never = (above <= room) & ((below >= -room) | (not run.two_sided))
    return bool(never[1:].all())


def _fuzz(
    run: CandidateRun, lattice: RewardLattice, rise: FloatArray, thresholds: FloatArray
) -> FloatArray:
    """Return how many units rounding can move the ends of the test, by step, (N + 1,).

    The statistic is a sum of four terms from counts; a program may add them up in
    another order, so both sides get room.
    """
    steps = np.arange(thresholds.size)
    largest = abs(lattice.base) + lattice.unit * float(lattice.jumps.max())
    finite = np.where(np.isfinite(thresholds), thresholds, 0.0)
    bias = 2.0 * float(np.abs(run.bias).max()) + float(np.abs(rise).max())
    terms = steps * (abs(run.gain) + 2.0 * largest) + bias + finite
    fuzz: FloatArray = (8.0 * EPS * terms + steps * lattice.error) / lattice.unit
    if fuzz.max(initial=0.0) >= 0.25:
        raise NotSolved(
            f"after {thresholds.size - 1} steps rounding moves the statistic by "
            f"{float(fuzz.max())!r} of the unit {lattice.unit!r} of the rewards",
            hint="ask for a shorter horizon, or estimate the gap by simulation",
        )
    return fuzz


def _wider(
    now: FloatArray, place: OffsetArray, reach: int
) -> tuple[FloatArray, FloatArray]:
    """Return tables of twice the columns, the chances moved to the first ones."""
    width, first = int(place[2]), int(place[3])
    columns = 2 * max(now.shape[1], width + reach)
    wide, spare = np.zeros((2, now.shape[0], columns))
    wide[:, :width] = now[:, first : first + width]
    place[3] = 0
    return wide, spare


@final
@dataclass(frozen=True, slots=True, eq=False)
class RewardLattice:
    """rewards[s] = base + unit * jumps[s], up to `error`."""

    base: float
    unit: float  # > 0; 1 if there is one reward only
    jumps: OffsetArray  # (S,), the least is 0
    error: float  # greatest distance of a reward from its place


def reward_lattice(rewards: FloatArray) -> RewardLattice:
    """Return the coarsest lattice that holds the rewards, two of them lying on any.

    Rewards may be off their places by the rounding of floats, as .1, .2 and .3 are.
    Raises NotSolved where the lattice would need more than 10^4 units.
    """
    places = [Fraction(float(reward)) for reward in rewards]
    base, top = min(places), max(places)
    if base == top:
        jumps = np.zeros(len(places), np.int64)
        return RewardLattice(float(base), 1.0, owned(jumps), 0.0)
    slack = Fraction(4.0 * EPS) * max(abs(base), abs(top)) / (top - base)
    parts: dict[Fraction, Fraction] = {}
    units = 1
    for place in sorted(set(places)):
        share = (place - base) / (top - base)
        parts[place] = share.limit_denominator(MOST_UNITS)
        units = lcm(units, parts[place].denominator)
        if abs(parts[place] - share) > slack or units > MOST_UNITS:
            raise _no_lattice(sorted(set(places)))
    unit = float((top - base) / units)
    jumps = np.array([int(parts[place] * units) for place in places], np.int64)
    error = max(
        abs(place - Fraction(float(base)) - Fraction(unit) * int(jump))
        for place, jump in zip(places, jumps, strict=True)
    )
    return RewardLattice(float(base), unit, owned(jumps), float(error) * (1.0 + EPS))


def _no_lattice(distinct: list[Fraction]) -> NotSolved:
    shown = ", ".join(repr(float(each)) for each in distinct[:SHOWN])
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return NotSolved(
        f"the {len(distinct)} rewards {shown}{more} are no multiples of one unit: "
        f"{MOST_UNITS} units between the least and the greatest are not enough",
        hint="round the rewards, or estimate the gap by simulation",
    )
