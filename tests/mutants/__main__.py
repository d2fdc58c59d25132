"""How many small faults do the tests notice? `python -m tests.mutants --help`.

Draws changes of the sources at random and runs, for each, the tests that call the
changed function, the quickest first. What is known is kept in the folder `.mutants`: a
record of which test calls what, made once and again for test files that have changed,
and a ledger of changes. A run that is stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from itertools import groupby
from mmap import mmap
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.calls import (
    KERNELS,
    functions_of,
    imports_between,
    names_in,
    users_of_kernels,
)
from tests.mutants.changes import Change, changes_of
from tests.mutants.trial import (
    forked,
    functions_in_memory,
    in_turn,
    passes,
    recorded,
    tried,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".mutants"
TESTS = {  # of each room: where its own tests are; kernels have those who call them
    "planning": ("planning",),
    "oracle": ("oracle", "policies"),
    "answers": ("answers",),
    "_kernels": (
        "kernels",
        "base_policies",
        "gap",
        "complexity",
        "simulation",
        "planning",
        "oracle",
        "policies",
        "answers",
    ),
}
RECORDING = 1800  # seconds of processor time that the tests of one file may take


class Trials:
    """A session of pytest that runs forks of itself instead of its tests."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.calls = FOLDER / "calls.jsonl"
        self.ledger = FOLDER / "ledger.jsonl"

    def pytest_configure(self) -> None:
        """Let property tests draw the same examples every time, and shrink none."""
        from hypothesis import HealthCheck, Phase, settings

        settings.register_profile(
            "mutants",
            database=None,
            deadline=None,
            derandomize=True,
            max_examples=30,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=tuple(HealthCheck),
        )
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        if session.testsfailed:
            raise pytest.UsageError("some files of tests cannot be imported")
        tests = {each.nodeid: each for each in session.items}
        if not self.options.guess:
            self.record(session.items)
        known = [each for each in _lines(self.calls, "test") if each["passed"]]
        last = {each["test"]: each for each in known if each["test"] in tests}
        functions_in_memory()
        for change in self.sample():
            chosen = [tests[each] for each in _nearest_first(change, tests, last)]
            self.write(change, _verdict(chosen, change, self.options.budget))
        return True

    def write(self, change: Change, found: dict[str, str]) -> None:
        """Write what came of a change."""
        line = {"seed": self.options.seed, **found, **asdict(change)}
        with self.ledger.open("a") as out:
            print(json.dumps(line), file=out)
        print(f"{found['result']:9} {change.key}  ({found['by']})", flush=True)

    def record(self, tests: list[pytest.Item]) -> None:
        """Record the calls of tests in files that are new or have changed."""
        done = {each["file"]: each["digest"] for each in _lines(self.calls, "file")}
        for path, group in groupby(tests, key=lambda each: each.path):
            digest = sha256(path.read_bytes()).hexdigest()
            name = str(path.relative_to(ROOT))
            if done.get(name) == digest:
                continue
            items = list(group)
            print(f"recording {name}", flush=True)
            forked(partial(recorded, items, ROOT, self.calls), RECORDING)
            with self.calls.open("a") as out:
                print(json.dumps({"file": name, "digest": digest}), file=out)

    def sample(self) -> list[Change]:
        """Return the changes to try: a sample, those of a place, or survivors."""
        if self.options.at:
            path, _, line = self.options.at.partition(":")
            found = changes_of(ROOT, path)
            return [each for each in found if not line or each.line == int(line)]
        ledger = _lines(self.ledger)
        if self.options.again:
            last = {_change(each).key: each for each in ledger}
            return [
                _change(each)
                for each in last.values()
                if each["result"] == "survived" and each["seed"] == self.options.seed
            ]
        drawn = draw(
            self.options.rooms,
            self.options.sample,
            self.options.seed,
            self.options.only,
        )
        done = {_change(e).key for e in ledger if e["seed"] == self.options.seed}
        return [each for each in drawn if each.key not in done]


def draw(
    rooms: list[str], count: int, seed: int, only: Sequence[str] = ("",)
) -> list[Change]:
    """Return changes at random, in every room as many as it has its share of.

    `only` are parts of paths: files that have none of them are left alone.
    """
    found = {
        room: [e for e in _changes_in(room) if any(part in e.path for part in only)]
        for room in rooms
    }
    whole, chance = sum(map(len, found.values())), random.Random(seed)
    drawn = [
        each
        for changes in found.values()
        for each in chance.sample(changes, round(count * len(changes) / whole))
    ]
    chance.shuffle(drawn)
    return drawn


def _changes_in(room: str) -> list[Change]:
    files = sorted((ROOT / "src/simgap" / room).rglob("*.py"))
    return [
        each for file in files for each in changes_of(ROOT, str(file.relative_to(ROOT)))
    ]


def _nearest_first(
    change: Change, tests: Iterable[str], last: dict[str, dict[str, Any]]
) -> list[str]:
    """Return tests to run in turn, those of files that import the changed one first."""
    able = _able(change, tests, last)
    near = {
        test: cost
        for test, cost in able.items()
        if imports_between(ROOT, test.partition("::")[0]).get(change.path) == 1
    }
    others = {test: cost for test, cost in able.items() if test not in near}
    return [*in_turn(near), *in_turn(others)]


def _able(
    change: Change, tests: Iterable[str], last: dict[str, dict[str, Any]]
) -> dict[str, float]:
    """Return the tests that can notice a change, with the seconds that they take.

    Those of files that were not recorded are guessed: tests that name the function come
    first, then others by how near they import it.
    """
    functions = functions_of(ROOT, change.path)
    if change.function:
        functions = {f"{change.path}:{change.function}"}
    if KERNELS in change.path:
        functions = users_of_kernels(ROOT, functions)
    recorded = {each.partition("::")[0] for each in last}
    found = {}
    for test in tests:
        file = test.partition("::")[0]
        if test in last:
            if not functions.isdisjoint(last[test]["called"]):
                found[test] = last[test]["seconds"]
        elif file not in recorded:
            away = imports_between(ROOT, file).get(change.path)
            if away is not None:
                said = names_in(ROOT, file).get(_function(test), set())
                named = change.function.rpartition(".")[2] in said
                found[test] = 0.02 if named else 0.2 * 3.0**away
    return found


def _function(test: str) -> str:
    return test.rpartition("::")[2].partition("[")[0]


def _verdict(
    tests: list[pytest.Item], change: Change, seconds: float
) -> dict[str, str]:
    """Return whether tests notice a change; one that fails anyway does not count."""
    if not tests:
        return {"result": "survived", "by": "no test calls it"}
    limit = int(10 + 4 * seconds + (120 if KERNELS in change.path else 0))
    now = mmap(-1, 4)
    found = forked(partial(tried, tests, ROOT, change, seconds, now), limit)
    if found is not None and found["result"] != "killed":
        return dict(found)
    test = tests[int.from_bytes(now[:4])]
    if forked(partial(passes, test, None), limit):
        return dict(found or {"result": "killed", "by": f"{test.nodeid} did not end"})
    return _verdict([each for each in tests if each is not test], change, seconds)


def _room(change: Change) -> str:
    return change.path.split("/")[2]


def _change(line: dict[str, Any]) -> Change:
    return Change(**{name: line[name] for name in Change.__dataclass_fields__})


def _lines(file: Path, kind: str | None = None) -> list[dict[str, Any]]:
    if not file.exists():
        return []
    found = [json.loads(each) for each in file.read_text().splitlines()]
    return [each for each in found if kind is None or kind in each]


def main() -> None:
    """Try changes and say how many were noticed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description=__doc__
    )
    parser.add_argument("--rooms", nargs="+", choices=TESTS, default=[*TESTS])
    parser.add_argument("--sample", type=int, default=200, help="how many changes")
    parser.add_argument("--only", nargs="+", default=[""], help="parts of paths")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds of tests")
    parser.add_argument("--guess", action="store_true", help="tests, record nothing")
    parser.add_argument("--at", help="all changes of FILE or FILE:LINE instead")
    parser.add_argument("--again", action="store_true", help="survivors of this seed")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    trials = Trials(options)
    with tempfile.TemporaryDirectory() as scratch:
        quiet = ["-n0", "-s", "-p", "no:cacheprovider", f"--basetemp={scratch}/tests"]
        folders = [
            f"{ROOT}/tests/{each}" for room in options.rooms for each in TESTS[room]
        ]
        pytest.main(["--rootdir", str(ROOT), *quiet, *folders], plugins=[trials])
    last = {_change(each).key: each for each in _lines(trials.ledger)}
    ours = [each for each in last.values() if each["seed"] == options.seed]
    for room in options.rooms:
        inside = [each for each in ours if _room(_change(each)) == room]
        print(room, dict(Counter(each["result"] for each in inside)))


if __name__ == "__main__":
    main()
