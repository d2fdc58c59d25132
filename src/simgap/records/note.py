"""What a reader of numbers should know beside them: a part of most records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, final

from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class Note:
    """What a reader of these numbers should know."""

    code: Annotated[str, means('which note it is, which does not change: "time-limit"')]
    text: str


@final
class Notes:
    """Notes in the making."""

    def __init__(self) -> None:
        self._found: list[Note] = []

    def add(self, code: str, text: str) -> None:
        """Append one more."""
        self._found.append(Note(code, text))

    def __iter__(self) -> Iterator[Note]:
        return iter(self._found)


def class_notes(texts: Iterable[str]) -> tuple[Note, ...]:
    """Return what the author of a class wrote about it, as notes of a record."""
    return tuple(Note("about-the-class", each) for each in texts)
