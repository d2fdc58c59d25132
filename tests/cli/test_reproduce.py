"""`simgap reproduce`: keys, what is kept, exit status, wrong words."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simgap import experiments
from simgap.cli.app.main import main
from simgap.cli.app.process import INTERRUPTED
from simgap.experiments import catalogue
from simgap.experiments.framework.claim import Claim, ClaimResult, Tell, check
from simgap.records import ClaimVerdict
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


@pytest.fixture(autouse=True)
def one_small_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    RUNS.clear()
    known = catalogue.named_claims

    def named(names: tuple[str, ...]) -> tuple[Claim[Any], ...]:
        return (SMALL,) if names == ("small",) else known(names)

    monkeypatch.setattr(catalogue, "named_claims", named)
    monkeypatch.setattr(experiments, "named_claims", named)


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
    answer(capsys, *words)  # of another seed: made anew
    assert (tmp_path / "claims" / "small.json").read_bytes() == first
    (tmp_path / "claims" / "small.json").write_text("{damaged")
    answer(capsys, *words)
    assert (tmp_path / "claims" / "small.json").read_bytes() == first


def test_what_is_no_record_of_the_claim_is_not_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("reproduce", "small", "--out", str(tmp_path))
    answer(capsys, *words)
    path = tmp_path / "claims" / "small.json"
    first = path.read_bytes()
    path.write_bytes(first.replace(b'"verdict": "holds"', b'"verdict": []'))
    answer(capsys, *words)
    assert path.read_bytes() == first
    path.unlink()
    path.symlink_to("/dev/zero")
    answer(capsys, *words)
    assert RUNS == ["quick"] * 3
    assert path.read_bytes() == first
    path.unlink()
    os.mkfifo(path)
    assert main(list(words)) == 2
    assert "not a regular file" in capsys.readouterr().err


def test_a_surprise_ends_with_status_one(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = replace(SMALL, expected=ClaimVerdict.REFUTED)
    monkeypatch.setattr(catalogue, "named_claims", lambda names: (wrong,))
    assert main(["reproduce", "small", "--out", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "expected: refuted" in out and "NOT all as expected" in out


def test_an_interrupted_claim_leaves_no_record(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(settings: str, seed: int, tell: Tell) -> ClaimResult:
        raise KeyboardInterrupt

    words = ["reproduce", "small", "--out", str(tmp_path)]
    half = replace(SMALL, measure=interrupted)
    with monkeypatch.context() as patch:
        patch.setattr(catalogue, "named_claims", lambda names: (half,))
        assert main(words) == INTERRUPTED
    assert not (tmp_path / "claims" / "small.json").exists()
    assert main(words) == 0
    assert RUNS == ["quick"]


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
