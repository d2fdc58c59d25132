"""Is memory enough, and is it needed? Two statements, each with its own proof."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, final

from simgap.intervals import Certified
from simgap.records.provenance import ON_GRID
from simgap.text import at_least, at_most, means

Proof = Literal["certified", "certified for this grid", "not proved", "no"]
# "no": the contrary is certified
PROVED = ("certified", ON_GRID)


@final
@dataclass(frozen=True, slots=True)
class Memory:
    """What is proved about average losses with memory and without."""

    enough: Annotated[
        Proof, means("to lose no more than the upper end of `with_memory`")
    ]
    needed: Annotated[
        Proof, means("every policy without it loses more, by the lower end")
    ]
    with_memory: Annotated[Certified, means("loss of the best policy")]
    without_memory: Annotated[Certified, means("bound on all, best one found")]
    searched: Annotated[int | None, means("policies without memory")]
    stationary: Annotated[bool, means("these are deterministic and stationary")]

    def sentences(self) -> tuple[str, str]:
        """Return one sentence about memory being enough, one about its being needed.

        What is at least lost is rounded down, what is at most lost up.
        """
        return self._enough(), self._needed()

    def _enough(self) -> str:
        low, high = at_least(self.with_memory.lower), at_most(self.with_memory.upper)
        if self.enough in PROVED:
            return (
                f"Memory is enough: a policy with it loses at most {high} on average "
                f"({self.enough})."
            )
        if self.enough == "no":
            return (
                "Memory is not enough: the best policy with it loses at least "
                f"{low} on average (certified)."
            )
        return (
            "Whether memory is enough is not proved: the best policy with it loses "
            f"between {low} and {high} on average."
        )

    def _needed(self) -> str:
        low, high = at_least(self.with_memory.lower), at_most(self.with_memory.upper)
        least = at_least(self.without_memory.lower)
        most = at_most(self.without_memory.upper)
        kind = " (deterministic, the same at every step)" if self.stationary else ""
        if self.needed in PROVED:
            return (
                f"Memory is needed for the least loss: every policy without it{kind} "
                f"loses at least {least} on average, with it at most {high} "
                f"({self.needed})."
            )
        if self.needed == "no":
            return (
                "Memory saves nothing, apart from rounding: a policy without it loses "
                f"at most {most} on average, one with it at least {low} (certified)."
            )
        searched = f"the best of {self.searched} policies searched"
        one = "one" if self.searched is None else searched
        return (
            f"Whether memory is needed is not proved: {one} without it{kind} loses "
            f"{most} on average, and a better one may exist."
        )
