"""Training on one simulator and deploying in another: what randomization is worth.

FrozenLake: a move goes the way that was chosen with probability `success_rate`, 1/3 by
default. A policy that is optimal for the default lake counts on slipping; on a less
slippery lake that costs a large part of the success it could have. The policy for a
random lake, which finds out during the episode where it is, loses almost nothing in
either.

All numbers are exact. The specialist gets every benefit of the doubt: among all
policies that are optimal on its own lake the one that does best on the other is taken,
by backward induction over the actions that are optimal at home.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.instances import Terminal, toy_text
from simgap.intervals import Certified, greatest, least
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import loss_form, single_plans
from simgap.planning import optimal_values
from simgap.records.claim import Figure

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
        summary=f"Trained on success rate {settings.home:.3g} and deployed on "
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
        tables=(table("Success lost on the lake of deployment", everything),),
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
    statement="On FrozenLake, a policy that is optimal for the default slipperiness "
    "loses a large part of its success on a less slippery lake, while a policy trained "
    "on both, which finds out where it is, loses almost nothing on either.",
    source="Motivation of domain randomization (Section 1; theory 5.6)",
    measure=measured,
    quick=QUICK,
    full=FULL,
)
