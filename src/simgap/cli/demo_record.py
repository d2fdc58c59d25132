"""What `simgap demo` finds out about four frozen lakes, and how it tells it.

The record is the same on every run of one installation; seconds are kept apart.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, final

from simgap.cli.baseline_answer import BaselineAnswer, BaselineModel, compared, middle
from simgap.cli.oracle_answer import (
    CERTAINTY,
    OracleModel,
    OracleNumbers,
    PairPrices,
    TracePoint,
    oracle_numbers,
    trace_points,
)
from simgap.records import SCHEMA, Certified, Provenance, provenance
from simgap.report.words import between, number, percent

if TYPE_CHECKING:
    from simgap.mdp import LatentMDP
    from simgap.oracle.result import OracleResult
    from simgap.statistics import Estimate

TITLE = "Will it transfer? Four frozen lakes"
SUMMARY = (
    "A robot crosses a frozen lake; a step goes where it should with probability "
    "success_rate. The real lake is one of four, nobody says which, and the robot has "
    "to do well on average over all of them. Falling into a hole or reaching the goal "
    "leads back to the start; the goal pays 1."
)
EFFORT = 0.25  # seconds for each simpler policy: longer finds nothing better here
DEFAULT = "default lake alone"
ABOUT_DEFAULT = "an optimal policy of Gymnasium's own lake, success_rate = 1/3"


@final
@dataclass(frozen=True, slots=True)
class DemoModel:
    """One lake: what the oracle's policy loses in it, and what it is like if known."""

    name: str
    parameters: dict[str, float]
    prior: float
    optimal: float  # V*_1 at the start
    optimal_bounds: Certified  # the same with its rounding
    value: float
    gap: float
    relative_gap: float | None
    gap_interval: Certified


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in words, from the numbers of the record."""

    headline: str
    points: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class DemoRecord:
    """What the demo found: the same bytes on every run of one installation."""

    schema: int
    kind: str
    title: str
    summary: str
    verdict: Verdict
    horizon: int
    states: int
    actions: int
    lower: float  # of W*
    upper: float
    informed: float
    average_gap: Certified
    estimated_gap: Estimate
    worst_gap: float
    least_worst_gap: float | None
    outcome: str
    solver: str
    baselines: dict[str, BaselineAnswer]
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    pair_prices: PairPrices
    rounding: float  # of a gap; smaller ones are noise
    models: tuple[DemoModel, ...]
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True)
class Timings:
    """What differs from run to run."""

    schema: int
    kind: str
    seconds: float  # of planning
    compile_seconds: float
    trace: tuple[TracePoint, ...]


def demo_record(
    latent: LatentMDP, result: OracleResult, *, command: str, model: str, seed: int
) -> DemoRecord:
    """Return everything the demo says about the lakes."""
    assert result.horizon is not None
    simulators, numbers = latent.simulators, oracle_numbers(latent, result)
    others = compared(latent, result, seed, effort=EFFORT)
    single = others.baselines["single-simulator"]
    baselines = {DEFAULT: _default_lake(latent, numbers, single), **others.baselines}
    told: dict[str, Any] = {
        each.name: getattr(numbers, each.name)
        for each in fields(DemoRecord)
        if hasattr(numbers, each.name) and each.name != "models"
    }
    return DemoRecord(
        schema=SCHEMA,
        kind="demo",
        title=TITLE,
        summary=SUMMARY,
        verdict=_verdict(numbers, baselines, others.value_of_memory),
        states=simulators.n_states,
        actions=simulators.n_actions,
        baselines=baselines,
        value_of_memory=others.value_of_memory,
        value_of_randomization=others.value_of_randomization,
        models=tuple(
            _model(simulators.theta.of(at), each, numbers.rounding)
            for at, each in enumerate(numbers.models)
        ),
        certainty=dict(CERTAINTY),
        notes=simulators.notes,
        provenance=provenance(
            command=command, model=model, model_hash=latent.hash, seed=seed
        ),
        **told,
    )


def demo_timings(latent: LatentMDP, result: OracleResult) -> Timings:
    """Return how long planning took and how its bracket closed."""
    return Timings(
        schema=SCHEMA,
        kind="timings",
        seconds=result.statistics.seconds,
        compile_seconds=result.statistics.compile_seconds,
        trace=trace_points(latent, result),
    )


def _model(theta: dict[str, float], planned: OracleModel, rounding: float) -> DemoModel:
    return DemoModel(
        name=planned.name,
        parameters=theta,
        prior=planned.prior,
        optimal=planned.optimal,
        optimal_bounds=Certified(
            planned.optimal - rounding, planned.optimal + rounding
        ),
        value=planned.value,
        gap=planned.gap,
        relative_gap=planned.relative_gap,
        gap_interval=planned.gap_interval,
    )


def _default_lake(
    latent: LatentMDP, numbers: OracleNumbers, single: BaselineAnswer
) -> BaselineAnswer:
    """Return what the plan of the first lake loses in each of them."""
    assert single.cross_gaps is not None
    gaps = single.cross_gaps[0]
    lost = float(sum(w * gap for w, gap in zip(latent.prior, gaps, strict=True)))
    value = numbers.informed - lost
    return BaselineAnswer(
        about=ABOUT_DEFAULT,
        value=Certified(value - numbers.rounding, value + numbers.rounding),
        average_gap=Certified(
            max(0.0, lost - numbers.rounding), lost + numbers.rounding
        ),
        worst_gap=max(gaps),
        models=tuple(
            BaselineModel(each.name, each.optimal - gap, gap)
            for each, gap in zip(numbers.models, gaps, strict=True)
        ),
        certainty=single.certainty,
        bound=None,
        note="",
        cross_gaps=None,
    )


def _verdict(
    numbers: OracleNumbers,
    baselines: dict[str, BaselineAnswer],
    memory: Certified | None,
) -> Verdict:
    gap, steps = numbers.average_gap, numbers.horizon
    dearest = max(numbers.models, key=lambda each: each.gap)
    estimate = numbers.estimated_gap
    points = [
        f"It loses most if {dearest.name} is the real lake: "
        f"{number(dearest.gap, 3)} of {number(dearest.optimal, 3)} crossings.",
        f"The policy to run tracks which lake is likely; it loses "
        f"{number(estimate.estimate, 3)} on average (estimated).",
    ]
    if memory is not None and "memoryless" in baselines:
        points.append(
            f"The best policy found without memory loses "
            f"{between(baselines['memoryless'].average_gap)}: memory is worth "
            f"{between(memory)} crossings."
        )
    alone = baselines[DEFAULT]
    worst = max(alone.models, key=lambda each: middle(each.gap))
    points.append(
        f"Without randomization, the policy of the default lake loses "
        f"{between(alone.average_gap)} on average and "
        f"{number(middle(worst.gap), 3)} if {worst.name} is the real lake."
    )
    return Verdict(
        headline=f"A robot that does not know which lake is real loses "
        f"{between(gap)} of {number(numbers.informed, 3)} crossings in {steps} steps"
        f"{percent(gap, numbers.informed)}.",
        points=tuple(points),
    )
