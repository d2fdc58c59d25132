"""What differs between two plans, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simgap.sweeps.plan import Plan
from simgap.text import shown


def changes_of(old: Plan, new: Plan) -> tuple[str, ...]:
    """Return what differs, and what follows for cells that are finished."""
    found: list[str] = []
    if old.question.name != new.question.name:
        return (f"the question was {old.question.name}: no cell can be used again",)
    found += _axes(old.axes, new.axes)
    names = dict.fromkeys((*old.settings, *new.settings))
    for name in names:
        before, after = old.settings.get(name), new.settings.get(name)
        if before != after:
            found.append(
                f"{name} was {_value(before)}, is {_value(after)}: cells that have it "
                "from [settings] are other ones"
            )
    if old.limits != new.limits:
        found.append("limits differ: finished cells stay")
    return tuple(found)


def _axes(
    old: Mapping[str, tuple[Any, ...]], new: Mapping[str, tuple[Any, ...]]
) -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        before, after = old.get(name), new.get(name)
        if before is None or after is None:
            what = "is new" if before is None else "is gone"
            yield f"the axis {name} {what}"
            continue
        more = [each for each in after if each not in before]
        less = [each for each in before if each not in after]
        if more:
            yield f"{name} has {len(more)} more: {_values(more)}"
        if less:
            yield f"{name} has {len(less)} fewer: {_values(less)} dropped from the plan"


def _values(values: list[Any]) -> str:
    return shown(", ".join(map(str, values)), 80)


def _value(value: Any) -> str:
    return "not given" if value is None else repr(value)
