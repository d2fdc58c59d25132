"""What the verbs of sweeps share: where cells run, and what is printed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from simgap.cli.app.arguments import whole
from simgap.cli.app.output import finish, print_line, print_notes, say, telling
from simgap.errors import InvalidArgument
from simgap.text import counted, duration

if TYPE_CHECKING:
    from simgap.records.sweep import Sweep
    from simgap.sweeps.engine import Engine

MOST_FAILURES = 10  # that a terminal shows

Folder = Annotated[str, typer.Argument(metavar="RUN", help="The folder of --out.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Cells at a time on this machine; default: its cores.",
        parser=whole("--workers", 1, 10_000, "a number of processes"),
    ),
]
EngineName = Annotated[
    Literal["local", "ray"],
    typer.Option(
        "--engine", metavar="local|ray", help="This machine, or a Ray cluster."
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="A",
        help="Of the Ray cluster: auto, or HOST:PORT of its head.",
    ),
]


def chosen_engine(name: str, address: str | None, workers: int | None) -> Engine:
    """Return where cells run."""
    if name == "ray":
        from simgap.sweeps.ray_engine import RayEngine

        if workers is not None:
            raise InvalidArgument(
                "--workers with --engine ray", hint="the cluster decides how many"
            )
        return RayEngine(address or "auto")
    if address is not None:
        raise InvalidArgument("--address without --engine ray", hint="give both")
    from simgap.sweeps.engine import LocalEngine

    return LocalEngine(workers or len(os.sched_getaffinity(0)))


@contextmanager
def resumable(folder: str) -> Iterator[Callable[[str], None]]:
    """Yield a function that says how far cells are; say how an interrupt is undone."""
    try:
        with telling("cells") as tell:
            yield tell
    except KeyboardInterrupt:
        say(f"finished cells are kept: simgap resume {quote(folder)} goes on")
        raise


def finish_sweep(
    answer: Sweep,
    context: typer.Context,
    folder: str,
    show: Callable[[Sweep], None],
    *,
    as_json: bool,
) -> int:
    """Keep the record, draw the page and print both; return the exit status."""
    from dataclasses import replace
    from pathlib import Path

    from simgap.records.kept import write_record
    from simgap.records.record import with_command
    from simgap.report.report import draw_report

    told = with_command(answer, str(context.obj))
    write_record(told, Path(folder) / "sweep.json")
    told = replace(told, page=draw_report(folder).path)
    finish(told, context, None, show, as_json=as_json)
    return 1 if answer.failed else 0


def print_sweep(answer: Sweep) -> None:
    """Print how far a sweep is."""
    print_line(
        f"{answer.title or answer.question}: {answer.done} of "
        f"{counted(answer.cells, 'cell')} done, {answer.failed} failed, "
        f"{answer.running} running"
    )
    if answer.driver is not None:
        print_line(f"at work: {answer.driver}")
    for each in answer.changes:
        print_line(f"changed: {each}")
    if answer.reused:
        print_line(f"finished before: {counted(answer.reused, 'cell')}")
    if answer.dropped:
        told = counted(answer.dropped, "finished cell")
        print_line(f"not in this plan, and kept in the ledger: {told}")
    for one in answer.failures[:MOST_FAILURES]:
        print_line(f"failed: {one.line}")
    if answer.failed > MOST_FAILURES:
        print_line(f"{answer.failed - MOST_FAILURES} more failed; --json has them")
    if answer.cost is not None:
        _print_cost(answer)
    if answer.seconds is not None:
        print_line(f"{answer.seconds:.1f} s")
    for what, place in (("table", answer.table), ("page", answer.page)):
        if place is not None:
            print_line(f"{what:<7} {place}")
    print_notes(answer.notes)


def _print_cost(answer: Sweep) -> None:
    cost = answer.cost
    assert cost is not None
    left = answer.cells - answer.done - answer.failed
    about = "at least" if cost.at_least else "about"
    seconds = "unknown" if cost.seconds is None else duration(cost.seconds)
    disk = "unknown" if cost.disk is None else f"{cost.disk / 1e6:.3g} MB"
    print_line(
        f"{counted(left, 'cell')} to run: {about} {seconds}, {disk} of disk "
        f"(from {counted(cost.measured, 'timed cell')})"
    )
