"""Every way to build a class ends in the same class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.arrays import FloatArray
from simgap.errors import InvalidModel
from simgap.mdp import (
    Details,
    IndexOrder,
    RewardUnits,
    SimulatorClass,
    TabularMDP,
    class_from_arrays,
    class_from_edges,
    class_from_models,
    class_over_grid,
    mdp_from_arrays,
    mdp_from_counts,
    mdp_from_edges,
    mdp_from_function,
)
from tests.reference.rational import RationalMDP
from tests.strategies import STEADY, rational_classes

NEXT = IndexOrder.STATE_ACTION


def kernels_and_rewards(models: list[RationalMDP]) -> tuple[FloatArray, FloatArray]:
    arrays = [model.arrays() for model in models]
    return np.stack([P for P, _ in arrays]), np.stack([R for _, R in arrays])


def edges_of(P: FloatArray) -> tuple[list[tuple[int, ...]], list[float]]:
    places = [tuple(int(i) for i in place) for place in np.argwhere(P != 0.0)]
    return places, [float(P[place]) for place in places]


@STEADY
@given(models=rational_classes(communicating=False), seed=st.integers(0, 9))
def test_all_builders_make_the_same_class(models: list[RationalMDP], seed: int) -> None:
    P, R = kernels_and_rewards(models)
    M, S, A, _ = P.shape
    places, weights = edges_of(P)
    shuffled = np.random.default_rng(seed).permutation(len(places))
    edges = np.array(places)[shuffled], np.array(weights)[shuffled]
    swapped = P.transpose(0, 2, 1, 3)
    one_by_one = [mdp_from_arrays(P[m], R[m], order=NEXT) for m in range(M)]
    by_function = [
        mdp_from_function(
            lambda s, a, m=m: enumerate(P[m, s, a]),  # type: ignore[misc]
            lambda s, a, m=m: float(R[m, s, a]),  # type: ignore[misc]
            shape=(S, A),
        )
        for m in range(M)
    ]
    built = [
        class_from_arrays(P, R, order=NEXT),
        class_from_arrays(swapped, R, order=IndexOrder.ACTION_STATE),
        class_from_edges(*edges, R, shape=(M, S, A)),
        class_from_models(one_by_one),
        class_from_models(by_function),
    ]
    assert len({simulators.hash for simulators in built}) == 1
    for simulators in built:
        for m in range(M):
            assert (simulators.transitions.array(m) == P[m]).all()
            assert (simulators[m].rewards == R[m]).all()


@STEADY
@given(models=rational_classes(members=(1, 1), communicating=False))
def test_counts_of_a_rational_model_give_it_back(models: list[RationalMDP]) -> None:
    (model,) = models
    P, R = model.arrays()
    whole = 240  # a multiple of every denominator in use
    counts = np.round(P * whole)
    found = mdp_from_counts(counts, R).transitions.array(0)
    assert found == pytest.approx(P, abs=1e-15)


def test_one_model_from_edges_is_the_class_of_one() -> None:
    edges = [(0, 0, 1), (1, 0, 0), (1, 0, 1)]
    R = [[0.0], [1.0]]
    one = mdp_from_edges(edges, [1.0, 0.25, 0.75], R, shape=(2, 1))
    numbered = [(0, *edge) for edge in edges]
    many = class_from_edges(numbered, [1.0, 0.25, 0.75], R, shape=(1, 2, 1))
    assert one.hash == many.hash == many[0].hash


def test_edges_given_twice_are_added_up() -> None:
    """Gymnasium's tables list a successor once per way to get there."""
    edges = [(0, 0, 1), (0, 0, 1), (0, 0, 0), (1, 0, 1)]
    model = mdp_from_edges(edges, [0.25, 0.5, 0.25, 1.0], [[0.0], [0.0]], shape=(2, 1))
    assert model.probability(0, 0, 1) == 0.75
    assert model.probability(1, 0, 0) == 0.0


def test_the_order_is_read_off_the_shape_when_one_fits() -> None:
    P = np.zeros((3, 2, 3))
    P[:, :, 0] = 1.0
    R = np.zeros((3, 2))
    plain, swapped = mdp_from_arrays(P, R), mdp_from_arrays(P.transpose(1, 0, 2), R)
    assert plain.hash == swapped.hash
    assert plain.n_states == 3
    assert plain.n_actions == 2


def test_as_many_states_as_actions_is_ambiguous() -> None:
    P = np.full((2, 2, 2), 0.5)
    with pytest.raises(InvalidModel, match="may be P") as caught:
        mdp_from_arrays(P, np.zeros((2, 2)))
    assert "IndexOrder.STATE_ACTION" in caught.value.hint
    assert mdp_from_arrays(P, np.zeros((2, 2)), order=NEXT).n_states == 2


def test_the_two_orders_of_a_square_kernel_differ() -> None:
    P = np.zeros((2, 2, 2))
    P[0, :, 0], P[1, :, 1] = 1.0, 1.0
    R = np.zeros((2, 2))
    first = mdp_from_arrays(P, R, order=NEXT)
    second = mdp_from_arrays(P, R, order=IndexOrder.ACTION_STATE)
    assert first.probability(0, 1, 0) == 1.0
    assert second.probability(0, 1, 1) == 1.0
    assert first.hash != second.hash


def test_pseudo_counts_spread_over_all_successors() -> None:
    model = mdp_from_counts([[[3, 0]], [[0, 0]]], [[0.0], [0.0]], pseudo_count=0.5)
    assert model.transitions.array(0)[:, 0].tolist() == [[0.875, 0.125], [0.5, 0.5]]


def test_a_grid_of_parameters_moves_the_last_one_fastest() -> None:
    def coin(theta: Mapping[str, float]) -> TabularMDP:
        p = theta["p"]
        P = [[[1 - p, p]], [[1 - p, p]]]
        return mdp_from_arrays(P, [[0.0], [theta["gain"]]])

    simulators = class_over_grid(coin, {"gain": [1.0, 2.0], "p": [0.25, 0.5, 0.75]})
    assert len(simulators) == 6
    assert simulators.theta.names == ("gain", "p")
    assert simulators.theta.values[:, 1].tolist() == [0.25, 0.5, 0.75] * 2
    assert simulators.model_names[4] == "gain=2, p=0.5"
    assert simulators[4].parameters == {"gain": 2.0, "p": 0.5}
    assert simulators[4].rewards[1, 0] == 2.0
    assert simulators[4].probability(0, 0, 1) == 0.5
    assert not simulators.shared_rewards


def test_a_grid_agrees_with_its_models() -> None:
    def coin(theta: Mapping[str, float]) -> TabularMDP:
        return mdp_from_arrays([[[1 - theta["p"], theta["p"]]]] * 2, [[0.0], [1.0]])

    grid = class_over_grid(coin, {"p": [0.25, 0.5]})
    plain = class_from_models([coin({"p": 0.25}), coin({"p": 0.5})])
    assert (grid.transitions.values == plain.transitions.values).all()
    assert grid.shared_rewards


def test_rows_within_rounding_of_one_are_repaired_and_noted() -> None:
    P = [[[0.5, 0.5 + 5e-10]], [[1.0, 0.0]]]
    model = mdp_from_arrays(P, [[0.0], [0.0]])
    assert model.transitions.array(0)[0, 0].sum() == pytest.approx(1.0, abs=1e-15)
    assert any("1 rows divided" in note for note in model.notes)
    exact = mdp_from_arrays([[[0.5, 0.5]], [[1.0, 0.0]]], [[0.0], [0.0]])
    assert exact.notes == ()


def test_what_a_class_carries_survives_its_builders() -> None:
    details = Details(
        start=[0.25, 0.75],
        model_names=("dry", "wet"),
        state_names=("left", "right"),
        action_names=("go",),
        units=RewardUnits(offset=-1.0, factor=2.0),
        notes=("from a test",),
    )
    P = np.full((2, 2, 1, 2), 0.5)
    simulators = class_from_arrays(P, np.full((2, 1), 1.5), details=details)
    again = class_from_models(list(simulators))
    for built in (simulators, again):
        assert built.model_names == ("dry", "wet")
        assert built.labels.state(1) == "right"
        assert built.labels.action(0) == "go"
        assert (built.rewards == 2.0).all()  # -1 + 2 * 1.5, as they are meant
        assert built.notes == ("from a test",)
        assert built.start_law(1).tolist() == [0.25, 0.75]
    assert simulators.hash == again.hash


def test_builders_do_not_touch_their_arguments() -> None:
    P = np.full((2, 1, 2), 0.5)
    model = mdp_from_arrays(P, np.zeros((2, 1)))
    P[:] = 7.0
    assert (model.transitions.array(0) == 0.5).all()


def random_class(members: int, S: int, A: int, b: int) -> SimulatorClass:
    rng = np.random.default_rng(0)
    P = np.zeros((members, S, A, S))
    for place in np.ndindex(members, S, A):
        P[place][rng.choice(S, b, replace=False)] = rng.dirichlet(np.ones(b))
    return class_from_arrays(P, rng.random((S, A)))


def test_storage_does_not_enter_the_hash() -> None:
    """A member keeps the explicit zeros of its class; built alone it has none."""
    for simulators in (random_class(3, 40, 2, 2), random_class(3, 6, 2, 3)):
        for m, member in enumerate(simulators):
            P = simulators.transitions.array(m)
            details = Details(model_names=(member.name,))
            alone = mdp_from_arrays(P, member.rewards, details=details)
            assert alone.transitions.nonzeros <= member.transitions.nonzeros
            assert alone.hash == member.hash


def test_the_hash_sees_every_number_and_name() -> None:
    P = np.full((2, 2, 1, 2), 0.5)
    P[1, 0, 0] = [0.25, 0.75]
    R = np.array([[0.0], [1.0]])
    plain = class_from_arrays(P, R).hash
    other = P.copy()
    other[1, 0, 0] = [0.75, 0.25]
    hashes = {
        plain,
        class_from_arrays(other, R).hash,
        class_from_arrays(P, R + 1.0).hash,
        class_from_arrays(P[::-1], R).hash,
        class_from_arrays(P[:1], R).hash,
        class_from_arrays(P, R, details=Details(start=1)).hash,
        class_from_arrays(P, R, details=Details(start=[0.5, 0.5])).hash,
        class_from_arrays(P, R, details=Details(state_names=("a", "b"))).hash,
        class_from_arrays(P, R, details=Details(model_names=("a", "b"))).hash,
        class_from_arrays(P, R, details=Details(units=RewardUnits(2.0, 1.0))).hash,
    }
    assert len(hashes) == 10
    same = {
        plain,
        class_from_arrays(P, np.stack([R, R])).hash,
        class_from_arrays(P, R, details=Details(start=[0, 0])).hash,
        class_from_arrays(P, R, details=Details(start=[1.0, 0.0])).hash,
        class_from_arrays(P, R, details=Details(units=RewardUnits(0, 1))).hash,
        class_from_arrays(P, -1.0 * (-1.0 * R)).hash,
        class_from_arrays(P, R * -0.0 + R).hash,
    }
    assert same == {plain}
