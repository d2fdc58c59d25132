"""The name of a piece of work: a hash of everything that defines it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from json import JSONEncoder
from typing import Any

DIGITS = 32  # hexadecimal: 128 bits
ENCODER = JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def key_of(parts: Mapping[str, Any]) -> str:
    """Return the name of what these parts define, whatever their order.

    Parts are made of JSON's own types: texts, numbers, lists, objects. A value that is
    not a number has no place among them.
    """
    return hashlib.sha256(ENCODER.encode(parts).encode()).hexdigest()[:DIGITS]
