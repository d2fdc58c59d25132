"""`simgap reproduce`: what is there is kept, what was changed is written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simgap import experiments
from simgap.errors import InvalidFile
from simgap.ledger import LEDGER
from simgap.records.kept import changed_records
from tests.cli.test_contract import answer

FAST = "lemma-6"  # a claim that takes a moment


def test_a_claim_that_is_there_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", FAST, "--out", str(tmp_path))

    def runs(*more: str) -> bool:
        (claim,) = answer(capsys, *words, *more)["claims"]
        return claim["seconds"] is not None

    assert runs()
    first = (tmp_path / "claims" / f"{FAST}.json").read_bytes()
    assert not runs()
    assert runs("--full") and runs("--seed", "4") and runs("--seed", "4", "--again")
    assert not runs()  # of another seed: that one is there as well
    assert (tmp_path / "claims" / f"{FAST}.json").read_bytes() == first


def test_an_edited_record_is_noticed_and_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", FAST, "--out", str(tmp_path))
    told = answer(capsys, *words)["claims"][0]
    path = tmp_path / "claims" / f"{FAST}.json"
    first = path.read_bytes()
    record = json.loads(first)
    changes: list[dict[str, Any]] = [
        {"verdict": "undecided"},
        {"verdict": []},
        {"as_expected": not record["as_expected"]},
        {"key_number": {"name": "x", "value": {"lower": "a"}}},
        {"seed": 1},
        {"schema": 2},
        {"statement": "Two is at most one."},
    ]
    edits = [json.dumps(record | change).encode() for change in changes]
    for edited in (*edits, first.replace(b"}", b""), first.replace(b"{", b"{\n"), b""):
        path.write_bytes(edited)
        assert changed_records(path.parent) == (f"{FAST}.json",)
        (claim,) = answer(capsys, *words)["claims"]
        assert claim == told | {"seconds": None}
        assert path.read_bytes() == first
        assert changed_records(path.parent) == ()


def test_a_damaged_ledger_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", FAST, "--out", str(tmp_path))
    answer(capsys, *words)
    path = tmp_path / "claims" / LEDGER
    right = path.read_bytes()
    for wrong in (right[: len(right) // 2], b"no ledger" + right[9:]):
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            experiments.reproduce([FAST], out=tmp_path)
        assert caught.value.code == "damaged-ledger"
    path.write_bytes(right)
    assert answer(capsys, *words)["claims"][0]["seconds"] is None
