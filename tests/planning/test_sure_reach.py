"""The part of a model that can make sure of a target, against the plain definition."""

from __future__ import annotations

import numpy as np

from simgap.mdp import class_from_models
from simgap.planning.sure_reach import sure_states
from tests.reference.rational import scattered_model
from tests.reference.travel import surely_reaching


def test_the_safe_part_has_the_rows_of_the_model_and_no_way_out() -> None:
    """Of an action that may leave, the first that may not stands in."""
    rng = np.random.default_rng(1)
    S, A, M = 6, 2, 12
    models = [scattered_model(rng, S, A, 16) for _ in range(M)]
    every = class_from_models([model.simulator() for model in models])
    several = replaced = 0
    for m, target in np.ndindex(M, S):
        P = models[m].transitions
        found = sure_states(every.transitions, m, target)
        states = found.states.tolist()
        assert states == sorted(surely_reaching(P, target))
        assert found.n_actions == A
        for place, s in enumerate(states):
            if s == target:  # whatever it does, it is there
                rows = slice(*found.indptr[[place * A, place * A + A]])
                assert found.indices[rows].tolist() == [place] * A
                assert found.values[rows].tolist() == [1.0] * A
                continue
            safe = [
                a
                for a in range(A)
                if all(t in states for t, p in enumerate(P[s][a]) if p)
            ]
            for a in range(A):
                chosen = a if a in safe else safe[0]
                assert found.actions[place, a] == chosen
                row = slice(*found.indptr[place * A + a : place * A + a + 2])
                after = [states[t] for t in found.indices[row]]
                law = dict(zip(after, found.values[row].tolist(), strict=True))
                assert law == {t: p for t, p in enumerate(P[s][chosen]) if p}
                several += len(safe) > 1
                replaced += a not in safe
    assert several > 20
    assert replaced >= 10
