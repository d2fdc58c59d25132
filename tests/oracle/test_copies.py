"""Losses of all steps are the largest thing held: these work without a copy of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

from simgap.instances import riverswim
from simgap.mdp import LatentMDP
from simgap.oracle.loss_form import LossForm, loss_form


def _two_rivers() -> LossForm:
    river = riverswim(states=500, success=[0.3, 0.6])
    return loss_form(LatentMDP.uniform(river), horizon=2000)


def _a_copy(form: LossForm) -> None:
    form.losses.copy()


def _peak(form: LossForm, work: Callable[[LossForm], None]) -> float:
    """Return the most that is taken, in copies of the losses."""
    tracemalloc.start()
    work(form)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / form.losses.nbytes


def test_a_copy_would_be_noticed() -> None:
    assert _peak(_two_rivers(), _a_copy) >= 1.0
