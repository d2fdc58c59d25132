"""Which width of the ranges to train on, and why, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simgap.answers.width.choice import Choice
from simgap.continuous import ENOUGH_SEEDS
from simgap.records import Note, WidthReturns, WidthRun
from simgap.text import bracket, counted, number


class Decided(NamedTuple):
    """The width to train on; None with a note that says why not."""

    recommended: float | None
    notes: tuple[Note, ...] = ()


def decided(
    choice: Choice, widths: Sequence[float], *, seeds: int, at_stake: float
) -> Decided:
    """Return the recommended width, or why there is none."""
    if not at_stake > 0.0:
        text = "no policy gets more than random actions: train longer"
        return Decided(None, (Note("nothing-learnt", text),))
    if seeds < ENOUGH_SEEDS:
        text = (
            f"{counted(seeds, 'training')} of each width say nothing of other "
            f"trainings: give --seeds 5, or {ENOUGH_SEEDS} at least"
        )
        return Decided(None, (Note("too-few-seeds", text),))
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
        return (
            f"Width {number(best.width, 3)} has the greatest mean, "
            f"{bracket(best.mean, 4)}. {number(guess.width, 3)} seems to be the "
            f"narrowest that gets at most {number(found.spare, 3)} less, {part}."
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
