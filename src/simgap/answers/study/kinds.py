"""The ways to train that a study compares, in the words of `simgap train`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final


@final
@dataclass(frozen=True, slots=True)
class Kind:
    """A way to train."""

    memory: str  # as `train` reads it
    informed: bool = False  # told the parameters
    masked: bool = False  # told some of them
    nominal: bool = False  # nothing is randomized

    @property
    def name(self) -> str:
        """Return what `train` calls it."""
        plain = self.memory.replace(":", "-")
        told = "masked-" if self.masked else "informed-" if self.informed else ""
        return f"{'nominal-' if self.nominal else ''}{told}{plain}"

    @property
    def program(self) -> tuple[str, bool, bool]:
        """Return what is compiled for it; kinds may share a program."""
        return self.memory, self.informed, self.masked

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of `train`."""
        return {
            "memory": self.memory,
            "informed": self.informed,
            "masked": self.masked,
            "nominal": self.nominal,
        }


MEMORY, MEMORYLESS = Kind("gru"), Kind("none")
NOMINAL = Kind("gru", nominal=True)
INFORMED = Kind("none", informed=True)
MASKED = Kind("gru", masked=True)  # for blame
WINDOW = Kind("window:8")


def kinds_of(parameters: int, *, window: bool) -> tuple[Kind, ...]:
    """Return what is trained for so many unknown parameters, the slowest kinds first.

    Slow trainings that begin early do not keep a core busy alone at the end.
    """
    some = (MEMORY, NOMINAL, *((MASKED,) if parameters > 1 else ()))
    return (*some, *((WINDOW,) if window else ()), MEMORYLESS, INFORMED)
