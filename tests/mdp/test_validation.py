"""Malformed models are refused, and the message says what, where and what to do."""

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


CASES: list[tuple[str, Callable[[], object], str]] = [
    # rows
    ("nan", lambda: one(kernel(nan, 1)), r"row \(s=1, a=0\) has NaN"),
    ("infinite", lambda: one(kernel(inf, 0)), "infinite entry"),
    ("minus infinite", lambda: one(kernel(-inf, 1)), "infinite entry"),
    ("negative", lambda: one(kernel(-0.25, 1.25)), "negative entry"),
    ("hardly negative", lambda: one(kernel(-1e-17, 1.0)), "negative entry"),
    ("too much", lambda: one(kernel(0.5, 0.501)), r"sums to 1\.001"),
    ("too little", lambda: one(kernel(0.5, 0.499)), r"sums to 0\.999"),
    ("beyond rounding", lambda: one(kernel(0.5, 0.5 + 3e-9)), "sums to 1.00000000"),
    ("all zero", lambda: one(kernel(0, 0)), "no successor in any model"),
    (
        "zero in one model",
        lambda: class_from_arrays(np.stack([STAY, kernel(0, 0)]), FLAT),
        r"model 'model 1': row \(s=1, a=0\) is all zero",
    ),
    ("names", lambda: one(kernel(1, 1), state_names=("a", "b")), r"\(s=b, a=0\)"),
    ("entries", lambda: one(kernel(0.5, 0.6)), r"P\(0\) = 0\.5, P\(1\) = 0\.6"),
    ("many", lambda: one(np.full((9, 1, 9), 0.5), np.zeros((9, 1))), "and 3 more"),
    (
        "rounded",
        lambda: one(np.full((3, 1, 3), 1 / 3, "f4"), FLAT),
        "sums to 1.0000000",
    ),
    # shapes
    ("two axes", lambda: one(np.eye(2)), "one model needs three axes"),
    ("class of three axes", lambda: class_from_arrays(STAY, FLAT), "four axes"),
    ("not square", lambda: one(np.ones((2, 1, 3))), "2 states before a step and 3"),
    (
        "wrong order named",
        lambda: mdp_from_arrays(STAY, FLAT, order=IndexOrder.ACTION_STATE),
        "states before a step",
    ),
    ("ambiguous", lambda: one(np.full((2, 2, 2), 0.5)), "may be P"),
    ("ragged", lambda: one([[[1.0, 0.0]], [[1.0]]]), "transitions are ragged"),
    ("text", lambda: one([[["a", "b"]], [["c", "d"]]]), "not numbers"),
    ("objects", lambda: one(np.full((2, 1, 2), None)), "type object, not numbers"),
    ("complex", lambda: one(STAY + 0j), "complex128, not numbers"),
    ("no states", lambda: one(np.zeros((0, 1, 0)), []), "at least one of its states"),
    ("no actions", lambda: one(np.zeros((2, 0, 2)), []), "one of its actions"),
    (
        "no models",
        lambda: class_from_arrays(np.zeros((0, 2, 1, 2)), FLAT),
        "at least one of its models",
    ),
    ("an empty list", lambda: one([]), "three axes"),
    # rewards
    ("reward nan", lambda: one(STAY, [[0], [nan]]), r"\(s=1, a=0\) in model 0 is nan"),
    ("reward infinite", lambda: one(STAY, [[inf], [0]]), "is inf"),
    ("reward shape", lambda: one(STAY, [0.0, 1.0]), r"rewards have shape \(2,\)"),
    ("reward models", lambda: one(STAY, np.zeros((3, 2, 1))), r"shape \(3, 2, 1\)"),
    ("reward ragged", lambda: one(STAY, [[0.0], [0.0, 1.0]]), "rewards are ragged"),
    ("reward text", lambda: one(STAY, [["a"], ["b"]]), "rewards have type"),
    # starts
    ("start outside", lambda: one(STAY, start=2), "start state 2 does not exist"),
    ("start negative", lambda: one(STAY, start=-1), "start state -1"),
    ("start in between", lambda: one(STAY, start=0.5), r"start distribution has shape"),
    ("start per model", lambda: two(start=[0, 1, 0]), r"start has shape \(3,\)"),
    ("start law short", lambda: one(STAY, start=[1.0]), r"has shape \(1,\)"),
    ("start law sum", lambda: one(STAY, start=[0.5, 0.4]), r"model 0 sums to 0\.9"),
    ("start law nan", lambda: one(STAY, start=[nan, 1.0]), "has nan at s=0"),
    ("start law negative", lambda: one(STAY, start=[1.5, -0.5]), "has -0.5 at s=1"),
    ("start law models", lambda: two(start=np.full((3, 2), 0.5)), r"shape \(3, 2\)"),
    ("start text", lambda: one(STAY, start="s"), "start have type"),
    ("second law", lambda: two(start=[[1.0, 0.0], [0.3, 0.3]]), "of model 1 sums"),
    # names and parameters
    ("too few names", lambda: two(model_names=("a",)), "1 model names for 2 models"),
    ("same names", lambda: two(model_names=("a", "a")), "0 and 1 have the same name"),
    ("empty name", lambda: two(model_names=("a", "")), "model 1 has 0 characters"),
    ("long name", lambda: two(model_names=("a", "b" * 201)), "201 characters"),
    ("state names", lambda: two(state_names=("a", "b", "c")), "3 state names for 2"),
    ("action names", lambda: two(action_names=("a", "b")), "2 action names for 1"),
    ("parameter rows", lambda: two(parameters=Parameters.none(3)), "3 rows of"),
    ("parameter columns", lambda: Parameters(("p",), np.zeros((2, 2))), "for 1 names"),
    ("parameter axes", lambda: Parameters(("p",), np.zeros(2)), r"shape \(2,\)"),
    ("parameter twice", lambda: Parameters(("p", "p"), np.zeros((2, 2))), "same name"),
    # edges
    ("edge columns", lambda: edges([(0, 0, 0)], [1.0]), r"edges have shape \(1, 3\)"),
    ("edge floats", lambda: edges([(0, 0, 0, 0.5)], [1.0]), "type float64"),
    ("edge weights", lambda: edges([(0, 0, 0, 0)], [1, 1]), "1 edges and probab"),
    ("edge model", lambda: edges([(1, 0, 0, 0)], [1]), "names model 1"),
    ("edge state", lambda: edges([(0, 2, 0, 0)], [1]), "names state 2"),
    ("edge action", lambda: edges([(0, 0, 1, 0)], [1]), "names action 1"),
    ("edge successor", lambda: edges([(0, 0, 0, -1)], [1]), "names next state -1"),
    ("edge negative", lambda: edges([(0, 1, 0, 0)], [-1]), "has probability -1.0"),
    ("edge nan", lambda: edges([(0, 1, 0, 0)], [nan]), "has probability nan"),
    ("edge missing", lambda: edges([(0, 0, 0, 0)], [1]), r"\(s=1, a=0\) has no succ"),
    ("edge shape", lambda: edges([(0, 0, 0, 0)], [1], (1, 2)), r"shape \(1, 2\)"),
    ("edge no models", lambda: edges([(0, 0, 0, 0)], [1], (0, 2, 1)), "shape"),
    (
        "edges of a class for one model",
        lambda: mdp_from_edges([(0, 0, 0, 0)], [1.0], FLAT, shape=(2, 1)),
        r"\(n, 3\) is needed",
    ),
    # functions, counts, grids, classes of models
    (
        "not pairs",
        lambda: mdp_from_function(lambda s, a: [s], FLAT, shape=(2, 1)),  # type: ignore[list-item]
        r"failed at \(s=0, a=0\)",
    ),
    (
        "half a state",
        lambda: mdp_from_function(lambda s, a: [(0.5, 1.0)], FLAT, shape=(2, 1)),  # type: ignore[list-item]
        "failed at",
    ),
    (
        "function shape",
        lambda: mdp_from_function(successors, FLAT, shape=(0, 1)),
        "shape",
    ),
    ("counts shape", lambda: mdp_from_counts(np.ones((2, 1)), FLAT), "counts have"),
    ("counts negative", lambda: mdp_from_counts(-STAY, FLAT), "count of"),
    ("never tried", lambda: mdp_from_counts(kernel(0, 0), FLAT), "never observed"),
    (
        "pseudo count",
        lambda: mdp_from_counts(STAY, FLAT, pseudo_count=-1.0),
        "pseudo_count is -1",
    ),
    ("grid empty", lambda: grid(p=[]), "'p' has no values"),
    ("grid nan", lambda: grid(p=[0.5, nan]), "not finite"),
    ("no members", lambda: class_from_models([]), "at least one model"),
    ("other sizes", mixed_sizes, "has 1 states"),
    ("other parameters", mixed_parameters, "has parameters"),
    # raw storage
    ("indptr short", lambda: direct([0, 1], [0, 1], [1, 1]), "indptr has shape"),
    ("indptr end", lambda: direct([0, 1, 2], [0, 1, 1], [1, 1, 0]), "0 to 2, there"),
    ("index outside", lambda: direct([0, 1, 2], [0, 2], [1, 1]), "leads to state 2"),
    ("falling", lambda: direct([0, 1, 3], [0, 1, 0], [1, 0.5, 0.5]), "after state 1"),
    ("twice", lambda: direct([0, 1, 3], [0, 1, 1], [1, 0.5, 0.5]), "lists state 1"),
    ("values", lambda: direct([0, 1, 2], [0, 1], [1]), "one column of values"),
    (
        "two in one",
        lambda: TabularMDP(two().transitions, FLAT, 0),
        "one model, its transitions hold 2",
    ),
    ("missing", lambda: UnionPattern(2, 1, 1).finish(), "0 models were added"),
    # priors
    ("prior shape", lambda: prior(1.0), r"prior has shape \(1,\), the class 2"),
    ("prior sum", lambda: prior(0.5, 0.6), r"sums to 1\.1"),
    ("prior negative", lambda: prior(1.5, -0.5), "model 'model 1' is -0.5"),
    ("prior nan", lambda: prior(nan, 1.0), "'model 0' is nan"),
    ("prior axes", lambda: LatentMDP(two(), np.full((2, 1), 0.5)), r"shape \(2, 1\)"),
]


@pytest.mark.parametrize(
    ("build", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_malformed_models_are_refused(
    build: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidModel, match=message) as caught:
        build()
    assert caught.value.hint, "an error must say what to do"
    assert str(caught.value) == f"{caught.value.problem}\nhint: {caught.value.hint}"


def test_the_table_is_long_and_has_no_case_twice() -> None:
    names = [name for name, *_ in CASES]
    assert len(names) == len(set(names)) >= 80


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
