"""`policy.onnx.toml`: what the inputs and outputs of a network file are.

    observation = "input.1"
    action = "23"
    memory = [["h", "25"], ["c", "26"]]
    begins = "reset"          # an input that is true at the first step of an episode
    handling = "clip"         # or "scale", "argmax", "as-is"
    normaliser = "none"       # observations are meant to go in as they are
    theta = ["mass", "gain"]  # one more input is told these parameters, in that order

Only the first two are needed.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from simgap.continuous.policies.onnx_signature import (
    Handling,
    Roles,
    names_parameters,
)
from simgap.errors import InvalidFile
from simgap.text import suggestion
from simgap.user_files import opened

LARGEST = 100_000  # bytes
TEXTS = ("observation", "action", "begins", "normaliser", "handling")
KEYS = (*TEXTS, "memory", "theta")


def read_sidecar(path: Path) -> Roles:
    """Return the roles that a sidecar names, every key checked."""
    with opened(path, "sidecar", endings=(".toml",)) as stream:
        text = stream.read(LARGEST + 1)
    try:
        if len(text) > LARGEST:
            raise _wrong(path, f"it has more than {LARGEST} bytes")
        found = tomllib.loads(text.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _wrong(path, str(error)[:200]) from error
    for key in found:
        if key not in KEYS:
            raise _wrong(path, f"the key {key[:40]!r}", suggestion(key, KEYS))
    for key in TEXTS:
        if not isinstance(found.get(key, ""), str):
            raise _wrong(path, f"{key} is {str(found[key])[:60]}, not a name")
    for key in ("observation", "action"):
        if not found.get(key):
            raise _wrong(path, f"{key} is not named")
    if found.get("normaliser", "none") != "none":
        raise _wrong(
            path,
            f"the normaliser {found['normaliser'][:40]!r}",
            'normaliser = "none" says that observations go in as they are; put any '
            "other into the network before it is exported",
        )
    if "theta" in found and not names_parameters(found["theta"]):
        raise _wrong(
            path,
            f"theta is {str(found['theta'])[:60]}",
            'it names parameters, each once: theta = ["mass", "length"]',
        )
    return Roles(
        found["observation"],
        found["action"],
        _pairs(found.get("memory", []), path),
        found.get("begins", ""),
        _handling(found["handling"], path) if "handling" in found else None,
        found.get("normaliser", ""),
        told=tuple(found.get("theta", ())),
    )


def _pairs(given: Any, path: Path) -> tuple[tuple[str, str], ...]:
    fits = isinstance(given, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(each, str) for each in pair)
        for pair in given
    )
    if not fits:
        raise _wrong(path, f"memory is {str(given)[:60]}")
    names = [name for pair in given for name in pair]
    if len(set(names)) < len(names):
        raise _wrong(path, "memory names something twice")
    return tuple((one, other) for one, other in given)


def _handling(text: str, path: Path) -> Handling:
    known = [each.value for each in Handling]
    if text not in known:
        hint = suggestion(text, known) or f"it is one of {', '.join(known)}"
        raise _wrong(path, f"the handling {text[:40]!r}", hint)
    return Handling(text)


def _wrong(path: Path, problem: str, hint: str = "") -> InvalidFile:
    return InvalidFile(
        f"{path} is not understood: {problem}",
        hint=hint
        or 'for instance observation = "obs", action = "actions", memory = '
        '[["h_in", "h_out"]]',
        code="sidecar-not-understood",
    )
