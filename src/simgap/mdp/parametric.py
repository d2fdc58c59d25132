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
from simgap.text import suggestion

UNNAMED = "model 0"  # the name of a model without a name


def class_over_grid(
    instantiate: Callable[[Mapping[str, float]], TabularMDP],
    grid: Mapping[str, Sequence[float]],
    *,
    notes: tuple[str, ...] = (),
) -> SimulatorClass:
    """Return the class of `instantiate(theta)` for every theta of a product grid.

    Models are ordered with the last parameter moving fastest and are named after
    their parameters. An error of `instantiate` is reported with its theta.
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
        model = _instantiated(instantiate, theta)
        name = name_of(theta) or model.name
        models.append(replace(model, name=name, parameters=theta))
    return class_from_models(models, notes=notes)


def name_of(theta: Mapping[str, float]) -> str:
    """Return a short readable name such as `mass=0.5, length=1`."""
    return ", ".join(f"{name}={value:.6g}" for name, value in theta.items())


def _instantiated(
    instantiate: Callable[[Mapping[str, float]], TabularMDP], theta: dict[str, float]
) -> TabularMDP:
    place = f"at {name_of(theta)}: " if theta else ""
    try:
        model: object = instantiate(dict(theta))
    except InvalidModel as error:
        problem = error.problem.removeprefix(f"model {UNNAMED!r}: ")
        raise InvalidModel(place + problem, hint=error.hint) from error
    except KeyError as error:
        asked = error.args[0] if error.args else None
        if not isinstance(asked, str) or asked in theta:
            raise  # of a table of the caller's own
        there = f"there are {', '.join(theta)}" if theta else "there are none"
        raise InvalidModel(
            f"{place}there is no parameter {asked!r}",
            hint=f"{suggestion(asked, theta)} {there}".strip(),
        ) from error
    if not isinstance(model, TabularMDP):
        raise InvalidModel(
            f"{place}the function of the model returned {type(model).__name__}",
            hint="it returns a TabularMDP, for instance that of mdp_from_function",
        )
    return model
