"""Every question about a class: the same command prints and stores the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simgap.cli.app.main import main

RIVERS = "riverswim?states=3&success=0.3,0.6&left_reward=0.4"
QUESTIONS = {
    "audit": "-H 6",
    "blame": "-H 6",
    "gap": "-H 6 --policy likelihood --policy memoryless --horizons 3,6",
    "identify": "-H 6",
    "width": "-H 6",
    "adapt": "-H 6 --log log.csv",
}
LOG = "episode,step,state,action,next_state\n0,0,0,1,1\n0,1,1,1,1\n"


@pytest.mark.parametrize("verb", QUESTIONS)
def test_the_same_command_prints_and_stores_the_same_bytes(
    verb: str,
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text(LOG)
    printed: list[bytes] = []
    stored: list[bytes] = []
    for _ in range(2):
        command = [verb, RIVERS, *QUESTIONS[verb].split(), "--out", "out", "--json"]
        assert main(command) in (0, 1)
        printed.append(capsysbinary.readouterr().out)
        (path,) = Path("out").glob("*.json")
        stored.append(path.read_bytes())
    assert printed[0] == printed[1] and stored[0] == stored[1]
    assert json.loads(stored[0]) == json.loads(printed[0])
