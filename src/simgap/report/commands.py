"""How to get all records of a page again: their commands as lines for a terminal.

A record is a file of a stranger, and its command is copied by people into a terminal.
What is not plainly one call of simgap stays a comment.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from simgap.report.part import Part

PROGRAM = "simgap"
EXPANDED = frozenset("$`!\\\n\r")  # what a shell reads also inside quotation marks
OPERATORS = frozenset("();<>|&*?[]{}~#")  # what it reads outside of them


def commands_of(parts: Sequence[Part]) -> str:
    """Return the commands behind a page, each after a comment on what it made."""
    made = dict.fromkeys(_listed(part.origin.versions) for part in parts)
    lines = [f"# made with {versions}" for versions in made if versions]
    for part in parts:
        facts = [fact for fact in part.origin.facts if fact[0] != "model"]
        lines.append(f"# {part.line.what}: {_listed(facts) or 'origin unknown'}")
        command = part.origin.command
        if is_plain_call(command):
            lines += [command] if command not in lines else []  # a study's makes many
        elif command:
            lines.append(f"# not a plain call of simgap: {command}")
    return "\n".join(lines)


def _listed(facts: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{what} {which}" for what, which in facts)


def is_plain_call(command: str) -> bool:
    """Return whether a command calls simgap, and a shell would do nothing else."""
    if EXPANDED & set(command):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if not words or words[0] != PROGRAM:
        return False
    return not OPERATORS & set(_outside_quotes(command))


def _outside_quotes(command: str) -> str:
    """Return what stands outside of quotation marks, which are known to be paired."""
    found, mark = [], ""
    for each in command:
        if mark:
            mark = "" if each == mark else mark
        elif each in "'\"":
            mark = each
        else:
            found.append(each)
    return "".join(found)
