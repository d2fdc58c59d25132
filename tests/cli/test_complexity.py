"""`simgap complexity`: keys of the record, closed forms, notes on missing measures."""

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
from tests.note_codes import codes


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


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["complexity", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("error: ") and "\nhint: " in err
    return err


def saved(folder: Path, **arrays: Any) -> str:
    path = folder / "model.npz"
    np.savez(path, **arrays)
    return str(path)


def test_the_keys_of_the_contract(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "riverswim?states=4&success=0.3,0.5,0.7", "-H", "20")
    assert found["horizon"] == 20
    assert found["diameter"]["lower"] <= found["diameter"]["upper"]
    assert {"value", "pair", "state", "action"} <= set(found["separation"])
    for key in ("eluder", "covering"):
        assert 1 <= found[key]["lower"] <= found[key]["upper"]
        assert found[key]["epsilon"] == 0.05
    assert found["certainty"]["diameter"] == "certified"
    assert found["certainty"]["eluder"] in ("exact", "certified")
    assert found["provenance"]["command"].startswith("simgap complexity ")
    assert found["notes"] == []


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


def test_without_a_horizon_there_is_no_scale(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "riverswim?success=0.3,0.5")
    assert found["horizon"] is None
    for key in ("eluder", "covering", "smoothness"):
        assert found[key] is None and key not in found["certainty"]
    assert codes(found) == ["no-horizon"]
    assert found["separation"]["value"] == pytest.approx(0.4)
    assert "note: no eluder dimension" in human(capsys, "riverswim?success=0.3,0.5")


def test_a_class_that_is_not_communicating(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "absorbing_doors", "-H", "10")
    assert found["diameter"] == {"lower": "inf", "upper": "inf"}
    assert found["eluder"] is None and found["covering"] is None
    assert codes(found) == ["no-bias"]
    greatest = found["smoothness"]["metrics"][0]
    assert greatest["policy_at_most"] == 10 * 9 / 4
    assert "infinite" in human(capsys, "absorbing_doors", "-H", "10")


def test_one_model_has_nothing_to_tell_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "cycle", "-H", "5")
    assert found["separation"]["value"] == 2.0
    assert found["separation"]["pair"] is None
    assert (found["eluder"]["upper"], found["covering"]["upper"]) == (0, 1)
    assert found["smoothness"]["metrics"][0]["gap_at_most"] == 0.0
    assert "nothing to tell apart" in human(capsys, "cycle", "-H", "5")


def test_duplicates_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "bandit?means=0.3,0.3;0.3,0.3;0.5,0.2", "-H", "5")
    assert found["separation"]["value"] == 0.0
    assert found["separation"]["duplicates"] == [[0, 1]]
    assert found["separation"]["state"] is None
    assert "have equal kernels" in human(capsys, "bandit?means=0.3;0.3", "-H", "5")


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


def test_rewards_are_scaled_to_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rewards ten times as large change no count and make all slopes ten times."""
    some = riverswim(4, (0.2, 0.5, 0.6))
    kernel = np.stack([some.transitions.array(m) for m in range(3)])
    rewards = some.rewards[0]
    one = answer(
        capsys, saved(tmp_path, transitions=kernel, rewards=rewards), "-H", "30"
    )
    ten = answer(
        capsys, saved(tmp_path, transitions=kernel, rewards=10 * rewards), "-H", "30"
    )
    for key in ("lower", "upper"):
        assert one["eluder"][key] == ten["eluder"][key]
        assert one["covering"][key] == ten["covering"][key]
    first, second = (a["smoothness"]["metrics"][0] for a in (one, ten))
    assert second["policy_at_most"] == pytest.approx(10.0 * first["policy_at_most"])
    assert second["optimal"]["upper"] == pytest.approx(10.0 * first["optimal"]["upper"])


def test_models_that_differ_in_rewards_alone_are_not_smooth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = np.full((2, 2, 1, 2), 0.5)
    rewards = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])
    found = answer(
        capsys, saved(tmp_path, transitions=kernel, rewards=rewards), "-H", "5"
    )
    for each in found["smoothness"]["metrics"]:  # other values at no distance
        assert each["policy_at_most"] == each["gap_at_most"] == "inf"


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


def test_several_biases_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "two_optima", "-H", "10")
    assert codes(found) == ["many-biases"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("riverswim", "-H", "0"), "horizon -H is 0"),
        (("riverswim", "-H", "-3"), "horizon -H is -3"),
        (("riverswim", "-H", "two"), "not a number of steps"),
        (("nowhere.npz", "-H", "5"), "there is no file"),
        (("riverswim?states=0",), "states"),
    ],
)
def test_bad_input_is_two_lines(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert says in error(capsys, *arguments)


def test_help_has_an_example_that_runs(capsys: pytest.CaptureFixture[str]) -> None:
    from shlex import split

    assert main(["complexity", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    example = next(line for line in lines if "Example: simgap complexity" in line)
    assert main([*split(example.split("simgap ")[1]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["eluder"]["upper"] == 2


def test_a_class_of_one_has_no_separation_to_show(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the record delta is 2, the most there is; people are told why not."""
    alone = "riverswim?states=4&success=0.3"
    found = answer(capsys, alone)["separation"]
    assert (found["value"], found["pair"]) == (2.0, None)
    (row,) = (row for row in human(capsys, alone).splitlines() if "separation" in row)
    assert " ".join(row.split()) == "separation one model: nothing to tell apart -"
