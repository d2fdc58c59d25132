"""The JSON Schema of what a verb answers.

The schemas are made from the records themselves, the frozen dataclasses that every verb
prints with --json, so that they cannot differ from them. Most verbs print
the record that is called the same; the others stand in RECORDS.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import typer

from simgap.cli.app.arguments import AsJson
from simgap.text import suggestion

RECORDS = {
    "adapt": ("Adapt", "AdaptedSimulator"),
    "blame": ("Blame", "BlamedRun"),
    "check": ("SimulatorCheck",),
    "demo": ("Study", "Transfer"),
    "identify": ("Identify", "IdentifiedRun"),
    "resume": ("Sweep",),
    "retry": ("Sweep",),
    "status": ("Sweep",),
    "study": ("Study", "StudyRun"),
    "width": ("Width", "WidthRun"),
}


def run(
    verb: Annotated[
        str | None,
        typer.Argument(metavar="[VERB]", help="A verb; default: all of them."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Print the JSON Schema of what a verb prints with --json.

    Without VERB the keys of all answers are listed, and with --json one schema holds
    them all. The dialect is draft 2020-12.

    Example: simgap schema oracle
    """
    from simgap.cli.app.output import print_json

    if verb is None and not as_json:
        _print_keys()
        return
    found = schema_of_all() if verb is None else schema_of(verb)
    if as_json:
        print_json(found)
    else:
        from simgap.records.files import encode

        sys.stdout.write(encode(found, indent=2).decode())


def schema_of(verb: str) -> dict[str, Any]:
    """Return the JSON Schema of what a verb prints with --json."""
    from simgap.errors import InvalidArgument
    from simgap.records.schema import DIALECT, json_schema

    if verb == "schema":
        return {"$schema": DIALECT, "title": "simgap schema --json", "$ref": DIALECT}
    if verb not in answering_verbs():
        known = answering_verbs()
        raise InvalidArgument(
            f"there is no verb {verb[:60]!r}",
            hint=suggestion(verb, known, before="simgap schema ")
            or f"it is one of {', '.join(known)}",
        )
    return json_schema(f"simgap {verb} --json", record_classes(verb))


def schema_of_all() -> dict[str, Any]:
    """Return one JSON Schema with the answer of every verb in its `$defs`.

    `#/$defs/oracle` is the answer of `simgap oracle`.
    """
    from simgap.records.schema import json_schema, one_of

    answers = {verb: record_classes(verb) for verb in answering_verbs()}
    kinds = dict.fromkeys(kind for every in answers.values() for kind in every)
    whole = json_schema("what simgap prints with --json", tuple(kinds))
    for verb, records in answers.items():
        whole["$defs"][verb] = one_of([each.__name__ for each in records])
    return whole


def answering_verbs() -> tuple[str, ...]:
    """Return the verbs that print a record: all but this one."""
    from simgap.cli.app.program import VERBS

    return tuple(verb for verb in VERBS if verb != "schema")


def record_classes(verb: str) -> tuple[type, ...]:
    """Return the classes of the records that a verb prints, most often one."""
    return tuple(map(_record_class, RECORDS.get(verb, (verb.capitalize(),))))


def _record_class(name: str) -> type:
    """Return a class of record, whichever module has it."""
    for each in iter_modules(import_module("simgap.records").__path__):
        module = import_module(f"simgap.records.{each.name}")
        if hasattr(module, name):
            found: type = getattr(module, name)
            return found
    raise AttributeError(name)


def _print_keys() -> None:
    from simgap.cli.app.output import print_table
    from simgap.records.schema import json_schema

    print_table(
        "keys of every answer",
        ("verb", "keys of its JSON"),
        [
            (verb, ", ".join(json_schema(verb, [each])["properties"]))
            for verb in answering_verbs()
            for each in record_classes(verb)
        ],
        "simgap schema VERB prints the JSON Schema; docs/json.md says what keys mean",
        texts=2,
    )
