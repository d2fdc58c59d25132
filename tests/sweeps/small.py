"""Small sweeps: plans, and an engine that runs cells where it is called."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from simgap.errors import SimgapError
from simgap.processes import Ended
from simgap.records.sweep import Sweep
from simgap.sweeps.cells import Begin
from simgap.sweeps.plan import Cell, Plan
from simgap.sweeps.sweep import sweep

MODEL = "riverswim?states={states}&success=0.3,0.6"
RIVERS = f"""question = "gap"
seeds = 2
[axes]
model = "{MODEL}"
states = [3, 4]
horizon = [2, 3]
policy = ["random", "zero"]
[settings]
runs = 4
"""
POLICY = """
def act(observation, memory):
    return 0, None
"""


class Here:
    """An engine in this very process; `before` is called before every cell."""

    workers = 1

    def __init__(self, before: Callable[[Cell], object] = lambda cell: None) -> None:
        self._before = before
        self.ran: list[Cell] = []

    def run(self, cells: Iterable[Cell], begin: Begin, plan: Plan) -> Iterator[Ended]:
        """Return cells as they end, one after the other."""
        for cell in cells:
            self._before(cell)
            self.ran.append(cell)
            try:
                yield Ended(cell, begin.answered(cell))
            except SimgapError as error:
                yield Ended(cell, failure=error)


def swept(folder: Path, text: str = RIVERS, engine: Here | None = None) -> Sweep:
    """Sweep a plan in a folder, in this process."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    plan = folder.with_name(f"{folder.name[:80]}.toml")
    plan.write_text(text, encoding="utf-8")
    return sweep(plan, out=folder, engine=engine or Here())


def table(folder: Path) -> list[dict[str, str]]:
    """Return the lines of the table of a folder."""
    with (folder / "table.csv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def changed(text: str, *changes: tuple[str, Any]) -> str:
    """Return a text with other words in it."""
    for old, new in changes:
        assert str(old) in text
        text = text.replace(str(old), str(new))
    return text
