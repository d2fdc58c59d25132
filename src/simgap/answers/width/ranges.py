"""Which ranges of a parameter to try: centred at a nominal value, ever wider.

A range of width w keeps the models whose value of the parameter is within w / 2 of the
nominal value. Only models that may be real (positive prior) count. Values come from
decimals, so ends are compared with a tolerance: a model at the edge is inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.text import suggestion

NEAR = 1e-11  # relative to the largest value; edges this close are the same
DIGITS = 12  # of a width that is offered, so that 0.4 is not 0.39999999999999997
MOST_WIDTHS = 12  # offered; more are asked for by name


@final
@dataclass(frozen=True, slots=True, eq=False)
class TrainingRange:
    """An interval of a parameter and the models in it."""

    width: float  # high - low, or what was asked for
    low: float  # least value of a model in it
    high: float  # and the greatest
    kept: BoolArray  # (M,)


def parameter_values(latent: LatentMDP, param: str | None) -> tuple[str, FloatArray]:
    """Return the name of a parameter and its value in every model, (M,).

    Without a name it is the one that differs between models that may be real.
    """
    theta, real = latent.simulators.theta, latent.prior > 0.0
    if not theta.names:
        raise InvalidArgument(
            "the models of this class have no parameters, so there is no range to "
            "choose",
            hint="name an instance with a list of values, such as "
            "'riverswim?success=0.2:0.5:4', or store `parameters` and "
            "`parameter_names` in the .npz",
        )
    varying = varying_parameters(latent)
    if param is None:
        if len(varying) == 1:
            return varying[0], theta.values[:, theta.names.index(varying[0])]
        raise InvalidArgument(
            f"no parameter is given, and {len(varying)} differ between models",
            hint=f"give --param, one of {', '.join(varying)}"
            if varying
            else "make a class in which one does, such as "
            "'riverswim?success=0.2:0.5:4'",
        )
    if param not in theta.names:
        raise InvalidArgument(
            f"there is no parameter {param[:60]!r}",
            hint=suggestion(param, theta.names)
            or f"the parameters are {', '.join(theta.names)}",
        )
    values = theta.values[:, theta.names.index(param)]
    if param not in varying:
        others = f"; {', '.join(varying)} differ between models" if varying else ""
        raise InvalidArgument(
            f"{param!r} is {float(values[real][0])!r} in every model, so there is no "
            "range to choose",
            hint=f"make a class in which it has several values{others}",
        )
    return param, values


def varying_parameters(latent: LatentMDP) -> tuple[str, ...]:
    """Return the parameters that differ between models that may be real."""
    theta, real = latent.simulators.theta, latent.prior > 0.0
    return tuple(
        name
        for at, name in enumerate(theta.names)
        if np.unique(theta.values[real, at]).size > 1
    )


def middle_value(values: FloatArray, prior: FloatArray) -> float:
    """Return the median of a parameter under the prior, the lower one of two."""
    order = np.argsort(values)
    below = np.cumsum(prior[order])
    return float(values[order][int(np.argmax(below >= 0.5 - 1e-12))])


def offered_ranges(
    values: FloatArray, prior: FloatArray, nominal: float
) -> tuple[tuple[TrainingRange, ...], int]:
    """Return the ranges that differ in their models, and how many there would be.

    They go from the models nearest to the nominal value to all of them; of many, at
    most `MOST_WIDTHS` are kept, evenly, with the first and the last. The width is that
    of the values inside, not of the distance from the nominal one on both sides.
    """
    distances = np.abs(values - nominal)[prior > 0.0]
    near = _near(values, nominal)
    edges: list[float] = []
    for distance in np.sort(distances).tolist():
        if not edges or distance > edges[-1] + near:
            edges.append(distance)
        else:  # the same edge: the larger of the two takes both models in
            edges[-1] = max(edges[-1], distance)
    kept = len(edges)
    if len(edges) > MOST_WIDTHS:
        places = np.linspace(0, len(edges) - 1, MOST_WIDTHS).round().astype(int)
        edges = [edges[at] for at in places]
    found = (_range(values, prior, nominal, _rounded(2.0 * edge)) for edge in edges)
    return tuple(
        replace(each, width=_rounded(each.high - each.low)) for each in found
    ), kept


def asked_ranges(
    values: FloatArray, prior: FloatArray, nominal: float, widths: Sequence[float]
) -> tuple[TrainingRange, ...]:
    """Return the ranges of given widths, by increasing width."""
    found = []
    for width in sorted(set(map(float, widths))):
        if not isfinite(width) or width < 0.0:
            raise InvalidArgument(
                f"a range of width {width!r}", hint="widths are numbers, 0 or more"
            )
        each = _range(values, prior, nominal, width)
        if not each.kept.any():
            least = 2.0 * float(np.abs(values - nominal)[prior > 0.0].min())
            raise InvalidArgument(
                f"no model that may be real is within {width / 2.0:.6g} of the "
                f"nominal value {nominal:.6g}",
                hint=f"take a width of {least:.6g} or more, or another --nominal",
            )
        found.append(each)
    if not found:
        raise InvalidArgument("no widths are given", hint="name some: --widths 0,0.2")
    return tuple(found)


def _range(
    values: FloatArray, prior: FloatArray, nominal: float, width: float
) -> TrainingRange:
    near = _near(values, nominal)
    kept = (np.abs(values - nominal) <= width / 2.0 + near) & (prior > 0.0)
    inside = values[kept] if kept.any() else np.array([nominal])
    return TrainingRange(
        width=width,
        low=_rounded(float(inside.min())),
        high=_rounded(float(inside.max())),
        kept=kept,
    )


def _near(values: FloatArray, nominal: float) -> float:
    return NEAR * max(float(np.abs(values).max()), abs(nominal))


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")
