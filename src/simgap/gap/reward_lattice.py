"""Rewards as whole multiples of a unit, so that a sum of them is a count."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.errors import NotSolved

MOST_UNITS = 10_000  # between the least and the greatest reward
EPS = 2.0**-52
SHOWN = 6  # rewards that an error message prints


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
