"""What `simgap run` finds out about an agent, in the model's original rewards."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, final

if TYPE_CHECKING:
    from simgap.base_policies import Entry, OptimisticExploration
    from simgap.gap import SampledGap
    from simgap.intervals import Estimate, Label
    from simgap.mdp import LatentMDP
    from simgap.policies import Policy
    from simgap.records import Provenance
    from simgap.simulation import Program, RealModels, Runs

CONFIDENCE = 0.95
CURVE_RUNS = 200  # runs whose regret is followed step by step, at most
CERTAINTY = {
    "gap": "estimated",
    "regret": "estimated",
    "truth_eliminated": "exact",
    "switches": "estimated",
    "optimal": "certified",
    "curve": "estimated",
}


@final
@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Regret after a number of steps: the mean over runs and its interval."""

    step: int
    estimate: float
    lower: float
    upper: float
    label: Label  # of the interval, as of an estimate


@final
@dataclass(frozen=True, slots=True)
class RunModel:
    """What the agent did in one real model."""

    name: str
    optimal: float  # V* at the start
    gap: Estimate
    regret: Estimate | None  # None: the model has no gain
    truth_eliminated: int  # runs in which the real model was dropped
    switches: float  # mean over runs
    resets: int  # runs in which no candidate was left
    identified: float | None  # median step from which the plan was final
    pathwise_ratio: float | None  # greatest regret over its bound on the same path
    variance_ratio: float | None  # of returns over the estimator; None: it has none
    curve: tuple[CurvePoint, ...]


@final
@dataclass(frozen=True, slots=True)
class RunAnswer:
    """The record of `simgap run`."""

    schema: int
    policy: str
    about: str
    literal: bool
    horizon: int
    seeds: int
    steps_per_second: float
    steps_simulated: int
    eliminates: bool  # whether the agent ever drops a model
    vacuity_horizon: int | None  # before it the printed test eliminates nothing
    models: tuple[RunModel, ...]
    notes: tuple[str, ...]
    page: str | None
    certainty: dict[str, str]
    provenance: Provenance


def run_answer(
    latent: LatentMDP,
    agent: Policy[Any],
    entry: Entry,
    horizon: int,
    *,
    models: list[int],
    runs: int,
    seed: int,
    threads: int,
    literal: bool,
    curves: bool,
    guaranteed: bool = False,
    provenance: Provenance,
    notes: tuple[str, ...] = (),
) -> RunAnswer:
    """Run the agent in the chosen models and measure it."""
    from simgap.cli.app.output import telling
    from simgap.gap import measured, program_of
    from simgap.records import SCHEMA
    from simgap.simulation import real_models, run_program
    from simgap.statistics import THIN

    program = program_of(agent, latent.simulators, horizon)
    real = real_models(program.observed, program.observed.simulators, horizon)
    with telling(f"running {entry.name}") as tell:

        def follow(done: int, whole: int) -> None:
            tell(f"{entry.name}: {done} of {whole} runs")

        _warm(program, real, models[0])
        begin = perf_counter()
        found = run_program(
            program,
            real,
            runs=runs,
            seed=seed,
            models=models,
            threads=threads,
            progress=follow,
        )
        seconds = perf_counter() - begin
        traced: tuple[Runs, ...] = ()
        if curves:
            traced = _traced(
                program, real, models, min(runs, CURVE_RUNS), seed, threads
            )
    drawn = sum(int(each.simulated.sum()) for each in found)
    few = guaranteed or runs < THIN
    told = [measured(real, each, CONFIDENCE, guaranteed=few) for each in found]
    from simgap.base_policies import OptimisticExploration
    from simgap.simulation import Eliminating

    printed = isinstance(agent, OptimisticExploration) and not literal
    first = vacuity(agent) if printed else None  # type: ignore[arg-type]
    return RunAnswer(
        schema=SCHEMA,
        policy=entry.name,
        about=entry.about,
        literal=literal,
        horizon=horizon,
        seeds=runs,
        steps_per_second=drawn / max(seconds, 1e-9),
        steps_simulated=drawn,
        eliminates=isinstance(agent, Eliminating),
        vacuity_horizon=first,
        models=tuple(
            _model(each, real, traced[place] if traced else None)
            for place, each in enumerate(told)
        ),
        notes=notes + _notes(latent, agent, horizon, first, told),
        page=None,
        certainty=dict(CERTAINTY),
        provenance=provenance,
    )


def _warm(program: Program, real: RealModels, member: int) -> None:
    """Compile before the clock starts."""
    from simgap.simulation import run_program

    run_program(program, real, runs=1, seed=0, models=[member])


def _traced(
    program: Program,
    real: RealModels,
    models: list[int],
    runs: int,
    seed: int,
    threads: int,
) -> tuple[Runs, ...]:
    from simgap.simulation import log_grid, run_program

    return run_program(
        program,
        real,
        runs=runs,
        seed=seed,
        models=models,
        threads=threads,
        grid=log_grid(real.horizon),
    )


def _model(told: SampledGap, real: RealModels, traced: Runs | None) -> RunModel:
    import numpy as np

    from simgap.gap import combined

    runs, m = told.runs, told.runs.model
    settled = runs.identified[runs.identified >= 0]
    ratio = combined(told.sample).variance_ratio
    kept = ~runs.truth_eliminated & np.isfinite(runs.bound) & (runs.bound > 0.0)
    lost = real.horizon * float(real.gain[m]) - runs.reward
    return RunModel(
        name=runs.name,
        optimal=float(real.optimal[m]),
        gap=told.gap,
        regret=told.regret,
        truth_eliminated=int(runs.truth_eliminated.sum()),
        switches=float(runs.switches.mean()),
        resets=int((runs.resets > 0).sum()),
        identified=float(np.median(settled)) if settled.size else None,
        pathwise_ratio=float((lost / runs.bound)[kept].max()) if kept.any() else None,
        variance_ratio=ratio if np.isfinite(ratio) else None,
        curve=() if traced is None else _curve(traced, real),
    )


def _curve(traced: Runs, real: RealModels) -> tuple[CurvePoint, ...]:
    from simgap.simulation import score_ranges
    from simgap.statistics import Part, estimated_mean

    can, points = score_ranges(real, traced.model), []
    for step, values in zip(traced.grid.tolist(), traced.trace.T, strict=True):
        found = estimated_mean([Part(values, *can.regret(step))], CONFIDENCE)
        points.append(
            CurvePoint(step, found.estimate, found.lower, found.upper, found.label)
        )
    return tuple(points)


def vacuity(agent: OptimisticExploration) -> int | None:
    """Return the H before which the printed test of Algorithm 3 eliminates nothing.

    Rewards count as rescaled to [0, 1], as in the paper.
    """
    import numpy as np

    from simgap.bounds import Threshold, vacuity_horizon
    from simgap.planning import diameter

    worlds = agent.known.simulators
    low, high = float(worlds.rewards.min()), float(worlds.rewards.max())
    if len(worlds) == 1 or high == low:
        return None
    gains = (agent.known.gain - low) / (high - low)
    found = vacuity_horizon(
        spans=agent.known.average.bias_span / (high - low),
        drifts=np.maximum(gains, 1.0 - gains),
        steps=agent.levels.most_step / (high - low),
        threshold=Threshold.PAPER,
        diameter=diameter(worlds).upper,
    )
    return int(found) if np.isfinite(found) else None


def _notes(
    latent: LatentMDP,
    agent: Policy[Any],
    horizon: int,
    first: int | None,
    told: list[SampledGap],
) -> tuple[str, ...]:
    notes = []
    if first is not None and horizon < first:
        notes.append(
            f"with the threshold as printed nothing can be eliminated before H = "
            f"{first}; simgap run likelihood needs no such patience"
        )
    if not latent.simulators.shared_rewards and hasattr(agent, "observed"):
        notes.append(
            "rewards differ between models and agents do not see them here: guarantees "
            "of learners do not hold; in Python, signal=RewardSignal.SEEN shows them"
        )
    if any(_mostly_unseen(each.gap) for each in told):
        notes.append(
            "an end far from its estimate leaves room for an event of chance "
            f"{3.7 / told[0].runs.reward.size:.2g} that so few runs may have missed; "
            "more --seeds narrow it"
        )
    return tuple(notes)


def _mostly_unseen(gap: Estimate) -> bool:
    error = gap.standard_error or 0.0
    return gap.upper - gap.lower > 40.0 * max(error, 1e-9)
