"""`simgap gap`: what each policy loses in each model that may be the real one.

Rows are policies, columns real models. Policies without memory and policy graphs have
certified gaps; agents whose histories are few enough to follow have them too; all
others are run with common random numbers and have intervals. Then what memory and
randomization are worth, and with --horizons how all of it grows with H.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.options import (
    AsJson,
    Guaranteed,
    Horizon,
    MaxBytes,
    Model,
    Out,
    Seed,
    Threads,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from simgap.answers import OverHorizons, PlannedClass
    from simgap.cli.verbs.gap_answer import GapAnswer
    from simgap.cli.verbs.gap_rows import PlannedPolicies
    from simgap.gap import MonteCarlo
    from simgap.intervals import Certified, Estimate
    from simgap.mdp import LatentMDP
    from simgap.oracle import AutoOracle, Outcome

NOISE = 1e-8  # a gap below this is shown as 0
GAP_TOLERANCE = 0.1
AT_HORIZONS = 100  # episodes of estimates that are not read
PLANNING_SECONDS = 60.0
LARGEST_CLASS = 200_000  # models times states, up to which theorems are put in


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    policy: Annotated[
        list[str] | None,
        typer.Option("--policy", metavar="P", help="One of them; may be repeated."),
    ] = None,
    horizons: Annotated[
        str | None,
        typer.Option(
            "--horizons",
            metavar="LIST",
            help="Also at these horizons: 10,50,200 or 10:200:5, or all for the "
            "usual ones.",
        ),
    ] = None,
    agents: Annotated[
        bool,
        typer.Option(help="Run agents that find out while they act, too."),
    ] = True,
    seeds: Annotated[
        str, typer.Option("--seeds", metavar="K", help="Runs where sampling is needed.")
    ] = "400",
    half_width: Annotated[
        str | None,
        typer.Option("--half-width", metavar="X", help="Run until intervals are ±X."),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(
            "--time-limit", metavar="S", help="Seconds of the oracle; default 60."
        ),
    ] = None,
    guaranteed: Guaranteed = False,
    seed: Seed = "0",
    threads: Threads = None,
    max_bytes: MaxBytes = None,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Compare policies: what each loses in each model that may be the real one.

    --policy is one of the agents of simgap run, or one planned for the class: oracle,
    oracle-belief, memoryless, mean-model, single-simulator, minimax, window-1,
    window-2. By default all that can be had are compared, with what memory and
    randomization are worth.

    Example: simgap gap 'riverswim?success=0.1:0.6:3&left_reward=0.4' -H 100
    """
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import (
        count_of,
        max_bytes_of,
        needed_horizon,
        positive_of,
        seconds_of,
        seed_of,
        threads_of,
    )
    from simgap.cli.app.output import made_folder, print_json
    from simgap.gap import MonteCarlo
    from simgap.oracle import AutoOracle
    from simgap.records import write_record
    from simgap.statistics import THIN

    asked = _checked(policy or ())
    steps, number = needed_horizon(horizon), seed_of(seed)
    others = horizons_of(horizons, steps)
    episodes = count_of(seeds, "--seeds", least=2, most=10**7)
    width = positive_of(half_width, "--half-width", hint="it is a loss above 0")
    limit = seconds_of(time_limit)
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    evaluator = MonteCarlo(
        episodes=episodes,
        seed=number,
        half_width=width,
        most_episodes=max(episodes, 10**6),
        threads=threads_of(threads),
        guaranteed=guaranteed or episodes < THIN,
    )
    solver = AutoOracle(
        gap_tolerance=GAP_TOLERANCE,
        time_limit=PLANNING_SECONDS if limit is None else limit,
        seed=number,
    )
    answer = answered(
        latent,
        steps,
        asked=asked,
        agents=agents,
        horizons=others,
        evaluator=evaluator,
        solver=solver,
        command=str(context.obj),
        model=model,
    )
    if folder is not None:
        write_record(answer, folder / "gap.json")
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def answered(
    latent: LatentMDP,
    horizon: int,
    *,
    asked: Sequence[str] = (),
    agents: bool = True,
    horizons: Sequence[int] = (),
    evaluator: MonteCarlo,
    solver: AutoOracle,
    planned: PlannedPolicies | None = None,
    command: str,
    model: str,
) -> GapAnswer:
    """Return the record; without `asked` it has all policies that can be had.

    A policy that was asked for and cannot be had is an error.
    """
    from simgap.answers import stakes
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.gap_answer import CERTAINTY, GapAnswer, horizon_gaps
    from simgap.cli.verbs.gap_rows import DEFAULT, PLANNED_ONLY, gap_table
    from simgap.cli.verbs.gap_runs import fewer_runs
    from simgap.planning import optimal_values
    from simgap.records import SCHEMA, provenance

    worlds, insist = latent.simulators, bool(asked)
    names = tuple(asked) or (DEFAULT if agents else PLANNED_ONLY)
    if planned is None and _worth_planning(latent, names, horizon, insist=insist):
        planned = _planned(latent, horizon, solver)
    evaluator, notes = (evaluator, ()) if insist else fewer_runs(latent, evaluator)
    with telling("measuring") as tell:
        table = gap_table(
            latent, names, horizon, evaluator, planned, insist=insist, tell=tell
        )
        known = None if planned is None else planned.known
        grown, more = (
            _grown(latent, horizons, solver, known, tell) if horizons else (None, ())
        )
    best = optimal_values(worlds, horizon)
    comparison, early = None, list[str]()
    if planned is not None:
        comparison = planned.comparison
        early = _limited(planned.result.outcome, "the oracle")
    stake = stakes(latent, horizon).average
    return GapAnswer(
        schema=SCHEMA,
        kind="gap",
        horizon=horizon,
        policies=table.policies,
        left_out=table.left_out,
        names=worlds.model_names,
        prior=tuple(latent.prior.tolist()),
        optimal=tuple(best.start.tolist()),
        rounding=float(best.error.max()),
        at_stake=stake.upper,
        memory=None if comparison is None else comparison.memory,
        value_of_memory=None if comparison is None else comparison.value_of_memory,
        value_of_randomization=None
        if comparison is None
        else comparison.value_of_randomization,
        trained=None if grown is None else grown.trained,
        by_horizon=None if grown is None else horizon_gaps(grown),
        certainty=dict(CERTAINTY),
        notes=(*notes, *early, *more),
        provenance=provenance(
            command=command, model=model, latent=latent, seed=evaluator.seed
        ),
    )


def horizons_of(text: str | None, horizon: int) -> tuple[int, ...]:
    """Return the horizons a text means: all is the usual ones up to the given one."""
    if text is None:
        return ()
    from simgap.answers import MOST_HORIZONS, usual_horizons
    from simgap.errors import InvalidArgument, InvalidInstance
    from simgap.instances import Kind, read_value

    if text.strip().lower() == "all":
        return usual_horizons(horizon)
    try:
        found = {round(float(x)) for x in read_value("horizons", text, Kind.POINTS)}
    except InvalidInstance as error:
        raise InvalidArgument(
            f"--horizons is {text[:60]!r}: {error.problem}",
            hint="write for instance 10,50,200 or 10:200:5, or all",
        ) from error
    if min(found) < 1 or max(found) > horizon:
        raise InvalidArgument(
            f"--horizons {text[:60]!r} go from {min(found)} to {max(found)}",
            hint=f"they are from 1 to the horizon -H {horizon}",
        )
    if len(found) > MOST_HORIZONS:
        raise InvalidArgument(
            f"--horizons names {len(found)} of them", hint=f"at most {MOST_HORIZONS}"
        )
    return tuple(sorted(found))


def _checked(asked: Sequence[str]) -> tuple[str, ...]:
    """Return the policies asked for, or say which name is wrong."""
    from difflib import get_close_matches

    from simgap.base_policies import POLICIES
    from simgap.cli.verbs.gap_rows import ORACLE, SIMPLER
    from simgap.errors import InvalidArgument

    known = list(dict.fromkeys([*ORACLE, *SIMPLER, *(each.name for each in POLICIES)]))
    for name in asked:
        if name not in known:
            near = get_close_matches(name.lower(), known, n=1)
            raise InvalidArgument(
                f"there is no policy {name[:60]!r}",
                hint=f"did you mean {near[0]}?"
                if near
                else f"the policies are {', '.join(known)}",
            )
    return tuple(dict.fromkeys(asked))


def _worth_planning(
    latent: LatentMDP, names: Sequence[str], horizon: int, *, insist: bool
) -> bool:
    """Return whether the oracle and simpler policies are planned at all."""
    from simgap.cli.verbs.gap_rows import (
        LARGEST_LOSSES,
        LONGEST_ORACLE,
        ORACLE,
        SIMPLER,
        WITHOUT_PLANNING,
    )
    from simgap.oracle import bytes_of_losses

    planned = {*ORACLE, *SIMPLER} - set(WITHOUT_PLANNING)
    if insist:
        return any(name in planned for name in names)
    small = bytes_of_losses(latent, horizon) <= LARGEST_LOSSES
    return horizon <= LONGEST_ORACLE and small


def _planned(latent: LatentMDP, horizon: int, solver: AutoOracle) -> PlannedPolicies:
    from simgap.cli.verbs.baseline_answer import compared
    from simgap.cli.verbs.gap_rows import PlannedPolicies
    from simgap.cli.verbs.oracle import plan

    result = plan(latent, horizon, None, solver)
    return PlannedPolicies(result, compared(latent, result, solver.seed))


def _limited(outcome: Outcome, what: str) -> list[str]:
    """Return what to know where planning ended before its tolerance."""
    from simgap.oracle import Outcome

    if outcome in (Outcome.EXACT, Outcome.SOLVED):
        return []
    told = f"{what}: planning {outcome.value}; the bracket is valid, wider than asked"
    late = outcome is Outcome.OUT_OF_TIME
    return [told + (", and differs from run to run" if late else "")]


def _grown(
    latent: LatentMDP,
    horizons: Sequence[int],
    solver: AutoOracle,
    known: PlannedClass | None,
    tell: Callable[[str], None],
) -> tuple[OverHorizons, tuple[str, ...]]:
    """Return gaps over horizons, with what theorems promise where that is cheap."""
    from dataclasses import replace

    from simgap.answers import measured_class, over_horizons

    worlds, notes = latent.simulators, []
    size, measured = len(worlds) * worlds.n_states, None
    if size <= LARGEST_CLASS:
        tell("measuring the class")
        measured = measured_class(latent, max(horizons))
    else:
        notes.append(
            f"no theorems over horizons: {size} states in all models, they are put in "
            f"up to {LARGEST_CLASS}; see simgap bounds"
        )
    quick = replace(solver, episodes=AT_HORIZONS)
    found = over_horizons(
        latent, horizons, solver=quick, measured=measured, planned=known, tell=tell
    )
    for each in found.horizons:
        notes += _limited(each.outcome, f"at H = {each.horizon}")
    if len(found.trained) < len(worlds):
        notes.append(
            f"plans of {len(found.trained)} of {len(worlds)} models, spread evenly, "
            "are shown in each other"
        )
    return found, tuple(notes)


def print_answer(answer: GapAnswer) -> None:
    """Print the table, and what memory and randomization are worth."""
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import shown, without_common_part

    names, common = without_common_part(list(answer.names))
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
        + "; an estimate is a number with its interval, guaranteed 95 % or, marked ~, "
        "approximately 95 %; the others are certified",
    )
    if len(names) > len(few):
        print_line(f"{len(names) - len(few)} more models; --json has them all")
    _print_worth(answer)
    for why in dict.fromkeys(answer.left_out.values()):
        left = [name for name, each in answer.left_out.items() if each == why]
        print_line(f"left out: {', '.join(left)}: {why}")
    for note in answer.notes:
        print_line(f"note: {note}")


def _print_worth(answer: GapAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.text import between, gap_bracket, number

    print_line(f"acting at random loses {number(answer.at_stake, 4)} (certified)")
    if answer.memory is not None:
        for line in answer.memory.sentences():
            print_line(line)
    if answer.value_of_memory is not None:
        print_line(f"memory is worth {between(answer.value_of_memory)} (certified)")
    if answer.value_of_randomization is not None:
        print_line(
            "training on all models instead of the best single one is worth "
            f"{between(answer.value_of_randomization)} (certified)"
        )
    if answer.by_horizon:
        print_table(
            "as episodes get longer",
            ("H", "oracle", "without memory", "at random", "least theorem"),
            [
                (
                    str(each.horizon),
                    gap_bracket(each.average_gap, NOISE, 4),
                    gap_bracket(each.memoryless, NOISE, 4),
                    number(each.random, 4),
                    number(min((b.value for b in each.bounds), default=None), 4),
                )
                for each in answer.by_horizon
            ],
            "average loss, certified; theorems bound the oracle's loss in any model",
            texts=0,
        )


def _told(gap: Certified | Estimate) -> str:
    from simgap.intervals import Estimate
    from simgap.text import ends, gap_bracket, gap_number

    if isinstance(gap, Estimate):
        middle = gap_number(gap.estimate, NOISE, 4)
        mark = "" if gap.label == "guaranteed" else "~"
        low, high = (0.0 if abs(e) <= NOISE else e for e in (gap.lower, gap.upper))
        shown = ends(low, high, 3)
        return middle if len(shown) == 1 else f"{middle} {mark}[{', '.join(shown)}]"
    return gap_bracket(gap, NOISE, 4)
