"""Engines run cells: the processes of this machine; a Ray cluster is one, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, final

from simgap.processes import Crew, Ended
from simgap.sweeps.cells import Begin, environment_of
from simgap.sweeps.plan import Cell, Limits, Plan


class Engine(Protocol):
    """Runs cells of a plan.

    It takes them one by one as it has room, gives each of them to `begin.answered` in
    a process with the environment of the question, and runs a cell again whose process
    or machine is lost. After one Ctrl-C it ends what runs and raises KeyboardInterrupt.
    """

    @property
    def workers(self) -> int:
        """Return how many cells run at a time, about."""
        ...

    def run(self, cells: Iterable[Cell], begin: Begin, plan: Plan) -> Iterator[Ended]:
        """Return cells in the order in which they end, each with an `Answered`."""
        ...


@final
@dataclass(frozen=True, slots=True)
class LocalEngine:
    """So many processes of this machine at a time, replaced when they die."""

    workers: int = 1

    def run(self, cells: Iterable[Cell], begin: Begin, plan: Plan) -> Iterator[Ended]:
        """Return cells in the order in which they end."""
        environment = environment_of(plan.question)
        with new_crew(begin, self.workers, environment, plan.limits) as crew:
            yield from crew.run(cells)


def new_crew(
    begin: Begin, workers: int, environment: Mapping[str, str], limits: Limits
) -> Crew:
    """Return processes that answer cells within limits."""
    return Crew(
        begin,
        workers,
        environment=environment,
        seconds=limits.seconds,
        memory=limits.memory,
        tries=limits.tries,
    )
