"""Commands that are interrupted or killed at a moment of their own time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import final

SIMGAP = [sys.executable, "-m", "simgap.cli.app.main"]
PATIENCE = 300.0  # seconds after which a command hangs
ENDS = 20.0  # seconds in which helpers of a command that is gone end as well
TICKS = os.sysconf("SC_CLK_TCK")


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str
    worked: float  # seconds of processor time, when it was last looked at
    struck: bool  # the signal came before the end


def run(words: tuple[str, ...], folder: Path) -> Ended:
    """Run a command in a folder and leave it alone."""
    return strike(words, folder, signal.SIGINT, float("inf"))


def strike(
    words: tuple[str, ...], folder: Path, number: signal.Signals, moment: float
) -> Ended:
    """Run a command, and send it a signal when it has worked for so many seconds.

    Its own processor time decides, so that a busy machine does not move the moment.
    All processes of the command get an interrupt, as from a terminal; only its first
    one is killed. None is left in the end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [*SIMGAP, *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # a shell that put us in the background has told its children to ignore it
        preexec_fn=lambda: signal.signal(  # noqa: PLW1509  # no threads here
            signal.SIGINT, signal.default_int_handler
        ),
    ) as process:
        begin, worked, struck = time.monotonic(), 0.0, False
        try:
            while process.poll() is None and not struck:
                worked = max(worked, _worked(process.pid))
                assert time.monotonic() - begin < PATIENCE, "it hangs"
                struck = worked >= moment
                time.sleep(0.005)
            if struck and number is signal.SIGINT:
                os.killpg(process.pid, number)
            elif struck:
                process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    _wait_for_helpers(process.pid)
    return Ended(process.returncode, out, err, worked, struck)


def _worked(process: int) -> float:
    """Return the processor time of a process so far."""
    try:
        told = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    user, system = told.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICKS


def _wait_for_helpers(group: int) -> None:
    until = time.monotonic() + ENDS
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process was left behind")
