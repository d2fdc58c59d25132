"""`simgap demo --continuous`: a network that is shipped, checked, measured, drawn."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import simgap
from simgap.cli.app.main import main

ROOT = Path(__file__).parent.parent.parent
SHIPPED = Path(simgap.__file__).parent / "cli" / "shipped"
POLICY = "cartpole_mlp.onnx"


def test_the_shipped_network_is_that_of_the_examples() -> None:
    assert (SHIPPED / POLICY).read_bytes() == (ROOT / "examples" / POLICY).read_bytes()


def test_without_the_extra_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main(["demo", "--continuous", "--out", str(tmp_path)]) == 2
    assert "pip install 'simgap[continuous]'" in capsys.readouterr().err
