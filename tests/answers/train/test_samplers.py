"""Samplers that adapt, by `simgap.train`: what they cost, go on from, and refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.answers.train.train import training_recipe
from simgap.answers.transfer.trained_run import TrainedRun
from simgap.continuous.training import seeds, trainer
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records import Train
from tests.note_codes import codes
from tests.report.study_cases import training

HORIZON, ROWS = 10, 64
BATCH, ROUNDS = HORIZON * ROWS, 48
SPEC = "gain=0.5..1.5 sign={-1,1}"
CELLS = 64 * 4 * HORIZON  # steps in which the informed policy is measured
BEFORE = {  # folder of the reference, and the steps it takes: a twelfth, or a third
    "adr": ("nominal-none", ROUNDS // 12 * BATCH),
    "doraemon": ("nominal-none", ROUNDS // 12 * BATCH),
    "gap": ("informed-none", ROUNDS // 3 * BATCH + CELLS),
}
AT_FIRST = {"adr": 0.1, "doraemon": 0.22, "gap": 1.0}  # of nu; of one range


class Stopped(Exception):
    """Somebody stops a training."""


def train(out: Path, sampler: str, **more: Any) -> Train:
    """Train in this process, so that a program is compiled once."""
    given: dict[str, Any] = {
        "randomize": SPEC,
        "memory": "none",
        "horizon": HORIZON,
        "steps": ROUNDS * BATCH,
        "settings": {"rows": ROWS, "units": 8, "rate": 0.01},
        "checked": False,
        "sampler": sampler,
        "out": out,
        **more,
    }
    return simgap.train("servo", **given)


@pytest.mark.parametrize(
    "sampler",
    [
        "adr",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("doraemon", "gap")),
    ],
)
def test_a_sampler_is_paid_from_the_same_steps_and_a_stopped_training_goes_on(
    sampler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stop leaves what a kill leaves: the checkpoints of finished rounds."""
    monkeypatch.setattr(seeds, "accelerated", lambda: True)
    monkeypatch.setattr(trainer, "EVERY", -1.0)  # a checkpoint after every round
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    found = train(whole, sampler)
    reference, before = BEFORE[sampler]
    assert (found.name, found.sampler) == (f"none-{sampler}", sampler)
    assert (found.steps, found.steps_before) == (ROUNDS * BATCH, before)
    (policy,) = found.policies
    assert policy.curve[0][0] == before + BATCH
    assert policy.curve[-1][0] == found.steps
    assert 0.0 < policy.drawn_share <= 1.0
    assert policy.drawn_share != pytest.approx(AT_FIRST[sampler], abs=0.04)
    assert "rough-reference" in codes(found)
    for name, last in ((reference, 2), (found.name, 3), (found.name, 25)):
        with pytest.raises(Stopped):
            train(parts, sampler, progress=stopping(f"{name}, seed 0", last))
    assert train(parts, sampler).policies[0].curve == policy.curve
    again = train(whole, sampler)  # nothing is trained: rows of the ledger
    assert (again.policies, again.notes) == (found.policies, found.notes)
    for name in ("seed-0.onnx", "seed-0.checkpoint", f"{reference}/seed-0.checkpoint"):
        same = [(out / found.name / name).read_bytes() for out in (whole, parts)]
        assert same[0] == same[1], name
    with pytest.raises(InvalidFile) as refused:
        train(whole, "uniform", name=found.name)
    assert refused.value.code == "another-training"


def stopping(training: str, rounds: int) -> Any:
    """Return a listener that stops a training before its checkpoint of a round."""

    def tell(text: str) -> None:
        if text.startswith(training) and f" {rounds} of " in text:
            raise Stopped

    return tell


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"sampler": "adt"}, "no-such-sampling"),
        ({"sampler": "adr", "nominal": True}, "nothing-to-adapt"),
        ({"sampler": "gap", "at": "gain=1"}, "nothing-to-adapt"),
        ({"sampler": "adr", "randomize": "gain=1"}, "nothing-to-adapt"),
        ({"sampler": "gap", "randomize": "gain=1"}, "nothing-to-adapt"),
        ({"sampler": "adr", "randomize": "sign={-1,1}"}, "nothing-to-adapt"),
        ({"sampler": "doraemon", "randomize": "ROWS"}, "nothing-to-adapt"),
        ({"sampler": "adr", "steps": 36 * BATCH - 1}, "too-few-steps"),
        ({"sampler": "gap", "steps": 9 * BATCH - 1}, "too-few-steps"),
        (
            {"sampler": "adr", "steps": None, "settings": None, "train_fn": print},
            "not-for-own-trainer",
        ),
    ],
)
def test_what_a_sampler_cannot_do_is_refused_before_anything_is_trained(
    given: dict[str, Any], code: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("gain,sign\n0.5,1\n1.5,-1\n0.7,1\n")
    if given.get("randomize") == "ROWS":
        given = {**given, "randomize": f"rows({rows})"}
    out = tmp_path / "run"
    with pytest.raises(InvalidArgument) as refused:
        train(out, **given)
    assert refused.value.code == code
    assert not out.exists()


def test_a_wrong_name_is_told_the_nearest_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument) as refused:
        train(tmp_path, "doremon")
    assert "doraemon" in refused.value.hint


def test_rows_and_choices_alone_can_be_drawn_by_the_gap(tmp_path: Path) -> None:
    """Four cells of three rows, and two of a choice: 3 rounds, cells, 2 rounds."""
    rows = tmp_path / "rows.csv"
    rows.write_text("gain,sign\n0.5,1\n1.5,-1\n0.7,1\n")
    for spec, cells in ((f"rows({rows})", 4), ("sign={-1,1}", 2), (SPEC, 64)):
        measured = cells * 4 * HORIZON
        least = max(9 * BATCH, (2 * BATCH + measured) * 3 // 2)
        recipe = training_recipe(
            "servo",
            randomize=spec,
            memory="none",
            horizon=HORIZON,
            steps=least,
            settings={"rows": ROWS},
            sampler="gap",
            checked=False,
            out=tmp_path,
        )
        assert recipe.steps_before == 3 * BATCH + measured
        assert recipe.steps == least - recipe.steps_before


def run_of(*names: str) -> TrainedRun:
    """Return trainings with the options that their names tell."""
    return TrainedRun(None, tuple(training(name, **options(name)) for name in names))


def options(name: str) -> dict[str, Any]:
    found: dict[str, Any] = {"memory": "none"} if "none" in name else {}
    found |= {"informed": True} if "informed" in name else {}
    found |= {"sampler": "adr"} if "adr" in name else {}
    if "nominal" in name:
        found |= {"randomize": "nominal", "specialist": True}
    return found


def test_only_trainings_with_the_same_sampler_are_compared() -> None:
    mixed = run_of("gru-adr", "none", "informed-none")
    assert mixed.pairs == (("information", "informed-none", "none"),)
    (note,) = mixed.notes
    assert note.code == "samplers-differ"
    assert "memory is worth to gru-adr" in note.text
    alone = run_of("gru", "gru-adr")
    assert alone.pairs == (("sampler", "gru-adr", "gru"),)
    assert alone.notes == ()
    every = run_of("gru-adr", "none-adr", "none", "gru", "informed-none", "nominal-gru")
    told = [f"{what}: {one} - {other}" for what, one, other in every.pairs]
    assert told == [
        "memory: gru - none",  # uniform draws come first
        "information: informed-none - gru",
        "randomization: gru - nominal-gru",
        "memory: gru-adr - none-adr",
        "randomization: gru-adr - nominal-gru",
        "sampler: gru-adr - gru",
        "sampler: none-adr - none",
    ]
    (note,) = every.notes
    assert "information is worth to gru-adr" in note.text
    assert "memory" not in note.text
