"""Kernels where machine code cannot be kept: compiled in every process, same result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import simgap

SUM = """
import resource
import sys
import numpy as np
from simgap._kernels.compiled import SharedCache
from simgap._kernels.solving.episodic import row_sum
print(isinstance(row_sum._cache, SharedCache))
if sys.argv[1] == "full":  # no file may grow from now on
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
three = np.array([1.0, 2.0, 3.0])
print(row_sum(three, np.arange(3, dtype=np.int32), three, 0, 3, 0.5))
"""


def kept_and_sum(folder: Path, disk: str) -> tuple[list[str], list[str]]:
    """Return what a process prints that runs a kernel, and which files it kept.

    A disk is "read-only": the folder of the code, the one that a user may name and the
    one in the home folder cannot be made, as each lies below a file (root may write to
    any folder); or "full": folders are there and nothing fits; or "usual".
    """
    package, left_out = folder / "simgap", ignore_patterns("__pycache__", "static")
    copytree(Path(simgap.__file__).parent, package, ignore=left_out)
    home = folder / "home"
    if disk == "read-only":
        home.touch()
        for room in {each.parent for each in package.rglob("*.py")}:
            (room / "__pycache__").touch()
    paths = {"HOME": home, "XDG_CACHE_HOME": home / "a", "PYTHONPATH": folder}
    if disk == "read-only":
        paths["NUMBA_CACHE_DIR"] = home / "b"
    told = subprocess.run(
        [sys.executable, "-B", "-c", SUM, disk],
        env=os.environ | {name: str(path) for name, path in paths.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    return told.stdout.split(), [each.name for each in folder.rglob("*.nb[ci]")]


@pytest.mark.parametrize(
    ("disk", "has_cache", "keeps"),
    [("usual", "True", True), ("read-only", "False", False), ("full", "True", False)],
)
def test_a_kernel_computes_whether_or_not_its_code_can_be_kept(
    tmp_path: Path, disk: str, has_cache: str, keeps: bool
) -> None:
    told, files = kept_and_sum(tmp_path, disk)
    assert told == [has_cache, "14.5"]
    assert bool(files) is keeps
