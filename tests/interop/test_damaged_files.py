"""Files of strangers: cut, flipped, forged, too large. All are refused by name."""

from __future__ import annotations

import io
import json
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from simgap.arrays import AnyArray, digest
from simgap.errors import InvalidFile, SimgapError
from simgap.interop import load_model, save_model
from simgap.mdp import Details, IndexOrder, LatentMDP, class_from_arrays


def small_latent() -> LatentMDP:
    rng = np.random.default_rng(5)
    kernel = rng.dirichlet(np.ones(3), size=(2, 3, 2))
    details = Details(model_names=("one", "two"), notes=("made for a test",))
    return LatentMDP.uniform(
        class_from_arrays(
            kernel, rng.random((3, 2)), order=IndexOrder.STATE_ACTION, details=details
        )
    )


def saved(folder: Path, ending: str) -> Path:
    path = folder / f"model{ending}"
    save_model(small_latent(), path)
    return path


def test_every_flipped_bit_of_a_native_file_is_found(tmp_path: Path) -> None:
    path = saved(tmp_path, ".simgap")
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    for at in range(len(content)):
        broken = bytearray(content)
        broken[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(broken))
        with pytest.raises(SimgapError):
            load_model(path)


@pytest.mark.parametrize(
    "save",
    [np.savez, pytest.param(np.savez_compressed, marks=pytest.mark.slow)],
)
def test_no_flipped_bit_of_an_npz_changes_the_model(save: Any, tmp_path: Path) -> None:
    """All of them: a prior that is not found would be a uniform one."""
    path, made = tmp_path / "m.npz", io.BytesIO()
    prior, kernel = np.array([0.9, 0.1]), np.full((2, 2, 1, 2), 0.5)
    save(made, transitions=kernel, rewards=np.zeros((2, 1)), prior=prior)
    content = made.getvalue()
    path.write_bytes(content)
    wanted, refused = load_model(path).hash, 0
    for at, bit in product(range(len(content)), range(8)):
        broken = bytearray(content)
        broken[at] ^= 1 << bit
        path.write_bytes(bytes(broken))
        try:
            assert load_model(path).hash == wanted
        except SimgapError:
            refused += 1
    assert refused > 4 * len(content)


@pytest.mark.parametrize("ending", [".simgap", ".npz"])
def test_a_file_cut_short_anywhere_is_refused(ending: str, tmp_path: Path) -> None:
    path = saved(tmp_path, ending)
    content = path.read_bytes()
    for length in np.linspace(0, len(content) - 1, 80).astype(int):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidFile):
            load_model(path)


@pytest.mark.parametrize("ending", [".simgap", ".npz", ".npy"])
def test_garbage_is_refused(ending: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    np.save(tmp_path / "noise.rewards.npy", np.zeros((2, 2)))
    path = tmp_path / f"noise{ending}"
    for size in (0, 1, 7, 8, 9, 100, 5000):
        path.write_bytes(rng.bytes(size))
        with pytest.raises(InvalidFile):
            load_model(path)


def npy_header(shape: tuple[int, ...], descr: str = "<f8") -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": descr, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


def refused_cheaply(
    path: Path, match: str = "promises", max_bytes: int | None = None
) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(InvalidFile, match=match):
            load_model(path, max_bytes=max_bytes)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 32 * 2**20


def test_a_header_that_asks_for_terabytes_is_refused_before_allocation(
    tmp_path: Path,
) -> None:
    header = npy_header((10**6, 10**6))  # 7.3 TiB
    np.save(tmp_path / "huge.rewards.npy", np.zeros((2, 2)))
    (tmp_path / "huge.npy").write_bytes(header + bytes(64))
    refused_cheaply(tmp_path / "huge.npy")
    with zipfile.ZipFile(tmp_path / "huge.npz", "w") as archive:
        archive.writestr("transitions.npy", header + bytes(64))
    refused_cheaply(tmp_path / "huge.npz")


def test_a_bomb_is_refused_before_allocation(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, rewards=np.zeros(2**23))  # 64 MiB
    assert path.stat().st_size < 2**17
    refused_cheaply(path, "unpacks to 64.0 MiB", max_bytes=2**26)


def test_a_small_file_may_not_announce_a_large_class(tmp_path: Path) -> None:
    path = tmp_path / "announced.npz"
    np.savez(
        path,
        edges=np.zeros((4, 4), int),
        probabilities=np.ones(4),
        shape=[10**6, 10**6, 10],
        rewards=np.zeros((1, 1)),
    )
    refused_cheaply(path, "only 4 edges")


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    marker = tmp_path / "was-run"

    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (os.mkdir, (str(marker),))

    objects = np.array([Hostile()], dtype=object)
    np.savez(tmp_path / "a.npz", transitions=objects, rewards=np.zeros((2, 2)))
    np.save(tmp_path / "b.npy", objects)
    np.save(tmp_path / "b.rewards.npy", np.zeros((2, 2)))
    for name in ("a.npz", "b.npy"):
        with pytest.raises(InvalidFile, match="never loaded"):
            load_model(tmp_path / name)
    assert not marker.exists()


def forge(
    path: Path, change: Callable[[dict[str, AnyArray], dict[str, object]], None]
) -> None:
    """Write a native file with matching digests whose content is wrong."""
    from safetensors import safe_open

    good = path.with_name("good.simgap")
    save_model(small_latent(), good)
    with safe_open(good, framework="numpy") as opened:
        arrays = {key: opened.get_tensor(key).copy() for key in opened.keys()}  # noqa: SIM118
        description = json.loads(opened.metadata()["simgap"])["description"]
    change(arrays, description)
    sums = {key: digest(each) for key, each in arrays.items()}
    parts = [json.dumps(each, separators=(",", ":")) for each in (description, sums)]
    seal = digest(parts[0].encode(), parts[1].encode())
    text = f'{{"description":{parts[0]},"sha256":{parts[1]},"seal":"{seal}"}}'
    save_file(arrays, path, metadata={"simgap": text})


def _set(key: str, at: int, value: float) -> Callable[..., None]:
    def change(arrays: dict[str, AnyArray], description: dict[str, object]) -> None:
        arrays[key].reshape(-1)[at] = value

    return change


def _replace(key: str, array: AnyArray) -> Callable[..., None]:
    def change(arrays: dict[str, AnyArray], description: dict[str, object]) -> None:
        arrays[key] = array

    return change


def _describe(key: str, value: object) -> Callable[..., None]:
    def change(arrays: dict[str, AnyArray], description: dict[str, object]) -> None:
        description[key] = value

    return change


def _drop(key: str) -> Callable[..., None]:
    def change(arrays: dict[str, AnyArray], description: dict[str, object]) -> None:
        del arrays[key]

    return change


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (_set("indices", 0, 10**6), "1000000"),
        (_set("indices", 0, -1), "-1"),
        (_set("indices", 1, 0), "lists state"),
        (_set("indptr", 0, 5), "indptr"),
        (_set("indptr", 1, 10**12), "successor"),
        (_set("indptr", -1, 10**12), "indptr"),
        (_set("probabilities", 0, np.nan), "NaN"),
        (_set("probabilities", 0, 2.0), "sums to"),
        (_set("rewards", 0, np.inf), "inf"),
        (_set("prior", 0, -1.0), "prior"),
        (_set("start", 0, 99), "start state 99"),
        (_replace("start", np.array([[0.5, 0.5, 0.5]])), "sums to"),
        (_replace("indptr", np.zeros((2, 2), np.int64)), "type and axes"),
        (_replace("indices", np.zeros(36, np.int64)), "type and axes"),
        (_replace("prior", np.array([0.5, 0.5], np.float32)), "type and axes"),
        (_replace("extra", np.zeros(1)), "unknown array 'extra'"),
        (_replace("parameters", np.zeros((2, 3))), "parameters"),
        (_drop("rewards"), "no array 'rewards'"),
        (_describe("schema", 2), "schema 2"),
        (_describe("schema", "one"), "schema one"),
        (_describe("states", 10**15), "indptr"),
        (_describe("states", -3), "indptr"),
        (_describe("states", "three"), "not understood"),
        (_describe("model_names", ["one"]), "model names"),
        (_describe("model_names", ["same", "same"]), "same name"),
        (_describe("model_names", ["other", "names"]), "its header says"),
        (_describe("hash", "0" * 64), "its header says 000000000000"),
        (_describe("reward_factor", 2.0), "its header says"),
    ],
)
def test_a_forged_native_file_is_refused(
    change: Callable[..., None], match: str, tmp_path: Path
) -> None:
    """The digests match, so only the checks of the content stand in the way."""
    path = tmp_path / "forged.simgap"
    forge(path, change)
    with pytest.raises(InvalidFile, match=match):
        load_model(path)
