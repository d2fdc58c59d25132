"""Memory is what makes domain randomization work: with it the gap stays flat.

A class in which each model has one good arm. An agent that remembers finds it and loses
no more after that; an agent that sees only the state and the step loses a fixed part of
every step. That every policy without memory does is theory 4.19, on models that are
clearly apart (`bounds.memoryless_lower`).

Gymnasium's frozen lakes, more or less slippery, are not made for this. What every
policy without memory loses there is bounded by two coupled copies of it
(`oracle.baselines.coupled`), what is lost with memory by planning. All numbers are
exact or certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.experiments.framework.without_memory import gap_without_memory, memory_gaps
from simgap.instances import Terminal, toy_text
from simgap.intervals import Certified, least
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, loss_form, planned_policy
from simgap.records.claim import Check, Figure, Table


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
    lakes: tuple[int, ...]  # horizons at which four frozen lakes are compared
    growth: float = 1.05  # at most, of the gap with memory when the horizon doubles


NEEDLES = Arms("three needles", 3, 0.0, 1.0, (8, 16, 32, 64, 128))
SLIPPERY = (1.0 / 3.0, 0.5, 0.7, 0.9)  # success rates; the first is Gymnasium's own
EPISODES = 2  # nothing is estimated here
LAKE_EFFORT = 0.5  # seconds of work for a policy without memory, and its bound
TOLERANCE = 0.2  # of the gap with memory: planning stops there, whatever the machine
QUICK = Settings(
    classes=(
        NEEDLES,
        Arms("two noisy arms", 2, 0.1, 0.8, (16, 32, 64, 128)),
        Arms("two noisier arms", 2, 0.25, 0.5, (16, 32, 64, 128)),
    ),
    lakes=(100, 200),
)
FULL = Settings(
    classes=(
        Arms("three needles", 3, 0.0, 1.0, (8, 16, 32, 64, 128, 256, 512)),
        Arms("five needles", 5, 0.0, 1.0, (16, 32, 64, 128, 256)),
        Arms("two noisy arms", 2, 0.1, 0.8, (16, 32, 64, 128)),
        Arms("two noisier arms", 2, 0.25, 0.5, (32, 64, 128, 256)),
    ),
    lakes=(100, 150, 200, 300, 400),
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One class over all horizons."""

    name: str
    horizons: tuple[int, ...]
    remembering: tuple[Certified, ...]
    forgetting: tuple[Certified, ...]

    @property
    def value(self) -> Certified:
        """What memory is worth over the longest horizon."""
        return self.forgetting[-1] - self.remembering[-1]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rows = []
    for arms in settings.classes:
        tell(arms.name)
        found = [
            memory_gaps(arms.members, arms.other, arms.better, horizon, seed=seed)
            for horizon in arms.horizons
        ]
        both = map(tuple, zip(*found, strict=True))
        rows.append(Row(arms.name, arms.horizons, *both))
    checks: list[Check] = []
    for arms, row in zip(settings.classes, rows, strict=True):
        checks += _checks(arms, row, settings)
    lakes = _lakes(settings.lakes, seed, tell)
    checks += _needed(lakes)
    first = rows[0]
    longest = first.horizons[-1]
    least_lost, most_lost = lakes.forgetting[-1].lower, lakes.remembering[-1].upper
    return ClaimResult(
        checks=tuple(checks),
        key=(f"what memory is worth, {first.name}, H = {longest}", first.value),
        summary=f"{first.name.capitalize()}, H = {longest}: the best agent with "
        f"memory loses {first.remembering[-1].middle:.4g} on average, the best one "
        f"without {first.forgetting[-1].middle:.4g}, a fixed part of every step. "
        f"{lakes.name.capitalize()}, H = {lakes.horizons[-1]}: every policy without "
        f"memory loses at least {least_lost - 5e-5:.4f} on average, one with memory at "
        f"most {most_lost + 5e-5:.4f} (certified).",
        figures=tuple(_figure(row) for row in (*rows, lakes)),
        tables=(
            Table(
                "Average gaps with and without memory",
                (
                    "class",
                    "H",
                    "with, at most",
                    "without, at least",
                    "without, at most",
                ),
                tuple(
                    (row.name, horizon, oracle.upper, *other.ends)
                    for row in (*rows, lakes)
                    for horizon, oracle, other in zip(
                        row.horizons, row.remembering, row.forgetting, strict=True
                    )
                ),
                ("exact", "exact", "certified", "certified", "certified"),
            ),
        ),
    )


def _lakes(horizons: tuple[int, ...], seed: int, tell: Tell) -> Row:
    """Return what is lost on four lakes with memory and without."""
    latent = LatentMDP.uniform(
        toy_text(
            "FrozenLake-v1",
            grid={"success_rate": SLIPPERY},
            terminal=Terminal.RESTART,
        )
    )
    solver = AutoOracle(
        gap_tolerance=TOLERANCE, time_limit=None, episodes=EPISODES, seed=seed
    )
    remembering, forgetting = [], []
    for horizon in horizons:
        tell(f"four frozen lakes, H = {horizon}")
        form = loss_form(latent, horizon=horizon)
        planned = planned_policy(form, solver)
        remembering.append(Certified(planned.lower, planned.upper))
        forgetting.append(gap_without_memory(form, effort=LAKE_EFFORT, seed=seed))
    return Row("four frozen lakes", horizons, tuple(remembering), tuple(forgetting))


def _needed(row: Row) -> list[Check]:
    return [
        check(
            f"{row.name}, H = {horizon}: every policy without memory loses more than "
            "the best one with it",
            oracle,
            other,
        )
        for horizon, oracle, other in zip(
            row.horizons, row.remembering, row.forgetting, strict=True
        )
    ]


def _checks(arms: Arms, row: Row, settings: Settings) -> list[Check]:
    exponent = growth_exponent(arms.horizons, row.forgetting)
    half, last = row.remembering[-2:]
    return [
        check(
            f"{arms.name}: without memory the gap grows at least like H^0.9",
            0.9,
            exponent,
        ),
        check(
            f"{arms.name}: without memory at least an eighth of (good arm less others) "
            "is lost per step, the least over horizons",
            arms.better / 8.0,
            least([g / h for g, h in zip(row.forgetting, arms.horizons, strict=True)]),
        ),
        check(
            f"{arms.name}: with memory the last doubling of the horizon adds at most "
            f"{settings.growth - 1.0:.0%}",
            last,
            half * settings.growth,
        ),
        check(
            f"{arms.name}: at H = {arms.horizons[-1]} memory saves more than half of "
            "what is lost without it",
            row.forgetting[-1] * 0.5,
            row.value,
        ),
    ]


def _figure(row: Row) -> Figure:
    return figure(
        f"With and without memory: {row.name}",
        "horizon H",
        "average gap",
        curve("best agent with memory (oracle)", row.horizons, row.remembering),
        curve("best agent without memory", row.horizons, row.forgetting),
        note="Without memory: between a bound on all such agents and the best found.",
    )


CLAIM = Claim(
    name="memory-matters",
    title="A policy with memory keeps the gap flat, one without does not",
    statement="On a class in which the good action differs between simulators, the "
    "best policy that remembers its past loses a bounded amount, however long the "
    "episode, while every policy that sees only the current state and the step loses a "
    "fixed part of every step. On four frozen lakes of Gymnasium every policy without "
    "memory loses more than the best one with it.",
    source="Memory after Theorem 2, and in Section 4.2 (theory 4.19, 5.6, 5.7)",
    measure=measured,
    quick=QUICK,
    full=FULL,
)
