"""Policies in ONNX files, of whatever framework.

A file is read whole, with `NAME.onnx.data` beside it if there is one, and with nothing
else: it is opened in an empty folder of its own. It is tried in a limited process
before it is used here (`onnx_probe`).
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Batch, Simulator, Space
from simgap.continuous.policies.onnx_network import Carried, Network, open_session
from simgap.continuous.policies.onnx_probe import ProbeLimits, probed
from simgap.continuous.policies.onnx_sidecar import read_sidecar
from simgap.continuous.policies.onnx_signature import Handling, Signature
from simgap.errors import InvalidArgument, InvalidFile
from simgap.text import listed, shown
from simgap.user_files import opened, size_of

LARGEST = 512 * 2**20  # bytes of a file and what is beside it
BESIDE = ".data"
SIDECAR = ".toml"
RECURRENT = (b'"\x04LSTM', b'"\x03GRU', b'"\x03RNN')  # types of nodes, as stored


@final
@dataclass(frozen=True, slots=True)
class OnnxFile:
    """The bytes of a network; two with the same digest are the same."""

    name: str  # of the file, without its folder
    digest: str  # sha256 of both parts
    model: bytes = field(compare=False, repr=False)
    data: bytes | None = field(compare=False, repr=False)  # weights beside the model


@final
@dataclass(frozen=True, slots=True, eq=False)
class OnnxPolicy:
    """A network as a policy; its memory is what the file gives back to itself."""

    name: str
    file: OnnxFile
    signature: Signature
    observation: Space
    action: Space

    @property
    def clips(self) -> bool:
        """Whether actions beyond their ends are moved there."""
        return self.signature.roles.handling is not Handling.AS_IS

    @property
    def forgets(self) -> bool:
        """Whether the file has a recurrent layer whose state is not given back."""
        layers = any(each in self.file.model for each in RECURRENT)
        return layers and not self.signature.roles.memory

    @property
    def informed(self) -> bool:
        """Whether it is told the parameters of its worlds."""
        return bool(self.told)

    @property
    def told(self) -> tuple[str, ...]:
        """The parameters that it is told."""
        return self.signature.roles.told

    def reset(self, batch: Batch) -> Carried:
        """Return zeros for whatever is remembered, and what it is told."""
        theta: FloatArray = np.empty((batch.size, len(self.told)))
        for at, name in enumerate(self.told):
            if name not in batch.theta:
                raise InvalidArgument(
                    f"the policy {shown(self.name)} is told {shown(name)}, which is "
                    "not randomized here",
                    hint=f"told are {listed(list(batch.theta)) or 'no parameters'}; "
                    f"randomize it as well, one value will do: {shown(name)}=1",
                    code="parameter-not-told",
                )
            theta[:, at] = batch.theta[name]
        if np.isnan(theta).any() and not self.signature.roles.masked:
            hidden = self.told[int(np.isnan(theta).any(axis=0).argmax())]
            raise InvalidArgument(
                f"the policy {shown(self.name)} was trained to be told "
                f"{shown(hidden)}, which is hidden",
                hint="only a policy that was trained with hidden parameters knows what "
                "to do without one",
                code="parameter-hidden",
            )
        return _network(self).start(theta)

    def remembered(self, memory: Carried) -> FloatArray:
        """Return what recurrent layers or a window hold of each world, (B, numbers)."""
        return _network(self).remembered(memory)

    def act(
        self, observations: FloatArray, memory: Carried
    ) -> tuple[FloatArray, Carried]:
        """Return the actions of the network."""
        network = _network(self)
        said, memory = network.step(observations, memory)
        return network.handled(said), memory


def onnx_policy(
    path: Path, name: str, simulator: Simulator, limits: ProbeLimits | None = None
) -> OnnxPolicy:
    """Return the policy of an ONNX file, tried and fitting the simulator."""
    file = read_onnx(path)
    sidecar = path.with_name(path.name + SIDECAR)
    roles = read_sidecar(sidecar) if sidecar.exists() else None
    seen, acts = simulator.observation, simulator.action
    with _alone(file) as copy:
        signature = probed(copy, seen, acts, roles, limits or ProbeLimits())
    return OnnxPolicy(name, file, signature, seen, acts)


def read_onnx(path: Path) -> OnnxFile:
    """Return the bytes of a file and of what may lie beside it."""
    beside = path.with_name(path.name + BESIDE)
    model = _read(path, LARGEST)
    some = beside.exists() and beside.stat().st_size > 0  # PyTorch may leave it empty
    data = _read(beside, LARGEST - len(model)) if some else None
    digest = hashlib.sha256(model)
    digest.update(b"" if data is None else hashlib.sha256(data).digest())
    return OnnxFile(path.name, digest.hexdigest(), model, data)


def _read(path: Path, most: int) -> bytes:
    with opened(path, "policy in ONNX", endings=(".onnx",)) as stream:
        size = size_of(stream)
        content = stream.read(most + 1) if size <= most else b""
    if max(size, len(content)) > most:
        raise InvalidFile(
            f"{path} has {max(size, len(content))} bytes, {most} are allowed",
            hint="is it a policy, or a large model of another kind?",
            code="onnx-too-large",
        )
    if not content:
        raise InvalidFile(
            f"{path} is empty", hint="export it again", code="onnx-does-not-load"
        )
    return content


@contextmanager
def _alone(file: OnnxFile) -> Iterator[Path]:
    """Yield a copy of a file in a folder where nothing else can be read."""
    with tempfile.TemporaryDirectory(prefix="simgap-onnx-") as folder:
        copy = Path(folder) / file.name
        copy.write_bytes(file.model)
        if file.data is not None:
            copy.with_name(file.name + BESIDE).write_bytes(file.data)
        yield copy


@lru_cache(maxsize=32)
def _network(policy: OnnxPolicy) -> Network:
    """Return the network of a policy, one in each process."""
    with _alone(policy.file) as copy:
        session = open_session(copy)
    return Network(session, policy.signature, policy.observation, policy.action)
