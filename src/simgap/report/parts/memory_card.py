"""What memory is worth, as the scorecard says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simgap.report.memory_words import memory_sentences
from simgap.report.part import Card
from simgap.report.shown_number import told
from simgap.text import percent_of

ROUNDING = 1e-9  # of what is at stake: nothing, in words


def memory_cards(
    record: Mapping[str, Any], stake: float | None, noise: float = 0.0
) -> tuple[Card, ...]:
    """Return the card of `value_of_memory`, none if the record has no such number.

    Its words are the sentence that says whether memory is needed, with its own label.
    """
    noise = max(noise, ROUNDING * abs(stake or 0.0))
    memory = told(record.get("value_of_memory"), noise=noise)
    if memory.value is None:
        return ()
    words = "the best policy without memory loses no more"
    if memory.upper != 0.0:
        words = percent_of(memory.lower, memory.upper, stake, "of what is at stake")
        words = words or "what is lost without memory, less what is lost with it"
    proved = memory_sentences(record)[1:]
    return (Card("memory", memory.text, memory.certainty, ". ".join([words, *proved])),)
