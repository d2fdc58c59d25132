"""Printing: JSON or tables on standard output, everything else on standard error.

Names come from files of strangers: they are cleaned before a terminal sees them, and
rich is never asked to read markup.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from simgap.text import clean

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from typer import Context

    from simgap.mdp import LatentMDP
    from simgap.records.note import Note
    from simgap.records.record import Record

AnyRecord = TypeVar("AnyRecord", bound="Record")

MISUSE = 2
QUIET_SECONDS = 10.0  # after which a run that is not watched says that it lives
MOST_ROWS = 60
_about: ContextVar[str | None] = ContextVar("label of a class on a grid", default=None)


def fail(problem: str, hint: str = "") -> int:
    """Print an error and its way out; return the exit status of misuse."""
    sys.stderr.write(f"error: {clean(problem)}\n")
    if hint:
        sys.stderr.write(f"hint: {clean(hint)}\n")
    return MISUSE


def print_json(record: Any) -> None:
    """Write one JSON object, in UTF-8 whatever the terminal speaks."""
    from simgap.records.files import encode

    content = encode(record)
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None:
        sys.stdout.write(content.decode())
    else:
        sys.stdout.flush()
        raw.write(content)
        raw.flush()


def finish(
    answer: AnyRecord,
    context: Context,
    folder: Path | None,
    show: Callable[[AnyRecord], None] | None = None,
    *,
    as_json: bool,
    name: str = "",
) -> None:
    """Keep an answer under its name, if there is a folder, and print it.

    The record names the command that makes it again. What is printed is its part of the
    page, unless `show` prints it.
    """
    from simgap.records.kept import write_record
    from simgap.records.record import with_command

    answer = with_command(answer, str(context.obj))
    if folder is not None:
        write_record(answer, folder / f"{name or context.info_name}.json")
    if as_json:
        print_json(answer)
    elif show is not None:
        show(answer)
    else:
        from simgap.cli.app.terminal import print_record

        print_record(answer)


def folder_of(out: str | None) -> Path | None:
    """Return the folder of --out, or None if it is not given."""
    from simgap.user_files import made_folder

    return None if out is None else made_folder(out)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str,
    *,
    texts: int | Container[int] = 1,
) -> None:
    """Print a table; `texts` are the columns of text, or how many come first."""
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(clean(_worded(title))),
        caption=Text(clean(_worded(caption))),
        title_justify="left",
        caption_justify="left",
        box=_box(),
    )
    left = range(texts) if isinstance(texts, int) else texts
    for at, column in enumerate(columns):
        side: Literal["left", "right"] = "left" if at in left else "right"
        table.add_column(Text(column), justify=side, overflow="fold")
    given = list(rows)
    for row in given[:MOST_ROWS]:
        table.add_row(*(Text(clean(_worded(cell))) for cell in row))
    console().print(table)
    if len(given) > MOST_ROWS:
        print_line(f"{len(given) - MOST_ROWS} more rows; --json has them all")


def print_line(text: str) -> None:
    """Print one line of plain text on standard output."""
    sys.stdout.write(f"{clean(_worded(text))}\n")


def print_notes(notes: Iterable[Note]) -> None:
    """Print what a reader of the numbers should know, a line each."""
    for note in notes:
        print_line(f"note: {note.text}")


def speak_of(latent: LatentMDP) -> None:
    """Note which class the words on standard output are about.

    A table on a grid is not its simulator: what is printed about it as certified is
    certified for this grid, whichever verb prints it, and says if rows were sampled.
    """
    from simgap.records.provenance import ON_GRID

    grid = latent.simulators.grid
    label = ON_GRID if grid is None or grid.samples == 1 else f"{ON_GRID}, sampled rows"
    _about.set(None if latent.on_grid is None else label)


def _worded(text: str) -> str:
    from simgap.records.provenance import ON_GRID, for_this_grid

    label = _about.get()
    if label is None:
        return text
    worded = ON_GRID if text == "exact" else str(for_this_grid(text))
    return worded.replace(ON_GRID, label)


def console() -> Console:
    """Return a console on standard output that reads no markup.

    Colour is rich's choice: none unless a terminal reads it, none under NO_COLOR. A
    file gets lines as wide as they need to be.
    """
    from rich.console import Console

    watched = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
        width=None if watched or "COLUMNS" in os.environ else 120,
    )


def say(text: str) -> None:
    """Write one line of progress on standard error, at once."""
    sys.stderr.write(f"{clean(text)} ...\n")
    sys.stderr.flush()


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say on standard error what takes long: at once if somebody watches."""
    if sys.stderr.isatty():
        from rich.console import Console

        watcher = Console(file=sys.stderr, markup=False, emoji=False)
        with watcher.status(clean(text)):
            yield
        return
    from threading import Timer

    timer = Timer(QUIET_SECONDS, lambda: sys.stderr.write(f"{clean(text)} ...\n"))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def telling(text: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that says on standard error how far a long run has come.

    Somebody who watches sees the latest word at once; a log gets a line now and then,
    at growing distances. What a user's own code prints meanwhile goes to standard error
    too: standard output is for the answer.
    """
    if sys.stderr.isatty():
        from rich.console import Console

        watcher = Console(file=sys.stderr, markup=False, emoji=False)
        with watcher.status(clean(text)) as status, redirect_stdout(sys.stderr):
            yield lambda word: status.update(clean(word))
        return
    from time import monotonic

    begin, due = monotonic(), QUIET_SECONDS

    def tell(word: str) -> None:
        nonlocal due
        if monotonic() - begin >= due:
            due *= 2.0
            sys.stderr.write(f"{clean(word)} ...\n")
            sys.stderr.flush()

    with redirect_stdout(sys.stderr):
        yield tell


def _box() -> Any:
    from rich import box

    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return box.SIMPLE_HEAD if "utf" in encoding else box.ASCII2
