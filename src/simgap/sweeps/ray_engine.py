"""A Ray cluster that runs already: the same cells, on many machines.

A cell is one task of Ray, which runs it again if its worker or machine is lost. Each
worker of Ray has one supervised process, as on one machine, so that limits, deaths and
errors end a cell in the same ways. Results come back to the driver, which alone writes.
Files that cells name by a path inside of the current folder go to every machine, into
the current folder of the workers; what lies elsewhere has to be there already.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from socket import create_connection, gethostname
from tempfile import TemporaryDirectory, mkdtemp
from time import monotonic
from typing import Any, final

from simgap.errors import InvalidArgument, SimgapError
from simgap.interrupts import counted_interrupts
from simgap.processes import Crew, Ended, TaskFailed
from simgap.sweeps.cells import Begin, environment_of
from simgap.sweeps.engine import new_crew
from simgap.sweeps.plan import Cell, Limits, Plan
from simgap.text import shown

AUTO = "auto"
PLACE = re.compile(r"(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):([0-9]{1,5})")
QUIET = {  # read when Ray is imported
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # nothing of machines on standard output
    "RAY_NUM_REDIS_GET_RETRIES": "2",  # half a minute each, where nobody answers
}
DEPTH = 2  # cells under way for each that has room
LOSSES = 10  # of workers and machines that a cell may survive
LOOK = 0.2  # seconds between two looks at interrupts
LOOK_AT_MACHINES = 5.0
LIBRARIES = "simgap numpy scipy numba gymnasium mujoco jax jaxlib optax onnxruntime"


@final
@dataclass(frozen=True, slots=True)
class RayEngine:
    """The Ray cluster at an address: `auto` (on this machine), or HOST:PORT."""

    address: str = AUTO

    def __post_init__(self) -> None:
        if self.address != AUTO and not PLACE.fullmatch(self.address):
            raise InvalidArgument(
                f"{shown(self.address)!r} is no address of a Ray cluster that runs",
                hint="it is auto, or HOST:PORT as `ray start --head` has printed it",
                code="cluster-address",
            )

    @property
    def workers(self) -> int:
        """Return how many cells run at a time, if each takes one CPU."""
        with _connected(self.address) as ray:
            return max(1, _room(ray, Limits()))

    def run(self, cells: Iterable[Cell], begin: Begin, plan: Plan) -> Iterator[Ended]:
        """Return cells in the order in which they end."""
        with TemporaryDirectory() as files:
            sent = _copy_files(plan, Path(files))
            with _connected(self.address, files if sent else None) as ray:
                yield from _run(ray, iter(cells), begin, plan)


def _run(ray: Any, cells: Iterator[Cell], begin: Begin, plan: Plan) -> Iterator[Ended]:
    """Keep as many cells under way as there is room for, until all have ended."""
    environment, limits = environment_of(plan.question), plan.limits
    setting = ray.put((begin, environment, limits, _versions()))
    answer = _task(ray, limits)
    under_way: dict[Any, Cell] = {}
    room, look, stopping = 0, 0.0, False
    try:
        with counted_interrupts(quiet=1) as interrupts:
            while True:
                if interrupts() and not stopping:
                    stopping, cells = True, iter(())
                    for ref in under_way:  # those that wait; what runs does not hear it
                        ray.cancel(ref, force=False)
                if monotonic() >= look:  # machines come and go
                    room = max(_room(ray, limits), 1)  # or wait for one
                    look = monotonic() + LOOK_AT_MACHINES
                while len(under_way) < DEPTH * room and (cell := next(cells, None)):
                    under_way[answer(setting.hex(), [setting], cell)] = cell
                if not under_way:
                    break
                refs = list(under_way)
                if ray.wait(refs, num_returns=1, timeout=LOOK)[0]:
                    for ref in ray.wait(refs, num_returns=len(refs), timeout=0)[0]:
                        if ended := _ended(ray, ref, under_way.pop(ref)):
                            yield ended
        if interrupts():
            raise KeyboardInterrupt
    finally:
        with suppress(Exception):  # a cluster that is gone runs nothing
            for ref in under_way:
                ray.cancel(ref, force=True)


def _ended(ray: Any, ref: Any, cell: Cell) -> Ended | None:
    """Return how a cell ended; None: it was taken back before it began."""
    from ray import exceptions

    try:
        ended: Ended = ray.get(ref)
    except exceptions.TaskCancelledError:
        return None
    except exceptions.LocalRayletDiedError as error:
        raise SimgapError(
            f"the connection to the Ray cluster is lost: {_in_short(error)}",
            hint="when it runs again, the same command goes on",
            code="cluster-lost",
        ) from error
    except exceptions.RayTaskError as error:
        cause = getattr(error, "cause", None) or error
        if isinstance(cause, SimgapError):
            raise cause from error
        raise SimgapError(
            f"a machine of the Ray cluster cannot answer cells: {_in_short(cause)}",
            hint="install simgap there, the same version in the same environment",
            code="node-failed",
        ) from error
    except exceptions.RayError as error:
        lost = f"its worker or machine was lost {LOSSES} times: {_in_short(error)}"
        failure = TaskFailed(lost, code="process-died")
        return Ended(cell, None, failure, LOSSES)
    return replace(ended, task=cell)


def _in_short(error: BaseException) -> str:
    return f"{type(error).__name__}: {shown(' '.join(str(error).split()), 300)}"


_crews: dict[str, Crew] = {}  # of this worker: for the last run, with one process


def _answer(name: str, setting: list[Any], cell: Cell) -> Ended:
    """Answer one cell in the process of this worker, which is started for a run."""
    import ray

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # what runs is ended, what waits not
    if name not in _crews:
        while _crews:
            _crews.popitem()[1].close()
        _crews[name] = _crew(*ray.get(setting[0]))
    (ended,) = _crews[name].run([cell])
    if ray.get_gpu_ids():  # the next cell may have another one
        _crews[name].close()
    return replace(ended, task=None)


def _crew(begin: Begin, environment: Any, limits: Limits, versions: Any) -> Crew:
    here = _versions()
    if other := [
        f"{name} {here.get(name, 'missing')} instead of {each}"
        for name, each in versions.items()
        if here.get(name) != each
    ]:
        raise SimgapError(
            f"other versions are installed on {gethostname()}: {', '.join(other)}",
            hint="all machines of the cluster need the same environment",
            code="node-version",
        )
    sys.modules["__main__"].__file__ = None  # a new process would run Ray's worker
    if not os.access(begin.folder, os.W_OK):  # half-done work stays on this machine
        begin = replace(begin, folder=mkdtemp(prefix="simgap-"))
    return new_crew(begin, 1, environment, limits)


def _versions() -> dict[str, str]:
    """Return what is installed here of all that has a part in the numbers."""
    versions = {}
    for name in LIBRARIES.split():
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _copy_files(plan: Plan, folder: Path) -> bool:
    """Copy the files of all cells that lie below the current folder; say if any do."""
    here = Path.cwd()
    for asked in plan.kinds():
        for file in plan.question.files(asked):
            path = Path(os.path.abspath(file.expanduser()))  # noqa: PTH100, keeps links
            if path.is_relative_to(here):
                place = folder / path.relative_to(here)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, place)
    return any(folder.iterdir())


def _needs(limits: Limits) -> dict[str, float]:
    """Return what a cell takes of a machine, in the words of Ray."""
    memory = int((limits.memory or 0.0) * 2**30)
    needs = {"CPU": limits.cpus, "GPU": limits.gpus, "memory": memory}
    return {name: need for name, need in needs.items() if need}


def _room(ray: Any, limits: Limits) -> int:
    """Return how many cells all machines together have room for."""
    needs = _needs(limits).items()
    alive = [each["Resources"] for each in ray.nodes() if each["Alive"]]
    return sum(int(min(has.get(k, 0) / need for k, need in needs)) for has in alive)


def _task(ray: Any, limits: Limits) -> Any:
    """Return the task that answers a cell, if a machine has room for it."""
    needs = _needs(limits)
    if not _room(ray, limits):
        raise SimgapError(
            f"no machine of the Ray cluster has room for a cell: {needs}",
            hint="`ray status` prints what it has: change [limits] in the plan",
            code="cluster-too-small",
        )
    try:
        task = ray.remote(
            num_cpus=needs["CPU"],
            num_gpus=needs.get("GPU", 0),
            memory=needs.get("memory"),
            max_retries=LOSSES - 1,
            retry_exceptions=[TaskFailed],  # its process was killed as it began
            max_calls=0,  # the worker is kept, also if it had a GPU
        )(_answer)
    except ValueError as error:
        raise InvalidArgument(
            f"Ray refuses the [limits] of the plan: {error}",
            hint="more than one CPU or GPU are whole numbers",
            code="cluster-limits",
        ) from error
    return task.remote


@contextmanager
def _connected(address: str, files: str | None = None) -> Iterator[Any]:
    """Yield the module `ray`, connected to a cluster; workers begin in copied files.

    A connection that this process has already is used, and kept.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise SimgapError(
            "Ray is not installed",
            hint="pip install 'simgap[ray]', in the version of the cluster",
            code="no-ray",
        ) from error
    if ray.is_initialized():
        current = ray.get_runtime_context().gcs_address
        if files or address not in (AUTO, current):
            raise InvalidArgument(
                f"this process is connected to the Ray cluster at {current} already",
                hint="ray.shutdown() before a sweep elsewhere, or with files",
                code="cluster-address",
            )
        yield ray
        return
    if address == AUTO:
        address = RayEngine(os.environ.get("RAY_ADDRESS") or AUTO).address
    try:
        if place := PLACE.fullmatch(address):  # Ray would wait long for nobody
            create_connection((place[1].strip("[]"), int(place[2])), 10.0).close()
        ray.init(
            address=address,
            logging_level=logging.CRITICAL,
            log_to_driver=False,
            runtime_env={"working_dir": files} if files else None,
        )
    except Exception as error:  # Ray raises its own kinds, and others
        raise _no_way(address, error) from error
    try:
        yield ray
    finally:
        ray.shutdown()


def _no_way(address: str, error: Exception) -> SimgapError:
    hint, code = "is its token in ~/.ray/auth_token, mode 0600?", "cluster-refused"
    if "ersion mismatch" in str(error):
        hint = "install the same versions of Ray and Python here as there"
        code = "cluster-version"
    elif isinstance(error, OSError) and (address == AUTO or error.errno):
        hint = "start one: ray start --head, then ray start --address ... elsewhere"
        code = "no-cluster"
    problem = f"no way into the Ray cluster at {address}: {_in_short(error)}"
    return SimgapError(problem, hint=hint, code=code)
