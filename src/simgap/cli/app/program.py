"""The program `simgap`: finds the verb and runs it.

A verb is a module in `cli/verbs` with a function `run`; the first line of the module is
what `simgap --help` says about it. Only the module of the verb at hand is imported, and
it imports numpy and the solvers inside `run`, so that `simgap --help` and misspelt
commands are answered at once.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import typer
from typer.main import get_command

from simgap.cli.app.process import INTERRUPTED

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
    "sweep",
    "status",
    "resume",
    "retry",
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


def run_program(arguments: list[str]) -> int:
    """Run one command and return its exit status; what fails is raised."""
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
    except typer.Abort as error:
        raise error.__cause__ or KeyboardInterrupt from error
    except Exception as error:
        if not hasattr(error, "format_message"):  # no usage error of typer or click
            raise
        from simgap.cli.app.misuse import misused
        from simgap.cli.app.output import fail

        return fail(*misused(error, arguments, command, VERBS))
    status = int(answer or 0)
    if status == INTERRUPTED:  # typer's answer to an interrupt
        raise KeyboardInterrupt
    return status


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
