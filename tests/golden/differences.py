"""How an answer differs from the golden one, judged by what each number is.

On the machine that wrote a file certified numbers are equal to the bit. Elsewhere
processors round sums and products in another order: there they are equal to one part
in 10^9, and both intervals hold one truth, so that they overlap. Estimated numbers are
equal to one part in 10^9 at the same seed. In simulators nothing is certified, and on
another machine numbers are equal to one part in 10^3: without fused products one moved
by 3.4e-4. Keys, codes, names, whole numbers and the exit status are always equal.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isclose
from typing import Any, final

from tests.golden.answers import golden_file, machine, moved_numbers

CLOSE = 1e-9
CLOSE_IN_SIMULATORS = 1e-3


@final
@dataclass(frozen=True, slots=True)
class Difference:
    """One place where an answer is not what it was."""

    kind: str  # key, certified, estimated, value
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text} ({self.kind})"


@final
@dataclass(frozen=True, slots=True)
class _Scale:
    """How numbers are compared where we are in an answer."""

    same_machine: bool
    simulator: bool
    estimated_keys: frozenset[str]
    estimated: bool = False

    def inside(self, key: str, golden: dict[str, Any]) -> _Scale:
        estimated = (
            self.estimated
            or key in self.estimated_keys
            or "estimate" in golden
            or golden.get("certainty") == "estimated"
        )
        return replace(self, estimated=estimated)

    def equal(self, golden: float, now: float) -> bool:
        if self.same_machine and not self.estimated:
            return golden == now
        if self.same_machine or not self.simulator:
            return isclose(golden, now, rel_tol=CLOSE, abs_tol=CLOSE)
        loose = CLOSE_IN_SIMULATORS
        return isclose(golden, now, rel_tol=loose, abs_tol=loose)

    @property
    def kind(self) -> str:
        return "estimated" if self.estimated else "certified"


def differences_from_file(case: str, now: dict[str, Any]) -> list[Difference]:
    """Return where the answer of a case differs from its file."""
    path = golden_file(case)
    if not path.exists():
        return [Difference("key", path.name, "is not there; --write makes it")]
    moved = [place for place in moved_numbers() if place.startswith(f"{case}.")]
    return differences(
        json.loads(path.read_text()), now, [each.partition(".")[2] for each in moved]
    )


def differences(
    golden: dict[str, Any], now: dict[str, Any], moved: Sequence[str] = ()
) -> list[Difference]:
    """Return where an answer differs from the golden one.

    Numbers at places that fit one of the patterns in `moved` need not be equal to the
    bit, but as on another machine.
    """
    strict = os.environ.get("SIMGAP_GOLDEN") == "strict"
    same_machine = strict or golden["machine"] == machine()
    found = _differences(golden, now, same_machine=same_machine)
    if not moved:
        return found
    large = {each.where for each in _differences(golden, now, same_machine=False)}
    return [
        each
        for each in found
        if each.where in large
        or not any(fnmatchcase(each.where, place) for place in moved)
    ]


def _differences(
    golden: dict[str, Any], now: dict[str, Any], *, same_machine: bool
) -> list[Difference]:
    record = golden["answer"]
    scale = _Scale(
        same_machine=same_machine,
        simulator="simulator" in record,
        estimated_keys=frozenset(
            key
            for key, certainty in (record.get("certainty") or {}).items()
            if certainty.startswith("estimated")
        ),
        estimated="simulator" in record,
    )
    found = list(_compared(record, now["answer"], "answer", scale))
    if golden["status"] != now["status"]:
        text = f"{golden['status']} was the exit status, now {now['status']}"
        found.append(Difference("value", "status", text))
    return found


def _compared(golden: Any, now: Any, where: str, scale: _Scale) -> Iterator[Difference]:
    if isinstance(golden, dict) and isinstance(now, dict):
        for key in golden | now:
            place, inner = f"{where}.{key}", scale.inside(key, golden)
            if key in golden and key in now:
                yield from _compared(golden[key], now[key], place, inner)
            else:
                text = "is missing" if key in golden else "is new"
                yield Difference("key", place, text)
        if not scale.estimated and not _overlap(golden, now):
            text = f"{_ends(golden)} and now {_ends(now)} cannot both hold"
            yield Difference(scale.kind, where, text)
    elif isinstance(golden, list) and isinstance(now, list):
        if len(golden) != len(now):
            text = f"{len(golden)} entries, now {len(now)}"
            yield Difference("value", where, text)
        for i, (before, after) in enumerate(zip(golden, now, strict=False)):
            yield from _compared(before, after, f"{where}.{i}", scale)
    elif _is_float(golden) and _is_float(now):
        if not scale.equal(golden, now):
            yield Difference(scale.kind, where, f"{golden!r}, now {now!r}")
    elif type(golden) is not type(now) or golden != now:
        yield Difference("value", where, f"{golden!r}, now {now!r}")


def _is_float(value: Any) -> bool:
    return isinstance(value, float)


def _overlap(golden: dict[str, Any], now: dict[str, Any]) -> bool:
    """Return whether two intervals can hold the same truth, if these are intervals."""
    before, after = _ends(golden), _ends(now)
    if before is None or after is None:
        return True
    return max(before[0], after[0]) <= min(before[1], after[1])


def _ends(value: dict[str, Any]) -> tuple[float, float] | None:
    ends = value.get("lower"), value.get("upper")
    if not all(type(each) in (int, float) or each in ("-inf", "inf") for each in ends):
        return None
    lower, upper = (float(each) for each in ends if each is not None)
    return lower, upper
