"""What a page is about, in words: which class, what its models differ in, how long."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from simgap.report.part import Part
from simgap.text import counted, shown

LONGEST = 80
STUDY, SWEEP = "study_run.html", "sweep.html"
PLACE = re.compile(r"^(?:[a-z]+:)?(?:.*[/\\])?")  # a family of instances, and folders


@final
@dataclass(frozen=True, slots=True)
class Title:
    """What stands over the page."""

    words: str
    model: str  # as the command names it; empty: the records do not agree on one
    folder: str


def page_title(parts: Sequence[Part], folder: str) -> Title:
    """Return the class and the horizon in words, if all records agree on them.

    The record of a study of a simulator speaks for those of its answers, and a sweep
    has a title of its own.
    """
    if [each.template for each in parts] == [SWEEP]:
        return Title(parts[0].title, "", folder)
    parts = [each for each in parts if each.template == STUDY] or parts
    about = {(part.origin.model, part.origin.horizon) for part in parts}
    model, horizon = about.pop() if len(about) == 1 else ("", "")
    if not model:
        return Title(f"Report on {folder}", "", folder)
    steps = [f"{horizon} steps"] if horizon else []
    name = f"{_name(model)}{_randomized(parts)}"
    return Title(", ".join([name, *_models(parts), *steps]), model, folder)


def _name(model: str) -> str:
    """Return `FrozenLake-v1` for `gym:FrozenLake-v1?success_rate=0.3,0.5`."""
    return shown(PLACE.sub("", model.partition("?")[0]) or model, LONGEST)


def _models(parts: Sequence[Part]) -> list[str]:
    """Return how many models there are, and in which parameters they differ."""
    count = max((part.origin.models for part in parts), default=0)
    if not count:
        return []
    names = max((part.origin.names for part in parts), key=len)
    differ = _parameters(names)
    among = f" that differ in {shown(differ, LONGEST)}" if differ else ""
    return [counted(count, "model") + among]


def _randomized(parts: Sequence[Part]) -> str:
    """Return which parameters of a simulator are randomized."""
    found = {each.origin.randomized for each in parts if each.origin.randomized}
    return f" with randomized {shown(min(found), LONGEST)}" if found else ""


def _parameters(names: Sequence[str]) -> str:
    """Return the parameters that have more than one value among names of models."""
    values: dict[str, set[str]] = {}
    for name in names:
        for piece in name.split(", "):
            key, sign, value = piece.partition("=")
            if not sign:
                return ""
            values.setdefault(key, set()).add(value)
    found = [key for key, each in values.items() if len(each) > 1]
    return " and ".join(filter(None, (", ".join(found[:-1]), *found[-1:])))
