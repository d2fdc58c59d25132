"""An array that a model file does not know: what it was probably meant to be."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidFile
from simgap.interop import load_model


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("P", "did you mean 'transitions'? it is [..., state, action, next state]"),
        ("T", "'transitions_action_first' is [..., action, state, next state]"),
        ("R", "did you mean 'rewards'?"),
        ("reward", "did you mean 'rewards'?"),
        ("Rewards", "did you mean 'rewards'?"),
        ("transition", "did you mean 'transitions'?"),
        ("mu", "did you mean 'start'?"),
        ("prio", "did you mean 'prior'?"),
        ("Nu", "did you mean 'prior'?"),
        ("state_name", "did you mean 'state_names'?"),
        ("zzz", "a model file has the keys transitions, "),
    ],
)
def test_an_unknown_array_is_named_as_it_was_saved(
    given: str, meant: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.npz"
    arrays: dict[str, Any] = {given: np.zeros(1)}
    np.savez(path, **arrays)
    with pytest.raises(InvalidFile) as caught:
        load_model(str(path))
    assert caught.value.problem.endswith(f"unknown array {given!r}")  # no .npy
    assert meant in caught.value.hint


def test_what_numpy_did_not_write_is_named_in_full(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("transitions", b"")
    with pytest.raises(InvalidFile, match=r"'transitions': no name ending in \.npy"):
        load_model(str(path))


def test_a_missing_array_is_named_with_the_page_that_describes_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, transitions=np.ones((1, 1, 1, 1)))
    with pytest.raises(InvalidFile, match="has no array 'rewards'") as caught:
        load_model(str(path))
    assert caught.value.hint == "add 'rewards'; docs/files.md describes all arrays"
