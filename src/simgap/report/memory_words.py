"""Is memory enough, and is it needed? Two sentences, each with its own label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simgap.intervals import Certified
from simgap.records import ON_GRID
from simgap.report.reading import as_object, as_text, bounds_of
from simgap.text import at_least, at_most

PROVED = ("certified", ON_GRID)


def memory_sentences(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the object `memory` of a record says, nothing if it has none."""
    memory = as_object(record.get("memory"))
    if not memory:
        return ()
    searched = memory.get("searched")
    return memory_words(
        enough=as_text(memory.get("enough")),
        needed=as_text(memory.get("needed")),
        with_memory=bounds_of(memory.get("with_memory")),
        without_memory=bounds_of(memory.get("without_memory")),
        searched=searched if isinstance(searched, int) else None,
        stationary=memory.get("stationary") is True,
    )


def memory_words(
    *,
    enough: str,
    needed: str,
    with_memory: Certified,
    without_memory: Certified,
    searched: int | None,
    stationary: bool,
) -> tuple[str, str]:
    """Return one sentence about memory being enough, one about its being needed.

    What is at least lost is rounded down, what is at most lost up.
    """
    least = [at_least(each.lower) for each in (with_memory, without_memory)]
    most = [at_most(each.upper) for each in (with_memory, without_memory)]
    kind = " (deterministic, the same at every step)" if stationary else ""
    if enough in PROVED:
        first = (
            f"Memory is enough: a policy with it loses at most {most[0]} on average "
            f"({enough})."
        )
    elif enough == "no":
        first = (
            "Memory is not enough: the best policy with it loses at least "
            f"{least[0]} on average (certified)."
        )
    else:
        first = (
            "Whether memory is enough is not proved: the best policy with it loses "
            f"between {least[0]} and {most[0]} on average."
        )
    if needed in PROVED:
        second = (
            f"Memory is needed for the least loss: every policy without it{kind} loses "
            f"at least {least[1]} on average, with it at most {most[0]} ({needed})."
        )
    elif needed == "no":
        second = (
            "Memory saves nothing that rounding lets one tell: a policy without it "
            f"loses at most {most[1]} on average, one with it at least {least[0]} "
            "(certified)."
        )
    else:
        one = "one" if searched is None else f"the best of {searched} policies searched"
        second = (
            f"Whether memory is needed is not proved: {one} without it{kind} loses "
            f"{most[1]} on average, and a better one may exist."
        )
    return first, second
