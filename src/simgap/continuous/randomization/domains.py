"""Whether what is drawn lies where a parameter may be; nothing is ever clamped."""

from __future__ import annotations

from math import isfinite

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.randomization.distributions import (
    Choice,
    Distribution,
    Fixed,
    LogUniform,
    TruncatedNormal,
    Uniform,
    is_discrete,
    number_text,
)
from simgap.continuous.randomization.spec import Item, Operation
from simgap.errors import InvalidArgument
from simgap.text import number, shown

OUTSIDE = "outside-domain"  # code


def check_item(item: Item, targets: tuple[Parameter, ...]) -> None:
    """Raise unless all that an item can draw is allowed for every parameter it sets."""
    if item.operation is Operation.SCALE and not any(p.nominal for p in targets):
        raise InvalidArgument(
            f"{item.text}: {shown(targets[0].name)} is 0 if nothing is randomized, and "
            "a factor leaves it so",
            hint=f"write {item.name}=... for values, or {item.name}+=... for offsets",
            code="factor-of-zero",
        )
    for parameter in targets:
        if parameter.nominal or item.operation is not Operation.SCALE:
            _check_whole(item, parameter)
            _check_ends(item, parameter)


def domain_text(parameter: Parameter) -> str:
    """Return `> 0 kg` or `in [-5, 5]`."""
    low, high = parameter.low, parameter.high
    unit = f" {parameter.unit}" if parameter.unit else ""
    if isfinite(low) and isfinite(high):
        left, right = "(["[not parameter.low_open], ")]"[not parameter.high_open]
        return f"in {left}{number(low)}, {number(high)}{right}{unit}"
    if isfinite(low):
        return f"{'>' if parameter.low_open else '>='} {number(low)}{unit}"
    return f"{'<' if parameter.high_open else '<='} {number(high)}{unit}"


def in_domain(law: Distribution, item: Item, targets: tuple[Parameter, ...]) -> bool:
    """Return whether both ends of a law are allowed for every parameter."""
    return all(
        _allows(parameter, float(value))
        for parameter in targets
        for value in _absolute(np.array(law.support), item, parameter)
    )


def trimmed(
    law: Distribution, item: Item, targets: tuple[Parameter, ...]
) -> Distribution:
    """Return a law wider than the item's own, with its ends moved into the domain.

    An end moves to where the domain ends. Where that number itself is not allowed, as
    a mass of 0, it moves to half of the way from there to the item's own end.
    """
    low, high = (
        _moved(wide, own, item, targets)
        for wide, own in zip(law.support, item.distribution.support, strict=True)
    )
    if isinstance(law, TruncatedNormal):
        return TruncatedNormal(law.mean, law.sd, low, high)
    return type(law)(low, high) if isinstance(law, Uniform | LogUniform) else law


def _moved(
    wide: float, own: float, item: Item, targets: tuple[Parameter, ...]
) -> float:
    for parameter in targets:
        if item.operation is Operation.SCALE and parameter.nominal == 0.0:
            continue
        value = float(_absolute(np.array(wide), item, parameter))
        if _allows(parameter, value):
            continue
        below = value <= parameter.low
        end = parameter.low if below else parameter.high
        is_open = parameter.low_open if below else parameter.high_open
        edge = item.operation.drawn(end, parameter.nominal)
        wide = (edge + own) / 2.0 if is_open else edge
        share = 2.0**-52  # what rounding may have made
        while not _allows(parameter, float(_absolute(np.array(wide), item, parameter))):
            wide = own if share >= 1.0 else edge + (own - edge) * share
            share *= 8.0
    return wide


def _check_whole(item: Item, parameter: Parameter) -> None:
    if not parameter.whole:
        return
    law = item.distribution
    values = law.values if isinstance(law, Choice) else law.support
    drawn = _absolute(np.array(values), item, parameter)
    if is_discrete(law) and all(float(value).is_integer() for value in drawn):
        return
    low, high = law.support
    few = range(int(np.ceil(low)), int(high) + 1) if 0 <= high - low < 20 else (0, 1)
    raise InvalidArgument(
        f"{item.text}: {shown(parameter.name)} takes whole numbers only",
        hint=f"write {item.name}{item.operation.value}"
        f"{Choice(tuple(map(float, few)) or (0.0, 1.0)).text}",
        code="needs-whole",
    )


def _check_ends(item: Item, parameter: Parameter) -> None:
    law = item.distribution
    low, high = law.support
    bounded = isfinite(parameter.low), isfinite(parameter.high)
    if not (isfinite(low) and isfinite(high)) and any(bounded):
        ends = sorted(_absolute(np.array([low, high]), item, parameter))
        if (bounded[0] and not isfinite(ends[0])) or (
            bounded[1] and not isfinite(ends[1])
        ):
            raise InvalidArgument(
                f"{item.text}: {shown(parameter.name)} must be "
                f"{domain_text(parameter)}, and a normal number may be anything",
                hint="give in=low..high: normal(1, sd=0.2, in=0.5..1.5)",
                code="needs-in",
            )
    values = law.values if isinstance(law, Choice) else (low, high)
    for drawn in values:
        value = float(_absolute(np.array(drawn), item, parameter))
        if not _allows(parameter, value):
            raise _outside(item, parameter, drawn, value)


def _outside(
    item: Item, parameter: Parameter, drawn: float, value: float
) -> InvalidArgument:
    law, name = item.distribution, shown(parameter.name)
    if isinstance(law, Fixed | Choice):
        what = f"{number_text(drawn)} is given"
    else:
        which = "starts" if drawn == law.support[0] else "ends"
        what = f"the range {which} at {number_text(drawn)}"
    if item.operation is not Operation.ABSOLUTE:
        what += f", which makes it {number(value)} (it is {number(parameter.nominal)})"
    hint = f"choose numbers for which {name} stays {domain_text(parameter)}"
    if item.operation is Operation.ABSOLUTE and isinstance(law, Uniform | LogUniform):
        low, high = (_allowed_near(end, parameter) for end in law.support)
        if low < high:
            hint = f"write {item.name}={type(law)(low, high).text}"
    return InvalidArgument(
        f"{item.text}: {name} must be {domain_text(parameter)}, {what}",
        hint=hint,
        code=OUTSIDE,
    )


def _allowed_near(value: float, parameter: Parameter) -> float:
    """Return an allowed value for a hint: the domain's end, or a tenth from it."""
    if _allows(parameter, value):
        return value
    below = value <= parameter.low
    end = parameter.low if below else parameter.high
    if parameter.low_open if below else parameter.high_open:
        return float(f"{end + (parameter.nominal - end) / 10.0:.3g}")
    return end


def _allows(parameter: Parameter, value: float) -> bool:
    """Return whether a value is in the domain, whole or not."""
    above = value > parameter.low if parameter.low_open else value >= parameter.low
    below = value < parameter.high if parameter.high_open else value <= parameter.high
    return above and below


def _absolute(drawn: FloatArray, item: Item, parameter: Parameter) -> FloatArray:
    return np.asarray(item.operation.absolute(drawn, parameter.nominal))
