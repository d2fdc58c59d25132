"""A family of simulators theta -> model over a box, and how fast its kernels move.

`Smoothness` claims, for some rates,

    max over (s, a) of |P_theta - P_theta'|_1 <= sum_i rate_i |theta_i - theta'_i|.

Rates are supplied by the user, or estimated; in the second case nothing is proved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidModel
from simgap.mdp import TabularMDP, name_of

Instantiate = Callable[[Mapping[str, float]], TabularMDP]
Box = Mapping[str, tuple[float, float]]


@final
@dataclass(frozen=True, slots=True)
class Smoothness:
    """Rates by parameter; `proved` only if they are known to hold."""

    rates: Mapping[str, float]
    proved: bool

    def __post_init__(self) -> None:
        for name, rate in self.rates.items():
            if not (isfinite(rate) and rate >= 0.0):
                raise InvalidModel(
                    f"the rate of parameter {name!r} is {rate}",
                    hint="a rate is a finite number from 0 on",
                )
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))


def estimated_smoothness(
    instantiate: Instantiate,
    box: Box,
    *,
    pairs: int = 64,
    margin: float = 1.5,
    seed: int = 0,
) -> Smoothness:
    """Return `margin` times the greatest rates met between random pairs: no proof."""
    unknown = Smoothness(dict.fromkeys(box, 0.0), proved=False)
    names, low, high = checked_box(box, unknown)
    rng, greatest = np.random.default_rng(seed), np.zeros(len(names))
    for _ in range(pairs):
        theta = low + (high - low) * rng.random(len(names))
        kernel = model_at(instantiate, names, theta).transitions.array(0)
        for i in range(len(names)):
            other = np.array(theta)
            other[i] = low[i] + (high[i] - low[i]) * rng.random()
            if abs(other[i] - theta[i]) <= 1e-6 * (high[i] - low[i]):
                continue
            beside = model_at(instantiate, names, other).transitions.array(0)
            moved = float(np.abs(beside - kernel).sum(axis=2).max())
            greatest[i] = max(greatest[i], moved / abs(other[i] - theta[i]))
    rates = {name: margin * float(g) for name, g in zip(names, greatest, strict=True)}
    return Smoothness(rates, proved=False)


def model_at(
    instantiate: Instantiate, names: tuple[str, ...], theta: FloatArray
) -> TabularMDP:
    """Return the model of one theta, (P,)."""
    point = dict(zip(names, theta.tolist(), strict=True))
    model: object = instantiate(point)
    if not isinstance(model, TabularMDP):
        raise InvalidModel(
            f"the family gave a {type(model).__name__} at {name_of(point)}",
            hint="it must return a TabularMDP, as class_over_grid's functions do",
        )
    return model


def checked_box(
    box: Box, smoothness: Smoothness
) -> tuple[tuple[str, ...], FloatArray, FloatArray]:
    """Return names and ends of a box with a rate for every parameter, or raise."""
    if not box:
        raise InvalidModel("the box has no parameters", hint="give at least one")
    for name, (low, high) in box.items():
        if not (isfinite(low) and isfinite(high) and low <= high):
            raise InvalidModel(
                f"parameter {name!r} ranges over [{low}, {high}]",
                hint="give two finite numbers, the smaller one first",
            )
    if set(smoothness.rates) != set(box):
        raise InvalidModel(
            f"rates of {sorted(smoothness.rates)} for parameters {sorted(box)}",
            hint="give one rate per parameter",
        )
    ends = np.array([box[name] for name in box], np.float64)
    return tuple(box), ends[:, 0], ends[:, 1]
