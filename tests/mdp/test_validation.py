"""Malformed models are refused with a code and a way out."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp import (
    Details,
    IndexOrder,
    Labels,
    LatentMDP,
    Parameters,
    SimulatorClass,
    TabularMDP,
    Transitions,
    class_from_arrays,
    class_from_edges,
    class_from_models,
    class_over_grid,
    mdp_from_arrays,
    mdp_from_counts,
    mdp_from_edges,
    mdp_from_function,
)
from simgap.mdp.union import UnionPattern

STAY = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])  # (2, 1, 2)
FLAT = np.zeros((2, 1))


def kernel(*row: float) -> FloatArray:
    """Return the two-state kernel whose row (s=1, a=0) is `row`."""
    P = STAY.copy()
    P[1, 0] = row
    return P


def one(P: object, R: object = FLAT, **details: object) -> TabularMDP:
    return mdp_from_arrays(P, R, details=Details(**details))  # type: ignore[arg-type]


def two(**details: object) -> SimulatorClass:
    """Return a class of two models."""
    given = Details(**details)  # type: ignore[arg-type]
    return class_from_arrays(np.stack([STAY, STAY]), FLAT, details=given)


def edges(table: object, weights: object, shape: object = (1, 2, 1)) -> SimulatorClass:
    return class_from_edges(table, weights, FLAT, shape=shape)  # type: ignore[arg-type]


def direct(
    indptr: list[int], indices: list[int], values: list[float]
) -> SimulatorClass:
    """Return a class from raw storage, as a file reader would."""
    stored = Transitions(2, 1, np.array(indptr), np.array(indices), np.array([values]))
    return SimulatorClass(stored, FLAT, np.array(0))


def prior(*weights: float) -> LatentMDP:
    return LatentMDP(two(), np.array(weights))


def successors(s: int, a: int) -> list[tuple[int, float]]:
    return [(s, 1.0)]


def one_state(theta: object) -> TabularMDP:
    return mdp_from_arrays([[[1.0]]], [[0.0]])


def grid(**points: list[float]) -> SimulatorClass:
    return class_over_grid(one_state, points)


def mixed_sizes() -> SimulatorClass:
    return class_from_models([one(STAY), one_state(None)])


def mixed_parameters() -> SimulatorClass:
    named = two(parameters=Parameters(("p",), np.array([[1.0], [2.0]])))
    return class_from_models([named[0], two()[0]])


CASES: list[tuple[str, Callable[[], object]]] = [
    # rows
    ("nan", lambda: one(kernel(nan, 1))),
    ("infinite", lambda: one(kernel(inf, 0))),
    ("minus infinite", lambda: one(kernel(-inf, 1))),
    ("negative", lambda: one(kernel(-0.25, 1.25))),
    ("hardly negative", lambda: one(kernel(-1e-17, 1.0))),
    ("too much", lambda: one(kernel(0.5, 0.501))),
    ("too little", lambda: one(kernel(0.5, 0.499))),
    ("beyond rounding", lambda: one(kernel(0.5, 0.5 + 3e-9))),
    ("all zero", lambda: one(kernel(0, 0))),
    (
        "zero in one model",
        lambda: class_from_arrays(np.stack([STAY, kernel(0, 0)]), FLAT),
    ),
    ("names", lambda: one(kernel(1, 1), state_names=("a", "b"))),
    ("entries", lambda: one(kernel(0.5, 0.6))),
    ("many", lambda: one(np.full((9, 1, 9), 0.5), np.zeros((9, 1)))),
    (
        "rounded",
        lambda: one(np.full((3, 1, 3), 1 / 3, "f4"), FLAT),
    ),
    # shapes
    ("two axes", lambda: one(np.eye(2))),
    ("class of three axes", lambda: class_from_arrays(STAY, FLAT)),
    ("not square", lambda: one(np.ones((2, 1, 3)))),
    (
        "wrong order named",
        lambda: mdp_from_arrays(STAY, FLAT, order=IndexOrder.ACTION_STATE),
    ),
    ("ambiguous", lambda: one(np.full((2, 2, 2), 0.5))),
    ("ragged", lambda: one([[[1.0, 0.0]], [[1.0]]])),
    ("text", lambda: one([[["a", "b"]], [["c", "d"]]])),
    ("objects", lambda: one(np.full((2, 1, 2), None))),
    ("complex", lambda: one(STAY + 0j)),
    ("no states", lambda: one(np.zeros((0, 1, 0)), [])),
    ("no actions", lambda: one(np.zeros((2, 0, 2)), [])),
    (
        "no models",
        lambda: class_from_arrays(np.zeros((0, 2, 1, 2)), FLAT),
    ),
    ("an empty list", lambda: one([])),
    # rewards
    ("reward nan", lambda: one(STAY, [[0], [nan]])),
    ("reward infinite", lambda: one(STAY, [[inf], [0]])),
    ("reward shape", lambda: one(STAY, [0.0, 1.0])),
    ("reward models", lambda: one(STAY, np.zeros((3, 2, 1)))),
    ("reward ragged", lambda: one(STAY, [[0.0], [0.0, 1.0]])),
    ("reward text", lambda: one(STAY, [["a"], ["b"]])),
    # starts
    ("start outside", lambda: one(STAY, start=2)),
    ("start negative", lambda: one(STAY, start=-1)),
    ("start in between", lambda: one(STAY, start=0.5)),
    ("start per model", lambda: two(start=[0, 1, 0])),
    ("start law short", lambda: one(STAY, start=[1.0])),
    ("start law sum", lambda: one(STAY, start=[0.5, 0.4])),
    ("start law nan", lambda: one(STAY, start=[nan, 1.0])),
    ("start law negative", lambda: one(STAY, start=[1.5, -0.5])),
    ("start law models", lambda: two(start=np.full((3, 2), 0.5))),
    ("start text", lambda: one(STAY, start="s")),
    ("second law", lambda: two(start=[[1.0, 0.0], [0.3, 0.3]])),
    # names and parameters
    ("too few names", lambda: two(model_names=("a",))),
    ("same names", lambda: two(model_names=("a", "a"))),
    ("empty name", lambda: two(model_names=("a", ""))),
    ("long name", lambda: two(model_names=("a", "b" * 201))),
    ("state names", lambda: two(state_names=("a", "b", "c"))),
    ("action names", lambda: two(action_names=("a", "b"))),
    ("parameter rows", lambda: two(parameters=Parameters.none(3))),
    ("parameter columns", lambda: Parameters(("p",), np.zeros((2, 2)))),
    ("parameter axes", lambda: Parameters(("p",), np.zeros(2))),
    ("parameter twice", lambda: Parameters(("p", "p"), np.zeros((2, 2)))),
    # edges
    ("edge columns", lambda: edges([(0, 0, 0)], [1.0])),
    ("edge floats", lambda: edges([(0, 0, 0, 0.5)], [1.0])),
    ("edge weights", lambda: edges([(0, 0, 0, 0)], [1, 1])),
    ("edge model", lambda: edges([(1, 0, 0, 0)], [1])),
    ("edge state", lambda: edges([(0, 2, 0, 0)], [1])),
    ("edge action", lambda: edges([(0, 0, 1, 0)], [1])),
    ("edge successor", lambda: edges([(0, 0, 0, -1)], [1])),
    ("edge negative", lambda: edges([(0, 1, 0, 0)], [-1])),
    ("edge nan", lambda: edges([(0, 1, 0, 0)], [nan])),
    ("edge missing", lambda: edges([(0, 0, 0, 0)], [1])),
    ("edge shape", lambda: edges([(0, 0, 0, 0)], [1], (1, 2))),
    ("edge no models", lambda: edges([(0, 0, 0, 0)], [1], (0, 2, 1))),
    (
        "edges of a class for one model",
        lambda: mdp_from_edges([(0, 0, 0, 0)], [1.0], FLAT, shape=(2, 1)),
    ),
    # functions, counts, grids, classes of models
    (
        "not pairs",
        lambda: mdp_from_function(lambda s, a: [s], FLAT, shape=(2, 1)),  # type: ignore[list-item]
    ),
    (
        "half a state",
        lambda: mdp_from_function(lambda s, a: [(0.5, 1.0)], FLAT, shape=(2, 1)),  # type: ignore[list-item]
    ),
    (
        "function shape",
        lambda: mdp_from_function(successors, FLAT, shape=(0, 1)),
    ),
    ("counts shape", lambda: mdp_from_counts(np.ones((2, 1)), FLAT)),
    ("counts negative", lambda: mdp_from_counts(-STAY, FLAT)),
    ("never tried", lambda: mdp_from_counts(kernel(0, 0), FLAT)),
    (
        "pseudo count",
        lambda: mdp_from_counts(STAY, FLAT, pseudo_count=-1.0),
    ),
    ("grid empty", lambda: grid(p=[])),
    ("grid nan", lambda: grid(p=[0.5, nan])),
    ("no members", lambda: class_from_models([])),
    ("other sizes", mixed_sizes),
    ("other parameters", mixed_parameters),
    # raw storage
    ("indptr short", lambda: direct([0, 1], [0, 1], [1, 1])),
    ("indptr end", lambda: direct([0, 1, 2], [0, 1, 1], [1, 1, 0])),
    ("index outside", lambda: direct([0, 1, 2], [0, 2], [1, 1])),
    ("falling", lambda: direct([0, 1, 3], [0, 1, 0], [1, 0.5, 0.5])),
    ("twice", lambda: direct([0, 1, 3], [0, 1, 1], [1, 0.5, 0.5])),
    ("values", lambda: direct([0, 1, 2], [0, 1], [1])),
    (
        "two in one",
        lambda: TabularMDP(two().transitions, FLAT, 0),
    ),
    ("missing", lambda: UnionPattern(2, 1, 1).finish()),
    # priors
    ("prior shape", lambda: prior(1.0)),
    ("prior sum", lambda: prior(0.5, 0.6)),
    ("prior negative", lambda: prior(1.5, -0.5)),
    ("prior nan", lambda: prior(nan, 1.0)),
    ("prior axes", lambda: LatentMDP(two(), np.full((2, 1), 0.5))),
]


@pytest.mark.parametrize(("name", "build"), CASES)
def test_malformed_models_are_refused(name: str, build: Callable[[], object]) -> None:
    with pytest.raises(InvalidModel) as caught:
        build()
    assert caught.value.code and caught.value.hint, "an error must say what to do"


def test_pairs_that_do_not_exist_have_no_probability() -> None:
    model = one(STAY)
    for state, action in ((0, 1), (2, 0), (-1, 0), (0, -1)):
        with pytest.raises(InvalidArgument, match="no pair"):
            model.probability(state, action, 0)
    assert model.probability(0, 0, 5) == 0.0


def test_what_looks_odd_but_is_right_is_accepted() -> None:
    assert one(np.full((1, 3, 1), 1.0), np.zeros((1, 3))).n_actions == 3
    assert one(STAY.astype(np.int64)).n_states == 2
    assert one(STAY.astype(bool)).n_states == 2
    assert one(STAY, [[-1e15], [1e15]]).rewards[0, 0] == -1e15
    assert one(STAY, [[-1e-300], [1e-28]]).rewards[0, 0] == -1e-300
    assert one(kernel(1e-60, 1.0)).probability(1, 0, 0) == 1e-60
    assert one(STAY, start=np.uint8(1)).start == 1
    assert one(STAY, state_names=("</script>", "\u202e")).labels.state(0) == "</script>"
    assert Labels().state(3) == "3"
