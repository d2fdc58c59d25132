"""Write a model as .simgap or .npz, or the table of a sweep as .csv or .parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from simgap.cli.app.arguments import AsJson, Model
from simgap.cli.app.output import finish, print_line, working

if TYPE_CHECKING:
    from simgap.records.info import Export

TABLES = (".csv", ".parquet")  # of a sweep; a model has no such form


def run(
    context: typer.Context,
    model: Model,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Ends in .simgap or .npz; for the folder of a sweep .csv or .parquet.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write a model as .simgap or .npz; an old file is replaced whole.

    MODEL may also be the folder of a sweep: its table is written, as .csv or .parquet.

    Example: simgap export 'riverswim?success=0.2:0.5:4' rivers.npz
    """
    if _is_run(model, file):
        from simgap.sweeps.state import export_table

        with working(f"writing {file[:80]}"):
            answer = export_table(model, file)
    else:
        from simgap.answers.info import export
        from simgap.cli.app.models import read_model

        _check_order(model, file)
        given = read_model(model)
        with working(f"writing {file[:80]}"):
            answer = export(given, file)
    finish(answer, context, None, print_answer, as_json=as_json)


def print_answer(answer: Export) -> None:
    """Print one line about the file."""
    print_line(f"{answer.path}  {answer.bytes} bytes  hash {answer.hash} (exact)")


def _is_run(model: str, file: str) -> bool:
    """Whether MODEL is the folder of a sweep, or would be one if it were there."""
    from pathlib import Path

    from simgap.instances import names

    if Path(file).suffix not in TABLES or Path(model).exists():
        return Path(model).is_dir()
    return model.partition("?")[0] not in names()


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
