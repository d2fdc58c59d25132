"""Why a range is recommended, and what its numbers mean, in plain words."""

from __future__ import annotations

from math import isclose

from simgap.answers.width.ranges import varying_parameters
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome
from simgap.records.note import Note, Notes
from simgap.records.width import RangeLoss, Width
from simgap.text import at_least, at_most, gap_number, number, shown

WHOLE_IS_BEST = (
    "if reality is one of these models, drawn by the prior, no range loses less on "
    "average than all of them: a narrower one is a matter of cost and simplicity"
)
ONE_OF_MANY = (
    "losses are those of the policy that was planned; a range has many policies that "
    "are as good inside, and another of them may lose more or less outside"
)
SURPRISES = (
    "in reality something can happen that no model of a narrow range allows; its "
    "policy then goes on without memory, with what is best on average over its range"
)


def reason_of(found: Width, *, nothing_at_stake: bool) -> str:
    """Return why the recommended range is wide enough, in a few sentences."""
    by_width = {row.width: row for row in found.widths}
    chosen, first = by_width[found.recommended], found.widths[0]
    if nothing_at_stake:
        return (
            f"{_place(found, chosen)}: no policy loses anything here, not even acting "
            "at random."
        )
    average = found.criterion == "average"
    told = [
        f"{_place(found, chosen)}: it loses {_loss(found, chosen.gap.upper)} on "
        f"average over all {len(found.real)} models{_part(found, chosen.gap.upper)}, "
        f"at worst {_loss(found, chosen.worst.upper)} "
        f"({shown(chosen.worst_model, 40)}).",
        "It is the narrowest range that loses at most "
        f"{100.0 * found.slack:.2g} % of what is at stake more than the best one "
        "(--slack).",
        *_narrower(found, chosen),
        *_wider(found, chosen),
    ]
    if chosen.width > first.width:
        told.append(
            f"If {shown(found.param, 30)} is really {number(found.nominal, 4)}, it "
            f"loses {_loss(found, chosen.at_nominal.upper)}, and the narrowest range "
            f"{_loss(found, first.at_nominal.upper)}."
        )
    if found.recommended_average != found.recommended_worst:
        other = by_width[
            found.recommended_worst if average else found.recommended_average
        ]
        what = "By the worst model" if average else "By the average"
        own, theirs = (
            (chosen.worst, other.worst) if average else (chosen.gap, other.gap)
        )
        told.append(
            f"{what} the width would be {number(other.width, 4)}: "
            f"{_loss(found, theirs.upper)} instead of {_loss(found, own.upper)}."
        )
    return " ".join(told)


def notes_of(
    found: Width, latent: LatentMDP, *, possible: int, many: bool, aim: str
) -> tuple[Note, ...]:
    """Return what one should know before trusting the table.

    `possible` ranges differ in their models, `aim` is how close their brackets are.
    """
    rows, real = found.widths, len(found.real)
    notes = Notes()
    notes.add("whole-is-best", WHOLE_IS_BEST)
    notes.add("one-policy-of-many", ONE_OF_MANY)
    if any(row.surprising for row in rows):
        notes.add("surprises", SURPRISES)
    if possible > len(rows):
        notes.add(
            "some-ranges",
            f"{len(rows)} of {possible} ranges, evenly; --widths names others",
        )
    if not any(
        isclose(each.value, found.nominal, rel_tol=1e-11) for each in found.real
    ):
        notes.add(
            "no-nominal-model",
            f"no model has the nominal value {number(found.nominal)}; `at_nominal` is "
            "about the nearest",
        )
    others = [name for name in varying_parameters(latent) if name != found.param]
    if others:
        names = ", ".join(shown(name, 30) for name in others)
        notes.add(
            "others-stay-random", f"{names} stay random in every range, by the prior"
        )
    impossible = len(latent.simulators) - real
    if impossible:
        notes.add(
            "without-prior-weight",
            f"{impossible} models of prior 0 are left out: they cannot be real",
        )
    if any(row.outcome != Outcome.EXACT.value for row in rows):
        widest = max(row.inside.upper - row.inside.lower for row in rows)
        notes.add(
            "tolerance",
            "ranges are planned until what the best policy must lose is known to "
            f"{aim} (here to {number(widest, 2)}): smaller differences, also of a "
            "range that loses less than all models together, are the tolerance of "
            "planning",
        )
    if many:
        notes.add(
            "many-models",
            f"{real} models are many: where planning for all of a range would take too "
            "long some of its models, spread evenly, stand for their neighbours; "
            "losses and brackets are those of all models",
        )
    late = [row for row in rows if row.outcome == Outcome.OUT_OF_TIME.value]
    if late:
        widths = ", ".join(number(row.width, 4) for row in late)
        notes.add(
            "time-limit",
            f"planning stopped at the time limit for width {widths}: these numbers "
            "are valid, but differ from run to run",
        )
    return tuple(notes)


def _narrower(found: Width, chosen: RangeLoss) -> list[str]:
    losses = [_judged(found, row) for row in found.widths if row.width < chosen.width]
    if not losses:
        return []
    how = "on average" if found.criterion == "average" else "at worst"
    least = _loss(found, min(losses))
    if len(losses) == 1:
        return [f"The narrower range loses {least} {how}."]
    return [f"Narrower ranges lose {least} or more {how}."]


def _wider(found: Width, chosen: RangeLoss) -> list[str]:
    losses = [_judged(found, row) for row in found.widths if row.width > chosen.width]
    if not losses:
        whole = chosen.models == len(found.real)
        return ["It is the whole class."] if whole else []
    own = _judged(found, chosen)
    if found.criterion == "average" and found.least_possible is not None:
        least = found.least_possible.lower
        return [
            f"Wider ranges can gain at most {at_most(own - least)}: no policy loses "
            f"less than {at_least(least)} on average."
        ]
    return [f"The wider ranges gain at most {at_most(max(own - min(losses), 0.0))}."]


def _judged(found: Width, row: RangeLoss) -> float:
    return (row.gap if found.criterion == "average" else row.worst).upper


def _loss(found: Width, lost: float) -> str:
    return gap_number(lost, 1e-9 * found.at_stake, 4)


def _part(found: Width, lost: float) -> str:
    if lost <= 1e-9 * found.at_stake:
        return ""
    return (
        f", {100.0 * lost / found.at_stake:.2g} % of what is at stake "
        f"({_loss(found, found.at_stake)}, the loss of acting at random)"
    )


def _place(found: Width, row: RangeLoss) -> str:
    param = shown(found.param, 30)
    if row.width == 0.0:
        return f"Train on {param} = {number(row.low, 4)} alone (width 0)"
    return (
        f"Train on {param} from {number(row.low, 4)} to {number(row.high, 4)} "
        f"(width {number(row.width, 4)})"
    )
