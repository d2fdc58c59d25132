"""Which part of a study runs, and how long all of it will still take."""

from __future__ import annotations

from time import monotonic
from typing import final

from simgap.answers.planned_class import Tell
from simgap.answers.study.plan import Plan
from simgap.text import duration


@final
class Clock:
    """Says which part of a study runs, and how long all of it will still take."""

    def __init__(self, plan: Plan, tell: Tell) -> None:
        self._seconds, self._tell = plan.seconds, tell
        self._done = self._kept = 0.0  # shares of the present part, if that is known

    def passed(self, share: float, *, fresh: bool) -> None:
        """Hear that a share of the present part is done, just now or before."""
        if fresh:
            self._done += share
        else:
            self._kept += share

    def part(self, name: str) -> Tell:
        """Return what a part calls with its news."""
        names = list(self._seconds)
        later = sum(self._seconds[each] for each in names[names.index(name) + 1 :])
        begin, self._done, self._kept = 0.0, 0.0, 0.0

        def tell(word: str) -> None:
            nonlocal begin
            if not begin:
                begin = monotonic()
            spent, share = monotonic() - begin, 1.0 - self._kept
            left = max(0.0, share * self._seconds[name] - spent)
            if self._done:  # things may go slower than planned
                left = max(left, spent * (share - self._done) / self._done)
            told = duration(later + left)
            self._tell(f"{name}: {word}; about {told} left of the study")

        return tell
