"""Theorem 7: the regret of Algorithm 4, item by item and path by path (theory 4.7).

With Dl the greatest span of a bias, alpha = Dl^2 + 1 and beta = 2 Dl^2 log(|F| H):

1. the real model leaves the confidence set with chance at most 1/H;
2. while it has not, sum over all data of (f_k - f_*)^2 <= 8 beta + alpha + Dl^2 (print
   has 2 beta where the triangle inequality gives 4 beta, E30);
3. sum |f_k - f_*| <= 1 + Dl d + 2 sqrt((8 beta + alpha + Dl^2) d H);
4. there are at most (|F|(|F|-1)/2) log2(1 + H Dl^2 / alpha) switches;
5. Reg(H) <= item 3 + Dl/2 + K Dl + 1.

Items 2 to 4 are checked inside every run, as the greatest ratio of the two sides; so is
a bound on the rewards of the path itself. Item 5 is compared with the regret, with the
eluder dimension of the class.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import Annotated, final

import numpy as np

from simgap.base_policies.paper import general_optimistic
from simgap.bounds import general_optimistic_regret
from simgap.complexity import eluder_dimension, function_class
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
from simgap.experiments.framework.shared_classes import eight_switches, rivers
from simgap.instances import best_arm
from simgap.intervals import Estimate, greatest
from simgap.records.claim import Figure

HARDEST = 1.2  # c of e = c sqrt(log(2 H^2) / H), about where most is lost


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bounds must suffice."""

    horizons: tuple[int, ...]
    runs: int  # per model
    chance_horizon: int  # short, so that 1/H and more than it look different
    chance_runs: int
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings((10**3, 10**4, 10**5), 200, chance_horizon=500, chance_runs=10_000)
FULL = Settings(
    (10**3, 10**4, 10**5, 10**6), 400, chance_horizon=500, chance_runs=100_000
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Runs of Algorithm 4 in all models of a class."""

    name: Annotated[str, "class"]
    horizon: Annotated[int, "H"]
    regret: Annotated[Estimate, "worst regret"]
    bound: Annotated[float, "bound"]
    eluder: Annotated[float, "d_e", "certified"]
    slack: Annotated[float, "items 2 to 4, greatest ratio"]
    path: Annotated[float, "path, greatest ratio"]  # H rho* - rewards over its bound
    paths: int
    dropped: Estimate  # chance that the real model is, in the worst case
    says_from: float | None  # the least horizon at which the bound is below H


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon:,}")
        rows += [
            _row(known, horizon, settings.runs, seed) for known in _classes(horizon)
        ]
    tell("how often the real model is lost")
    short = settings.chance_horizon
    chances = [
        _row(known, short, settings.chance_runs, seed).dropped
        for known in _classes(short)
    ]
    last, tightest = rows[-1], max(row.slack for row in rows)
    share, paths = settings.share, sum(row.paths for row in rows)
    checks = (
        check(
            f"items 2 to 4 hold on all {paths} paths: greatest ratio of the two sides",
            tightest,
            share,
        ),
        check(
            "H rho* less the rewards of a path is at most the path's own bound: "
            "greatest ratio",
            max(row.path for row in rows),
            share,
        ),
        check(
            f"the real model leaves the set with chance at most 1/H, H = {short}: "
            "greatest chance times H",
            greatest([chance / (1.0 / short) for chance in chances]),
            1.0,
        ),
        check(
            "the regret in every model is at most the bound of item 5: greatest ratio",
            greatest([row.regret / row.bound for row in rows]),
            share,
        ),
        check(
            f"the bound says something: it is below H for {last.name} at H = "
            f"{last.horizon:,}",
            last.bound,
            last.horizon,
        ),
    )
    return ClaimResult(
        checks=checks,
        key=(f"tightest of {paths} paths: greatest ratio of items 2 to 4", tightest),
        summary=f"On {paths} paths items 2 to 4 used at most {tightest:.2f} of what "
        f"they allow; on {last.name} at H = {last.horizon:,} the regret is "
        f"{last.regret.middle:.4g} of {last.bound:.4g}.",
        figures=(_figure(rows),),
        tables=(table("Algorithm 4", rows),),
    )


def _classes(horizon: int) -> tuple[KnownClass, ...]:
    e = min(0.3, HARDEST * sqrt(log(2.0 * horizon**2) / horizon))
    return (
        KnownClass.of("five rivers", rivers()),
        KnownClass.of("eight switches", eight_switches()),
        KnownClass.of("four arms", best_arm(4, e)),
    )


def _row(known: KnownClass, horizon: int, runs: int, seed: int) -> Row:
    agent = general_optimistic(known.known, horizon)
    found = known.losses(agent, horizon, runs=runs, seed=seed)
    functions = function_class(known.simulators, plan=known.known.average)
    bound = general_optimistic_regret(
        horizon=horizon,
        span=float(known.spans.max()),
        eluder=eluder_dimension(functions, 1.0 / horizon).upper,
        functions=agent.functions.count,
    )
    return Row(
        name=known.name,
        horizon=horizon,
        regret=found.worst_regret,
        bound=bound.value,
        eluder=bound.constant("d_e"),
        slack=found.slack,
        path=_path_ratio(known, horizon, found),
        paths=found.paths,
        dropped=found.dropped,
        says_from=bound.non_vacuous_from,
    )


def _path_ratio(known: KnownClass, horizon: int, found: Losses) -> float:
    """Return the greatest ratio of H rho* - rewards to the bound of the same path."""
    ratios = [-np.inf]
    for each in found.found:
        lost = horizon * float(known.known.gain[each.runs.model]) - each.runs.reward
        bound = each.runs.bound
        claimed = ~np.isnan(bound)
        with np.errstate(divide="ignore"):
            parts = np.where(bound > 0.0, lost / bound, np.where(lost > bound, 2, -1))
        ratios.append(float(parts[claimed].max(initial=-np.inf)))
    return max(ratios)


def _figure(rows: list[Row]) -> Figure:
    curves = []
    for name in dict.fromkeys(row.name for row in rows):
        of_class = [row for row in rows if row.name == name]
        across = [row.horizon for row in of_class]
        bounds = [row.bound for row in of_class]
        curves.append(curve(name, across, [row.regret for row in of_class]))
        curves.append(curve(f"bound, {name}", across, bounds, bound=True))
    curves.append(curve("H: no promise", across, across, bound=True))
    return figure(
        "Algorithm 4 and its bound",
        "horizon H",
        "regret in the worst model",
        *curves,
        note="Four arms come closer to each other as H grows, at the worst rate.",
        marks=[
            (row.says_from, f"bound below H, {row.name}")
            for row in rows
            if row.horizon == rows[-1].horizon
        ],
    )


CLAIM = Claim(
    name="theorem-7",
    title="What Algorithm 4 loses",
    statement="An agent that plays the most promising simulator among those that fit "
    "the data nearly as well as the best, and refits only when much new has been seen, "
    "loses at most a constant times sqrt(H log H), with a constant that depends on how "
    "complex the set of simulators is and not on their number alone.",
    source="Theorem 7 (theory 4.7)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E19", "E20", "E30", "E31"),
)
