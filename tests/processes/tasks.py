"""What the workers of these tests do; a task is a word and what it is about."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import random
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from simgap.errors import InvalidArgument, OutsideClass, SimgapError
from simgap.processes import Crew, Tell
from tests.sessions import FOREVER

BEGUN = "begun"
FIRST = dict(os.environ)  # when this file was imported
KEPT: list[bytes] = []
Task = tuple[str, Any]


def start(tell: Tell) -> Callable[[Task], Any]:
    """Begin at once."""
    return partial(run, tell)


def crew(workers: int = 2, **settings: Any) -> Crew:
    """Return a crew for these tasks."""
    return Crew(start, workers, **settings)


def run(tell: Tell, task: Task) -> Any:
    what, about = task
    return TASKS[what](about, tell)


def note(path: Path, text: str) -> None:
    """Add a line to a file, which several processes may do."""
    with path.open("a") as file:
        file.write(f"{text}\n")


def wait_for(path: Path) -> None:
    """Wait until there is a file."""
    deadline = time.monotonic() + FOREVER
    while not path.exists():
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def _die(how: str, _: Tell) -> None:
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    ctypes.string_at(0)


def _die_and_say_so(path: Path, tell: Tell) -> None:
    note(path, "died")
    os._exit(3)


def _die_once(path: Path, tell: Tell) -> str:
    if not path.exists():
        note(path, "died")
        os._exit(3)
    return "done"


def _take_memory(about: tuple[int, int], _: Tell) -> tuple[int, int]:
    """Take megabytes; never end if the process then has more than so many of them."""
    megabytes, most = about
    taken = b"1" * (megabytes << 20)
    if megabytes + (sum(map(len, KEPT)) >> 20) > most:
        time.sleep(FOREVER)
    return len(taken), os.getpid()


def _keep_memory(megabytes: int, _: Tell) -> int:
    KEPT.append(b"1" * (megabytes << 20))
    return os.getpid()


def _fail(how: str, _: Tell) -> Any:
    if how == "simgap":
        raise InvalidArgument("wrong\nin two lines", hint="do better", code="a-code")
    if how == "carries":
        raise OutsideClass("surprise", hint="look", step=("state", 3))
    if how == "unpicklable":
        raise OutsideClass("surprise", hint="look", step=lambda: None)
    if how == "value":
        raise ValueError("three is no good")
    if how == "exit":
        sys.exit(5)
    if how == "unreadable":
        return Unreadable()
    return lambda: None


class Unreadable:
    """Arrives nowhere."""

    def __reduce__(self) -> Any:
        return _not_read, ()


def _not_read() -> None:
    raise RuntimeError("it cannot be read")


def _report(count: int, tell: Tell) -> int:
    for each in range(count):
        tell((count, each))
    return count


def _print(text: str, _: Tell) -> None:
    print(text, flush=True)
    os.write(1, f"{text} again\n".encode())


def _scribble(garbage: bytes, _: Tell) -> bytes:
    """Write into every descriptor that is open and takes it."""
    for each in range(3, 64):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(each).st_mode):
                os.write(each, garbage)
    return garbage


def _scribble_and_wait(garbage: bytes, tell: Tell) -> None:
    _scribble(garbage, tell)
    time.sleep(FOREVER)


def _child(_: Any, tell: Tell) -> int | None:
    """Start a process of one's own."""
    child = multiprocessing.get_context("spawn").Process(target=sys.exit, args=(7,))
    child.start()
    child.join()
    return child.exitcode


def _program(about: tuple[Path, str], _: Tell) -> None:
    """Start a program that takes long; say which, and end badly or never."""
    path, how = about
    draft = path.with_name("draft")
    draft.write_text(str(subprocess.Popen(["sleep", f"{FOREVER}"]).pid))
    draft.rename(path)
    if how == "dies":
        os._exit(3)
    time.sleep(FOREVER)


def _until(path: Path, _: Tell) -> str:
    """Wait for a file; say that it has begun."""
    note(path.parent / BEGUN, path.name)
    wait_for(path)
    return path.name


def _numbered(about: tuple[int, Path], _: Tell) -> int:
    """Wait for the file `go`, and say by a file of its own that it has begun."""
    number, folder = about
    (folder / f"{BEGUN}-{number}").touch()
    wait_for(folder / "go")
    return number


TASKS: dict[str, Callable[[Any, Tell], Any]] = {
    "square": lambda number, _: number * number,
    "die": _die,
    "die and say so": _die_and_say_so,
    "die once": _die_once,
    "take memory": _take_memory,
    "keep memory": _keep_memory,
    "fail": _fail,
    "report": _report,
    "print": _print,
    "scribble": _scribble,
    "scribble and wait": _scribble_and_wait,
    "child": _child,
    "program": _program,
    "until": _until,
    "numbered": _numbered,
    "bytes": lambda size, _: b"x" * size,
    "length": lambda text, _: len(text),
    "process": lambda _, tell: os.getpid(),
    "environment": lambda name, _: (os.environ.get(name), FIRST.get(name)),
}


def start_that_dies(tell: Tell) -> Callable[[Task], Any]:
    """Begin, and have the process killed in one of its first tasks, or soon after."""
    rng = random.Random(os.getpid())
    left, later = rng.randrange(1, 30), rng.choice([0.0, rng.uniform(0.0, 0.02)])

    def kill() -> None:
        time.sleep(later)
        os.kill(os.getpid(), signal.SIGKILL)

    def run_and_die(task: Task) -> Any:
        nonlocal left
        left -= 1
        if not left and later:
            threading.Thread(target=kill, daemon=True).start()
        elif not left:
            kill()
        return run(tell, task)

    return run_and_die


def start_that_fails(path: Path, how: str, tell: Tell) -> Callable[[Task], Any]:
    """Do not begin."""
    note(path, "started")
    if how == "simgap":
        raise InvalidArgument("no such file", hint="make one", code="a-code")
    if how == "other":
        raise ValueError("no")
    os._exit(3)


def start_of_one(path: Path, tell: Tell) -> Callable[[Task], Any]:
    """Begin if no other process has; else die, and say so by a file of its own."""
    try:
        path.open("x").close()
    except FileExistsError:
        note(path, "died")
        path.with_name(f"death-{len(path.read_text().split())}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return start(tell)


def equal(one: SimgapError, other: SimgapError) -> bool:
    """Return whether two errors say the same."""
    return (
        type(one) is type(other) and vars(one) == vars(other) and str(one) == str(other)
    )
