"""The entry point `simgap`: finds the verb, turns every failure into two lines.

A verb is a module in `cli/verbs` with a function `run`; the first line of the module is
what `simgap --help` says about it. Only the module of the verb at hand is imported, and
it imports numpy and the solvers inside `run`, so that `simgap --help` and misspelt
commands are answered at once.

Exit status: 0 answered, 1 the answer is no, 2 misuse or bad input, 130 interrupted,
141 the reader of the output went away. SIMGAP_DEBUG=1 shows tracebacks.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import typer
from typer.main import get_command

from simgap.errors import SimgapError

FIRST = (  # in the help; verbs that are not named here follow by name
    "demo",
    "study",
    "list",
    "info",
    "audit",
    "oracle",
    "gap",
    "blame",
    "width",
    "identify",
    "adapt",
    "run",
    "reproduce",
    "solve",
    "diameter",
    "complexity",
    "bounds",
    "report",
    "export",
    "schema",
)


def _verbs() -> dict[str, str]:
    """Return what each verb is for: the first line of its module, not imported."""
    found = {}
    for path in (Path(__file__).parents[1] / "verbs").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "\ndef run(" in text:
            found[path.stem] = text.split("\n", 1)[0].strip('"')
    order = [*FIRST, *sorted(set(found) - set(FIRST))]
    return {name: found[name] for name in order}


VERBS = _verbs()
ABOUT = """Compute, bound and explain what is lost from simulator to reality.

MODEL is a file (.simgap, .npz, .npy) or an instance such as
'riverswim?states=6&success=0.2:0.5:4'; `simgap list` shows them all. Every verb takes
--json. Start with: simgap demo
"""

INTERRUPTED, NO_READER = 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; never raises, never a traceback."""
    if argv is None:
        from simgap.cli.app.compiling import announce_compiling
        from simgap.cli.app.output import say

        announce_compiling(say)
        gc.set_threshold(50_000)  # compiling makes many objects that stay: 10 % faster
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # a name the terminal cannot show
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = _run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        return _no_reader()
    except SystemExit as stop:  # typer's answer to a broken pipe
        if not isinstance(stop.__context__, BrokenPipeError):
            raise
        return _no_reader()
    except KeyboardInterrupt:
        return _interrupted()
    except Exception as error:
        return _explain(error)


def _explain(error: Exception) -> int:
    from simgap.cli.app.output import fail

    if os.environ.get("SIMGAP_DEBUG"):
        from traceback import print_exception

        print_exception(error)
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


def _run(arguments: list[str]) -> int:
    if not arguments:
        arguments = ["--help"]
    verb = next((each for each in arguments if not each.startswith("-")), "")
    if arguments[0] == verb and verb not in VERBS:
        return _unknown(arguments)
    program = get_command(_application(verb))
    command = program
    if arguments[0] == verb:
        command = program.commands[verb]  # type: ignore[attr-defined]
        _check_options(arguments, command)
    try:
        answer = program(
            arguments,
            prog_name="simgap",
            standalone_mode=False,
            obj=_command_line(arguments),
        )
    except typer.Abort:
        return _interrupted()
    except Exception as error:
        if not hasattr(error, "format_message"):  # no usage error of typer or click
            raise
        from simgap.cli.app.misuse import misused
        from simgap.cli.app.output import fail

        return fail(*misused(error, arguments, command, VERBS))
    status = int(answer or 0)
    return _interrupted() if status == INTERRUPTED else status


def _application(verb: str) -> typer.Typer:
    application = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,  # plain help: the pretty one costs 80 ms of imports
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    application.callback(help=ABOUT)(_root)
    for name, about in VERBS.items():
        known = import_module(f"simgap.cli.verbs.{name}").run if name == verb else _root
        application.command(name, short_help=about)(known)
    return application


def _root(
    version: bool = typer.Option(
        False,
        "--version",
        is_eager=True,
        callback=lambda wanted: _print_version() if wanted else None,
        help="Print the version and stop.",
    ),
) -> None:
    """Do nothing: verbs do the work."""


def _print_version() -> None:
    from importlib.metadata import version

    sys.stdout.write(f"simgap {version('simgap')}\n")
    raise typer.Exit(0)


def _unknown(arguments: list[str]) -> int:
    from simgap.cli.app.misuse import unknown_verb
    from simgap.cli.app.output import fail

    return fail(*unknown_verb(arguments, VERBS))


def _check_options(arguments: list[str], command: object) -> None:
    from simgap.cli.app.misuse import misread
    from simgap.errors import InvalidArgument

    if told := misread(arguments, command):
        raise InvalidArgument(told[0], hint=told[1])


def _command_line(arguments: list[str]) -> str:
    """Return the command that makes a record, however its answer is printed."""
    from shlex import join

    return join(["simgap", *(each for each in arguments if each != "--json")])


def _no_reader() -> int:
    with suppress(OSError, ValueError):  # so that closing stdout is silent as well
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return NO_READER


def _interrupted() -> int:
    sys.stderr.write("\nstopped: interrupted\n")
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
