"""The file of a plan: TOML, and the line on which a key stands.

What is wrong in a plan is told with the file, the line and the way out.
"""

from __future__ import annotations

import re
import tomllib
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from simgap.errors import InvalidFile
from simgap.user_files import opened

LARGEST = 4 * 2**20  # bytes
QUOTED = r""""(?:[^"\\\n]|\\.)*+"|'[^'\n]*+'"""
LONG_TEXTS = r'''"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}''' + (
    r"""|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"""
)
TOKEN = re.compile(rf"{LONG_TEXTS}|{QUOTED}|#[^\n]*+|[\[\]{{}}\n]", re.DOTALL)
NAME = re.compile(rf"{QUOTED}|[\w-]++")
KEY = re.compile(rf"\s*+((?:{QUOTED}|[\w.-]++|[ \t]++)++)=")
HEAD = re.compile(rf"\s*+\[\[?+((?:{QUOTED}|[^\]])++)\]")


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

        If it stands nowhere by itself, the line of the table that it belongs to.
        """
        table: tuple[str, ...] = ()
        found = None
        for at, line in _beginnings(self.text):
            if head := HEAD.match(line):
                here = table = _names(head[1])
            elif key := KEY.match(line):
                here = (*table, *_names(key[1]))
            else:
                continue
            if here == keys:
                return at
            if here == keys[: len(here)]:
                found = found or at
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


def _beginnings(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines that begin a table or a key, with their numbers.

    Lines inside of a long text or of a list over several lines begin nothing.
    """
    inside: set[int] = set()
    at = depth = 0
    for found in TOKEN.finditer(text):
        token = found[0]
        depth += (token in "[{") - (token in "]}")
        many = token.count("\n")
        if depth or token != "\n":
            inside.update(range(at + 1, at + many + 1))
        at += many
    for at, line in enumerate(text.split("\n")):
        if at not in inside:
            yield at + 1, line


def _names(path: str) -> tuple[str, ...]:
    """Return the parts of a dotted key."""
    return tuple(each.strip("\"'") for each in NAME.findall(path))
