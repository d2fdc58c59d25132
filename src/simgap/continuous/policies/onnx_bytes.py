"""ONNX files byte by byte: the few messages of protobuf that a small network needs.

A message is a row of fields. A field is its number and either a whole number or some
bytes with their count: a text, an array, or another message.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from simgap.about import __version__
from simgap.arrays import AnyArray

OPSET, IR = 17, 8
FLOAT, INT64, DOUBLE = 1, 7, 11  # of TensorProto.DataType
KINDS = {"float32": FLOAT, "int64": INT64, "float64": DOUBLE}

Axes = Sequence[int | str]
Port = tuple[str, Axes] | tuple[str, Axes, int]  # name, axes, type unless FLOAT


@final
class Graph:
    """Nodes and arrays of a network that are written so far."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.arrays: dict[str, AnyArray] = {}
        self._count = 0

    def constant(self, values: Any, kind: Any = np.float32) -> str:
        name = f"constant_{len(self.arrays)}"
        self.arrays[name] = np.asarray(values, kind)
        return name

    def add(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        **attributes: int,
    ) -> str:
        """Add a node, and return what it gives (the last name, if there are more)."""
        self._count += 1
        names = list(outputs) or [f"{kind.lower()}_{self._count}"]
        told = b"".join(
            _part(5, _text(1, key) + _whole(3, value) + _whole(20, 2))
            for key, value in attributes.items()
        )
        self.nodes.append(
            b"".join(_text(1, each) for each in inputs)
            + b"".join(_text(2, each) for each in names)
            + _text(3, f"{kind}_{self._count}")
            + _text(4, kind)
            + told
        )
        return names[-1]


def model_bytes(
    graph: Graph,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    metadata: Mapping[str, str],
) -> bytes:
    """Return a whole ONNX file: names with their axes go in and out."""
    body = b"".join(_part(1, each) for each in graph.nodes) + _text(2, "policy")
    body += b"".join(_part(5, _array(n, a)) for n, a in graph.arrays.items())
    body += b"".join(_part(11, _typed(*each)) for each in inputs)
    body += b"".join(_part(12, _typed(*each)) for each in outputs)
    said = b"".join(
        _part(14, _text(1, key) + _text(2, value)) for key, value in metadata.items()
    )
    head = _whole(1, IR) + _text(2, "simgap") + _text(3, __version__)
    return head + _part(7, body) + _part(8, _text(1, "") + _whole(2, OPSET)) + said


def _array(name: str, values: AnyArray) -> bytes:
    kind = KINDS[values.dtype.name]
    axes = b"".join(_whole(1, each) for each in values.shape)
    little = values.astype(values.dtype.newbyteorder("<"))
    return axes + _whole(2, kind) + _text(8, name) + _part(9, little.tobytes())


def _typed(name: str, shape: Axes, kind: int = FLOAT) -> bytes:
    axes = b"".join(
        _part(1, _text(2, each) if isinstance(each, str) else _whole(1, each))
        for each in shape
    )
    return _text(1, name) + _part(2, _part(1, _whole(1, kind) + _part(2, axes)))


def _text(field: int, value: str) -> bytes:
    return _part(field, value.encode())


def _part(field: int, content: bytes) -> bytes:
    """Return a field of bytes: its number, how many, and they."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _whole(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    """Return a whole number in groups of seven bits, the lowest first."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
