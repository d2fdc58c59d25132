"""Where the data and the best model part, in words."""

from __future__ import annotations

import numpy as np

from simgap.answers.adapt.evidence import START, Evidence, ObservedRows, per_row
from simgap.answers.adapt.goodness_of_fit import evidence_by_row
from simgap.arrays import FloatArray
from simgap.mdp import SimulatorClass
from simgap.records.adapt import Misfit

MOST_ROWS = 5
NOTICEABLE = 1.0  # log of the evidence of one row that is worth naming
ROUNDING = 1e-9  # of such a log; a row that is as expected has 0
MOST_DIGITS = 12


def best_model(evidence: Evidence) -> int:
    """Return the model that explains a log best.

    The most likely one; if all are ruled out, one with the fewest transitions that it
    does not allow, and of those the one to which the others are most likely.
    """
    likely, rows = evidence.log_likelihood, evidence.rows
    if (likely > -np.inf).any():
        return int(likely.argmax())
    possible = rows.chances > 0.0
    impossible = (rows.counts * ~possible).sum(axis=1)
    rest = (rows.counts * np.log(np.where(possible, rows.chances, 1.0))).sum(axis=1)
    return int(np.lexsort((-rest, impossible))[0])


def misfits(
    simulators: SimulatorClass, evidence: Evidence, member: int
) -> tuple[Misfit, ...]:
    """Return the rows that speak against a model, the strongest first.

    Those with transitions that it does not allow lead, most of them first. Others are
    named if they alone are worth it; if none is, many faint ones have added up, and
    the strongest of them are named.
    """
    rows = evidence.rows
    against = evidence_by_row(rows, member)
    forbidden = per_row(rows.counts * (rows.chances[member] == 0.0), rows.offsets)
    order = np.lexsort((-against, -forbidden))
    least = NOTICEABLE if against.max(initial=0.0) >= NOTICEABLE else ROUNDING
    return tuple(
        _misfit(simulators, rows, int(row), member, float(against[row]))
        for row in order[:MOST_ROWS]
        if against[row] >= least
    )


def impossible_transitions(evidence: Evidence) -> int:
    """Return how many transitions of a log no model of the class allows."""
    rows = evidence.rows
    nowhere = ~(rows.chances > 0.0).any(axis=0)
    return int(per_row(rows.counts * nowhere, rows.offsets).sum())


def _misfit(
    simulators: SimulatorClass,
    rows: ObservedRows,
    row: int,
    member: int,
    against: float,
) -> Misfit:
    inside = slice(rows.offsets[row], rows.offsets[row + 1])
    counts, chances = rows.counts[inside], rows.chances[member, inside]
    visits = counts.sum()
    odd = np.where(chances == 0.0, counts, 0.0)
    at = int((odd if odd.any() else np.abs(counts / visits - chances)).argmax())
    labels = simulators.labels
    state, action = int(rows.state[row]), int(rows.action[row])
    start = state == START
    state_name = "" if start else labels.state(state)
    action_name = "" if start else labels.action(action)
    successor = int(rows.successor[inside][at])
    begin = (
        "episodes began in" if start else f"action {action_name} in state {state_name}"
    )
    went = "" if start else "led to"
    seen, chance = float(counts[at]), float(chances[at])
    digits = _telling_digits(seen / float(visits), chance)
    return Misfit(
        state=None if start else state,
        action=None if start else action,
        state_name=state_name,
        action_name=action_name,
        visits=int(visits),
        successor=successor,
        observed=seen / float(visits),
        expected=chance,
        log_evidence=against,
        text=" ".join(
            each
            for each in (
                begin,
                went,
                f"state {labels.state(successor)},",
                _seen(seen, float(visits), digits) + ",",
                _wanted(chance, rows.chances[:, inside][:, at], digits),
            )
            if each
        ),
    )


def _seen(count: float, visits: float, digits: int) -> str:
    times = "time" if visits == 1.0 else "times"
    return (
        f"{count:.0f} of {visits:.0f} {times} ({100.0 * count / visits:.{digits}g} %)"
    )


def _wanted(chance: float, all_chances: FloatArray, digits: int) -> str:
    if chance > 0.0:
        return f"expected {100.0 * chance:.{digits}g} %"
    if (all_chances > 0.0).any():
        return "which this model rules out"
    return "which no model of the class allows"


def _telling_digits(observed: float, expected: float) -> int:
    """Return how many digits it takes to see that two chances differ."""
    for digits in range(3, MOST_DIGITS):
        if f"{100.0 * observed:.{digits}g}" != f"{100.0 * expected:.{digits}g}":
            return digits
    return 3
