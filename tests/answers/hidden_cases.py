"""Tiny classes whose parameters each have a say in the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from simgap.arrays import FloatArray
from simgap.intervals import Interval
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    Parameters,
    class_from_arrays,
)
from simgap.oracle import domain_randomization_oracle
from simgap.oracle.settings import ExactOracle

STATES, ACTIONS = 3, 2
LEAST_GAP, TINY = 0.01, 1e-9
SOLVER = ExactOracle(episodes=2)


def costly_class(
    seed: int,
    sizes: Mapping[str, int],
    horizon: int,
    *,
    idle: Sequence[str] = (),
    alike: Sequence[str] = (),
    rewards_differ: bool = False,
) -> LatentMDP:
    """Return a random product grid in which not knowing the model costs something."""
    rng = np.random.default_rng([seed, *sizes.values(), horizon])
    for _ in range(400):
        latent = mixed_class(
            rng, sizes, idle=idle, alike=alike, rewards_differ=rewards_differ
        )
        found = domain_randomization_oracle(latent, horizon=horizon, solver=SOLVER)
        if (found.average_gap.lower or 0.0) > LEAST_GAP:
            return latent
    raise AssertionError("no class of 400 costs anything")


def mixed_class(
    rng: np.random.Generator,
    sizes: Mapping[str, int],
    *,
    idle: Sequence[str] = (),
    alike: Sequence[str] = (),
    rewards_differ: bool = False,
) -> LatentMDP:
    """Return a product grid: kernels are the mean over parameters of laws of their own.

    An `idle` parameter has the same laws for all its values; those `alike` have the
    same laws as one another.
    """
    laws: dict[str, FloatArray] = {}
    pay: dict[str, FloatArray] = {}
    for name, count in sizes.items():
        shape = (count, STATES, ACTIONS)
        laws[name] = rng.multinomial(2, [1.0 / STATES] * STATES, size=shape) / 2.0
        pay[name] = np.repeat(rng.integers(0, 5, (count, STATES, 1)) / 4.0, ACTIONS, 2)
        if name in idle:
            laws[name][:], pay[name][:] = laws[name][0], pay[name][0]
    for name in alike:
        laws[name], pay[name] = laws[alike[0]], pay[alike[0]]
    points = list(product(*(range(count) for count in sizes.values())))
    kernels = [_mean(laws, point) for point in points]
    rewards = np.array([_mean(pay, point if rewards_differ else points[0])
                        for point in points])  # fmt: skip
    names = tuple(sizes)
    theta = np.array(points, np.float64)
    worlds = class_from_arrays(
        np.array(kernels),
        rewards,
        order=IndexOrder.STATE_ACTION,
        details=Details(
            parameters=Parameters(names, theta),
            model_names=[
                ", ".join(f"{n}={x}" for n, x in zip(names, point, strict=True))
                for point in points
            ],
        ),
    )
    return LatentMDP.uniform(worlds)


def with_prior(latent: LatentMDP, prior: FloatArray) -> LatentMDP:
    return LatentMDP(latent.simulators, prior / prior.sum())


def _mean(tables: Mapping[str, FloatArray], point: Sequence[int]) -> FloatArray:
    """Return a weighted mean with weights in eighths."""
    weights = {1: (1.0,), 2: (0.5, 0.5), 3: (0.25, 0.25, 0.5)}.get(len(tables))
    assert weights is not None
    total = sum(
        w * table[at]
        for w, table, at in zip(weights, tables.values(), point, strict=True)
    )
    return np.asarray(total)


def ends(value: Interval | None) -> tuple[float, float]:
    assert value is not None
    return value.ends


def holds(value: Interval | None, truth: Fraction | float) -> bool:
    low, high = ends(value)
    return low - 1e-14 <= truth <= high + 1e-14


def sharp(value: Interval | None, truth: Fraction | float) -> bool:
    low, high = ends(value)
    return holds(value, truth) and high - low < TINY
