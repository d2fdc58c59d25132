"""Separation: closed forms, exact twins, duplicates, ties, digits near both ends."""

from __future__ import annotations

from math import log, log1p

import numpy as np
import pytest
from hypothesis import given

from simgap.complexity.separation import MOST_MODELS, Separation, separation
from simgap.errors import InvalidArgument
from simgap.instances import (
    bandit,
    build_instance,
    closed_forms,
    cycle,
    needle,
    riverswim,
)
from simgap.mdp import SimulatorClass, class_from_arrays, class_from_models
from tests.instances.cases import CASES
from tests.reference import complexity as twin
from tests.reference.rational import COMMUNICATING, RationalMDP, dense_model
from tests.strategies import DYADIC, STEADY, as_class, rational_classes

ROUNDING = 1e-12


def check_against_twin(models: list[RationalMDP]) -> None:
    """Every matrix entry against Fractions, ties included: entries are dyadic."""
    found = separation(as_class(models))
    kernels = [model.transitions for model in models]
    delta, pair = twin.separation(kernels)
    assert found.value == float(delta)
    if pair is None:
        assert found.nearest is None and found.farthest is None
        return
    assert found.nearest is not None
    assert (found.nearest.first, found.nearest.second) == pair
    for i, P in enumerate(kernels):
        for j, Q in enumerate(kernels):
            apart, where = twin.greatest_l1(P, Q)
            here = found.between(i, j)
            assert here.value == float(apart)
            assert (here.state, here.action) == (where if apart else (None, None))
            assert found.average_distance[i, j] == pytest.approx(
                float(twin.average_l1(P, Q)), rel=ROUNDING
            )
            check_affinity(found, models, i, j)


def check_affinity(
    found: Separation, models: list[RationalMDP], i: int, j: int
) -> None:
    P, Q = models[i].transitions, models[j].transitions
    shared = twin.least_bhattacharyya(P, Q)
    here = found.least_affinity(i, j)
    assert here.value == pytest.approx(float(shared), rel=ROUNDING, abs=0.0)
    assert found.hellinger[i, j] == pytest.approx(float(1 - shared), rel=1e-11)
    if here.state is not None and here.action is not None:
        at = twin.bhattacharyya(P[here.state][here.action], Q[here.state][here.action])
        assert float(at) == pytest.approx(float(shared), rel=ROUNDING, abs=1e-15)


@pytest.mark.parametrize("text", CASES)
def test_instances_have_the_separation_they_are_known_for(text: str) -> None:
    known = closed_forms(text)
    if known.separation is not None:
        found = separation(build_instance(text))
        assert found.value == pytest.approx(known.separation, rel=ROUNDING, abs=1e-15)


def test_needles_are_as_far_apart_as_can_be() -> None:
    """Theory row 18: one pull of the right arm decides; the first pair wins the tie."""
    found = separation(needle(5))
    assert found.value == 2.0
    assert found.nearest == found.farthest == found.between(0, 1)
    assert found.between(1, 3).state == 0 and found.between(1, 3).action == 1
    assert found.affinity[0, 1] == 0.0 and found.exponent[0, 1] == np.inf


@STEADY
@given(rational_classes(members=(1, 5), denominators=DYADIC, communicating=False))
def test_every_pair_is_that_of_fractions(models: list[RationalMDP]) -> None:
    check_against_twin(models)


@pytest.mark.slow
@pytest.mark.parametrize("family", COMMUNICATING)
def test_five_hundred_random_classes_agree_with_fractions(family: object) -> None:
    rng = np.random.default_rng(7)
    assert callable(family)
    for _ in range(125):
        S, A, M = (int(n) for n in rng.integers((2, 1, 2), (6, 4, 7)))
        check_against_twin([family(rng, S, A, 16) for _ in range(M)])


def test_one_model_leaves_no_pair_to_tell_apart() -> None:
    found = separation(cycle(4))
    assert found.value == 2.0
    assert found.nearest is None and found.duplicates == ()


def test_equal_kernels_are_named_and_nothing_tells_them_apart() -> None:
    some = riverswim(5, (0.3, 0.4, 0.3, 0.5, 0.4, 0.3))
    found = separation(some)
    assert found.duplicates == ((0, 2, 5), (1, 4))
    assert found.value == 0.0
    assert found.nearest is not None and found.nearest.state is None
    assert (found.nearest.first, found.nearest.second) == (0, 2)
    assert found.exponent[0, 2] == 0.0 and found.affinity[0, 2] == 1.0


def test_rewards_do_not_tell_models_apart() -> None:
    """Agents see states; two models that differ in rewards alone are duplicates."""
    P = np.full((2, 2, 1, 2), 0.5)
    R = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])
    assert separation(class_from_arrays(P, R)).duplicates == ((0, 1),)


@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9])
def test_models_very_close_keep_the_digits_of_their_exponent(step: float) -> None:
    """-log BC is about step^2 / (8 p (1 - p)), far below the rounding of BC itself."""
    low, high = 0.5, 0.5 + step
    found = separation(bandit([[low], [high]]))
    p = np.longdouble(high) - np.longdouble(low)
    expected = float(p) ** 2 / (8.0 * 0.25)
    assert found.exponent[0, 1] == pytest.approx(expected, rel=max(1e-6, step**2))


def test_a_rare_coincidence_keeps_its_digits() -> None:
    """BC = 2 sqrt(x (1 - x)) is small: taken from 1 - BC it would be rounding."""
    x = 2.0**-100
    found = separation(bandit([[x], [1.0]]))
    assert found.affinity[0, 1] == pytest.approx(2.0**-50, rel=1e-15)
    assert found.exponent[0, 1] == pytest.approx(50.0 * log(2.0), rel=1e-14)


def test_the_chain_of_lemma_5_holds() -> None:
    """BC <= sqrt(1 - delta^2 / 4), so -log BC >= delta^2 / 8 (theory 4.3)."""
    rng = np.random.default_rng(11)
    for _ in range(20):
        models = [dense_model(rng, 4, 2, 12) for _ in range(4)]
        found = separation(as_class(models))
        off = ~np.eye(4, dtype=bool)
        apart = found.distance[off]
        least = [-0.5 * log1p(-(d**2) / 4.0) for d in apart]
        assert (found.exponent[off] >= np.array(least) * (1.0 - 1e-12)).all()


def test_too_many_models_are_refused_before_memory_is_taken() -> None:
    one = cycle(1)[0]
    many = class_from_models([one] * (MOST_MODELS + 1))
    assert isinstance(many, SimulatorClass)
    with pytest.raises(InvalidArgument, match="pairs"):
        separation(many)
