"""Finished trainings: found by all of their settings, if their file is whole."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import simgap
from simgap.continuous import TrainedSeed, TrainingRecipe
from simgap.errors import InvalidFile
from simgap.ledger import LEDGER
from simgap.records import Train
from tests.answers.study.untrained import SLIDE, SPEC, untrained

HOME: Any = import_module("simgap.continuous.training.finished")
Jobs = Sequence[tuple[TrainingRecipe, int]]


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Train in no time; return the seeds that were trained, as they are."""
    seeds: list[int] = []

    def noted(jobs: Jobs, **more: Any) -> Iterator[TrainedSeed]:
        for each in untrained(jobs, **more):
            seeds.append(each.seed)
            yield each

    monkeypatch.setattr(HOME, "train_all", noted)
    return seeds


def train(place: Path, **more: Any) -> Train:
    file = place / "slide.py"
    file.write_text(SLIDE)
    given: dict[str, Any] = {
        "memory": "none",
        "randomize": SPEC,
        "steps": 4000,
        "seeds": 2,
        "name": "mine",
    }
    found: Train = simgap.train(f"{file}:make_batch", out=place / "run", **given | more)
    return found


def test_finished_seeds_are_not_trained_again(
    tmp_path: Path, trained: list[int]
) -> None:
    first = train(tmp_path)
    record = (tmp_path / "run" / "mine" / "train.json").read_bytes()
    assert train(tmp_path) == first
    assert trained == [0, 1]
    assert (tmp_path / "run" / "mine" / "train.json").read_bytes() == record
    assert len(train(tmp_path, seeds=4).policies) == 4
    assert trained == [0, 1, 2, 3]


def test_a_policy_whose_file_is_not_what_was_written_is_made_again(
    tmp_path: Path, trained: list[int]
) -> None:
    train(tmp_path)
    path = tmp_path / "run" / "mine" / "seed-1.onnx"
    whole = path.read_bytes()
    for count, wrong in enumerate((b"", whole[:-9], whole[:-1] + b"?"), start=1):
        path.unlink()
        if wrong:
            path.write_bytes(wrong)
        train(tmp_path)
        assert trained == [0, 1, *[1] * count]
        assert path.read_bytes() == whole
    train(tmp_path)
    assert trained == [0, 1, 1, 1, 1]


def test_a_record_that_somebody_changed_is_written_again(
    tmp_path: Path, trained: list[int]
) -> None:
    train(tmp_path)
    path = tmp_path / "run" / "mine" / "train.json"
    right = path.read_bytes()
    path.write_bytes(right.replace(b'"converged": true', b'"converged": false'))
    assert path.read_bytes() != right
    with pytest.raises(InvalidFile) as caught:  # nothing is computed from it
        simgap.transfer(tmp_path / "run", episodes=1, design="sobol:2")
    assert caught.value.code == "changed-record"
    assert train(tmp_path).converged
    assert path.read_bytes() == right


OTHERS: list[tuple[dict[str, Any], str]] = [
    ({"steps": 5000}, "steps"),
    ({"horizon": 5}, "setting horizon"),
    ({"settings": {"rate": 1e-3}}, "setting rate"),
    ({"memory": "gru"}, "memory"),
    ({"informed": True}, "informed"),
    ({"masked": True}, "masked"),
    ({"nominal": True}, "randomization"),
    ({"randomize": "gain=-1..1"}, "told"),
    ({"noise": "observation=0.1"}, "noise"),
]


def test_another_training_is_refused_before_anything_runs(
    tmp_path: Path, trained: list[int]
) -> None:
    train(tmp_path)
    for change, part in OTHERS:
        with pytest.raises(InvalidFile) as caught:
            train(tmp_path, **change)
        assert caught.value.code == "another-training"
        assert part in caught.value.problem
    assert trained == [0, 1]


def test_a_training_in_which_an_interrupt_was_swallowed_is_not_kept(
    tmp_path: Path, trained: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = HOME.train_all

    def swallowing(jobs: Jobs, **more: Any) -> Iterator[TrainedSeed]:
        for each in quiet(jobs, **more):
            if each.seed == 1:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
            yield each

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(HOME, "train_all", swallowing)
            with pytest.raises(KeyboardInterrupt):
                train(tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    train(tmp_path)
    assert trained == [0, 1, 1]


def test_a_damaged_ledger_is_refused(tmp_path: Path, trained: list[int]) -> None:
    train(tmp_path)
    path = tmp_path / "run" / "mine" / LEDGER
    right = path.read_bytes()
    for place in range(50, len(right), 1357):
        wrong = bytearray(right)
        wrong[place] ^= 16
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            train(tmp_path)
        assert caught.value.code == "damaged-ledger"
