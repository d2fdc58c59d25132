"""Lemma 8: Algorithm 3 keeps the real model with probability at least 1 - 1/H.

Then the model that is played has a gain of at least rho*: optimism. While the real
model is played its statistic is a martingale from a stopping time on, with increments
in an interval of width sp, so with thr(n) = sp sqrt(n log(2H^2)/2)

    P(dropped) <= sum_n 2 exp(-2 thr(n)^2 / (n sp^2)) = 1/H      (theory 4.6).

Print fixes the start of the episode, which is random, and counts one term too few (E28,
E17); its level is fine, 2/(2HM)^4 for increments of width D. The chance is computed
without sampling, by first passages: for a fair coin (theory row 32), and for every
model of classes whose rewards lie on a lattice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.base_policies.paper import Threshold, optimistic_exploration
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
from simgap.experiments.framework.shared_classes import rivers
from simgap.gap import EliminationTests, elimination_tests, first_passage_gap
from simgap.instances import bandit, best_arm
from simgap.intervals import Certified, greatest
from simgap.records.claim import Check

WORDS = {Threshold.SHARP: "sharp", Threshold.PAPER: "paper's, repaired"}


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, and what part of the thresholds is used."""

    coin_horizons: tuple[int, ...]
    class_horizons: tuple[int, ...]
    share: float = 1.0  # of every threshold; a control takes a half


QUICK = Settings((50, 200, 1000), (100, 300))
FULL = Settings((50, 200, 1000, 5000, 20_000), (100, 300, 1000, 3000))


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The greatest chance over the models of a class that it drops itself when real."""

    name: Annotated[str, "class"]
    threshold: Annotated[str, "threshold"]
    horizon: Annotated[int, "H"]
    chance: Annotated[Certified, "chance"]
    allowed: Annotated[float, "1/H"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    coin, rows = KnownClass.of("a fair coin", bandit((0.5,))), []
    for horizon in settings.coin_horizons:
        tell(f"coin, H = {horizon:,}")
        rows += [_row(coin, kind, horizon, settings.share) for kind in WORDS]
    arms = KnownClass.of("four arms", best_arm(4, 0.2))
    for known in (arms, KnownClass.of("five rivers", rivers())):
        for horizon in settings.class_horizons:
            tell(f"{known.name}, H = {horizon:,}")
            rows.append(_row(known, Threshold.SHARP, horizon, settings.share))
    names = list(dict.fromkeys((row.name, row.threshold) for row in rows))
    checks = tuple(
        _check([row for row in rows if (row.name, row.threshold) == (name, threshold)])
        for name, threshold in names
    )
    sharp = [row for row in rows if (row.name, row.threshold) == names[0]]
    across, last = [row.horizon for row in sharp], sharp[-1]
    return ClaimResult(
        checks=checks,
        key=(f"chance to drop a fair coin in {last.horizon:,} steps", last.chance),
        summary=f"A fair coin is dropped within H = {last.horizon:,} steps with "
        f"chance {last.chance.middle:.5g}; 1/H = {last.allowed:.1g} is allowed.",
        figures=(
            figure(
                "How often Algorithm 3 drops a fair coin that is the real model",
                "horizon H",
                "chance",
                curve("without sampling", across, [row.chance for row in sharp]),
                curve("1/H", across, [row.allowed for row in sharp], bound=True),
            ),
        ),
        tables=(table("Chance that the real model is ever dropped", rows),),
    )


def _row(known: KnownClass, threshold: Threshold, horizon: int, share: float) -> Row:
    agent = optimistic_exploration(known.known, horizon, threshold=threshold)
    tests = elimination_tests(agent)
    tests = EliminationTests(share * tests.thresholds, tests.tolerance)
    chances = [
        first_passage_gap(model, known.known.average, tests, horizon).eliminated[m]
        for m, model in enumerate(known.simulators)
    ]
    word, allowed = WORDS[threshold], 1.0 / horizon
    return Row(known.name, word, horizon, greatest(chances), allowed)


def _check(rows: list[Row]) -> Check:
    first, last = rows[0].horizon, rows[-1].horizon
    return check(
        f"{rows[0].name}, threshold {rows[0].threshold}: the real model is "
        f"dropped with chance at most 1/H, H from {first} to {last:,}: greatest chance "
        "times H",
        greatest([row.chance / row.allowed for row in rows]),
        1.0,
    )


CLAIM = Claim(
    name="lemma-8",
    title="Algorithm 3 keeps the real model",
    statement="With probability at least 1 - 1/H the agent that drops simulators whose "
    "promised rewards do not come never drops the real one, so that it always plays a "
    "simulator that promises at least as much as the real one gives.",
    source="Lemma 8 (theory 4.6, row 32)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E17", "E28"),
)
