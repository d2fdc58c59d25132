"""A sweep keeps what is finished, re-uses what is valid, and says what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from simgap.answers.compare import compare
from simgap.cli.app.main import main
from simgap.errors import InvalidFile, SimgapError
from simgap.intervals import Certified
from simgap.ledger import opened_ledger, read_ledger
from simgap.records.sweep import Sweep
from simgap.sweeps.cells import WORK
from simgap.sweeps.cost import dry_run
from simgap.sweeps.plan import Cell
from simgap.sweeps.rows import PART
from simgap.sweeps.saved_plan import PLAN
from simgap.sweeps.state import export_table, status
from simgap.sweeps.sweep import resume, retry, sweep
from tests.sweeps.small import POLICY, RIVERS, Here, changed, swept, table


def numbers(found: Sweep) -> tuple[int, ...]:
    return found.cells, found.done, found.failed, found.reused, found.dropped


def test_every_cell_is_answered_as_its_verb_answers_it(tmp_path: Path) -> None:
    here = Here()
    found = swept(tmp_path / "run", engine=here)
    assert numbers(found) == (16, 16, 0, 0, 0)
    for line, cell in zip(table(tmp_path / "run"), here.ran, strict=True):
        asked = cell.asked
        right = compare(
            asked["model"],
            asked["horizon"],
            policies=[asked["policy"]],
            seeds=4,
            seed=cell.seed,
        ).policies[0]
        for name in ("average", "worst"):
            value = getattr(right, name)
            ends = [repr(float(each)) for each in value.ends]
            assert [line[f"{name}_lower"], line[f"{name}_upper"]] == ends
            sure = "certified"
            if not isinstance(value, Certified):
                sure = "estimated, 95 %"
            assert line[f"{name}_certainty"] == sure
        assert line["cell"] == cell.key
        assert line["state"] == "done"
        assert line["policy"] == cell.axes["policy"]


def test_words_have_no_interval(tmp_path: Path) -> None:
    text = """question = "oracle"
[axes]
model = "absorbing_doors?members=3"
horizon = [4, 8]
"""
    swept(tmp_path / "run", text)
    first, second = table(tmp_path / "run")
    assert first["outcome"] == second["outcome"] == "exact up to rounding"
    told = [first[f"outcome_{each}"] for each in ("lower", "upper", "certainty")]
    assert told == ["", "", "as told"]
    assert float(second["average_gap_upper"]) == pytest.approx(4.0)
    assert second["average_gap_certainty"] == "certified"


def test_a_plan_that_grows_runs_only_what_is_new(tmp_path: Path) -> None:
    swept(tmp_path / "run")
    before = {each["cell"]: each for each in table(tmp_path / "run")}
    more = changed(RIVERS, ("[3, 4]", "[4, 5]"), ("seeds = 2", "seeds = 3"))
    here = Here()
    found = swept(tmp_path / "run", more, here)
    assert numbers(found) == (24, 24, 0, 8, 8)
    assert len(here.ran) == 16
    assert found.changes == (
        "states has 1 more: 5",
        "states has 1 fewer: 3",
        "seed has 1 more: 2",
    )
    again = {each["cell"]: each for each in table(tmp_path / "run")}
    assert sum(again[key] == before[key] for key in before if key in again) == 8
    back = swept(tmp_path / "run")  # what the ledger has is used again
    assert numbers(back) == (16, 16, 0, 16, 16)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("seeds = 2", "# seeds = 2\nseeds = 2", ()),
        ("seeds = 2", 'title = "Rivers"\nseeds = 2', ()),
        ("runs = 4", "runs = 4\n[limits]\nseconds = 60", ("finished cells are used",)),
        ("runs = 4", "runs = 6", ("runs was 4, is 6: no finished cell is used",)),
        ("runs = 4", "", ("runs was 4, is not given: no finished cell",)),
        ("[settings]\nruns = 4", "runs = [4, 6]", ("runs has 1 more: 6",)),
        ("horizon = [2, 3]", "horizon = 2", ("horizon has 1 fewer: 3",)),
    ],
)
def test_what_changed_is_told(
    tmp_path: Path, old: str, new: str, words: tuple[str, ...]
) -> None:
    swept(tmp_path / "run", changed(RIVERS, ("[3, 4]", "[3]"), ("2, 3", "2, 3")))
    text = changed(RIVERS, ("[3, 4]", "[3]"), (old, new))
    found = swept(tmp_path / "run", text)
    assert len(found.changes) == len(words)
    assert all(word in told for word, told in zip(words, found.changes, strict=True))
    none = any("no finished cell" in each for each in words)
    assert (found.reused == 0) == none
    with read_ledger(tmp_path / "run", PART) as ledger:
        row = ledger.find(PLAN)
        assert row is not None
        assert row.content.decode() == text


def test_a_file_that_changed_is_told_and_only_its_cells_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text(POLICY)
    text = changed(RIVERS, ('["random", "zero"]', '["one.py:act", "two.py:act"]'))
    swept(tmp_path / "run", text)
    (tmp_path / "two.py").write_text(POLICY.replace("0, None", "1, None"))
    state = status("run")  # as it was run, whatever became of its files
    assert numbers(state) == (16, 16, 0, 0, 0)
    here = Here()
    found = resume("run", engine=here)
    assert found.changes == (
        "policy two.py:act is not what it was: its cells are run again",
    )
    assert numbers(found) == (16, 16, 0, 8, 8)
    assert {each.asked["policy"] for each in here.ran} == {"two.py:act"}
    (tmp_path / "two.py").unlink()
    assert numbers(status("run")) == (16, 16, 0, 0, 8)
    assert export_table("run", "t.csv").bytes
    with pytest.raises(InvalidFile) as error:
        resume("run", engine=Here())
    assert error.value.code == "plan-refused"


def test_a_file_that_changes_while_the_sweep_runs_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No number of the new file gets the name of the old one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(POLICY)
    text = changed(RIVERS, ('["random", "zero"]', '"mine.py:act"'))

    def change(cell: Cell) -> None:
        if cell.axes["states"] == 4:
            (tmp_path / "mine.py").write_text(POLICY + "# changed\n")

    found = swept(tmp_path / "run", text, Here(change))
    assert numbers(found)[:3] == (8, 4, 4)
    assert {each.code for each in found.failures} == {"changed-input"}
    found = swept(tmp_path / "run", text)
    assert numbers(found)[:4] == (8, 8, 0, 0)


def test_a_plan_of_another_question_or_of_another_time_is_told(tmp_path: Path) -> None:
    swept(tmp_path / "run")
    oracle = """question = "oracle"
[axes]
model = "absorbing_doors?members=3"
horizon = 4
"""
    found = swept(tmp_path / "run", oracle)
    assert found.changes == ("the question was gap: no finished cell is used again",)
    assert found.dropped == 16
    with opened_ledger(tmp_path / "run", PART) as ledger:
        ledger.keep(PLAN, b"question = 'of another version'", PLAN)
    found = swept(tmp_path / "run")
    assert numbers(found) == (16, 16, 0, 16, 1)
    assert len(found.changes) == 1


def test_a_cell_that_failed_stays_so_until_it_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        """
from pathlib import Path

def act(observation, memory):
    assert not Path("trouble").exists(), "trouble"
    return 0, None
"""
    )
    text = changed(RIVERS, ('"random"', '"mine.py:act"'))
    (tmp_path / "run.toml").write_text(text)

    def trouble(cell: Cell) -> None:
        if cell.asked["horizon"] == 3:
            Path("trouble").touch()
        else:
            Path("trouble").unlink(missing_ok=True)

    found = swept(tmp_path / "run", text, Here(trouble))
    assert numbers(found) == (16, 12, 4, 0, 0)
    assert [each.code for each in found.failures] == ["policy-failed"] * 4
    failed = [each for each in table(tmp_path / "run") if each["state"] == "failed"]
    assert {each["notes"] for each in failed} == {"policy-failed"}
    assert {each["average_upper"] for each in failed} == {""}
    Path("trouble").unlink()
    assert main(["resume", "run"]) == 1  # a cell has failed
    assert main(["status", "run"]) == 0
    here = Here()
    assert numbers(retry("run", engine=here)) == (16, 16, 0, 12, 0)
    assert len(here.ran) == 4
    assert main(["resume", "run"]) == 0


def test_the_state_of_a_sweep_can_be_asked_while_it_runs(tmp_path: Path) -> None:
    seen: list[Sweep] = []

    def ask(cell: Cell) -> None:
        seen.append(status(tmp_path / "run"))
        export_table(tmp_path / "run", tmp_path / "t.csv")

    swept(tmp_path / "run", engine=Here(ask))
    assert all(each.driver and each.running == 1 for each in seen)
    assert [each.done for each in seen] == sorted(each.done for each in seen)
    assert seen[-1].done >= 13  # written in another thread
    found = status(tmp_path / "run")
    assert (found.done, found.running, found.driver) == (16, 0, None)


def test_a_dry_run_keeps_nothing(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(RIVERS)
    swept(tmp_path / "run", changed(RIVERS, ("[3, 4]", "[3]")))
    before = sorted(tmp_path.rglob("*"))
    found = dry_run(plan, out=tmp_path / "run", engine=Here())
    assert numbers(found)[:4] == (16, 8, 0, 8)
    assert found.cost is not None
    assert found.cost.measured == 8
    assert sorted(tmp_path.rglob("*")) == before


def test_half_done_work_goes_when_its_cell_is_kept(tmp_path: Path) -> None:
    """What a killed driver left is removed by the next one, unless it is needed."""
    work = tmp_path / "run" / WORK

    def begin(cell: Cell) -> None:
        (work / cell.key).mkdir(parents=True)
        (work / cell.key / "half").write_text("done")

    swept(tmp_path / "run", engine=Here(begin))
    assert not work.exists()
    keys = [each["cell"] for each in table(tmp_path / "run")]
    (work / keys[0]).mkdir(parents=True)
    (work / "of-a-cell-that-is-in-no-plan").mkdir()
    swept(tmp_path / "run")
    assert not work.exists()

    def stop(cell: Cell) -> None:
        begin(cell)
        raise KeyboardInterrupt

    more = changed(RIVERS, ("seeds = 2", "seeds = 3"))
    with pytest.raises(KeyboardInterrupt):
        swept(tmp_path / "run", more, Here(stop))
    assert len(list(work.iterdir())) == 1
    lines = table(tmp_path / "run")
    assert [each["state"] for each in lines].count("not yet") == 8


def test_folders_that_hold_no_sweep_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with opened_ledger(tmp_path / "empty", "study") as ledger:
        ledger.keep("x", b"y")
    for act, name, code in (
        (resume, "none", "no-ledger"),
        (status, "none", "no-ledger"),
        (resume, "empty", "no-sweep"),
        (retry, "empty", "no-sweep"),
        (status, "empty", "no-sweep"),
    ):
        with pytest.raises(SimgapError) as error:
            act(tmp_path / name)
        assert error.value.code == code
    plan = tmp_path / "plan.toml"
    plan.write_text(RIVERS)
    for place in ("file", "file/inside"):
        with pytest.raises(SimgapError) as error:
            sweep(plan, out=tmp_path / place)
        assert error.value.code == "unwritable-folder"
