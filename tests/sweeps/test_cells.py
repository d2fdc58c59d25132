"""A cell is named by what decides its numbers, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from simgap.answers.info import export
from simgap.sweeps.plan import Plan, digest_of
from simgap.sweeps.questions import QUESTIONS
from simgap.sweeps.reading import plan_of
from tests.sweeps.small import POLICY, RIVERS, Here, changed, swept, table


def plan(text: str) -> Plan:
    return plan_of(text.encode(), "plan.toml")


def keys(text: str) -> list[str]:
    return list(plan(text).cell_keys())


def test_cells_stand_in_the_order_of_the_plan_the_last_axis_fastest() -> None:
    found = plan(RIVERS)
    cells = list(found.cells())
    assert found.size == len(cells) == len(set(found.cell_keys())) == 16
    assert [each.key for each in cells] == list(found.cell_keys())
    expected = product((3, 4), (2, 3), ("random", "zero"), (0, 1))
    assert [tuple(each.axes.values())[1:] for each in cells] == list(expected)
    assert [found.cell(at) for at in range(found.size)] == cells
    assert [found.axes_at(at) for at in range(found.size)] == [e.axes for e in cells]
    assert cells[-1].asked == {
        "horizon": 3,
        "model": "riverswim?states=4&success=0.3,0.6",
        "policy": "zero",
        "runs": 4,
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('question = "gap"', '# a comment\nquestion = "gap"\ntitle = "Rivers"'),
        ("runs = 4", "runs = 4\n[limits]\nseconds = 5\ntries = 3"),
        ("runs = 4", "runs = 0x4 # the same number"),
        ("seeds = 2\n[axes]", "[axes]\nseed = [0, 1]"),
        ("states = [3, 4]", 'states = ["3", "4"]'),
        ("horizon = [2, 3]\npolicy", "horizon = [\n  2, 3,\n]\npolicy"),
    ],
)
def test_what_decides_no_number_changes_no_key(old: str, new: str) -> None:
    assert keys(changed(RIVERS, (old, new))) == keys(RIVERS)


def test_a_setting_may_become_an_axis() -> None:
    """Cells that have the old value are the old cells."""
    more = changed(RIVERS, ("[settings]\nruns = 4\n", "runs = [4, 5]\n"))
    assert set(keys(RIVERS)) < set(keys(more))
    assert len(set(keys(more))) == 32


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("runs = 4", "runs = 5"),
        ("states=", "left_reward=0.01&states="),
        ("seeds = 2\n[axes]", "[axes]\nseed = [2, 3]"),
        ('"gap"', '"oracle"'),
    ],
)
def test_what_decides_numbers_changes_every_key(old: str, new: str) -> None:
    text = changed(RIVERS, (old, new))
    if "oracle" in new:
        text = changed(
            text, ('policy = ["random", "zero"]', ""), ("[settings]\nruns = 4", "")
        )
    assert set(keys(text)).isdisjoint(keys(RIVERS))


def test_another_algorithm_makes_other_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    before = keys(RIVERS)
    newer = replace(QUESTIONS["gap"], version=QUESTIONS["gap"].version + 1)
    monkeypatch.setitem(QUESTIONS, "gap", newer)
    assert set(keys(RIVERS)).isdisjoint(before)


def test_the_contents_of_files_decide_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model, a policy, and what the policy imports from beside it."""
    monkeypatch.chdir(tmp_path)
    helper, policy = tmp_path / "helper.py", tmp_path / "mine.py"
    helper.write_text("ACTION = 0\n")
    policy.write_text("from helper import ACTION\n" + POLICY)
    export("riverswim?states=3&success=0.3,0.6", "m.npz")
    text = """question = "gap"
[axes]
model = "m.npz"
horizon = 2
policy = ["zero", "mine.py:act"]
"""
    zero, mine = keys(text)
    helper.write_text("ACTION = 1\n")
    assert keys(text)[0] == zero
    assert keys(text)[1] != mine
    helper.write_text("ACTION = 0\n")
    assert keys(text) == [zero, mine]
    export("riverswim?states=3&success=0.3,0.7", "m.npz")
    assert set(keys(text)).isdisjoint((zero, mine))


def test_what_is_in_files_is_told_wherever_they_lie(tmp_path: Path) -> None:
    """A machine of a cluster may have them elsewhere; the cell is the same there."""
    digests = set()
    for place in (tmp_path / "here", tmp_path / "a" / "there", tmp_path / "other"):
        place.mkdir(parents=True)
        (place / "mine.py").write_text(POLICY)
        export("riverswim?states=3&success=0.3,0.6", place / "m.npz")
        if place.name == "other":
            (place / "mine.py").write_text(POLICY + "# changed")
        asked = {"model": f"{place}/m.npz", "policy": f"{place}/mine.py:act"}
        digests.add(digest_of(asked, QUESTIONS["gap"].contents(asked)))
    assert len(digests) == 2


def test_policies_that_are_compared_meet_the_same_luck_and_nothing_else_does() -> None:
    luck: dict[tuple[object, ...], set[int]] = {}
    for cell in plan(RIVERS).cells():
        others = {k: v for k, v in cell.axes.items() if k != "policy"}
        luck.setdefault(tuple(others.values()), set()).add(cell.seed)
    assert [len(each) for each in luck.values()] == [1] * 8
    assert len(set().union(*luck.values())) == 8


def test_two_cells_that_ask_the_same_are_run_once_and_stand_in_the_table_twice(
    tmp_path: Path,
) -> None:
    """Only names in braces can do that: nothing and 13, 1 and 3 make the same text."""
    text = changed(RIVERS, ("states={states}", "states={ten}{one}"))
    text = changed(text, ("states = [3, 4]", 'ten = ["", "1"]\none = ["13", "3"]'))
    here = Here()
    found = swept(tmp_path / "run", text, here)
    assert (found.cells, found.done, found.reused) == (32, 32, 0)
    assert len(here.ran) == 24
    lines = table(tmp_path / "run")
    assert len(lines) == 32
    assert len({each["cell"] for each in lines}) == 24
