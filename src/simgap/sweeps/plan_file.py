"""The file of a plan: TOML, and the line on which a key stands.

What is wrong in a plan is told with the file, the line and the way out.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.user_files import opened

LARGEST = 4 * 2**20  # bytes


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
        """Return the line on which a key stands, counted from 1."""
        table: tuple[str, ...] = ()
        found = None
        for at, line in enumerate(self.text.splitlines(), start=1):
            if head := re.match(r"\s*\[([^\[\]]+)\]", line):
                table = tuple(_names(head[1]))
                if table == keys:
                    found = found or at
            elif key := re.match(
                r"""\s*((?:[\w-]+|"[^"]*"|'[^']*'|\s*\.\s*)+)\s*=""", line
            ):
                here = (*table, *_names(key[1]))
                if here == keys:
                    return at
                if here == keys[: len(here)]:
                    found = found or at  # inside of a table on one line
        return found


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
        text = raw.decode()
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise InvalidFile(
            f"{name} is not a text in UTF-8",
            hint="save it as plain text",
            code="plan-not-text",
        ) from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidFile(
            f"{name} is not TOML: {error}",
            hint='texts need quotes, lists brackets: policy = ["oracle", "random"]',
            code="plan-not-toml",
        ) from error
    return PlanFile(name, text, content)


def _names(path: str) -> list[str]:
    """Return the parts of a dotted key."""
    return [each.strip().strip("\"'") for each in path.split(".")]
