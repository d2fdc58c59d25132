"""How wide to randomize a simulator: policies of narrower and wider ranges, graded.

The widths are parts of the user's ranges (`continuous.narrowed`). A policy is trained
on each, and that of a wider range begins with the weights that a narrower one had. All
are measured over the user's ranges and beyond them, at the same points with the same
starts and noise, and each over its own ranges. Training on all that may be real is best
on average if training is perfect; it is not, and what a narrower range loses may be
less than what a wider one costs to learn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from simgap.answers.planned_class import Tell
from simgap.answers.train.asked import asked_training
from simgap.answers.train.train import seeds_from
from simgap.answers.width.choice import Choice, chosen_width
from simgap.answers.width.trained_widths import (
    graded_widths,
    trained_widths,
    widths_by_function,
)
from simgap.continuous import ENOUGH_SEEDS, TrainFunction, compared, narrowed
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.records.kept import write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance
from simgap.records.train import Train
from simgap.records.width_run import WidthReturns, WidthRun
from simgap.text import bracket, counted, number
from simgap.user_files import made_folder

WIDTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
MOST_WIDTHS = 8
FOLDER, RECORD = "simgap-run", "width_run.json"


def width_run(
    simulator: Any,
    *,
    randomize: Any,
    widths: Sequence[float] = WIDTHS,
    memory: str = "gru",
    seeds: int = 3,
    steps: int | None = None,
    horizon: int | None = None,
    noise: str = "",
    slack: float = 0.05,
    settings: dict[str, Any] | None = None,
    train_fn: TrainFunction | None = None,
    design: str = "sobol:128",
    episodes: int = 8,
    beyond: float = 1.5,
    checked: bool = True,
    allow_different_machine: bool = False,
    longer: Train | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    workers: int = 1,
    out: Path | str | None = None,
    progress: Tell = lambda _: None,
) -> WidthRun:
    """Return what policies get that were trained on parts of the ranges of nu.

    A width is a part of every range, about the nominal value: 0 is one point, 1 all of
    `randomize`. There are `seeds` policies for each width, of `steps` steps in all, the
    steps of the narrower ones that it began with among them. Recommended is the
    narrowest width whose mean return over `randomize` is at most `slack` times what is
    at stake below that of the best one; at stake is what that one gets more than
    random actions. Where intervals, which allow for other training seeds, do not say
    which it is, the answer is undecided. Everything is kept in the folder `out`,
    simgap-run unless it is given; what was stopped goes on.

    `longer` is another training over all of the ranges, usually of more steps. If it
    gets more than every width, these had not converged, and the answer is undecided.

    With a `train_fn` as for `simgap.train` policies are trained by it, each from
    nothing, and the record alone is kept, if `out` is given.
    """
    every = _checked_widths(widths)
    if not (isfinite(slack) and 0.0 <= slack <= 1.0):
        raise InvalidArgument(
            f"slack is {slack!r}", hint="it is a part of what is at stake, such as 0.05"
        )
    asked = asked_training(
        simulator,
        randomize=randomize,
        memory=memory,
        informed=False,
        nominal=False,
        at=None,
        horizon=horizon,
        noise=noise,
        checked=checked,
    )
    if not asked.told.varying:
        raise InvalidArgument(
            f"nothing varies in {asked.told.to_string() or 'the randomization'}",
            hint="give a range to be narrowed: mass=0.5..2.0",
            code="nothing-varies",
        )
    parts = [narrowed(asked.told, each) for each in every]
    numbers = seeds_from(seed, seeds)
    folder = Path(out or FOLDER)
    if train_fn is None:
        trained = trained_widths(
            simulator,
            asked,
            every,
            parts,
            seeds=numbers,
            steps=steps,
            noise=noise,
            settings=settings,
            allow_different_machine=allow_different_machine,
            workers=workers,
            out=folder,
            progress=progress,
        )
    else:
        trained = widths_by_function(
            train_fn,
            simulator,
            asked,
            every,
            parts,
            seeds=numbers,
            noise=noise,
            progress=progress,
        )
    found = graded_widths(
        simulator,
        asked,
        trained.trainings,
        parts,
        longer=longer,
        noise=noise,
        design=design,
        episodes=episodes,
        beyond=beyond,
        confidence=confidence,
        seed=seed,
        workers=workers,
        folder=None if train_fn is not None else folder,
        progress=progress,
    )
    progress("computing intervals")
    best = max(each.mean.estimate for each in found.policies)
    at_stake = best - found.random.mean.estimate
    spare = slack * max(0.0, at_stake)
    choice = chosen_width(
        found.cube,
        [each.name for each in found.policies],
        found.where.drawn,
        spare=spare,
        confidence=confidence,
    )
    cost, ahead = trained.steps, None
    if found.longer is not None:
        ahead = compared(
            found.cube,
            found.longer.name,
            found.policies[choice.best].name,
            found.where.drawn,
            confidence=confidence,
        ).mean.value
    verdict = decided(
        choice,
        every,
        seeds=seeds,
        at_stake=at_stake,
        steps=cost,
        converged=[each.converged for each in trained.trainings],
        ahead=ahead,
        spare=spare,
    )
    answer = WidthRun(
        simulator=asked.simulator.name,
        randomize=asked.told.to_string(),
        noise=noise,
        horizon=asked.horizon,
        memory=asked.memory.text,
        trainings=seeds,
        steps=cost,
        training_steps=trained.total,
        episodes=found.episodes,
        measured_steps=found.steps,
        design=design,
        beyond=beyond,
        widths=tuple(
            WidthReturns(
                width=each,
                randomize=part.to_string(),
                mean=policy.mean,
                worst=policy.worst,
                inside=inside,
                beyond=policy.beyond,
                behind=None if behind is None else behind.value,
                evaluation=None if behind is None else behind.evaluation,
                seed_spread=None if behind is None else behind.spread,
                verdict=word,
                converged=training.converged,
            )
            for each, part, policy, inside, behind, word, training in zip(
                every,
                parts,
                found.policies,
                found.inside,
                choice.behind,
                choice.verdicts,
                trained.trainings,
                strict=True,
            )
        ),
        random=found.random.mean,
        longer=None if found.longer is None else found.longer.mean,
        at_stake=at_stake,
        slack=slack,
        spare=spare,
        best=every[choice.best],
        recommended=verdict.recommended,
        guess=every[choice.guess],
        outcome="undecided" if verdict.recommended is None else "recommended",
        reason="",
        confidence=confidence,
        notes=(
            *verdict.notes,
            *_of_trainings(trained.trainings),
            *_cost(cost, len(every)),
            *found.where.notes,
            *found.notes,
        ),
        certainty={
            "widths": "estimated",
            "random": "estimated",
            "at_stake": "estimated",
            "episodes": "exact",
            "measured_steps": "exact",
            "training_steps": "exact",
        },
        provenance=provenance(
            command="", model=asked.simulator.name, latent=None, seed=seed
        ),
    )
    answer = replace(answer, reason=reason_of(answer))
    if train_fn is None or out is not None:
        made_folder(folder)
        write_record(answer, folder / RECORD)
    return answer


def _checked_widths(widths: Sequence[float]) -> tuple[float, ...]:
    """Return the widths from the narrowest on."""
    every = tuple(sorted({float(f"{each:g}") for each in widths}))
    if not 2 <= len(every) <= MOST_WIDTHS:
        raise InvalidArgument(
            f"{len(every)} widths",
            hint=f"give 2 to {MOST_WIDTHS} different ones: 0,0.25,0.5,0.75,1",
            code="no-such-width",
        )
    return every


def _of_trainings(trainings: Sequence[Train]) -> Iterator[Note]:
    """Yield what a reader must know of the trainings, once for all of them."""
    yield from (each for each in trainings[0].notes if each.code == "few-seeds")
    rough = [each.name for each in trainings if each.converged is False]
    if rough:
        yield Note(
            "not-converged",
            f"{', '.join(rough)}: not every training converged; with more --steps the "
            "answer may be another one",
        )


def _cost(steps: int | None, widths: int) -> tuple[Note, ...]:
    if steps is None:
        return (
            Note(
                "cost-not-counted",
                "steps of a trainer of your own are not counted: give every width the "
                "same number of them",
            ),
        )
    return (
        Note(
            "equal-cost",
            f"every policy has had {steps} steps of the simulator in all; that of a "
            f"wider range spent a part of them, 1 / {widths} for each, on narrower "
            "ranges",
        ),
    )


class Decided(NamedTuple):
    """The width to train on; None with a note that says why not."""

    recommended: float | None
    notes: tuple[Note, ...] = ()


def decided(
    choice: Choice,
    widths: Sequence[float],
    *,
    seeds: int,
    at_stake: float,
    steps: int | None,
    converged: Sequence[bool | None],
    ahead: Estimate | None,
    spare: float,
) -> Decided:
    """Return the recommended width, or why there is none.

    `ahead` is what a longer training over all of the ranges gets more than the best
    width. A width whose trainings had not converged might be better or good enough, so
    that none is recommended instead of it.
    """
    length = "" if steps is None else f" of {steps} steps"
    short = f"trainings{length} had not converged"
    if ahead is not None and ahead.lower > spare:
        text = (
            f"{short}: a longer one over all of the ranges gets {bracket(ahead, 3)} "
            "more than the best of them"
        )
        return Decided(None, (Note("trainings-too-short", text),))
    if not at_stake > 0.0:
        text = "no policy gets more than random actions: train longer"
        return Decided(None, (Note("nothing-learnt", text),))
    if seeds < ENOUGH_SEEDS:
        text = (
            f"{counted(seeds, 'training')} of each width say nothing of other "
            f"trainings: give --seeds 5, or {ENOUGH_SEEDS} at least"
        )
        return Decided(None, (Note("too-few-seeds", text),))
    rough = [
        number(width, 3)
        for at, (width, each) in enumerate(zip(widths, converged, strict=True))
        if each is False and at != choice.recommended
    ]
    if rough:
        text = f"{short} (widths {', '.join(rough)}), and longer ones may order them "
        text += "otherwise: more --steps"
        return Decided(None, (Note("trainings-too-short", text),))
    if choice.recommended is not None:
        return Decided(widths[choice.recommended])
    rivals = [
        number(width, 3)
        for width, each in zip(widths, choice.verdicts, strict=True)
        if each != "not enough"
    ]
    text = (
        f"intervals do not tell which of the widths {', '.join(rivals)} is the "
        f"narrowest that is good enough: {_what_helps(choice)}"
    )
    return Decided(None, (Note("widths-not-separated", text),))


def reason_of(found: WidthRun) -> str:
    """Return what is recommended and why, in a few sentences."""
    by_width = {each.width: each for each in found.widths}
    best, guess = by_width[found.best], by_width[found.guess]
    part = (
        f"{number(100.0 * found.slack, 3)} % of what the best width gets more than "
        "random actions"
    )
    if found.recommended is None:
        why = found.notes[0]
        if why.code != "widths-not-separated":
            return f"Undecided: {why.text}."
        return (
            f"Undecided: {why.text}. Of these trainings width {number(best.width, 3)} "
            f"has the greatest mean, {bracket(best.mean, 4)}; "
            f"{number(guess.width, 3)} is the narrowest whose mean is at most "
            f"{number(found.spare, 3)} less, {part}."
        )
    chosen = by_width[found.recommended]
    told = [f"Train on {_part(chosen)}: {chosen.randomize}."]
    if chosen is best:
        told.append("It has the greatest mean return over all ranges.")
    else:
        told.append(
            f"It gets at most {number(found.spare, 3)} less than the best width, "
            f"{number(best.width, 3)}; that is {part}."
        )
    narrower = [each for each in found.widths if each.width < chosen.width]
    if narrower:
        last = narrower[-1]
        lost = "" if last.behind is None else f", {bracket(last.behind, 3)}"
        told.append(f"Width {number(last.width, 3)} is further behind{lost}.")
    return " ".join(told)


def _part(chosen: WidthReturns) -> str:
    if chosen.width == 0.0:
        return "one point"
    if chosen.width == 1.0:
        return "all of the ranges"
    return f"{number(chosen.width, 3)} of the ranges"


def _what_helps(choice: Choice) -> str:
    """Return whether trainings or episodes are what is missing."""
    known = [each for each in choice.behind if each is not None]
    seeds = sum(each.value.upper - each.value.lower for each in known)
    episodes = sum(each.evaluation.upper - each.evaluation.lower for each in known)
    if seeds > 2.0 * episodes:
        return "trainings differ too much, more --seeds or --steps would tell"
    return "measure at more points or in more episodes: --design, --episodes"
