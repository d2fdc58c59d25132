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

from tests.sessions import all_gone, begun, killed_if_it_fails

ROOT = Path(__file__).parents[2]
SIMGAP = (sys.executable, "-m", "simgap.cli.app.main")
SMALL = (sys.executable, "-m", "tests.faults.small")
COMPILED_ONCE = {  # programs of JAX, as kernels are
    "JAX_COMPILATION_CACHE_DIR": "../programs",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
PATIENCE = 900.0  # seconds after which a command hangs, on a machine that is busy
TICKS = os.sysconf("SC_CLK_TCK")


@final
@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    err: str
    worked: float  # seconds of processor time, when it was last looked at
    struck: bool  # the signal came before the end
    begun: bool  # it listened to interrupts by then


def run(words: tuple[str, ...], folder: Path) -> Ended:
    """Run a command in a folder and leave it alone."""
    return strike(words, folder, signal.SIGINT, float("inf"))


def strike(
    words: tuple[str, ...], folder: Path, number: signal.Signals, moment: float
) -> Ended:
    """Run a command, and send it a signal when it has worked for so many seconds.

    Processor time decides, that of its helpers too, so that a busy machine does not
    move the moment. An interrupt goes to its process group, as from a terminal; only
    its first process is killed. None is left in the end.
    """
    process = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, **COMPILED_ONCE, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with killed_if_it_fails(process.pid):
        begin, worked = time.monotonic(), 0.0
        struck = listens = False
        while process.poll() is None and not struck:
            listens = listens or begun(process.pid)
            worked = max(worked, _worked(process.pid))
            assert time.monotonic() - begin < PATIENCE, "it hangs"
            struck = worked >= moment
            time.sleep(0.005)
        if struck and number is signal.SIGINT:
            os.killpg(process.pid, number)
        elif struck:
            process.send_signal(number)
        err = process.communicate(timeout=PATIENCE)[1]
        all_gone(process.pid)
    return Ended(process.returncode, err, worked, struck, listens)


def _worked(process: int) -> float:
    """Return the processor time of a process and all below it, so far."""
    try:
        about = Path(f"/proc/{process}")
        told = (about / "stat").read_text(encoding="ascii")
        below = (about / "task" / str(process) / "children").read_text().split()
    except OSError:  # it has just ended
        return 0.0
    spent = told.rpartition(")")[2].split()[11:15]  # those that have ended among them
    return sum(map(int, spent)) / TICKS + sum(_worked(int(each)) for each in below)
