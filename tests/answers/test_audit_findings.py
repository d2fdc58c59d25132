"""Checks of the audit: ways back, look-alikes and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.answers.audit.audit import audit
from simgap.answers.audit.ways_back import ways_back
from simgap.arrays import BoolArray
from tests.answers.audit_cases import (
    apart_of,
    coin,
    coins,
    latent_of,
    signs,
    with_an_island,
)


def test_a_sound_class_passes_every_check() -> None:
    found = audit(coins(0.1, 0.9))
    assert {each.status for each in found.findings} <= {"ok", "info"}
    assert found.verdict == "in the long run"
    assert found.verdict_certainty == "exact"
    assert found.passed


def test_models_without_weight_do_not_break_assumptions() -> None:
    """A trap in a model that is never met is no trap."""
    trap = coin(0.3)
    trap[1, :, :] = (0.0, 1.0)
    latent = latent_of(
        [coin(0.1), trap, coin(0.9)], [[0, 0], [1, 1]], prior=(0.5, 0.0, 0.5)
    )
    found = audit(latent)
    assert found.communicating and found.verdict == "in the long run"
    assert found.separation.pair == (0, 2)


def test_states_that_are_never_reached_are_harmless() -> None:
    found = audit(with_an_island())
    told_of = found.finding("communicating")
    assert told_of.code == "unreached-states"
    assert told_of.status == "warning" and not found.communicating
    assert found.verdict == "in the long run" and found.passed


def test_models_that_differ_only_where_nobody_gets_are_one_model() -> None:
    kernels = []
    for to in (0, 1):
        P = np.zeros((3, 1, 3))
        P[0, 0, 1] = P[1, 0, 0] = P[2, 0, to] = 1.0
        kernels.append(P)
    shared = latent_of(kernels, [[0.0], [1.0], [0.0]])
    assert apart_of(shared).different == 1 and audit(shared).verdict == "yes"
    rewards = np.zeros((2, 3, 1))
    rewards[0, 0], rewards[1, 1] = 1.0, 1.0
    confused = latent_of(kernels, rewards)
    assert apart_of(confused).confused == ((0, 1),)
    found = audit(confused)
    assert found.verdict == "not promised"
    assert found.finding("separation").code == "move-alike-within-reach"


def closure(edges: BoolArray) -> BoolArray:
    """Return who can get where, by Warshall; everybody is where they are."""
    there = edges | np.eye(len(edges), dtype=bool)
    for middle in range(len(edges)):
        there = there | (there[:, [middle]] & there[[middle], :])
    return there


def test_ways_back_are_those_of_trying_all_pairs_of_states() -> None:
    rng = np.random.default_rng(2)
    kinds = set()
    for _ in range(300):
        S, M = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        kernels = (rng.random((M, S, 2, S)) < 0.35).astype(float)
        kernels[kernels.sum(axis=3) == 0.0] = np.eye(S)[0]
        kernels /= kernels.sum(axis=3, keepdims=True)
        latent = latent_of(list(kernels), np.zeros((S, 2)))
        found = ways_back(latent.simulators)
        ways = [closure((kernel > 0.0).any(axis=1)) for kernel in kernels]
        whole = [bool(there.all()) for there in ways]
        met = np.any([there[0] for there in ways], axis=0)  # episodes begin in 0
        inside = [there[met] for there in ways]
        sound = all(
            bool(rows[:, met].all()) and not rows[:, ~met].any() for rows in inside
        )
        assert found.communicating == all(whole)
        assert found.broken == whole.count(False)
        assert found.sound == (all(whole) or (sound and not met.all()))
        if not all(whole):
            assert found.missed == tuple(np.flatnonzero(~met).tolist())
            assert found.member is not None and not whole[found.member]
            there = ways[found.member]
            for states in found.closed:
                for state in states:
                    assert there[0, state]
                    assert np.flatnonzero(there[state]).tolist() == list(states)
        kinds.add((found.communicating, found.sound, bool(found.closed)))
    assert len(kinds) == 4  # whole, missed states only, traps, other models' states


def test_the_same_model_twice_is_harmless() -> None:
    latent = coins(0.2, 0.2, 0.9)
    found, apart = audit(latent), apart_of(latent)
    assert apart.alike == ((0, 1),) and apart.different == 2
    assert found.finding("look-alikes").code == "repeated-models"
    assert found.finding("separation").code == "move-alike"
    assert found.verdict == "in the long run" and found.passed
    assert audit(signs(equal_rewards=True)).verdict == "yes"


def test_models_that_pay_differently_but_move_alike_cost_every_step() -> None:
    """Told, an agent earns 1 a step; not told, a half: a coin flip for ever."""
    found = audit(signs())
    apart = apart_of(signs())
    assert apart.confused == ((0, 1),)
    loss = apart.loss_per_step
    assert loss is not None
    assert loss.lower <= 0.5 <= loss.upper
    assert loss.upper - loss.lower < 1e-8
    assert found.finding("look-alikes").status == "fail"
    assert found.verdict == "not promised" and found.verdict_certainty == "certified"
    assert audit(signs(), 4).finding("look-alikes").status == "warning"


def test_models_that_pay_differently_for_the_same_thing_cost_nothing() -> None:
    found = audit(signs(mirrored=False))
    assert found.finding("look-alikes").code == "pay-differently-harmless"
    assert found.verdict == "in the long run" and found.passed


def test_the_loss_of_look_alikes_is_the_limit_of_the_exact_gap_per_step() -> None:
    latent = signs()
    gaps = [audit(latent, steps).average_gap for steps in (6, 12)]
    (first, second) = (each.upper for each in gaps if each is not None)
    assert (second - first) / 6 == pytest.approx(0.5, abs=1e-9)
