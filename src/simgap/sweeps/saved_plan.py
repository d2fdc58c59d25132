"""The plan of a sweep in its ledger, and what differs in the next one, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from simgap.errors import InvalidFile, SimgapError
from simgap.ledger import Ledger, Row
from simgap.sweeps.plan import Inputs, Plan, Texts, texts_of
from simgap.sweeps.reading import plan_of
from simgap.text import shown

PLAN, INPUTS = "plan", "inputs"  # keys in the ledger, and states of their rows
MOST = 5  # files and models that are listed


def save_plan(ledger: Ledger, plan: Plan) -> tuple[str, ...]:
    """Write the plan and what it names, if that is new; return what has changed."""
    assert all(plan.cell_keys())  # all that is named has been looked at
    before = ledger.find(PLAN)
    new = [
        Row(PLAN, plan.file.text.encode(), PLAN),
        Row(INPUTS, _encoded(plan.inputs), INPUTS),
    ]
    changes = () if before is None else tuple(_changes(ledger, before, plan))
    ledger.keep_all(row for row in new if ledger.find(row.key) != row)
    return changes


def plan_in(ledger: Ledger, folder: Path, *, as_it_was: bool) -> Plan:
    """Return the plan of a ledger: as it was run, or with files as they are now."""
    row = ledger.find(PLAN)
    if row is None:
        raise InvalidFile(
            f"there is no sweep in {folder}",
            hint="begin one: simgap sweep plan.toml --out FOLDER; other verbs go on "
            "when their own command is repeated",
            code="no-sweep",
        )
    inputs = _inputs(ledger) if as_it_was else None
    return plan_of(row.content, "the plan", inputs)


def _changes(ledger: Ledger, before: Row, plan: Plan) -> Iterator[str]:
    inputs = _inputs(ledger)
    try:
        old = plan_of(before.content, "the old plan", inputs)
    except SimgapError:
        yield "the plan before was one of another version of simgap"
        return
    if old.question is not plan.question:
        yield f"the question was {old.question.name}: no finished cell is used again"
        return
    yield from _changed_axes(old, plan)
    yield from _changed_settings(old, plan)
    if old.limits != plan.limits:
        yield "limits differ: finished cells are used again"
    yield from _changed_inputs(inputs, plan)


def _encoded(inputs: Inputs) -> bytes:
    pairs = sorted(inputs.contents.items())
    return msgspec.json.encode([inputs.version, pairs], order="sorted")


def _inputs(ledger: Ledger) -> Inputs:
    row = ledger.find(INPUTS)
    assert row is not None  # written with the plan
    kind = tuple[int, list[tuple[Texts, dict[str, Any]]]]
    version, pairs = msgspec.json.decode(row.content, type=kind)
    return Inputs(version, dict(pairs))


def _changed_settings(old: Plan, new: Plan) -> Iterator[str]:
    for name in dict.fromkeys((*old.settings, *new.settings)):
        if name in old.axes or name in new.axes:
            continue  # it has moved
        before, after = old.settings.get(name), new.settings.get(name)
        if before != after:
            yield (
                f"{name} was {_value(before)}, is {_value(after)}: no finished cell "
                "is used again"
            )


def _changed_inputs(old: Inputs, plan: Plan) -> Iterator[str]:
    """Return what differs in the files and models that a plan names."""
    if old.version != plan.inputs.version:
        yield (
            f"simgap answers the question {plan.question.name} in another way now: no "
            "finished cell is used again"
        )
    changed: dict[str, None] = {}
    for asked in plan.kinds():
        texts = texts_of(asked)
        before = _parts(old.contents.get(texts, {}))
        for part, value in _parts(plan.inputs.contents[texts]).items():
            if before.get(part, value) != value:
                name = part.split()[-1]
                changed[f"{name} {shown(str(asked.get(name, '')), 80)}"] = None
    for name in list(changed)[:MOST]:
        yield f"{name} is not what it was: its cells are run again"
    if len(changed) > MOST:
        yield f"{len(changed) - MOST} more of this kind"


def _changed_axes(old: Plan, new: Plan) -> Iterator[str]:
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
    parts: dict[str, Any] = {}
    for name, value in contents.items():
        parts |= _parts(value) if isinstance(value, Mapping) else {name: value}
    return parts


def _listed(values: list[Any]) -> str:
    return shown(", ".join(map(str, values)), 80)


def _value(value: Any) -> str:
    return "not given" if value is None else repr(value)
