"""The data inside a page, small enough to send.

Most figures keep all digits. Where there are more than a thousand numbers, seven digits
are kept, which is more than a figure can show; the record has the rest. Data that are
large all the same are packed, and unpacked by the browser.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import dataclass
from typing import Any, final
from zlib import compressobj

from simgap.records.files import plain

MANY = 1_000  # numbers in one figure or table
DIGITS = 7
LARGE = 200_000  # characters of data, above which they are packed
GZIP = 31  # zlib's word for the format gzip
MARKUP = re.compile("[<>&']")  # what could end the element around the data


@final
@dataclass(frozen=True, slots=True)
class Held:
    """The data of all figures and tables as they stand in the page."""

    text: str
    packed: bool  # gzip in base64, else JSON
    cut: frozenset[str]  # keys of those that have seven digits


def held_data(data: dict[str, Any]) -> Held:
    """Return the data of figures and tables, by their keys, as text for the page."""
    cut = frozenset(key for key, each in data.items() if _count(each) > MANY)
    kept = {key: _cut(each) if key in cut else each for key, each in data.items()}
    text = json.dumps(plain(kept), separators=(",", ":"), allow_nan=False)
    text = MARKUP.sub(lambda sign: f"\\u{ord(sign.group()):04x}", text)
    if len(text) <= LARGE:
        return Held(text, packed=False, cut=cut)
    packer = compressobj(9, wbits=GZIP)
    content = packer.compress(text.encode()) + packer.flush()
    return Held(b64encode(content).decode(), packed=True, cut=cut)


def _count(value: Any) -> int:
    if isinstance(value, float):
        return 1
    if isinstance(value, dict):
        return sum(_count(each) for each in value.values())
    if isinstance(value, list | tuple):
        return sum(_count(each) for each in value)
    return 0


def _cut(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: _cut(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(each) for each in value]
    return value
