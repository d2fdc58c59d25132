"""Theorem 1: where some step tells any two models apart, randomization costs log H.

Algorithm 1 loses at most C1 = n0 (M-1)(2D(M+2)+1) + D + 1 in every model, n0 = 8
log(MH) / delta^2 (theory 4.5), and by Lemma 1 the oracle at most M C1. Both are
measured:

* Algorithm 1 by sampling. Once stage 1 fits into the horizon its gap grows like log H;
  before, it is a constant part of H.
* The oracle by bracketing its average gap. Where what is optimal also teaches (two
  arms) its gap does not grow at all; where it teaches nothing (a river whose safe bank
  says nothing about the current) it explores longer for longer horizons, like log H.

The powers of D and of M are measured on a corridor at whose far end alone the models
differ, so that every sample of Algorithm 1 costs the way: C1 has D and M^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Annotated, final

from simgap.base_policies.paper import elimination
from simgap.bounds import Bound, Chernoff, elimination_gap, separated_class
from simgap.experiments.framework.agent_losses import (
    KnownClass,
    solved_oracle,
    worst_of_oracles,
)
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.experiments.framework.shared_classes import corridor
from simgap.instances import bandit, riverswim
from simgap.intervals import Certified, Estimate, greatest
from simgap.records.claim import Check, Figure

MOST_EXPONENT = 0.2  # a logarithm over these horizons; a square root has 0.5
FLAT = 0.05
POWERS = {"D": 1.0, "M": 2.0}  # that C1 has
LENGTH = 8  # of the corridor whose number of models varies
POWER_OF_LOG = 1.1


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bounds must suffice."""

    horizons: tuple[int, ...]  # of Algorithm 1
    arms_oracle: tuple[int, ...]  # horizons of the oracle on two arms
    rivers_oracle: tuple[int, ...]  # and on three rivers
    runs: int  # per model and horizon
    lengths: tuple[int, ...]  # of a corridor with two models
    members: tuple[int, ...]  # of a corridor of a fixed length
    corridor_horizon: int
    corridor_runs: int
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings(
    horizons=(100, 300, 1000, 3000, 10**4, 10**5, 10**6),
    arms_oracle=(64, 256, 1024),
    rivers_oracle=(64, 256, 1024),
    runs=1000,
    lengths=(4, 8, 16, 32),
    members=(4, 8, 16, 32),
    corridor_horizon=10**5,
    corridor_runs=20,
)
FULL = Settings(
    horizons=(100, 300, 1000, 3000, 10**4, 10**5, 10**6, 10**7),
    arms_oracle=(16, 64, 256, 1024, 4096, 16384),
    rivers_oracle=(64, 256, 1024, 4096),
    runs=10_000,
    lengths=(4, 8, 16, 32, 64),
    members=(4, 8, 16, 32),
    corridor_horizon=10**6,
    corridor_runs=200,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Algorithm 1 at one horizon."""

    name: Annotated[str, "class"]
    horizon: Annotated[int, "H"]
    gap: Annotated[Estimate, "worst gap"]
    bound: Annotated[float, "C1"]
    fits: Annotated[str, "stage 1 fits"]  # whether it ended in every run


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One class."""

    known: KnownClass
    rows: tuple[Row, ...]
    oracle_horizons: tuple[int, ...]
    averages: tuple[Certified, ...]  # of the oracle
    worst: tuple[Certified, ...]  # of any oracle, in any model
    base: Bound  # C1 at the longest horizon
    oracle: Bound  # M C1

    @property
    def fitting(self) -> list[Row]:
        """Where stage 1 fits into the horizon."""
        return [row for row in self.rows if row.fits == "yes"]

    @property
    def exponent(self) -> Estimate:
        """The power of H with which Algorithm 1's gap grows once stage 1 fits."""
        horizons = [row.horizon for row in self.fitting]
        return growth_exponent(horizons, [row.gap for row in self.fitting])

    @property
    def power_of_log(self) -> Estimate:
        """The power of log(MH) with which it grows."""
        logs = [log(self.known.members * row.horizon) for row in self.fitting]
        return growth_exponent(logs, [row.gap for row in self.fitting])


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    two = KnownClass.of("two arms", bandit([[0.2, 0.8], [0.8, 0.2]]))
    arms = _found(two, settings.arms_oracle, settings, seed, tell)
    river = riverswim(4, (0.1, 0.35, 0.6), left_reward=0.7, uniform=True)
    three = KnownClass.of("three rivers", river)
    rivers = _found(three, settings.rivers_oracle, settings, seed, tell)
    corridors = _corridors(settings, seed, tell)
    flat = growth_exponent(arms.oracle_horizons, arms.averages)
    last = rivers.rows[-1]
    checks = (
        *_bound_checks(arms, settings.share),
        *_bound_checks(rivers, settings.share),
        check(
            "on two arms the oracle's gap grows at most like H^0.05: it is flat",
            flat,
            FLAT * settings.share,
        ),
        *(
            check(
                f"{found.known.name}: once stage 1 fits, Algorithm 1's gap grows at "
                f"most like H^{MOST_EXPONENT}",
                found.exponent,
                MOST_EXPONENT * settings.share,
            )
            for found in (arms, rivers)
        ),
        *(
            check(
                f"{found.known.name}: and at most like log(MH)^{POWER_OF_LOG}",
                found.power_of_log,
                POWER_OF_LOG * settings.share,
            )
            for found in (arms, rivers)
        ),
        *_corridor_checks(corridors, settings.share),
    )
    return ClaimResult(
        checks=checks,
        key=("exponent in H of Algorithm 1's gap on three rivers", rivers.exponent),
        summary=f"On three rivers Algorithm 1 loses {last.gap.estimate:.4g} of H = "
        f"{last.horizon:,} steps (C1 = {last.bound:.4g}), growing like "
        f"H^{rivers.exponent.estimate:.3f}; on two arms the oracle's average gap is "
        f"{arms.averages[-1].middle:.3f} at H = {arms.oracle_horizons[-1]} and grows "
        f"like H^{flat.estimate:.3f}.",
        figures=(_figure(arms), _figure(rivers)),
        tables=(
            table("Algorithm 1 on separated classes", arms.rows + rivers.rows),
            table("Algorithm 1 on corridors", [row for _, row in corridors]),
        ),
    )


def _found(
    known: KnownClass,
    oracle_horizons: tuple[int, ...],
    settings: Settings,
    seed: int,
    tell: Tell,
) -> Found:
    tell(f"Algorithm 1, {known.name}")
    base, oracle = (
        bound(
            Chernoff(known.separation),
            horizon=settings.horizons[-1],
            members=known.members,
            diameter=known.diameter,
        )
        for bound in (elimination_gap, separated_class)
    )
    rows = []
    for h in settings.horizons:
        agent = elimination(known.known, h)
        found = known.losses(agent, h, runs=settings.runs, seed=seed)
        fits = "yes" if found.settled else "no"
        rows.append(Row(known.name, h, found.worst_gap, base.at(h), fits))
    solved = []
    for horizon in oracle_horizons:
        tell(f"oracle, {known.name}, H = {horizon}")
        solved.append(solved_oracle(known.simulators, horizon))
    return Found(
        known=known,
        rows=tuple(rows),
        oracle_horizons=oracle_horizons,
        averages=tuple(each.average_gap for each in solved),
        worst=tuple(worst_of_oracles(each) for each in solved),
        base=base,
        oracle=oracle,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Corridor:
    """Algorithm 1 on one corridor."""

    diameter: Annotated[float, "D"]
    members: Annotated[int, "M"]
    gap: Annotated[Estimate, "worst gap"]
    bound: Annotated[float, "C1"]


def _corridors(settings: Settings, seed: int, tell: Tell) -> list[tuple[str, Corridor]]:
    """Return what is lost as D grows, and as M grows, by the letter that does."""
    horizon, rows = settings.corridor_horizon, []
    cases = [("D", length, 2) for length in settings.lengths]
    cases += [("M", LENGTH, members) for members in settings.members]
    for grows, length, members in cases:
        tell(f"corridor, D = {length}, M = {members}")
        known = KnownClass.of("corridor", corridor(length, members))
        agent = elimination(known.known, horizon)
        lost = known.losses(agent, horizon, runs=settings.corridor_runs, seed=seed)
        bound = elimination_gap(
            Chernoff(known.separation),
            horizon=horizon,
            members=members,
            diameter=known.diameter,
        )
        row = Corridor(known.diameter, members, lost.worst_gap, bound.value)
        rows.append((grows, row))
    return rows


def _corridor_checks(rows: list[tuple[str, Corridor]], share: float) -> list[Check]:
    checks = [
        check(
            "corridors: Algorithm 1 loses at most C1, all D and M: greatest ratio",
            greatest([row.gap / row.bound for _, row in rows]),
            share,
        )
    ]
    for letter, most in POWERS.items():
        found = [row for grows, row in rows if grows == letter]
        across = [row.diameter if letter == "D" else row.members for row in found]
        checks.append(
            check(
                f"corridors: Algorithm 1's gap grows at most like {letter}^{most:g}",
                growth_exponent(across, [row.gap for row in found]),
                most * share,
            )
        )
    return checks


def _bound_checks(found: Found, share: float) -> tuple[Check, ...]:
    name, longest = found.known.name, found.rows[-1].horizon
    first, last = found.oracle_horizons[0], found.oracle_horizons[-1]
    promised = [found.oracle.at(h) for h in found.oracle_horizons]
    return (
        check(
            f"{name}: Algorithm 1 loses at most C1 in any model, H from "
            f"{found.rows[0].horizon} to {longest:,}: greatest ratio",
            greatest([row.gap / row.bound for row in found.rows]),
            share,
        ),
        check(
            f"{name}: every oracle loses at most M C1 in any model, H from "
            f"{first} to {last:,}: greatest ratio",
            greatest([w / b for w, b in zip(found.worst, promised, strict=True)]),
            share,
        ),
        check(
            f"{name}: the promise C1 says something at H = {longest:,}, it is below H",
            found.base.value,
            longest,
        ),
    )


def _figure(found: Found) -> Figure:
    horizons = [row.horizon for row in found.rows]
    promised = [found.oracle.at(h) for h in horizons]
    return figure(
        f"A separated class: {found.known.name}",
        "horizon H",
        "gap",
        curve("Algorithm 1, worst model", horizons, [row.gap for row in found.rows]),
        curve("oracle, average", found.oracle_horizons, found.averages),
        curve("C1", horizons, [row.bound for row in found.rows], bound=True),
        curve("M C1", horizons, promised, bound=True),
        curve("H: no promise", horizons, horizons, bound=True),
        note="Algorithm 1 loses a constant part of H until stage 1 fits, then log H.",
        marks=[
            (found.base.non_vacuous_from, "C1 is below H"),
            (found.oracle.non_vacuous_from, "M C1 is below H"),
        ],
    )


CLAIM = Claim(
    name="theorem-1",
    title="Separated classes: the gap grows like log H",
    statement="If any two simulators differ clearly at some state and action, a policy "
    "trained on all of them and tested in the real model loses at most a constant "
    "times log H, however long the task is; the constant grows at most like the "
    "diameter and a power of the number of simulators.",
    source="Theorem 1 with Theorem 5 and Lemma 1 (theory 4.5)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E15",),
)
