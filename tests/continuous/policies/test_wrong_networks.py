"""ONNX files that are wrong: each is refused with a code, and none does harm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous import open_policy
from simgap.continuous.policies.onnx_policy import onnx_policy
from simgap.continuous.policies.onnx_probe import ProbeLimits
from simgap.errors import SimgapError
from tests.continuous.policies.cases import choosing, linear
from tests.continuous.policies.test_wrong_policies import code_of

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

from onnx import TensorProto, helper

from tests.continuous.policies.networks import mlp, recurrent, save, tensor, told

Make = Callable[[Path], Any]
IMMEDIATELY = ProbeLimits(seconds=1)


def raw(content: bytes) -> Make:
    def make(folder: Path) -> Path:
        (folder / "p.onnx").write_bytes(content)
        return folder / "p.onnx"

    return make


def folder_of_that_name(folder: Path) -> Path:
    (folder / "p.onnx").mkdir()
    return folder / "p.onnx"


def truncated(folder: Path) -> Path:
    path, _ = mlp(folder / "p.onnx")
    path.write_bytes(path.read_bytes()[:-40])
    return path


def forty_gigabytes(folder: Path) -> Path:
    nodes = [
        helper.make_node("ConstantOfShape", ["shape"], ["large"]),
        helper.make_node("ReduceSum", ["large"], ["sum"], keepdims=0),
        helper.make_node("Add", ["obs", "sum"], ["actions"]),
    ]
    return save(
        folder / "p.onnx",
        nodes,
        [tensor("obs", ["b", 3])],
        [tensor("actions", ["b", 3])],
        {"shape": np.array([10_000_000_000])},
    )


def endless(folder: Path) -> Path:
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Add", ["x", "x"], ["y"]),
        ],
        "body",
        [tensor("i", [], 7), tensor("go", [], 9), tensor("x", ["b", 3])],
        [tensor("go_on", [], 9), tensor("y", ["b", 3])],
    )
    nodes = [helper.make_node("Loop", ["n", "on", "obs"], ["actions"], body=body)]
    return save(
        folder / "p.onnx",
        nodes,
        [tensor("obs", ["b", 3])],
        [tensor("actions", ["b", 3])],
        {"n": np.array(10**12), "on": np.array(True)},
    )


def not_a_number(folder: Path) -> Path:
    path, _ = mlp(folder / "p.onnx", scale=float("nan"))
    return path


def two_inputs(folder: Path) -> Path:
    return save(
        folder / "p.onnx",
        [helper.make_node("Add", ["obs", "time_step"], ["actions"])],
        [tensor("obs", ["b", 2]), tensor("time_step", ["b", 2])],
        [tensor("actions", ["b", 2])],
        {},
    )


def texts_in(folder: Path) -> Path:
    return save(
        folder / "p.onnx",
        [helper.make_node("Cast", ["obs"], ["actions"], to=TensorProto.FLOAT)],
        [tensor("obs", ["b", 3], TensorProto.STRING)],
        [tensor("actions", ["b", 3])],
        {},
    )


def with_sidecar(text: str) -> Make:
    def make(folder: Path) -> Path:
        path, _ = recurrent(folder / "p.onnx", "GRU")
        (folder / "p.onnx.toml").write_text(text)
        return path

    return make


def being_told(text: str, **more: Any) -> Make:
    def make(folder: Path) -> Path:
        path, _ = told(folder / "p.onnx", **more)
        if text:
            (folder / "p.onnx.toml").write_text(NAMES + text)
        return path

    return make


NAMES = 'observation = "obs"\naction = "actions"\n'
NETWORKS: dict[str, tuple[Make, str]] = {
    "empty": (raw(b""), "onnx-does-not-load"),
    "not a network": (raw(b"hello " * 100), "onnx-does-not-load"),
    "truncated": (truncated, "onnx-does-not-load"),
    "a folder": (folder_of_that_name, "InvalidFile"),
    "40 GB": (forty_gigabytes, "onnx-too-large"),
    "endless": (endless, "onnx-too-slow"),
    "wrong width": (
        lambda folder: mlp(folder / "p.onnx", width=4)[0],
        "observation-of-wrong-width",
    ),
    "wrong action": (
        lambda folder: mlp(folder / "p.onnx", size=3)[0],
        "action-of-wrong-width",
    ),
    "images": (
        lambda folder: save(
            folder / "p.onnx",
            [helper.make_node("Identity", ["obs"], ["actions"])],
            [tensor("obs", ["b", 4, 4, 3])],
            [tensor("actions", ["b", 4, 4, 3])],
            {},
        ),
        "observation-of-wrong-width",
    ),
    "texts": (texts_in, "onnx-of-wrong-type"),
    "not a number": (not_a_number, "action-not-finite"),
    "two inputs": (two_inputs, "onnx-names-unknown"),
    "sidecar of another kind": (with_sidecar("hello"), "sidecar-not-understood"),
    "sidecar, unknown key": (with_sidecar(NAMES + "x = 1"), "sidecar-not-understood"),
    "sidecar, no action": (
        with_sidecar('observation = "obs"'),
        "sidecar-not-understood",
    ),
    "sidecar, odd memory": (
        with_sidecar(NAMES + 'memory = ["h_in"]'),
        "sidecar-not-understood",
    ),
    "sidecar, odd handling": (
        with_sidecar(NAMES + 'handling = "squash"'),
        "sidecar-not-understood",
    ),
    "sidecar, odd normaliser": (
        with_sidecar(NAMES + 'normaliser = "yes"'),
        "sidecar-not-understood",
    ),
    "sidecar, other names": (
        with_sidecar(NAMES + 'memory = [["h_in", "h"]]'),
        "onnx-name-missing",
    ),
    "sidecar without memory": (with_sidecar(NAMES), "onnx-names-unknown"),
    "sidecar, wrong pair": (
        with_sidecar(
            NAMES.replace('"actions"', '"h_out"') + 'memory = [["h_in","actions"]]'
        ),
        "onnx-memory-of-wrong-shape",
    ),
    "sidecar, argmax": (
        with_sidecar(NAMES + 'memory = [["h_in", "h_out"]]\nhandling = "argmax"'),
        "sidecar-does-not-fit",
    ),
    "told nobody knows what": (being_told(""), "onnx-names-unknown"),
    "told, odd names": (being_told("", theta='["mass", 3]'), "onnx-names-unknown"),
    "told, one name too many": (
        being_told("", theta='["mass", "gain", "turn"]'),
        "theta-of-wrong-width",
    ),
    "sidecar, one name missing": (
        being_told('theta = ["mass"]'),
        "theta-of-wrong-width",
    ),
    "sidecar, one name twice": (
        being_told('theta = ["mass", "mass"]'),
        "sidecar-not-understood",
    ),
    "sidecar, theta is a name": (
        being_told('theta = "mass"'),
        "sidecar-not-understood",
    ),
    "sidecar, nothing is told": (
        with_sidecar(NAMES + 'memory = [["h_in", "h_out"]]\ntheta = ["mass"]'),
        "onnx-name-missing",
    ),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_wrong_networks_are_refused(
    tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, code = NETWORKS[case]
    path = make(tmp_path)
    if case == "endless":
        with pytest.raises(SimgapError) as caught:
            onnx_policy(path, "p", linear(), IMMEDIATELY)
        assert caught.value.code == code
    else:
        assert code_of(path) == code


def test_one_number_for_several_choices_is_refused(tmp_path: Path) -> None:
    path, _ = mlp(tmp_path / "p.onnx", size=1)
    assert code_of(path, choosing()) == "action-of-wrong-width"


def test_a_large_file_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = mlp(tmp_path / "p.onnx")
    monkeypatch.setattr("simgap.continuous.policies.onnx_policy.LARGEST", 100)
    assert code_of(path) == "onnx-too-large"


def test_a_recurrent_file_without_its_state_is_known_to_forget(tmp_path: Path) -> None:
    path, _ = recurrent(tmp_path / "p.onnx", "LSTM", without_state=True)
    policy: Any = open_policy(path, linear())
    assert policy.forgets
    path, _ = recurrent(tmp_path / "q.onnx", "LSTM")
    policy = open_policy(path, linear())
    assert not policy.forgets
