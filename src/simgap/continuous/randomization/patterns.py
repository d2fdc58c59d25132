"""Which parameters of a simulator a name means.

`*` stands for any text and the matches share one draw: `body.*.mass`. In brackets it
stands for a part of the name, and there is one draw for each: `body[*].mass` is
`body.torso.mass`, `body.foot.mass`, ...; `body[*_foot].mass` is those that end so.
"""

from __future__ import annotations

import re

from simgap.continuous.interfaces import Parameter
from simgap.errors import InvalidArgument
from simgap.text import listed, shown, suggestion

BRACKETS = re.compile(r"\[([^\[\]]*\*[^\[\]]*)\]")
LISTED = 12  # names in a hint


def matches(
    name: str, parameters: tuple[Parameter, ...], simulator: str
) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of each draw that a name stands for, by the draw's name."""
    pieces = BRACKETS.split(name)
    pattern = "".join(
        f"(?:\\.|(?=\\[))({_glob(piece)})" if i % 2 else _glob(piece)
        for i, piece in enumerate(pieces)
    )
    found: dict[str, list[Parameter]] = {}
    for parameter in parameters:
        if match := re.fullmatch(pattern, parameter.name):
            parts = list(pieces)
            parts[1::2] = [
                part if part.startswith("[") else f".{part}" for part in match.groups()
            ]
            found.setdefault("".join(parts), []).append(parameter)
    if not found:
        raise _unknown(name, [each.name for each in parameters], simulator)
    return {draw: tuple(those) for draw, those in found.items()}


def _glob(text: str) -> str:
    return ".*".join(re.escape(each) for each in text.split("*"))


def _unknown(name: str, known: list[str], simulator: str) -> InvalidArgument:
    """Return the error of a name that fits nothing, with what there is instead."""
    words = BRACKETS.sub(r".\1", name).split(".")
    kind, what = words[0], ".".join(words[1:-1])
    start, end = f"{kind}.", f".{words[-1]}"
    alike = [
        each.removeprefix(start).removesuffix(end)
        for each in known
        if each.startswith(start) and each.endswith(end) and len(each.split(".")) > 2
    ]
    if len(words) > 2 and alike:
        problem = f"no {shown(kind)} matches '{shown(what)}' in {shown(simulator)}"
        offered, title = alike, {"body": "bodies"}.get(kind, f"{shown(kind)}s")
        near = suggestion(what, alike)
    else:
        problem = f"no parameter '{shown(name)}' in {shown(simulator)}"
        offered, title = known, "known"
        near = suggestion(name, known)
    few = ", ".join(shown(each) for each in offered[:LISTED])
    more = f" and {len(offered) - LISTED} more" if len(offered) > LISTED else ""
    there = f"{title}: {few}{more}" if offered else "it has no parameters"
    return InvalidArgument(
        problem,
        hint=" ".join(filter(None, (near, there))),
        code="unknown-parameter",
    )


def set_twice(name: str, first: str, second: str) -> InvalidArgument:
    """Return the error of a parameter that two items set."""
    return InvalidArgument(
        f"{shown(name)} is set twice: by {shown(first)} and by {shown(second)}",
        hint=f"name the others one by one, or leave out {listed([first])}",
        code="set-twice",
    )
