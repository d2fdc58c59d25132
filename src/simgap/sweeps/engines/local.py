"""The processes of this machine: supervised, replaced when they die."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import final

from simgap.processes import Crew, Ended
from simgap.sweeps.cells import Begin, environment_of
from simgap.sweeps.fields import Question
from simgap.sweeps.plan import Cell, Limits


@final
@dataclass(frozen=True, slots=True)
class LocalEngine:
    """So many processes at a time."""

    workers: int = 1

    def run(
        self, cells: Iterable[Cell], begin: Begin, question: Question, limits: Limits
    ) -> Iterator[Ended]:
        """Return cells in the order in which they end."""
        with Crew(
            begin,
            self.workers,
            environment=environment_of(question),
            seconds=limits.seconds,
            memory=limits.memory,
            tries=limits.tries,
        ) as crew:
            yield from crew.run(cells)
