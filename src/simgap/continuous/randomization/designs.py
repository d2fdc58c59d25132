"""At which parameters to measure: `sobol:64`, `random:200`, `grid:5x5`, `corners`.

Scrambled Sobol sequences cover nu more evenly than draws do. There are REPLICATES of
them, each scrambled on its own, so that the spread of their means says how far the mean
over all points is off (randomized quasi-Monte Carlo). Where nu has no more points than
were asked for, choices only, all of them are taken with their chances. A grid has the
ends of each range, and a point of it weighs what nu gives to the numbers nearest to it.
Corners speak for themselves alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite, prod
from typing import final

import numpy as np

from simgap.arrays import FloatArray, read_only
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.randomization.binding import BoundRandomization, Column
from simgap.continuous.randomization.distributions import (
    Choice,
    Distribution,
    LogUniform,
)
from simgap.errors import InvalidArgument
from simgap.text import listed, shown

MOST_POINTS = 1_000_000
REPLICATES = 8
MOST_CORNERS_OF = 12  # parameters: 4096 corners
BAD_DESIGN = "design"  # code
WAYS = "write sobol:64, random:200, grid:5x5, grid:5 or corners"


@final
@dataclass(frozen=True, slots=True, eq=False)
class DesignPoints:
    """Points to measure at, and what they say of nu."""

    theta: FloatArray  # (T, P)
    drawn: DrawnPoints  # with the weights, where points weigh differently
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", read_only(self.theta))


@final
@dataclass(frozen=True, slots=True)
class Sobol:
    """Points of scrambled Sobol sequences, best 8 times a power of two."""

    count: int

    def __post_init__(self) -> None:
        _check_count(self.count, "sobol")

    @property
    def text(self) -> str:
        return f"sobol:{self.count}"

    def points(self, bound: BoundRandomization, seed: int) -> DesignPoints:
        """Return the points; every point of nu if there are no more of them."""
        if (every := _every_point(bound, self.count)) is not None:
            return every
        from scipy.stats import qmc

        width, many = len(bound.columns), min(REPLICATES, self.count)
        sizes = [
            self.count // many + (each < self.count % many) for each in range(many)
        ]
        streams = np.random.default_rng(seed).spawn(many)
        cube = np.concatenate(
            [
                qmc.Sobol(width, bits=30, seed=rng).random_base2(
                    (size - 1).bit_length()
                )[:size]
                for size, rng in zip(sizes, streams, strict=True)
            ]
        )
        cube += 2.0**-31  # in the middle of its cell of 2**-30: a number is never 0
        notes: tuple[str, ...] = ()
        best = many * 2 ** (sizes[0] - 1).bit_length()
        if self.count != best:
            notes = (
                f"{self.count} points of Sobol sequences cover less evenly than {best} "
                "would: take 8 times a power of two",
            )
        replicates = np.repeat(np.arange(many), sizes)
        drawn = DrawnPoints(Drawn.SCRAMBLED, uniforms=cube, replicates=replicates)
        return DesignPoints(bound.quantile(cube), drawn, notes)


@final
@dataclass(frozen=True, slots=True)
class RandomPoints:
    """Independent draws of nu."""

    count: int

    def __post_init__(self) -> None:
        _check_count(self.count, "random")

    @property
    def text(self) -> str:
        return f"random:{self.count}"

    def points(self, bound: BoundRandomization, seed: int) -> DesignPoints:
        """Return what is drawn for the first episodes."""
        cube = bound.uniforms(seed, range(self.count))
        drawn = DrawnPoints(Drawn.INDEPENDENT, uniforms=cube)
        return DesignPoints(bound.quantile(cube), drawn)


@final
@dataclass(frozen=True, slots=True)
class Grid:
    """So many numbers along each range, its ends among them; choices are taken whole.

    One count is for every range.
    """

    counts: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", tuple(self.counts))
        for count in self.counts or (0,):
            _check_count(count, "grid")

    @property
    def text(self) -> str:
        return f"grid:{'x'.join(map(str, self.counts))}"

    def points(self, bound: BoundRandomization, seed: int) -> DesignPoints:
        """Return all combinations, with the share of nu that is nearest to each."""
        _refuse_dependent(bound, "grid")
        ranges = [i for i in bound.varying if not _is_choice(bound.columns[i])]
        counts = self.counts * (len(ranges) if len(self.counts) == 1 else 1)
        if len(counts) != len(ranges) and ranges:
            names = listed([bound.names[i] for i in ranges])
            raise InvalidArgument(
                f"{self.text} is for {len(counts)} ranges, and there are "
                f"{len(ranges)}: {names}",
                hint=f"write grid:{'x'.join(['5'] * len(ranges))}; choices are taken "
                "whole",
                code=BAD_DESIGN,
            )
        along = dict(zip(ranges, counts, strict=False))
        axes = [
            _axis(column.distribution, along[i], column.name)
            if i in along
            else _every(column.distribution)
            for i, column in enumerate(bound.columns)
        ]
        theta, weights = _combined(axes, bound)
        drawn = Drawn.CHOSEN if ranges else Drawn.EVERY
        return DesignPoints(theta, DrawnPoints(drawn, weights))


@final
@dataclass(frozen=True, slots=True)
class Corners:
    """The ends of all ranges, and the least and greatest of choices, combined."""

    @property
    def text(self) -> str:
        return "corners"

    def points(self, bound: BoundRandomization, seed: int) -> DesignPoints:
        """Return the 2^n corners of n parameters that vary."""
        if bound.rows is not None:
            _refuse_dependent(bound, "corners")
        if (count := len(bound.varying)) > MOST_CORNERS_OF:
            raise InvalidArgument(
                f"{count} parameters have {2**count} corners",
                hint=f"sobol:256 covers them; corners are for at most "
                f"{MOST_CORNERS_OF} parameters",
                code=BAD_DESIGN,
            )
        for i in bound.varying:
            _check_bounded(bound.columns[i].distribution, bound.names[i])
        ends = [np.unique(pair) for pair in bound.support]
        axes = [(each, np.full(each.size, 1.0 / each.size)) for each in ends]
        theta, _ = _combined(axes, bound)
        return DesignPoints(theta, DrawnPoints(Drawn.CHOSEN))


Design = Sobol | RandomPoints | Grid | Corners


def parse_design(given: str | Design) -> Design:
    """Return the design that a text such as `sobol:64` names."""
    if not isinstance(given, str):
        return given
    word, _, size = given.strip().partition(":")
    if word == "corners" and not size:
        return Corners()
    counts = size.split("x")
    if not all(re.fullmatch(r"[0-9]{1,7}", each) for each in counts):
        counts = []
    if word == "grid" and counts:
        return Grid(tuple(map(int, counts)))
    if word in {"sobol", "random"} and len(counts) == 1:
        kind = Sobol if word == "sobol" else RandomPoints
        return kind(int(counts[0]))
    raise InvalidArgument(f"'{shown(given)}' is no design", hint=WAYS, code=BAD_DESIGN)


def _axis(law: Distribution, count: int, name: str) -> tuple[FloatArray, FloatArray]:
    """Return numbers along a range and the chance of what is nearest to each."""
    _check_bounded(law, name)
    if count == 1:
        return law.quantile(np.array([0.5])), np.ones(1)
    low, high = law.support
    if isinstance(law, LogUniform):
        both = np.geomspace(low, high, 2 * count - 1)
    else:
        both = np.linspace(low, high, 2 * count - 1)
    return both[::2], np.diff(law.cdf(both[1::2]), prepend=0.0, append=1.0)


def _every(law: Distribution) -> tuple[FloatArray, FloatArray]:
    """Return all numbers of a law that has few, and their chances."""
    values = law.values if isinstance(law, Choice) else law.support[:1]
    at = np.sort(np.array(values))
    return at, law.density(at)


def _every_point(bound: BoundRandomization, most: int) -> DesignPoints | None:
    """Return all of nu if it has so few points, else nothing."""
    alone = bound.columns[: bound.alone]
    grouped = {i for _, places in bound.groups() for i in places}
    if any(
        column.varies and (not _is_choice(column) or i in grouped)
        for i, column in enumerate(alone)
    ):
        return None
    axes = [_every(column.distribution) for column in alone]
    rows = 1 if bound.rows is None else len(bound.rows.values)
    if prod(at.size for at, _ in axes) * rows > most:
        return None
    if bound.rows is not None:
        axes.append((np.arange(rows, dtype=np.float64), bound.rows.chances))
    theta, weights = _combined(axes, bound)
    if bound.rows is not None:
        row = theta[:, -1].astype(np.intp)
        theta = np.column_stack([theta[:, :-1], bound.rows.values[row]])
    note = f"nu has {len(theta)} points, all of which are measured, with their chances"
    return DesignPoints(theta, DrawnPoints(Drawn.EVERY, weights), (note,))


def _combined(
    axes: list[tuple[FloatArray, FloatArray]], bound: BoundRandomization
) -> tuple[FloatArray, FloatArray]:
    """Return all combinations, the last axis fastest, and the products of chances."""
    count = prod(at.size for at, _ in axes)
    if count > MOST_POINTS:
        raise InvalidArgument(
            f"a design of {count} points over {listed(bound.names)}",
            hint=f"at most {MOST_POINTS} are measured; sobol:256 covers many "
            "parameters with few points",
            code=BAD_DESIGN,
        )
    if not axes:
        return np.empty((1, 0)), np.ones(1)
    theta = np.stack(np.meshgrid(*(at for at, _ in axes), indexing="ij"), -1)
    chances = np.stack(np.meshgrid(*(each for _, each in axes), indexing="ij"), -1)
    return theta.reshape(count, -1), chances.reshape(count, -1).prod(axis=1)


def _is_choice(column: Column) -> bool:
    return isinstance(column.distribution, Choice)


def _refuse_dependent(bound: BoundRandomization, word: str) -> None:
    if names := [bound.names[i] for i in sorted(bound.dependent)]:
        raise InvalidArgument(
            f"{word}: {listed(names)} are drawn together, not one by one",
            hint="write sobol:64 or random:200, which follow nu",
            code=BAD_DESIGN,
        )


def _check_bounded(law: Distribution, name: str) -> None:
    if not all(map(isfinite, law.support)):
        raise InvalidArgument(
            f"{shown(name)} has no ends: {law.text}",
            hint="give in=low..high: normal(1, sd=0.2, in=0.5..1.5), or use sobol:64",
            code=BAD_DESIGN,
        )


def _check_count(count: int, word: str) -> None:
    if isinstance(count, bool) or not 1 <= count <= MOST_POINTS:
        raise InvalidArgument(
            f"{word} of {count} points",
            hint=f"ask for 1 to {MOST_POINTS}: {WAYS}",
            code=BAD_DESIGN,
        )
