"""One quantity has one bracket in a study: where records tell the oracle's loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

WHERE = (  # in the records of audit and oracle, blame, adapt, width, identify, and all
    ("average_gap",),
    ("whole",),
    ("gap_bound_before",),
    ("least_possible",),
    ("timeline", "average_gap"),
    ("memory", "with_memory"),
)


def brackets_of_the_oracle(record: dict[str, Any]) -> Iterator[Any]:
    """Yield every bracket of the oracle's average loss that a record tells."""
    for keys in WHERE:
        found: Any = record
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found is not None:
            yield found
    for each in record.get("by_horizon") or ():
        if each.get("horizon") == record.get("horizon"):
            yield each.get("average_gap")
    models = len(record.get("real") or ())
    for each in record.get("widths") or ():
        if each.get("models") == models:  # the range is the class
            yield each.get("inside")
