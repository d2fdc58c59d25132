"""The paper's claims, run again, each with its verdict.

A claim holds or is refuted by the numbers, with their intervals; the ones that the
paper has wrong are expected to be refuted. Records go to a folder, one per claim, and a
page is drawn from them; a claim that is there already is not run again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson, Seed
from simgap.cli.app.output import (
    finish,
    print_line,
    print_table,
    telling,
)
from simgap.errors import InvalidArgument
from simgap.text import number

if TYPE_CHECKING:
    from simgap.records.claim import Reproduce

FOLDER = "simgap-reproduce"


def run(
    context: typer.Context,
    claims: Annotated[
        list[str] | None,
        typer.Argument(metavar="CLAIM", help="Such as theorem-2; default: all."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Minutes for all claims; the default.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="An hour for all claims.")
    ] = False,
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="Where records and page go.")
    ] = FOLDER,
    again: Annotated[
        bool, typer.Option("--again", help="Run claims that are there already.")
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> int:
    """Run the paper's claims and say which hold. Exit status 1 if one surprises.

    Example: simgap reproduce theorem-1 proposition-2 --quick
    """
    from simgap.experiments import Scale, named_claims, reproduce
    from simgap.report.explorer import write_explorer
    from simgap.user_files import made_folder

    if quick and full:
        raise InvalidArgument("both --quick and --full", hint="give one of them")
    names = claims or []
    _check_words(names)
    named_claims(tuple(names))  # a wrong name makes no folder
    folder = made_folder(out)
    with telling("claims of the paper") as tell:
        answer = reproduce(
            names,
            out=folder,
            scale=Scale.FULL if full else Scale.QUICK,
            seed=seed,
            again=again,
            progress=tell,
        )
    page = folder / "report.html"
    write_explorer(folder, page)
    answer = replace(answer, page=str(page))
    finish(answer, context, None, print_answer, as_json=as_json)
    return 0 if answer.as_expected else 1


def _check_words(claims: list[str]) -> None:
    """Raise if the words are one claim, written with spaces."""
    from simgap.experiments import claim_names

    joined = "-".join(claims).lower()
    if len(claims) > 1 and joined in claim_names():
        raise InvalidArgument(
            f"there is no claim {claims[0][:40]!r}",
            hint=f"did you mean {joined}? Names have no spaces",
        )


def print_answer(answer: Reproduce) -> None:
    """Print a line for each claim, and whether all came out as expected."""
    from simgap.intervals import Estimate

    rows = []
    for each in answer.claims:
        value = each.key_number.value
        middle = value.estimate if isinstance(value, Estimate) else value.upper
        mark = "" if each.verdict is each.expected else f" (expected: {each.expected})"
        rows.append(
            (
                each.claim,
                each.verdict + mark,
                f"{each.key_number.name}: {number(middle, 4)}",
                "kept" if each.seconds is None else f"{each.seconds:.1f} s",
            )
        )
    print_table(
        f"claims of the paper, {answer.scale}",
        ("claim", "verdict", "key number", "time"),
        rows,
        "a verdict is computed from numbers with their intervals",
        texts=3,
    )
    word = "as expected" if answer.as_expected else "NOT all as expected"
    print_line(f"{len(answer.claims)} claims, {word}, {answer.seconds:.0f} s")
    print_line(f"page    {answer.page}")
