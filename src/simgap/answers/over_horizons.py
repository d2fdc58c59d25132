"""The same question for short and long episodes: who loses what as H grows.

For every horizon: the oracle's bracket, the best policy found without memory, acting at
random, the plan of every single model in every other one, and what the theorems of the
paper promise. All gaps are exact up to rounding except the oracle's, a bracket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simgap.answers.class_facts import MeasuredClass
from simgap.answers.planned_class import PlannedClass, Tell
from simgap.answers.stakes import stakes
from simgap.bounds import Kind, Quantity, applicable
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle import (
    AutoOracle,
    best_memoryless,
    loss_form,
    mean_model_plan,
    planned_policy,
    single_plans,
    spread_over,
)
from simgap.planning import checked_horizon
from simgap.records.gap import HorizonBound, HorizonGaps

MOST_HORIZONS = 40
USUAL_HORIZONS = 7
MOST_TRAINED = 60  # models whose plans are shown in each other
LEAST_SECONDS = 1.0  # of planning at a horizon
EFFORT = 0.25  # seconds of a usual machine for the search without memory


def over_horizons(
    latent: LatentMDP,
    horizons: Sequence[int],
    *,
    solver: AutoOracle,
    measured: MeasuredClass | None = None,
    planned: PlannedClass | None = None,
    tell: Tell = lambda _: None,
) -> tuple[HorizonGaps, ...]:
    """Return gaps at every horizon; bounds of theorems need the measured class.

    What is `planned` already, at one of the horizons, is not planned again.
    The time limit is for each horizon, or for all together if models are many.
    """
    checked_latent(latent)
    asked = sorted({checked_horizon(each) for each in horizons})
    if not asked or asked[0] < 1:
        raise InvalidArgument(
            f"horizons {list(horizons)[:5]}", hint="give at least one, all above 0"
        )
    if len(asked) > MOST_HORIZONS:
        raise InvalidArgument(
            f"{len(asked)} horizons, at most {MOST_HORIZONS} are compared",
            hint="give fewer of them, spread like 10, 30, 100, 300",
        )
    trained = trained_models(latent)
    if len(trained) < len(latent.simulators) and solver.time_limit is not None:
        share = max(LEAST_SECONDS, solver.time_limit / len(asked))
        solver = replace(solver, time_limit=share)
    found = []
    for at, horizon in enumerate(asked, start=1):
        tell(f"horizon {horizon} ({at} of {len(asked)})")
        known = planned if planned and planned.oracle.horizon == horizon else None
        found.append(_at(latent, horizon, trained, solver, measured, known))
    return tuple(found)


def trained_models(latent: LatentMDP) -> tuple[int, ...]:
    """Return all models, or MOST_TRAINED of them spread evenly, the ends among them."""
    return tuple(spread_over(len(latent.simulators), MOST_TRAINED).tolist())


def usual_horizons(horizon: int) -> tuple[int, ...]:
    """Return horizons up to the given one, each about twice the one before."""
    parts = (horizon / 2.0**halvings for halvings in range(USUAL_HORIZONS))
    return tuple(sorted({max(1, round(part)) for part in parts}))


def _at(
    latent: LatentMDP,
    horizon: int,
    trained: tuple[int, ...],
    solver: AutoOracle,
    measured: MeasuredClass | None,
    known: PlannedClass | None,
) -> HorizonGaps:
    form = loss_form(latent, horizon=horizon)
    plans = single_plans(form, trained)
    if known is not None:
        oracle, outcome = known.oracle.average_gap, known.oracle.outcome
        least = known.memoryless
    else:
        found = planned_policy(form, solver)
        oracle, outcome = Certified(found.lower, found.upper), found.outcome
        mean = mean_model_plan(form)
        least = best_memoryless(
            form, plans, mean, effort=EFFORT, seed=solver.seed, prove=False
        )
    table = np.stack([plan.gaps[list(trained)] for plan in plans])
    return HorizonGaps(
        horizon=horizon,
        informed=form.informed,
        average_gap=oracle,
        memoryless=least.average_ends,
        random=stakes(latent, horizon).average.upper,
        train=tuple(map(tuple, np.maximum(table, 0.0).tolist())),
        bounds=() if measured is None else _bounds(measured, horizon),
        outcome=outcome,
    )


def _bounds(measured: MeasuredClass, horizon: int) -> tuple[HorizonBound, ...]:
    """Return the bounds that hold on the oracle's gap in any model.

    The facts were measured at the longest horizon; eluder dimension and covering number
    at its finer scale are upper bounds at every coarser one.
    """
    return tuple(
        HorizonBound(bound.claim, bound.value)
        for bound in applicable(measured.facts, horizon)
        if bound.holds
        and bound.kind is Kind.UPPER
        and bound.quantity is Quantity.ORACLE_GAP
    )
