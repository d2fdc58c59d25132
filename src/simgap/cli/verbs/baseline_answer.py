"""Simpler policies than the oracle, as JSON.

A number that is exact up to rounding is a plain number in a model and a pair of bounds
on average; one found by sampling is an estimate with its interval in both places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.cli.verbs.oracle_answer import table_of
from simgap.intervals import Certified, Estimate

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP
    from simgap.oracle import Baseline, OracleResult, ShortMemoryPlan
    from simgap.records import Memory


@final
@dataclass(frozen=True, slots=True)
class BaselineModel:
    """How a baseline does in one model."""

    name: str
    value: float | Estimate
    gap: float | Estimate


@final
@dataclass(frozen=True, slots=True)
class BaselineAnswer:
    """A policy to compare with: its average value and what it loses in each model."""

    about: str
    value: Certified | Estimate
    average_gap: Certified | Estimate
    worst_gap: float | None  # None: the policy was not found, the note says why
    models: tuple[BaselineModel, ...]
    certainty: str
    bound: float | None  # no policy of this kind has a larger value
    note: str
    cross_gaps: tuple[tuple[float, ...], ...] | None  # of the plan of model j in m,
    # if models are not too many


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """All baselines by name, and what memory and randomization are worth."""

    baselines: dict[str, BaselineAnswer]
    memory: Memory | None
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    memoryless: ShortMemoryPlan | None = None  # to hand on, not to write down


MOST_CROSSED = 200  # models whose plans are told in each other
EFFORT = 0.5  # seconds of a usual machine for each simpler policy
NOTHING = Comparison({}, None, None, None)


def compared(
    latent: LatentMDP, result: OracleResult, seed: int, *, effort: float = EFFORT
) -> Comparison:
    """Return what simpler policies reach and lose; `effort` is in seconds for each."""
    from simgap.cli.app.output import working
    from simgap.oracle import (
        baselines,
        loss_form,
        memory_proofs,
        value_of_memory,
        value_of_randomization,
    )

    discount = None if result.horizon is not None else result.discount
    with working("planning simpler policies to compare with"):
        form = loss_form(latent, horizon=result.horizon, discount=discount)
        found = {each.name: each for each in baselines(form, seed=seed, effort=effort)}
    plain = found["memoryless"]
    assert isinstance(plain.average_gap, Certified)
    randomization = value_of_randomization(
        form, result.value, found["single-simulator"]
    )
    return Comparison(
        baselines={
            name: _answer(latent, each, result.average_gap.lower)
            for name, each in found.items()
        },
        memory=memory_proofs(
            result.average_gap,
            Certified(plain.least_gap or 0.0, plain.average_gap.upper),
            searched=plain.searched,
            noise=10.0 * form.rounding,
            stationary=form.horizon is None,
        ),
        value_of_memory=value_of_memory(form, result.value, plain),
        value_of_randomization=randomization,
        memoryless=found["memoryless"].plan,
    )


def _answer(latent: LatentMDP, found: Baseline, least: float | None) -> BaselineAnswer:
    """Return a baseline; no policy loses less than `least` on average."""
    value, average = found.value, found.average_gap
    if isinstance(value, Estimate) and isinstance(average, Estimate):
        top = value.estimate + average.estimate
        average = average.within(least, None)
        value = average.changed(-1.0, top)
    names = latent.simulators.model_names
    there = len(found.gaps) == len(names)
    cross, left_out = found.cross_gaps, ""
    if cross is not None and len(names) > MOST_CROSSED:
        left_out = f"gaps of each plan in each of {len(names)} models are left out"
    return BaselineAnswer(
        about=found.about,
        value=value,
        average_gap=average,
        worst_gap=found.worst_gap if there else None,
        models=tuple(
            BaselineModel(
                name,
                value if isinstance(value, Estimate) else float(value),
                gap if isinstance(gap, Estimate) else float(gap),
            )
            for name, value, gap in zip(names, found.values, found.gaps, strict=True)
        )
        if there
        else (),
        certainty=found.certainty,
        bound=found.bound,
        note="; ".join(filter(None, (found.note, left_out))),
        cross_gaps=None if cross is None or left_out else table_of(cross),
    )


def middle(found: float | Estimate) -> float:
    """Return one number for a quantity, known or estimated."""
    return found.estimate if isinstance(found, Estimate) else found
