"""`simgap identify`: how fast models are told apart, and what the oracle finds out.

Pairs belong to the best experiment, the timeline to the oracle, which wants reward and
learns on the way. Without -H there is no oracle, and the timeline is null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.app.options import AsJson, Horizon, MaxBytes, Model, Out, Seed
from simgap.cli.verbs.identify_words import print_answer
from simgap.intervals import Certified, Estimate
from simgap.records import Provenance

if TYPE_CHECKING:
    from simgap.answers import Identification, IdentifySettings, TellingApart
    from simgap.mdp import LatentMDP, SimulatorClass
    from simgap.oracle import OracleResult

__all__ = ["IdentifyAnswer", "answered", "print_answer", "run"]

GUESS = "it is the chance of a wrong guess: above 0 and below 0.5, such as 0.05"
PART = "it is a part of the loss above 0 and below 1, such as 0.2"
UNSEEN = (
    "states are seen, rewards are not; steps are counted from the start of one run "
    "without resets, and both models of a pair are equally likely beforehand"
)


@final
@dataclass(frozen=True, slots=True)
class PairAnswer:
    """How fast two models can be told apart, and where to look."""

    first: int
    second: int
    first_name: str
    second_name: str
    state: int | None  # where one visit tells most, of the places both models reach
    action: int | None
    state_name: str | None
    action_name: str | None
    distance: float  # of the two kernels there, in L1
    affinity: float  # Bhattacharyya coefficient there
    visits: int | None  # to that place alone; None: there is none, or 10^15 are too few
    steps: Certified  # whole numbers; inf: never


@final
@dataclass(frozen=True, slots=True)
class KnownModel:
    """What the oracle believes of one model if that is the real one."""

    name: str
    prior: float
    posterior: tuple[Estimate, ...]  # one for each step


@final
@dataclass(frozen=True, slots=True)
class TimelineAnswer:
    """Mean posterior of the real model under the oracle."""

    steps: tuple[int, ...]
    models: tuple[KnownModel, ...]
    computed: int  # of the steps: the first so many are exact up to rounding
    episodes: int | None  # sampled in each model for the other steps
    average_gap: Certified  # of the oracle; the policy followed attains the upper end


@final
@dataclass(frozen=True, slots=True)
class IdentifyAnswer:
    """The record of `simgap identify`."""

    schema: int
    kind: str
    horizon: int | None
    error: float
    names: tuple[str, ...]
    pairs: tuple[PairAnswer, ...]
    slowest: int | None  # in `pairs`
    timeline: TimelineAnswer | None
    certainty: dict[str, str]
    notes: tuple[str, ...]
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    horizon: Horizon = None,
    error: Annotated[
        str,
        typer.Option(
            "--error", metavar="E", help="Chance of a wrong guess that is allowed."
        ),
    ] = "0.05",
    episodes: Annotated[
        str,
        typer.Option(
            "--episodes", metavar="K", help="At most, in each model of the timeline."
        ),
    ] = "5000",
    gap_tolerance: Annotated[
        str,
        typer.Option(
            "--gap-tolerance",
            metavar="R",
            help="Plan until the bracket of the oracle's loss is this part of it.",
        ),
    ] = "0.2",
    time_limit: Annotated[
        str,
        typer.Option("--time-limit", metavar="S", help="Seconds of planning."),
    ] = "60",
    seed: Seed = "0",
    out: Out = None,
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Say how fast models are told apart, and with -H what the oracle finds out.

    For each pair: the steps that the best experiment needs, between two whole numbers,
    and the state and action to look at. With -H: the probability that the oracle's
    posterior gives to the real model, over time.

    Example: simgap identify 'riverswim?states=6&success=0.2:0.5:4' -H 100
    """
    from simgap.answers import IdentifySettings
    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import (
        count_of,
        horizon_of,
        part_of,
        seconds_of,
        seed_of,
    )
    from simgap.cli.app.output import made_folder, print_json
    from simgap.errors import InvalidArgument
    from simgap.oracle import AutoOracle
    from simgap.records import write_record

    steps, number = horizon_of(horizon), seed_of(seed)
    if steps == 0:
        raise InvalidArgument("the horizon -H is 0", hint="it is 1 or more")
    guess = part_of(error, "--error", hint=GUESS)
    if guess is None or guess >= 0.5:
        raise InvalidArgument(f"--error is {error}", hint=GUESS)
    settings = IdentifySettings(
        error=guess,
        episodes=count_of(episodes, "--episodes", least=2, most=10**6),
        seed=number,
        solver=AutoOracle(
            gap_tolerance=part_of(gap_tolerance, "--gap-tolerance", hint=PART),
            time_limit=seconds_of(time_limit),
            episodes=2,  # its estimate is not asked for
            seed=number,
        ),
    )
    folder = None if out is None else made_folder(out)
    latent = read_model(model, max_bytes)
    answer = answered(latent, steps, settings, command=str(context.obj), model=model)
    if folder is not None:
        write_record(answer, folder / "identify.json")
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)


def answered(
    latent: LatentMDP,
    horizon: int | None,
    settings: IdentifySettings | None = None,
    *,
    oracle: OracleResult | None = None,
    command: str,
    model: str,
) -> IdentifyAnswer:
    """Return the record of a class; an oracle of this horizon need not be planned."""
    from simgap.answers import IdentifySettings, identify
    from simgap.cli.app.output import telling
    from simgap.cli.verbs.oracle import plan
    from simgap.oracle import Outcome
    from simgap.records import SCHEMA, provenance

    chosen = settings or IdentifySettings()
    if horizon is not None and oracle is None:
        oracle = plan(latent, horizon, None, chosen.solver)
        if oracle.outcome is Outcome.INTERRUPTED:  # the whole answer is meant
            raise KeyboardInterrupt
    with telling("comparing models") as tell:
        found = identify(latent, horizon, settings=chosen, oracle=oracle, progress=tell)
    return IdentifyAnswer(
        schema=SCHEMA,
        kind="identify",
        horizon=horizon,
        error=found.error,
        names=latent.simulators.model_names,
        pairs=tuple(_pair(latent.simulators, each) for each in found.pairs),
        slowest=found.slowest,
        timeline=None if oracle is None else _timeline(latent, found, oracle),
        certainty=_certainty(found),
        notes=(UNSEEN, *found.notes),
        provenance=provenance(
            command=command, model=model, latent=latent, seed=chosen.seed
        ),
    )


def _pair(simulators: SimulatorClass, found: TellingApart) -> PairAnswer:
    names, labels = simulators.model_names, simulators.labels
    return PairAnswer(
        first=found.first,
        second=found.second,
        first_name=names[found.first],
        second_name=names[found.second],
        state=found.state,
        action=found.action,
        state_name=None if found.state is None else labels.state(found.state),
        action_name=None if found.action is None else labels.action(found.action),
        distance=found.distance,
        affinity=found.affinity,
        visits=found.visits,
        steps=found.steps,
    )


def _timeline(
    latent: LatentMDP, found: Identification, oracle: OracleResult
) -> TimelineAnswer | None:

    timeline, names = found.timeline, latent.simulators.model_names
    if timeline is None:
        return None
    return TimelineAnswer(
        steps=timeline.steps,
        models=tuple(
            KnownModel(
                name=names[each.model],
                prior=float(latent.prior[each.model]),
                posterior=each.posterior,
            )
            for each in timeline.models
        ),
        computed=timeline.computed,
        episodes=timeline.episodes,
        average_gap=oracle.average_gap,
    )


def _certainty(found: Identification) -> dict[str, str]:
    # a distance is a sum of a few numbers: certified to twelve digits
    certainty = {"steps": "certified", "distance": "certified", "visits": "exact"}
    if found.timeline is not None:
        sampled = found.timeline.episodes is not None
        certainty["timeline"] = "estimated" if sampled else "certified"
        certainty["average_gap"] = "certified"
    return certainty
