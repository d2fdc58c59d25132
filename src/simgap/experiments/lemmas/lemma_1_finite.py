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
from typing import Any, final

import numpy as np

from simgap.base_policies import optimistic_exploration, uniformly_random
from simgap.errors import NotCommunicating
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
from simgap.experiments.framework.exact_oracle import SolvedOracle, exact_oracle
from simgap.experiments.framework.intervals import (
    ROOM,
    Known,
    curve,
    greatest,
    middle,
    minus,
    proved,
    ratio,
    times,
)
from simgap.experiments.framework.random_classes import random_class, random_prior
from simgap.experiments.framework.second_arm import UntilFailure
from simgap.gap import average_gap, worst_gap
from simgap.instances import (
    absorbing_doors,
    bandit,
    best_arm,
    linear_bandit,
    needle,
    riverswim,
)
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.planning import solve_episodic
from simgap.policies import MarkovPolicy, Policy

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


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    rng = np.random.default_rng(seed)
    on_average: list[Known] = []
    in_one: list[Known] = []
    rows: list[tuple[str | float | int, ...]] = []
    policies = 0
    for name, latent, horizon in _problems(settings, rng):
        tell(name)
        oracle = exact_oracle(latent, horizon)
        for base in _bases(oracle, latent, horizon, settings, rng):
            mean = times(proved(average_gap(latent, base, horizon)), settings.share)
            on_average.append(minus(oracle.average_gap, mean))
            for weight, gap in zip(latent.prior, oracle.greatest_gaps, strict=True):
                in_one.append(minus(gap, ratio(mean, float(weight))))
            policies += 1
        rows.append(
            (
                name,
                len(latent.simulators),
                horizon,
                middle(oracle.average_gap),
                max(middle(gap) for gap in oracle.greatest_gaps),
            )
        )
    tell("how sharp the factor is")
    sharp = [_sharpness(horizon, settings.share) for horizon in settings.sharp_horizons]
    return _result(settings, on_average, in_one, sharp, rows, policies)


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
    for number in range(settings.random_classes):
        if number % 2:
            simulators, name = random_class(rng), f"random class {number}"
        else:
            simulators = bandit(rng.uniform(0.05, 0.95, (4, 3)))
            name = f"random bandit {number}"
        yield name, random_prior(rng, simulators), settings.horizon


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
    yield uniformly_random(simulators)
    for member, plan in enumerate(solve_episodic(simulators, horizon).policy):
        yield MarkovPolicy(f"plan of model {member}", simulators.n_actions, plan)
    for number in range(settings.tables):
        shape = horizon, simulators.n_states
        table = rng.integers(0, simulators.n_actions, shape).astype(np.int32)
        yield MarkovPolicy(f"table {number}", simulators.n_actions, table)
    try:
        yield optimistic_exploration(simulators, horizon)
    except NotCommunicating:
        return  # Lemma 1 needs no diameter, Algorithm 3 does


def _sharpness(horizon: int, share: float) -> tuple[int, Certified, Certified]:
    """Return H, the oracle's gap in the last model, and the promise M C."""
    members = horizon + 1
    simulators = linear_bandit(p=tuple(np.linspace(NEAR, NEAREST, horizon)))
    oracle = exact_oracle(simulators, horizon)
    base = worst_gap(simulators, UntilFailure(), horizon)
    return horizon, oracle.greatest_gaps[-1], times(proved(base), members * share)


def _result(
    settings: Settings,
    on_average: list[Known],
    in_one: list[Known],
    sharp: list[tuple[int, Certified, Certified]],
    rows: list[tuple[str | float | int, ...]],
    policies: int,
) -> ClaimResult:
    worst_mean, worst_one = greatest(on_average), greatest(in_one)
    parts = [ratio(gap, promise) for _, gap, promise in sharp]
    checks = (
        Check(
            f"no one of {policies} policies has a smaller average gap than the oracle "
            "of its class: the greatest advantage, 1e-9 allowed",
            worst_mean,
            exactly(ROOM),
        ),
        Check(
            "no oracle loses more than (average gap of a base policy) / nu(m) in any "
            "model m: the greatest excess, 1e-9 allowed",
            worst_one,
            exactly(ROOM),
        ),
        *(
            Check(
                f"H = {horizon}: the oracle's gap is at least (H - 1)/(H + 1) of M C",
                exactly((horizon - 1) / (horizon + 1)),
                part,
            )
            for (horizon, _, _), part in zip(sharp, parts, strict=True)
        ),
        Check(
            "it never exceeds M C on that class: the greatest part",
            greatest(parts),
            exactly(1.0),
        ),
    )
    horizons = [float(horizon) for horizon, _, _ in sharp]
    last = middle(parts[-1])
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            f"part of M C that the oracle loses at H = {sharp[-1][0]}", parts[-1]
        ),
        summary=f"{policies} base policies on {len(rows)} classes never beat the "
        "oracle's average, and no oracle loses more than that average over nu(m) in a "
        f"model; the factor M is reached to {last:.1%} at H = {sharp[-1][0]}.",
        figures=(
            Figure(
                "The factor M is sharp: Proposition 2's class, p near 1/2, M = H + 1",
                "horizon H",
                "gap in the last model",
                (
                    curve("gap of the oracle", horizons, [gap for _, gap, _ in sharp]),
                    curve(
                        "M times the base policy's gap (Lemma 1)",
                        horizons,
                        [promise for _, _, promise in sharp],
                        bound=True,
                    ),
                ),
                log_x=True,
                log_y=True,
                note='The base policy plays "the second arm until it fails".',
            ),
        ),
        tables=(
            Table(
                "Classes, their oracle's average gap and the worst gap of any oracle",
                ("class", "M", "H", "average gap", "worst gap"),
                tuple(rows),
                ("exact",) * 5,
            ),
        ),
    )


CLAIM = Claim(
    name="lemma-1-finite",
    title="A good base policy makes the randomized policy good (finite class)",
    statement="A policy trained on all simulators at once loses on average no more "
    "than any other policy, and in each single simulator at most that average divided "
    "by the simulator's share of the training; the factor M cannot be improved.",
    source="Lemma 1, finite class (theory 4.1a)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E1", "E4"),
)
