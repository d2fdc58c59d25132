"""A Ray cluster that runs already: the same cells, on many machines.

Ray finds machines, moves bytes and notices what is lost. A cell is one task of Ray. A
task whose worker or machine is lost is given again from here, so that it is known how
often; a cell ends once, when its answer arrives here, and the ledger has one row of it,
however often it was begun. The processes that answer cells are those of `LocalEngine`,
one in every worker.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, final

from simgap.errors import InvalidArgument, SimgapError
from simgap.interrupts import counted_interrupts
from simgap.processes import Ended, TaskFailed
from simgap.sweeps.cells import Begin, environment_of
from simgap.sweeps.engines.ray_cluster import (
    NoCluster,
    cells_at_a_time,
    checked_address,
    connected,
    lost_cluster,
    memory_of,
    too_small,
)
from simgap.sweeps.engines.ray_files import Outbox, Sent
from simgap.sweeps.engines.ray_node import Answer, Given, Setting, answer, versions
from simgap.sweeps.fields import Question
from simgap.sweeps.plan import Cell, Limits, digest_of
from simgap.text import shown

DEPTH = 2  # cells under way for each that has room
LOSSES = 10  # of workers and machines that a cell may survive
LOOK = 0.2  # seconds between two looks at interrupts
LOOK_AT_MACHINES = 5.0
NO_MACHINE = 60.0  # seconds to wait for one that has room


@final
@dataclass(frozen=True, slots=True)
class RayEngine:
    """The Ray cluster at an address: `auto` (on this machine), or HOST:PORT."""

    address: str = "auto"

    def __post_init__(self) -> None:
        checked_address(self.address)

    @property
    def workers(self) -> int:
        """Return how many cells run at a time, if each takes one CPU."""
        with connected(self.address) as ray:
            return max(1, cells_at_a_time(ray.nodes(), Limits()))

    def run(
        self, cells: Iterable[Cell], begin: Begin, question: Question, limits: Limits
    ) -> Iterator[Ended]:
        """Return cells in the order in which they end."""
        with connected(self.address) as ray:
            yield from _Run(ray, begin, question, limits).all(iter(cells))


@final
@dataclass(slots=True, eq=False)
class _Held:
    """A cell that has been taken and has not ended."""

    cell: Cell
    given: Given
    losses: int = 0


@final
class _Run:
    """One run over cells."""

    def __init__(
        self, ray: Any, begin: Begin, question: Question, limits: Limits
    ) -> None:
        self._ray, self._question, self._limits = ray, question, limits
        setting = Setting(
            pickle.dumps(begin),
            begin.folder,
            os.getcwd(),  # noqa: PTH109 - a text
            environment_of(question),
            limits.seconds,
            limits.memory,
            limits.tries,
            bool(limits.gpus),
            versions(),
        )
        self._setting = [ray.put(setting)]
        self._name = self._setting[0].hex()
        self._answer = _remote(ray, limits)
        self._outbox = Outbox(ray)
        self._files: dict[tuple[str, ...], tuple[Sent, ...]] = {}
        self._under_way: dict[Any, _Held] = {}
        self._again: deque[_Held] = deque()
        self._more = True  # cells may follow
        self._stopping = False
        self._room, self._look, self._roomy = 0, 0.0, monotonic()

    def all(self, cells: Iterator[Cell]) -> Iterator[Ended]:
        """Return cells in the order in which they end."""
        try:
            with counted_interrupts(quiet=1) as interrupts:
                while True:
                    if interrupts():
                        self._stop()
                    else:
                        self._look_at_machines()
                        self._hand_out(cells)
                    if not self._under_way:
                        break
                    yield from self._ended()
            if interrupts():
                raise KeyboardInterrupt
        finally:
            with suppress(Exception):  # a cluster that is gone runs nothing
                for ref in self._under_way:
                    self._ray.cancel(ref, force=True)

    def _look_at_machines(self) -> None:
        """See how many cells there is room for; machines come and go."""
        now = monotonic()
        if now < self._look:
            return
        nodes = self._ray.nodes()
        first, self._look = not self._look, now + LOOK_AT_MACHINES
        self._room = cells_at_a_time(nodes, self._limits)
        if self._room:
            self._roomy = now
        elif first or now > self._roomy + NO_MACHINE:
            raise too_small(nodes, self._limits)

    def _hand_out(self, cells: Iterator[Cell]) -> None:
        """Give as many cells as may be under way: first those that were lost."""
        while len(self._under_way) < DEPTH * self._room:
            held = self._again.popleft() if self._again else self._next(cells)
            if held is None:
                return
            ref = self._answer(self._name, self._setting, held.given)
            self._under_way[ref] = held

    def _next(self, cells: Iterator[Cell]) -> _Held | None:
        cell = next(cells, None) if self._more else None
        if cell is None:
            self._more = False
            return None
        texts = tuple(each for each in cell.asked.values() if isinstance(each, str))
        if texts not in self._files:
            self._files[texts] = self._sent(cell)
        files = self._files[texts]
        sent = replace(cell, inputs="") if files else cell  # they have been looked at
        return _Held(cell, Given(pickle.dumps(sent), files))

    def _sent(self, cell: Cell) -> tuple[Sent, ...]:
        """Put the files of a cell into the object store, and look at them after that.

        None are sent that are not what the key of the cell says: a worker will see it.
        """
        with suppress(SimgapError):
            files = self._outbox.sent(self._question.files(cell.asked))
            now = self._question.contents(cell.asked) if files else {}
            if cell.inputs in ("", digest_of(cell.asked, now)):
                return files
        return ()

    def _stop(self) -> None:
        """Begin no cell any more: those that wait are taken back."""
        self._again.clear()
        if not self._stopping:
            self._stopping, self._more = True, False
            for ref in self._under_way:
                self._ray.cancel(ref, force=False)  # no word to one that runs

    def _ended(self) -> Iterator[Ended]:
        """Wait until something happens; yield what has ended."""
        refs = list(self._under_way)
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=LOOK)
        if ready:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in ready:
            held = self._under_way.pop(ref)
            if (ended := self._read(ref, held)) is not None:
                yield ended

    def _read(self, ref: Any, held: _Held) -> Ended | None:
        """Return how a cell ended; None: it is lost, and given again."""
        from ray import exceptions

        try:
            found: Answer = self._ray.get(ref)
        except exceptions.LocalRayletDiedError as error:
            raise lost_cluster(error) from error
        except exceptions.RayTaskError as error:
            raise _no_simgap(error) from error
        except exceptions.RayError as error:
            return self._lost(held, error)
        if found.refusal is not None:
            raise found.refusal
        return Ended(
            held.cell,
            None if found.failure else pickle.loads(found.result),
            found.failure,
            found.tries + held.losses,
            found.seconds,
            found.peak,
        )

    def _lost(self, held: _Held, error: Exception) -> Ended | None:
        """Give a cell again whose worker or machine is lost, or give it up."""
        held.losses += 1
        if self._stopping:
            return None
        if held.losses < LOSSES:
            self._again.append(held)
            return None
        failure = TaskFailed(
            f"its worker or machine was lost {held.losses} times, the last time by "
            f"{type(error).__name__}: {shown(' '.join(str(error).split()), 300)}",
            hint="a machine without memory, or one that is stopped again and again",
            code="process-died",
        )
        return Ended(held.cell, None, failure, held.losses)


def _remote(ray: Any, limits: Limits) -> Callable[..., Any]:
    """Return the task that answers a cell."""
    try:
        task = ray.remote(
            num_cpus=limits.cpus,
            num_gpus=limits.gpus,
            memory=memory_of(limits) or None,
            max_retries=0,  # given again from here
            max_calls=0,  # the worker is kept, also if it had a GPU
        )(answer)
    except ValueError as error:
        raise InvalidArgument(
            f"Ray refuses the [limits] of the plan: {error}",
            hint="more than one CPU or GPU are whole numbers",
            code="cluster-limits",
        ) from error
    remote: Callable[..., Any] = task.remote
    return remote


def _no_simgap(error: Exception) -> NoCluster:
    """Return what to raise where a machine cannot even begin with a cell."""
    cause = getattr(error, "cause", None) or error
    told = f"{type(cause).__name__}: {shown(' '.join(str(cause).split()), 300)}"
    return NoCluster(
        f"a machine of the Ray cluster cannot answer cells: {told}",
        hint="install simgap there, the same version in the same environment",
        code="node-failed",
    )
