"""Sweeps as `simgap sweep` leaves them, for the tests of the page."""

from __future__ import annotations

import atexit
import csv
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from simgap.records.kept import write_record
from simgap.records.sweep import axis_text
from tests.report.explorer_cases import PROVENANCE

AXES: dict[str, Sequence[Any]] = {
    "model": ["riverswim?states={states}&success=0.1:0.6:3"],
    "states": [3, 4, 6],
    "horizon": [5, 10, 20, 40, 80],
    "policy": ["oracle", "likelihood", "memoryless"],
    "seed": [0, 1],
}
COLUMNS = {
    "average": "loss, averaged over the models by their prior",
    "worst": "loss in the worst model",
    "outcome": "why planning stopped",
}
ENDINGS = ("", "_lower", "_upper", "_certainty")
Four = tuple[object, object, object, str]
Numbers = Callable[[Mapping[str, Any]], Sequence[Four] | str]  # a text: its state


def certified(lower: float, upper: float) -> Four:
    return "", lower, upper, "certified"


def estimated(value: float, half: float) -> Four:
    return value, value - half, value + half, "estimated, 95 %"


def told(word: str) -> Four:
    return word, "", "", "as told"


def numbers_of(cell: Mapping[str, Any]) -> Sequence[Four] | str:
    """Losses that grow, two cells that failed, and one that is not there yet."""
    steps, size = float(cell["horizon"]), float(cell["states"])
    if cell["policy"] == "memoryless" and steps == 20 and size == 4:
        return "failed"
    if cell["policy"] == "memoryless" and (steps, size, cell["seed"]) == (80, 6, 1):
        return "not yet"
    loss = {"oracle": 0.02, "likelihood": 0.1, "memoryless": 0.2}[cell["policy"]]
    loss *= steps**0.7 * size
    if cell["policy"] != "likelihood":
        both = certified(loss, loss * 1.1), certified(loss * 2.0, loss * 2.5)
        return [*both, told("solved")]
    loss *= 1.0 + 0.1 * cell["seed"]
    both = estimated(loss, loss / 6.0), estimated(loss * 2, loss / 2)
    return [*both, told("solved")]


def sweep(axes: Mapping[str, Sequence[Any]] = AXES, **changes: Any) -> dict[str, Any]:
    """A record of a sweep."""
    cells = prod(len(each) for each in axes.values())
    return {
        "schema": 1,
        "kind": "sweep",
        "title": "Three rivers",
        "question": "gap",
        "cells": cells,
        "done": cells - 3,
        "failed": 2,
        "running": 0,
        "driver": None,
        "reused": 0,
        "axes": {name: list(values) for name, values in axes.items()},
        "columns": COLUMNS,
        "settings": {"runs": 50},
        "changes": ["horizon has 1 more: 80"],
        "dropped": 0,
        "failures": [
            {
                "cell": "0f",
                "axes": {"states": 4, "horizon": 20, "policy": "memoryless", "seed": s},
                "code": "memory-limit",
                "text": "used 4.1 GB of memory: 4 are allowed",
                "hint": "raise memory in [limits]",
                "tries": 1,
            }
            for s in (0, 1)
        ],
        "cost": None,
        "table": "/somewhere/else/table.csv",
        "page": None,
        "seconds": 12.5,
        "notes": [],
        "certainty": {"cells": "exact", "done": "exact", "failed": "exact"},
        "provenance": PROVENANCE
        | {"command": "simgap sweep rivers.toml --out rivers", "model": "rivers.toml"},
    } | changes


def sweep_with_table() -> dict[str, Any]:
    """A record of a sweep whose table is there."""
    return sweep(table=str(_folder() / "table.csv"))


@cache
def _folder() -> Path:
    kept = TemporaryDirectory()
    atexit.register(kept.cleanup)
    return write_sweep(Path(kept.name))


def strange_sweep(folder: Path, *names: str) -> None:
    """Write a sweep whose words are all strangers'."""
    text = names[0].encode("utf-8", "replace").decode()  # a plan is UTF-8
    axes: dict[str, list[Any]] = {
        "horizon": [5, 10],
        "policy": list(names) if len(names) > 1 else [text, "calm one"],
        text: [text, f"{text} "],
    }

    def numbers(cell: Mapping[str, Any]) -> Sequence[Four] | str:
        if cell["horizon"] == 5 and cell["policy"] == axes["policy"][0]:
            return "failed"
        at = axes["policy"].index(cell["policy"]) + 1.0
        return [certified(at, at + cell["horizon"]), told(text)]

    failure = {
        "cell": text,
        "axes": {text: text, "policy": text},
        "code": text,
        "text": text,
        "hint": text,
        "tries": 1,
    }
    write_sweep(
        folder,
        axes,
        numbers,
        title=text,
        question=text,
        columns={text: text, f"{text}-word": text},
        settings={text: text},
        changes=[text],
        failures=[failure],
        notes=[{"code": text, "text": text}],
    )


def write_sweep(
    folder: Path,
    axes: Mapping[str, Sequence[Any]] = AXES,
    numbers: Numbers = numbers_of,
    **changes: Any,
) -> Path:
    """Write a record and its table into a folder; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    record = sweep(axes, **changes)
    write_record(record, folder / "sweep.json")
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        heads = [name + end for name in record["columns"] for end in ENDINGS]
        writer.writerow([*axes, *heads, "notes", "state", "cell"])
        for at, values in enumerate(product(*axes.values())):
            found = numbers(dict(zip(axes, values, strict=True)))
            state = found if isinstance(found, str) else "done"
            fours = (
                [] if isinstance(found, str) else [e for four in found for e in four]
            )
            fours = fours or [""] * len(heads)
            writer.writerow([*map(axis_text, values), *fours, "", state, f"{at:x}"])
    return folder
