"""Algorithm 1 as arrays: what the readable form knows, for the compiled one."""

from __future__ import annotations

import numpy as np

from simgap._kernels.agents.algorithm_1 import Ending
from simgap._kernels.agents.algorithm_2 import Search
from simgap.arrays import BoolArray, FloatArray
from simgap.base_policies.improved.evidence import Evidence
from simgap.base_policies.paper.comparison import Comparison, Pairing, Rounds
from simgap.base_policies.paper.travel_plan import TravelPlan
from simgap.base_policies.timed_rules import TimedRules

MOST_SLOPES = 2**24  # logarithms that are compared before a run


def search_tables(
    rounds: Rounds, pairing: Pairing, ways: TravelPlan, evidence: Evidence
) -> Search:
    """Return what stage 1 needs; logarithms of impossible steps stand apart."""
    weight, at_start = evidence.weight.T, np.array(evidence.at_start.T, order="C")
    shape = (evidence.members, evidence.place.size)
    logs, impossible = np.zeros(shape), np.zeros(shape, np.bool_)
    logs[:, evidence.edges] = np.where(np.isfinite(weight), weight, 0.0)
    impossible[:, evidence.edges] = np.isinf(weight)
    all_data = rounds.kind is Comparison.ANYTIME
    return Search(
        row=np.array(rounds.row, np.int64),
        samples=np.array(rounds.samples),
        place=np.array(ways.place),
        ways=np.array(ways.policy),
        steady=ways.steady,
        lead=np.array(ways.steps),
        logs=logs,
        impossible=impossible,
        informative=np.array(evidence.edges),
        first_logs=np.where(np.isfinite(at_start), at_start, 0.0),
        first_impossible=np.isinf(at_start),
        slopes=_slopes(logs[:, evidence.edges], impossible[:, evidence.edges])
        if all_data
        else np.zeros((0, 0)),
        steepest=-logs.min(axis=1, initial=0.0),
        apart=_first_pairs(rounds, pairing),
    )


def _first_pairs(rounds: Rounds, pairing: Pairing) -> FloatArray:
    """Return which pairs come first: nothing for the lowest, filled if drawn."""
    if pairing is Pairing.LOWEST:
        return np.zeros((0, 0))
    return np.array(rounds.separation.hellinger)


def ending_tables(rules: TimedRules, member: int) -> Ending:
    """Return what stage 2 needs; of the real model also what it is worth.

    A member of -1 stands for a real model that is not known.
    """
    worth = rules.values[member] if member >= 0 else None
    n_states = rules.rules[0].shape[1]
    lengths = [each.size for each in rules.since]
    return Ending(
        known=np.array(rules.known),
        period=np.array(rules.period),
        first=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        since=np.concatenate(rules.since),
        rules=np.concatenate(rules.rules),
        worth=np.zeros((0, n_states)) if worth is None else np.array(worth),
        drift=float(rules.drift[member]) if member >= 0 else 0.0,
    )


def _slopes(logs: FloatArray, impossible: BoolArray) -> FloatArray:
    """Return how much one edge can favour each model over each other, (M, M).

    In large classes, the most it can favour any model: looks are then more frequent.
    """
    members, n_edges = logs.shape
    slopes = np.tile(-logs.min(axis=1, initial=0.0), (members, 1))
    if members * members * n_edges <= MOST_SLOPES:
        for m in range(members):
            both = ~impossible & ~impossible[m]
            slopes[:, m] = np.where(both, logs - logs[m], 0.0).max(axis=1, initial=0.0)
    return slopes
