"""`simgap list`: the instances that stand wherever a model file does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.cli.app.options import AsJson


@final
@dataclass(frozen=True, slots=True)
class Listed:
    """One instance of the catalogue."""

    name: str
    description: str
    parameters: dict[str, str]  # name -> what it is, with its default


@final
@dataclass(frozen=True, slots=True)
class ListAnswer:
    """The record of `simgap list`."""

    schema: int
    instances: tuple[Listed, ...]
    readable: tuple[str, ...]  # endings of model files
    writable: tuple[str, ...]


def run(as_json: AsJson = False) -> None:
    """List the instances and the file formats that MODEL may name.

    Example: simgap list
    """
    from simgap.cli.app.output import print_json
    from simgap.interop import READABLE, WRITABLE
    from simgap.records import SCHEMA

    answer = ListAnswer(SCHEMA, _instances(), READABLE, WRITABLE)
    if as_json:
        print_json(answer)
    else:
        _print(answer)


def _instances() -> tuple[Listed, ...]:
    from simgap.instances import (
        CATALOGUE,
        CONTROLS,
        DISCRETISE,
        ENVIRONMENTS,
        GYM,
        GYM_CHOICES,
        control_keys,
    )

    own = [
        Listed(
            name,
            entry.about,
            {
                key: f"{each.meaning}; {each.kind.value}"
                + (f"; default {each.default}" if each.default else "")
                for key, each in entry.parameters.items()
            },
        )
        for name, entry in CATALOGUE.items()
    ]
    choices = {
        key: f"one of {', '.join(str(each.value) for each in offered)}"
        for key, offered in GYM_CHOICES.items()
    }
    gym = [
        Listed(
            GYM + name,
            each.about,
            dict.fromkeys(each.parameters, "a number, a range a:b:n or a list a,b,c")
            | {
                key: f"one of {', '.join(str(value).lower() for value in allowed)}"
                for key, (_, allowed) in each.settings.items()
            }
            | choices,
        )
        for name, each in ENVIRONMENTS.items()
    ]
    controls = [
        Listed(DISCRETISE + name, each.about, control_keys(each))
        for name, each in CONTROLS.items()
    ]
    return (*own, *gym, *controls)


def _print(answer: ListAnswer) -> None:
    from simgap.cli.app.output import print_line, print_table

    rows = [
        (each.name, each.description, ", ".join(each.parameters))
        for each in answer.instances
    ]
    print_table(
        "instances: NAME?key=value&key=value",
        ("name", "what it is", "parameters"),
        rows,
        "a value is a number, a range a:b:n or a list a,b,c; for run general also an "
        "interval a..b; --json says more",
        texts=3,
    )
    print_line(f"files read: {' '.join(answer.readable)}")
    print_line(f"files written: {' '.join(answer.writable)}")
