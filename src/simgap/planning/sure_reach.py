"""From which states can a target be reached with probability 1, and by what actions?

From all other states the expected travel time is infinite. The answer is the greatest
set W in which every state has an action that stays in W and leads towards the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.mdp import Transitions


@final
@dataclass(frozen=True, slots=True, eq=False)
class SureStates:
    """The sub-model on W; an action that may leave W is a copy of one that does not."""

    states: OffsetArray  # increasing
    indptr: OffsetArray
    indices: IndexArray
    values: FloatArray
    n_actions: int
    actions: IndexArray  # (states, A), the action of the model behind each of its own


def sure_states(kernel: Transitions, member: int, target: int) -> SureStates:
    """Return the states that can make sure of the target, and their safe actions."""
    probabilities = kernel.values[member]
    used = probabilities > 0.0
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    rows, after = rows[used], kernel.indices[used].astype(np.int64)
    weights = probabilities[used]
    n_rows = kernel.indptr.size - 1
    inside = np.ones(kernel.n_states, np.bool_)
    while True:
        safe = np.bincount(rows, ~inside[after], minlength=n_rows) == 0
        reached = _backward(rows, after, safe, kernel.n_actions, inside, target)
        if (reached == inside).all():
            break
        inside = reached
    return _restricted(rows, after, weights, safe, inside, target, kernel.n_actions)


def _backward(
    rows: OffsetArray,
    after: OffsetArray,
    safe: BoolArray,
    n_actions: int,
    inside: BoolArray,
    target: int,
) -> BoolArray:
    reached = np.zeros(inside.size, np.bool_)
    reached[target] = True
    usable = safe[rows] & inside[rows // n_actions]
    sources, goals = rows[usable] // n_actions, after[usable]
    while True:
        wider = reached.copy()
        wider[sources[reached[goals]]] = True
        if (wider == reached).all():
            return reached
        reached = wider


def _restricted(
    rows: OffsetArray,
    after: OffsetArray,
    weights: FloatArray,
    safe: BoolArray,
    inside: BoolArray,
    target: int,
    n_actions: int,
) -> SureStates:
    states = np.flatnonzero(inside)
    place = np.cumsum(inside) - 1
    begins = np.searchsorted(rows, np.arange(safe.size + 1))
    indptr, indices, values = [0], [np.zeros(0, np.int64)], [np.zeros(0)]
    actions: list[OffsetArray] = []
    for state in states.tolist():
        own = np.arange(state * n_actions, (state + 1) * n_actions)
        chosen = np.where(safe[own], own, own[np.argmax(safe[own])])
        actions.append(chosen - own[0])
        for row in chosen.tolist():
            if state == target:  # whatever it does is not looked at
                indices.append(np.array([place[state]]))
                values.append(np.ones(1))
            else:
                indices.append(place[after[begins[row] : begins[row + 1]]])
                values.append(weights[begins[row] : begins[row + 1]])
            indptr.append(indptr[-1] + indices[-1].size)
    return SureStates(
        states,
        np.array(indptr, np.int64),
        np.concatenate(indices).astype(np.int32),
        np.concatenate(values),
        n_actions,
        np.array(actions, np.int32),
    )
