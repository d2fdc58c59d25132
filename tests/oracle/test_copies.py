"""Losses of all steps are the largest thing held: nothing makes a copy of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

from simgap.instances import riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.estimate import _World
from simgap.oracle.exact.members import members_of
from simgap.oracle.exact.symmetry import find_symmetry
from simgap.oracle.loss_form import LossForm, loss_form
from tests.policies.cases import greedy_policy


def _told_apart(form: LossForm) -> None:
    find_symmetry(form, members_of(form))


def _most(form: LossForm) -> None:
    world = _World.of(form, greedy_policy(form))
    world.most_per_episode(np.ones(form.n_models, np.bool_), greedy=False)


def _a_copy(form: LossForm) -> None:
    form.losses.copy()


def _peak(work: Callable[[LossForm], None]) -> float:
    """Return the most that is taken, in copies of the losses."""
    river = riverswim(states=500, success=[0.3, 0.6])
    form = loss_form(LatentMDP.uniform(river), horizon=2000)
    tracemalloc.start()
    work(form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / form.losses.nbytes


@pytest.mark.parametrize("work", [_told_apart, _most])
def test_losses_are_not_copied(work: Callable[[LossForm], None]) -> None:
    assert _peak(work) < 0.3


def test_a_copy_would_be_noticed() -> None:
    assert _peak(_a_copy) >= 1.0
