"""Simpler policies than the oracle, as JSON and in original rewards.

A number that is exact up to rounding is a plain number in a model and a pair of bounds
on average; one found by sampling is an estimate with its interval in both places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from simgap.records import Certified
from simgap.statistics import Estimate

if TYPE_CHECKING:
    from simgap.cli.oracle_answer import Scale
    from simgap.mdp import LatentMDP
    from simgap.oracle.baselines import Baseline
    from simgap.oracle.result import OracleResult


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
    value_of_memory: Certified | None
    value_of_randomization: Certified | None


MOST_CROSSED = 200  # models whose plans are told in each other
EFFORT = 0.5  # seconds of a usual machine for each simpler policy
NOTHING = Comparison({}, None, None)


def compared(
    latent: LatentMDP, result: OracleResult, seed: int, *, effort: float = EFFORT
) -> Comparison:
    """Return what simpler policies reach and lose; `effort` is in seconds for each."""
    from simgap.cli.oracle_answer import scale_of
    from simgap.cli.output import working
    from simgap.oracle.baselines import (
        baselines,
        value_of_memory,
        value_of_randomization,
    )
    from simgap.oracle.loss_form import loss_form

    discount = None if result.horizon is not None else result.discount
    with working("planning simpler policies to compare with"):
        form = loss_form(latent, horizon=result.horizon, discount=discount)
        found = {each.name: each for each in baselines(form, seed=seed, effort=effort)}
    scale = scale_of(latent, result)
    memory = value_of_memory(form, result.value, found["memoryless"])
    randomization = value_of_randomization(
        form, result.value, found["single-simulator"]
    )
    return Comparison(
        baselines=_answers(latent, list(found.values()), scale),
        value_of_memory=scale.gap_bounds(memory),
        value_of_randomization=scale.gap_bounds(randomization),
    )


def _answers(
    latent: LatentMDP, found: Sequence[Baseline], scale: Scale
) -> dict[str, BaselineAnswer]:
    return {each.name: _answer(latent, each, scale) for each in found}


def _answer(latent: LatentMDP, found: Baseline, scale: Scale) -> BaselineAnswer:
    names = latent.simulators.model_names
    there = len(found.gaps) == len(names)
    cross, left_out = found.cross_gaps, ""
    if cross is not None and len(names) > MOST_CROSSED:
        left_out = f"gaps of each plan in each of {len(names)} models are left out"
    return BaselineAnswer(
        about=found.about,
        value=scale.value_estimate(found.value)
        if isinstance(found.value, Estimate)
        else scale.value_bounds(found.value),
        average_gap=scale.gap_found(found.average_gap),
        worst_gap=scale.gap(found.worst_gap) if there else None,
        models=tuple(
            BaselineModel(
                name,
                scale.value_estimate(value)
                if isinstance(value, Estimate)
                else scale.total(float(value)),
                scale.gap_estimate(gap)
                if isinstance(gap, Estimate)
                else scale.gap(float(gap)),
            )
            for name, value, gap in zip(names, found.values, found.gaps, strict=True)
        )
        if there
        else (),
        certainty=found.certainty,
        bound=None if found.bound is None else scale.total(found.bound),
        note="; ".join(filter(None, (found.note, left_out))),
        cross_gaps=None if cross is None or left_out else scale.gap_table(cross),
    )


def middle(found: float | Estimate) -> float:
    """Return one number for a quantity, known or estimated."""
    return found.estimate if isinstance(found, Estimate) else found
