"""The answer of `blame` in a sentence, and what its reader must know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simgap.answers.blame.hidden_losses import HiddenLosses
from simgap.answers.blame.hidden_parts import UNNAMED, HiddenParts
from simgap.intervals import Certified, Estimate, Interval
from simgap.records.blame import BlamedParameter
from simgap.records.note import Note, Notes
from simgap.text import number, percent_of, shown

EQUAL = 0.98  # of the larger share: two shares that are as good as the same


def headline(
    parameters: Sequence[BlamedParameter],
    whole: Certified,
    leader: int | None,
    *,
    noise: float,
) -> str:
    """Return one sentence: what to measure first, and how sure that is."""
    if whole.upper <= noise:
        return "Nothing to measure: not knowing the real model costs nothing."
    first, *others = sorted(parameters, key=lambda each: -each.share.middle)
    if leader is not None:
        first = parameters[leader]
        others = [each for at, each in enumerate(parameters) if at != leader]
    name, upper = shown(first.name), number(whole.upper, 3)
    if not others and name == UNNAMED:
        return (
            f"The models have no parameters: all of the loss of {upper} comes from not "
            "knowing which one is real."
        )
    if all(each.share.upper <= 0.0 for each in others):
        return f"Measure {name}: nothing else causes any of the loss of {upper}."
    sure = "estimated" if isinstance(first.share, Estimate) else "certified"
    if leader is not None:
        return f"Measure {name} first: it causes {_percent(first.part)} ({sure})."
    lowest = first.share.lower - noise
    rivals = [each for each in others if each.share.upper >= lowest]
    if all(each.share.lower >= EQUAL * first.share.upper for each in rivals):
        together = " and ".join(shown(each.name) for each in (first, *rivals))
        return (
            f"Measure {together}: they cause the same, {_percent(first.part)} each "
            f"({sure})."
        )
    together = " or ".join(shown(each.name) for each in (first, *rivals[:3]))
    way = (
        "more --permutations tell"
        if sure == "estimated"
        else "a smaller --gap-tolerance or more time tells"
    )
    return f"Measure {together} first: their shares overlap, {way} them apart."


def notes_of(
    losses: HiddenLosses, *, pairs: int | None, confidence: float, mixed: bool
) -> tuple[Note, ...]:
    """Return what a reader must know about the numbers.

    `pairs` of random orders were sampled, or none; `mixed` says whether the class has
    the models that mix nominal and real values.
    """
    parts, notes = losses.parts, Notes()
    without = [n for at, n in enumerate(parts.names) if at not in parts.relevant]
    if without:
        notes.add(
            "no-effect",
            f"without any effect: {', '.join(without)}; their share is exactly 0",
        )
    if losses.unfinished:
        some = len(losses.unfinished)
        what = "a class" if some == 1 else f"{some} classes"
        notes.add(
            "time-limit",
            f"the time limit left {what} unfinished: brackets are valid, but another "
            "run may have others",
        )
    if pairs is not None:
        notes.add(
            "sampled-orders",
            f"shares are estimated from {pairs} random orders of the "
            "parameters and their reverses; all intervals hold together at "
            f"{100.0 * confidence:g} %, brackets of planning included",
        )
    if not mixed:
        notes.add(
            "no-nominal-shares",
            "no shares of what a nominal plan loses: models that mix nominal and real "
            "values are missing or too many, or the nominal value has no weight; a "
            "product grid with weight everywhere has them",
        )
    decisive = [parts.names[part] for part in parts.relevant if _decides(parts, part)]
    if decisive and len(parts.relevant) > 1:
        notes.add(
            "tells-everything",
            f"no two models have the same {' or '.join(decisive)}: to know it is to "
            "know everything, so shares say little; a grid of values says more",
        )
    compared = None if losses.oracle is None else losses.oracle.compared
    if compared is not None:
        notes.add(
            "some-pairs",
            f"{compared.size} models, spread evenly over {parts.possible.size}, are "
            "compared in pairs; prices of other pairs are at most what a plan at hand "
            "costs them",
        )
    if parts.possible.size < len(parts.latent.simulators):
        notes.add(
            "without-prior-weight",
            "models with prior 0 cannot be real here and are left out",
        )
    return tuple(notes)


def _decides(parts: HiddenParts, part: int) -> bool:
    """Return whether every value of a part leaves one model."""
    seen = np.stack([parts.codes[:, part], parts.first_equal], axis=1)[parts.possible]
    return len(np.unique(seen, axis=0)) == len(parts.values_of(part))


def _percent(part: Interval | None) -> str:
    return "" if part is None else percent_of(*part.ends, 1.0, "of the loss")
