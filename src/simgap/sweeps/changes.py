"""What differs between two plans, or in the files that they name, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simgap.sweeps.plan import Inputs, Plan, texts_of
from simgap.text import shown

MOST = 5  # files and models that are told of


def changes_of(old: Plan, new: Plan) -> Iterator[str]:
    """Return what differs, and what follows for cells that are finished."""
    if old.question is not new.question:
        yield f"the question was {old.question.name}: no finished cell is used again"
        return
    yield from _axes(old, new)
    for name in dict.fromkeys((*old.settings, *new.settings)):
        before, after = old.settings.get(name), new.settings.get(name)
        if name in old.axes or name in new.axes:
            continue  # it has moved, which is told
        if before != after:
            yield (
                f"{name} was {_value(before)}, is {_value(after)}: no finished cell "
                "is used again"
            )
    if old.limits != new.limits:
        yield "limits differ: finished cells are used again"


def changed_inputs(old: Inputs, plan: Plan) -> Iterator[str]:
    """Return what differs in the files and models that a plan names."""
    if old.version != plan.inputs.version:
        yield (
            f"simgap answers the question {plan.question.name} in another way now: no "
            "finished cell is used again"
        )
    found: dict[str, None] = {}
    for asked in plan.kinds():
        texts = texts_of(asked)
        before = _parts(old.contents.get(texts, {}))
        for part, value in _parts(plan.inputs.contents[texts]).items():
            if before.get(part, value) != value:
                name = part.split()[-1]
                found[f"{name} {shown(str(asked.get(name, '')), 80)}"] = None
    for told in list(found)[:MOST]:
        yield f"{told} is not what it was: its cells are run again"
    if len(found) > MOST:
        yield f"{len(found) - MOST} more of this kind"


def _axes(old: Plan, new: Plan) -> Iterator[str]:
    for name in dict.fromkeys((*old.axes, *new.axes)):
        before, after = _values(old, name), _values(new, name)
        if not before or not after:
            what = "is new" if after else "is gone"
            yield f"the axis {name} {what}"
            continue
        if more := [each for each in after if each not in before]:
            yield f"{name} has {len(more)} more: {_listed(more)}"
        if less := [each for each in before if each not in after]:
            yield f"{name} has {len(less)} fewer: {_listed(less)}"


def _values(plan: Plan, name: str) -> tuple[Any, ...]:
    """Return the values that a name has in a plan, as an axis or as a setting."""
    if name in plan.axes:
        return plan.axes[name]
    return (plan.settings[name],) if name in plan.settings else ()


def _parts(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hashes of what is named, none inside of another."""
    found: dict[str, Any] = {}
    for name, value in contents.items():
        found |= _parts(value) if isinstance(value, Mapping) else {name: value}
    return found


def _listed(values: list[Any]) -> str:
    return shown(", ".join(map(str, values)), 80)


def _value(value: Any) -> str:
    return "not given" if value is None else repr(value)
