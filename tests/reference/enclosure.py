"""Which certified numbers of a small problem miss the truth: no tolerance at all.

The truth is computed in Fractions from the stored floats, every row, first law and
prior divided by its exact sum. A point that a record tells alone has to be within the
`rounding` that the record states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np

from simgap.intervals import Certified
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle.baselines.baseline import Baseline
from simgap.oracle.baselines.table import baselines, value_of_memory
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.result import OracleResult
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.planning import diameter, optimal_values, solve_average_reward
from simgap.policies.interface import Step
from simgap.policies.markov import MarkovPolicy
from tests.reference.average_reward import optimal_gain
from tests.reference.latent import (
    History,
    RationalLatent,
    gap_intervals,
    oracle_value,
    random_latent,
    rational,
    values_by_histories,
)
from tests.reference.memoryless import average_value, best_memoryless_value
from tests.reference.travel import communicating, diameter as exact_diameter

Miss = tuple[str, float, float, float]  # what, lower, the truth, upper
KINDS = ("plain", "negative", "shifted", "tiny", "odd", "large")
SOLVERS: tuple[Solver, ...] = (
    ExactOracle(episodes=2),
    BoundedOracle(gap_tolerance=0.2, time_limit=20.0, episodes=2),
    GridOracle(gap_tolerance=0.2, time_limit=20.0, episodes=2),
    AutoOracle(episodes=2),
)
MOST_TABLES = 64  # memoryless policies that are all tried


def random_problem(
    rng: np.random.Generator, *, most_histories: int = 400
) -> tuple[LatentMDP, int]:
    """Return a latent MDP with rewards of some kind; rows of eighths or of tenths."""
    denominator = int(rng.choice([16, 10, 7]))
    latent, horizon = random_latent(
        rng, denominator=denominator, most_histories=most_histories
    )
    kind = KINDS[int(rng.integers(len(KINDS)))]
    return with_rewards(latent, kind, rng), horizon


def with_rewards(latent: LatentMDP, kind: str, rng: np.random.Generator) -> LatentMDP:
    """Return the same problem with rewards that are harder on floats."""
    old = latent.simulators.rewards
    changed = {
        "plain": old,
        "negative": -3.0 * old - 0.1,
        "shifted": 1e6 + old,
        "tiny": 1e-13 * old,
        "odd": old * 0.1 + rng.random(old.shape),
        "large": 1e9 * (old - 0.3),
    }[kind]
    return LatentMDP(replace(latent.simulators, rewards=changed), latent.prior)


def misses(
    latent: LatentMDP, horizon: int, solvers: tuple[Solver, ...] = SOLVERS
) -> Iterator[Miss]:
    """Yield every number of the oracle and of its baselines that misses the truth."""
    exact = rational(latent)
    best = exact.optimal(horizon)
    informed = sum((p * v for p, v in zip(exact.prior, best, strict=True)), Fraction(0))
    value = oracle_value(exact, horizon)
    known = optimal_values(latent.simulators, horizon).start_ends.tolist()
    for (low, high), v in zip(known, best, strict=True):
        yield from _miss("V*", Certified(low, high), v)
    form = loss_form(latent, horizon=horizon)
    yield from _miss("informed", form.informed_ends, informed)
    intervals = gap_intervals(exact, horizon)
    few = (latent.prior > 0.0).sum() <= 3  # a grid is not for more
    for solver in solvers:
        if isinstance(solver, GridOracle) and not few:
            continue
        found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
        name = type(solver).__name__
        yield from _miss(f"{name} W*", found.value, value)
        yield from _miss(f"{name} gap", found.average_gap, informed - value)
        for what, low, truth, high in _points(exact, found, best, horizon):
            yield f"{name} {what}", low, truth, high
        for m, (least, most) in enumerate(intervals):
            ends = Certified(*found.gap_intervals[m].tolist())
            for end in (least, most):
                yield from _miss(f"{name} gap interval", ends, end)
    for each in baselines(form, effort=0.02):
        yield from _of_baseline(exact, each, informed, horizon)
        if each.name == "memoryless" and _tables(exact, horizon) <= MOST_TABLES:
            worth = value - best_memoryless_value(exact, horizon)
            known = value_of_memory(form, found.value, each)
            yield from _miss("value of memory", known, worth)


def misses_in_the_long_run(simulators: SimulatorClass) -> Iterator[Miss]:
    """Yield gains and diameters that miss the truth, of models that communicate."""
    models = rational(LatentMDP.uniform(simulators)).models
    for at, model in enumerate(models):
        alone = simulators[at]
        if not communicating(model.transitions):
            continue
        plan = solve_average_reward(alone)
        ends = Certified(float(plan.gain_lower[0]), float(plan.gain_upper[0]))
        gain = optimal_gain(model.transitions, model.rewards)
        yield from _miss("gain", ends, gain)
        far = diameter(alone)
        steps = exact_diameter(model.transitions)
        assert isinstance(steps, Fraction)
        yield from _miss("diameter", Certified(far.lower, far.upper), steps)


def _points(
    exact: RationalLatent, found: OracleResult, best: list[Fraction], horizon: int
) -> Iterator[Miss]:
    """Yield what is told as one number and further off than the rounding stated."""

    def plan(s: int, past: History) -> int:
        memory = found.policy.start(past[0][0] if past else s)
        for h, (u, a, t) in enumerate(past):
            memory = found.policy.observe(memory, Step(h, u, a, t))
        return int(np.argmax(found.policy.act(memory, len(past), s)))

    inside = RationalLatent(
        tuple(m for m, p in zip(exact.models, exact.prior, strict=True) if p),
        tuple(p for p in exact.prior if p),
        tuple(s for s, p in zip(exact.start, exact.prior, strict=True) if p),
    )
    own = iter(values_by_histories(inside, plan, horizon))
    room = found.statistics.rounding
    for m, (v, prior) in enumerate(zip(best, exact.prior, strict=True)):
        yield from _near("optimal", float(found.optimal[m]), room, v)
        if prior:
            reached = next(own)
            yield from _near("value", float(found.values[m]), room, reached)
            yield from _near("model gap", float(found.gaps[m]), room, v - reached)


def _of_baseline(
    exact: RationalLatent, found: Baseline, informed: Fraction, horizon: int
) -> Iterator[Miss]:
    if not isinstance(found.policy, MarkovPolicy) or found.policy.table.ndim != 2:
        if found.name == "informed":
            assert isinstance(found.value, Certified)
            yield from _miss("informed baseline", found.value, informed)
        return
    total = average_value(exact, tuple(map(tuple, found.policy.table.tolist())))
    assert isinstance(found.value, Certified)
    assert isinstance(found.average_gap, Certified)
    yield from _miss(f"{found.name} value", found.value, total)
    yield from _miss(f"{found.name} gap", found.average_gap, informed - total)


def _tables(exact: RationalLatent, horizon: int) -> float:
    return float(exact.n_actions) ** (exact.n_states * horizon)


def _miss(what: str, ends: Certified, truth: Fraction) -> Iterator[Miss]:
    low, high = ends.ends
    above = high != inf and truth > Fraction(high)
    if truth < Fraction(low) or above:
        yield what, low, float(truth), high


def _near(what: str, told: float, room: float, truth: Fraction) -> Iterator[Miss]:
    if abs(Fraction(told) - truth) > Fraction(room):
        yield what, told, float(truth), room
