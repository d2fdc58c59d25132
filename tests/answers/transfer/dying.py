"""A `simgap` that sends itself a signal at a chosen moment of its writing.

    python dying.py FOLDER WHAT NUMBER SIGNAL TOGETHER ARGUMENTS OF SIMGAP ...

A moment is a statement of SQL, or a file in FOLDER that is made, opened or renamed. At
the NUMBER-th one that has WHAT in it ("COMMIT", "rename", "" for all) the SIGNAL is
sent: SIGKILL to this process alone, SIGINT to its group, as a terminal does. At the end
the number of moments is written to standard error. Jobs that finish within TOGETHER
seconds are written together: with 0 each is, with inf all are, on every machine.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from typing import Any

WATCHED = ("open", "os.mkdir", "os.rename", "sqlite3.connect")


class Moments:
    """Counts, and sends the signal when it is time."""

    def __init__(self, folder: str, what: str, left: int) -> None:
        self._folder, self._what, self._left = folder, what, left
        self._connect = sqlite3.connect
        self.signal, self.count = signal.SIGKILL, 0

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """See what Python does with the folder."""
        if event in WATCHED and self._folder in str(arguments[0]):
            self._next(event)

    def connect(self, *where: Any, **how: Any) -> sqlite3.Connection:
        """Return a connection whose statements count."""
        connection: sqlite3.Connection = self._connect(*where, **how)
        connection.set_trace_callback(self._next)
        return connection

    def _next(self, happens: str) -> None:
        self.count += 1
        self._left -= self._what in happens
        if self._left or self._what not in happens:
            return
        alone = self.signal is signal.SIGKILL
        (os.kill if alone else os.killpg)(os.getpid(), self.signal)


def main() -> int:
    """Run the command line of simgap."""
    from simgap.cli.app.main import main as simgap
    from simgap.continuous.measuring import kept_jobs

    folder, what, number, name, together, *arguments = sys.argv[1:]
    kept_jobs.TOGETHER = float(together)
    moments = Moments(folder, what, int(number))
    moments.signal = signal.Signals[name]
    sys.addaudithook(moments.audit)
    sqlite3.connect = moments.connect  # type: ignore[assignment]
    status = simgap(arguments)
    sys.stderr.write(f"{moments.count} moments\n")
    return status


if __name__ == "__main__":  # workers import this file as well
    sys.exit(main())
