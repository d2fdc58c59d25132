"""`simgap gap`: planned policies, what memory is worth and growth with the horizon.

Numbers are compared with all deterministic policies of a tiny class, in its own units.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.interop import save_model
from simgap.mdp import Details, IndexOrder, LatentMDP, RewardUnits, class_from_arrays
from tests.reference.latent import exact_gap

HORIZON = 3


@pytest.fixture(scope="module")
def latent() -> LatentMDP:
    """Two models in eighths, with rewards written as r and meant as -5 + 4 r."""
    rng = np.random.default_rng(8)
    kernel = rng.multinomial(8, [0.5, 0.5], size=(2, 2, 2)) / 8.0
    rewards = rng.integers(0, 9, (2, 2)) / 8.0
    worlds = class_from_arrays(
        kernel,
        rewards,
        order=IndexOrder.STATE_ACTION,
        details=Details(units=RewardUnits(-5.0, 4.0)),
    )
    return LatentMDP(worlds, np.array([0.25, 0.75]))


@pytest.fixture(scope="module")
def model(latent: LatentMDP, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("gap") / "tiny.simgap"
    save_model(latent, path)
    return str(path)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    capsys.readouterr()
    assert main(["gap", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def values(latent: LatentMDP, horizon: int) -> list[list[Fraction]]:
    """Return V of every deterministic policy of state and step, in every model."""
    worlds, found = latent.simulators, []
    kernel = np.stack([worlds.transitions.array(m) for m in range(2)])
    for code in product(range(2), repeat=2 * horizon):
        row = []
        for m in range(2):
            after = [Fraction(0), Fraction(0)]
            for h in reversed(range(horizon)):
                acts = code[2 * h : 2 * h + 2]
                after = [
                    Fraction(float(worlds.rewards[0, s, acts[s]]))
                    + sum(
                        (Fraction(float(kernel[m, s, acts[s], t])) * after[t])
                        for t in range(2)
                    )
                    for s in range(2)
                ]
            row.append(after[0])
        found.append(row)
    return found


def test_planned_policies_have_the_gaps_of_brute_force(
    latent: LatentMDP, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, model, "-H", str(HORIZON), "--no-agents")
    every = values(latent, HORIZON)
    best = [max(row[m] for row in every) for m in range(2)]
    prior = [Fraction(1, 4), Fraction(3, 4)]
    lost = [
        sum(w * (b - v) for w, b, v in zip(prior, best, row, strict=True))
        for row in every
    ]
    rows = {each["name"]: each for each in found["policies"]}
    memoryless = rows["memoryless"]["average"]
    assert memoryless["lower"] <= float(min(lost)) + 1e-12
    assert memoryless["upper"] == pytest.approx(float(min(lost)), abs=1e-9)
    oracle = float(exact_gap(latent, HORIZON))
    assert rows["oracle"]["average"]["upper"] == pytest.approx(oracle, abs=1e-9)
    memory = found["value_of_memory"]
    worth = float(min(lost)) - oracle
    assert memory["lower"] - 1e-9 <= worth <= memory["upper"] + 1e-9
    for m, told in enumerate(found["optimal"]):
        assert told == pytest.approx(float(best[m]))
    optimal_in = [
        [row for row, v in zip(lost, every, strict=True) if v[m] == best[m]]
        for m in range(2)
    ]
    single = min(min(rows) for rows in optimal_in)
    randomized = found["value_of_randomization"]
    assert randomized["lower"] - 1e-9 <= float(single) - oracle
    assert float(single) - oracle <= randomized["upper"] + 1e-9


def test_every_horizon_is_what_it_is_alone(
    latent: LatentMDP, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(
        capsys, model, "-H", "3", "--horizons", "1,3", "--policy", "memoryless"
    )
    assert [each["horizon"] for each in found["by_horizon"]] == [1, 3]
    assert found["trained"] == [0, 1]
    for each in found["by_horizon"]:
        horizon = each["horizon"]
        every = values(latent, horizon)
        best = [max(row[m] for row in every) for m in range(2)]
        gap = float(exact_gap(latent, horizon))
        ends = each["average_gap"]
        assert ends["lower"] - 1e-12 <= gap <= ends["upper"] + 1e-12
        for i, told in enumerate(each["train"]):
            plans = [
                [float(b - v) for b, v in zip(best, row, strict=True)]
                for row in every
                if row[i] == best[i]
            ]
            assert min(np.abs(np.array(plans) - told).max(axis=1)) < 1e-9
        assert all(bound["value"] >= ends["lower"] for bound in each["bounds"])


def test_policies_that_are_brought_have_rows(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved, source = tmp_path / "p.simgap", tmp_path / "p.py"
    assert main(["oracle", model, "-H", "3", "--save", str(saved)]) == 0
    source.write_text("def last(state, memory):\n    return 1, memory\n")
    asked = [f"plan={saved}", "oracle", f"{source}:last", "zero"]
    options = [each for text in asked for each in ("--policy", text)]
    plan, oracle, last, zero = answer(capsys, model, "-H", "3", *options)["policies"]
    assert plan["name"] == "plan"
    for one, other in zip(plan["models"], oracle["models"], strict=True):
        assert one["gap"] == pytest.approx(other["gap"], abs=1e-9)
    assert [each["certainty"] for each in (plan, last, zero)] == [
        "certified",
        "estimated",
        "certified",
    ]
