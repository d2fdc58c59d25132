"""A simulator with hidden parameters: theta -> MDP over a grid of theta."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from simgap.errors import InvalidModel
from simgap.mdp.build import class_from_models
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.tabular import TabularMDP


def class_over_grid(
    instantiate: Callable[[Mapping[str, float]], TabularMDP],
    grid: Mapping[str, Sequence[float]],
    *,
    notes: tuple[str, ...] = (),
) -> SimulatorClass:
    """Return the class of `instantiate(theta)` for every theta of a product grid.

    Models are ordered with the last parameter moving fastest and are named after
    their parameters.
    """
    for name, points in grid.items():
        given: object = points
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
            raise InvalidModel(
                f"parameter {name!r} has the values {points!r}",
                hint="give a list of numbers, even for one value",
            )
        if len(points) == 0:
            raise InvalidModel(
                f"parameter {name!r} has no values", hint="give at least one"
            )
        if not np.isfinite(np.asarray(points, np.float64)).all():
            raise InvalidModel(
                f"parameter {name!r} has a value that is not finite: {list(points)}",
                hint="parameters are finite numbers",
            )
    models = []
    for point in product(*grid.values()):
        theta = {name: float(x) for name, x in zip(grid, point, strict=True)}
        model = instantiate(theta)
        name = name_of(theta) or model.name
        models.append(replace(model, name=name, parameters=theta))
    return class_from_models(models, notes=notes)


def name_of(theta: Mapping[str, float]) -> str:
    """Return a short readable name such as `mass=0.5, length=1`."""
    return ", ".join(f"{name}={value:.6g}" for name, value in theta.items())
