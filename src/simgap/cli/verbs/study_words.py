"""One line for each question of a study, read from its records.

Records may be kept ones, which somebody else may have written or damaged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simgap.errors import InvalidFile
from simgap.records import read_object
from simgap.report import as_text, bounds_of
from simgap.text import between, number as number_shown, shown


def findings_of(records: Mapping[str, str]) -> Iterator[str]:
    """Yield what blame, width, identify and adapt have found."""
    for name, path in records.items():
        found = read_object(Path(path))
        try:
            yield from _finding(name, found)
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise InvalidFile(
                f"{path} is not a record of simgap {name.partition('-')[0]}",
                hint="make it again: simgap study --fresh",
            ) from error


def _finding(name: str, found: Mapping[str, Any]) -> Iterator[str]:
    if name == "blame":
        yield as_text(found["headline"])
    elif name.startswith("width-"):
        yield f"{shown(as_text(found['param']), 40)}: {as_text(found['reason'])}"
    elif name == "identify":
        yield from _identified(found)
    elif name == "adapt":
        yield _adapted(found)


def _identified(found: Mapping[str, Any]) -> Iterator[str]:
    slowest = found["slowest"]
    if slowest is None:
        return
    pair = found["pairs"][slowest]
    one, other = (shown(str(pair[key]), 40) for key in ("first_name", "second_name"))
    steps = bounds_of(pair["steps"])
    if steps.lower == float("inf"):
        yield f"{one} and {other} are never told apart (certified)."
        return
    error = 100 * float(found["error"])
    yield (
        f"Hardest to tell apart are {one} and {other}: the best experiment takes "
        f"{between(steps, 6)} steps for an error of {error:g} % (certified)."
    )


def _adapted(found: Mapping[str, Any]) -> str:
    if found["outside_class"]:
        return (
            f"No model explains the {found['transitions']} real transitions (false "
            f"alarms: at most {100 * float(found['false_alarm']):g} %)."
        )
    before, after = (
        between(bounds_of(found[key]), 4)
        for key in ("gap_bound_before", "gap_bound_after")
    )
    best = max(found["posterior"], key=lambda each: each["probability"])
    return (
        f"After {found['transitions']} real transitions {shown(best['name'], 40)} has "
        f"probability {number_shown(best['probability'], 3)}; the loss goes from "
        f"{before} to {after} (certified)."
    )
