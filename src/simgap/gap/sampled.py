"""Gaps and regrets by sampling: episodes of any policy in chosen real models.

The mean of sampled episodes with the least variance, and an interval for it.

Every episode gives two unbiased numbers for the same gap: raw, V* minus its return, and
the sum of its losses. The second has far less variance when the policy is near the best
one, and about the same when the randomness of exploration dominates. Their difference
has mean zero, so (1 - c) raw + c losses is unbiased for every c that does not depend on
the episode: c is the regression coefficient of the *other* half of the episodes. Of
this mixture, the losses and the returns, the one that varies least is taken, so that
the answer is never worse than returns alone.

The intervals are those of `statistics.mean`: Student's t of the combination, and one
that bets on returns or losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.fixed import fixed_policy
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap.evaluator import MonteCarlo
from simgap.intervals import Estimate, greatest_of
from simgap.mdp import SimulatorClass
from simgap.planning import checked_horizon
from simgap.policies import GraphPolicy, MarkovPolicy, Policy
from simgap.simulation import (
    Program,
    Progress,
    RealModels,
    Runs,
    ScoreRanges,
    Stepwise,
    observed_class,
    real_models,
    run_program,
    score_ranges,
)
from simgap.statistics import Part, estimated_mean

GROWTH = 1.2  # more episodes than predicted, so that few rounds are enough
FEW = 20  # episodes below which no coefficient is estimated
Range = tuple[float, float]


@final
@dataclass(frozen=True, slots=True, eq=False)
class SampledGap:
    """What a policy lost in one real model."""

    gap: Estimate
    regret: Estimate | None  # None: the model has no gain
    sample: Sample  # of the gap, for intervals at other confidences
    runs: Runs


def program_of(policy: Policy[Any], real: SimulatorClass, horizon: int) -> Program:
    """Return a policy in the form that runs fastest; horizons must agree."""
    made_for = getattr(policy, "horizon", None)
    if made_for is not None and horizon > made_for:
        raise InvalidArgument(
            f"the policy was made for {made_for} steps, the episode has {horizon}",
            hint="make the policy for this horizon",
        )
    if isinstance(policy, MarkovPolicy | GraphPolicy):
        return fixed_policy(policy, real)
    if isinstance(policy, Program):
        if made_for != horizon:
            raise InvalidArgument(
                f"the agent was made for {made_for} steps, the episode has {horizon}",
                hint="its tests depend on the horizon: make it for this one",
            )
        return policy
    observed = getattr(policy, "observed", None)
    return Stepwise(policy, observed if observed is not None else observed_class(real))


def sampled_gaps(
    real: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    evaluator: MonteCarlo,
    *,
    models: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> tuple[SampledGap, ...]:
    """Return gap and regret in every model (or in some), each with its interval.

    With a half-width the episodes of a model are added to until its gap's interval is
    as narrow as asked; `NotSolved` with the result so far if that takes too many.
    """
    horizon = checked_horizon(horizon)
    program = program_of(policy, real, horizon)
    worlds = real_models(program.observed, _same(program, real), horizon)
    chosen = range(len(real)) if models is None else [real.member(m) for m in models]
    found = [
        measured(
            worlds,
            each,
            evaluator.confidence,
            stopped=evaluator.half_width is not None,
        )
        for each in run_program(
            program,
            worlds,
            runs=evaluator.episodes,
            seed=evaluator.seed,
            models=list(chosen),
            threads=evaluator.threads,
            progress=progress,
        )
    ]
    if evaluator.half_width is None:
        return tuple(found)
    return tuple(
        _narrowed(program, worlds, each, evaluator, progress) for each in found
    )


def measured(
    worlds: RealModels,
    runs: Runs,
    confidence: float,
    *,
    stopped: bool = False,
) -> SampledGap:
    """Return gap and regret of finished runs."""
    m, horizon = runs.model, worlds.horizon
    rounding = float(worlds.rounding[m])
    can = score_ranges(worlds, m)
    if not runs.simulated.any():  # with nothing drawn nothing may have been missed
        can = ScoreRanges(
            reward=_met(runs.reward),
            gap=_met(runs.gap),
            moved=_met(runs.regret),
            step=(0.0, 0.0),
        )

    def sample(top: float, losses: FloatArray, possible: Range, least: float) -> Sample:
        low, high = top - can.reward[1], top - can.reward[0]
        return Sample(
            raw=top - runs.reward,
            losses=losses,
            raw_range=(low, high),
            loss_range=possible,
            least=least,
            greatest=max(least, high + rounding),
            rounding=rounding,
            stopped=stopped,
        )

    of_gap = sample(float(worlds.optimal[m]), runs.gap, can.gap, 0.0)
    regret = None
    if worlds.has_gain[m]:
        span = float(worlds.potential[m].max() - worlds.potential[m].min())
        whole = horizon * float(worlds.gain[m])
        of_regret = sample(whole, runs.regret, can.regret(horizon), -span - rounding)
        regret = interval([of_regret], confidence)
    gap = interval([of_gap], confidence)
    return SampledGap(gap, regret, of_gap, runs)


def worst_sampled(found: Sequence[SampledGap], evaluator: MonteCarlo) -> Estimate:
    """Return the greatest gap of several models.

    Each interval gets its share of the failure allowed, so that all hold at once.
    """
    share = 1.0 - (1.0 - evaluator.confidence) / len(found)
    each = [interval([one.sample], share) for one in found]
    return greatest_of(each, evaluator.confidence)


def average_sampled(
    found: Sequence[SampledGap], prior: FloatArray, evaluator: MonteCarlo
) -> Estimate:
    """Return the gap averaged over the prior; each model has its own random stream."""
    return interval(
        [one.sample for one in found],
        evaluator.confidence,
        weights=prior.tolist(),
    )


def _narrowed(
    program: Program,
    worlds: RealModels,
    found: SampledGap,
    evaluator: MonteCarlo,
    progress: Progress | None,
) -> SampledGap:
    """Add episodes until the interval of the gap is narrow enough."""
    wanted = evaluator.half_width
    assert wanted is not None
    while (found.gap.upper - found.gap.lower) / 2.0 > wanted:
        done = found.runs.reward.size
        reached = (found.gap.upper - found.gap.lower) / 2.0
        more = ceil(GROWTH * done * (reached / wanted) ** 2) - done
        more = min(max(more, done // 2), 8 * done, evaluator.most_episodes - done)
        if more <= 0:
            raise NotSolved(
                f"after {done} episodes in model {found.runs.name!r} the half-width "
                f"is {reached:.3g}, not {wanted:.3g}",
                hint="raise most_episodes, or accept the interval in `result`",
                result=found,
            )
        (added,) = run_program(
            program,
            worlds,
            runs=more,
            first_run=done,
            seed=evaluator.seed,
            models=[found.runs.model],
            threads=evaluator.threads,
            progress=progress,
        )
        found = measured(
            worlds,
            _joined(found.runs, added),
            evaluator.confidence,
            stopped=True,
        )
    return found


def _joined(one: Runs, other: Runs) -> Runs:
    per_run: dict[str, Any] = {
        each.name: np.concatenate([getattr(one, each.name), getattr(other, each.name)])
        for each in fields(Runs)
        if each.name not in ("model", "name", "horizon", "grid")
    }
    return replace(one, **per_run)


def _same(program: Program, real: SimulatorClass) -> SimulatorClass:
    """Return the class itself where an equal copy of it is to be run in."""
    known = program.observed.simulators
    return known if real is not known and real.hash == known.hash else real


def _met(values: FloatArray) -> Range:
    return float(values.min()), float(values.max())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Episodes of one policy in one model."""

    raw: FloatArray  # (n,), V* - return
    losses: FloatArray  # (n,)
    raw_range: Range  # no episode is outside
    loss_range: Range
    least: float  # the mean cannot be less (0 for a gap)
    greatest: float  # nor more
    rounding: float  # what floating point may misstate
    stopped: bool = False  # what was met decided how many episodes were run


@final
@dataclass(frozen=True, slots=True, eq=False)
class Combined:
    """One number per episode, unbiased, with the least variance found."""

    values: FloatArray  # (n,)
    coefficient: float  # of the losses; 1 - coefficient is that of raw returns
    variance_ratio: float  # of raw returns over this
    low: float  # no number is less
    high: float  # nor more


def combined(sample: Sample) -> Combined:
    """Return (1 - c) raw + c losses, c from the other half of the episodes."""
    raw, losses = sample.raw, sample.losses
    choices: list[tuple[FloatArray, tuple[float, ...]]] = [(losses, (1.0,))]
    if raw.size >= FEW:
        half = raw.size // 2
        first, second = slice(0, half), slice(half, None)
        of_first = _coefficient(raw[second], losses[second])
        of_second = _coefficient(raw[first], losses[first])
        mixed = np.concatenate(
            [
                raw[first] + of_first * (losses[first] - raw[first]),
                raw[second] + of_second * (losses[second] - raw[second]),
            ]
        )
        choices += [(mixed, (of_first, of_second)), (raw, (0.0,))]
    values, used = min(choices, key=lambda choice: float(choice[0].var()))
    noise, left = float(raw.var(ddof=1)), float(values.var(ddof=1))
    ratio = noise / left if left > 0.0 else (1.0 if noise == 0.0 else float("inf"))
    ends = [
        (1.0 - c) * returned + c * lost
        for c in used
        for returned in sample.raw_range
        for lost in sample.loss_range
    ]
    return Combined(values, sum(used) / len(used), ratio, min(ends), max(ends))


def interval(
    samples: Sequence[Sample],
    confidence: float,
    *,
    weights: Sequence[float] = (1.0,),
) -> Estimate:
    """Return the weighted mean over models, with its interval.

    Episodes of different models are independent.
    """
    both = [
        (each, weight)
        for each, weight in zip(samples, weights, strict=True)
        if weight > 0.0
    ]
    best = [combined(each) for each, _ in both]
    used = sum(w * one.coefficient for one, (_, w) in zip(best, both, strict=True))
    return estimated_mean(
        [
            Part(one.values, one.low, one.high, weight)
            for one, (_, weight) in zip(best, both, strict=True)
        ],
        confidence,
        method=f"losses weighted {used / sum(w for _, w in both):.3g} against returns",
        least=sum(weight * each.least for each, weight in both),
        greatest=sum(weight * each.greatest for each, weight in both),
        rounding=sum(weight * each.rounding for each, weight in both),
        scores=(
            [Part(each.losses, *each.loss_range, weight) for each, weight in both],
            [Part(each.raw, *each.raw_range, weight) for each, weight in both],
        ),
        stopped=any(each.stopped for each, _ in both),
    )


def _coefficient(raw: FloatArray, losses: FloatArray) -> float:
    """Return the c that minimises the variance of raw + c (losses - raw)."""
    change = losses - raw
    spread = float(change.var())
    if spread == 0.0:
        return 1.0
    shared = float(np.mean((raw - raw.mean()) * (change - change.mean())))
    return -shared / spread
