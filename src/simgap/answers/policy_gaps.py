"""What one policy loses in each real model: a row of the comparison.

Policies that are planned for the class (the oracle and simpler ones) come from one
planning; agents that find out while they act are made and run one by one. Gaps are
exact where that is cheap, else sampled with common random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from simgap._kernels.time_limit import check_time
from simgap.answers.brought_policies import (
    BlackBox,
    brought_to_class,
    parameters_of,
)
from simgap.answers.planned_class import Tell
from simgap.base_policies.catalogue import build_policy, named_policy
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap import (
    Exact,
    MonteCarlo,
    SampledGap,
    average_certified,
    average_sampled,
    exact_gaps,
    sampled_gaps,
    worst_of,
    worst_sampled,
)
from simgap.intervals import Certified, Estimate, Interval, greatest_of
from simgap.mdp import LatentMDP
from simgap.oracle import (
    FEW,
    OracleResult,
    estimated_gap,
    estimated_gaps_per_model,
    loss_form,
)
from simgap.policies import GraphPolicy, MarkovPolicy, Policy
from simgap.records.gap import ModelGap, PolicyGaps
from simgap.records.note import Notes
from simgap.records.oracle import BaselinePolicy, Oracle

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
MANY = 60  # models, from which on fewer episodes than asked may be run in each
FEWEST_RUNS = 10  # of an agent in each of many models
MOST_WORK = 2e9  # products in the episodes of the policy that acts on the posterior


def policy_gaps(
    latent: LatentMDP,
    name: str,
    horizon: int,
    evaluator: MonteCarlo,
    oracle: Oracle | None,
    tell: Tell,
) -> PolicyGaps:
    """Return the gaps of a policy by its name; an error says why there are none.

    `oracle` has what is planned of the class, None if that is too large to plan.
    """
    if oracle is not None and name in ORACLE:
        return _oracle_row(latent, name, evaluator, oracle.result)
    if oracle is not None and name in SIMPLER:
        return _simpler_row(latent, name, oracle.baselines.get(name))
    if name in ORACLE or (name in SIMPLER and name not in WITHOUT_PLANNING):
        raise InvalidArgument(
            f"this policy is planned by default only up to {LONGEST_ORACLE} steps",
            hint="give a shorter horizon, or name the policy with --policy",
        )
    check_time()
    least = None if oracle is None else oracle.average_gap.lower
    agent = build_policy(name, latent, horizon, seed=evaluator.seed)
    about = named_policy(name).about
    return _agent_row(latent, name, about, agent, horizon, evaluator, tell, least)


def brought_gaps(
    latent: LatentMDP,
    given: Any,
    horizon: int,
    evaluator: MonteCarlo,
    oracle: Oracle | None,
    tell: Tell,
) -> PolicyGaps:
    """Return the gaps of a policy that somebody brings: a file, a function, an object.

    Tables and policy graphs are certified, all others are run.
    """
    agent = brought_to_class(given, latent)
    about = "brought by you" + (f": {given}" if isinstance(given, str) else "")
    informed = isinstance(agent, BlackBox) and agent.informed
    least = None if oracle is None or informed else oracle.average_gap.lower
    return _agent_row(latent, agent.name, about, agent, horizon, evaluator, tell, least)


def fewer_runs(latent: LatentMDP, evaluator: MonteCarlo, notes: Notes) -> MonteCarlo:
    """Return an evaluator that runs agents less often in each of many models."""
    members, asked = len(latent.simulators), evaluator.episodes
    runs = max(FEWEST_RUNS, asked * MANY // (2 * members))
    if members <= MANY or evaluator.half_width is not None or runs >= asked:
        return evaluator
    notes.add(
        "fewer-runs",
        f"agents are run {runs} times in each of {members} models, not {asked}: naming "
        "them with --policy runs them as often as asked",
    )
    return replace(evaluator, episodes=runs)


def _oracle_row(
    latent: LatentMDP, name: str, evaluator: MonteCarlo, result: OracleResult
) -> PolicyGaps:
    if name == "oracle":
        exact = _around(result.gaps.tolist(), result.statistics.rounding)
        return _row(latent, name, ORACLE[name], exact)
    members, allowed = len(latent.simulators), 1.0 - evaluator.confidence
    runs = _tracked_runs(latent, result, evaluator.episodes)
    form = loss_form(latent, horizon=result.horizon)

    def tracked(confidence: float) -> tuple[Estimate, ...]:
        return estimated_gaps_per_model(
            form,
            result.belief_policy,
            episodes=runs * members,
            seed=evaluator.seed,
            confidence=confidence,
        )

    worst = greatest_of(tracked(1.0 - allowed / members), evaluator.confidence)
    each = tracked(evaluator.confidence)
    # the average has an estimate of its own, narrower than what models add up to
    average = result.estimated_gap
    if average is None:
        average = estimated_gap(
            form,
            result.belief_policy,
            episodes=runs * members,
            seed=evaluator.seed,
            confidence=evaluator.confidence,
        ).within(result.average_gap.lower, None)
    return _row(latent, name, ORACLE[name], each, worst=worst, average=average)


def _tracked_runs(latent: LatentMDP, result: OracleResult, asked: int) -> int:
    """Return how many episodes to run in each model, counted: fewer if many models."""
    members, policy = len(latent.simulators), result.belief_policy
    if members <= MANY:
        return asked
    kernel = latent.simulators.transitions
    vectors = 1 + len(policy.vectors) // max(1, policy.vector_offsets.size - 1)
    each = (result.horizon or 1) * kernel.nonzeros / kernel.n_states * vectors * members
    fit = int(MOST_WORK / (each * members))
    if fit < FEW:
        raise InvalidArgument(
            f"to run it in each of {members} models would take long",
            hint="simgap oracle estimates its average gap; or take fewer models",
        )
    return min(asked, fit)


def _simpler_row(
    latent: LatentMDP, name: str, found: BaselinePolicy | None
) -> PolicyGaps:
    """Return the row of a simpler policy: all of SIMPLER have tables."""
    if found is None or not found.models:
        check_time()  # it may have been left out for that
    if found is None:
        raise NotSolved("it was not planned", hint="compare with `baselines`")
    if not found.models:
        raise NotSolved(found.note, hint="a shorter horizon or a smaller class")
    off = (found.average_gap.upper - found.average_gap.lower) / 2.0
    gaps = _around(found.gaps, off)
    return _row(latent, name, found.about, gaps, average=found.average_gap)


def _agent_row(
    latent: LatentMDP,
    name: str,
    about: str,
    agent: Policy[Any],
    horizon: int,
    evaluator: MonteCarlo,
    tell: Tell,
    least: float | None,
) -> PolicyGaps:
    """Return the row of an agent: exact where that is cheap, else sampled.

    `least` is certified about the average loss of every policy that is not informed.
    """
    check_time()
    exact = _exact(latent, agent, horizon)
    if exact is not None:
        return _row(latent, name, about, exact)
    found = _sampled(latent, agent, name, horizon, evaluator, tell)
    return _row(
        latent,
        name,
        about,
        [each.gap for each in found],
        worst=worst_sampled(found, evaluator),
        average=average_sampled(found, latent.prior, evaluator).within(least, None),
    )


def _sampled(
    latent: LatentMDP,
    agent: Policy[Any],
    name: str,
    horizon: int,
    evaluator: MonteCarlo,
    tell: Tell,
) -> tuple[SampledGap, ...]:
    """Return the gap in every model; an informed agent is told which one it is."""
    worlds = latent.simulators

    def follow(done: int, whole: int) -> None:
        tell(f"measuring {name}: {done} of {whole} runs")

    if not (isinstance(agent, BlackBox) and agent.informed):
        return sampled_gaps(worlds, agent, horizon, evaluator, progress=follow)
    return tuple(
        found
        for m in range(len(worlds))
        for found in sampled_gaps(
            worlds,
            agent.told(parameters_of(worlds, m)),
            horizon,
            evaluator,
            models=[m],
            progress=follow,
        )
    )


def _exact(
    latent: LatentMDP, agent: Policy[Any], horizon: int
) -> tuple[Certified, ...] | None:
    few = horizon <= SHORT and not isinstance(agent, BlackBox)
    if not (isinstance(agent, MarkovPolicy | GraphPolicy) or few):
        return None
    try:
        limit = Exact(max_nodes=FEW_NODES)
        return exact_gaps(latent.simulators, agent, horizon, limit)
    except (NotSolved, InvalidArgument):
        return None  # too many histories, or an agent that draws at random: sample


def _around(gaps: Sequence[float], off: float) -> list[Certified]:
    """Return gaps that rounding may have moved by `off`."""
    return [Certified(max(0.0, gap - off), gap + off) for gap in gaps]


def _row(
    latent: LatentMDP,
    name: str,
    about: str,
    gaps: Sequence[Interval],
    *,
    worst: Estimate | None = None,
    average: Interval | None = None,
) -> PolicyGaps:
    """Return a row; of certified gaps the worst and the average are known."""
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
