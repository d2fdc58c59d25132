"""Golden answers are what they were, and the comparison sees what it must see."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from typing import Any

import pytest

from tests.golden.answers import Group, answers, golden_file, groups, layout
from tests.golden.differences import differences, differences_from_file


@pytest.mark.parametrize(
    "group",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.slow] * each.slow)
        for each in groups()
    ],
)
def test_answers_are_what_they_were(group: Group) -> None:
    found = [
        f"{case}: {difference}"
        for case, answer in answers(group)
        for difference in differences_from_file(case, answer)
    ]
    assert not found, "\n".join(found)


def test_every_file_belongs_to_a_case_and_is_small() -> None:
    kept = {path.stem for path in golden_file("any").parent.glob("*.json")}
    assert kept == {case for group in groups() for case in group.cases}
    for case in kept:
        text = golden_file(case).read_text()
        assert len(text) < 20_480 and layout(json.loads(text)) + "\n" == text


GOLDEN: dict[str, Any] = {
    "command": "",
    "status": 0,
    "machine": "another",
    "answer": {
        "kind": "oracle",
        "verdict": "yes",
        "text": "…",
        "gap": {"lower": 1.0, "upper": 1.0 + 1e-6},
        "guess": {"estimate": 0.5, "lower": 0.25, "upper": 0.75},
        "nodes": 12,
        "exact": 0.5,
        "list": [0.5, None],
        "certainty": {"list": "estimated"},
    },
}


@pytest.mark.parametrize(
    ("path", "value", "kinds_here", "kinds_elsewhere"),
    [
        ("verdict", "yes", [], []),
        ("verdict", "no", ["value"], ["value"]),
        ("nodes", 13, ["value"], ["value"]),
        ("nodes", 12.0, ["value"], ["value"]),
        ("exact", math.nextafter(0.5, 1.0), ["certified"], []),
        ("exact", 0.5 + 1e-8, ["certified"], ["certified"]),
        ("exact", None, ["value"], ["value"]),
        ("gap.lower", math.nextafter(1.0, 0.0), ["certified"], []),
        ("gap.lower", 1.0 - 1e-7, ["certified"], ["certified"]),
        ("gap", {"lower": 2.0, "upper": 2.0}, ["certified"] * 3, ["certified"] * 3),
        ("gap", {"lower": 1.0}, ["key"], ["key"]),
        ("guess.estimate", 0.5 + 1e-12, [], []),
        ("guess.lower", 0.25 + 1e-8, ["estimated"], ["estimated"]),
        ("list", [0.5 + 1e-12, None], [], []),
        ("list", [0.5], ["value"], ["value"]),
        ("new", 1, ["key"], ["key"]),
        ("text", None, ["value"], ["value"]),
    ],
)
def test_what_changed_is_seen(
    path: str,
    value: object,
    kinds_here: list[str],
    kinds_elsewhere: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = deepcopy(GOLDEN)
    place: dict[str, Any] = now["answer"]
    *parents, key = path.split(".")
    for each in parents:
        place = place[each]
    place[key] = value
    monkeypatch.delenv("SIMGAP_GOLDEN", raising=False)
    assert [each.kind for each in differences(GOLDEN, now)] == kinds_elsewhere
    monkeypatch.setenv("SIMGAP_GOLDEN", "strict")
    assert [each.kind for each in differences(GOLDEN, now)] == kinds_here


def test_a_simulator_on_another_machine_may_differ_in_the_fourth_digit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    golden, now = deepcopy(GOLDEN), deepcopy(GOLDEN)
    golden["answer"]["simulator"] = now["answer"]["simulator"] = "pendulum"
    now["answer"]["guess"]["estimate"] += 1e-4
    monkeypatch.delenv("SIMGAP_GOLDEN", raising=False)
    assert not differences(golden, now)
    monkeypatch.setenv("SIMGAP_GOLDEN", "strict")
    assert [each.kind for each in differences(golden, now)] == ["estimated"]
    assert differences(golden, now | {"status": 1})[-1].where == "status"


def test_last_bits_that_moved_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = deepcopy(GOLDEN)
    now["answer"]["exact"] = math.nextafter(0.5, 1.0)
    monkeypatch.setenv("SIMGAP_GOLDEN", "strict")
    assert differences(GOLDEN, now)
    assert not differences(GOLDEN, now, ["answer.ex*"])
    now["answer"]["exact"] = 0.5001
    assert differences(GOLDEN, now, ["answer.ex*"])
