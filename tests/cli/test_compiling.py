"""The first run on a machine: it says that it compiles, and compiles ahead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from simgap._kernels.compiled import is_cold
from simgap.cli.app import compiling


def test_every_question_that_is_asked_ahead_can_be_asked() -> None:
    for ask in compiling.QUESTIONS.values():
        ask()
    assert not is_cold()


def test_a_cold_cache_is_noticed(tmp_path: Path) -> None:
    """A second process fills the cache that the first one looks at."""
    look = (
        "import simgap._kernels.solving.episodic, simgap._kernels.compiled as c\n"
        "print(c.is_cold())"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}

    def cold() -> str:
        found = subprocess.run(
            [sys.executable, "-c", look],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return found.stdout.strip()

    assert cold() == "True"
    subprocess.run(
        [sys.executable, "-m", "simgap.cli.app.main", "solve", "cycle", "-H", "3"],
        env=environment,
        check=True,
        capture_output=True,
    )
    assert cold() == "False"
