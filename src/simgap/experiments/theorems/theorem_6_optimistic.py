"""Theorem 6: the regret of Algorithm 3, path by path and on average.

While the real model is not dropped every path obeys (theory 4.6)

    sum_h (rho* - R_h) <= sum_k [ thr_k(n_k - e_k) + e_k sp_k + sp_k ],

e_k = 1 if the episode of model k ended by its elimination; the real model is dropped
with chance at most 1/H; hence Reg(H) <= sqrt(H log(2H^2)/2 sum sp_m^2) + 2 sum sp_m -
sp_* + 1. Three statements, three kinds of evidence:

* the path inequality on every run of every class, by its tightest ratio;
* regret and chance without sampling where rewards lie on a lattice, by first passages;
* the regret by sampling at longer horizons.

The thresholds are the sharp one, the paper's with its count repaired (E17), and the one
that uses the variance that a model predicts. Print telescopes across episodes and adds
M where M D is needed (E29).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from simgap.base_policies.paper import Threshold, optimistic_exploration
from simgap.bounds import Bound, ProvedThreshold, optimistic_regret, variance_regret
from simgap.experiments.framework.agent_losses import KnownClass
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.shared_classes import eight_switches, rivers
from simgap.gap import elimination_tests, first_passage_gap
from simgap.instances import best_arm
from simgap.intervals import Certified, Estimate, greatest
from simgap.records.claim import Check, Figure

WORDS = {
    Threshold.SHARP: "sharp",
    Threshold.PAPER: "paper's, repaired",
    Threshold.VARIANCE: "variance",
}


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bounds must suffice."""

    exact_horizons: tuple[int, ...]
    horizons: tuple[int, ...]
    runs: int  # per model
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings(exact_horizons=(300, 1000), horizons=(10**4, 10**5), runs=100)
FULL = Settings(
    exact_horizons=(300, 1000, 3000), horizons=(10**4, 10**5, 10**6), runs=200
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """Runs of Algorithm 3 with one threshold in all models of a class."""

    name: Annotated[str, "class"]
    threshold: Annotated[str, "threshold"]
    horizon: Annotated[int, "H"]
    regret: Annotated[Estimate, "worst regret"]
    bound: Annotated[float, "bound"]
    slack: Annotated[float, "tightest path"]
    paths: int
    says_from: float | None  # the least horizon at which the bound is below H


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """Algorithm 3 in all models of a class, without sampling."""

    name: Annotated[str, "class"]
    horizon: Annotated[int, "H"]
    regret: Annotated[Certified, "worst regret"]
    bound: Annotated[float, "bound"]
    dropped: Annotated[Certified, "chance to drop the real model"]
    allowed: Annotated[float, "1/H"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    known, followed, sampled = _classes(), [], []
    for horizon in settings.exact_horizons:
        tell(f"first passages, H = {horizon:,}")
        followed += [_followed(each, horizon) for each in known[:2]]
    for horizon in settings.horizons:
        tell(f"runs, H = {horizon:,}")
        sampled += [
            _sampled(each, threshold, horizon, settings.runs, seed)
            for each in known
            for threshold in WORDS
        ]
    share = settings.share
    checks = (
        *(
            _paths_check(word, [s for s in sampled if s.threshold == word], share)
            for word in WORDS.values()
        ),
        check(
            "the regret in every model is at most the bound, without sampling: "
            "greatest ratio",
            greatest([f.regret / f.bound for f in followed]),
            share,
        ),
        check(
            "the real model is dropped with chance at most 1/H, without sampling: "
            "greatest chance times H",
            greatest([f.dropped / f.allowed for f in followed]),
            share,
        ),
        *(
            check(
                f"threshold {word}: the sampled regret in every model is at most the "
                "bound: greatest ratio",
                greatest([s.regret / s.bound for s in sampled if s.threshold == word]),
                share,
            )
            for word in WORDS.values()
        ),
    )
    tightest = max(each.slack for each in sampled)
    paths = sum(each.paths for each in sampled)
    return ClaimResult(
        checks=checks,
        key=(f"tightest of {paths} paths: regret over its own bound", tightest),
        summary=f"On {paths} paths the regret was at most {tightest:.3f} of the "
        f"path's own bound; without sampling, {followed[-1].name} at H = "
        f"{followed[-1].horizon:,} cost {followed[-1].regret.middle:.6g} of "
        f"{followed[-1].bound:.4g}.",
        figures=(_figure(sampled),),
        tables=(
            table("Algorithm 3 without sampling", followed),
            table("Algorithm 3, sampled", sampled),
        ),
    )


def _classes() -> tuple[KnownClass, ...]:
    return (
        KnownClass.of("four arms", best_arm(4, 0.2)),
        KnownClass.of("five rivers", rivers()),
        KnownClass.of("eight switches", eight_switches()),
    )


def _followed(known: KnownClass, horizon: int) -> Followed:
    agent = optimistic_exploration(known.known, horizon)
    tests = elimination_tests(agent)
    found = [
        first_passage_gap(model, known.known.average, tests, horizon)
        for model in known.simulators
    ]
    return Followed(
        name=known.name,
        horizon=horizon,
        regret=greatest([each.regret for each in found]),
        bound=_bound(known, Threshold.SHARP, horizon).value,
        dropped=greatest([each.eliminated[m] for m, each in enumerate(found)]),
        allowed=1.0 / horizon,
    )


def _sampled(
    known: KnownClass, threshold: Threshold, horizon: int, runs: int, seed: int
) -> Sampled:
    agent = optimistic_exploration(known.known, horizon, threshold=threshold)
    found = known.losses(agent, horizon, runs=runs, seed=seed)
    bound = _bound(known, threshold, horizon)
    return Sampled(
        name=known.name,
        threshold=WORDS[threshold],
        horizon=horizon,
        regret=found.worst_regret,
        bound=bound.value,
        slack=found.slack,
        paths=found.paths,
        says_from=bound.non_vacuous_from,
    )


def _bound(known: KnownClass, threshold: Threshold, horizon: int) -> Bound:
    if threshold is Threshold.VARIANCE:
        return variance_regret(horizon=horizon, spans=known.spans)
    if threshold is Threshold.PAPER:
        spans = np.full(known.members, known.diameter)
        return optimistic_regret(
            horizon=horizon,
            spans=spans,
            threshold=ProvedThreshold.PAPER,
            diameter=known.diameter,
        )
    return optimistic_regret(horizon=horizon, spans=known.spans)


def _paths_check(word: str, sampled: list[Sampled], share: float) -> Check:
    paths = sum(each.paths for each in sampled)
    return check(
        f"threshold {word}: the path inequality holds on all {paths} paths on which "
        "the real model survives: greatest ratio",
        max(each.slack for each in sampled),
        share,
    )


def _figure(sampled: list[Sampled]) -> Figure:
    curves, marks = [], []
    for word in WORDS.values():
        rows = [s for s in sampled if (s.threshold, s.name) == (word, "five rivers")]
        across = [row.horizon for row in rows]
        bounds = [row.bound for row in rows]
        curves.append(curve(f"threshold {word}", across, [row.regret for row in rows]))
        curves.append(curve(f"bound, {word}", across, bounds, bound=True))
        marks.append((rows[-1].says_from, f"bound below H, {word}"))
    curves.append(curve("H: no promise", across, across, bound=True))
    return figure(
        "Algorithm 3 on five rivers",
        "horizon H",
        "regret in the worst model",
        *curves,
        note="Linear in H until the first elimination, then logarithmic.",
        marks=marks,
    )


CLAIM = Claim(
    name="theorem-6",
    title="What Algorithm 3 loses",
    statement="An agent that plays the most promising simulator until the rewards "
    "contradict it loses at most a constant times sqrt(H log H) in the real one; so "
    "does every single path on which it does not throw the real one out, and it does "
    "that with probability at most 1/H.",
    source="Theorem 6 (theory 4.6)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E17", "E18", "E28", "E29"),
)
