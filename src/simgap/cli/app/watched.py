"""Commands that run code of users run in a process of their own, which is watched.

Such code may hang in a library, take all memory, leave threads behind, or end the
process without a word. The command itself only waits here: it passes interrupts on,
ends the other process where it must, and says why. Nothing heavy is imported.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from select import select
from types import FrameType

from simgap.interrupts import (
    WATCHER,
    memory_of_users,
    seconds_of_users,
    watched,
)

VERBS = ("transfer", "check", "train", "blame", "width", "identify", "adapt", "study")
CODE = re.compile(r"\.(py|xml|mjcf|urdf|onnx)\b|^gym:|^mujoco:", re.IGNORECASE)
STATUS = "SIMGAP_STATUS"  # in the environment: where the exit status is written
LOOK = 0.1  # seconds between two looks at the memory
ALONE = 0.5  # seconds between two looks whether somebody watches
GRACE = 1.0  # seconds that a process may take to end after its answer
INTERRUPTED, MISUSE = 130, 2


def watch(arguments: Sequence[str]) -> int | None:
    """Run a command in a process that is watched; None: it runs no code of users."""
    if watched() or not _runs_code(arguments):
        return None
    told, status = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "simgap.cli.app.main", *arguments],
        env={**os.environ, WATCHER: str(os.getpid()), STATUS: str(status)},
        pass_fds=(status,),
        process_group=0,  # what it starts is ended with it; interrupts come from here
    )
    os.close(status)
    interrupts = 0

    def interrupt(number: int, frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += 1
        with suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)

    before = signal.signal(signal.SIGINT, interrupt)
    most = memory_of_users()
    problem = ""
    try:
        while process.poll() is None and interrupts < 2:
            if select([told], [], [], LOOK)[0]:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(GRACE)
                break
            if (used := _resident(process.pid)) > most:
                problem = f"used {used:.3g} GB of memory, {most:.3g} are allowed"
                break
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        ended = process.wait()
        found = os.read(told, 1) if select([told], [], [], 0)[0] else b""
    finally:
        signal.signal(signal.SIGINT, before)
        os.close(told)
    if found:
        return found[0]
    if interrupts or ended == -signal.SIGINT:
        sys.stderr.write("\nstopped: interrupted\n")
        return INTERRUPTED
    return _say(problem or _why(ended))


def end_with_watcher() -> None:
    """End this process, if it is watched, when nobody watches any more."""
    if watched():
        threading.Thread(target=_end_alone, args=(os.getppid(),), daemon=True).start()


def _end_alone(watcher: int) -> None:
    while os.getppid() == watcher:
        time.sleep(ALONE)
    os.killpg(0, signal.SIGKILL)


def write_status(status: int) -> None:
    """Tell whoever watches how this command ended: from here on it may be killed."""
    if watched() and (handle := os.environ.get(STATUS, "")).isdecimal():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        with suppress(OSError):
            os.write(int(handle), bytes([status]))


def _runs_code(arguments: Sequence[str]) -> bool:
    verb = next((each for each in arguments if not each.startswith("-")), "")
    return verb in VERBS and any(
        CODE.search(each) or Path(each).is_dir() for each in arguments
    )


def _why(ended: int) -> str:
    if ended == -signal.SIGALRM:
        return f"took more than {seconds_of_users():g} s for one step, or to be opened"
    if ended < 0:
        return f"ended the process: signal {signal.Signals(-ended).name}"
    return f"ended the process: exit status {ended}"


def _say(what: str) -> int:
    sys.stderr.write(
        f"error: code of the simulator or of a policy {what}\n"
        "hint: does it wait for ever, call os._exit, or crash in a library? "
        "SIMGAP_USER_SECONDS=900 and SIMGAP_USER_MEMORY=16 (GB) allow more\n"
    )
    return MISUSE


def _resident(process: int) -> float:
    """Return the GB that a process holds now."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
    except (OSError, IndexError):  # it has just ended
        return 0.0
    return float(pages) * os.sysconf("SC_PAGE_SIZE") / 2**30
