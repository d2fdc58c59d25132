"""Lemma 9: Algorithm 4 changes its plan about log H times (theory 4.7.4).

It refits when some pair of models differs on the fresh data as much as on all data
before, so every switch doubles the mass of a pair, |f_1 - f_2|^2 + alpha:

    K <= 1 + (|F|(|F|-1)/2) log2(1 + H Dl^2 / alpha),

and for any class K <= 1 + 2 [1 + (log2(Dl sqrt H) + 2) d_e (4 log H + 1)]. K counts
episodes, that is switches plus one; print bounds switches and calls them episodes
(E21). All runs are counted, the greatest number is compared. With one pair of models
that every step tells apart by the same g, each switch needs as many samples as are in Z
and ceil(alpha / g^2) more, so that there are floor(log2(1 + H / ceil(alpha / g^2)))
whatever is seen: the bound is met but for rounding and the ratio of g to Dl.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2
from typing import Annotated, final

from simgap.base_policies.paper import general_optimistic
from simgap.bounds import Switches, general_optimistic_regret
from simgap.complexity import eluder_dimension, function_class
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
from simgap.experiments.framework.growth import growth_exponent
from simgap.experiments.framework.shared_classes import eight_switches, rivers
from simgap.instances import bandit
from simgap.records.claim import Figure

MEANS = (0.9, 0.1)  # of the arm that tells the two models of the pair apart
LOGARITHM = 0.2  # exponents up to here pass as a logarithm over these horizons


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bounds must suffice."""

    horizons: tuple[int, ...]
    runs: int  # per model
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings((10**3, 10**4, 10**5, 10**6), runs=10)
FULL = Settings((10**3, 10**4, 10**5, 10**6, 10**7), runs=40)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The most episodes of any run in any model of a class."""

    name: Annotated[str, "class"]
    horizon: Annotated[int, "H"]
    episodes: Annotated[int, "K"]  # switches plus one
    by_pairs: Annotated[float, "bound by pairs"]
    by_eluder: Annotated[float, "bound by eluder dimension"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    pair = KnownClass.of("one pair", bandit([[mean, 0.5] for mean in MEANS]))
    classes = (
        pair,
        KnownClass.of("five rivers", rivers()),
        KnownClass.of("eight switches", eight_switches()),
    )
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon:,}")
        rows += [_row(known, horizon, settings.runs, seed) for known in classes]
    one = KnownClass.of("one model", bandit((0.5, 0.9)))
    alone = _row(one, settings.horizons[0], 2, seed)
    share = settings.share
    doubling = [row for row in rows if row.name == pair.name]
    across = [row.horizon for row in doubling]
    exponent = growth_exponent(across, [row.episodes for row in doubling])
    checks = (
        check(
            "K is at most 1 + (|F|(|F|-1)/2) log2(1 + H Dl^2 / alpha) in every run: "
            "greatest ratio",
            max(row.episodes / row.by_pairs for row in rows),
            share,
        ),
        check(
            "K is at most the bound by the eluder dimension in every run: greatest "
            "ratio",
            max(row.episodes / row.by_eluder for row in rows),
            share,
        ),
        check(
            "one pair: K is 1 + floor(log2(1 + H / ceil(alpha / g^2))), the greatest "
            "difference",
            max(abs(row.episodes - _exact(row)) for row in doubling),
            0.0,
        ),
        check(
            f"one pair: K grows at most like H^{LOGARITHM}", exponent, LOGARITHM * share
        ),
        check("a class of one model has no switch and one episode", alone.episodes, 1),
    )
    most, last = max(rows, key=lambda row: row.episodes), doubling[-1]
    return ClaimResult(
        checks=checks,
        key=(f"episodes of one pair at H = {last.horizon:,}", last.episodes),
        summary=f"One pair of models is refitted {last.episodes - 1} times in "
        f"{last.horizon:,} steps (at most {last.by_pairs - 1.0:.2f}); the most "
        f"episodes of any run were {most.episodes} on {most.name} at H = "
        f"{most.horizon:,}, of {most.by_pairs:.0f} allowed.",
        figures=(_figure(rows),),
        tables=(table("The most episodes of Algorithm 4", rows),),
    )


def _row(known: KnownClass, horizon: int, runs: int, seed: int) -> Row:
    agent = general_optimistic(known.known, horizon)
    found = known.losses(agent, horizon, runs=runs, seed=seed)
    functions = function_class(known.simulators, plan=known.known.average)
    by_pairs, by_eluder = (
        general_optimistic_regret(
            horizon=horizon,
            span=float(known.spans.max()),
            eluder=eluder_dimension(functions, 1.0 / horizon).upper,
            functions=agent.functions.count,
            switches=kind,
        ).constant("K")
        for kind in (Switches.PAIRS, Switches.ELUDER)
    )
    most = max(int(each.runs.switches.max()) for each in found.found)
    return Row(known.name, horizon, most + 1, by_pairs, by_eluder)


def _exact(row: Row) -> int:
    """Return K of one pair that every step tells apart by g; alpha is 2 for span 1."""
    first = ceil(2.0 / (MEANS[0] - MEANS[1]) ** 2)
    return 1 + floor(log2(1.0 + row.horizon / first))


def _figure(rows: list[Row]) -> Figure:
    curves = []
    for name in dict.fromkeys(row.name for row in rows):
        of_class = [row for row in rows if row.name == name]
        across = [row.horizon for row in of_class]
        curves.append(curve(name, across, [r.episodes for r in of_class]))
        bounds = [row.by_pairs for row in of_class]
        curves.append(curve(f"bound by pairs, {name}", across, bounds, bound=True))
    return figure(
        "How often Algorithm 4 changes its plan",
        "horizon H",
        "episodes K of the run with most",
        *curves,
    )


CLAIM = Claim(
    name="lemma-9",
    title="Algorithm 4 changes its plan rarely",
    statement="The agent that refits only when the new data weigh as much as the old "
    "makes at most about log H plans for every pair of simulators.",
    source="Lemma 9 (theory 4.7.4)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E20", "E21"),
)
