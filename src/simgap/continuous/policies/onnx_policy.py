"""Policies in ONNX files, of whatever framework.

A file is read whole, with its weights in `NAME.onnx.data` beside it if there are any,
and asked for a few actions. It runs as a policy in Python does: in this process, with
everything that may do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Batch, Choices, Simulator, Space
from simgap.continuous.policies.onnx_network import (
    Carried,
    Network,
    open_session,
    tensors_of,
)
from simgap.continuous.policies.onnx_signature import Signature, find_roles
from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.text import listed, shown
from simgap.user_files import opened, size_of

LARGEST = 512 * 2**20  # bytes of a file and what is beside it
BESIDE = ".data"
RECURRENT = ("LSTM", "GRU", "RNN")  # types of nodes
ROWS = 3  # worlds that are asked together, to see whether they may be


@final
@dataclass(frozen=True, slots=True, eq=False)
class OnnxPolicy:
    """A network as a policy; its memory is what the file gives back to itself."""

    name: str
    signature: Signature
    observation: Space
    action: Space
    recurrent: bool  # the network has such a layer
    model: bytes = field(repr=False)  # the file, with its weights

    @property
    def forgets(self) -> bool:
        """Whether the file has a recurrent layer whose state is not given back."""
        return self.recurrent and not self.signature.roles.memory

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
    path: Path, name: str, simulator: Simulator, fed_back: Mapping[str, str] = {}
) -> OnnxPolicy:
    """Return the policy of an ONNX file, tried and fitting the simulator.

    `fed_back` names inputs of memory and the outputs that are given back to them, where
    nobody knows the names of the file.
    """
    model = _read(path)
    content = model.SerializeToString(deterministic=True)
    recurrent = any(node.op_type in RECURRENT for node in model.graph.node)
    spaces = (simulator.observation, simulator.action)
    try:
        signature = _signature(content, *spaces, fed_back)
        return OnnxPolicy(name, signature, *spaces, recurrent, content)
    except InvalidFile as error:
        problem = f"{path.name}: {error.problem}"
        raise InvalidFile(problem, hint=error.hint, code=error.code) from error
    except SimgapError:
        raise
    except Exception as error:  # onnxruntime has many
        raise _refused(path, error) from error


def _read(path: Path) -> Any:
    """Return the network of a file, with the weights that lie beside it."""
    onnx = needed("onnx", what="a policy in ONNX")
    beside = path.with_name(path.name + BESIDE)
    with opened(path, "policy in ONNX", endings=(".onnx",)) as stream:
        size = size_of(stream) + (beside.stat().st_size if beside.is_file() else 0)
        content = stream.read(LARGEST + 1) if size <= LARGEST else b""
    if max(size, len(content)) > LARGEST:
        raise InvalidFile(
            f"{path} has {max(size, len(content))} bytes, {LARGEST} are allowed",
            hint="is it a policy, or a large model of another kind?",
            code="onnx-too-large",
        )
    try:
        model = onnx.load_model_from_string(content)
        if not model.graph.node:
            raise ValueError("it has no nodes")
        _take_in(model, beside)
    except Exception as error:  # protobuf has its own
        raise _refused(path, error) from error
    return model


def _take_in(model: Any, beside: Path) -> None:
    """Put weights that lie beside a model into it; they come from one file only."""
    import onnx.external_data_helper as external

    for tensor in model.graph.initializer:
        if external.uses_external_data(tensor):
            where = external.ExternalDataInfo(tensor).location
            if where != beside.name:
                raise ValueError(f"its weights are in {shown(where)}")
            external.load_external_data_for_tensor(tensor, str(beside.parent))
            tensor.ClearField("data_location")
            tensor.ClearField("external_data")


def _signature(
    model: bytes, observation: Space, action: Space, fed_back: Mapping[str, str]
) -> Signature:
    """Return what a file takes and gives, after it was asked for a few actions."""
    session = open_session(model)
    inputs = tensors_of(session.get_inputs())
    outputs = tensors_of(session.get_outputs())
    metadata = session.get_modelmeta().custom_metadata_map
    roles = find_roles(inputs, outputs, metadata, fed_back)
    signature = Signature(inputs, outputs, roles, batched=False)
    alone = Network(session, signature, observation, action)
    together = replace(alone, signature=replace(signature, batched=True))
    seen = _some(observation)
    expected = _asked(alone, seen)
    try:
        fits = together.batch_axes_fit and np.allclose(
            _asked(together, seen), expected, rtol=1e-4, atol=1e-5, equal_nan=True
        )
    except Exception:  # an axis that is called free and is not
        fits = False
    return replace(signature, batched=fits)


def _asked(network: Network, seen: FloatArray) -> FloatArray:
    """Return the actions at two steps."""
    told = len(network.signature.roles.told)
    theta = np.linspace(0.5, 1.0, len(seen))[:, None] * np.ones(told)
    first, carried = network.step(seen, network.start(theta))
    second, _ = network.step(seen, carried)
    return np.concatenate([network.handled(first), network.handled(second)])


def _some(space: Space) -> FloatArray:
    """Return a few observations that differ."""
    if isinstance(space, Choices):
        return (np.arange(ROWS) % space.n)[:, None].astype(np.float64)
    low, high = np.maximum(space.low, -1.0), np.minimum(space.high, 1.0)
    low, high = np.minimum(low, space.high), np.maximum(high, space.low)
    parts = np.linspace(0.0, 1.0, ROWS * space.size).reshape(ROWS, space.size)
    return np.asarray(low + parts * (high - low))


def _refused(path: Path, error: Exception) -> InvalidFile:
    told = " ".join(str(error).split())[:300]
    return InvalidFile(
        f"{path.name} is refused: {type(error).__name__}: {told}",
        hint="is it a whole ONNX file? weights may lie in NAME.onnx.data beside it",
        code="onnx-does-not-load",
    )


@lru_cache(maxsize=32)
def _network(policy: OnnxPolicy) -> Network:
    """Return the network of a policy, one in each process."""
    session = open_session(policy.model)
    return Network(session, policy.signature, policy.observation, policy.action)
