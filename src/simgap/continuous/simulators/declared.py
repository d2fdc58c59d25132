"""What a user declares of a simulator: parameters, horizon and bounds, checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

from simgap.continuous.interfaces import Parameter
from simgap.errors import InvalidArgument
from simgap.text import listed, number, shown, suggestion

Declared = Mapping[str, Parameter | tuple[float, ...]] | Iterable[Parameter]


def declared_parameters(
    simulator: str,
    declared: Declared | None,
    found: Mapping[str, Parameter],
    taken: Callable[[str], bool],
) -> tuple[Parameter, ...]:
    """Return the parameters that were found, with what is declared of them.

    `taken` says whether the simulator takes an argument of that name. A declared name
    that was not found needs a nominal value of its own.
    """
    result = dict(found)
    for name, said in _by_name(declared):
        if not taken(name):
            raise InvalidArgument(
                f"{simulator} takes no argument {shown(name)}",
                hint=suggestion(name, found) or f"it takes {listed(list(found))}",
                code="no-such-parameter",
            )
        result[name] = _parameter(name, said, found.get(name))
    for each in result.values():
        if not (isfinite(each.nominal) and each.allows(each.nominal)):
            raise InvalidArgument(
                f"{each.name} is nominally {number(each.nominal)}",
                hint=f"by its declaration it lies from {number(each.low)} to "
                f"{number(each.high)}",
                code="nominal-outside-domain",
            )
    return tuple(result.values())


def checked_horizon(given: Any) -> int | None:
    """Return a declared number of steps, or None if none is declared."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise InvalidArgument(
            f"the horizon is {shown(str(given))}",
            hint="give a whole number of steps, HORIZON = 200",
            code="bad-horizon",
        )
    return given


def checked_returns(given: Any) -> tuple[float, float] | None:
    """Return declared bounds of a return, or None if none are declared."""
    if given is None:
        return None
    try:
        low, high = (float(each) for each in given)
    except (TypeError, ValueError):
        low, high = 0.0, 0.0
    if not (isfinite(low) and isfinite(high) and low < high):
        raise InvalidArgument(
            f"the bounds of returns are {shown(str(given))}",
            hint="give two finite numbers, the lower one first: RETURNS = (0, 200)",
            code="bad-returns",
        )
    return low, high


def _by_name(declared: Any) -> Iterable[tuple[str, Any]]:
    if declared is None:
        return ()
    if isinstance(declared, Mapping):
        return declared.items()
    if isinstance(declared, (list, tuple)) and all(
        isinstance(each, Parameter) for each in declared
    ):
        return [(each.name, each) for each in declared]
    raise _wrong("parameters", declared)


def _parameter(name: str, said: Any, found: Parameter | None) -> Parameter:
    if isinstance(said, Parameter):
        return replace(said, name=name)
    try:
        ends = [float(each) for each in said]
    except (TypeError, ValueError) as error:
        raise _wrong(name, said) from error
    if len(ends) not in (2, 3) or not sorted(ends) == ends or ends[0] == ends[-1]:
        raise _wrong(name, said)
    if len(ends) == 3:
        base = replace(found, nominal=ends[1]) if found else Parameter(name, ends[1])
    elif found is None:
        raise InvalidArgument(
            f"{name} has no nominal value",
            hint=f"give make a default, {name}=1.0, or three numbers in PARAMETERS: "
            "low, nominal, high",
            code="parameter-without-nominal",
        )
    else:
        base = found
    return replace(base, low=ends[0], high=ends[-1])


def _wrong(name: str, said: Any) -> InvalidArgument:
    return InvalidArgument(
        f"{name} is declared as {shown(str(said))}",
        hint='write PARAMETERS = {"mass": (low, high)}, or (low, nominal, high), or a '
        "simgap Parameter",
        code="bad-parameters",
    )
