"""`simgap reproduce`: every claim of the paper, run again, with its verdict.

A claim holds or is refuted by the numbers, with their intervals; the ones that the
paper has wrong are expected to be refuted. Records go to a folder, one per claim, and a
page is drawn from them; a claim that is there already is not run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, final

import typer

from simgap.cli.app.options import AsJson, Seed

if TYPE_CHECKING:
    from pathlib import Path

    from simgap.experiments import Claim, KeyNumber, Scale
    from simgap.records import Provenance

FOLDER = "simgap-reproduce"


@final
@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """One claim in short."""

    claim: str
    title: str
    verdict: str
    expected: str
    key_number: KeyNumber
    seconds: float | None  # None: it was there already
    record: str


@final
@dataclass(frozen=True, slots=True)
class ReproduceAnswer:
    """The record of `simgap reproduce`."""

    schema: int
    scale: str
    claims: tuple[ClaimAnswer, ...]
    as_expected: bool
    seconds: float
    page: str
    provenance: Provenance


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
    seed: Seed = "0",
    as_json: AsJson = False,
) -> int:
    """Run the paper's claims and say which hold. Exit status 1 if one surprises.

    Example: simgap reproduce theorem-1 proposition-2 --quick
    """
    from simgap.cli.app.options import seed_of
    from simgap.cli.app.output import made_folder, print_json
    from simgap.errors import InvalidArgument
    from simgap.experiments import Scale, named_claims
    from simgap.records import SCHEMA, provenance
    from simgap.report import write_explorer

    if quick and full:
        raise InvalidArgument("both --quick and --full", hint="give one of them")
    scale, number = Scale.FULL if full else Scale.QUICK, seed_of(seed)
    _check_words(tuple(claims or ()))
    chosen = named_claims(tuple(claims or ()))
    folder = made_folder(out)  # now, not after an hour
    begin = perf_counter()
    done = [_one(claim, scale, number, folder, again) for claim in chosen]
    page = folder / "report.html"
    write_explorer(folder, page)
    answer = ReproduceAnswer(
        schema=SCHEMA,
        scale=scale.value,
        claims=tuple(done),
        as_expected=all(each.verdict == each.expected for each in done),
        seconds=perf_counter() - begin,
        page=str(page),
        provenance=provenance(
            command=str(context.obj), model="the paper", latent=None, seed=number
        ),
    )
    if as_json:
        print_json(answer)
    else:
        _print(answer)
    return 0 if answer.as_expected else 1


def _check_words(claims: tuple[str, ...]) -> None:
    """Raise if the words are one claim, written with spaces."""
    from simgap.errors import InvalidArgument
    from simgap.experiments import claim_names

    joined = "-".join(claims).lower()
    if len(claims) > 1 and joined in claim_names():
        raise InvalidArgument(
            f"there is no claim {claims[0][:40]!r}",
            hint=f"did you mean {joined}? Names have no spaces",
        )


def _one(
    claim: Claim[Any], scale: Scale, seed: int, folder: Path, again: bool
) -> ClaimAnswer:
    """Run a claim, or take it from the folder if it is there."""
    from simgap.cli.app.output import telling
    from simgap.experiments import (
        claim_path,
        claim_record,
        finished_claim,
        save_claim,
    )

    begin, where = perf_counter(), str(claim_path(folder, claim.name))
    known = None if again else finished_claim(folder, claim, scale=scale, seed=seed)
    kept = None if known is None else _kept_number(known)
    if known is not None and kept is not None:
        return ClaimAnswer(
            claim.name, claim.title, str(known["verdict"]), claim.expected.value,
            kept, None, where,
        )  # fmt: skip
    with telling(f"{claim.name} ...") as tell:
        result = claim.run(scale, seed, lambda word: tell(f"{claim.name}: {word}"))
    record = claim_record(claim, result, scale=scale, seed=seed)
    save_claim(record, folder)
    return ClaimAnswer(
        claim.name, claim.title, record.verdict, record.expected,
        record.key_number, perf_counter() - begin, where,
    )  # fmt: skip


def _kept_number(record: dict[str, Any]) -> KeyNumber | None:
    """Return the key number of a record on disk, None if it is damaged."""
    from simgap.errors import SimgapError
    from simgap.experiments import KeyNumber
    from simgap.intervals import Certified, Estimate
    from simgap.report import record_number as number

    try:
        name, told = str(record["key_number"]["name"]), record["key_number"]["value"]
        ends = number(told["lower"]), number(told["upper"])
        if "estimate" not in told:
            return KeyNumber(name, Certified(*ends))
        error = told.get("standard_error")
        return KeyNumber(
            name,
            Estimate(
                number(told["estimate"]),
                *ends,
                number(told["confidence"]),
                method=str(told.get("method", "")),
                standard_error=None if error is None else number(error),
                label="guaranteed"
                if told.get("label") == "guaranteed"
                else "approximate",
            ),
        )
    except (KeyError, TypeError, AttributeError, SimgapError):
        return None


def _print(answer: ReproduceAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table
    from simgap.intervals import Estimate
    from simgap.text import number

    rows = []
    for each in answer.claims:
        value = each.key_number.value
        middle = value.estimate if isinstance(value, Estimate) else value.upper
        told = number(middle if value.lower != value.upper else value.upper, 4)
        mark = "" if each.verdict == each.expected else f" (expected: {each.expected})"
        rows.append(
            (
                each.claim,
                each.verdict + mark,
                f"{each.key_number.name}: {told}",
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
