"""Long commands interrupted or killed at random moments: nothing false is left.

What is on disk afterwards is whole and is what the undisturbed command writes; the same
command then ends as if nothing had happened. The status is the documented one.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from simgap import load_model
from simgap.cli.app.process import INTERRUPTED
from simgap.oracle import Outcome
from simgap.policies import load_policy
from tests.faults.struck import Ended, run, strike

RIVERS = "riverswim?states=3&success=0.2,0.4,0.6&left_reward=0.4"
STEPS = (RIVERS, "-H", "6")
COMMANDS = {
    "reproduce": ("reproduce", "proposition-1", "--quick", "--out", "out"),
    "oracle": ("oracle", *STEPS, "--save", "policy.simgap", "--out", "out"),
    "study": ("study", *STEPS, "--out", "out"),
    "audit": ("audit", *STEPS, "--out", "out"),
    "width": ("width", *STEPS, "--out", "out"),
    "blame": ("blame", *STEPS, "--out", "out"),
}
MANY = int(os.environ.get("SIMGAP_STRIKES", "17"))  # of each command and signal
TIMED = ("seconds", "steps_per_second", "trace", "largest_bytes")


class Reference:
    """What a command writes and says if nobody disturbs it."""

    def __init__(self, name: str, folder: Path) -> None:
        self.words, self.folder = COMMANDS[name], folder
        run(self.words, folder / "compiled")  # so that moments are moments of work
        self.ended = run(self.words, folder / "whole")
        assert self.ended.status in (0, 1), self.ended.err
        self.written = records_in(folder / "whole")

    def survives(self, number: signal.Signals, moment: float) -> None:
        """Strike the command, look at what is left, and run it once more."""
        folder = self.folder / f"{number.name}-{moment:.4f}"
        ended = strike(self.words, folder, number, moment)
        self.check_status(ended, number)
        files = {each for each in folder.rglob("*") if each.is_file()}
        if number is signal.SIGINT:
            assert not [each for each in files if each.suffix == ".tmp"]
        for name, found in records_in(folder).items():
            if found.get("outcome") == Outcome.INTERRUPTED.value:
                whole = self.written[name]["average_gap"]
                assert found["average_gap"]["lower"] <= whole["upper"]
                assert found["average_gap"]["upper"] >= whole["lower"]
            else:
                assert found == self.written[name], f"{name} is not what it should be"
        again = run(self.words, folder)
        assert again.status == self.ended.status, again.err
        assert records_in(folder) == self.written
        assert not list(folder.rglob("*.tmp"))

    def check_status(self, ended: Ended, number: signal.Signals) -> None:
        assert "Traceback" not in ended.err or not ended.worked, ended.err
        assert "defect" not in ended.err
        if number is signal.SIGKILL:
            allowed = {-signal.SIGKILL} if ended.struck else set()
        else:
            allowed = {INTERRUPTED, -signal.SIGINT}
            if self.words[0] == "oracle":  # it has a bracket at any time
                allowed |= {0}
        # a command that was about to end may do so first
        assert ended.status in allowed | {self.ended.status}, ended.err


def records_in(folder: Path) -> dict[str, Any]:
    """Return the records in a folder without times; every other file is whole."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".json":
            found[name] = untimed(json.loads(path.read_bytes()))
        elif path.name == "model.simgap":
            load_model(path)
        elif path.suffix == ".simgap":
            load_policy(path)
        elif path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>")
    return found


def untimed(value: Any) -> Any:
    """Return a record without what differs from run to run."""
    if isinstance(value, dict):
        kept = {key: untimed(each) for key, each in value.items()}
        return {k: v for k, v in kept.items() if not k.endswith(TIMED)}
    return [untimed(each) for each in value] if isinstance(value, list) else value


def test_a_command_that_is_struck_leaves_nothing_false(tmp_path: Path) -> None:
    reference, rng = Reference("reproduce", tmp_path), Random(0)
    for number in (signal.SIGINT, signal.SIGKILL):
        reference.survives(number, rng.uniform(0.5, 0.9) * reference.ended.worked)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_are_struck_often_leave_nothing_false(
    name: str, tmp_path: Path
) -> None:
    reference, rng = Reference(name, tmp_path), Random(1)
    for _ in range(MANY):
        for number in (signal.SIGINT, signal.SIGKILL):
            reference.survives(number, rng.uniform(0.0, 1.0) * reference.ended.worked)
