"""Networks as other frameworks write them, made with the `onnx` package.

It judges our own reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from simgap.arrays import AnyArray

FLOAT = TensorProto.FLOAT


def weights(seed: int, *shapes: tuple[int, ...]) -> list[AnyArray]:
    random = np.random.default_rng(seed)
    return [random.normal(0.0, 0.5, shape).astype(np.float32) for shape in shapes]


def tensor(name: str, shape: Any, kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def save(
    path: Path,
    nodes: list[Any],
    inputs: list[Any],
    outputs: list[Any],
    constants: Mapping[str, AnyArray],
    **more: str,
) -> Path:
    graph = helper.make_graph(
        nodes,
        "policy",
        inputs,
        outputs,
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    helper.set_model_props(model, more)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def mlp(
    path: Path,
    width: int = 3,
    size: int = 2,
    *,
    batch: int | str = "batch",
    scale: float = 1.0,
    kind: int = FLOAT,
    names: tuple[str, str] = ("obs", "actions"),
    **more: str,
) -> tuple[Path, Any]:
    """Return a network obs -> tanh -> linear, and its twin in NumPy."""
    number: Any = np.float64 if kind == TensorProto.DOUBLE else np.float32
    a, b, c, d = (
        each.astype(number) for each in weights(1, (8, width), (8,), (size, 8), (size,))
    )
    c, d = c * number(scale), d * number(scale)
    seen, done = names
    nodes = [
        helper.make_node("Gemm", [seen, "a", "b"], ["x"], transB=1),
        helper.make_node("Tanh", ["x"], ["y"]),
        helper.make_node("Gemm", ["y", "c", "d"], [done], transB=1),
    ]
    save(
        path,
        nodes,
        [tensor(seen, [batch, width], kind)],
        [tensor(done, [batch, size], kind)],
        {"a": a, "b": b, "c": c, "d": d},
        **more,
    )
    return path, lambda x: np.tanh(x @ a.T + b) @ c.T + d


def sigmoid(x: AnyArray) -> AnyArray:
    return 1.0 / (1.0 + np.exp(-x))


def recurrent(
    path: Path,
    kind: str,
    *,
    width: int = 3,
    size: int = 2,
    hidden: int = 5,
    batch: int | str = 1,
    names: Mapping[str, str] = {},
    without_state: bool = False,
) -> tuple[Path, Any]:
    """Return a recurrent policy laid out as Isaac Lab does, and its NumPy twin.

    States are (layers, batch, hidden). The twin maps (x, states) to (action, states).
    """
    gates = {"LSTM": 4, "GRU": 3}[kind]
    w, r, b, c, d = weights(
        2,
        (1, gates * hidden, width),
        (1, gates * hidden, hidden),
        (1, 2 * gates * hidden),
        (size, hidden),
        (size,),
    )
    states = ["h", "c"] if kind == "LSTM" else ["h"]
    called = {key: names.get(key, key) for key in ("obs", "actions")}
    before = [names.get(f"{s}_in", f"{s}_in") for s in states]
    after = [names.get(f"{s}_out", f"{s}_out") for s in states]
    more: dict[str, Any] = {"linear_before_reset": 1} if kind == "GRU" else {}
    given = ["", ""] if without_state else ["", *before]
    nodes = [
        helper.make_node("Unsqueeze", [called["obs"], "zero"], ["x"]),
        helper.make_node(
            kind,
            ["x", "w", "r", "b", *given][: 4 + len(given)],
            ["", *(after if not without_state else ["last"])],
            hidden_size=hidden,
            **more,
        ),
        helper.make_node(
            "Squeeze", ["last" if without_state else after[0], "zero"], ["y"]
        ),
        helper.make_node("Gemm", ["y", "cc", "d"], [called["actions"]], transB=1),
    ]
    shape = [1, batch, hidden]
    kept = [] if without_state else states
    save(
        path,
        nodes,
        [tensor(called["obs"], [batch, width])]
        + [tensor(before[at], shape) for at in range(len(kept))],
        [tensor(called["actions"], [batch, size])]
        + [tensor(after[at], shape) for at in range(len(kept))],
        {"w": w, "r": r, "b": b, "cc": c, "d": d, "zero": np.array([0])},
    )
    wb, rb = b[0, : gates * hidden], b[0, gates * hidden :]

    def twin(x: AnyArray, kept: list[AnyArray]) -> tuple[AnyArray, list[AnyArray]]:
        h = kept[0]
        from_x = np.split(x @ w[0].T + wb, gates, axis=1)
        from_h = np.split(h @ r[0].T + rb, gates, axis=1)
        if kind == "LSTM":  # ONNX: input, output, forget, cell
            i, o, f = (sigmoid(from_x[g] + from_h[g]) for g in range(3))
            cell = f * kept[1] + i * np.tanh(from_x[3] + from_h[3])
            h, left = o * np.tanh(cell), [cell]
        else:  # ONNX: update, reset, new
            z, reset = (sigmoid(from_x[g] + from_h[g]) for g in range(2))
            new = np.tanh(from_x[2] + reset * from_h[2])
            h, left = (1 - z) * new + z * h, []
        return h @ c.T + d, [h, *left]

    return path, twin


def told(
    path: Path,
    *,
    batch: int | str = "batch",
    parameters: int = 2,
    **more: str,
) -> tuple[Path, Any]:
    """Return a network that is told parameters, and its twin in NumPy."""
    a, b = weights(6, (2, 3), (2, parameters))
    nodes = [
        helper.make_node("Gemm", ["obs", "a"], ["x"], transB=1),
        helper.make_node("Gemm", ["theta", "b"], ["y"], transB=1),
        helper.make_node("Add", ["x", "y"], ["actions"]),
    ]
    save(
        path,
        nodes,
        [tensor("obs", [batch, 3]), tensor("theta", [batch, parameters])],
        [tensor("actions", [batch, 2])],
        {"a": a, "b": b},
        **more,
    )
    return path, lambda x, theta: x @ a.T + theta @ b.T
