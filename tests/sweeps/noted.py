"""Sweeps whose cells say themselves when they run.

Every cell has a policy of its own, in a file of the user, which writes the number of
the cell to `calls.txt` whenever a worker asks it for an action; it may be held there.
"""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.sessions import all_gone, in_session

CALLS = "calls.txt"
POLICIES = """
import os
import time
from multiprocessing import parent_process
from pathlib import Path

CALLS, HELD = (Path(__file__).with_name(name) for name in ("calls.txt", "held"))


def held():
    try:
        return CALLS.read_bytes().count(b"\\n") >= int(HELD.read_text())
    except FileNotFoundError:
        return False


def __getattr__(name):
    if not name.startswith("cell_"):
        raise AttributeError(name)

    def act(observation, memory):
        if parent_process() is not None:  # a worker; a driver only looks at it
            with open(CALLS, "ab", buffering=0) as stream:
                stream.write(f"{name[5:]}\\n".encode())
            time.sleep(0.002)
            while held():
                time.sleep(0.002)
        return 0, None

    return act
"""


class Kept(NamedTuple):
    """What a ledger has, read from a copy."""

    done: frozenset[int]  # cells
    rows: Counter[int]  # of each


class Noted:
    """A sweep in a folder of its own, run by commands of simgap."""

    def __init__(self, place: Path, cells: int) -> None:
        self.place, self.cells = place, cells
        place.mkdir(parents=True)
        (place / CALLS).touch()
        (place / "noted.py").write_text(POLICIES)
        names = [f"noted.py:cell_{each}" for each in range(cells)]
        (place / "plan.toml").write_text(
            f"""question = "gap"
[axes]
model = "riverswim?states=3&success=0.3,0.6"
horizon = 1
policy = {names}
[settings]
runs = 2
[limits]
tries = 1000
"""
        )

    @property
    def run(self) -> Path:
        """Return the folder of the sweep."""
        return self.place / "run"

    def hold(self, calls: int) -> None:
        """Let no call be answered from so many on."""
        (self.place / "draft").write_text(str(calls))
        (self.place / "draft").rename(self.place / "held")

    def release(self) -> None:
        """Let all calls be answered."""
        (self.place / "held").unlink()

    def start(
        self,
        *words: str,
        workers: int = 2,
        environment: dict[str, str] | None = None,
        **how: Any,
    ) -> subprocess.Popen[str]:
        """Start simgap in a session of its own."""
        if not words:
            words = ("sweep", "plan.toml", "--out", "run", "--workers", str(workers))
        return subprocess.Popen(
            [sys.executable, "-m", "simgap.cli.app.main", *words],
            cwd=self.place,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **(environment or {})},
            **how,
        )

    def finish(self, *words: str, workers: int = 2) -> None:
        """Run simgap until it ends, well."""
        process = self.start(*words, workers=workers)
        said = process.communicate(timeout=3600)[1]
        assert process.returncode == 0, said
        all_gone(process.pid)

    def calls(self) -> list[int]:
        """Return the cells that were asked for an action, in that order."""
        return [int(each) for each in (self.place / CALLS).read_bytes().split()]

    def kept(self) -> Kept:
        """Return what the ledger has, whatever state it is in."""
        rows: Counter[int] = Counter()
        copy = self.place / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for name in ("ledger.sqlite", "ledger.sqlite-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(self.run / name, copy / name)
        with closing(sqlite3.connect(copy / "ledger.sqlite")) as connection:
            asked = "SELECT key FROM rows WHERE status = 'done' AND key LIKE 'sweep/%'"
            with suppress(sqlite3.OperationalError):  # there is no table yet
                names = self._names()
                rows.update(names[key[6:]] for (key,) in connection.execute(asked))
        return Kept(frozenset(rows), rows)

    def table(self) -> bytes:
        """Return the table, as it is and exported once more: the same bytes."""
        from simgap.sweeps.state import export_table

        export_table(self.run, self.place / "exported.csv")
        found = (self.place / "exported.csv").read_bytes()
        assert (self.run / "table.csv").read_bytes() == found
        return found

    def _names(self) -> dict[str, int]:
        """Return the number of every cell by its key."""
        from simgap.sweeps.reading import read_plan

        here = Path.cwd()
        os.chdir(self.place)
        try:
            keys = read_plan("plan.toml").cell_keys()
            return {key: at for at, key in enumerate(keys)}
        finally:
            os.chdir(here)


def workers_of(driver: int) -> list[int]:
    """Return the worker processes of a driver that run."""
    found = []
    for each in in_session(driver):
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes():
                found.append(each)
    return found


def kill(process: int) -> bool:
    """Send SIGKILL; return whether there was such a process."""
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
