"""Memory is what makes domain randomization work: with it the gap stays flat.

A class in which each model has one good arm. An agent that remembers finds it and loses
no more after that; an agent that sees only the state and the step loses a fixed part of
every step (`without_memory` has the proof). Both numbers are exact or certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.experiments.claim import (
    Check,
    Claim,
    ClaimResult,
    Figure,
    KeyNumber,
    Scale,
    Table,
    Tell,
    Verdict,
    exactly,
)
from simgap.experiments.intervals import (
    bracketed_exponent,
    curve,
    ends,
    least,
    middle,
    minus,
    ratio,
    times,
)
from simgap.experiments.without_memory import memory_gaps
from simgap.records import Certified


@final
@dataclass(frozen=True, slots=True)
class Arms:
    """M models with one arm of mean `other` + `better` each, the rest `other`."""

    name: str
    members: int
    other: float
    better: float
    horizons: tuple[int, ...]


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which classes, and how flat flat is."""

    classes: tuple[Arms, ...]
    growth: float = 1.05  # at most, of the gap with memory when the horizon doubles


NEEDLES = Arms("three needles", 3, 0.0, 1.0, (8, 16, 32, 64, 128))
QUICK = Settings(
    classes=(NEEDLES, Arms("two noisy arms", 2, 0.1, 0.8, (16, 32, 64, 128)))
)
FULL = Settings(
    classes=(
        Arms("three needles", 3, 0.0, 1.0, (8, 16, 32, 64, 128, 256, 512)),
        Arms("five needles", 5, 0.0, 1.0, (16, 32, 64, 128, 256)),
        Arms("two noisy arms", 2, 0.1, 0.8, (16, 32, 64, 128)),
        Arms("two noisier arms", 2, 0.3, 0.4, (16, 32, 64, 128)),
    )
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One class over all horizons."""

    arms: Arms
    remembering: tuple[Certified, ...]
    forgetting: tuple[Certified, ...]

    @property
    def value(self) -> Certified:
        """What memory is worth over the longest horizon."""
        return minus(self.forgetting[-1], self.remembering[-1])


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rows = []
    for arms in settings.classes:
        tell(arms.name)
        found = [
            memory_gaps(arms.members, arms.other, arms.better, horizon, seed=seed)
            for horizon in arms.horizons
        ]
        rows.append(Row(arms, *map(tuple, zip(*found, strict=True))))
    checks: list[Check] = []
    for row in rows:
        checks += _checks(row, settings)
    first = rows[0]
    longest = first.arms.horizons[-1]
    return ClaimResult(
        checks=tuple(checks),
        key_number=KeyNumber(
            f"what memory is worth, {first.arms.name}, H = {longest}", first.value
        ),
        summary=f"{first.arms.name.capitalize()}, H = {longest}: the best agent with "
        f"memory loses {middle(first.remembering[-1]):.4g} on average, the best one "
        f"without {middle(first.forgetting[-1]):.4g}, a fixed part of every step.",
        figures=tuple(_figure(row) for row in rows),
        tables=(
            Table(
                "Average gaps with and without memory",
                ("class", "H", "with memory", "without, at least", "without, at most"),
                tuple(
                    (row.arms.name, horizon, middle(oracle), *ends(other))
                    for row in rows
                    for horizon, oracle, other in zip(
                        row.arms.horizons, row.remembering, row.forgetting, strict=True
                    )
                ),
                ("exact", "exact", "exact", "certified", "certified"),
            ),
        ),
    )


def _checks(row: Row, settings: Settings) -> list[Check]:
    arms = row.arms
    across = [float(horizon) for horizon in arms.horizons]
    exponent = bracketed_exponent(across, row.forgetting)
    half, last = row.remembering[-2:]
    return [
        Check(
            f"{arms.name}: without memory the gap grows at least like H^0.9",
            exactly(0.9),
            exponent,
        ),
        Check(
            f"{arms.name}: without memory at least an eighth of (good arm less others) "
            "is lost per step, the least over horizons",
            exactly(arms.better / 8.0),
            least([ratio(g, h) for g, h in zip(row.forgetting, across, strict=True)]),
        ),
        Check(
            f"{arms.name}: with memory the last doubling of the horizon adds at most "
            f"{settings.growth - 1.0:.0%}",
            last,
            times(half, settings.growth),
        ),
        Check(
            f"{arms.name}: at H = {arms.horizons[-1]} memory saves more than half of "
            "what is lost without it",
            times(row.forgetting[-1], 0.5),
            row.value,
        ),
    ]


def _figure(row: Row) -> Figure:
    across = [float(horizon) for horizon in row.arms.horizons]
    return Figure(
        f"With and without memory: {row.arms.name}",
        "horizon H",
        "average gap",
        (
            curve("best agent with memory (oracle)", across, row.remembering),
            curve(
                "best agent without memory",
                across,
                row.forgetting,
                certainty="certified",
            ),
        ),
        log_x=True,
        log_y=True,
        note="Without memory: between a bound on all such agents and the best found.",
    )


CLAIM = Claim(
    name="memory-matters",
    title="A policy with memory keeps the gap flat, one without does not",
    statement="On a class in which the good action differs between simulators, the "
    "best policy that remembers its past loses a bounded amount, however long the "
    "episode, while every policy that sees only the current state loses a fixed part "
    "of every step.",
    source="The role of memory (abstract and Section 4.2; spec 5.6)",
    expected=Verdict.HOLDS,
    run=run,
)
