"""The plan of a sweep in its ledger, with what the files that it names held then.

A copy of the plan lies in the folder as well, so that it outlives a damaged ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from simgap.errors import InvalidFile, SimgapError
from simgap.ledger import Ledger, Row
from simgap.sweeps.changes import changed_inputs, changes_of
from simgap.sweeps.plan import Inputs, Plan, Texts
from simgap.sweeps.plan_file import LARGEST
from simgap.sweeps.reading import plan_of
from simgap.user_files import replacing

PLAN, INPUTS = "plan", "inputs"  # keys in the ledger, and states of their rows
COPY = "plan-copy.toml"
MARK = b"\n# A copy for simgap resume --repair. Do not change it: "


def keep_plan(ledger: Ledger, plan: Plan, folder: Path) -> tuple[str, ...]:
    """Write the plan and what it names, if that is new; return what has changed."""
    assert all(plan.cell_keys())  # all that is named has been looked at
    before = ledger.find(PLAN)
    new = [
        Row(PLAN, plan.file.text.encode(), PLAN),
        Row(INPUTS, _encoded(plan.inputs), INPUTS),
    ]
    changes = () if before is None else tuple(_changes(ledger, before, plan))
    _write_copy(folder, plan.file.text.encode())
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


def repaired_plan(ledger: Ledger, folder: Path) -> None:
    """Put the plan into a ledger that was damaged, from the copy if that is whole."""
    row, text = ledger.find(PLAN), _read_copy(folder)
    if text is not None and (row is None or row.content != text):
        ledger.keep(PLAN, text, PLAN)
    elif text is None and row is None:
        raise InvalidFile(
            f"{folder} has no plan of a sweep: it is lost, or there was none",
            hint="repeat the command that made the folder: what is whole in its ledger "
            "is used",
            code="lost-plan",
        )


def _changes(ledger: Ledger, before: Row, plan: Plan) -> Iterator[str]:
    inputs = _inputs(ledger)
    try:
        old = plan_of(before.content, "the old plan", inputs)
    except SimgapError:
        yield "the plan before was one of another version of simgap"
        return
    yield from changes_of(old, plan)
    if inputs is not None and old.question is plan.question:
        yield from changed_inputs(inputs, plan)


def _encoded(inputs: Inputs) -> bytes:
    pairs = sorted(inputs.contents.items())
    return msgspec.json.encode([inputs.version, pairs], order="sorted")


def _inputs(ledger: Ledger) -> Inputs | None:
    row = ledger.find(INPUTS)
    if row is None:
        return None  # lost with a damaged ledger
    kind = tuple[int, list[tuple[Texts, dict[str, Any]]]]
    version, pairs = msgspec.json.decode(row.content, type=kind)
    return Inputs(version, dict(pairs))


def _write_copy(folder: Path, text: bytes) -> None:
    if _read_copy(folder) != text:
        with replacing(folder / COPY) as draft:
            draft.write_bytes(text + MARK + _digest(text) + b"\n")


def _read_copy(folder: Path) -> bytes | None:
    """Return the plan of the copy, if that is whole."""
    try:
        with (folder / COPY).open("rb") as stream:
            found = stream.read(2 * LARGEST)
    except OSError:
        return None
    text, _, digest = found.rpartition(MARK)
    return text if digest == _digest(text) + b"\n" else None


def _digest(text: bytes) -> bytes:
    return sha256(text).hexdigest().encode()
