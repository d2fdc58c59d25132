"""Algorithm 1 as printed: stage 1 has no end (errata E10 to E14).

The loop runs while at least one candidate is left, and the last one is compared with
itself for ever (E10), so that the agent never plays what it has found. Samples are
joined as a set (E11): once every outcome has been seen, what is left to compare is the
product of their chances, not how often they came. On the first arm this is .1 x .9 for
one model and .95 x .05 for the other, so that the same model is dropped whether it is
real or not. (If the word is read as a multiset, Algorithm 2 has no such fault; the
others remain.) One sample too many is taken (E12), and the agent moves even if it
stands where it wants to be (E13). On two arms, with the paper's n0:

* the gap grows like H; Theorem 5 promises C1, which grows like log^3 H;
* one of the two is dropped in every run in which it is real, where 1/H is promised
  (Lemma 4);
* stage 1 ends in no run, where print takes for granted that it does (E14).

The repaired algorithm, with the same n0, is run beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.base_policies.paper import Comparison, TravelSet, elimination
from simgap.bounds import PaperSamples, Travel, elimination_gap
from simgap.experiments.framework.agent_losses import KnownClass, Losses
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
from simgap.instances import bandit
from simgap.intervals import Estimate
from simgap.records.claim import ClaimVerdict

MEANS = ((0.1, 0.9), (0.95, 0.15))  # no two products of chances are equal
LOGARITHM = 0.5  # exponents up to here would pass as log^3 over these horizons


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons and how many runs."""

    horizons: tuple[int, ...]
    runs: int
    literal: bool = True  # a control repairs the rule


QUICK = Settings((2 * 10**5, 5 * 10**5, 10**6), runs=10)
FULL = Settings((2 * 10**5, 5 * 10**5, 10**6, 3 * 10**6, 10**7), runs=20)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Both versions at one horizon."""

    horizon: Annotated[int, "H"]
    printed: Annotated[Estimate, "as printed"]
    repaired: Annotated[Estimate, "repaired"]
    bound: Annotated[float, "C1"]  # with the paper's n0
    samples: Annotated[float, "n0"]
    endless: Annotated[float, "stage 1 does not end", "estimated"]  # part of runs
    dropped: Estimate  # how often the real model is


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    known = KnownClass.of("two arms", bandit(MEANS))
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon:,}")
        rows.append(_row(known, horizon, settings, seed))
    across, last = [row.horizon for row in rows], rows[-1]
    lost, repaired = [row.printed for row in rows], [row.repaired for row in rows]
    exponent = growth_exponent(across, lost)
    checks = (
        check(
            f"H = {last.horizon:,}: the gap in every model is at most C1 (Theorem 5)",
            last.printed,
            last.bound,
        ),
        check(
            f"the gap grows at most like H^{LOGARITHM}, as log^3 does",
            exponent,
            LOGARITHM,
        ),
        check(
            f"H = {last.horizon:,}: the real model is dropped with chance at most 1/H "
            "(Lemma 4)",
            last.dropped,
            1.0 / last.horizon,
        ),
        check(
            f"H = {last.horizon:,}: stage 1 ends: the part of runs in which it does "
            "not",
            last.endless,
            0.0,
        ),
    )
    return ClaimResult(
        checks=checks,
        key=("exponent in H of the gap of Algorithm 1 as printed", exponent),
        summary=f"As printed, Algorithm 1 loses {last.printed.estimate:.3g} of "
        f"{last.horizon:,} steps where C1 = {last.bound:.3g}, growing like "
        f"H^{exponent.estimate:.2f}; stage 1 goes on in {last.endless:.0%} of the "
        f"runs, and the real model is dropped in {last.dropped.estimate:.0%} of them, "
        "where that happens most often. Repaired, it loses "
        f"{last.repaired.estimate:.3g}.",
        figures=(
            figure(
                "Algorithm 1 on two arms, as printed and repaired, with the paper's n0",
                "horizon H",
                "gap in the worst model",
                curve("as printed", across, lost),
                curve("repaired", across, repaired),
                curve("C1", across, [row.bound for row in rows], bound=True),
                curve("H: no promise", across, across, bound=True),
            ),
        ),
        tables=(table("Algorithm 1 on two arms, with the paper's n0", rows),),
    )


def _row(known: KnownClass, horizon: int, settings: Settings, seed: int) -> Row:
    repaired = elimination(
        known.known, horizon, comparison=Comparison.PAPER, travel=TravelSet.ALL
    )
    printed = repaired
    if settings.literal:
        printed = elimination(known.known, horizon, literal=True)
    as_printed, as_repaired = (
        known.losses(agent, horizon, runs=settings.runs, seed=seed)
        for agent in (printed, repaired)
    )
    bound = elimination_gap(
        PaperSamples(known.separation, known.simulators.n_states),
        horizon=horizon,
        members=known.members,
        diameter=known.diameter,
        travel=Travel.ALL,
    )
    return Row(
        horizon=horizon,
        printed=as_printed.worst_gap,
        repaired=as_repaired.worst_gap,
        bound=bound.value,
        samples=bound.constant("n0"),
        endless=_endless(as_printed),
        dropped=as_printed.dropped,
    )


def _endless(found: Losses) -> float:
    """Return the part of runs whose horizon ended in stage 1."""
    ends = [each.runs.identified >= 0 for each in found.found]
    return 1.0 - sum(int(each.sum()) for each in ends) / sum(e.size for e in ends)


CLAIM = Claim(
    name="algorithm-1-printed",
    title="Algorithm 1, run to the letter",
    statement="The agent that tells simulators apart two by two, run exactly as the "
    "paper prints it, finds the real one with probability at least 1 - 1/H and loses "
    "at most what Theorem 5 allows.",
    source="Algorithms 1 and 2 as printed (theory 3.1)",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E10", "E11", "E12", "E13", "E14"),
)
