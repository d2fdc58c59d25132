"""`simgap schema`: what may be relied on in the JSON of a verb.

The schemas are made from the records themselves, the frozen dataclasses that every verb
prints with --json, so that they cannot differ from them.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated, Any

import typer

from simgap.cli.app.options import AsJson

ANSWERS = {  # verb -> module of this room, class of its record
    "demo": ("", "Study"),
    "study": ("", "Study"),
    "list": ("list", "ListAnswer"),
    "info": ("info", "Info"),
    "audit": ("audit_answer", "AuditAnswer"),
    "oracle": ("", "Oracle"),
    "gap": ("", "Gap"),
    "blame": ("", "Blame"),
    "width": ("", "Width"),
    "identify": ("", "Identify"),
    "adapt": ("adapt_answer", "AdaptAnswer"),
    "run": ("run_answer", "RunAnswer"),
    "reproduce": ("reproduce", "ReproduceAnswer"),
    "solve": ("solve", "SolveAnswer"),
    "diameter": ("diameter", "DiameterAnswer"),
    "complexity": ("complexity", "ComplexityAnswer"),
    "bounds": ("bounds", "BoundsAnswer"),
    "report": ("report", "ReportAnswer"),
    "export": ("export", "ExportAnswer"),
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
        from simgap.records import encode

        sys.stdout.write(encode(found, indent=2).decode())


def schema_of(verb: str) -> dict[str, Any]:
    """Return the JSON Schema of what a verb prints with --json."""
    from simgap.cli.app.schema_types import DIALECT, answer_schema
    from simgap.errors import InvalidArgument

    if verb == "schema":
        return {"$schema": DIALECT, "title": "simgap schema --json", "$ref": DIALECT}
    if verb not in ANSWERS:
        from difflib import get_close_matches

        near = get_close_matches(verb.lower(), ANSWERS, n=1, cutoff=0.5)
        raise InvalidArgument(
            f"there is no verb {verb[:60]!r}",
            hint=f"did you mean simgap schema {near[0]}?"
            if near
            else f"it is one of {', '.join(ANSWERS)}",
        )
    return answer_schema(f"simgap {verb} --json", record_class(verb))


def schema_of_all() -> dict[str, Any]:
    """Return one JSON Schema with the answer of every verb in its `$defs`."""
    from simgap.cli.app.schema_types import joint_schema

    answers = {verb: record_class(verb) for verb in ANSWERS}
    return joint_schema("what simgap prints with --json", answers)


def record_class(verb: str) -> type:
    """Return the dataclass that a verb prints."""
    module, name = ANSWERS[verb]
    home = f"simgap.cli.verbs.{module}" if module else "simgap.records"
    found = getattr(import_module(home), name)
    assert isinstance(found, type)
    return found


def _print_keys() -> None:
    from simgap.cli.app.output import print_table

    print_table(
        "keys of every answer",
        ("verb", "keys of its JSON"),
        [(verb, ", ".join(schema_of(verb)["properties"])) for verb in ANSWERS],
        "simgap schema VERB prints the JSON Schema; docs/json.md says what keys mean",
        texts=2,
    )
