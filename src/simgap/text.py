"""Words of strangers, written so that they steer nothing.

Names, notes and paths come from files and commands. A control character would steer a
terminal, a mark of direction would reorder a line, a line end would forge one. They are
written out, as Python or JSON writes them, and everything else stays as it is.
"""

from __future__ import annotations

import re
from json import dumps
from unicodedata import category

HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
NOT_PLAIN = re.compile(r"[^ -~]")
NOT_PLAIN_IN_JSON = re.compile(r"[^\x00-~]")  # whose line ends stand between values


def clean(text: str) -> str:
    r"""Return text with control, formatting and unassigned characters as \x1b."""
    return NOT_PLAIN.sub(_escaped, text)


def clean_lines(text: str) -> str:
    """Return text of several lines, each of them clean."""
    return "\n".join(clean(line) for line in text.split("\n"))


def clean_json(text: str) -> str:
    r"""Return the same JSON with those characters as \u001b, which readers undo."""
    return NOT_PLAIN_IN_JSON.sub(_escaped_in_json, text)


def _escaped(found: re.Match[str]) -> str:
    sign = found[0]
    if category(sign) not in HIDDEN:
        return sign
    return sign.encode("unicode_escape").decode("ascii")


def _escaped_in_json(found: re.Match[str]) -> str:
    return dumps(found[0])[1:-1] if category(found[0]) in HIDDEN else found[0]
