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
from numba.core.dispatcher import Dispatcher
from simgap.sweeps import read_plan
from simgap.sweeps.cells import answered, examples_of

seen, own = set(), Dispatcher.compile
def compile(kernel, types):
    seen.add((kernel.py_func.__module__, kernel.py_func.__qualname__, str(types)))
    return own(kernel, types)

plan = read_plan(sys.argv[1])
Dispatcher.compile = compile
for each in examples_of(plan):
    answered(each, "nowhere")
first = len(seen)
for cell in plan.cells():
    answered(cell, "nowhere")
print(first, len(seen))
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
