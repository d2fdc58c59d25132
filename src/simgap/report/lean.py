"""Large figures and tables with fewer digits, so that a page stays small to send.

Most figures keep all digits. Where there are thousands of numbers, seven digits are
kept, which is more than a figure can show; the record has the rest.
"""

from __future__ import annotations

from typing import Any

MANY = 2_000  # numbers in one figure or table
DIGITS = 7


def lean(data: Any) -> tuple[Any, bool]:
    """Return the data of a figure, and whether its numbers had to be cut."""
    if _count(data) <= MANY:
        return data, False
    return _cut(data), True


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
