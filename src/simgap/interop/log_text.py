"""The text of a transition log: a CSV stream whose every fault has a line number.

UTF-8 with or without byte order mark, any line ends, quotes, blank lines; commas, or
semicolons or tabs if the header has those. Memory is one line at a time.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from itertools import chain
from math import isfinite, nan
from pathlib import Path
from typing import BinaryIO, TextIO, final

from simgap.errors import InvalidFile
from simgap.interop.sizes import in_words
from simgap.records.note import Note
from simgap.text import nearest
from simgap.user_files import opened, size_of

ORDER = ("episode", "step")  # both or none: without them lines are in order
NEEDED = ("state", "action", "next_state")
COLUMNS = (*ORDER, *NEEDED)
HEADER = ",".join(COLUMNS)
IN_ORDER = Note(
    "one-episode",
    "the log has no columns episode and step: its lines are taken in the order they "
    "are in, as one episode",
)
PIPES = "standard input is read with --log -, in Python an open stream"
LARGEST_LOG = 2**31  # bytes
LONGEST_LINE = 100_000  # characters; a file without line ends is not a log
LONGEST_QUOTED = 60
OTHER_NAMES = {
    "next_state": ("next", "nextstate", "new_state", "s'", "s_next", "next_obs"),
    "state": ("s", "obs", "observation"),
    "action": ("a", "act"),
    "step": ("t", "time", "timestep", "time_step"),
    "episode": ("run", "trajectory", "ep", "traj"),
}  # what other programs call the columns: for hints, never read silently
WHOLE = re.compile(r"\+?([0-9]{1,18})(\.0*)?")


@contextmanager
def opened_log(source: str | Path | BinaryIO) -> Iterator[LogText]:
    """Yield the text of a file or of an open stream; its header has been read."""
    if isinstance(source, str | Path):
        path = Path(source)
        with opened(path, "CSV file", endings=(".csv",), pipes=PIPES) as stream:
            if size_of(stream) > LARGEST_LOG:
                raise _too_large(str(path))
            yield from _decoded(stream, str(path))
    else:
        yield from _decoded(source, "the log")


def whole_number(text: str) -> int | None:
    """Return the number that 3, +3 or 3.0 means, or None."""
    found = WHOLE.fullmatch(text)
    return None if found is None else int(found[1])


def quoted(text: str) -> str:
    """Return a text of a stranger's file for an error message."""
    short = text if len(text) <= LONGEST_QUOTED else f"{text[:LONGEST_QUOTED]}..."
    return repr(short)


@final
class LogText:
    """Rows of a log, each with the six columns that matter and its line number."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self.name, self._stream = name, stream
        self._line, self._characters = 0, 0
        first = self._first_line()
        self._reader = csv.reader(
            chain([first], self._lines()), delimiter=_delimiter(first), strict=True
        )
        header = [each.strip().casefold() for each in self._next() or ()]
        places = {name: at for at, name in enumerate(header)}
        self._check_header(header)
        self._width = len(header)
        self._order = [places[each] for each in ORDER if each in places]
        self._places = [places[each] for each in NEEDED]
        self._reward = places.get("reward")
        known = {*COLUMNS, "reward"}
        others = [each or "(no name)" for each in header if each not in known]
        self.notes: tuple[Note, ...] = () if self._order else (IN_ORDER,)
        if others:
            shown = ", ".join(quoted(each) for each in others[:6])
            text = f"columns of the log that are not used: {shown}"
            self.notes += (Note("unused-columns", text),)

    @property
    def has_reward(self) -> bool:
        return self._reward is not None

    def rows(self) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield line numbers and (episode, step, state, action, next_state, reward)."""
        count = 0
        while (row := self._next()) is not None:
            if not any(each.strip() for each in row):
                continue
            if len(row) != self._width:
                raise InvalidFile(
                    f"{self.where()} has {len(row)} fields, the header {self._width}",
                    hint="a name with a comma in it needs double quotes",
                )
            reward = "" if self._reward is None else row[self._reward].strip()
            order = [row[at].strip() for at in self._order] or ["0", str(count)]
            count += 1
            yield (
                self._line,
                (*order, *(row[at].strip() for at in self._places), reward),
            )

    def whole(self, given: str, column: str) -> int:
        """Return a whole number from 0 on, or raise."""
        number = whole_number(given)
        if number is None:
            raise self.wrong(column, given, "it is a whole number from 0 on")
        return number

    def reward(self, given: str) -> float:
        """Return a reward; NaN for none."""
        if not given:
            return nan
        try:
            value = float(given)
        except ValueError:
            value = nan
        if not isfinite(value):
            raise self.wrong("reward", given, "it is a finite number, or left empty")
        return value

    def where(self) -> str:
        """Return the current line for an error message."""
        return f"line {self._line} of {self.name}"

    def wrong(self, column: str, given: str, hint: str) -> InvalidFile:
        """Return the error of a value that cannot be used."""
        what = f"{column} is {quoted(given)}" if given else f"{column} is empty"
        return InvalidFile(f"{self.where()}: {what}", hint=hint)

    def _next(self) -> list[str] | None:
        """Return the fields of the next row, or None at the end."""
        try:
            return next(self._reader, None)
        except csv.Error as error:
            raise InvalidFile(
                f"{self.where()} is not CSV: {error}",
                hint="is a double quote missing or too many?",
            ) from error

    def _first_line(self) -> str:
        """Return the first line that is not blank."""
        for line in self._lines():
            if line.strip():
                return line
        raise InvalidFile(f"{self.name} is empty", hint=f"its first line is {HEADER}")

    def _lines(self) -> Iterator[str]:
        while True:
            try:
                line = self._stream.readline(LONGEST_LINE + 1)
            except UnicodeDecodeError as error:
                raise InvalidFile(
                    f"{self.name} is not text in UTF-8 (after line {self._line}): "
                    f"{error.reason}",
                    hint="is it a spreadsheet? Save it as CSV in UTF-8",
                ) from error
            except OSError as error:
                raise InvalidFile(
                    f"cannot read {self.name}: {error.strerror or error}",
                    hint="copy it to a local disk",
                ) from error
            if not line:
                return
            self._line += 1
            self._characters += len(line)
            if "\0" in line or len(line) > LONGEST_LINE:
                what = "a zero byte" if "\0" in line else f"over {LONGEST_LINE} letters"
                raise InvalidFile(
                    f"{self.where()} has {what}: it is not text",
                    hint=f"a log is a CSV file that begins with {HEADER}",
                )
            if self._characters > LARGEST_LOG:
                raise _too_large(self.name)
            yield line

    def _check_header(self, header: list[str]) -> None:
        for name in (*COLUMNS, "reward"):
            if header.count(name) > 1:
                raise InvalidFile(
                    f"the header of {self.name} has the column {name} twice",
                    hint="rename one of them",
                )
        missing = [name for name in COLUMNS if name not in header]
        known = {*COLUMNS, "reward"}
        meant = _meant(missing, [each for each in header if each not in known])
        if set(ORDER) <= set(missing) and not set(ORDER) & set(meant):
            missing = missing[len(ORDER) :]
        if not missing:
            return
        if all(whole_number(each) is not None for each in header):
            raise InvalidFile(
                f"{self.where()} is {quoted(','.join(header))}, not a header",
                hint=f"the first line is {HEADER}",
            )
        columns = "column" if len(missing) == 1 else "columns"
        raise InvalidFile(
            f"the header of {self.name} has no {columns} {', '.join(missing)}",
            hint=_renaming(missing, meant),
        )


def _too_large(name: str) -> InvalidFile:
    """Return the error of a log that is larger than allowed."""
    return InvalidFile(
        f"{name} is larger than {in_words(LARGEST_LOG)}",
        hint="use a part of it",
    )


def _meant(missing: list[str], free: list[str]) -> dict[str, str]:
    """Return which columns of a header may be meant by missing ones, each once."""
    meant = {}
    for name in missing:
        known = [each for each in free if each in OTHER_NAMES[name]]
        if known:
            meant[name] = known[0]
            free = [each for each in free if each != known[0]]
    for name in missing:
        # a log may well have neither episode nor step, so only a slip stands for them
        near = nearest(name, free, cutoff=0.8 if name in ORDER else 0.6)
        if near and name not in meant:
            meant[name] = near[0]
            free = [each for each in free if each != near[0]]
    return meant


def _renaming(missing: list[str], meant: dict[str, str]) -> str:
    hints = []
    if len(meant) == 1:
        ((name, given),) = meant.items()
        hints.append(f"did you mean the column {quoted(given)}? Rename it {name}")
    elif meant:
        pairs = [f"{quoted(given)} to {name}" for name, given in meant.items()]
        hints.append(f"rename {', '.join(pairs)}, if that is what they are")
    if len(meant) < len(missing):
        hints.append(f"the columns are {HEADER}, and reward if you have it")
    if set(ORDER) & set(missing):
        hints.append(f"or leave out {' and '.join(ORDER)}: lines are then in order")
    return "; ".join(hints)


def _decoded(source: BinaryIO, name: str) -> Iterator[LogText]:
    stream = TextIOWrapper(source, "utf-8-sig", newline="")
    try:
        yield LogText(stream, name)
    finally:
        stream.detach()  # the stream is its owner's to close


def _delimiter(header: str) -> str:
    """Return what separates the columns: a comma, unless the header has none."""
    if "," in header:
        return ","
    return next((each for each in (";", "\t") if each in header), ",")
