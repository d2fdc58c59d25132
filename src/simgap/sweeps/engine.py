"""What an engine is: something that runs cells and says how each of them ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from simgap.processes import Ended
from simgap.sweeps.cells import Begin
from simgap.sweeps.fields import Question
from simgap.sweeps.plan import Cell, Limits


class Engine(Protocol):
    """Runs cells.

    It takes them one by one as it has room, gives each of them to `begin.answered` in
    a process with the environment of the question, and runs a cell again whose process
    or machine is lost. After one Ctrl-C it ends what runs and raises KeyboardInterrupt.
    """

    @property
    def workers(self) -> int:
        """Return how many cells run at a time, about."""
        ...

    def run(
        self, cells: Iterable[Cell], begin: Begin, question: Question, limits: Limits
    ) -> Iterator[Ended]:
        """Return cells in the order in which they end, each with an `Answered`."""
        ...
