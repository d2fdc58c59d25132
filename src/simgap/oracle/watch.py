"""Clock, memory, tolerance and progress of one run of a solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import final

from simgap._kernels.compile_clock import working_seconds as clock
from simgap._kernels.time_limit import resident_bytes, seconds_left
from simgap.interrupts import answer_interrupt
from simgap.oracle.result import Moment, Outcome
from simgap.oracle.settings import AnytimeSolver, Solver

FOR_THE_END, MOST_FOR_THE_END = 0.12, 4.0  # part of a time limit, and seconds


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """Where planning stands; `lower` and `upper` hold the average gap."""

    seconds: float
    lower: float
    upper: float
    doing: str


def _now() -> float:
    return clock()


class StopPlanning(Exception):
    """Raised between pieces of work when a limit is reached."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


def ends_planning(settings: Solver) -> bool:
    """Return whether an interrupt ends planning with what there is; so it is answered.

    Otherwise it is to be raised again.
    """
    if settings.bracket_if_interrupted:
        answer_interrupt()
    return settings.bracket_if_interrupted


@final
@dataclass(slots=True)
class Watch:
    """The bracket so far, and when to stop."""

    limits: AnytimeSolver
    informed: float  # sum_m nu_m V*_m: tolerances in units of the value need it
    worth: float  # the same less what every policy gets
    rounding: float  # a gap that rounding could have made
    report: Callable[[Progress], None] | None = None
    started: float = field(default_factory=_now)
    lower: float = 0.0
    upper: float = float("inf")
    trace: list[Moment] = field(default_factory=list)
    largest_bytes: int = 0
    reserved: float = 0.0  # bytes that writing the answer down will take

    @property
    def seconds(self) -> float:
        return clock() - self.started

    @property
    def seconds_left(self) -> float:
        """Return the time left for planning; some is kept to write the answer down."""
        limit, around = self.limits.time_limit, seconds_left()
        if limit is None:
            return around
        end = limit - min(FOR_THE_END * limit, MOST_FOR_THE_END)
        return min(end - self.seconds, around)

    @property
    def asked_seconds(self) -> float:
        """Return the time limit as it was asked for: plans may depend on it."""
        limit = self.limits.time_limit
        return 60.0 if limit is None else min(limit, 600.0)

    def keep_going(self) -> None:
        """Raise if the time is over, or more memory is held than is allowed."""
        if self.seconds_left <= 0.0:
            raise StopPlanning(Outcome.OUT_OF_TIME)
        if self.room() < 0.0:
            raise StopPlanning(Outcome.OUT_OF_MEMORY)

    def room(self) -> float:
        """Return how many bytes may still be allocated."""
        limit = self.limits.max_memory
        if limit is None:
            return float("inf")
        return limit - resident_bytes() - self.reserved

    def claim(self, size: float) -> None:
        """Raise if a piece of work of `size` bytes does not fit."""
        self.largest_bytes = max(self.largest_bytes, int(size))
        if size > self.room():
            raise StopPlanning(Outcome.OUT_OF_MEMORY)

    def reserve(self, size: float) -> None:
        """Keep room to write down another answer; raise if there is not enough."""
        if size > self.room() + self.reserved:
            raise StopPlanning(Outcome.OUT_OF_MEMORY)
        self.reserved = size

    def narrow(self, doing: str, *, lower: float = 0.0, upper: float = 1e308) -> None:
        """Take over a new bound if it is better, and tell."""
        self.lower, self.upper = max(self.lower, lower), min(self.upper, upper)
        moment = Moment(self.seconds, self.lower, max(self.lower, self.upper))
        self.trace.append(moment)
        if self.report is not None:
            self.report(Progress(self.seconds, self.lower, moment.upper, doing))

    def solved(self) -> bool:
        """Return whether the bracket is as narrow as was asked."""
        width = self.upper - self.lower
        if width <= max(self.rounding, self.limits.negligible * self.worth):
            return True
        value = abs(self.informed - self.lower)
        asked = []
        if self.limits.gap_tolerance is not None:
            asked.append(width <= self.limits.gap_tolerance * self.upper)
        if self.limits.tolerance is not None:
            asked.append(width <= self.limits.tolerance * value)
        return bool(asked) and all(asked)
