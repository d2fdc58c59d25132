"""Long commands interrupted or killed at random moments: nothing false is left.

What is on disk afterwards is whole and is what the undisturbed command writes; the same
command then ends as if nothing had happened. The status is the documented one.

Other faults have tests elsewhere: writes that fail or are cut short in
`test_failing_writes.py`, in the ledger `tests/ledger`; caches of kernels that are
read-only, full or damaged `tests/kernels/test_compiled.py`; folders that are full or
read-only `tests/sweeps/test_trouble.py`; standard output and error that take nothing
`tests/cli/test_process.py`.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random

import pytest

from simgap.cli.app.process import INTERRUPTED
from simgap.ledger import opened_ledger, read_ledger
from simgap.oracle import Outcome
from tests.answers.study.untrained import SLIDE, SPEC
from tests.faults.left import records_in
from tests.faults.small import HORIZON, STEPS
from tests.faults.struck import SIMGAP, SMALL, Ended, run, strike

RIVERS = "riverswim?states=3&success=0.2,0.4,0.6&left_reward=0.4"
CLASS = (RIVERS, "-H", "6", "--out", "out")
LONG = ("--time-limit", "3000")  # work is counted: no clock of a busy machine ends it
POLES = ("gym:CartPole-v1", "--randomize", "length=0.3..1.0", "-H", "9")
SERVO = ("servo", "--randomize", "gain=0.5..1.5", "-H", str(HORIZON), "--no-check")
SLIDES = ("slide.py:make_batch", "--randomize", SPEC, "--time-budget", "60")
COMMANDS = {
    "reproduce": (*SIMGAP, "reproduce", "proposition-1", "--quick", "--out", "out"),
    "oracle": (*SIMGAP, "oracle", *CLASS, "--save", "policy.simgap", *LONG),
    "study": (*SIMGAP, "study", *CLASS, *LONG),
    "audit": (*SIMGAP, "audit", *CLASS, *LONG),
    "gap": (*SIMGAP, "gap", *CLASS, *LONG),
    "identify": (*SIMGAP, "identify", *CLASS, *LONG),
    "adapt": (
        *(*SIMGAP, "adapt", *CLASS, *LONG, "--log", "log.csv"),
        *("--save", "policy.simgap"),
    ),
    "run": (*SIMGAP, "run", "likelihood", *CLASS, "--seeds", "50"),
    "demo": (*SIMGAP, "demo", "--out", "out"),
    "check": (*SIMGAP, "check", *POLES, "--policy", "random", "--out", "out"),
    "width": (*SIMGAP, "width", *CLASS, *LONG),
    "blame": (*SIMGAP, "blame", *CLASS, *LONG),
    "sweep": (*SIMGAP, "sweep", "plan.toml", "--out", "out", "--workers", "1"),
    "transfer": (
        *(*SIMGAP, "transfer", *POLES, "--policy", "random", "--design", "grid:2"),
        *("--threads", "2", "--out", "out"),
    ),
    "train": (
        *(*SMALL, "train", *SERVO, "--steps", str(STEPS), "--memory", "none"),
        *("--out", "out"),
    ),
    "study-simulator": (*SMALL, "study", *SLIDES, "--seeds", "1", "--out", "out"),
}
PLAN = f"""question = "gap"
[axes]
model = "{RIVERS}"
horizon = [2, 3]
policy = ["random", "zero"]
[settings]
runs = 4
"""
MANY = int(os.environ.get("SIMGAP_STRIKES", "7"))  # of each command and signal
IN_A_ROW = 5  # in one folder: what goes on is struck again


class Reference:
    """What a command writes and says if nobody disturbs it."""

    def __init__(self, name: str, place: Path) -> None:
        self.name, self.words, self.place = name, COMMANDS[name], place
        self.told: Counter[str] = Counter()
        self.planned: Path | None = None
        run(self.words, self.new_folder("compiled"))  # so moments are those of work
        self.ended = run(self.words, self.new_folder("whole"))
        assert self.ended.status in (0, 1), self.ended.err
        self.written = records_in(place / "whole")
        assert self.written
        self.planned = place / "whole" / "out"

    def new_folder(self, name: str) -> Path:
        """Return a folder with all that the command needs."""
        folder = self.place / name
        folder.mkdir(parents=True)
        (folder / "plan.toml").write_text(PLAN)
        (folder / "log.csv").write_text("state,action,next_state\n0,1,1\n1,1,2\n")
        (folder / "slide.py").write_text(SLIDE)
        if self.name == "study-simulator" and self.planned:
            # another moment of a busy machine would plan other steps
            with read_ledger(self.planned, "answers") as ledger:
                plan = next(ledger.latest())
            (folder / "out").mkdir()
            with opened_ledger(folder / "out", "answers") as ledger:
                ledger.keep_all([plan])
        return folder

    def strike(self, number: signal.Signals, moment: float, folder: Path) -> bool:
        """Strike it and look at what is left; return whether that was in time."""
        drafts = set(folder.rglob("*.tmp"))
        ended = strike(self.words, folder, number, moment * self.ended.worked)
        self.check_status(ended, number)
        if number is signal.SIGINT:
            assert set(folder.rglob("*.tmp")) <= drafts
        for name, found in records_in(folder).items():
            whole = self.written[name]
            if name.endswith(".csv"):
                continue  # the table of a sweep has the cells that are done
            if isinstance(found, dict) and (
                found.get("outcome") == Outcome.INTERRUPTED.value
            ):
                assert found["average_gap"]["lower"] <= whole["average_gap"]["upper"]
                assert found["average_gap"]["upper"] >= whole["average_gap"]["lower"]
            elif name.endswith("sweep.json"):
                assert found["done"] <= whole["done"]
            else:
                assert found == whole, f"{name} is not what it should be"
        self.told[f"{number.name} {ended.status}"] += 1
        return ended.struck

    def check_status(self, ended: Ended, number: signal.Signals) -> None:
        early = not ended.begun  # Python begins, and imports what begins here
        assert "Traceback" not in ended.err or early, ended.err
        assert "defect" not in ended.err
        if number is signal.SIGKILL:
            allowed = {-signal.SIGKILL} if ended.struck else set()
        else:
            allowed = {INTERRUPTED, -signal.SIGINT}  # 130 for a shell, both of them
            if "Fatal Python error" in ended.err:
                allowed |= {1} if early else set()
            if self.name == "oracle":  # it has a bracket at any time
                allowed |= {0}
        # a command that was about to end may do so first
        assert ended.status in allowed | {self.ended.status}, ended.err

    def ends_well(self, folder: Path) -> None:
        """Run the command to its end, as if nothing had happened."""
        again = run(self.words, folder)
        assert again.status == self.ended.status, again.err
        assert records_in(folder) == self.written
        assert not list(folder.rglob("*.tmp"))


def test_a_command_that_is_struck_leaves_nothing_false(tmp_path: Path) -> None:
    reference, rng = Reference("reproduce", tmp_path), Random(0)
    folder = reference.new_folder("struck")
    for number in (signal.SIGINT, signal.SIGKILL):
        reference.strike(number, rng.uniform(0.5, 0.9), folder)
    reference.ends_well(folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_are_struck_often_leave_nothing_false(
    name: str, tmp_path: Path
) -> None:
    """A hundred of each signal over all commands."""
    reference, rng = Reference(name, tmp_path), Random(1)
    left = {signal.SIGINT: MANY, signal.SIGKILL: MANY}
    folders = count()
    while any(left.values()):
        folder = reference.new_folder(f"struck-{next(folders)}")
        for _ in range(IN_A_ROW):
            number = rng.choice([each for each in left if left[each]] or [*left])
            in_time = reference.strike(number, rng.uniform(0.0, 1.0), folder)
            left[number] = max(0, left[number] - in_time)
        reference.ends_well(folder)
    print(f"{name}: {dict(reference.told)} of {reference.ended.worked:.1f} s of work")
