"""A module of the tests as a program: what JAX is told for a whole process or never."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def told_by(module: str, environment: Mapping[str, str]) -> Any:
    """Return the JSON that a module prints in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-m", module],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)
