"""Losses of all steps are the largest thing held: these work without a copy of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from simgap.instances import riverswim
from simgap.mdp import LatentMDP, class_from_arrays
from simgap.oracle.estimate import _World
from simgap.oracle.exact.members import members_of
from simgap.oracle.exact.symmetry import find_symmetry
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import greedy_policy


def _two_rivers() -> LossForm:
    river = riverswim(states=500, success=[0.3, 0.6])
    return loss_form(LatentMDP.uniform(river), horizon=2000)


def _two_images() -> LossForm:
    """Return two models that are each other's image with their actions renamed."""
    chance = np.random.default_rng(3)
    moves, rewards = chance.dirichlet(np.ones(9), (9, 2)), chance.random((9, 2))
    both = class_from_arrays([moves, moves[:, ::-1]], [rewards, rewards[:, ::-1]])
    return loss_form(LatentMDP.uniform(both), horizon=50_000)


def _told_apart(form: LossForm) -> None:
    assert find_symmetry(form, members_of(form)).orbit.tolist() == [0, 1]


def _found_alike(form: LossForm) -> None:
    assert find_symmetry(form, members_of(form)).orbit.tolist() == [0, 0]


def _most(form: LossForm) -> None:
    world = _World.of(form, greedy_policy(form))
    world.most_per_episode(np.ones(form.n_models, np.bool_), greedy=False)


def _a_copy(form: LossForm) -> None:
    form.losses.copy()


def _peak(form: LossForm, work: Callable[[LossForm], None]) -> float:
    """Return the most that is taken, in copies of the losses."""
    tracemalloc.start()
    work(form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / form.losses.nbytes


@pytest.mark.parametrize(
    ("form", "work"),
    [(_two_rivers, _told_apart), (_two_images, _found_alike), (_two_rivers, _most)],
)
def test_losses_are_not_copied(
    form: Callable[[], LossForm], work: Callable[[LossForm], None]
) -> None:
    assert _peak(form(), work) < 0.3


def test_a_copy_would_be_noticed() -> None:
    assert _peak(_two_rivers(), _a_copy) >= 1.0
