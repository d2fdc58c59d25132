"""Small sweeps on a disk that fails at the N-th change, for every N.

    LD_PRELOAD=failing.so python -m tests.sweeps.failing failing.so PLACE STEP MODES ...

Each case is a process of its own, forked here: a sweep that meets the failure, then the
same sweep again on a disk that is well. What happened is printed, a JSON object a case.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from simgap.cli.app import main as program
from simgap.ledger.ledger import Ledger
from tests.sweeps.small import Here

COMPILER = shutil.which("cc") or shutil.which("gcc")
MODES = ("once-full", "once-broken", "short", "full-from-now-on")
PLAN = """question = "gap"
[axes]
model = "riverswim?states=3&success=0.3,0.6"
horizon = [2, 3, 4]
policy = ["random", "zero"]
[settings]
runs = 4
"""


def built(place: Path) -> Path:
    """Return the library that makes writes fail, compiled in a folder."""
    library, source = place / "failing.so", Path(__file__).with_name("failing.c")
    build = f"{COMPILER} -shared -fPIC -O1 -ldl -o".split()
    subprocess.run([*build, str(library), str(source)], check=True)
    return library


@dataclass
class Ran:
    """How a command ended."""

    status: int
    code: str
    said: str
    acknowledged: list[str]  # keys of rows that were there for good
    cells: list[str]  # keys of the cells that were run


def ran(*words: str) -> Ran:
    """Run simgap in this process, and note what it does."""
    here, found = Here(), Ran(0, "", "", [], [])
    explain, keep = program._explain, Ledger.keep_all

    def explained(error: Exception) -> int:
        found.code = str(getattr(error, "code", type(error).__name__))
        return explain(error)

    def kept(ledger: Ledger, rows: Any) -> None:
        given = list(rows)
        keep(ledger, given)
        found.acknowledged += [each.key for each in given]

    verb = import_module(f"simgap.cli.verbs.{words[0]}")
    verb.chosen_engine = lambda *_: here  # type: ignore[attr-defined]
    program._explain = explained
    Ledger.keep_all = kept  # type: ignore[assignment, method-assign]
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
            found.status = program.main(words)
    finally:
        program._explain = explain
        Ledger.keep_all = keep  # type: ignore[method-assign]
    found.said, found.cells = said.getvalue(), [each.key for each in here.ran]
    return found


@contextmanager
def forked() -> Iterator[int]:
    """Do the block in a process of its own."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        yield process
        os.waitpid(process, 0)
    else:
        yield 0


def case(disk: ctypes.CDLL, place: Path, number: int, mode: int) -> dict[str, Any]:
    """Return what a failure did, and what the next run made of it."""
    place.mkdir()
    os.chdir(place)
    (place / "plan.toml").write_text(PLAN)
    run = str(place / "run")
    sweep = ("sweep", "plan.toml", "--out", run)
    disk.arm(run.encode(), ctypes.c_long(number), mode)
    first = ran(*sweep)
    changes = disk.changes()
    disk.arm(run.encode(), ctypes.c_long(0), 0)
    second = ran("resume", run)
    begun = second.code not in ("no-sweep", "no-ledger")
    if not begun:  # it had not begun when it failed
        second = ran(*sweep)
    left = sorted(each.name for each in (place / "run").iterdir())
    return {
        "number": number,
        "mode": MODES[mode],
        "changes": changes,
        "status": first.status,
        "code": first.code,
        "said": first.said,
        "acknowledged": len(first.acknowledged),
        "begun": begun,
        "second": [second.status, second.code, second.said],
        "lost": sorted(set(first.acknowledged) & set(second.cells)),
        "ran": len(first.cells) + len(second.cells),
        "table": (place / "run" / "table.csv").read_text(),
        "left": left,
    }


def main() -> None:
    """Run all cases."""
    library, where, step, *modes = sys.argv[1:]
    disk, place = ctypes.CDLL(library), Path(where)
    whole = case(disk, place / "whole", 0, 0)
    print(json.dumps(whole), flush=True)
    for name in modes:
        for number in range(1, whole["changes"] + 1, int(step)):
            with forked() as process:
                if not process:
                    there = place / f"{name}-{number}"
                    told = case(disk, there, number, MODES.index(name))
                    sys.stdout.write(json.dumps(told) + "\n")
                    sys.stdout.flush()
                    os._exit(0)


if __name__ == "__main__":
    main()
