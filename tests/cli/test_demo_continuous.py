"""`simgap demo --continuous`: a network that is shipped, checked, measured, drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import simgap
from simgap.cli.app.main import main
from simgap.cli.verbs import demo
from simgap.records import Transfer, read_record

ROOT = Path(__file__).parent.parent.parent
SHIPPED = Path(simgap.__file__).parent / "cli" / "shipped"
POLICY = "cartpole_mlp.onnx"


def test_the_shipped_network_is_that_of_the_examples() -> None:
    assert (SHIPPED / POLICY).read_bytes() == (ROOT / "examples" / POLICY).read_bytes()


def test_the_demo_measures_and_draws(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "POINTS", "sobol:8")
    assert main(["demo", "--continuous", "--out", str(tmp_path)]) == 0
    assert f"page    {tmp_path / 'report.html'}" in capsys.readouterr().out
    found = read_record(tmp_path / "transfer.json", Transfer)
    ppo, lean = found.policies
    assert (ppo.name, lean.name, lean.is_reference) == ("ppo", "lean", True)
    assert found.paired
    assert found.failures == ()
    assert ppo.mean.estimate < lean.mean.estimate == 500.0
    assert found.provenance.command.startswith("simgap demo --continuous")
    assert (tmp_path / "check.json").exists()
    assert "Will it transfer?" in (tmp_path / "report.html").read_text()


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["demo", "--continuous", "--out", str(tmp_path)]) == 2
    assert "pip install 'simgap[continuous]'" in capsys.readouterr().err
