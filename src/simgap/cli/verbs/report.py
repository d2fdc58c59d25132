"""One page from the records in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson
from simgap.cli.app.output import print_json, print_line

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.records.report import Report


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

    It knows what simgap study and simgap reproduce leave, and what transfer, check,
    audit, oracle, gap, blame, width, identify, adapt and run write with --out.

    Example: simgap report simgap-reproduce -o paper.html
    """
    from pathlib import Path

    from simgap.report.report import draw_report

    answer = draw_report(folder, out)
    if as_json:
        print_json(answer)
    else:
        print_answer(answer)
    if show:
        _open(Path(answer.path))


def print_answer(answer: Report) -> None:
    """Print where the page is, and which records are not on it."""
    records = "record" if answer.drawn == 1 else "records"
    print_line(f"{answer.drawn} {records} drawn, {answer.bytes / 1e6:.2f} MB")
    for trouble in answer.troubles:
        print_line(f"not drawn: {trouble}")
    if answer.unknown:
        print_line(f"not known: {', '.join(answer.unknown)}")
    if answer.changed:
        print_line(f"changed since simgap wrote it: {', '.join(answer.changed)}")
    if answer.unsealed:
        print_line(f"not known whether records were changed: {answer.unsealed}")
    print_line(f"page    {answer.path}")


def _open(page: Path) -> None:
    """Show the page in the browser of the system; where there is none, say so."""
    import sys
    import webbrowser

    if not webbrowser.open(page.resolve().as_uri()):
        sys.stderr.write("there is no browser here: open the page by hand\n")
