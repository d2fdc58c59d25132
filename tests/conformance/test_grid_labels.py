"""No answer about a table on a grid is called certified and nothing more.

Verbs are found by themselves: a new one is asked as well, or this test says that it
does not know how.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from simgap import (
    LatentMDP,
    audit,
    blame,
    build_instance,
    domain_randomization_oracle,
    identify,
    width,
)
from simgap.cli.app.main import main
from simgap.cli.app.program import VERBS
from simgap.oracle import baselines, loss_form
from simgap.records.provenance import ON_GRID, for_this_grid

GRID = "discretise:Pendulum-v1?mass=0.6,1.4&cells=9x9&actions=3"
TABLE = "riverswim?success=0.2:0.5:2"
BARE = re.compile(r"\bcertified\b(?! for this grid)")
ASKED: dict[str, list[str]] = {
    "audit": ["-H", "6"],
    "blame": ["-H", "6"],
    "bounds": ["-H", "100"],
    "complexity": ["-H", "6"],
    "diameter": [],
    "gap": ["-H", "6", "--policy", "oracle", "--policy", "random"],
    "identify": ["-H", "6"],
    "info": [],
    "oracle": ["-H", "6"],
    "solve": ["-H", "6"],
    "width": ["-H", "6", "--param", "mass"],
    "run": ["-H", "6", "--seeds", "2"],
    "study": ["-H", "4"],
}
ELSEWHERE = {  # verbs that print no number of a class
    "adapt",  # asked below, with a log
    "check",  # of a simulator
    "demo",
    "export",
    "list",
    "report",
    "reproduce",
    "resume",  # cells of sweeps, each of which is one of the others
    "retry",
    "schema",
    "status",
    "sweep",
    "train",  # in a simulator
    "transfer",  # in a simulator
}


def test_every_verb_is_asked() -> None:
    assert set(VERBS) == set(ASKED) | ELSEWHERE


def words(verb: str, model: str) -> list[str]:
    agent = ["likelihood"] if verb == "run" else []
    return [verb, *agent, model, *ASKED[verb]]


def labels(record: Any, under: bool = False) -> set[str]:
    """Return every word of certainty in a record."""
    if isinstance(record, dict):
        return set().union(
            *(labels(v, under or k.endswith("certainty")) for k, v in record.items())
        )
    if isinstance(record, list):
        return set().union(*(labels(each, under) for each in record))
    return {record} if under and isinstance(record, str) else set()


Captured = pytest.CaptureFixture[str]


def said(capsys: Captured, *arguments: str) -> str:
    """Return what a command prints, on one line: tables break lines anywhere."""
    capsys.readouterr()
    assert main(list(arguments)) in (0, 1)
    return " ".join(re.sub(r"[│─]", " ", capsys.readouterr().out).split())


@pytest.mark.parametrize("verb", [each for each in ASKED if each != "study"])
def test_what_a_verb_says_of_a_grid_is_certified_for_this_grid(
    verb: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")  # no cell of a table is broken
    assert not BARE.search(said(capsys, *words(verb, GRID)))
    text = said(capsys, *words(verb, GRID), "--json")
    record = json.loads(text)
    assert record["provenance"]["grid"] == "Pendulum-v1 on 9x9 nodes"
    assert labels(record) <= {ON_GRID, "estimated"}
    assert not BARE.search(text)


@pytest.mark.parametrize("verb", ["audit", "oracle", "diameter"])
def test_what_a_verb_says_of_a_plain_table_is_certified(
    verb: str, capsys: Captured
) -> None:
    """The control: the words above do appear where there is no grid."""
    told = said(capsys, *words(verb, TABLE))
    assert BARE.search(told)
    assert ON_GRID not in told
    record = json.loads(said(capsys, *words(verb, TABLE), "--json"))
    assert record["provenance"]["grid"] is None
    assert "certified" in labels(record)


def test_a_study_and_its_page_say_so_too(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "2000")
    assert not BARE.search(said(capsys, *words("study", GRID), "--out", str(tmp_path)))
    records = list(tmp_path.glob("*.json"))
    assert len(records) > 4
    for path in records:
        assert not BARE.search(path.read_text())
    page = next(tmp_path.glob("*.html")).read_text()
    assert "What the same policies earn in the table" in page
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    pills = re.findall(r'class="sure ([^"]*)"', shown)
    assert pills.count(ON_GRID) > 10
    assert pills.count("certified") <= 1  # the legend explains the word
    assert pills.count("exact") <= 1


def test_an_adaptation_says_so_too(capsys: Captured, tmp_path: Path) -> None:
    worlds = build_instance(GRID)
    log, state = ["state,action,next_state"], int(worlds.start_law(0).argmax())
    for _ in range(20):
        law = [worlds[0].probability(state, 1, at) for at in range(worlds.n_states)]
        after = law.index(max(law))
        log.append(f"{state},1,{after}")
        state = after
    path = tmp_path / "log.csv"
    path.write_text("\n".join(log) + "\n")
    asked = ["adapt", GRID, "-H", "4", "--log", str(path)]
    assert not BARE.search(said(capsys, *asked))
    assert labels(json.loads(said(capsys, *asked, "--json"))) <= {ON_GRID, "estimated"}


def test_python_answers_carry_the_label() -> None:
    for model, wanted in ((GRID, ON_GRID), (TABLE, "certified")):
        latent = LatentMDP.uniform(build_instance(model))
        oracle = domain_randomization_oracle(latent, horizon=4)
        assert oracle.certainty == wanted
        assert audit(latent, 4).verdict_certainty == wanted
        assert blame(latent, 4).certainty["whole"] == wanted
        assert identify(latent, 4, oracle=oracle).certainty["steps"] == wanted
        assert width(latent, 4).certainty["gap"] == wanted
        proved = {each.certainty for each in baselines(loss_form(latent, horizon=4))}
        assert (ON_GRID in proved) == (model == GRID)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("loses 3 (certified).", f"loses 3 ({ON_GRID})."),
        ("the certified policy, if", f"the policy {ON_GRID}, if"),
        (f"is {ON_GRID}", f"is {ON_GRID}"),
        ("kept in certified.simgap", "kept in certified.simgap"),
        ("uncertified", "uncertified"),
    ],
)
def test_words_are_changed_and_names_of_files_are_not(text: str, wanted: str) -> None:
    assert for_this_grid(text) == wanted
    assert for_this_grid([{"next": text}]) == [{"next": text}]
