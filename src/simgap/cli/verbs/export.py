"""`simgap export`: write a model as a file; the ending says the format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, final

import typer

from simgap.cli.app.options import AsJson, MaxBytes, Model

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
    """Write a model as .simgap or .npz; an old file is replaced whole.

    Example: simgap export 'riverswim?success=0.2:0.5:4' rivers.npz
    """
    from pathlib import Path

    from simgap.cli.app.models import read_model
    from simgap.cli.app.options import max_bytes_of
    from simgap.cli.app.output import print_json, print_line, working
    from simgap.interop import save_model
    from simgap.records import SCHEMA, provenance

    _check_order(model, file)
    latent = read_model(model, max_bytes_of(max_bytes)).latent
    with working(f"writing {file[:80]}"):
        save_model(latent, file)
    answer = ExportAnswer(
        schema=SCHEMA,
        path=file,
        hash=latent.hash,
        bytes=Path(file).stat().st_size,
        provenance=provenance(command=str(context.obj), model=model, latent=latent),
    )
    if as_json:
        print_json(answer)
    else:
        print_line(f"{file}  {answer.bytes} bytes  hash {answer.hash} (exact)")


def _check_order(model: str, file: str) -> None:
    """Raise if FILE names an instance and MODEL a file that is not there."""
    from pathlib import Path
    from shlex import quote

    from simgap.errors import InvalidArgument
    from simgap.instances import is_instance_string
    from simgap.interop import WRITABLE

    new = Path(model).suffix in WRITABLE and not Path(model).exists()
    if new and Path(file).suffix not in WRITABLE and is_instance_string(file):
        raise InvalidArgument(
            f"there is no file {model}, and {file!r} is no file to write",
            hint=f"MODEL comes first: simgap export {quote(file)} {quote(model)}",
        )
