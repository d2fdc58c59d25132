"""The JSON of every verb, as docs/json.md promises it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.cli.app.main import main

SIMGAP = [sys.executable, "-m", "simgap.cli.app.main"]

TRAINED = {  # what outsiders read of a training, and of a transfer of a run
    "train": {"steps", "steps_per_second", "final_return", "converged", "policies"},
    "transfer": {"policies", "parameters", "references", "value_of_memory"},
}


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Three RiverSwims with four states."""
    kernel, rewards = np.zeros((3, 4, 2, 4)), np.zeros((4, 2))
    for m, up in enumerate((0.3, 0.5, 0.7)):
        for s in range(4):
            kernel[m, s, 0, max(s - 1, 0)] = 1
            kernel[m, s, 1, min(s + 1, 3)] += up
            kernel[m, s, 1, max(s - 1, 0)] += 1 - up
    rewards[0, 0], rewards[3, 1] = 0.2, 1
    path = tmp_path_factory.mktemp("river") / "river.npz"
    np.savez(path, transitions=kernel, rewards=rewards, start=0)
    return str(path)


def answer(
    capsys: pytest.CaptureFixture[str], *arguments: str, status: int = 0
) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--json"]) == status
    out, err = capsys.readouterr()
    assert all(line.endswith(" ...") for line in err.splitlines())  # only progress
    assert out.count("\n") == 1

    def refuse(text: str) -> float:
        raise AssertionError(f"{text} is not JSON")

    found = json.loads(out, parse_constant=refuse)
    assert isinstance(found, dict)
    assert found["schema"] == 1
    return found


def human(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == 0
    out, err = capsys.readouterr()
    assert all(line.endswith(" ...") for line in err.splitlines())
    assert "\x1b" not in out  # no colour where nobody watches
    return out


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "list")
    names = [each["name"] for each in found["instances"]]
    assert "riverswim" in names
    assert "gym:FrozenLake-v1" in names
    assert all(
        {"name", "description", "parameters"} <= set(e) for e in found["instances"]
    )
    assert "riverswim" in human(capsys, "list")


def test_info(river: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "info", river)
    assert (found["models"], found["states"], found["actions"]) == (3, 4, 2)
    assert found["nonzeros"] == 12  # left: 4; right: 2 from each state
    assert found["names"] == ["model 0", "model 1", "model 2"]
    assert len(found["hash"]) == 64
    assert found["provenance"]["model_hash"] == found["hash"]
    assert found["provenance"]["command"].startswith("simgap info ")
    assert "counts are exact" in human(capsys, "info", river)


def test_diameter(river: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "diameter", river)
    for each in found["models"]:
        assert {"name", "lower", "upper", "source", "target"} <= set(each)
        assert 3.0 <= each["lower"] <= each["upper"] <= each["lower"] * (1 + 1e-6)
    assert found["diameter"]["upper"] == max(e["upper"] for e in found["models"])
    assert found["certainty"]["diameter"] == "certified"
    text = human(capsys, "diameter", river)
    assert "certified" in text


def test_an_infinite_diameter_is_the_string_inf(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = answer(capsys, "diameter", "absorbing_doors")
    assert found["diameter"] == {"lower": "inf", "upper": "inf"}
    assert "infinite" in human(capsys, "diameter", "absorbing_doors")


def test_solve(river: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "solve", river, "-H", "20")
    assert found["horizon"] == 20
    for each in found["models"]:
        assert each["gain"]["lower"] <= each["gain"]["upper"]
        assert 0.2 - 1e-9 <= each["gain"]["upper"] <= 1.0
        assert each["bias_span"] >= 0.0
        assert 0.0 <= each["residual"] < 1e-6
        low, high = each["value_bounds"]["lower"], each["value_bounds"]["upper"]
        assert low <= each["value"] <= high <= 20.0
    without = answer(capsys, "solve", river)
    assert [each["value"] for each in without["models"]] == [None] * 3
    assert "certified" in human(capsys, "solve", river, "-H", "1e2")


def test_the_gain_of_the_textbook_riverswim(capsys: pytest.CaptureFixture[str]) -> None:
    """7203/16805, theory row 10; V*_10 = 176191989/500000000."""
    found = answer(capsys, "solve", "riverswim", "-H", "10")["models"][0]
    assert found["gain"]["lower"] <= 7203 / 16805 <= found["gain"]["upper"]
    low, high = found["value_bounds"]["lower"], found["value_bounds"]["upper"]
    assert low <= 176191989 / 500000000 <= high


def test_a_model_without_one_gain_still_has_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Proposition 1: the right door pays on every step but the first two."""
    found = answer(capsys, "solve", "absorbing_doors?members=3", "-H", "12")
    for each in found["models"]:
        assert each["gain"] == {"lower": None, "upper": None}
        assert each["bias_span"] is None
        assert "not communicating" in each["note"]
        assert each["value"] == pytest.approx(10.0)
    text = human(capsys, "solve", "absorbing_doors?members=3", "-H", "12")
    assert "note: " in text


@pytest.mark.parametrize("ending", [".simgap", ".npz"])
def test_export(
    river: str, ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / f"out{ending}")
    found = answer(capsys, "export", river, path)
    assert found["path"] == path
    assert found["hash"] == answer(capsys, "info", river)["hash"]
    assert answer(capsys, "info", path)["hash"] == found["hash"]
    assert found["hash"] in human(capsys, "export", river, path)


WITHOUT_TIMES = ("audit", "gap", "blame", "width-success_rate", "identify")


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The story of four lakes in true numbers, the files, and the same bytes again."""
    folder = tmp_path / "deep" / "demo"
    found = answer(capsys, "demo", "--out", str(folder))
    assert found["report"] == str(folder / "report.html")
    assert sorted(each.name for each in folder.iterdir()) == [
        "audit.json",
        "blame.json",
        "driver.lock",
        "gap.json",
        "identify.json",
        "ledger.sqlite",
        "model.simgap",
        "oracle.json",
        "policy.belief.simgap",
        "policy.simgap",
        "report.html",
        "width-success_rate.json",
    ]
    for each, value in zip(found["models"], (3.36, 6.19, 15.00, 24.17), strict=True):
        assert each["optimal"] == pytest.approx(value, abs=0.005)
    gap = found["average_gap"]
    assert 0.0 < gap["upper"] <= 1.12 * gap["lower"]
    alone, plain, memory = found["story"]
    assert alone["worst_model"] == "success_rate=0.9"
    assert alone["worst_gap"] > 20.0  # of 24.17: trained on the slippery lake only
    assert plain["worst_gap"] > 1.9  # of 3.36: without memory, on the slippery lake
    assert memory["worst_gap"] < 0.5
    assert memory["average_gap"] == gap
    assert found["verdict"] == "with memory"
    info = answer(capsys, "info", found["model_file"])
    assert info["hash"] == found["provenance"]["model_hash"]
    assert (folder / "report.html").stat().st_size < 2 * 2**20
    before = {name: (folder / f"{name}.json").read_bytes() for name in WITHOUT_TIMES}
    for name in ("blame", "identify", "width-success_rate"):
        (folder / f"{name}.json").unlink()  # else they are kept
    text = human(capsys, "demo", "--out", str(folder))
    assert "certified" in text
    for name, content in before.items():
        assert (folder / f"{name}.json").read_bytes() == content, name


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("simgap 0.")


@pytest.mark.parametrize(
    ("lines", "imported"),
    [
        ("import simgap", False),
        ("import simgap; simgap.train; simgap.study; simgap.transfer", False),
        ("import simgap, jax", True),  # it would be noticed
    ],
)
def test_what_trains_is_imported_when_something_is_trained(
    lines: str, imported: bool
) -> None:
    names = "('jax', 'optax', 'mujoco', 'gymnasium', 'onnxruntime')"
    script = f"{lines}; import sys; sys.exit(any(n in sys.modules for n in {names}))"
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=False).returncode == imported


def test_keys_of_trainings_that_outsiders_read() -> None:
    from simgap.cli.verbs.schema import schema_of

    for verb, keys in TRAINED.items():
        assert keys <= set(schema_of(verb)["required"]), verb
    parts = schema_of("train")["$defs"]
    assert {"name", "file"} <= set(parts["TrainedPolicy"]["required"])


def test_every_public_name_resolves() -> None:
    import simgap

    for name in simgap.__all__:
        assert getattr(simgap, name) is not None
    assert set(dir(simgap)) == set(simgap.__all__)
    with pytest.raises(AttributeError):
        simgap.nothing  # type: ignore[attr-defined]  # noqa: B018
