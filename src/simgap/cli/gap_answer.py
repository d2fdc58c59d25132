"""What `simgap gap` prints as JSON: policies by real models, in original rewards.

Policies that are planned for the class (the oracle and simpler ones) come from one
planning; agents that find out while they act are made and run one by one. Gaps are
exact where that is cheap, else sampled with common random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

from simgap.records import Certified
from simgap.statistics import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simgap.answers.over_horizons import OverHorizons
    from simgap.cli.baseline_answer import BaselineAnswer, Comparison
    from simgap.gap.evaluator import MonteCarlo
    from simgap.mdp import LatentMDP
    from simgap.oracle.result import OracleResult
    from simgap.policies.interface import Policy
    from simgap.records import Provenance

ORACLE = {
    "oracle": "the domain-randomization oracle, as a policy graph",
    "oracle-belief": "the same plan, acting on the posterior: the one to run",
}
SIMPLER = (
    "memoryless",
    "mean-model",
    "single-simulator",
    "minimax",
    "window-1",
    "window-2",
)
DEFAULT = (
    "oracle",
    "oracle-belief",
    "likelihood",
    "posterior-sampling",
    "elimination",
    "optimistic",
    "general",
    "memoryless",
    "mean-model",
    "single-simulator",
    "minimax",
    "random",
)
PLANNED_ONLY = tuple(
    name for name in DEFAULT if name in ORACLE or name in SIMPLER or name == "random"
)
WITHOUT_PLANNING = ("memoryless", "mean-model")  # these two are made at any horizon
LONGEST_ORACLE = 2_000  # steps up to which the oracle is in the default table
LARGEST_LOSSES = 2**30  # bytes up to which simpler policies are searched
SHORT = 20  # steps up to which histories are followed
FEW_NODES = 20_000  # things to remember, at most, when they are


@final
@dataclass(frozen=True, slots=True)
class ModelGap:
    """The gap of one policy in one real model."""

    name: str
    gap: Certified | Estimate


@final
@dataclass(frozen=True, slots=True)
class PolicyGaps:
    """The gaps of one policy."""

    name: str
    about: str
    certainty: str
    models: tuple[ModelGap, ...]
    average: Certified | Estimate
    worst: Certified | Estimate


@final
@dataclass(frozen=True, slots=True)
class BoundAt:
    """What a theorem promises about the oracle's gap in any model."""

    name: str
    value: float


@final
@dataclass(frozen=True, slots=True)
class HorizonGaps:
    """The class at one horizon."""

    horizon: int
    informed: float
    average_gap: Certified  # of the oracle
    memoryless: Certified
    random: float
    train: tuple[tuple[float, ...], ...]  # the plan of one model if another is real
    bounds: tuple[BoundAt, ...]


@final
@dataclass(frozen=True, slots=True)
class GapAnswer:
    """The record of `simgap gap`."""

    schema: int
    kind: str
    horizon: int
    policies: tuple[PolicyGaps, ...]
    left_out: dict[str, str]  # policies that cannot be had here, and why
    names: tuple[str, ...]  # of the models
    prior: tuple[float, ...]
    optimal: tuple[float, ...]  # V* of every model
    at_stake: float  # what acting at random loses on average
    value_of_memory: Certified | None
    value_of_randomization: Certified | None
    trained: tuple[int, ...] | None  # the models that `train` is about
    by_horizon: tuple[HorizonGaps, ...] | None
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


@final
@dataclass(frozen=True, slots=True, eq=False)
class PlannedPolicies:
    """The oracle and simpler policies of one class and horizon."""

    result: OracleResult
    comparison: Comparison


@final
@dataclass(frozen=True, slots=True, eq=False)
class GapTable:
    """Rows of the table, and what was left out."""

    policies: tuple[PolicyGaps, ...]
    left_out: dict[str, str]


CERTAINTY = {
    "optimal": "certified",
    "at_stake": "certified",
    "value_of_memory": "certified",
    "value_of_randomization": "certified",
    "by_horizon": "certified",
}


def gap_table(
    latent: LatentMDP,
    asked: Sequence[str],
    horizon: int,
    evaluator: MonteCarlo,
    planned: PlannedPolicies | None,
    *,
    insist: bool,
    tell: Callable[[str], None],
) -> GapTable:
    """Return the gaps of policies by name; with `insist` none may be left out."""
    from simgap.errors import SimgapError

    found, left_out = [], {}
    for name in asked:
        tell(f"measuring {name}")
        try:
            row = _planned_row(latent, name, evaluator, planned)
            if row is None:
                row = _agent_row(latent, name, horizon, evaluator, tell)
            found.append(row)
        except SimgapError as error:
            if insist:
                raise
            left_out[name] = error.problem
    return GapTable(tuple(found), left_out)


def horizon_gaps(latent: LatentMDP, found: OverHorizons) -> tuple[HorizonGaps, ...]:
    """Return gaps over horizons in original units."""
    units = latent.simulators.units
    factor = abs(units.factor)

    def bracket(stored: Certified) -> Certified:
        moved = in_units(stored, factor)
        assert isinstance(moved, Certified)
        return moved

    return tuple(
        HorizonGaps(
            horizon=each.horizon,
            informed=units.total(each.informed, each.horizon),
            average_gap=bracket(each.oracle),
            memoryless=bracket(each.memoryless),
            random=factor * (each.random.upper or 0.0),
            train=tuple(tuple(row) for row in (factor * each.train).tolist()),
            bounds=tuple(
                BoundAt(promise.name, factor * promise.value)
                for promise in each.promises
            ),
        )
        for each in found.horizons
    )


def in_units(gap: Certified | Estimate, factor: float) -> Certified | Estimate:
    """Return a gap in original rewards."""
    if factor == 1.0 or gap.lower is None or gap.upper is None:
        return gap
    lower, upper = factor * gap.lower, factor * gap.upper
    if isinstance(gap, Estimate):
        return replace(gap, estimate=factor * gap.estimate, lower=lower, upper=upper)
    return Certified(lower, upper)


def _planned_row(
    latent: LatentMDP,
    name: str,
    evaluator: MonteCarlo,
    planned: PlannedPolicies | None,
) -> PolicyGaps | None:
    """Return the row of a policy that planning has made; None if it makes none."""
    from simgap.errors import InvalidArgument

    if planned is None:
        if name in WITHOUT_PLANNING or (name not in ORACLE and name not in SIMPLER):
            return None
        raise InvalidArgument(
            f"planned by default up to {LONGEST_ORACLE} steps only",
            hint="give a shorter horizon, or ask for it with --policy",
        )
    if name in ORACLE:
        return _oracle_row(latent, name, evaluator, planned.result)
    if name in SIMPLER:
        return _simpler_row(latent, name, planned.comparison.baselines)
    return None


def _oracle_row(
    latent: LatentMDP, name: str, evaluator: MonteCarlo, result: OracleResult
) -> PolicyGaps:
    if name == "oracle":
        off = result.statistics.rounding
        exact = [
            Certified(max(0.0, gap - off), gap + off) for gap in result.gaps.tolist()
        ]
        return _certified_row(latent, name, ORACLE[name], exact)
    from simgap.cli.gap_runs import tracked_runs

    members, allowed = len(latent.simulators), 1.0 - evaluator.confidence
    runs = tracked_runs(latent, result, evaluator.episodes)
    each = _tracked(latent, result, evaluator, runs, evaluator.confidence)
    together = _tracked(latent, result, evaluator, runs, 1.0 - allowed / members)
    row = _sampled_row(latent, name, ORACLE[name], each, _greatest(together, allowed))
    # the average has an estimate of its own, narrower than what models add up to
    factor = abs(latent.simulators.units.factor)
    return replace(row, average=in_units(result.estimated_gap, factor))


def _tracked(
    latent: LatentMDP,
    result: OracleResult,
    evaluator: MonteCarlo,
    runs: int,
    confidence: float,
) -> tuple[Estimate, ...]:
    """Return the gaps of the policy that acts on the posterior."""
    from simgap.oracle.estimate import estimated_gaps_per_model
    from simgap.oracle.loss_form import loss_form

    return estimated_gaps_per_model(
        loss_form(latent, horizon=result.horizon),
        result.belief_policy,
        episodes=runs * len(latent.simulators),
        seed=evaluator.seed,
        confidence=confidence,
    )


def _greatest(together: Sequence[Estimate], allowed: float) -> Estimate:
    """Return the greatest of estimates whose intervals all hold at once."""
    most = max(together, key=lambda each: each.estimate)
    return replace(
        most,
        lower=max(each.lower for each in together),
        upper=max(each.upper for each in together),
        confidence=1.0 - allowed,
        method=f"greatest of {len(together)} models, {most.method}",
    )


def _simpler_row(
    latent: LatentMDP, name: str, found: dict[str, BaselineAnswer]
) -> PolicyGaps:
    """Return the row of a simpler policy; its numbers are in original units."""
    from simgap.cli.baseline_answer import middle
    from simgap.errors import NotSolved

    policy = found[name]
    if not policy.models:
        raise NotSolved(policy.note, hint="a shorter horizon or a smaller class")
    exact = [float(middle(each.gap)) for each in policy.models]
    assert isinstance(policy.average_gap, Certified)  # all of SIMPLER have tables
    off = ((policy.average_gap.upper or 0.0) - (policy.average_gap.lower or 0.0)) / 2.0
    gaps = [Certified(max(0.0, gap - off), gap + off) for gap in exact]
    row = _certified_row(latent, name, policy.about, gaps, factor=1.0)
    return replace(row, average=policy.average_gap)


def _agent_row(
    latent: LatentMDP,
    name: str,
    horizon: int,
    evaluator: MonteCarlo,
    tell: Callable[[str], None],
) -> PolicyGaps:
    """Return the row of an agent: exact where that is cheap, else sampled."""
    from simgap.base_policies.catalogue import build_policy, named_policy
    from simgap.gap.sampled import sampled_gaps, worst_sampled

    agent = build_policy(name, latent, horizon, seed=evaluator.seed)
    exact = _exact(latent, agent, horizon)
    about = named_policy(name).about
    if exact is not None:
        return _certified_row(latent, name, about, exact)

    def follow(done: int, whole: int) -> None:
        tell(f"measuring {name}: {done} of {whole} runs")

    told = sampled_gaps(latent.simulators, agent, horizon, evaluator, progress=follow)
    worst = worst_sampled(told, evaluator.confidence)
    return _sampled_row(latent, name, about, [each.gap for each in told], worst)


def _exact(
    latent: LatentMDP, agent: Policy[Any], horizon: int
) -> tuple[Certified, ...] | None:
    from simgap.errors import InvalidArgument, NotSolved
    from simgap.gap.evaluator import Exact
    from simgap.gap.exact import exact_gaps
    from simgap.policies.graph import GraphPolicy
    from simgap.policies.markov import MarkovPolicy

    if not isinstance(agent, MarkovPolicy | GraphPolicy) and horizon > SHORT:
        return None
    try:
        limit = Exact(max_nodes=FEW_NODES)
        return exact_gaps(latent.simulators, agent, horizon, limit)
    except (NotSolved, InvalidArgument):
        return None  # too many histories, or luck of its own: sample


def _certified_row(
    latent: LatentMDP,
    name: str,
    about: str,
    gaps: Sequence[Certified],
    *,
    factor: float | None = None,
) -> PolicyGaps:
    """Return a row from gaps in stored units, or in units of their own factor."""
    from simgap.gap.measure import worst_of

    return _row(latent, name, about, "certified", gaps, worst_of(gaps), factor)


def _sampled_row(
    latent: LatentMDP, name: str, about: str, gaps: Sequence[Estimate], worst: Estimate
) -> PolicyGaps:
    return _row(latent, name, about, "estimated", gaps, worst, None)


def _row(
    latent: LatentMDP,
    name: str,
    about: str,
    certainty: str,
    gaps: Sequence[Certified | Estimate],
    worst: Certified | Estimate,
    factor: float | None,
) -> PolicyGaps:
    from simgap.gap.measure import average_of

    worlds = latent.simulators
    scale = abs(worlds.units.factor) if factor is None else factor
    return PolicyGaps(
        name=name,
        about=about,
        certainty=certainty,
        models=tuple(
            ModelGap(model, in_units(gap, scale))
            for model, gap in zip(worlds.model_names, gaps, strict=True)
        ),
        average=in_units(average_of(gaps, latent.prior), scale),
        worst=in_units(worst, scale),
    )
