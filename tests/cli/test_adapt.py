"""`simgap adapt`: keys of the record, units, files, warnings and bad input."""

from __future__ import annotations

import json
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
from tests.note_codes import codes

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


def test_the_keys_of_the_record(
    inside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "adapt", RIVERS, "-H", "8", "--log", inside)
    assert (found["kind"], found["horizon"]) == ("adapt", 8)
    assert (found["transitions"], found["episodes"]) == (60, 6)
    assert [each["name"] for each in found["posterior"]] == [
        "success=0.3", "success=0.5", "success=0.7",
    ]  # fmt: skip
    assert sum(each["probability"] for each in found["posterior"]) == pytest.approx(1.0)
    assert all(each["log_likelihood"] < 0.0 for each in found["posterior"])
    assert found["posterior"][2]["p_value"] > 0.01
    assert found["outside_class"] is False and found["false_alarm"] == 0.01
    (success,) = found["parameters"]
    assert success["before"]["mean"] == pytest.approx(0.5)
    assert success["before"]["sd"] == pytest.approx(np.sqrt(0.08 / 3))
    assert success["after"]["mean"] > 0.6
    before, after = found["gap_bound_before"], found["gap_bound_after"]
    for each in (before, after):
        assert 0.0 <= each["lower"] <= each["upper"]
    weights = [each["probability"] for each in found["posterior"]]
    losses = [each["gap_after"] for each in found["posterior"]]
    average = sum(w * gap for w, gap in zip(weights, losses, strict=True))
    assert average == pytest.approx(after["upper"], abs=1e-9)
    assert found["misfit"] == []
    assert codes(found) == ["between-models"]
    assert found["certainty"]["gap_bound_after"] == "certified"
    assert "seconds" not in json.dumps(found)


def test_the_same_command_gives_the_same_bytes(
    inside: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["adapt", RIVERS, "-H", "6", "--log", inside, "--json"]
    texts = []
    for _ in range(2):
        assert main([*command, "--out", str(tmp_path / "run")]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    kept = json.loads((tmp_path / "run" / "adapt.json").read_text())
    assert kept == json.loads(texts[0])


def test_people_read_what_changed(
    inside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["adapt", RIVERS, "-H", "6", "--log", inside]) == 0
    out = capsys.readouterr().out
    for each in (
        "60 transitions of 6 episodes",
        "success=0.7",
        "success: 0.5 ± 0.16 before",
        "average loss: ",
        "models remain plausible at 99 %",
        "p-value: chance, at most, of a log that speaks this strongly",
        "note: only the listed models were considered",
    ):
        assert " ".join(each.split()) in " ".join(out.split())
    assert "WARNING" not in out


def test_a_world_outside_the_class_is_a_warning_and_status_1(
    outside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["adapt", RIVERS, "-H", "6", "--log", outside]
    found = answer(capsys, *command, status=1)
    assert found["outside_class"] is True
    assert found["misfit"][0]["visits"] > 10
    assert found["gap_bound_after"] is not None
    assert main(command) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("WARNING: no model of the class explains the log")
    assert "at most 1 %" in lines[0]
    assert lines[2] == "Where the best model, success=0.3, is off:"
    assert lines[3].startswith("  action ") and "expected" in lines[3]
    out = "\n".join(lines)
    for each in ("±", "loss", "certified", "plausible", "Lemma 1"):
        assert each not in out.replace("losses are left out", "")
    assert "they presuppose that a model of the class is real; --json has them" in out
    assert "p-value" in out and "with values in between" in out


def test_if_all_models_are_excluded_nothing_is_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, ["0,0,0,1,2"])
    saved = tmp_path / "policy.simgap"
    command = ["adapt", RIVERS, "-H", "6", "--log", log, "--save", str(saved)]
    found = answer(capsys, *command, status=1)
    assert [each["probability"] for each in found["posterior"]] == [None] * 3
    assert found["posterior"][0]["log_likelihood"] == "-inf"
    assert found["posterior"][0]["p_value"] == 0.0
    assert found["outside_class"] is True and found["gap_bound_after"] is None
    assert found["parameters"][0]["after"] is None
    assert found["misfit"][0]["log_evidence"] == "inf"
    assert found["files"]["policy"] is None and not saved.exists()
    assert main(command) == 1
    out = capsys.readouterr().out
    assert "no posterior and no new plan" in out and "±" not in out
    assert "randomize wider, or another parameter" in out
    assert "1 transition of 1 episode in riverswim" in " ".join(out.split())
    assert out.count("led to") == 1  # only the impossible step is off


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


def test_gaps_are_in_the_units_of_the_owner(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.zeros((2, 2, 2, 2))
    for m, up in enumerate((0.2, 0.8)):
        kernel[m, 0] = [[1.0, 0.0], [1.0 - up, up]]
        kernel[m, 1] = [[1.0, 0.0], [1.0, 0.0]]
    found = []
    log = written(tmp_path, ["0,0,home,go,away"])
    for factor in (1.0, 50.0):
        path = tmp_path / f"{factor}.npz"
        np.savez(
            path,
            transitions=kernel,
            rewards=[[0.3, 0.0], [1.0, 1.0]],
            reward_factor=factor,
            reward_offset=-7.0,
            state_names=["home", "away"],
            action_names=["stay", "go"],
        )
        found.append(answer(capsys, "adapt", str(path), "-H", "4", "--log", log))
    plain, scaled = found
    assert plain["gap_bound_before"]["upper"] > 0.1
    for key in ("gap_bound_before", "gap_bound_after"):
        assert scaled[key]["upper"] == pytest.approx(50.0 * plain[key]["upper"])
    for key in ("gap_of_old_plan", "plausible_gap"):
        assert scaled[key] == pytest.approx(50.0 * plain[key])
    for one, other in zip(scaled["posterior"], plain["posterior"], strict=True):
        assert one["gap_after"] == pytest.approx(50.0 * other["gap_after"])
        assert one["probability"] == other["probability"]


def test_rewards_can_be_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.zeros((2, 2, 1, 2))
    kernel[:, :, 0] = [[0.5, 0.5], [0.5, 0.5]]
    model = tmp_path / "model.npz"
    rewards = [[[0.0], [1.0]], [[0.0], [0.5]]]
    np.savez(model, transitions=kernel, rewards=rewards)
    log = written(tmp_path, ["0,0,1,0,1,0.5"], HEADER + ",reward")
    command = ["adapt", str(model), "-H", "4", "--log", log]
    plain = answer(capsys, *command)
    assert [each["probability"] for each in plain["posterior"]] == [0.5, 0.5]
    assert codes(plain)[0] == "rewards-not-used"
    told = answer(capsys, *command, "--rewards", "exact")
    assert [each["probability"] for each in told["posterior"]] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "problem", "hint"),
    [
        ([], "no horizon is given", "-H 200"),
        (["-H", "5"], "no log is given", "--log real.csv"),
        (["-H", "5", "--log", "none.csv"], "there is no file none.csv", "check"),
        (["-H", "5", "--log", "LOG", "--rewards", "exat"], "--rewards 'exat'",
         "did you mean exact?"),
        (["-H", "5", "--log", "LOG", "--rewards", "exact"], "no column reward",
         "--rewards ignored"),
        (["-H", "5", "--log", "LOG", "--false-alarm", "1"], "--false-alarm is 1",
         "above 0 and below 1"),
        (["-H", "5", "--log", "LOG", "--save", "x.txt"], "policies are written",
         ".simgap"),
        (["-H", "5", "--log", "LOG", "--save-model", "x.txt"], "models are written",
         ".simgap"),
        (["-H", "5", "--log", "LOG", "--save", "x.simgap", "--save-model", "x.simgap"],
         "--save and --save-model both name x.simgap", "another name"),
        (["-H", "5", "--log", "LOG", "--time-limit", "0"], "--time-limit is 0",
         "above 0"),
        (["-H", "0", "--log", "LOG"], "the horizon -H is 0", "1 or more"),
    ],
)  # fmt: skip
def test_misuse_is_told_with_a_way_out(
    arguments: list[str],
    problem: str,
    hint: str,
    inside: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [inside if each == "LOG" else each for each in arguments]
    told = error(capsys, RIVERS, *given)
    assert problem in told and hint in told.split("hint: ")[1]


def test_a_bad_line_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, ["0,0,0,1,1", "0,1,1,1,3"])
    told = error(capsys, RIVERS, "-H", "5", "--log", log)
    assert f"line 3 of {log}: next_state is '3'" in told
    assert "states are 0 to 2" in told


def test_hostile_names_do_not_reach_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path, ["0,0,\x1b[31mred,1,1"])
    assert "\x1b" not in error(capsys, RIVERS, "-H", "5", "--log", log)
    odd = written(tmp_path, ["0,0,0,1,1,x"], HEADER + ",\x1b[2J")
    assert main(["adapt", RIVERS, "-H", "5", "--log", odd]) == 0
    assert "\x1b" not in capsys.readouterr().out
