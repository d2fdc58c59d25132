"""Thousands of mutated files: each is refused by name or is a sound model."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from simgap.errors import InvalidFile, SimgapError
from simgap.interop import load_model, save_model
from tests.interop.test_round_trip import random_latent

Random = np.random.Generator


def mutated(content: bytes, rng: Random) -> bytes:
    """Return content with one to four bytes changed, dropped or added, often early."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        reach = min(len(changed), 200) if rng.random() < 0.6 else len(changed)
        at = int(rng.integers(max(reach, 1)))
        kind = int(rng.integers(3))
        if kind == 0:
            changed[at : at + 1] = rng.bytes(1)
        elif kind == 1:
            del changed[at : at + int(rng.integers(1, 9))]
        else:
            changed[at:at] = rng.bytes(int(rng.integers(1, 9)))
    return bytes(changed)


def with_mutated_member(content: bytes, rng: Random) -> bytes:
    """Return an archive whose checksums are right and one of whose arrays is not."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        names = old.namelist()
        victim = names[int(rng.integers(len(names)))]
        for name in names:
            data = old.read(name)
            new.writestr(name, mutated(data, rng) if name == victim else data)
    return made.getvalue()


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_refused_or_sound(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    native, archive = tmp_path / "m.simgap", tmp_path / "m.npz"
    save_model(random_latent(seed, start="laws"), native)
    save_model(random_latent(seed, start="laws"), archive)
    kernel = io.BytesIO()
    np.save(kernel, np.full((4, 2, 4), 0.25))
    np.save(tmp_path / "m.rewards.npy", np.zeros((4, 2)))
    sound = {native: native.read_bytes(), archive: archive.read_bytes()}
    refused = 0
    for _ in range(150):
        made = {
            native: mutated(sound[native], rng),
            archive: with_mutated_member(sound[archive], rng),
            tmp_path / "m.npy": mutated(kernel.getvalue(), rng),
        }
        for path, content in made.items():
            path.write_bytes(content)
            try:
                load_model(path)
            except SimgapError:
                refused += 1
    assert refused > 300


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,",  # an open bracket
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (True,)}",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': 3}",
        b"{'descr': '<f8', 'fortran_order': 0, 'shape': ()}",
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': ()}",
        b"{'descr': '<c16', 'fortran_order': False, 'shape': ()}",
        b"{'descr': '<M8[s]', 'fortran_order': False, 'shape': ()}",
        b"{'descr': '<q77', 'fortran_order': False, 'shape': ()}",
        b"{'descr': '<f8', 'shape': ()}",
        b"__import__('os').getcwd()",
        b"(" * 5000,
        b"1" * 9000,
        b"",
    ],
)
def test_a_wrong_header_is_refused(header: bytes, tmp_path: Path) -> None:
    np.save(tmp_path / "m.rewards.npy", np.zeros((4, 2)))
    prefix = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
    (tmp_path / "m.npy").write_bytes(prefix + header + bytes(16))
    with pytest.raises(InvalidFile):
        load_model(tmp_path / "m.npy")


def test_an_archive_that_overstates_its_size_is_refused(tmp_path: Path) -> None:
    """The directory of a zip may lie about what is packed."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (2**28,)}
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("rewards.npy", header.getvalue())
    content = bytearray(made.getvalue())
    at = content.rindex(b"PK\x01\x02")
    size = len(header.getvalue()) + 2**31
    content[at + 20 : at + 28] = size.to_bytes(4, "little") * 2
    path = tmp_path / "m.npz"
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidFile):
        load_model(path)
