"""Write a small network as an ONNX file, without any other library.

Dense layers, GRU and LSTM, a normaliser before them and the ends of the actions behind
them. Inputs and outputs are called as Isaac Lab calls them, `obs, h_in[, c_in] ->
actions, h_out[, c_out]`, and any number of worlds goes in at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray, read_only
from simgap.continuous.interfaces import Choices, Space
from simgap.continuous.policies.onnx_bytes import Graph, model_bytes
from simgap.errors import InvalidArgument
from simgap.user_files import replacing

BATCH = "batch"


class Activation(Enum):
    """What is done to each number after a dense layer: an operator of ONNX."""

    NONE = ""
    TANH = "Tanh"
    RELU = "Relu"
    ELU = "Elu"
    SIGMOID = "Sigmoid"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """activation(weight @ x + bias)."""

    weight: FloatArray  # (outputs, inputs)
    bias: FloatArray  # (outputs,)
    activation: Activation = Activation.NONE

    def __post_init__(self) -> None:
        _check_layer(self, {"weight": (-1, -1), "bias": (len(self.weight),)})


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gru:
    """A gated recurrent unit; its gates are reset, update and new, as PyTorch's."""

    input_weight: FloatArray  # (3 * hidden, inputs)
    hidden_weight: FloatArray  # (3 * hidden, hidden)
    input_bias: FloatArray  # (3 * hidden,)
    hidden_bias: FloatArray  # (3 * hidden,), that of `new` is inside the reset

    def __post_init__(self) -> None:
        _check_recurrent(self, 3)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Lstm:
    """A long short-term memory; its gates are input, forget, cell and output."""

    input_weight: FloatArray  # (4 * hidden, inputs)
    hidden_weight: FloatArray  # (4 * hidden, hidden)
    input_bias: FloatArray  # (4 * hidden,)
    hidden_bias: FloatArray  # (4 * hidden,)

    def __post_init__(self) -> None:
        _check_recurrent(self, 4)


Layer = Dense | Gru | Lstm


@final
@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """(x - mean) / scale, then cut at `limit` on both sides."""

    mean: FloatArray  # (inputs,)
    scale: FloatArray  # (inputs,), above 0
    limit: float | None = None

    def __post_init__(self) -> None:
        _check_layer(self, {"mean": (-1,), "scale": self.mean.shape})
        if not (self.scale > 0.0).all():
            raise InvalidArgument(
                "a scale of the normaliser is not above 0",
                hint="add a small number to each standard deviation",
            )


def write_policy(
    path: str | Path,
    layers: Sequence[Layer],
    action: Space,
    *,
    squashed: bool = False,
    normaliser: Normaliser | None = None,
    metadata: Mapping[str, str] = {},
) -> None:
    """Write a network as an ONNX file; an old file is replaced whole.

    Actions end within their space: `squashed` by tanh, which is stretched from end to
    end, else cut at the ends. Of choices the last layer gives one number each.
    """
    graph = Graph()
    width = _check_chain(layers, action, normaliser)
    at, memory = _normalised(graph, normaliser), _Memory(graph, layers)
    for layer in layers:
        if isinstance(layer, Dense):
            at = _dense(graph, layer, at)
        else:
            at = memory.follow(layer, at)
    memory.finish()
    _bounded(graph, at, action, squashed)
    last = layers[-1]
    outputs = [("actions", [BATCH, _outputs(last)]), *memory.outputs]
    inputs = [("obs", [BATCH, width]), *memory.inputs]
    content = model_bytes(graph, inputs, outputs, metadata)
    with replacing(Path(path)) as draft:
        draft.write_bytes(content)


class _Memory:
    """The recurrent layers: states (layers, batch, hidden), cut and put together."""

    def __init__(self, graph: Graph, layers: Sequence[Layer]) -> None:
        self._graph = graph
        found = [each for each in layers if not isinstance(each, Dense)]
        kinds = {(type(each), each.hidden_weight.shape[1]) for each in found}
        if len(kinds) > 1:
            raise InvalidArgument(
                "the recurrent layers are of several kinds or sizes",
                hint="their states are one array: make them alike",
            )
        self._states = ["h", "c"] if found and isinstance(found[0], Lstm) else ["h"]
        shape = [len(found), BATCH, found[0].hidden_weight.shape[1]] if found else []
        self._layers = len(found)
        names = self._states if found else []
        self.inputs = [(f"{each}_in", shape) for each in names]
        self.outputs = [(f"{each}_out", shape) for each in names]
        self._before = {each: self._cut(f"{each}_in") for each in names}
        self._after: dict[str, list[str]] = {each: [] for each in names}

    def follow(self, layer: Gru | Lstm, at: str) -> str:
        """Add one layer, and return what it gives."""
        graph, number = self._graph, len(self._after["h"])
        gates, order = (3, (1, 0, 2)) if isinstance(layer, Gru) else (4, (0, 3, 1, 2))
        hidden = layer.hidden_weight.shape[1]

        def sorted_(values: FloatArray) -> AnyArray:
            parts = np.split(values, gates)
            return np.concatenate([parts[each] for each in order])

        biases = [sorted_(layer.input_bias), sorted_(layer.hidden_bias)]
        zero = graph.constant([0], np.int64)
        outputs = [f"{each}_{number}" for each in self._states]
        graph.add(
            type(layer).__name__.upper(),
            [
                graph.add("Unsqueeze", [at, zero]),
                graph.constant(sorted_(layer.input_weight)[None]),
                graph.constant(sorted_(layer.hidden_weight)[None]),
                graph.constant(np.concatenate(biases)[None]),
                "",
                *(self._before[each][number] for each in self._states),
            ],
            ["", *outputs],
            hidden_size=hidden,
            **({"linear_before_reset": 1} if isinstance(layer, Gru) else {}),
        )
        for each, name in zip(self._states, outputs, strict=True):
            self._after[each].append(name)
        return graph.add("Squeeze", [outputs[0], zero])

    def finish(self) -> None:
        """Give the states back under their names."""
        for each, parts in self._after.items():
            self._graph.add("Concat", parts, [f"{each}_out"], axis=0)

    def _cut(self, name: str) -> list[str]:
        if self._layers == 1:
            return [name]
        sizes = self._graph.constant([1] * self._layers, np.int64)
        parts = [f"{name}_{each}" for each in range(self._layers)]
        self._graph.add("Split", [name, sizes], parts, axis=0)
        return parts


def _normalised(graph: Graph, normaliser: Normaliser | None) -> str:
    if normaliser is None:
        return "obs"
    at = graph.add("Sub", ["obs", graph.constant(normaliser.mean)])
    at = graph.add("Div", [at, graph.constant(normaliser.scale)])
    if normaliser.limit is None:
        return at
    ends = [graph.constant(each) for each in (-normaliser.limit, normaliser.limit)]
    return graph.add("Clip", [at, *ends])


def _dense(graph: Graph, layer: Dense, at: str) -> str:
    weight, bias = graph.constant(layer.weight), graph.constant(layer.bias)
    at = graph.add("Gemm", [at, weight, bias], transB=1)
    kind = layer.activation
    return at if kind is Activation.NONE else graph.add(kind.value, [at])


def _bounded(graph: Graph, at: str, action: Space, squashed: bool) -> None:
    if isinstance(action, Choices):
        graph.add("Identity", [at], ["actions"])
        return
    low, high = action.low, action.high
    if squashed:
        if not np.isfinite([low, high]).all():
            raise InvalidArgument(
                "tanh cannot be stretched to ends that are not there",
                hint="squashed=False leaves actions as they are",
            )
        half, middle = (high - low) / 2.0, (high + low) / 2.0
        at = graph.add("Tanh", [at])
        at = graph.add("Mul", [at, graph.constant(half)])
        graph.add("Add", [at, graph.constant(middle)], ["actions"])
        return
    at = graph.add("Max", [at, graph.constant(low)])
    graph.add("Min", [at, graph.constant(high)], ["actions"])


def _check_chain(
    layers: Sequence[Layer], action: Space, normaliser: Normaliser | None
) -> int:
    """Return the width of the observation; raise unless layers fit each other."""
    wanted = action.n if isinstance(action, Choices) else action.size
    sizes = [(_inputs(each), _outputs(each)) for each in layers]
    if normaliser is not None:
        sizes.insert(0, (normaliser.mean.size, normaliser.mean.size))
    for (_, gives), (takes, _) in pairwise(sizes):
        if gives != takes:
            raise InvalidArgument(
                f"a layer gives {gives} numbers and the next one takes {takes}",
                hint="layers go from the observation to the action",
            )
    if not layers or sizes[-1][1] != wanted:
        raise InvalidArgument(
            f"the network gives {sizes[-1][1] if sizes else 0} numbers",
            hint=f"an action needs {wanted}",
        )
    return sizes[0][0]


def _inputs(layer: Layer) -> int:
    weight = layer.weight if isinstance(layer, Dense) else layer.input_weight
    return int(weight.shape[1])


def _outputs(layer: Layer) -> int:
    if isinstance(layer, Dense):
        return len(layer.weight)
    return int(layer.hidden_weight.shape[1])


def _check_recurrent(layer: Any, gates: int) -> None:
    rows = gates * np.shape(layer.hidden_weight)[-1]
    shapes = {"input_weight": (rows, -1), "hidden_weight": (rows, rows // gates)}
    _check_layer(layer, {**shapes, "input_bias": (rows,), "hidden_bias": (rows,)})


def _check_layer(layer: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Freeze the arrays of a layer; raise unless they have their shapes (-1: any)."""
    for name, shape in shapes.items():
        values = read_only(getattr(layer, name))
        object.__setattr__(layer, name, values)
        fits = len(values.shape) == len(shape) and all(
            want in (-1, has) for want, has in zip(shape, values.shape, strict=True)
        )
        if not fits or not np.isfinite(values).all():
            raise InvalidArgument(
                f"{name} of a {type(layer).__name__} has shape {values.shape}"
                + (" and is not finite" if fits else ""),
                hint=f"it is of finite numbers of shape {shape} (-1 is any length)",
            )
