"""The verb and the agent of CONTRIBUTING.md are added to a copy, and work there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.instances import build_instance
from simgap.planning import optimal_values

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```python\n# (?:in ([\w ]+) of )?(src/\S+)\n(.*?)```", re.DOTALL)
RIVERS = "riverswim?states=3&success=0.1,0.6&left_reward=0.4"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with everything that the document adds."""
    copy = tmp_path_factory.mktemp("house")
    shutil.copytree(
        ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__")
    )
    for table, name, text in BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text()):
        path = copy / name
        old = path.read_text() if path.exists() else ""
        if not table:
            path.write_text(text)
            continue
        start = "from simgap." if table == "the imports" else f"{table} = (\n"
        at = old.index(start) + (0 if table == "the imports" else len(start))
        path.write_text(old[:at] + text + old[at:])
    return copy


def simgap(house: Path, *words: str) -> Any:
    """Return the JSON that a command of the copy prints."""
    environment = {**os.environ, "PYTHONPATH": str(house / "src")}
    found = subprocess.run(
        [sys.executable, "-m", "simgap.cli.app.main", *words, "--json"],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(found.stdout)


def test_the_verb_answers_and_has_a_schema(house: Path) -> None:
    found = simgap(house, "spread", RIVERS, "-H", "10")
    best = optimal_values(build_instance(RIVERS), 10).start
    assert found["spread"]["lower"] <= np.ptp(best) <= found["spread"]["upper"]
    assert found["spread"]["upper"] == pytest.approx(np.ptp(best))
    assert found["provenance"]["command"].startswith("simgap spread")
    schema = simgap(house, "schema", "spread")
    assert set(schema["required"]) == set(found)


def test_the_agent_is_run_by_its_name(house: Path) -> None:
    found = simgap(house, "gap", RIVERS, "-H", "12", "--policy", "likeliest")
    (row,) = found["policies"]
    assert row["models"][0]["gap"]["upper"] == pytest.approx(0.0, abs=1e-9)
    assert row["models"][1]["gap"]["lower"] > 0.0
