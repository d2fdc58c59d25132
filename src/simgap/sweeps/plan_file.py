"""The file of a plan: TOML, and the line on which a key stands.

An error in a plan names the file, the line and the way out.
"""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.user_files import opened

LARGEST = 4 * 2**20  # bytes
HEAD = re.compile(r"\s*\[+([^\[\],]+)\]+\s*(?:#.*)?$")
KEY = re.compile(r"\s*([\w.\"' -]+?)\s*=")


@final
@dataclass(frozen=True, slots=True)
class PlanFile:
    """The text of a plan, and what it says."""

    name: str  # of the file
    text: str
    content: dict[str, Any]

    def wrong(self, what: str, hint: str, *keys: str, code: str) -> InvalidFile:
        """Return what to raise about the value of a key: `keys` are its path."""
        line = self.line_of(*keys)
        place = f"{self.name}, line {line}" if line else self.name
        return InvalidFile(f"{place}: {what}", hint=hint, code=code)

    def line_of(self, *keys: str) -> int | None:
        """Return the line on which a key stands, counted from 1.

        If none begins with it, the line of the table that it belongs to.
        """
        table: tuple[str, ...] = ()
        nearest = None
        for at, line in enumerate(self.text.splitlines(), 1):
            if head := HEAD.match(line):
                here = table = _names(head[1])
            elif key := KEY.match(line):
                here = (*table, *_names(key[1]))
            else:
                continue
            if here == keys:
                return at
            if here == keys[: len(here)]:
                nearest = nearest or at
        return nearest


def read_plan_file(path: Path) -> PlanFile:
    """Return the plan that a file holds, as far as TOML is concerned."""
    with opened(path, "plan", endings=(".toml",)) as stream:
        raw = stream.read(LARGEST + 1)
    if len(raw) > LARGEST:
        raise InvalidFile(
            f"{path} has more than {LARGEST} bytes",
            hint="a plan is a short text: is it another kind of file?",
            code="plan-too-large",
        )
    return plan_file_of(raw, path.name)


def plan_file_of(raw: bytes, name: str) -> PlanFile:
    """Return the plan that a text holds."""
    try:
        text = raw.removeprefix(BOM_UTF8).decode()
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InvalidFile(
            f"{name}, line {line}: this is not a text in UTF-8",
            hint="save the plan as plain text in UTF-8",
            code="plan-not-text",
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidFile(
            f"{name} is not TOML: {error}",
            hint='texts need quotes, lists brackets: policy = ["oracle", "random"]',
            code="plan-not-toml",
        ) from error
    return PlanFile(name, text, content)


def _names(path: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    return tuple(each.strip(" \"'") for each in path.split("."))
