"""A study of a simulator: one plan; killed, it goes on to the same numbers."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simgap.errors import InvalidArgument, InvalidFile
from simgap.ledger import LEDGER, opened_ledger, read_ledger
from simgap.records.kept import changed_records
from tests.answers.study.untrained import studied, untrained

KINDS = ("gru", "nominal-gru", "masked-gru", "none", "informed-none")
RECORDS = ("study_run", "transfer", "blame_run", "identify_run")
MOMENTS = ("trained:3", "told:transfer:2", "told:blame:1", "told:page:1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study that was never stopped."""
    folder = tmp_path_factory.mktemp("whole") / "out"
    studied(folder)
    return folder


def numbers(folder: Path) -> dict[str, Any]:
    """Every record of a study, but for where and how long."""
    found = {}
    for name in RECORDS:
        record = json.loads((folder / f"{name}.json").read_bytes())
        for key in ("total_seconds", "planned_seconds", "records", "provenance"):
            record.pop(key, None)
        found[name] = json.loads(json.dumps(record).replace(str(folder.parent), ""))
    return found


def test_a_study_answers_every_question(whole: Path) -> None:
    found = numbers(whole)["study_run"]
    assert [each["question"] for each in found["answers"]] == [
        "memory",
        "information",
        "randomization",
        "parameter",
        "time",
    ]
    assert found["kinds"] == list(KINDS) and found["seeds"] == 1
    assert found["verdict"] == "no"  # nobody has learnt anything
    for name in KINDS:
        assert len(list((whole / name).glob("seed-*.onnx"))) == 1


@pytest.mark.slow
def test_a_study_that_is_killed_goes_on_to_the_same_numbers(whole: Path) -> None:
    """Four times, in the same folder; finished trainings are not repeated.

    The plan is that of the study that was never stopped: another moment of a busy
    machine would plan other steps.
    """
    folder = whole.parent / "killed"
    folder.mkdir()
    plan_as_in(whole, folder)
    trained: dict[str, int] = {}
    for moment in (*MOMENTS, "never"):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "tests.answers.study.untrained",
                str(folder),
                moment,
            ],
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        killed = -signal.SIGKILL if moment != "never" else 0
        assert done.returncode == killed, (moment, done.stderr)
        files = {str(each): each.stat().st_mtime_ns for each in folder.glob("*/*.onnx")}
        kept = [f for f, t in trained.items() if files[f] == t]
        assert moment == MOMENTS[0] or len(kept) >= 2, moment
        if moment not in MOMENTS[:2]:
            assert kept == list(files)
        trained = files
    assert numbers(folder) == numbers(whole)


def plan_as_in(whole: Path, folder: Path) -> None:
    """Write the plan of one study into the ledger of another."""
    with read_ledger(whole, "answers") as ledger:
        plan = next(ledger.latest())
    assert plan.content == (whole / "plan.json").read_bytes()
    with opened_ledger(folder, "answers") as ledger:
        ledger.keep_all([plan])


def test_the_plan_is_made_once(whole: Path) -> None:
    """The clock of another day does not change what is counted."""
    before = (whole / "plan.json").read_bytes(), numbers(whole)

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError

    studied(whole, speeds=never, train_all=never_trained)
    assert ((whole / "plan.json").read_bytes(), numbers(whole)) == before


EDITS = [
    ("study_run", b'"verdict": "no"', b'"verdict": "yes"'),
    ("study_run", b'"seeds": 1', b'"seeds": 5'),
    ("transfer", b'"estimate": -', b'"estimate": '),
    ("transfer", b'"episodes": ', b'"episodes": 9'),
    ("blame_run", b'"leader": ', b'"leader":  '),
    ("blame_run", b'"method": "exact"', b'"method": "sampled"'),
    ("identify_run", b'"worlds": ', b'"worlds": 9'),
    ("identify_run", b'"headline": "', b'"headline": "All is well. '),
    ("plan", b'"seeds": 1', b'"seeds": 7'),
    ("gru/train", b'"converged": true', b'"converged": false'),
]


@pytest.mark.parametrize("record", sorted({each[0] for each in EDITS}))
def test_a_record_that_somebody_changed_is_written_again(
    record: str, whole: Path
) -> None:
    path = whole / f"{record}.json"
    before = numbers(whole), path.read_bytes()
    for _, old, new in (each for each in EDITS if each[0] == record):
        assert old in before[1]
        path.write_bytes(before[1].replace(old, new))
        assert changed_records(path.parent) == (path.name,)
    studied(whole, train_all=never_trained)
    assert numbers(whole) == before[0]
    assert record == "study_run" or path.read_bytes() == before[1]
    assert changed_records(path.parent) == ()


def test_a_damaged_ledger_is_refused(whole: Path) -> None:
    folder = Path(shutil.copytree(whole, whole.parent / "damaged"))
    path = folder / LEDGER
    right = path.read_bytes()
    for wrong in (right[: len(right) // 2], b"no ledger" + right[9:]):
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            studied(folder)
        assert caught.value.code == "damaged-ledger"


def never_trained(jobs: Any, **_: Any) -> Any:
    assert not jobs
    return iter(())


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"seeds": 2}, "seeds"),
        ({"time_budget": 61.0}, "time budget"),
        ({"horizon": 7}, "horizon"),
        ({"randomize": "gain=-1.5..1.5 drag=0.0..0.5"}, "randomization"),
    ],
)
def test_another_study_is_refused(
    change: dict[str, Any], part: str, whole: Path
) -> None:
    with pytest.raises(InvalidFile) as caught:
        studied(whole, **change)
    assert caught.value.code == "another-study"
    assert part in caught.value.problem


def test_fresh_begins_again_and_removes_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "out"

    def stopped(jobs: Any, **more: Any) -> Any:
        yield from list(untrained(jobs[:2], **more))
        raise KeyboardInterrupt

    drawn: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        studied(folder, train_all=stopped, draw=lambda at, _: drawn.append(at))
    assert drawn == [folder]  # what is there is shown
    (folder / "mine.txt").write_text("keep")
    before = (folder / "gru" / "train.json").stat().st_mtime_ns
    with pytest.raises(KeyboardInterrupt):
        studied(folder, train_all=stopped, fresh=True, seeds=2)
    assert (folder / "mine.txt").read_text() == "keep"
    assert (folder / "gru" / "train.json").stat().st_mtime_ns > before
    assert json.loads((folder / "plan.json").read_bytes())["seeds"] == 2


def test_a_budget_that_is_too_small_is_refused_before_anything_is_kept(
    tmp_path: Path,
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        studied(tmp_path / "out", time_budget=3.0)
    assert caught.value.code == "budget-too-small"
    assert not (tmp_path / "out" / "plan.json").exists()
