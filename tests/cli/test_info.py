"""`simgap info`: where episodes begin, as numbers and in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.test_contract import answer, human


def saved(folder: Path, **more: Any) -> str:
    kernel = np.zeros((2, 3, 2, 3))
    kernel[..., 0] = 1.0
    path = folder / "model.npz"
    np.savez(path, transitions=kernel, rewards=np.zeros((3, 2)), **more)
    return str(path)


@pytest.mark.parametrize(
    ("start", "laws", "words"),
    [
        (2, [(None, [2], [1.0])], "state 2"),
        (
            np.array([0.25, 0.0, 0.75]),
            [(None, [0, 2], [0.25, 0.75])],
            "one of 2 states, likeliest 2 (0.75)",
        ),
        (
            np.array([0.5, 0.5, 0.0]),
            [(None, [0, 1], [0.5, 0.5])],
            "one of 2 states, each 0.5",
        ),
        (
            np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]),
            [("model 0", [0], [1.0]), ("model 1", [1, 2], [0.5, 0.5])],
            "depends on the model, 3 states in all",
        ),
        (
            np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]),
            [(None, [1], [1.0])],
            "state 1",
        ),
    ],
)
def test_the_start_law_is_shown(
    start: Any,
    laws: list[tuple[str | None, list[int], list[float]]],
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = saved(tmp_path, start=start)
    found = answer(capsys, "info", path)["start"]
    assert [(e["model"], e["states"], e["probabilities"]) for e in found] == laws
    assert words in human(capsys, "info", path)


def test_a_start_is_called_by_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = np.array(["low", "middle\x1b[31m", "high"])
    text = human(capsys, "info", saved(tmp_path, start=1, state_names=names))
    assert r"state middle\x1b[31m" in text
