"""What a worker compiles first is all that its cells need."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PLAN = """question = "gap"
[axes]
model = "riverswim?states=4&success=0.2,0.7"
horizon = 4
policy = "{policy}"
[settings]
runs = 4
"""
COMPILED = """
import sys
from simgap._kernels import compiled
from simgap.sweeps import read_plan
from simgap.sweeps.cells import answered, examples_of

def there():  # what is compiled now, or was loaded from the disk
    return {(each.py_func, str(types)) for each in compiled._kernels
            for types in each.signatures}

plan = read_plan(sys.argv[1])
before = there()
for each in examples_of(plan):
    answered(each, "nowhere")
first = there()
for cell in plan.cells():
    answered(cell, "nowhere")
print(len(first - before), len(there() - before))
"""


@pytest.mark.parametrize("policy", ["likelihood", "own.py:act"])
def test_cells_compile_nothing_that_the_first_one_did_not(
    policy: str, tmp_path: Path
) -> None:
    (tmp_path / "own.py").write_text("def act(observation, memory): return 1, None")
    (tmp_path / "plan.toml").write_text(PLAN.format(policy=policy))
    told = subprocess.run(
        [sys.executable, "-c", COMPILED, "plan.toml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    first, all_of_them = map(int, told.stdout.split())
    assert first == all_of_them > 5
