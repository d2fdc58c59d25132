"""What tests look at of notes: their codes, not their words."""

from __future__ import annotations

from typing import Any


def codes(answer: Any) -> list[str]:
    """Return the codes of the notes of a record, or of its JSON."""
    if isinstance(answer, dict):
        return [each["code"] for each in answer["notes"]]
    return [each.code for each in answer.notes]
