"""ONNX files that are wrong: each is refused with a code, and none does harm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.continuous.policies.test_wrong_policies import code_of

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from tests.continuous.policies.networks import (  # noqa: E402
    mlp,
    recurrent,
    save,
    tensor,
    told,
)

Make = Callable[[Path], Any]


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


def weights_elsewhere(folder: Path) -> Path:
    path, _ = mlp(folder / "p.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True,
              location="other.bin", size_threshold=0)  # fmt: skip
    return path


def without_weights(folder: Path) -> Path:
    path, _ = mlp(folder / "p.onnx")
    onnx.save(onnx.load(path), path, save_as_external_data=True,
              location="p.onnx.data", size_threshold=0)  # fmt: skip
    (folder / "p.onnx.data").write_bytes(b"short")
    return path


def named(memory: str, **names: str) -> Make:
    def make(folder: Path) -> str:
        path, _ = recurrent(folder / "p.onnx", "GRU", names=names)
        return f"{path}?{memory}"

    return make


def being_told(**more: Any) -> Make:
    return lambda folder: told(folder / "p.onnx", **more)[0]


NETWORKS: dict[str, tuple[Make, str]] = {
    "empty": (raw(b""), "onnx-does-not-load"),
    "not a network": (raw(b"hello " * 100), "onnx-does-not-load"),
    "truncated": (truncated, "onnx-does-not-load"),
    "a folder": (folder_of_that_name, "InvalidFile"),
    "weights elsewhere": (weights_elsewhere, "onnx-does-not-load"),
    "weights cut": (without_weights, "onnx-does-not-load"),
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
    "memory of unknown names": (named("", h_out="21"), "onnx-names-unknown"),
    "memory, no such input": (named("h=h_out"), "onnx-name-missing"),
    "memory, no such output": (named("h_in=h"), "onnx-name-missing"),
    "memory, another shape": (named("h_in=actions"), "onnx-memory-of-wrong-shape"),
    "memory without output": (named("h_in"), "memory-not-understood"),
    "told nobody knows what": (being_told(), "onnx-names-unknown"),
    "told, odd names": (being_told(theta='["mass", 3]'), "onnx-names-unknown"),
    "told, one name twice": (
        being_told(theta='["gain", "gain"]'),
        "onnx-names-unknown",
    ),
    "told, a name": (being_told(theta='"mass"'), "onnx-names-unknown"),
    "told, one name too many": (
        being_told(theta='["mass", "gain", "turn"]'),
        "theta-of-wrong-width",
    ),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_wrong_networks_are_refused(tmp_path: Path, case: str) -> None:
    make, code = NETWORKS[case]
    assert code_of(make(tmp_path)) == code
