"""The entry point `simgap`: runs one command, turns every failure into two lines.

Exit status: 0 answered, 1 the answer is no, 2 misuse, bad input, or output that cannot
be written, 130 interrupted, 141 the reader of the output went away. Messages that
standard error does not take change nothing. SIMGAP_DEBUG=1 shows tracebacks.

Nothing heavy is imported before interrupts are listened to.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from simgap.cli.app.process import INTERRUPTED, STOPPED, begin_process, end_process
from simgap.cli.app.watched import end_with_watcher, watch, write_status
from simgap.errors import SimgapError
from simgap.interrupts import check_interrupt

NO_READER = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; never raises, never a traceback."""
    if argv is not None:
        return _status(list(argv))
    closed = sys.stdout is None
    try:
        if not closed and (status := watch(sys.argv[1:])) is not None:
            return status
        end_with_watcher()
        begin_process()
        status = _no_output() if closed else _status(sys.argv[1:], alone=True)
    except KeyboardInterrupt:
        status = _interrupted()
    finally:
        end_process()
    write_status(status)
    return status


def _status(arguments: list[str], *, alone: bool = False) -> int:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a name the terminal cannot show
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        if alone:
            _prepare()
        from simgap.cli.app.program import run_program

        status = run_program(arguments)
        sys.stdout.flush()
        check_interrupt()
        return status
    except BrokenPipeError:
        return _no_reader()
    except SystemExit as stop:  # typer's answer to a broken pipe, or code of a user
        if not isinstance(stop.__context__, BrokenPipeError):
            return _left(stop)
        return _no_reader()
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        return _explain(error)


def _prepare() -> None:
    from simgap.cli.app.compiling import announce_compiling
    from simgap.cli.app.output import say

    announce_compiling(say)
    gc.set_threshold(50_000)  # compiling makes many objects that stay: 10 % faster


def _explain(error: Exception) -> int:
    from simgap.cli.app.output import fail

    if os.environ.get("SIMGAP_DEBUG"):
        from traceback import print_exception

        print_exception(error)
    try:
        check_interrupt()  # a library may have made another error of it
    except KeyboardInterrupt:
        return _interrupted()
    if isinstance(error, SimgapError):
        return fail(error.problem, error.hint)
    if isinstance(error, MemoryError):
        return fail(
            "not enough memory for this model",
            "a smaller class, fewer states, or a machine with more memory",
        )
    what = str(error).splitlines()[0][:500] if str(error) else "no message"
    return fail(
        f"unexpected {type(error).__name__}: {what}",
        "a defect of simgap; SIMGAP_DEBUG=1 shows the traceback to report",
    )


def _left(stop: SystemExit) -> int:
    from simgap.cli.app.output import fail

    return fail(
        f"code of a simulator or of a policy called sys.exit({stop})",
        "take it out, or raise an error: a command ends with an answer",
    )


def _no_output() -> int:
    from simgap.cli.app.output import fail

    return fail("standard output is closed", "send it somewhere: > answer.txt")


def _no_reader() -> int:
    with suppress(OSError, ValueError):  # so that closing stdout is silent as well
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return NO_READER


def _interrupted() -> int:
    sys.stderr.write(STOPPED)
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
