"""`simgap complexity`: closed forms and constants that hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.app.models import read_model
from simgap.complexity import separation
from simgap.instances import linear_bandit, riverswim
from simgap.planning import optimal_values, policy_values


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["complexity", *arguments, "--json"]) == 0
    out, err = capsys.readouterr()
    assert all(line.endswith(" ...") for line in err.splitlines())
    found = json.loads(out)
    assert isinstance(found, dict) and found["schema"] == 1
    return found


def human(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["complexity", *arguments]) == 0
    return capsys.readouterr().out


def saved(folder: Path, **arrays: Any) -> str:
    path = folder / "model.npz"
    np.savez(path, **arrays)
    return str(path)


def test_proposition_2_in_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    """Theory row 25 through the command line: D = 2, d_e = 1, N = 4 for H = 20."""
    found = answer(capsys, "linear_bandit?members=85", "-H", "20")
    assert found["diameter"]["upper"] == pytest.approx(2.0)
    assert (found["eluder"]["lower"], found["eluder"]["upper"]) == (1, 1)
    assert (found["covering"]["lower"], found["covering"]["upper"]) == (4, 4)
    assert found["certainty"]["eluder"] == found["certainty"]["covering"] == "exact"
    assert found["covering"]["functions"] == 85
    names = linear_bandit(85).model_names
    assert set(found["covering"]["cover"]) < set(names)
    text = human(capsys, "linear_bandit?members=85", "-H", "20")
    assert "eluder dimension" in text and "certified" in text


def test_needles_are_two_apart(capsys: pytest.CaptureFixture[str]) -> None:
    """Theory row 18."""
    found = answer(capsys, "needle?members=4", "-H", "10")
    assert found["separation"]["value"] == 2.0
    assert found["separation"]["pair"] == [0, 1]
    assert (found["separation"]["state"], found["separation"]["action"]) == (0, 0)
    assert (found["eluder"]["lower"], found["eluder"]["upper"]) == (3, 3)


def test_optimal_values_are_as_smooth_as_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The constants of V* against a loop over pairs; no constant is exceeded."""
    some = riverswim(5, (0.2, 0.35, 0.6))
    values = optimal_values(some, 40).start
    found = answer(capsys, "riverswim?states=5&success=0.2,0.35,0.6", "-H", "40")
    by_name = {each["metric"]: each for each in found["smoothness"]["metrics"]}
    assert set(by_name) == {"greatest L1", "average L1", "parameters"}
    success = (0.2, 0.35, 0.6)
    expected = max(
        abs(values[i] - values[j]) / (abs(success[i] - success[j]) / 0.4)
        for i in range(3)
        for j in range(i)
    )
    measured = by_name["parameters"]["optimal"]
    assert measured["lower"] <= expected * (1 + 1e-12)
    assert measured["upper"] >= expected * (1 - 1e-12)
    for each in by_name.values():
        assert each["optimal"]["upper"] <= each["policy_at_most"]
        total = each["policy_at_most"] + each["optimal"]["upper"]
        assert each["gap_at_most"] == pytest.approx(total)


def test_constants_hold_when_rewards_and_starts_depend_on_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Against random policies, evaluated in every model."""
    rng = np.random.default_rng(5)
    kernel = rng.random((3, 3, 2, 3))
    kernel /= kernel.sum(axis=3, keepdims=True)
    start = rng.random((3, 3))
    start /= start.sum(axis=1, keepdims=True)
    rewards = 4.0 * rng.random((3, 3, 2)) - 1.0
    path = saved(tmp_path, transitions=kernel, rewards=rewards, start=start)
    found = answer(capsys, path, "-H", "6")
    constant = found["smoothness"]["metrics"][0]["policy_at_most"]
    simulators = read_model(path).latent.simulators
    apart = separation(simulators).distance
    steepest = 0.0
    for _ in range(300):
        policy = rng.integers(0, 2, (6, 3)).astype(np.int32)
        values = policy_values(simulators, policy, 6).start
        rises = np.abs(values[:, None] - values[None, :])
        assert (rises <= constant * apart + 1e-12).all()
        steepest = max(steepest, float((rises / (apart + np.eye(3))).max()))
    assert constant / 20.0 < steepest  # a constant that is not beyond all reason
