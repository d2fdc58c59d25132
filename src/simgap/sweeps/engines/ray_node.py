"""What a Ray worker does with a cell.

It answers none itself: it has a process of its own for that, the same supervised one
that answers cells on one machine. So limits of time and memory, deaths and errors end a
cell in the same ways, and the worker stays small and lives on. Nothing large is
imported here; what is sent to that process and comes from it are bytes.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple, final

from simgap.errors import SimgapError
from simgap.processes import Crew, Ended, TaskFailed
from simgap.sweeps.engines.ray_files import Placed, Sent, own_folder, placed

LIBRARIES: Final = (  # that have a part in the numbers
    "simgap",
    "numpy",
    "scipy",
    "numba",
    "gymnasium",
    "mujoco",
    "jax",
    "jaxlib",
    "optax",
    "onnxruntime",
)


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """What all cells of a run have in common."""

    begin: bytes  # pickled: a `Begin`
    folder: str  # of the sweep
    current: str  # folder of the driver
    environment: Mapping[str, str]
    seconds: float | None
    memory: float | None
    tries: int
    alone: bool  # a cell has a new process: the last one gives its GPU back
    versions: Mapping[str, str]


class Given(NamedTuple):
    """A cell, and the files that it reads."""

    cell: bytes  # pickled
    files: tuple[Sent, ...]


class Answer(NamedTuple):
    """How a cell ended; or why none can be answered here."""

    result: bytes = b""  # pickled: an `Answered`
    failure: SimgapError | None = None
    tries: int = 1
    seconds: float = 0.0
    peak: float | None = None
    refusal: SimgapError | None = None


def answer(name: str, setting: list[Any], given: Given) -> Answer:
    """Answer one cell in the process of this worker.

    `setting` holds a reference to a `Setting` of that name, which is fetched once.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what runs is ended, what waits not
    try:
        station = _station(name, setting)
        task = station.task(given)
        ended: Ended
        (ended,) = station.crew.run([task])
        if station.setting.alone:
            station.crew.close()
    except Exception as error:
        return Answer(refusal=_refusal(error))
    return Answer(
        ended.result or b"", ended.failure, ended.tries, ended.seconds, ended.peak
    )


def versions() -> dict[str, str]:
    """Return what is installed here of all that has a part in the numbers."""
    found = {}
    for name in LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def check_versions(wanted: Mapping[str, str]) -> None:
    """Raise unless the same is installed here as on the driver's machine."""
    found = versions()
    other = [
        f"{name} {found.get(name, 'missing')} instead of {each}"
        for name, each in wanted.items()
        if found.get(name) != each
    ]
    if other:
        raise SimgapError(
            f"other versions are installed there: {', '.join(other)}",
            hint="all machines of the cluster need the same environment",
            code="node-version",
        )


class Task(NamedTuple):
    """A cell as the process of a worker is given it."""

    cell: bytes
    files: tuple[Sent, ...]  # without their contents
    placed: Placed
    folder: str  # of unfinished work
    ours: bool  # that folder belongs to this machine


@final
@dataclass(frozen=True, slots=True)
class _Inside:
    """What the process of a worker does first, and with every cell."""

    begin: bytes

    def __call__(self, tell: Callable[[Any], None]) -> Callable[[Task], bytes]:
        begin = pickle.loads(self.begin)
        begin(tell)
        return partial(_answered, begin)


def _answered(begin: Any, task: Task) -> bytes:
    with suppress(OSError):  # nothing is named from there
        os.chdir(task.placed.folder)
    cell = pickle.loads(task.cell)
    asked = {
        key: task.placed.text(value, task.files) if isinstance(value, str) else value
        for key, value in cell.asked.items()
    }
    here = replace(begin, folder=task.folder)
    try:
        return pickle.dumps(here.answered(replace(cell, asked=asked)))
    except SimgapError as error:  # without what it carries
        raise SimgapError(error.problem, hint=error.hint, code=error.code) from None
    finally:
        if task.ours:
            shutil.rmtree(here.unfinished(cell), ignore_errors=True)


@final
class _Station:
    """The process of a worker, and what it is told."""

    def __init__(self, name: str, setting: Setting) -> None:
        self.name, self.setting = name, setting
        check_versions(setting.versions)
        sys.modules["__main__"].__file__ = None  # a new process would run Ray's worker
        self.crew = Crew(
            _Inside(setting.begin),
            1,
            environment=setting.environment,
            seconds=setting.seconds,
            memory=setting.memory,
            tries=setting.tries,
        )

    def task(self, given: Given) -> Task:
        """Return what its process needs to know of a cell."""
        import ray

        where = placed(given.files, self.setting.current, ray.get)
        shared = not where.root and os.access(self.setting.folder, os.W_OK)
        name = sha256(self.setting.folder.encode()).hexdigest()[:16]
        folder = self.setting.folder if shared else str(own_folder() / "work" / name)
        files = tuple(each._replace(content=[]) for each in given.files)
        return Task(given.cell, files, where, folder, not shared)


_current: _Station | None = None


def _station(name: str, setting: list[Any]) -> _Station:
    """Return the process of this worker, for this run."""
    import ray

    global _current  # noqa: PLW0603 - a worker runs one cell after the other
    if _current is None or _current.name != name:
        if _current is not None:
            _current.crew.close()
        _current = None
        _current = _Station(name, ray.get(setting[0]))
    return _current


def _refusal(error: Exception) -> SimgapError:
    """Return why this machine answers no cell."""
    place = f"on {socket.gethostname()}"
    if isinstance(error, SimgapError):
        said = f"{place}: {error.problem}"
        return SimgapError(said, hint=error.hint, code=error.code)
    return TaskFailed(
        f"{place}: unexpected {type(error).__name__}: {str(error)[:500]}",
        hint="try there: simgap --version",
        code="node-failed",
    )
