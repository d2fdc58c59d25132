"""The first run on a machine: it says that it compiles, and compiles ahead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simgap._kernels import compile_news
from simgap._kernels.compiled import compiled_of_imported, is_cold
from simgap.cli.app import compiling


def test_it_says_how_many_kernels_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(compile_news, "tell", None)
    compiling.announce_compiling(said.append)
    assert compile_news.tell is not None
    for seconds in (0.0, 0.9, 1.1, 2.0, 3.0, 7.0):
        compile_news.tell(seconds)
    ready, known = compiled_of_imported()
    assert len(said) == 2
    assert f"{ready} of {known}" in said[0]


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
