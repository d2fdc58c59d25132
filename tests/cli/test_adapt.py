"""`simgap adapt`: a world outside the class, and what is saved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simgap.cli.app.main import main
from simgap.cli.app.models import read_model
from simgap.gap.evaluator import Exact
from simgap.gap.exact import exact_gaps
from simgap.interop import load_model
from simgap.policies.files import load_policy
from simgap.policies.graph import GraphPolicy
from tests.cli.test_contract import answer

RIVERS = "riverswim?states=3&success=0.3:0.7:3&left_reward=0.4&uniform=true"
HEADER = "episode,step,state,action,next_state"


def written(folder: Path, rows: list[str], header: str = HEADER) -> str:
    path = folder / "real.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return str(path)


def drawn(text: str, count: int, seed: int = 0, length: int = 10) -> list[str]:
    """Rows of a log of a model that acts at random."""
    world, rng = read_model(text).latent.simulators, np.random.default_rng(seed)
    kernel, rows, s = world.transitions.array(0), [], 0
    for at in range(count):
        s = int(world.start[0]) if at % length == 0 else s
        a = int(rng.integers(world.n_actions))
        t = int(rng.choice(world.n_states, p=kernel[s, a]))
        rows.append(f"{at // length},{at % length},{s},{a},{t}")
        s = t
    return rows


@pytest.fixture
def inside(tmp_path: Path) -> str:
    return written(tmp_path, drawn("riverswim?states=3&success=0.7&uniform=true", 60))


@pytest.fixture
def outside(tmp_path: Path) -> str:
    return written(tmp_path, drawn("riverswim?states=3&success=0.02&uniform=true", 120))


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["adapt", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and "\nhint: " in err
    return err


def test_a_world_outside_the_class_is_a_warning_and_status_1(
    outside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["adapt", RIVERS, "-H", "6", "--log", outside]
    found = answer(capsys, *command, status=1)
    assert found["outside_class"] is True
    assert found["misfit"][0]["visits"] > 10
    assert found["gap_bound_after"] is not None


def test_policy_and_class_can_be_kept(
    inside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy, model = tmp_path / "policy.simgap", tmp_path / "after.simgap"
    found = answer(
        capsys, "adapt", RIVERS, "-H", "6", "--log", inside,
        "--save", str(policy), "--save-model", str(model),
    )  # fmt: skip
    assert found["files"] == {
        "policy": str(policy),
        "belief_policy": str(tmp_path / "policy.belief.simgap"),
        "model": str(model),
    }
    changed = load_model(model)
    told = [each["probability"] for each in found["posterior"]]
    assert changed.prior == pytest.approx(told, rel=1e-12)
    assert changed.simulators.hash == read_model(RIVERS).latent.simulators.hash
    kept = load_policy(policy)
    assert isinstance(kept, GraphPolicy)
    for gap, each in zip(
        exact_gaps(changed.simulators, kept, 6, Exact()),
        found["posterior"],
        strict=True,
    ):
        assert gap.upper == pytest.approx(each["gap_after"], abs=1e-9)
    again = answer(capsys, "oracle", str(model), "-H", "6")
    assert again["average_gap"]["upper"] == pytest.approx(
        found["gap_bound_after"]["upper"], abs=1e-9
    )


def test_hostile_names_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, ["0,0,\x1b[31mred,1,1"])
    assert "\x1b" not in error(capsys, RIVERS, "-H", "5", "--log", log)
    odd = written(tmp_path, ["0,0,0,1,1,x"], HEADER + ",\x1b[2J")
    assert main(["adapt", RIVERS, "-H", "5", "--log", odd]) == 0
    assert "\x1b" not in capsys.readouterr().out
