"""What memory is worth, as the scorecard says it."""

from __future__ import annotations

from simgap.intervals import Certified
from simgap.records.memory import Memory
from simgap.report.part import Card
from simgap.report.shown_number import show
from simgap.text import percent_of

ROUNDING = 1e-9  # of what is at stake: nothing, in words


def memory_cards(
    worth: Certified | None,
    memory: Memory | None,
    stake: float | None,
    noise: float = 0.0,
) -> tuple[Card, ...]:
    """Return the card of the value of memory, none if there is no such number.

    Its words are the sentence that says whether memory is needed, with its own label.
    """
    noise = max(noise, ROUNDING * abs(stake or 0.0))
    found = show(worth, noise=noise)
    if found.value is None:
        return ()
    words = "the best policy without memory loses no more"
    if found.upper != 0.0:
        part = "of what random actions lose"
        words = percent_of(found.lower, found.upper, stake, part)
        words = words or "what is lost without memory, less what is lost with it"
    proved = () if memory is None else memory.sentences()[1:]
    return (Card("memory", found.text, found.certainty, ". ".join([words, *proved])),)
