"""`simgap reproduce`: keys, what is kept, exit status, wrong words."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from simgap import experiments
from simgap.cli.app.main import main
from simgap.errors import InvalidFile
from simgap.experiments import catalogue
from simgap.experiments.framework.claim import Claim, ClaimResult, Tell, check
from simgap.experiments.reproduce import defining
from simgap.ledger import LEDGER
from simgap.records import ClaimVerdict, changed_records
from tests.cli.test_contract import answer, human

RUNS: list[str] = []


def measure_small(settings: str, seed: int, tell: Tell) -> ClaimResult:
    RUNS.append(settings)
    tell("counting")
    return ClaimResult(
        checks=(check("one is at most two", 1.0, 2.0),),
        key=("one", 1.0),
        summary="1 <= 2",
    )


SMALL = Claim(
    name="small",
    title="A small claim",
    statement="One is at most two.",
    source="arithmetic",
    measure=measure_small,
    quick="quick",
    full="full",
)


def test_the_keys_of_the_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "reproduce", "small", "--out", str(tmp_path))
    (claim,) = found["claims"]
    assert claim["claim"] == "small"
    assert claim["verdict"] == claim["expected"] == "holds"
    assert claim["key_number"]["value"] == {"lower": 1.0, "upper": 1.0}
    record = json.loads((tmp_path / "claims" / "small.json").read_text())
    assert record["statement"] == "One is at most two."
    assert record["checks"][0]["verdict"] == "holds"
    assert Path(found["page"]).stat().st_size > 1000


def test_a_claim_that_is_there_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "small", "--out", str(tmp_path))
    answer(capsys, *words)
    first = (tmp_path / "claims" / "small.json").read_bytes()
    found = answer(capsys, *words)
    assert RUNS == ["quick"]
    assert found["claims"][0]["seconds"] is None
    answer(capsys, *words, "--full")
    answer(capsys, *words, "--seed", "4")
    answer(capsys, *words, "--seed", "4", "--again")
    assert RUNS == ["quick", "full", "quick", "quick"]
    answer(capsys, *words)  # of another seed: that one is there as well
    assert RUNS == ["quick", "full", "quick", "quick"]
    assert (tmp_path / "claims" / "small.json").read_bytes() == first


EDITS = [
    (b'"verdict": "holds"', b'"verdict": "refuted"'),
    (b'"verdict": "holds"', b'"verdict": "undecided"'),
    (b'"verdict": "holds"', b'"verdict": []'),
    (b'"expected": "holds"', b'"expected": "refuted"'),
    (b'"as_expected": true', b'"as_expected": false'),
    (b'"lower": 1.0', b'"lower": 0.5'),
    (b'"upper": 2.0', b'"upper": 3.0'),
    (b'"name": "one"', b'"name": "three"'),
    (b"One is at most two.", b"Two is at most one."),
    (b"arithmetic", b"a rumour"),
    (b"1 <= 2", b"2 <= 1"),
    (b'"scale": "quick"', b'"scale": "full"'),
    (b'"seed": 0', b'"seed": 1'),
    (b"--seed 0", b"--seed 3"),
    (b'"simgap": "', b'"simgap": "9'),
    (b'"schema": 1', b'"schema": 2'),
    (b'"errata": []', b'"errata": ["E1"]'),
    (b'"title": "A small', b'"title": "A great'),
    (b"}", b""),
    (b"{", b"{\n"),
]


def test_an_edited_record_is_noticed_and_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "small", "--out", str(tmp_path))
    answer(capsys, *words)
    path = tmp_path / "claims" / "small.json"
    first = path.read_bytes()
    for old, new in EDITS:
        path.write_bytes(first.replace(old, new))
        assert path.read_bytes() != first
        assert changed_records(path.parent) == ("small.json",)
        found = answer(capsys, *words)
        assert found["claims"][0]["verdict"] == "holds"
        assert path.read_bytes() == first
        assert changed_records(path.parent) == ()
    assert RUNS == ["quick"]


def test_what_is_no_file_of_ours_is_replaced_or_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "small", "--out", str(tmp_path))
    answer(capsys, *words)
    path = tmp_path / "claims" / "small.json"
    first = path.read_bytes()
    path.unlink()
    path.symlink_to("/dev/zero")
    answer(capsys, *words)
    assert RUNS == ["quick"]
    assert path.read_bytes() == first
    path.unlink()
    os.mkfifo(path)
    assert main(list(words)) == 2
    assert "not a regular file" in capsys.readouterr().err


def test_a_damaged_ledger_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "small", "--out", str(tmp_path))
    answer(capsys, *words)
    path = tmp_path / "claims" / LEDGER
    right = path.read_bytes()
    for place in range(0, len(right), len(right) // 20):
        wrong = bytearray(right)
        wrong[place] ^= 32
        path.write_bytes(wrong)
        with pytest.raises(InvalidFile) as caught:
            experiments.reproduce(["small"], out=tmp_path)
        assert caught.value.code == "damaged-ledger"
    path.write_bytes(right)
    answer(capsys, *words)
    assert RUNS == ["quick"]


def test_what_defines_a_claim_is_the_same_in_every_process() -> None:
    for claim in catalogue.named_claims(()):
        for scale in experiments.Scale:
            assert "0x" not in str(defining(claim, scale, 0)), claim.name


def test_python_users_get_the_same_answer(tmp_path: Path) -> None:
    told: list[str] = []
    found = experiments.reproduce(["small"], out=tmp_path, progress=told.append)
    assert found.as_expected and found.claims[0].verdict is ClaimVerdict.HOLDS
    assert told == ["small ...", "small: counting"]
    kept = experiments.reproduce(["small"], out=tmp_path).claims[0]
    assert kept == replace(found.claims[0], seconds=None)


def test_a_real_claim_comes_out_as_it_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = human(
        capsys, "reproduce", "lemma-5", "eluder-remark", "--out", str(tmp_path)
    )
    assert "lemma-5" in text and "holds" in text
    assert "eluder-remark" in text and "refuted" in text


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("reproduce lema-5", "did you mean lemma-5"),
        ("reproduce zzz", "claims:"),
        ("reproduce small --quick --full", "one of them"),
        ("reproduce small --seed x", "not a seed"),
        ("reproduce small --out /dev/null/x", "cannot make the folder"),
    ],
)
def test_wrong_words_get_a_way_out(
    line: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split(" ")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err and "Traceback" not in err
