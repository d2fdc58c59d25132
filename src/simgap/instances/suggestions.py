"""Suggestions for a text that names neither an instance nor a file."""

from __future__ import annotations

import re

from simgap.instances.catalogue import CATALOGUE, DISCRETISE, GYM, names

_PARTS = re.compile(
    r"((?:\w+:)?[\w-]+?)"  # the name, with its prefix
    r"(\.\w+)?"  # the ending of a file
    r"(?:[?&:;,\s]+(.*=.*))?$"  # keys, after whatever sign
)


def probably_meant(text: str) -> str | None:
    """Return the instance string that a text which is none may stand for, or None.

    `river swim`, `riverswim.npz`, `riverswim&states=6`, `gymnasium:FrozenLake-v1`.
    """
    text = re.sub(r"^(gymnasium|gym)[:/]", GYM, text.strip().removeprefix("./"))
    text = re.sub(r"^discreti[sz]e[:/]", DISCRETISE, text)
    found = _PARTS.match(text)
    if found is None:
        plain = re.sub(r"[\W_]", "", text).lower()
        return next((n for n in CATALOGUE if n.replace("_", "") == plain), None)
    offered = {name.lower(): name for name in names()}
    name = offered.get(found[1].lower())
    if name is None or not found[3]:
        return name
    return f"{name}?" + re.sub(r"[,;&\s]+(?=\w+=)", "&", found[3])
