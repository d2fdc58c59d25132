"""A part of nu about its nominal values: what a narrower randomization is.

At width 1 it is nu, at width 0 one point. Between them both ends of every range move to
its centre in proportion, in the logarithm if it is drawn so. The centre is the nominal
value; where that is not known or not in the range, the median. A choice has no width:
all its values stay until only one is left, the nominal one or the likeliest.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simgap.continuous.randomization.binding import BoundRandomization, bind
from simgap.continuous.randomization.distributions import Choice, Distribution, Fixed
from simgap.continuous.randomization.spec import Item, Operation
from simgap.errors import InvalidArgument


def narrowed(randomization: BoundRandomization, width: float) -> BoundRandomization:
    """Return nu with ranges of a part of their width, from 0 to 1."""
    if not 0.0 <= width <= 1.0:
        raise InvalidArgument(
            f"a width of {width}",
            hint="it is a part of the range, from 0 to 1: 0,0.25,0.5,0.75,1",
            code="no-such-width",
        )
    if randomization.rows is not None:
        raise InvalidArgument(
            "rows of a file have no width",
            hint="write ranges for the parameters: mass=0.5..2.0",
            code="rows-have-no-width",
        )
    if width == 1.0:
        return randomization
    items = tuple(
        replace(item, distribution=_part(item, width, randomization))
        for item in randomization.spec.items
    )
    return bind(replace(randomization.spec, items=items), randomization)


def _part(item: Item, width: float, randomization: BoundRandomization) -> Distribution:
    law = item.distribution
    centre = _centre(law, _nominal(item, randomization))
    return law.stretched(width, centre) if width > 0.0 else Fixed(centre)


def _centre(law: Distribution, nominal: float | None) -> float:
    """Return what a law shrinks to."""
    if isinstance(law, Choice):
        if nominal is not None and nominal in law.values:
            return nominal
        weights = law.weights or (1.0,) * len(law.values)
        return law.values[int(np.argmax(weights))]
    low, high = law.support
    if nominal is not None and low <= nominal <= high:
        return nominal
    return float(law.quantile(np.array(0.5)))


def _nominal(item: Item, randomization: BoundRandomization) -> float | None:
    """Return what is drawn where nothing changes; None if parameters differ in it."""
    if item.operation is not Operation.ABSOLUTE:
        return 1.0 if item.operation is Operation.SCALE else 0.0
    columns = [each for each in randomization.columns if each.item == item.text]
    values = {each.nominal for column in columns for each in column.targets}
    return values.pop() if len(values) == 1 else None
