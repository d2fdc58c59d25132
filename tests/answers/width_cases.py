"""Small classes over one or two parameters, for tests of widths."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.width import width as module
from simgap.arrays import BoolArray, FloatArray
from simgap.intervals import Certified
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
from simgap.oracle.settings import ExactOracle, Solver
from simgap.records.width import RangeLoss, Width
from tests.reference.latent import random_latent
from tests.reference.width import with_parameters

EXACTLY = ExactOracle(episodes=2)


def holds(bounds: Certified, value: float | Fraction, slack: float = 1e-12) -> bool:
    return bounds.lower - slack <= value <= bounds.upper + slack


def planned_by(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every range be planned by one solver."""
    monkeypatch.setattr(module, "solver_of_range", lambda *_, **__: solver)


def kept_by(found: Width, row: RangeLoss) -> BoolArray:
    """Return which of the real models are in a range, (K,)."""
    values = np.array([each.value for each in found.real])
    return (values >= row.low - 1e-9) & (values <= row.high + 1e-9)


def built(kernel: FloatArray, rewards: FloatArray) -> SimulatorClass:
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def coins(*chances: float, prior: FloatArray | None = None) -> LatentMDP:
    """Two arms: one pays 1/2 surely, the other moves to a paying state by chance."""
    kernel = np.zeros((len(chances), 2, 2, 2))
    kernel[:, :, 0, 0] = 1.0
    for m, p in enumerate(chances):
        kernel[m, :, 1] = 1.0 - p, p
    rewards = np.array([[0.5, 0.0], [1.0, 1.0]])
    simulators = built(kernel, rewards)
    weights = np.full(len(chances), 1.0 / len(chances)) if prior is None else prior
    latent = LatentMDP(simulators, weights)
    return with_parameters(latent, ("p",), [[p] for p in chances])


def two_parameters() -> LatentMDP:
    rows = [[0.3, 1.0], [0.3, 2.0], [0.7, 1.0], [0.7, 2.0]]
    return with_parameters(coins(0.2, 0.4, 0.7, 0.9), ("success", "mass"), rows)


def random_case(seed: int, *, most_histories: int = 400) -> tuple[LatentMDP, int]:
    """A small latent MDP with a parameter of few values, several models each."""
    rng = np.random.default_rng(seed)
    while True:
        latent, horizon = random_latent(
            rng, denominator=8, most_histories=most_histories
        )
        values = rng.integers(0, 4, len(latent.simulators)) / 10.0
        if np.unique(values[latent.prior > 0.0]).size > 1:
            return with_parameters(latent, ("p",), values[:, None].tolist()), horizon
