"""The examples run; a stand-in has the place of what needs PyTorch."""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.records.files import read_record
from simgap.records.transfer import Transfer

EXAMPLES = Path(__file__).parent.parent / "examples"
FEW = {"design": "sobol:8", "episodes": 8, "beyond": 1.0}
LONG = {"train_cartpole.py"}  # a whole training
COMMANDS = [
    (file.name, command)
    for file in sorted(EXAMPLES.glob("*.py"))
    for command in ast.get_docstring(ast.parse(file.read_text()), clean=True)
    .replace("\\\n", " ")  # type: ignore[union-attr]
    .splitlines()
    if command.strip().startswith("simgap ")
]


@pytest.fixture(autouse=True)
def from_the_root(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(EXAMPLES.parent)
    yield
    sys.modules.pop("stable_baselines3", None)


def test_examples_are_short() -> None:
    for file in EXAMPLES.iterdir():
        if file.suffix in {".py", ".sh", ".xml"} and file.name not in LONG:
            assert len(file.read_text().splitlines()) <= 60, file.name


def test_every_example_stands_in_the_readme() -> None:
    text = (EXAMPLES / "README.md").read_text()
    for file in EXAMPLES.iterdir():
        if file.is_file() and file.name != "README.md":
            assert f"`{file.name}`" in text, file.name


@pytest.mark.parametrize(("file", "command"), COMMANDS)
def test_what_an_example_says_to_run_runs(
    file: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from simgap.cli.app.main import main

    words = shlex.split(command)[1:]
    if words[0] == "transfer":
        words[words.index("--out") + 1] = str(tmp_path)
        words += ["--design", "sobol:8", "--episodes", "8", "--beyond", "1"]
    assert main(words) == 0, file
    assert capsys.readouterr().out.strip()


def test_commands_of_examples_are_found() -> None:
    assert len(COMMANDS) == 4


def measured(simulator: str, policies: Any, randomize: str, **more: Any) -> Transfer:
    return simgap.transfer(simulator, policies, randomize=randomize, **{**FEW, **more})


def test_both_networks_are_graded_on_the_same_starts() -> None:
    answer = measured(
        "gym:CartPole-v1",
        {
            "mlp": str(EXAMPLES / "cartpole_mlp.onnx"),
            "lstm": str(EXAMPLES / "cartpole_lstm.onnx"),
            "random": "random",
        },
        "length=0.3..0.8",
        horizon=100,
    )
    mlp, lstm, random = (each.mean.estimate for each in answer.policies)
    assert answer.paired
    assert min(mlp, lstm) > 95.0
    assert random < 50.0


def test_who_is_told_the_load_holds_it_better() -> None:
    answer = measured(
        "mujoco:examples/arm.xml",
        "hold=examples/arm_policies.py:hold",
        "body.load.mass=0.5..1.5",
        references="told=examples/arm_policies.py:told",
    )
    most = answer.policies[0].worst_gap
    assert most is not None
    assert most.lower > 0.0


def test_a_policy_of_stable_baselines_takes_five_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a stand-in for the library, which has no place among these tests."""
    text = (EXAMPLES / "sb3_cartpole.py").read_text()
    tree = ast.parse(text)
    assert len(tree.body[1:]) == 5  # after the docstring

    def predict(seen: Any, state: Any, episode_start: Any, deterministic: bool) -> Any:
        return (np.asarray(seen)[:, 2] > 0.0).astype(int), None

    library = ModuleType("stable_baselines3")
    loaded = SimpleNamespace(predict=predict)
    library.PPO = SimpleNamespace(load=lambda path: loaded)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stable_baselines3", library)
    whole = simgap.transfer
    few = FEW | {"out": tmp_path}
    monkeypatch.setattr(
        simgap, "transfer", lambda *given, **named: whole(*given, **(named | few))
    )
    exec(compile(tree, "sb3_cartpole.py", "exec"), {"__name__": "__main__"})
    assert "cartpole" in capsys.readouterr().out
    found = read_record(tmp_path / "transfer.json", Transfer)
    assert found.policies[0].name == "ppo"


def test_a_trainer_of_ones_own_is_graded_like_any_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = (EXAMPLES / "own_trainer.py").read_text()
    few = text.replace("EPISODES, TRIALS = 16, 40", "EPISODES, TRIALS = 4, 2")
    assert few != text
    exec(compile(few, "own_trainer.py", "exec"), {"__name__": "__main__"})
    told = capsys.readouterr().out
    assert told.startswith("randomization: ")
    assert "WidthRun" in told


def test_the_environment_script_is_a_script_and_names_no_host() -> None:
    script = EXAMPLES / "sb3_environment.sh"
    subprocess.run(["bash", "-n", str(script)], check=True)
    text = script.read_text()
    assert "torch==2.13.0+cpu" in text
    assert "://" not in text
