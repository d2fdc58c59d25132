"""`simgap run`: an agent in its real models, for as long as one likes.

Every model of the class is made the real one in turn, and the agent is run in it with
as many seeds as asked for. The answer is what it lost there, with intervals, how often
it dropped the real model, and how fast it ran.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from simgap.cli.app.options import (
    AsJson,
    Guaranteed,
    Horizon,
    MaxBytes,
    Model,
    Seed,
    Threads,
)

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.base_policies import Entry
    from simgap.cli.verbs.run_answer import RunAnswer
    from simgap.instances import Continuum
    from simgap.mdp import LatentMDP
    from simgap.policies import Policy


def run(
    context: typer.Context,
    policy: Annotated[
        str, typer.Argument(metavar="POLICY", help="An agent; likelihood is the best.")
    ],
    model: Model,
    horizon: Horizon = None,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="K", help="Runs in every real model.")
    ] = "100",
    real: Annotated[
        str,
        typer.Option("--real", metavar="all|I", help="Which model is the real one."),
    ] = "all",
    seed: Seed = "0",
    threads: Threads = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit",
            metavar="S",
            help="Seconds of planning, for oracle; default 60.",
        ),
    ] = None,
    literal: Annotated[
        bool, typer.Option("--literal", help="The rule as the paper prints it.")
    ] = False,
    out: Annotated[
        str | None,
        typer.Option("--out", metavar="DIR", help="Write a record and a page there."),
    ] = None,
    guaranteed: Guaranteed = False,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Run an agent in real models and measure what it loses.

    POLICY is likelihood (the one to use), variance, posterior-sampling, elimination,
    optimistic, general, explore-then-commit, oracle, memoryless, mean-model, ucrl2,
    ucrl2b, psrl or random. With general a parameter of MODEL may be an interval a..b:
    the agent knows all of these models, infinitely many, and is run at the ends and in
    the middle.

    Example: simgap run likelihood 'riverswim?success=0.1:0.6:3&uniform=true' -H 1e6
    """
    from dataclasses import replace

    from simgap.cli.app.options import count_of, needed_horizon, seed_of, threads_of
    from simgap.cli.app.output import made_folder, print_json, working
    from simgap.cli.verbs.run_answer import run_answer
    from simgap.records import provenance

    entry = _entry(policy, model)
    steps, number = needed_horizon(horizon), seed_of(seed)
    runs = count_of(seeds, "--seeds", least=2, most=10**7)
    workers, limit = threads_of(threads), _limit(time_limit, policy)
    folder = None if out is None else made_folder(out)
    latent, continuum = _models(policy, model, max_bytes, literal=literal)
    chosen = _chosen(real, latent)
    notes: tuple[str, ...] = ()
    with working(f"preparing {policy}"):
        if continuum is None:
            agent = _agent(
                policy, latent, steps, seed=number, literal=literal, limit=limit
            )
        else:
            agent, notes = _on_continuum(continuum, latent, steps, number)
    answer = run_answer(
        latent,
        agent,
        entry,
        steps,
        models=chosen,
        runs=runs,
        seed=number,
        threads=workers,
        literal=literal,
        curves=folder is not None,
        guaranteed=guaranteed,
        provenance=provenance(
            command=str(context.obj),
            model=model,
            latent=latent,
            seed=number,
        ),
        notes=notes,
    )
    if folder is not None:
        answer = replace(answer, page=_written(answer, folder))
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _entry(policy: str, model: str) -> Entry:
    """Return the policy of a name, and see whether POLICY and MODEL are swapped."""
    from shlex import quote

    from simgap.base_policies import POLICIES, named_policy
    from simgap.errors import InvalidArgument

    names = [each.name for each in POLICIES]
    if policy not in names and model in names:
        raise InvalidArgument(
            f"there is no policy {policy[:60]!r}, but {model} is one",
            hint=f"POLICY comes first: simgap run {model} {quote(policy[:100])}",
        )
    return named_policy(policy)


def _models(
    policy: str, model: str, max_bytes: str | None, *, literal: bool
) -> tuple[LatentMDP, Continuum | None]:
    """Return the models that may be real, and the continuum they are points of."""
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of
    from simgap.cli.app.output import speak_of
    from simgap.errors import InvalidArgument
    from simgap.instances import continuum_of
    from simgap.interop import looks_like_file
    from simgap.mdp import LatentMDP

    continuum = None if looks_like_file(model) else continuum_of(model)
    if continuum is None:
        return read_model(model, max_bytes_of(max_bytes)).latent, None
    if policy != "general" or literal:
        key, (low, high) = next(iter(continuum.box.items()))
        what = "the printed rule" if literal else policy
        raise InvalidArgument(
            f"{what} needs finitely many models, and {key}={low:g}..{high:g} has "
            "infinitely many",
            hint=f"simgap run general takes them all; some of them are "
            f"{key}={low:g}:{high:g}:5",
        )
    latent = LatentMDP.uniform(continuum.points())
    speak_of(latent)
    return latent, continuum


def _on_continuum(
    continuum: Continuum, latent: LatentMDP, horizon: int, seed: int
) -> tuple[Policy[Any], tuple[str, ...]]:
    """Return Algorithm 4 for an infinite class, and what is promised of it."""
    from simgap.base_policies import OptimisticMixture, continuum_agent
    from simgap.planning import diameter

    found = continuum_agent(
        continuum.at, continuum.box, continuum.corners(), horizon, seed=seed
    )
    names = " and ".join(continuum.box)
    if not isinstance(found.policy, OptimisticMixture):
        return found.policy, (
            f"probabilities are no linear function of {names}: the models are covered "
            "by cells, with rates of change estimated from random pairs, and nothing "
            "is guaranteed",
        )
    from simgap.text import at_most

    far = float(diameter(latent.simulators).upper)
    promise = found.policy.guarantee(far)
    words = (
        f"loses at most {at_most(promise.gap, 4)} in every model of diameter {far:.4g}"
    )
    if promise.vacuous:
        words = "has a guarantee that says nothing at this horizon"
    return found.policy, (
        f"probabilities are linear in {names} (at all points tried): the models are "
        f"mixtures of {2 ** len(continuum.box)}, and Algorithm 4 {words}",
    )


def _limit(text: str | None, policy: str) -> float | None:
    """Return the seconds that planning may take; only the oracle plans for long."""
    from simgap.cli.app.options import seconds_of
    from simgap.errors import InvalidArgument

    limit = seconds_of(text)
    if limit is not None and policy != "oracle":
        raise InvalidArgument(
            f"--time-limit is for the oracle, {policy} does not plan that long",
            hint="leave it out",
        )
    return limit


def _agent(
    policy: str,
    latent: LatentMDP,
    horizon: int,
    *,
    seed: int,
    literal: bool,
    limit: float | None,
) -> Policy[Any]:
    from simgap.base_policies import build_policy

    if limit is None or literal:  # a literal oracle is refused there
        return build_policy(policy, latent, horizon, seed=seed, literal=literal)
    from simgap.oracle import AutoOracle, domain_randomization_oracle

    solver = AutoOracle(time_limit=limit, episodes=2, seed=seed)
    return domain_randomization_oracle(latent, horizon=horizon, solver=solver).policy


def _chosen(real: str, latent: LatentMDP) -> list[int]:
    """Return the models that are to be real: all, or one by number or name."""
    names = latent.simulators.model_names
    if real == "all":
        return list(range(len(names)))
    if real in names:
        return [names.index(real)]
    from simgap.cli.app.options import count_of
    from simgap.errors import InvalidArgument

    if not real.strip().lstrip("+-").isdigit():
        from difflib import get_close_matches

        near = get_close_matches(real, names, n=1)
        meant = f"did you mean {near[0][:60]!r}? " if near else ""
        raise InvalidArgument(
            f"there is no model {real[:60]!r}",
            hint=f"{meant}--real is all, a name, or a number from 0 to "
            f"{len(names) - 1}",
        )
    return [count_of(real, "--real", least=0, most=len(names) - 1)]


def _written(answer: RunAnswer, folder: Path) -> str:
    from simgap.records import write_record
    from simgap.report import write_explorer

    page = folder / "report.html"
    write_record(answer, folder / f"run-{answer.policy}.json")
    write_explorer(folder, page)
    return str(page)


def _print(answer: RunAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import gap_bracket, gap_number, how_sure, number, shown

    rows, mark = [], {"guaranteed": "", "approximate": "~"}
    levels = {each.gap.label: each.gap.confidence for each in answer.models}
    sure = ", ".join(f"{mark[at]}[ ]: {how_sure(at, levels[at])}" for at in levels)
    for each in answer.models:
        dropped = f"{each.truth_eliminated} of {answer.seeds}"
        noise = 1e-12 * max(1.0, abs(each.optimal))
        rows.append(
            (
                shown(each.name),
                gap_number(each.gap.estimate, noise, 5),
                mark[each.gap.label] + gap_bracket(each.gap, noise, 4),
                "-" if each.regret is None else number(each.regret.estimate, 5),
                dropped if answer.eliminates else "-",
                number(each.switches, 3),
                number(each.identified, 4),
            )
        )
    print_table(
        f"{answer.policy} in {shown(answer.provenance.model)}, {answer.horizon} steps",
        (
            "real model",
            "gap",
            "interval",
            "regret",
            "real model dropped",
            "switches",
            "settled at step",
        ),
        rows,
        f"estimated from {answer.seeds} runs in each model, {sure}; V* - V and H rho - "
        "rewards",
    )
    worst = max(answer.models, key=lambda each: each.gap.estimate)
    print_line(
        f"worst   {shown(worst.name)}: loses {number(worst.gap.estimate, 5)}, the best "
        f"policy earns {number(worst.optimal, 6)}"
    )
    print_line(
        f"speed   {number(answer.steps_per_second, 3)} steps per second, "
        f"{number(float(answer.steps_simulated), 4)} steps drawn"
    )
    for note in answer.notes:
        print_line(f"note    {note}")
    if answer.page is not None:
        print_line(f"page    {answer.page}")
