"""The core works without the extra `continuous`, and says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

BLOCKED = ("jax", "jaxlib", "optax", "mujoco", "onnxruntime", "onnx", "yaml")
SCRIPT = """
import sys
for name in {blocked!r}:
    sys.modules[name] = None  # importing it fails, as if it were not installed
from simgap.cli.app.main import main
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = SCRIPT.format(blocked=BLOCKED)
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


CART = ("gym:CartPole-v1", "--randomize", "length=0.3..1.0", "-H", "9")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("info", "riverswim?states=3"),
        ("check", *CART),
        (
            "transfer",
            *CART,
            "--policy",
            "random",
            "--design",
            "grid:2",
            "--threads",
            "1",
        ),
    ],
)
def test_what_needs_no_extra_runs_without(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (("check", "pendulum", "-H", "9"), "jax"),
        (("check", "hopper", "-H", "9"), "mujoco"),
        (("check", *CART, "--policy", "examples/cartpole_mlp.onnx"), "onnx"),
    ],
)
def test_what_needs_the_extra_says_so(arguments: tuple[str, ...], package: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert package in done.stderr
    assert "simgap[continuous]" in done.stderr
    assert "Traceback" not in done.stderr
