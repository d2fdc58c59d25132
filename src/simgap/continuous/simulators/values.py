"""Values of parameters for a batch of worlds, checked: the same at every door."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Parameter, Simulator, parameter_of
from simgap.errors import InvalidArgument
from simgap.text import listed, shown, suggestion


def checked_values(
    simulator: Simulator, values: Mapping[str, FloatArray]
) -> tuple[int, dict[str, FloatArray]]:
    """Return the number of worlds, and values (B,) of every parameter of a simulator.

    Those that are not given are nominal. An unknown name, columns of different lengths
    and a value outside its domain are refused.
    """
    known = {each.name: each for each in simulator.parameters}
    for name in values:
        asked = parameter_of(simulator, name)
        if asked is not None:
            known[name] = asked
        else:
            raise InvalidArgument(
                f"{simulator.name} has no parameter {shown(name)}",
                hint=suggestion(name, known) or f"it has {listed(list(known))}",
                code="no-such-parameter",
            )
    given = {name: np.asarray(each, np.float64) for name, each in values.items()}
    shapes = {each.shape for each in given.values()} or {(1,)}
    if len(shapes) > 1 or any(len(shape) != 1 or shape == (0,) for shape in shapes):
        told = ", ".join(f"{name}: {each.shape}" for name, each in given.items())
        raise InvalidArgument(
            f"values of {simulator.name} for a batch of worlds have shapes {told}",
            hint="give one value for each world, as many of every parameter",
        )
    for name, each in given.items():
        _check_domain(simulator.name, known[name], each)
    size = shapes.pop()[0]
    every = {
        name: given.get(name, np.full(size, each.nominal))
        for name, each in known.items()
    }
    return size, every


def _check_domain(simulator: str, parameter: Parameter, values: FloatArray) -> None:
    for value in np.unique(values).tolist():  # a few, where a parameter is fixed
        if not (np.isfinite(value) and parameter.allows(value)):
            ends = (
                "(" if parameter.low_open else "[",
                ")" if parameter.high_open else "]",
            )
            whole = ", whole numbers" if parameter.whole else ""
            raise InvalidArgument(
                f"{parameter.name}={value:g} of {simulator} lies outside its domain "
                f"{ends[0]}{parameter.low:g}, {parameter.high:g}{ends[1]}{whole}",
                hint="values outside a domain are refused, never moved into it",
                code="outside-domain",
            )
