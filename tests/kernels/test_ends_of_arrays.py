"""No kernel reads or writes behind the end of an array: their tests, with checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OTHERS = (Path(__file__).name, "test_compiled.py")  # of where code is kept
BEYOND = """
import numpy as np
from simgap._kernels.walking.walk import next_mark
next_mark(np.zeros(2, np.int64), np.array([3]))  # a clock has four numbers
"""


def checked(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with kernels that raise where others read what is behind an array."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_clock_that_is_too_short_is_noticed(tmp_path: Path) -> None:
    """The control of the test below."""
    ended = checked(tmp_path, "-c", BEYOND)
    assert ended.returncode == 1
    assert "IndexError: index is out of bounds" in ended.stderr


@pytest.mark.slow
def test_kernels_stay_inside_their_arrays(tmp_path: Path) -> None:
    others = [f"--ignore=tests/kernels/{each}" for each in OTHERS]
    ended = checked(tmp_path, "-m", "pytest", "-n0", "tests/kernels", *others)
    assert ended.returncode == 0, ended.stdout
