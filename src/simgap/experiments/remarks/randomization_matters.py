"""Training on some simulators and deploying in another: what randomization is worth.

*Order H.* Two arms, one fair; the other has mean 1/4 in the first model and 3/4 in the
second. Whatever is learned from the first model alone does not pull the second arm, so
that it loses (H - 1)/4 in the second model: for every policy, with memory or without,
(H - 1) gap_1 + gap_2 is at least (H - 1)/4 (theory 4.20). That is a sentence about the
least average gap for one prior, and the exact oracle of this prior proves it. The
policy for both models finds out and loses no more than Theorem 1 allows.

*FrozenLake.* A move goes the way that was chosen with probability `success_rate`, 1/3
by default. A policy that is optimal for the default lake counts on slipping; on a less
slippery lake that costs a large part of the success it could have. The policy for a
random lake, which infers during the episode where it is, loses almost nothing in
either. The specialist gets every benefit of the doubt: among all policies that are
optimal on its own lake the one that does best on the other is taken, by backward
induction over the actions that are optimal at home.

All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from simgap.bounds import untrained_lower
from simgap.experiments.framework.claim import (
    ROOM,
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.growth import growth_exponent
from simgap.instances import Terminal, bandit, toy_text
from simgap.intervals import Certified, greatest, least
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import loss_form, single_plans
from simgap.planning import optimal_values
from simgap.records.claim import Check, Figure

DEFAULT = 1.0 / 3.0
HOME, AWAY = 0, 1


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which lakes: trained on the first success rate, deployed on the others."""

    map_name: str
    home: float
    away: float
    horizons: tuple[int, ...]
    others: tuple[float, ...]  # success rates shown beside `away`
    other_horizon: int
    loss: float = 0.3  # success that the specialist loses at least, on `away`
    pulls: tuple[int, ...] = (10, 20, 40, 80, 160)  # n = H - 1, of two arms
    trained_on_both: bool = False  # a control: it is not left out


QUICK = Settings("4x4", DEFAULT, 0.8, (20, 40, 60, 100), (0.4, 0.5, 0.6, 0.7, 0.9), 60)
FULL = Settings(
    "4x4",
    DEFAULT,
    0.8,
    (15, 20, 30, 40, 50, 60, 80, 100),
    (0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.85, 0.9, 0.95, 1.0),
    100,
)


@final
@dataclass(frozen=True, slots=True)
class TwoArms:
    """Two arms over one horizon."""

    horizon: Annotated[int, "H"]
    least: Annotated[Certified, "(H - 1) gap_1 + gap_2, least"]  # over all policies
    there: Annotated[Certified, "gap_2 of the policy for model 1"]
    randomized: Annotated[Certified, "average gap of the policy for both"]


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One pair of lakes over one horizon."""

    away: Annotated[float, "success rate"]
    horizon: Annotated[int, "H"]
    best: Annotated[Certified, "best possible"]  # of any policy, on the other lake
    specialist: Annotated[Certified, "specialist loses"]  # there, made for home
    there: Annotated[Certified, "randomized loses there"]
    at_home: Annotated[Certified, "randomized loses at home"]
    average: Certified  # of the randomized policy

    @property
    def average_specialist(self) -> Certified:
        """What the specialist loses on average: nothing at home."""
        return self.specialist * 0.5


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    arms = []
    for pulls in settings.pulls:
        tell(f"two arms, {pulls} pulls")
        arms.append(_two_arms(pulls, settings))
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon}")
        rows.append(_row(settings, settings.away, horizon))
    shown = rows[-1]
    lakes = []
    for rate in (settings.away, *settings.others):
        tell(f"success rate {rate:g}")
        lakes.append(_row(settings, rate, settings.other_horizon))
    lakes.sort(key=lambda row: row.away)
    everything = rows + lakes
    on = f"on success rate {settings.away:g}"
    checks = (
        *_linear(arms),
        check(
            f"{on} the specialist loses at least {settings.loss:g} of success, the "
            "least over horizons",
            settings.loss,
            least([row.specialist for row in rows]),
        ),
        check(
            f"{on} the randomized policy loses less than a fifth of that, the greatest "
            "difference over horizons",
            greatest([r.there - r.specialist * 0.2 for r in rows]),
            0.0,
        ),
        check(
            "and less on average over the two lakes, the greatest difference",
            greatest([r.average - r.average_specialist for r in rows]),
            0.0,
        ),
        check(
            f"for {len(everything)} pairs of lakes and horizons it loses at most 0.05 "
            "of success on either",
            greatest([gap for row in everything for gap in (row.there, row.at_home)]),
            0.05,
        ),
    )
    return ClaimResult(
        checks=checks,
        key=(
            f"success that randomization saves on average, H = {shown.horizon}",
            shown.average_specialist - shown.average,
        ),
        summary=f"Over {arms[-1].horizon} steps of two arms a policy trained on one "
        f"model loses {arms[-1].there.middle:.4g} in the other, a fixed part of every "
        f"step, and the policy for both {arms[-1].randomized.middle:.3g} on average. "
        f"Trained on success rate {settings.home:.3g} and deployed on "
        f"{shown.away:g} (H = {shown.horizon}), the specialist succeeds with "
        f"probability {shown.best.lower - shown.specialist.middle:.3f} where "
        f"{shown.best.middle:.3f} is possible; the randomized policy reaches "
        f"{shown.best.lower - shown.there.middle:.3f}.",
        figures=(
            _figure(
                "Success on the easier lake, over horizons",
                "horizon H",
                settings.horizons,
                rows,
            ),
            _figure(
                f"Success on the lake of deployment, H = {settings.other_horizon}",
                "success rate of the lake of deployment",
                [row.away for row in lakes],
                lakes,
            ),
        ),
        tables=(
            table("Two arms: trained on the first model, and on both", arms),
            table("Success lost on the lake of deployment", everything),
        ),
    )


def two_arms() -> SimulatorClass:
    """Return two models that differ in their second arm alone."""
    return bandit([[0.5, 0.25], [0.5, 0.75]])


def _two_arms(pulls: int, settings: Settings) -> TwoArms:
    """Return what policies for the first model and for both lose."""
    models, horizon = two_arms(), pulls + 1
    weights = np.array([pulls, 1.0]) / horizon
    first = exact_oracle(LatentMDP(models, weights), horizon)
    both = exact_oracle(models, horizon)
    trained = both if settings.trained_on_both else first
    return TwoArms(
        horizon=horizon,
        least=first.average_gap * float(horizon),
        there=trained.gaps[AWAY],
        randomized=both.average_gap,
    )


def _linear(rows: list[TwoArms]) -> tuple[Check, ...]:
    horizons = [row.horizon - 1.0 for row in rows]
    randomized = growth_exponent(horizons, [row.randomized for row in rows])
    return (
        check(
            "two arms: every policy has (H - 1) gap_1 + gap_2 >= (H - 1)/4, all H "
            "(one part in 10^9 allowed): greatest ratio",
            greatest(
                [
                    Certified.around(untrained_lower(horizon=row.horizon).value, 0.0)
                    / (row.least * (1.0 + ROOM))
                    for row in rows
                ]
            ),
            1.0,
        ),
        check(
            "two arms: what the policy for the first model loses in the second grows "
            "at least like H^0.99",
            0.99,
            growth_exponent(horizons, [row.there for row in rows]),
        ),
        check(
            "two arms: what the policy for both loses on average grows at most like "
            "H^0.5",
            randomized,
            0.5,
        ),
    )


def specialist_gap(simulators: SimulatorClass, horizon: int) -> Certified:
    """Return the least gap in the second lake of any policy optimal in the first.

    With all the prior on the second lake, ties of the first are broken in its favour.
    """
    form = loss_form(LatentMDP(simulators, np.array([0.0, 1.0])), horizon=horizon)
    plan = single_plans(form)[HOME]
    return Certified.around(float(plan.gaps[AWAY]), plan.rounding)


def _row(settings: Settings, away: float, horizon: int) -> Row:
    simulators = toy_text(
        "FrozenLake-v1",
        grid={"success_rate": (settings.home, away)},
        settings={"map_name": settings.map_name},
        terminal=Terminal.ABSORB,
    )
    oracle = exact_oracle(simulators, horizon)
    at_home, there = oracle.gaps
    best = optimal_values(simulators, horizon)
    return Row(
        away=away,
        horizon=horizon,
        best=Certified.around(float(best.start[AWAY]), float(best.error[AWAY])),
        specialist=specialist_gap(simulators, horizon),
        there=there,
        at_home=at_home,
        average=oracle.average_gap,
    )


def _figure(
    title: str, across_is: str, across: Sequence[float], rows: list[Row]
) -> Figure:
    both = [row.best - row.there for row in rows]
    alone = [row.best - row.specialist for row in rows]
    return figure(
        title,
        across_is,
        "probability of reaching the goal",
        curve("best possible", across, [row.best for row in rows]),
        curve("trained on both lakes, with memory", across, both),
        curve("trained on the default lake", across, alone),
        log_x=False,
        log_y=False,
    )


CLAIM = Claim(
    name="randomization-matters",
    title="A policy for one simulator fails in another; one for all of them does not",
    statement="A policy trained on some of the simulators loses a fixed part of every "
    "step in one that it was not trained on, however it is trained and whatever it "
    "remembers, where the policy trained on all loses a vanishing part. On FrozenLake, "
    "a policy that is optimal for the default slipperiness "
    "loses a large part of its success on a less slippery lake, while a policy trained "
    "on both, which finds out where it is, loses almost nothing on either.",
    source="Randomization after Theorem 2, and in Section 1 (theory 4.20, 5.6)",
    measure=measured,
    quick=QUICK,
    full=FULL,
)
