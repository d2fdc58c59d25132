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
from typing import final

import numpy as np

from simgap.base_policies import Threshold, optimistic_exploration
from simgap.experiments.framework.agent_losses import (
    KnownClass,
    greatest_part,
    known_class,
    worst_of,
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
from simgap.experiments.framework.intervals import curve, middle
from simgap.gap import EliminationTests, elimination_tests, optimistic_gap
from simgap.instances import bandit, best_arm, riverswim
from simgap.intervals import Certified

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

    name: str
    threshold: Threshold
    horizon: int
    chance: Certified


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    coin, rows = known_class("a fair coin", bandit((0.5,))), []
    for horizon in settings.coin_horizons:
        tell(f"coin, H = {horizon:,}")
        rows += [_row(coin, kind, horizon, settings.share) for kind in WORDS]
    for known in _classes():
        for horizon in settings.class_horizons:
            tell(f"{known.name}, H = {horizon:,}")
            rows.append(_row(known, Threshold.SHARP, horizon, settings.share))
    names = list(dict.fromkeys((row.name, row.threshold) for row in rows))
    checks = tuple(
        _check([row for row in rows if (row.name, row.threshold) == (name, threshold)])
        for name, threshold in names
    )
    sharp = [r for r in rows if r.name == coin.name and r.threshold is Threshold.SHARP]
    last = sharp[-1]
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            f"chance to drop a fair coin in {last.horizon:,} steps", last.chance
        ),
        summary=f"A fair coin is dropped within H = {last.horizon:,} steps with "
        f"chance {middle(last.chance):.5g}; 1/H = {1.0 / last.horizon:.1g} is allowed.",
        figures=(_figure(sharp),),
        tables=(
            Table(
                "Chance that the real model is ever dropped",
                ("class", "threshold", "H", "chance", "1/H"),
                tuple(
                    (
                        row.name,
                        WORDS[row.threshold],
                        row.horizon,
                        middle(row.chance),
                        1.0 / row.horizon,
                    )
                    for row in rows
                ),
                ("exact", "exact", "exact", "exact", "exact"),
            ),
        ),
    )


def _classes() -> tuple[KnownClass, ...]:
    currents = tuple(np.linspace(0.1, 0.6, 5).tolist())
    return (
        known_class("four arms", best_arm(4, 0.2)),
        known_class(
            "five rivers", riverswim(6, currents, left_reward=0.7, uniform=True)
        ),
    )


def _row(known: KnownClass, threshold: Threshold, horizon: int, share: float) -> Row:
    agent = optimistic_exploration(known.known, horizon, threshold=threshold)
    tests = elimination_tests(agent)
    tests = EliminationTests(share * tests.thresholds, tests.tolerance)
    chances = [
        optimistic_gap(model, known.known.average, tests, horizon).eliminated[m]
        for m, model in enumerate(known.simulators)
    ]
    return Row(known.name, threshold, horizon, worst_of(chances))


def _check(rows: list[Row]) -> Check:
    first, last = rows[0].horizon, rows[-1].horizon
    return Check(
        f"{rows[0].name}, threshold {WORDS[rows[0].threshold]}: the real model is "
        f"dropped with chance at most 1/H, H from {first} to {last:,}: greatest chance "
        "times H",
        greatest_part(
            [row.chance for row in rows], [1.0 / row.horizon for row in rows]
        ),
        exactly(1.0),
    )


def _figure(rows: list[Row]) -> Figure:
    across = [float(row.horizon) for row in rows]
    return Figure(
        "How often Algorithm 3 drops a fair coin that is the real model",
        "horizon H",
        "chance",
        (
            curve("without sampling", across, [row.chance for row in rows]),
            curve("1/H", across, [1.0 / h for h in across], bound=True),
        ),
        log_x=True,
        log_y=True,
    )


CLAIM = Claim(
    name="lemma-8",
    title="Algorithm 3 keeps the real model",
    statement="With probability at least 1 - 1/H the agent that drops simulators whose "
    "promised rewards do not come never drops the real one, so that it always plays a "
    "simulator that promises at least as much as the real one gives.",
    source="Lemma 8 (theory 4.6, row 32)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E17", "E28"),
)
