"""Theorem 1: where some step tells any two models apart, randomization costs log H.

Algorithm 1 loses at most C1 = n0 (M-1)(2D(M+2)+1) + D + 1 in every model, n0 = 8
log(MH) / delta^2 (theory 4.5), and by Lemma 1 the oracle at most M C1. Both are
measured:

* Algorithm 1 by sampling. Once stage 1 fits into the horizon its gap grows like log H;
  before, it is a constant part of H.
* The oracle by bracketing its average gap. Where what is optimal also teaches (two
  arms) its gap does not grow at all; where it teaches nothing (a river whose safe bank
  says nothing about the current) it explores longer for longer horizons, like log H.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import final

from simgap.base_policies import elimination
from simgap.bounds import Bound, Chernoff, elimination_gap, separated_class
from simgap.experiments.framework.agent_losses import (
    KnownClass,
    greatest_part,
    known_class,
    losses,
    solved_oracle,
    worst_of_oracles,
)
from simgap.experiments.framework.claim import (
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
from simgap.experiments.framework.growth import growth_exponent
from simgap.experiments.framework.intervals import bracketed_exponent, curve, middle
from simgap.instances import bandit, riverswim
from simgap.intervals import Certified, Estimate

MOST_EXPONENT = 0.2  # a logarithm over these horizons; a square root has 0.5
FLAT = 0.05
POWER_OF_LOG = 1.1


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bounds must suffice."""

    horizons: tuple[int, ...]  # of Algorithm 1
    arms_oracle: tuple[int, ...]  # horizons of the oracle on two arms
    rivers_oracle: tuple[int, ...]  # and on three rivers
    runs: int  # per model and horizon
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings(
    horizons=(100, 300, 1000, 3000, 10**4, 10**5, 10**6),
    arms_oracle=(64, 256, 1024),
    rivers_oracle=(64, 256, 1024),
    runs=1000,
)
FULL = Settings(
    horizons=(100, 300, 1000, 3000, 10**4, 10**5, 10**6, 10**7),
    arms_oracle=(16, 64, 256, 1024, 4096, 16384),
    rivers_oracle=(64, 256, 1024, 4096),
    runs=10_000,
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One class."""

    known: KnownClass
    horizons: tuple[int, ...]
    gaps: tuple[Estimate, ...]  # of Algorithm 1 in its worst model
    fits: tuple[bool, ...]  # whether stage 1 ended in every run
    oracle_horizons: tuple[int, ...]
    averages: tuple[Certified, ...]  # of the oracle
    worst: tuple[Certified, ...]  # of any oracle, in any model

    @property
    def exponent(self) -> Estimate:
        """The power of H with which Algorithm 1's gap grows once stage 1 fits."""
        return growth_exponent(*self._fitting())

    @property
    def power_of_log(self) -> Estimate:
        """The power of log(MH) with which it grows."""
        horizons, gaps = self._fitting()
        return growth_exponent([log(self.known.members * h) for h in horizons], gaps)

    def _fitting(self) -> tuple[list[float], list[Estimate]]:
        kept = [n for n, fits in enumerate(self.fits) if fits]
        return [float(self.horizons[n]) for n in kept], [self.gaps[n] for n in kept]

    def base_bound(self, horizon: int) -> Bound:
        """Return C1."""
        return elimination_gap(
            Chernoff(self.known.separation),
            horizon=horizon,
            members=self.known.members,
            diameter=self.known.diameter,
        )

    def oracle_bound(self, horizon: int) -> Bound:
        """Return M C1."""
        return separated_class(
            Chernoff(self.known.separation),
            horizon=horizon,
            members=self.known.members,
            diameter=self.known.diameter,
        )


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    arms = _found(
        known_class("two arms", bandit([[0.2, 0.8], [0.8, 0.2]])),
        settings.arms_oracle,
        settings,
        seed,
        tell,
    )
    river = riverswim(4, (0.1, 0.35, 0.6), left_reward=0.7, uniform=True)
    rivers = _found(
        known_class("three rivers", river), settings.rivers_oracle, settings, seed, tell
    )
    flat = bracketed_exponent([float(h) for h in arms.oracle_horizons], arms.averages)
    checks = (
        *_bound_checks(arms, settings.share),
        *_bound_checks(rivers, settings.share),
        Check(
            "on two arms the oracle's gap grows at most like H^0.05: it is flat",
            flat,
            exactly(FLAT * settings.share),
        ),
        *(
            Check(
                f"{found.known.name}: once stage 1 fits, Algorithm 1's gap grows at "
                f"most like H^{MOST_EXPONENT}",
                found.exponent,
                exactly(MOST_EXPONENT * settings.share),
            )
            for found in (arms, rivers)
        ),
        *(
            Check(
                f"{found.known.name}: and at most like log(MH)^{POWER_OF_LOG}",
                found.power_of_log,
                exactly(POWER_OF_LOG * settings.share),
            )
            for found in (arms, rivers)
        ),
    )
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            "exponent in H of Algorithm 1's gap on three rivers", rivers.exponent
        ),
        summary=_summary(arms, rivers, flat),
        figures=(_figure(arms), _figure(rivers)),
        tables=(_table(arms, rivers),),
    )


def _found(
    known: KnownClass,
    oracle_horizons: tuple[int, ...],
    settings: Settings,
    seed: int,
    tell: Tell,
) -> Found:
    tell(f"Algorithm 1, {known.name}")
    runs = [
        losses(known, elimination(known.known, h), h, runs=settings.runs, seed=seed)
        for h in settings.horizons
    ]
    solved = []
    for horizon in oracle_horizons:
        tell(f"oracle, {known.name}, H = {horizon}")
        solved.append(solved_oracle(known.simulators, horizon))
    return Found(
        known=known,
        horizons=settings.horizons,
        gaps=tuple(each.worst_gap for each in runs),
        fits=tuple(each.settled for each in runs),
        oracle_horizons=oracle_horizons,
        averages=tuple(each.average_gap for each in solved),
        worst=tuple(worst_of_oracles(each) for each in solved),
    )


def _bound_checks(found: Found, share: float) -> tuple[Check, ...]:
    name, longest = found.known.name, found.horizons[-1]
    base, oracle = found.base_bound(longest), found.oracle_bound(longest)
    return (
        Check(
            f"{name}: Algorithm 1 loses at most C1 in any model, H from "
            f"{found.horizons[0]} to {longest:,}: greatest ratio",
            greatest_part(found.gaps, [base.at(h) for h in found.horizons]),
            exactly(share),
        ),
        Check(
            f"{name}: every oracle loses at most M C1 in any model, H from "
            f"{found.oracle_horizons[0]} to {found.oracle_horizons[-1]:,}: greatest "
            "ratio",
            greatest_part(found.worst, [oracle.at(h) for h in found.oracle_horizons]),
            exactly(share),
        ),
        Check(
            f"{name}: the promise C1 says something at H = {longest:,}, it is below H",
            exactly(base.value),
            exactly(float(longest)),
        ),
    )


def _summary(arms: Found, rivers: Found, flat: Estimate) -> str:
    longest = rivers.horizons[-1]
    bound = rivers.base_bound(longest).value
    return (
        f"On three rivers Algorithm 1 loses {rivers.gaps[-1].estimate:.4g} of H = "
        f"{longest:,} steps (C1 = {bound:.4g}), growing like "
        f"H^{rivers.exponent.estimate:.3f}; on two arms the oracle's average gap is "
        f"{middle(arms.averages[-1]):.3f} at H = {arms.oracle_horizons[-1]} and grows "
        f"like H^{flat.estimate:.3f}."
    )


def _figure(found: Found) -> Figure:
    horizons = [float(h) for h in found.horizons]
    base = found.base_bound(found.horizons[-1])
    oracle = found.oracle_bound(found.horizons[-1])
    marks = (
        (base.non_vacuous_from, "C1 is below H"),
        (oracle.non_vacuous_from, "M C1 is below H"),
    )
    return Figure(
        f"A separated class: {found.known.name}",
        "horizon H",
        "gap",
        (
            curve(
                "Algorithm 1, worst model", horizons, found.gaps, certainty="estimated"
            ),
            curve(
                "oracle, average",
                [float(h) for h in found.oracle_horizons],
                found.averages,
                certainty="certified",
            ),
            curve("C1", horizons, [base.at(h) for h in found.horizons], bound=True),
            curve("M C1", horizons, [oracle.at(h) for h in found.horizons], bound=True),
            curve("H: no promise", horizons, horizons, bound=True),
        ),
        log_x=True,
        log_y=True,
        note="Algorithm 1 loses a constant part of H until stage 1 fits, then log H.",
        marks=tuple((at, word) for at, word in marks if at is not None),
    )


def _table(arms: Found, rivers: Found) -> Table:
    rows = [
        (
            found.known.name,
            horizon,
            gap.estimate,
            found.base_bound(horizon).value,
            "yes" if fits else "no",
        )
        for found in (arms, rivers)
        for horizon, gap, fits in zip(
            found.horizons, found.gaps, found.fits, strict=True
        )
    ]
    return Table(
        "Algorithm 1 on separated classes",
        ("class", "H", "worst gap", "C1", "stage 1 fits"),
        tuple(rows),
        ("exact", "exact", "estimated", "certified", "exact"),
    )


CLAIM = Claim(
    name="theorem-1",
    title="Separated classes: the gap grows like log H",
    statement="If any two simulators differ clearly at some state and action, a policy "
    "trained on all of them and tested in the real world loses at most a constant "
    "times log H, however long the task is.",
    source="Theorem 1 with Theorem 5 and Lemma 1 (theory 4.5)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E15",),
)
