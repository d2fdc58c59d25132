"""Lemma 7: how long Algorithm 1 takes to tell the models apart (theory 4.4).

While the real model is one of j whose travel policies take turns, each for floor(2D)
steps, a cycle reaches the wanted state with probability at least 1/2 (Markov), so a
sample costs at most 4 j D + 1 steps on average and

    E[stage 1] <= n0 (M - 1) (2 D (M + 2) + 1)      if the candidates travel,
                  n0 (M - 1) (4 M D + 1)            if all models do (E16).

Print has four cycles where two suffice, and the wrong policy in one place (E26). Two
things are measured: the mean length of stage 1 in every model of several classes, and,
without sampling, the chance to arrive within floor(2D) steps (theory row 36) in
random models, for every start and target.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import Annotated, final

import numpy as np

from simgap.base_policies.paper import TravelSet, elimination, stage_one
from simgap.bounds import Chernoff, Travel, late_arrival, stage_one as bound_of
from simgap.experiments.framework.agent_losses import CONFIDENCE, KnownClass
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.shared_classes import random_class
from simgap.instances import bandit, riverswim, switch_tree
from simgap.intervals import Certified, Estimate, greatest, greatest_of
from simgap.mdp import SimulatorClass
from simgap.planning import diameter, travel_times
from simgap.records.claim import Figure

TRAVEL = {TravelSet.REMAINING: Travel.REMAINING, TravelSet.ALL: Travel.ALL}
ROUNDING = 1e-12  # of a chance after some dozens of steps


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons, how many runs, and what part of the bound must suffice."""

    horizons: tuple[int, ...]
    switches: tuple[int, ...]  # models of the tree, for the growth with M
    runs: int  # per model
    random_models: int  # whose travel is followed step by step
    share: float = 1.0  # of every bound; a control takes little


QUICK = Settings((10**5, 10**6), switches=(2, 4, 8), runs=200, random_models=20)
FULL = Settings(
    (10**5, 10**6, 10**7), switches=(2, 4, 6, 8), runs=2000, random_models=200
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The longest stage 1 over the models of a class."""

    name: Annotated[str, "class"]
    members: Annotated[int, "M"]
    travel: Annotated[str, "who travels"]
    horizon: Annotated[int, "H"]
    samples: Annotated[float, "n0"]
    steps: Annotated[Estimate, "mean steps"]  # in the slowest model
    bound: Annotated[float, "bound"]
    unfinished: int


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rows, classes = [], _classes(settings.switches)
    for known in classes:
        tell(known.name)
        rows += [
            _row(known, travel, horizon, settings.runs, seed)
            for travel in TRAVEL
            for horizon in settings.horizons
        ]
    tell("arrivals in random models")
    late = _late(settings.random_models, seed)
    checks = (
        *(
            check(
                f"{word} travel: the mean length of stage 1 is at most the bound in "
                f"every model of {len(classes)} classes: greatest ratio",
                greatest([r.steps / r.bound for r in rows if r.travel == travel]),
                settings.share,
            )
            for travel, word in (("remaining", "candidates"), ("all", "all models"))
        ),
        check(
            f"in {settings.random_models} random models no trip takes longer than "
            "floor(2D) steps with a chance above D / (floor(2D) + 1): greatest ratio",
            late,
            settings.share,
        ),
        check(
            "stage 1 ended in every run: runs that did not",
            sum(row.unfinished for row in rows),
            0.0,
        ),
    )
    tightest = max(rows, key=lambda row: row.steps.estimate / row.bound)
    return ClaimResult(
        checks=checks,
        key=(
            "greatest mean length of stage 1 over its bound",
            tightest.steps / tightest.bound,
        ),
        summary=f"Stage 1 took at most {tightest.steps.estimate:.0f} of "
        f"{tightest.bound:.0f} steps allowed ({tightest.name}, H = "
        f"{tightest.horizon:,}); trips in random models miss floor(2D) steps with at "
        f"most {late.upper:.2f} of the chance allowed.",
        figures=(_figure(rows, settings),),
        tables=(table("Length of stage 1 in the slowest model", rows),),
    )


def _classes(switches: tuple[int, ...]) -> tuple[KnownClass, ...]:
    return (
        KnownClass.of("two arms", bandit([[0.2, 0.8], [0.8, 0.2]])),
        KnownClass.of("three slow rivers", riverswim(4, (0.35, 0.15, 0.75))),
        *(
            KnownClass.of(f"{m} switches", switch_tree(4, 2, 0.4, m, delta=0.2))
            for m in switches
        ),
    )


def _row(
    known: KnownClass, travel: TravelSet, horizon: int, runs: int, seed: int
) -> Row:
    agent = elimination(known.known, horizon, travel=travel)
    share = 1.0 - (1.0 - CONFIDENCE) / known.members
    found = stage_one(agent, runs=runs, seed=seed, confidence=share)
    bound = bound_of(
        Chernoff(known.separation),
        horizon=horizon,
        members=known.members,
        diameter=known.diameter,
        travel=TRAVEL[travel],
    )
    return Row(
        name=known.name,
        members=known.members,
        travel=travel.name.lower(),
        horizon=horizon,
        samples=bound.constant("n0"),
        steps=greatest_of([each.steps for each in found], CONFIDENCE),
        bound=bound.value,
        unfinished=sum(each.unfinished for each in found),
    )


def _late(models: int, seed: int) -> Certified:
    """Return the greatest chance of a late arrival over what Markov allows."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(models):
        states = int(rng.integers(3, 7))
        simulators = random_class(rng, members=1, states=states, uneven=0.2)
        far = float(diameter(simulators).upper)
        misses = [_missed(simulators, target, far) for target in range(states)]
        worst = max(worst, max(misses) / late_arrival(far))
    return Certified(max(0.0, worst - ROUNDING), worst + ROUNDING)


def _missed(simulators: SimulatorClass, target: int, far: float) -> float:
    """Return the greatest chance, over starts, not to arrive in floor(2D) steps."""
    policy = travel_times(simulators, target).policy[0]
    n_states = simulators.n_states
    chain = simulators.transitions.array(0)[np.arange(n_states), policy]
    chain[:, target] = 0.0
    missed = np.ones(n_states)
    missed[target] = 0.0
    for _ in range(floor(2.0 * far)):
        missed = chain @ missed
        missed[target] = 0.0
    return float(missed.max())


def _figure(rows: list[Row], settings: Settings) -> Figure:
    horizon = settings.horizons[-1]
    kept = [
        row
        for row in rows
        if row.name.endswith("switches")
        and (row.horizon, row.travel) == (horizon, "remaining")
    ]
    across = [row.members for row in kept]
    return figure(
        f"Stage 1 in a tree of switches, H = {horizon:,}",
        "models M",
        "steps",
        curve("mean in the slowest model", across, [row.steps for row in kept]),
        curve("bound", across, [row.bound for row in kept], bound=True),
    )


CLAIM = Claim(
    name="lemma-7",
    title="How long telling models apart takes",
    statement="An agent that visits, for every two simulators, the state where they "
    "differ most and samples it n0 times needs at most about n0 D M^2 steps, although "
    "it does not know which simulator leads there.",
    source="Lemma 7 (theory 4.4, row 36)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E12", "E13", "E16", "E26"),
)
