"""Why a range is recommended, and what its numbers mean, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simgap.answers import CLOSE, MANY, Criterion
from simgap.oracle import Outcome
from simgap.text import at_least, at_most, gap_number, number, shown

if TYPE_CHECKING:
    from simgap.answers import WidthCurve, WidthRow
    from simgap.intervals import Certified
    from simgap.mdp import LatentMDP

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


def reason_of(curve: WidthCurve, names: list[str]) -> str:
    """Return why the recommended range is wide enough, in a few sentences."""
    words = _Words(curve)
    chosen = curve.rows[curve.recommended]
    if words.nothing_at_stake:
        return (
            f"{words.place(chosen)}: no policy loses anything here, not even acting at "
            "random."
        )
    average = curve.settings.criterion is Criterion.AVERAGE
    told = [
        f"{words.place(chosen)}: it loses {words.gap(chosen.gap)} on average over all "
        f"{len(names)} models{words.part(chosen.gap)}, at worst "
        f"{words.gap(chosen.worst)} ({shown(names[chosen.worst_model], 40)})."
    ]
    told.append(
        "It is the narrowest range that loses at most "
        f"{100.0 * curve.settings.slack:.2g} % of what is at stake more than the best "
        "one (--slack)."
    )
    told += _narrower(curve, words, average=average)
    told += _wider(curve, words, average=average)
    if chosen.width > curve.rows[0].width:
        told.append(
            f"If {words.param} is really {number(curve.nominal, 4)}, it loses "
            f"{words.gap(chosen.at_nominal)}, and the narrowest range "
            f"{words.gap(curve.rows[0].at_nominal)}."
        )
    if curve.by_average != curve.by_worst:
        other = curve.rows[curve.by_worst if average else curve.by_average]
        what = "By the worst model" if average else "By the average"
        own, theirs = (
            (chosen.worst, other.worst) if average else (chosen.gap, other.gap)
        )
        told.append(
            f"{what} the width would be {number(other.width, 4)}: {words.gap(theirs)} "
            f"instead of {words.gap(own)}."
        )
    return " ".join(told)


def notes_of(latent: LatentMDP, curve: WidthCurve) -> tuple[str, ...]:
    """Return what one should know before trusting the table."""
    notes = [WHOLE_IS_BEST, ONE_OF_MANY]
    if any(row.surprising for row in curve.rows):
        notes.append(SURPRISES)
    if curve.ranges > len(curve.rows):
        notes.append(
            f"{len(curve.rows)} of {curve.ranges} ranges, evenly; --widths names others"
        )
    if not np.isclose(curve.values, curve.nominal, rtol=1e-11, atol=0.0).any():
        notes.append(
            f"no model has the nominal value {number(curve.nominal)}; `at_nominal` is "
            "about the nearest"
        )
    others = _others(latent, curve)
    if others:
        notes.append(f"{', '.join(others)} stay random in every range, by the prior")
    unlikely = len(latent.simulators) - curve.real.size
    if unlikely:
        notes.append(f"{unlikely} models of prior 0 are left out: they cannot be real")
    if any(row.outcome is not Outcome.EXACT for row in curve.rows):
        notes.append(_tolerance(curve))
    if curve.real.size > MANY:
        notes.append(
            f"{curve.real.size} models are many: where planning for all of a range "
            "would take too long some of its models, spread evenly, stand for their "
            "neighbours, and the time limit is for all ranges together; losses and "
            "brackets are those of all models"
        )
    late = [row for row in curve.rows if row.outcome is Outcome.OUT_OF_TIME]
    if late:
        widths = ", ".join(number(row.width, 4) for row in late)
        notes.append(
            f"planning stopped at the time limit for width {widths}: these numbers "
            "are valid, but differ from run to run"
        )
    return tuple(notes)


class _Words:
    """Numbers of one curve as words."""

    def __init__(self, curve: WidthCurve) -> None:
        self.stake = curve.at_stake.upper
        self.noise, self.param = 1e-9 * self.stake, shown(curve.param, 30)
        self.nothing_at_stake = curve.at_stake.lower <= 0.0
        self.nominal = curve.nominal

    def gap(self, gap: Certified) -> str:
        return self.loss(gap.upper)

    def loss(self, lost: float) -> str:
        return gap_number(lost, self.noise, 4)

    def at_most(self, lost: float) -> str:
        return at_most(lost)

    def at_least(self, lost: float) -> str:
        return at_least(lost)

    def part(self, gap: Certified) -> str:
        upper = gap.upper
        if upper <= self.noise:
            return ""
        return (
            f", {100.0 * upper / self.stake:.2g} % of what is at stake "
            f"({self.loss(self.stake)}, the loss of acting at random)"
        )

    def place(self, row: WidthRow) -> str:
        if row.width == 0.0:
            return f"Train on {self.param} = {number(row.low, 4)} alone (width 0)"
        return (
            f"Train on {self.param} from {number(row.low, 4)} to {number(row.high, 4)} "
            f"(width {number(row.width, 4)})"
        )


def _narrower(curve: WidthCurve, words: _Words, *, average: bool) -> list[str]:
    rows = curve.rows[: curve.recommended]
    if not rows:
        return []
    least = min(_judged(row, average=average) for row in rows)
    how = "on average" if average else "at worst"
    which = "Narrower ranges lose" if len(rows) > 1 else "The narrower range loses"
    return [f"{which} {words.loss(least)}{' or more' if len(rows) > 1 else ''} {how}."]


def _wider(curve: WidthCurve, words: _Words, *, average: bool) -> list[str]:
    rows = curve.rows[curve.recommended + 1 :]
    if not rows:
        whole = bool(curve.rows[curve.recommended].kept.all())
        return ["It is the whole class."] if whole else []
    chosen = _judged(curve.rows[curve.recommended], average=average)
    if average and curve.whole is not None:
        least = curve.whole.lower
        return [
            f"Wider ranges can gain at most {words.at_most(chosen - least)}: no policy "
            f"loses less than {words.at_least(least)} on average."
        ]
    least = min(_judged(row, average=average) for row in rows)
    gain = max(chosen - least, 0.0)
    return [f"The wider ranges gain at most {words.at_most(gain)}."]


def _judged(row: WidthRow, *, average: bool) -> float:
    return (row.gap if average else row.worst).upper or 0.0


def _others(latent: LatentMDP, curve: WidthCurve) -> list[str]:
    """Return the other parameters that differ between real models."""
    theta = latent.simulators.theta
    return [
        shown(name, 30)
        for at, name in enumerate(theta.names)
        if name != curve.param and np.unique(theta.values[curve.real, at]).size > 1
    ]


def _tolerance(curve: WidthCurve) -> str:
    widest = max(row.inside.upper - row.inside.lower for row in curve.rows)
    told = number(widest, 2)
    aim = (
        f"a twentieth of it or {100 * CLOSE * curve.settings.slack:.2g} % of what is "
        "at stake"
        if curve.settings.solver is None
        else "the tolerance asked for"
    )
    return (
        f"ranges are planned until what the best policy must lose is known to {aim} "
        f"(here to {told}): smaller differences, also of a range that loses less than "
        "all models together, are the tolerance of planning"
    )
