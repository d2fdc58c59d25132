"""Cells that measure and train in simulators: the numbers of the verbs, every time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import simgap
from simgap.errors import SimgapError
from simgap.records.files import plain
from simgap.sweeps.cells import answered
from simgap.sweeps.questions import QUESTIONS
from simgap.sweeps.reading import read_plan
from tests.sweeps.small import changed, swept, table

MEASURED = """question = "transfer"
[axes]
simulator = "cartpole"
randomize = "length=0.3..{longest}"
longest = [0.6, 1.2]
policy = ["zero", "random"]
[settings]
reference = "random"
horizon = 20
design = "sobol:4"
episodes = 4
"""
TRAINED = """question = "train"
[axes]
simulator = "heading"
randomize = "mounting_angle=-{width}..{width}"
width = [0.8, 3.1]
trainer = "none"
[settings]
horizon = 10
steps = 320
learner = {rows = 4, minibatches = 2, epochs = 1, units = 4}
design = "sobol:4"
episodes = 4
"""
GRADED = '[settings]\ngraded_over = "mounting_angle=-1..1"'
ROUNDS = 320 // 40


def planned(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_a_cell_of_transfer_has_the_numbers_of_transfer(tmp_path: Path) -> None:
    cells = list(read_plan(planned(tmp_path, MEASURED)).cells())
    assert len(cells) == 4
    assert cells[0].seed == cells[1].seed != cells[2].seed  # policies are compared
    assert cells[2].asked["randomize"] == "length=0.3..1.2"
    found = [answered(cells[3], tmp_path / name) for name in ("one", "two")]
    assert found[0].numbers == found[1].numbers
    direct = simgap.transfer(
        "cartpole",
        {"policy": "random"},
        randomize="length=0.3..1.2",
        references={"reference": "random"},
        horizon=20,
        design="sobol:4",
        episodes=4,
        checked=False,
        seed=cells[3].seed,
    )
    told = json.loads(found[0].numbers)
    mine = direct.policies[0]
    assert told["numbers"]["mean"] == plain(mine.mean)
    assert told["numbers"]["gap"] == plain(mine.gap)
    assert told["numbers"]["worst"]["estimate"] == mine.worst.estimate
    assert set(told["notes"]) == {each.code for each in direct.notes}
    assert set(told["numbers"]) == set(QUESTIONS["transfer"].columns)


def test_a_sweep_of_trainings_keeps_the_policies(tmp_path: Path) -> None:
    text = changed(TRAINED, ("[0.8, 3.1]", "[0.8]"), ("[settings]", GRADED))
    found = swept(tmp_path / "run", text)
    assert (found.done, found.failed) == (1, 0)
    (line,) = table(tmp_path / "run")
    assert line["width"] == "0.8"
    assert float(line["mean_lower"]) <= float(line["mean"]) < 0.0
    assert line["converged"] in {"true", "false"}
    policy = tmp_path / "run" / "files" / f"{line['cell']}.onnx"
    graded = simgap.transfer(
        "heading",
        {"policy": str(policy)},
        randomize="mounting_angle=-1..1",
        horizon=10,
        design="sobol:4",
        episodes=4,
        checked=False,
        seed=next(read_plan(tmp_path / "run.toml").cells()).seed,
    )
    assert graded.policies[0].mean.estimate == float(line["mean"])
    assert not (tmp_path / "run" / "unfinished").exists()
    assert swept(tmp_path / "run", text).reused == 1


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("steps = 320", "steps = 79"), "79 steps of training"),
        (("units = 4", "unit = 4"), "the setting unit=4"),
        (('"none"', '"masked-gru"'), "masked-gru"),
        (('"none"', '"nothing"'), "nothing"),
        (("mounting_angle", "mounting"), "mounting"),
        (("[settings]", GRADED.replace("angle", "angel")), "mounting_angel"),
        (('"heading"', '"headings"'), "headings"),
    ],
)
def test_a_training_that_cannot_be_is_refused_before_anything_runs(
    change: tuple[str, str], problem: str, tmp_path: Path
) -> None:
    with pytest.raises(SimgapError) as caught:
        read_plan(planned(tmp_path, changed(TRAINED, change)))
    assert caught.value.code == "plan-refused"
    assert "plan.toml, line " in caught.value.problem
    assert problem in caught.value.problem
