"""`simgap report`: one page from the records in a folder.

The page is a file that can be sent to a colleague: it loads nothing and asks nobody. It
draws what other verbs have written and computes nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.app.options import AsJson

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "report.html"
MAKE_ONE = "make some: simgap study MODEL -H N --out DIR"


@final
@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """The record of `simgap report`."""

    schema: int
    path: str
    bytes: int
    drawn: int  # records on the page
    troubles: tuple[str, ...]  # records that could not be drawn, and why
    unknown: tuple[str, ...]  # records of a kind that the page does not draw


def run(
    folder: Annotated[
        str, typer.Argument(metavar="DIR", help="Where the records are.")
    ],
    out: Annotated[
        str | None,
        typer.Option("-o", "--out", metavar="FILE", help="Default: DIR/report.html."),
    ] = None,
    show: Annotated[
        bool, typer.Option("--open", help="Show the page in a browser.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Draw all records in a folder as one self-contained page.

    It knows what simgap study and simgap reproduce leave, and what audit, oracle, gap,
    blame, width, identify, adapt and run write with --out.

    Example: simgap report simgap-reproduce -o paper.html
    """
    from pathlib import Path

    from simgap.cli.app.output import print_json
    from simgap.errors import InvalidFile
    from simgap.records import SCHEMA
    from simgap.report import read_folder, write_folder

    where = Path(folder)
    if not where.exists():
        raise InvalidFile(
            f"cannot read the folder {folder[:200]}: there is none",
            hint=_near(where) or MAKE_ONE,
        )
    page = where / PAGE if out is None else Path(out)
    found = read_folder(where)
    if not found.parts and not found.troubles:
        raise InvalidFile(
            f"there is no record in {folder[:200]!r}",
            hint=MAKE_ONE,
        )
    answer = ReportAnswer(
        schema=SCHEMA,
        path=str(page),
        bytes=write_folder(found, page),
        drawn=len(found.parts),
        troubles=tuple(f"{each.name}: {each.problem}" for each in found.troubles),
        unknown=found.unknown,
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)
    if show:
        _open(page)


def _open(page: Path) -> None:
    """Show the page in the browser of the system; where there is none, say so."""
    import sys
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        sys.stderr.write("there is no browser here: open the page by hand\n")


def _near(folder: Path) -> str:
    """Return the hint that names folders which are called nearly so."""
    from difflib import get_close_matches

    try:
        beside = [each.name for each in folder.parent.iterdir() if each.is_dir()]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(folder.name, beside, n=1, cutoff=0.6)
    return f"did you mean {folder.with_name(near[0])}?" if near else ""


def _print(answer: ReportAnswer) -> None:
    from simgap.cli.app.output import print_line

    records = "record" if answer.drawn == 1 else "records"
    print_line(f"{answer.drawn} {records} drawn, {answer.bytes / 1e6:.2f} MB")
    for trouble in answer.troubles:
        print_line(f"not drawn: {trouble}")
    if answer.unknown:
        print_line(f"not known: {', '.join(answer.unknown)}")
    print_line(f"page    {answer.path}")
