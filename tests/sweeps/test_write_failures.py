"""A disk that fails at any write: told, nothing acknowledged lost, and resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.sweeps.failing import COMPILER, MODES, built

CODES = {"disk-full", "failed-write", "unwritable-folder"}

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def cases(place: Path, step: int) -> list[dict[str, Any]]:
    """Return what became of every case; the first one is a run without a failure."""
    library = built(place)
    told = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.sweeps.failing",
            library,
            place,
            str(step),
            *MODES,
        ],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    return [json.loads(line) for line in told.splitlines()]


def check(found: list[dict[str, Any]], step: int) -> None:
    whole, *others = found
    assert (whole["status"], whole["ran"], whole["lost"]) == (0, 6, [])
    assert whole["changes"] > 90
    assert len(others) == len(MODES) * -(-whole["changes"] // step)
    ends: Counter[tuple[str, str]] = Counter()
    for each in others:
        about = {key: each[key] for key in ("number", "mode", "said", "second")}
        assert each["status"] == (2 if each["code"] else 0), about
        assert each["code"] in ("", *CODES), about
        assert each["second"][0] == 0, about
        assert each["lost"] == [], about  # what was acknowledged is not run again
        assert each["table"] == whole["table"], about
        assert not any(name.endswith(".tmp") for name in each["left"]), about
        assert not any("damaged" in name for name in each["left"]), about
        ends[each["mode"], each["code"]] += 1
    print(f"{len(others)} cases of {whole['changes']} changes: {dict(ends)}")
    assert {code for mode, code in ends if mode == "short"} == {""}
    for mode in ("once-full", "once-broken", "full-from-now-on"):
        told = {code for of, code in ends if of == mode}
        assert told & {"disk-full", "failed-write"}, mode  # the control: they do harm


def test_a_disk_that_fails_at_some_changes_loses_nothing(tmp_path: Path) -> None:
    check(cases(tmp_path, 23), 23)


@pytest.mark.slow
def test_a_disk_that_fails_at_any_change_loses_nothing(tmp_path: Path) -> None:
    check(cases(tmp_path, 1), 1)
