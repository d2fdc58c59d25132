"""A record on the terminal: what its part of the page says, without the figures.

The page has made words, numbers and tables of the record; here they become lines, the
answer first. Every number keeps its certainty and its interval.
"""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from simgap.cli.app.output import print_line, print_table
from simgap.records.provenance import ON_GRID
from simgap.report.part import Part
from simgap.report.parts import part_of
from simgap.report.sheet import Sheet, Shown
from simgap.report.shown_number import ShownNumber
from simgap.text import counted, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINE = 110  # characters
MOST_ROWS, FEW_ROWS = 30, 8  # of a longer table a few are enough
USUAL = ", 95 %"  # the confidence of nearly all intervals
INTERVALS = "Brackets after a number are its interval of 95 %."
BESIDE = ("outside", "headline", "reason", "about", "summary", "more")
LISTS = ("points", "regions", "steps")  # sentences beside the answer
FILES = {
    "policy_file": "certified policy",
    "belief_policy_file": "policy that tracks the posterior",
    "model_file": "class",
    "page": "page",
}


def print_record(record: Any) -> None:
    """Print what the page shows of a record, and where files are."""
    print_part(part_of(record))
    places = {name: getattr(record, name, None) for name in FILES}
    if (files := getattr(record, "files", None)) is not None:
        places |= {"policy_file": files.policy, "model_file": files.model}
    for name, path in places.items():
        if path is not None:
            print_line(f"{FILES[name]}: {path}")


def print_part(part: Part) -> None:
    """Print a part of the page: the answer, facts, tables and notes."""
    content, line, model = part.content, part.line, shown(part.origin.model)
    _print_text(f"{line.what}{f' of {model}' if model else ''}: {line.about}")
    for text in _sentences(part):
        _print_text(text, "  ")
    facts = dict(getattr(content, "facts", ()))
    if line.key_name and line.key not in facts.values():
        facts = {line.key_name: line.key, **facts}
    wide = max(map(len, facts), default=0)
    for name, value in facts.items():
        print_line(f"  {name:<{wide}}  {_number(value)}")
    for sheet in (*part.sheets, *part.instead):
        _print_sheet(sheet)
    for text in _notes(content):
        _print_text(text, "note: ")
    if part.certainties.how:
        _print_text("; ".join(map(" ".join, part.certainties.how)), "how: ")
    for command in getattr(content, "next", ()):
        print_line(f"next: {command}")


def _sentences(part: Part) -> list[str]:
    """Return the answer with its certainty, and what is said beside it."""
    content = part.content
    verdict = getattr(content, "verdict", None)
    found = content if verdict is None or isinstance(verdict, str) else verdict
    word, sure = getattr(found, "answer", ""), getattr(found, "certainty", "")
    said = [f"Will it transfer?  {word}" + (f" ({sure})" if sure else "")]
    said = said if word else []
    said += (getattr(found, name, "") for name in BESIDE)
    for name in LISTS:
        said += getattr(content, name, ())
    return [text for text in dict.fromkeys(said) if text not in ("", part.line.about)]


def _notes(content: object) -> Iterator[str]:
    for name in ("left_out", "notes"):
        for each in getattr(content, name, ()):
            if isinstance(each, tuple):
                yield ": ".join(each)
            else:
                yield each if isinstance(each, str) else each.text


def _print_sheet(sheet: Sheet) -> None:
    """Print the first rows and columns of a table, and how many are left out."""
    count = len(sheet.rows) + sheet.left_out
    rows = sheet.rows[: FEW_ROWS if count > MOST_ROWS else MOST_ROWS]
    columns = _columns_shown(sheet, rows)
    headings = [sheet.headings[at] for at in columns]
    sures = {each.certainty for row in rows for each in row if each.text != "-"}
    sures = sures.union(each.certainty for each in headings) - {""}
    common = ON_GRID if ON_GRID in sures else sures.pop() if len(sures) == 1 else ""
    named = [
        each.title
        for at, each in enumerate(headings)
        if common and common in {each.certainty, *(row[at].certainty for row in rows)}
    ]
    said = f"{', '.join(named)}: {common}." if named else ""
    usual = any(USUAL in cell.detail for row in rows for cell in row)
    print_line("")
    print_table(
        sheet.title,
        [_with(each.title, "\n", each.certainty, common) for each in headings],
        [[_cell(row[at], common) for at in columns] for row in rows],
        " ".join(filter(None, (sheet.note, said, INTERVALS if usual else ""))),
        texts=[
            place
            for place, at in enumerate(columns)
            if not any(row[at].is_number for row in rows)
        ],
    )
    more = (
        (count - len(rows), "more row"),
        (len(_filled(sheet, rows)) - len(columns), "more column"),
    )
    left = " and ".join(counted(some, what) for some, what in more if some)
    if left:
        print_line(f"{left}: in the record and on the page")


def _filled(sheet: Sheet, rows: Sequence[Sequence[Shown]]) -> list[int]:
    """Return the columns in which a row has anything."""
    every = range(len(sheet.headings))
    return [at for at in every if not rows or any(row[at].text != "-" for row in rows)]


def _columns_shown(sheet: Sheet, rows: Sequence[Sequence[Shown]]) -> list[int]:
    """Return the filled columns that a line can hold without cutting a number."""
    wide, columns = 0, list[int]()
    for at in _filled(sheet, rows):
        texts = [sheet.headings[at].title, *(_cell(row[at], "") for row in rows)]
        wide += 3 + max(len(word) for text in texts for word in (text.split() or [""]))
        if columns and wide > LINE:
            break
        columns.append(at)
    return columns


def _with(text: str, between: str, sure: str, common: str) -> str:
    """Return a text with its certainty, unless the table says it."""
    return f"{text}{between}{sure}" if sure and sure != common else text


def _cell(cell: Shown, common: str) -> str:
    """Return text, interval and certainty; a wider, guaranteed interval is left out."""
    interval = cell.detail.partition(";")[0].removesuffix(USUAL)
    detail = f" [{interval.replace(' to ', ',')}]" if interval else ""
    return _with(f"{cell.text}{detail}", " ", cell.certainty, common)


def _number(found: ShownNumber) -> str:
    sure = ", ".join(filter(None, (found.certainty, found.detail)))
    return f"{found.text} ({sure})" if sure else found.text


def _print_text(text: str, head: str = "") -> None:
    """Print a sentence in lines of a readable length."""
    rest = " " * len(head)
    for line in wrap(
        text,
        LINE,
        initial_indent=head,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ):
        print_line(line)
