"""The rows of `simgap gap`: what each policy loses in each real model.

Policies that are planned for the class (the oracle and simpler ones) come from one
planning; agents that find out while they act are made and run one by one. Gaps are
exact where that is cheap, else sampled with common random numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from simgap.cli.verbs.gap_answer import ModelGap, PolicyGaps
from simgap.intervals import Certified, Estimate, greatest_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simgap.answers import PlannedClass
    from simgap.cli.verbs.baseline_answer import BaselineAnswer, Comparison
    from simgap.gap import MonteCarlo
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult
    from simgap.policies import Policy

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
@dataclass(frozen=True, slots=True, eq=False)
class PlannedPolicies:
    """The oracle and simpler policies of one class and horizon."""

    result: OracleResult
    comparison: Comparison

    @property
    def known(self) -> PlannedClass | None:
        """Return what other answers need not plan again; None with a discount."""
        from simgap.answers import PlannedClass

        plan, worth = self.comparison.memoryless, self.comparison.value_of_memory
        if plan is None or worth is None:
            return None
        return PlannedClass(self.result, plan, worth)


@final
@dataclass(frozen=True, slots=True, eq=False)
class GapTable:
    """Rows of the table, and what was left out."""

    policies: tuple[PolicyGaps, ...]
    left_out: dict[str, str]


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
    least = None if planned is None else planned.result.average_gap.lower
    for name in asked:
        tell(f"measuring {name}")
        try:
            row = _planned_row(latent, name, evaluator, planned)
            if row is None:
                row = _agent_row(latent, name, horizon, evaluator, tell, least)
            found.append(row)
        except SimgapError as error:
            if insist:
                raise
            left_out[name] = error.problem
    return GapTable(tuple(found), left_out)


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
    from simgap.cli.verbs.gap_runs import tracked_runs
    from simgap.oracle import estimated_gap, estimated_gaps_per_model, loss_form

    if name == "oracle":
        exact = _around(result.gaps.tolist(), result.statistics.rounding)
        return _row(latent, name, ORACLE[name], exact)
    members, allowed = len(latent.simulators), 1.0 - evaluator.confidence
    runs = tracked_runs(latent, result, evaluator.episodes)
    form = loss_form(latent, horizon=result.horizon)

    def tracked(confidence: float) -> tuple[Estimate, ...]:
        return estimated_gaps_per_model(
            form,
            result.belief_policy,
            episodes=runs * members,
            seed=evaluator.seed,
            confidence=confidence,
            guaranteed=evaluator.guaranteed,
        )

    worst = greatest_of(tracked(1.0 - allowed / members), evaluator.confidence)
    each = tracked(evaluator.confidence)
    # the average has an estimate of its own, narrower than what models add up to
    average = result.estimated_gap
    if evaluator.guaranteed and average.label != "guaranteed":
        average = estimated_gap(
            form,
            result.belief_policy,
            episodes=runs * members,
            seed=evaluator.seed,
            confidence=evaluator.confidence,
            guaranteed=True,
        ).within(result.average_gap.lower, None)
    return _row(latent, name, ORACLE[name], each, worst=worst, average=average)


def _simpler_row(
    latent: LatentMDP, name: str, found: dict[str, BaselineAnswer]
) -> PolicyGaps:
    """Return the row of a simpler policy."""
    from simgap.cli.verbs.baseline_answer import middle
    from simgap.errors import NotSolved

    policy = found[name]
    if not policy.models:
        raise NotSolved(policy.note, hint="a shorter horizon or a smaller class")
    assert isinstance(policy.average_gap, Certified)  # all of SIMPLER have tables
    off = (policy.average_gap.upper - policy.average_gap.lower) / 2.0
    gaps = _around([float(middle(each.gap)) for each in policy.models], off)
    return _row(latent, name, policy.about, gaps, average=policy.average_gap)


def _agent_row(
    latent: LatentMDP,
    name: str,
    horizon: int,
    evaluator: MonteCarlo,
    tell: Callable[[str], None],
    least: float | None,
) -> PolicyGaps:
    """Return the row of an agent: exact where that is cheap, else sampled.

    `least` is certified about the average loss of every policy.
    """
    from simgap.base_policies import build_policy, named_policy
    from simgap.gap import average_sampled, sampled_gaps, worst_sampled

    agent = build_policy(name, latent, horizon, seed=evaluator.seed)
    exact = _exact(latent, agent, horizon)
    about = named_policy(name).about
    if exact is not None:
        return _row(latent, name, about, exact)

    def follow(done: int, whole: int) -> None:
        tell(f"measuring {name}: {done} of {whole} runs")

    told = sampled_gaps(latent.simulators, agent, horizon, evaluator, progress=follow)
    return _row(
        latent,
        name,
        about,
        [each.gap for each in told],
        worst=worst_sampled(told, evaluator),
        average=average_sampled(told, latent.prior, evaluator).within(least, None),
    )


def _exact(
    latent: LatentMDP, agent: Policy[Any], horizon: int
) -> tuple[Certified, ...] | None:
    from simgap.errors import InvalidArgument, NotSolved
    from simgap.gap import Exact, exact_gaps
    from simgap.policies import GraphPolicy, MarkovPolicy

    if not isinstance(agent, MarkovPolicy | GraphPolicy) and horizon > SHORT:
        return None
    try:
        limit = Exact(max_nodes=FEW_NODES)
        return exact_gaps(latent.simulators, agent, horizon, limit)
    except (NotSolved, InvalidArgument):
        return None  # too many histories, or luck of its own: sample


def _around(gaps: Sequence[float], off: float) -> list[Certified]:
    """Return gaps that rounding may have moved by `off`."""
    return [Certified(max(0.0, gap - off), gap + off) for gap in gaps]


def _row(
    latent: LatentMDP,
    name: str,
    about: str,
    gaps: Sequence[Certified | Estimate],
    *,
    worst: Estimate | None = None,
    average: Certified | Estimate | None = None,
) -> PolicyGaps:
    """Return a row; of certified gaps the worst and the average are known."""
    from simgap.gap import average_certified, worst_of

    known = [each for each in gaps if isinstance(each, Certified)]
    names = latent.simulators.model_names
    return PolicyGaps(
        name=name,
        about=about,
        certainty="certified" if worst is None else "estimated",
        models=tuple(ModelGap(*each) for each in zip(names, gaps, strict=True)),
        average=average_certified(known, latent.prior) if average is None else average,
        worst=worst_of(known) if worst is None else worst,
    )
