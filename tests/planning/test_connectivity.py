"""Which states reach which: against a plain search, model by model."""

from __future__ import annotations

import re

import numpy as np
import pytest

from simgap.errors import InvalidArgument, NotCommunicating
from simgap.mdp import IndexOrder, SimulatorClass, class_from_arrays, class_from_models
from simgap.planning import (
    communicating,
    communicating_components,
    diameter,
    solve_average_reward,
)
from simgap.planning.connectivity import components, require_communicating
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


def chains(*lengths: int) -> SimulatorClass:
    """Rings that cannot be left, side by side."""
    states = sum(lengths)
    P = np.zeros((1, states, 1, states))
    first = 0
    for length in lengths:
        for place in range(length):
            P[0, first + place, 0, first + (place + 1) % length] = 1.0
        first += length
    return class_from_arrays(P, np.zeros((states, 1)), order=IndexOrder.STATE_ACTION)


@pytest.mark.parametrize(
    ("lengths", "numbers"),
    [
        ((4, 1), [2, 0, 1, 2, 3, 4]),
        ((5, 1), [2, 0, 1, 2, 3, 5, 5]),  # "... 5 states"
        ((1, 1, 1, 1), [4, 0, 1, 2, 3]),
        ((1, 1, 1, 1, 1), [5, 0, 1, 2, 3, 1]),  # "1 more"
        ((2, 1, 1, 1, 6, 1), [6, 0, 1, 2, 3, 4, 2]),
    ],
)
def test_a_refusal_names_four_parts_and_four_states_of_each(
    lengths: tuple[int, ...], numbers: list[int]
) -> None:
    with pytest.raises(NotCommunicating) as caught:
        require_communicating(chains(*lengths))
    words = str(caught.value).partition("components")
    found = [words[0].split()[-1], *re.findall(r"\d+", words[2].partition("hint")[0])]
    assert [int(each) for each in found] == numbers


def test_the_first_model_that_does_not_communicate_is_named() -> None:
    swap, stay = [[[0.0, 1.0]], [[1.0, 0.0]]], [[[1.0, 0.0]], [[0.0, 1.0]]]
    every = class_from_arrays([swap, stay, swap, stay], [[0.0], [1.0]])
    assert communicating(every).tolist() == [True, False, True, False]
    with pytest.raises(NotCommunicating, match="1"):
        solve_average_reward(every)
    found = diameter(every)
    assert found.model_upper.tolist() == pytest.approx([1.0, np.inf, 1.0, np.inf])


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


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        communicating(3)  # type: ignore[arg-type]
