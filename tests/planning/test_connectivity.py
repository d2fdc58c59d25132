"""Which states reach which: against a plain search, model by model."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.mdp import class_from_models
from simgap.planning import (
    communicating,
    communicating_components,
    diameter,
)
from simgap.planning.connectivity import components
from tests.reference import graph, travel as twin
from tests.reference.rational import dense_model, scattered_model, sparse_model


@pytest.mark.parametrize(("members", "actions"), [(1, 1), (6, 2)])
def test_models_of_one_class_are_told_apart_by_their_own_edges(
    members: int, actions: int
) -> None:
    """Zeros of the shared pattern are none; the same zeros have the same answer."""
    rng = np.random.default_rng(members)
    families = [scattered_model, dense_model, sparse_model]
    answers = []
    for _ in range(12 // members):
        models = [
            families[int(rng.integers(3))](rng, 4, actions, 16) for _ in range(members)
        ]
        every = class_from_models([each.simulator() for each in models])
        found = communicating(every).tolist()
        assert found == [twin.communicating(each.transitions) for each in models]
        answers += found
        for m, model in enumerate(every):
            kernel = model.transitions
            edges = graph.successors(
                (kernel.indptr, kernel.indices, kernel.values[0]), kernel.n_actions
            )
            parts = communicating_components(every, m)
            assert set(map(frozenset, parts)) == graph.components(edges)
            number = components(every, m)
            for s, after in enumerate(edges):
                assert all(number[t] <= number[s] for t in after)
    assert set(answers) == {True, False}


@pytest.mark.parametrize("seed", range(5))
def test_an_infinite_diameter_names_two_states_with_no_way_between(seed: int) -> None:
    rng = np.random.default_rng(seed)
    models = [scattered_model(rng, 5, 1, 16) for _ in range(4)]
    found = diameter(class_from_models([each.simulator() for each in models]))
    for m, model in enumerate(models):
        if np.isinf(found.model_lower[m]):
            times = twin.hitting_times(model.transitions, int(found.target[m]))
            assert times[int(found.source[m])] == np.inf
            assert np.isinf(found.model_upper[m])
    assert np.isinf(found.lower)
    assert found.model == int(np.argmax(found.model_lower))
