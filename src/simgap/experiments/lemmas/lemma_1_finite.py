"""Lemma 1 on finite classes: the oracle is within 1 / nu(m) of every base policy.

    sum_m nu_m gap(pi_DR, m) <= sum_m nu_m gap(pi, m)            for every policy pi
    gap(pi_DR, m) <= sum_k nu_k gap(pi, k) / nu_m                for every model m

On random classes with random priors both sides are exact, for every oracle (the arg max
is a set, errata E4) and for base policies with and without memory. That the factor
1 / nu(m) = M cannot be smaller is seen on Proposition 2's class with p_i near 1/2 and
M = H + 1: the oracle loses (H - 1)/2, the promise M C tends to (H + 1)/2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, final

import numpy as np

from simgap.base_policies.paper import optimistic_exploration
from simgap.errors import NotCommunicating
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
from simgap.experiments.framework.exact_oracle import SolvedOracle, exact_oracle
from simgap.experiments.framework.plain_policies import plain_policies, random_tables
from simgap.experiments.framework.second_arm import UntilFailure
from simgap.experiments.framework.shared_classes import random_problems
from simgap.gap import average_certified, gaps
from simgap.instances import (
    absorbing_doors,
    best_arm,
    linear_bandit,
    needle,
    riverswim,
)
from simgap.intervals import Certified, greatest
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.policies import Policy

NEAREST, NEAR = 0.49999, 0.4999  # p_i of the sharp class: as close to 1/2 as may be


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How many classes, how long, and how sharp."""

    random_classes: int
    horizon: int  # of the random classes
    tables: int  # random policies without memory, per class
    sharp_horizons: tuple[int, ...]
    share: float = 1.0  # of the promise that is held against; a control takes less


QUICK = Settings(
    random_classes=16, horizon=5, tables=3, sharp_horizons=(5, 10, 20, 40, 80)
)
FULL = Settings(
    random_classes=200, horizon=6, tables=6, sharp_horizons=(5, 10, 20, 40, 80, 160)
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A class and its oracle."""

    name: Annotated[str, "class"]
    members: Annotated[int, "M"]
    horizon: Annotated[int, "H"]
    average: Annotated[Certified, "average gap"]
    worst: Annotated[Certified, "worst gap"]  # of any oracle


@final
@dataclass(frozen=True, slots=True)
class Sharp:
    """Proposition 2's class with H + 1 models, p near 1/2."""

    horizon: int
    gap: Certified  # of the oracle in the last model
    promise: Certified  # M C


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rng = np.random.default_rng(seed)
    on_average, in_one, rows = [], [], []
    for name, latent, horizon in _problems(settings, rng):
        tell(name)
        oracle = exact_oracle(latent, horizon)
        for base in _bases(oracle, latent, horizon, settings, rng):
            lost = gaps(latent.simulators, base, horizon)
            mean = average_certified(lost, latent.prior) * settings.share
            on_average.append(oracle.average_gap - mean)
            for weight, gap in zip(latent.prior, oracle.greatest_gaps, strict=True):
                in_one.append(gap - mean / float(weight))
        worst = greatest(oracle.greatest_gaps)
        members = len(latent.simulators)
        rows.append(Row(name, members, horizon, oracle.average_gap, worst))
    tell("how sharp the factor is")
    sharp = [_sharpness(horizon, settings.share) for horizon in settings.sharp_horizons]
    horizons, policies = [each.horizon for each in sharp], len(on_average)
    parts = [each.gap / each.promise for each in sharp]
    promised = [each.promise for each in sharp]
    checks = (
        check(
            f"no one of {policies} policies has a smaller average gap than the oracle "
            "of its class: the greatest advantage, 1e-9 allowed",
            greatest(on_average),
            ROOM,
        ),
        check(
            "no oracle loses more than (average gap of a base policy) / nu(m) in any "
            "model m: the greatest excess, 1e-9 allowed",
            greatest(in_one),
            ROOM,
        ),
        *(
            check(
                f"H = {horizon}: the oracle's gap is at least (H - 1)/(H + 1) of M C",
                (horizon - 1) / (horizon + 1),
                part,
            )
            for horizon, part in zip(horizons, parts, strict=True)
        ),
        check(
            "it never exceeds M C on that class: the greatest part",
            greatest(parts),
            1.0,
        ),
    )
    last = horizons[-1]
    return ClaimResult(
        checks=checks,
        key=(f"part of M C that the oracle loses at H = {last}", parts[-1]),
        summary=f"{policies} base policies on {len(rows)} classes never beat the "
        "oracle's average, and no oracle loses more than that average over nu(m) in a "
        f"model; the factor M is reached to {parts[-1].middle:.1%} at H = {last}.",
        figures=(
            figure(
                "The factor M is sharp: Proposition 2's class, p near 1/2, M = H + 1",
                "horizon H",
                "gap in the last model",
                curve("gap of the oracle", horizons, [each.gap for each in sharp]),
                curve(
                    "M times the base policy's gap (Lemma 1)",
                    horizons,
                    promised,
                    bound=True,
                ),
                note='The base policy plays "the second arm until it fails".',
            ),
        ),
        tables=(
            table(
                "Classes, their oracle's average gap and the worst gap of any oracle",
                rows,
            ),
        ),
    )


def _problems(
    settings: Settings, rng: np.random.Generator
) -> Iterator[tuple[str, LatentMDP, int]]:
    named: tuple[tuple[str, SimulatorClass, int], ...] = (
        ("two arms", best_arm(2, 0.2), 9),
        ("four needles", needle(4), 9),
        ("three doors", absorbing_doors(3), 8),
        ("three rivers", riverswim(3, (0.2, 0.5, 0.8), left_reward=0.2), 7),
    )
    for name, simulators, horizon in named:
        yield name, LatentMDP.uniform(simulators), horizon
    for name, latent in random_problems(rng, settings.random_classes):
        yield name, latent, settings.horizon


def _bases(
    oracle: SolvedOracle,
    latent: LatentMDP,
    horizon: int,
    settings: Settings,
    rng: np.random.Generator,
) -> Iterator[Policy[Any]]:
    """Yield the oracle itself, plans for one model, Algorithm 3 and random tables."""
    simulators = latent.simulators
    yield oracle.policy
    yield from plain_policies(simulators, horizon)
    yield from random_tables(rng, simulators, horizon, settings.tables)
    try:
        yield optimistic_exploration(simulators, horizon)
    except NotCommunicating:
        return  # Lemma 1 needs no diameter, Algorithm 3 does


def _sharpness(horizon: int, share: float) -> Sharp:
    members = horizon + 1
    simulators = linear_bandit(p=tuple(np.linspace(NEAR, NEAREST, horizon)))
    oracle = exact_oracle(simulators, horizon)
    base = greatest(gaps(simulators, UntilFailure(), horizon))
    return Sharp(horizon, oracle.greatest_gaps[-1], base * (members * share))


CLAIM = Claim(
    name="lemma-1-finite",
    title="A good base policy makes the randomized policy good (finite class)",
    statement="A policy trained on all simulators at once loses on average no more "
    "than any other policy, and in each single simulator at most that average divided "
    "by the simulator's share of the training; the factor M cannot be improved.",
    source="Lemma 1, finite class (theory 4.1a)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E1", "E4"),
)
