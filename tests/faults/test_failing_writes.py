"""A disk that fails at any write of a command: told, no half file, and done again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.faults.disk import COMPILER, MODES, built
from tests.faults.struck import ROOT

RIVERS = "riverswim?states=3&success=0.2,0.4,0.6&left_reward=0.4"
COMMANDS = {
    "oracle": ("oracle", RIVERS, "-H", "6", "--save", "@/policy.simgap", "--out", "@"),
    "export": ("export", RIVERS, "@/rivers.npz"),
    "reproduce": ("reproduce", "lemma-5", "--out", "@"),
    "study": ("study", RIVERS, "-H", "6", "--out", "@"),
    "transfer": (
        *("transfer", "gym:CartPole-v1", "--randomize", "length=0.3..1.0", "-H", "9"),
        *("--policy", "random", "--design", "grid:2", "--threads", "1", "--out", "@"),
    ),
}
CODES = {"disk-full", "failed-write", "unwritable-folder"}

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def versions(record: Any) -> list[Any]:
    """Return a record as it ends, and as it is kept before it is told its command."""
    if not isinstance(record, dict) or "provenance" not in record:
        return [record]
    return [record, {**record, "provenance": {**record["provenance"], "command": ""}}]


def check(name: str, place: Path, step: int) -> None:
    library = built(place)
    words = [str(library), str(place), str(step), *COMMANDS[name]]
    told = subprocess.run(
        [sys.executable, "-m", "tests.faults.failing", *words],
        cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    whole, *others = [json.loads(line) for line in told.splitlines()]
    assert whole["status"] == 0 and whole["left"] == whole["whole"]
    assert len(others) == len(MODES) * -(-whole["changes"] // step)
    ends: Counter[tuple[str, str]] = Counter()
    for each in others:
        about = {key: each[key] for key in ("number", "mode", "said", "second")}
        assert each["status"] == (2 if each["code"] else 0), about
        assert each["code"] in ("", *CODES), about
        for file, found in each["left"].items():
            assert found in versions(whole["whole"].get(file)), (file, about)
        assert each["code"] or each["left"] == whole["whole"], about
        assert each["second"][0] == 0, about
        assert each["whole"] == whole["whole"], about
        ends[each["mode"], each["code"]] += 1
    print(f"{name}: {len(others)} cases of {whole['changes']} changes: {dict(ends)}")
    assert {code for mode, code in ends if mode == "short"} == {""}
    for mode in ("once-full", "once-broken", "full-from-now-on"):
        assert {code for of, code in ends if of == mode} & CODES, mode  # they do harm


def test_a_disk_that_fails_at_a_write_leaves_no_half_file(tmp_path: Path) -> None:
    check("export", tmp_path, 6)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_fails_at_any_write_leaves_no_half_file(
    name: str, tmp_path: Path
) -> None:
    check(name, tmp_path, 1)
