"""A command on a disk that fails at the N-th change, for every N.

    LD_PRELOAD=failing.so python -m tests.faults.failing failing.so PLACE STEP WORDS ...

In the words, @ is the folder that fails. Each case is a process of its own, forked here
when everything is compiled: the command meets the failure, and is then run again on a
disk that is well. What happened is printed, a JSON object a case.
"""

from __future__ import annotations

import ctypes
import json
import sys
from os import _exit
from pathlib import Path
from typing import Any

from tests.faults.disk import MODES, forked, ran
from tests.faults.left import records_in


def case(
    disk: ctypes.CDLL, place: Path, number: int, mode: int, words: list[str]
) -> dict[str, Any]:
    """Return what a failure did, and what the next run made of it."""
    place.mkdir()
    asked = [each.replace("@", str(place / "out")) for each in words]
    (place / "out").mkdir()
    disk.arm(str(place / "out").encode(), ctypes.c_long(number), mode)
    first = ran(*asked)
    changes = disk.changes()
    disk.arm(str(place / "out").encode(), ctypes.c_long(0), 0)
    left = _left(place)
    second = ran(*asked)
    return {
        "number": number,
        "mode": MODES[mode],
        "changes": changes,
        "status": first.status,
        "code": first.code,
        "said": first.said,
        "left": left,
        "second": [second.status, second.code, second.said],
        "whole": _left(place),
    }


def _left(place: Path) -> dict[str, Any]:
    """Return what there is, as the same text in every place."""
    told = json.dumps(records_in(place), default=lambda content: content.hex())
    found: dict[str, Any] = json.loads(told.replace(str(place), ""))
    return {**found, **{str(each.name): 0 for each in place.rglob("*.tmp")}}


def main() -> None:
    """Run all cases."""
    library, where, step, *words = sys.argv[1:]
    disk, place = ctypes.CDLL(library), Path(where)
    case(disk, place / "compiled", 0, 0, words)
    whole = case(disk, place / "whole", 0, 0, words)
    print(json.dumps(whole), flush=True)
    for mode, name in enumerate(MODES):
        for number in range(1, whole["changes"] + 1, int(step)):
            with forked() as process:
                if not process:
                    there = place / f"{name}-{number}"
                    told = case(disk, there, number, mode, words)
                    sys.stdout.write(json.dumps(told) + "\n")
                    sys.stdout.flush()
                    _exit(0)


if __name__ == "__main__":
    main()
