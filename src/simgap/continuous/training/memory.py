"""What a trained policy remembers: `gru`, `lstm`, `none` or `window:8`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

from simgap.errors import InvalidArgument
from simgap.text import shown

MOST_FRAMES = 256


class Cell(Enum):
    """How a step changes what is remembered."""

    GRU = "gru"
    LSTM = "lstm"
    NONE = "none"
    WINDOW = "window"


@final
@dataclass(frozen=True, slots=True)
class Memory:
    """A kind of memory; a window shows the last frames, the present one among them."""

    cell: Cell
    frames: int = 1  # of a window

    @property
    def text(self) -> str:
        """Return what the command line calls it."""
        return f"window:{self.frames}" if self.cell is Cell.WINDOW else self.cell.value

    @property
    def recurrent(self) -> bool:
        """Return whether a state is carried from step to step by a trained cell."""
        return self.cell in (Cell.GRU, Cell.LSTM)

    @property
    def remembers(self) -> bool:
        """Return whether anything of earlier steps is known."""
        return self.cell is not Cell.NONE


NONE = Memory(Cell.NONE)


def parse_memory(text: str) -> Memory:
    """Return the memory that a text names."""
    name, colon, frames = text.strip().partition(":")
    known = {each.value: each for each in Cell}
    if name in known and known[name] is not Cell.WINDOW and not colon:
        return Memory(known[name])
    if name == Cell.WINDOW.value and frames.isascii() and frames.isdigit():
        if 2 <= int(frames) <= MOST_FRAMES:
            return Memory(Cell.WINDOW, int(frames))
        raise InvalidArgument(
            f"a window of {int(frames)} frames",
            hint=f"it has 2 to {MOST_FRAMES}; one frame is no memory: none",
            code="no-such-memory",
        )
    raise InvalidArgument(
        f"there is no memory {shown(text)!r}",
        hint="it is gru, lstm, none, or window:8 for the last 8 frames",
        code="no-such-memory",
    )
