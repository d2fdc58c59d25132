"""`simgap export`: write a model as a file; the ending says the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.options import AsJson, MaxBytes, Model

if TYPE_CHECKING:
    from simgap.records import Provenance


@final
@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """The record of `simgap export`."""

    schema: int
    path: str
    hash: str
    bytes: int
    provenance: Provenance


def run(
    context: typer.Context,
    model: Model,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Ends in .simgap or .npz.")
    ],
    max_bytes: MaxBytes = None,
    as_json: AsJson = False,
) -> None:
    """Write a model as .simgap or .npz; an old file is replaced whole."""
    from pathlib import Path

    from simgap.cli.models import read_model
    from simgap.cli.output import print_json, print_line, working
    from simgap.interop import save_model
    from simgap.records import SCHEMA, provenance

    latent = read_model(model, max_bytes)
    with working(f"writing {file[:80]}"):
        save_model(latent, file)
    answer = ExportAnswer(
        schema=SCHEMA,
        path=file,
        hash=latent.hash,
        bytes=Path(file).stat().st_size,
        provenance=provenance(
            command=str(context.obj), model=model, model_hash=latent.hash
        ),
    )
    if as_json:
        print_json(answer)
    else:
        print_line(f"{file}  {answer.bytes} bytes  hash {answer.hash} (exact)")
