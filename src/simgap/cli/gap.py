"""`simgap gap`: what each policy loses in each model that may be the real one.

Rows are policies, columns real models. Policies without memory and policy graphs have
exact gaps; agents whose histories are few enough to follow have exact ones too; all
others are run with common random numbers and have intervals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from simgap.cli.options import AsJson, Horizon, MaxBytes, Model, Seed, Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simgap.gap.evaluator import MonteCarlo
    from simgap.mdp import LatentMDP
    from simgap.policies.interface import Policy
    from simgap.records import Certified, Provenance
    from simgap.simulation.runs import Progress
    from simgap.statistics import Estimate

DEFAULT = (
    "oracle",
    "likelihood",
    "posterior-sampling",
    "elimination",
    "optimistic",
    "general",
    "memoryless",
    "mean-model",
    "random",
)
LONGEST_ORACLE = 2_000  # steps up to which the oracle is in the default table
NOISE = 1e-8  # a gap below this is shown as 0
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
class GapAnswer:
    """The record of `simgap gap`."""

    schema: int
    horizon: int
    policies: tuple[PolicyGaps, ...]
    left_out: dict[str, str]  # policies that cannot be had here, and why
    optimal: tuple[float, ...]  # V* of every model
    seconds: float
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="P", help="One of them; may be repeated."),
    ] = None,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="K", help="Runs where sampling is needed.")
    ] = "400",
    half_width: Annotated[
        str | None,
        typer.Option("--half-width", metavar="X", help="Run until intervals are ±X."),
    ] = None,
    seed: Seed = "0",
    threads: Threads = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies: what each loses in each model that may be the real one.

    --policy is one of the agents of simgap run; by default oracle, likelihood,
    posterior-sampling, elimination, optimistic, general, memoryless, mean-model and
    random are compared.

    Example: simgap gap 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 100
    """
    from time import perf_counter

    from simgap.base_policies.catalogue import named_policy
    from simgap.cli.models import read_model
    from simgap.cli.options import (
        count_of,
        needed_horizon,
        positive_of,
        seed_of,
        threads_of,
    )
    from simgap.cli.output import print_json
    from simgap.gap.evaluator import MonteCarlo
    from simgap.planning import optimal_values
    from simgap.records import SCHEMA, provenance

    for name in policy or ():
        named_policy(name)
    steps, number = needed_horizon(horizon), seed_of(seed)
    episodes = count_of(seeds, "--seeds", least=2, most=10**7)
    width = positive_of(half_width, "--half-width", hint="it is a loss above 0")
    begin = perf_counter()
    latent = read_model(model, max_bytes)
    evaluator = MonteCarlo(
        episodes=episodes,
        seed=number,
        half_width=None
        if width is None
        else width / abs(latent.simulators.units.factor),
        most_episodes=max(episodes, 10**6),
        threads=threads_of(threads),
    )
    found, left_out = _all_gaps(latent, tuple(policy or ()), steps, evaluator)
    units = latent.simulators.units
    best = optimal_values(latent.simulators, steps).start
    answer = GapAnswer(
        schema=SCHEMA,
        horizon=steps,
        policies=found,
        left_out=left_out,
        optimal=tuple(units.total(float(v), steps) for v in best),
        seconds=perf_counter() - begin,
        provenance=provenance(
            command=str(context.obj), model=model, model_hash=latent.hash, seed=number
        ),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer, latent)


def _all_gaps(
    latent: LatentMDP, asked: tuple[str, ...], horizon: int, evaluator: MonteCarlo
) -> tuple[tuple[PolicyGaps, ...], dict[str, str]]:
    """Return gaps of the policies; of the default ones those that can be had."""
    from simgap.base_policies.catalogue import build_policy, named_policy
    from simgap.cli.output import telling
    from simgap.errors import SimgapError

    found, left_out = [], {}
    with telling("measuring") as tell:

        def follow(done: int, whole: int) -> None:
            tell(f"measuring: {done} of {whole} runs")

        for name in asked or DEFAULT:
            if not asked and name == "oracle" and horizon > LONGEST_ORACLE:
                left_out[name] = f"planned by default up to {LONGEST_ORACLE} steps only"
                continue
            tell(f"measuring {name}")
            try:
                agent = build_policy(name, latent, horizon, seed=evaluator.seed)
                found.append(
                    _gaps(
                        latent,
                        agent,
                        name,
                        named_policy(name).about,
                        horizon,
                        evaluator,
                        follow,
                    )
                )
            except SimgapError as error:
                if asked:
                    raise
                left_out[name] = error.problem
    return tuple(found), left_out


def _gaps(
    latent: LatentMDP,
    agent: Policy[Any],
    name: str,
    about: str,
    horizon: int,
    evaluator: MonteCarlo,
    follow: Progress,
) -> PolicyGaps:
    """Return the gaps of one policy: exact where that is cheap, else sampled."""
    from simgap.errors import InvalidArgument, NotSolved
    from simgap.gap.evaluator import Exact
    from simgap.gap.exact import exact_gaps
    from simgap.gap.measure import average_of, worst_of
    from simgap.gap.sampled import sampled_gaps, worst_sampled
    from simgap.policies.graph import GraphPolicy
    from simgap.policies.markov import MarkovPolicy

    worlds, factor = latent.simulators, abs(latent.simulators.units.factor)
    exact: tuple[Certified, ...] | None = None
    if isinstance(agent, MarkovPolicy | GraphPolicy) or horizon <= SHORT:
        try:
            exact = exact_gaps(worlds, agent, horizon, Exact(max_nodes=FEW_NODES))
        except (NotSolved, InvalidArgument):
            exact = None  # too many histories, or luck of its own: sample
    gaps: Sequence[Certified | Estimate]
    worst: Certified | Estimate
    if exact is None:
        told = sampled_gaps(worlds, agent, horizon, evaluator, progress=follow)
        gaps = tuple(each.gap for each in told)
        worst = worst_sampled(told, evaluator.confidence)
    else:
        gaps, worst = exact, worst_of(exact)
    return PolicyGaps(
        name=name,
        about=about,
        certainty="estimated" if exact is None else "certified",
        models=tuple(
            ModelGap(m, _in_units(g, factor))
            for m, g in zip(worlds.model_names, gaps, strict=True)
        ),
        average=_in_units(average_of(gaps, latent.prior), factor),
        worst=_in_units(worst, factor),
    )


def _in_units(gap: Certified | Estimate, factor: float) -> Certified | Estimate:
    from dataclasses import replace

    if factor == 1.0 or gap.lower is None or gap.upper is None:
        return gap
    lower, upper = factor * gap.lower, factor * gap.upper
    from simgap.statistics import Estimate

    if isinstance(gap, Estimate):
        return replace(gap, estimate=factor * gap.estimate, lower=lower, upper=upper)
    return replace(gap, lower=lower, upper=upper)


def _print(answer: GapAnswer, latent: LatentMDP) -> None:
    from simgap.cli.output import print_line, print_table
    from simgap.report.words import shown, without_common_part

    names, common = without_common_part(list(latent.simulators.model_names))
    few = names[:6]
    print_table(
        f"what is lost in {answer.horizon} steps in {shown(answer.provenance.model)}",
        ("policy", "average", "worst", *(shown(n, 12) for n in few)),
        [
            (
                each.name,
                _told(each.average),
                _told(each.worst),
                *(_told(m.gap) for m in each.models[: len(few)]),
            )
            for each in answer.policies
        ],
        "by real model"
        + (f" ({common})" if common else "")
        + "; ± is an estimate's 95 % interval, the others are certified",
    )
    if len(names) > len(few):
        print_line(f"{len(names) - len(few)} more models; --json has them all")
    for why in dict.fromkeys(answer.left_out.values()):
        names = [name for name, each in answer.left_out.items() if each == why]
        print_line(f"left out: {', '.join(names)}: {why}")


def _told(gap: Certified | Estimate) -> str:
    from simgap.report.words import gap_bracket, number
    from simgap.statistics import Estimate

    if isinstance(gap, Estimate):
        half = max(gap.upper - gap.estimate, gap.estimate - gap.lower)
        return f"{number(gap.estimate, 4)} ± {number(half, 2)}"
    return gap_bracket(gap, NOISE, 4)
