"""Memory is enough, memory is needed: the same two proofs in every verb."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simgap.cli.app.main import main

LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.9&terminal=restart"
RIVERS = "riverswim?success=0.1:0.6:3&left_reward=0.4"  # one plan for all is as good


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


VERBS = (("audit",), ("oracle",), ("gap", "--policy", "oracle"))


@pytest.mark.parametrize("verb", VERBS)
def test_two_lakes_need_memory_in_every_verb(
    verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, verb[0], LAKES, "-H", "100", *verb[1:])
    memory = found["memory"]
    assert (memory["enough"], memory["needed"]) == ("certified", "certified")
    least, most = memory["without_memory"]["lower"], memory["with_memory"]["upper"]
    assert least > most
    assert found["value_of_memory"]["lower"] == pytest.approx(least - most, abs=1e-9)


@pytest.mark.parametrize("verb", VERBS)
def test_rivers_do_not(
    verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    memory = answer(capsys, verb[0], RIVERS, "-H", "20", *verb[1:])["memory"]
    assert memory["needed"] == "no"


def test_without_simpler_policies_nothing_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert (
        answer(capsys, "oracle", RIVERS, "-H", "9", "--no-baselines")["memory"] is None
    )
    assert answer(capsys, "audit", RIVERS)["memory"] is None


def test_people_read_both_statements_with_their_labels(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["audit", LAKES, "-H", "100"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (verdict,) = (line for line in lines if line.startswith("Will it transfer?"))
    assert "with memory (certified)" not in verdict
    for word in ("enough: certified", "needed: certified"):
        assert (word in verdict) is ("with memory" in verdict)
    for start in ("Memory is enough: ", "Memory is needed for the least loss: "):
        (line,) = (each for each in lines if start in each)
        assert line.endswith("(certified).")
