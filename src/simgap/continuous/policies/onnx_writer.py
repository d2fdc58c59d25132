"""Write a small network as an ONNX file, without any other library.

Dense layers, GRU and LSTM, a normaliser before them and the ends of the actions behind
them. Inputs and outputs are called as Isaac Lab calls them, `obs, h_in[, c_in] ->
actions, h_out[, c_out]`, and any number of worlds goes in at once. What else is carried
from step to step has names of the same kind, `action_in -> action_out` and `frames_in
-> frames_out`; the parameters that an informed network is told go in as `theta`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous.interfaces import Choices, Space
from simgap.continuous.policies.onnx_bytes import DOUBLE, Graph, Port, model_bytes
from simgap.continuous.policies.onnx_layers import (
    Activation,
    Dense,
    Gru,
    Layer,
    Lstm,
    Normaliser,
    Told,
)
from simgap.continuous.policies.onnx_signature import ACTION, MASKED, THETA
from simgap.errors import InvalidArgument
from simgap.user_files import replacing

BATCH = "batch"


def write_policy(
    path: str | Path,
    layers: Sequence[Layer],
    action: Space,
    *,
    squashed: bool = False,
    stretched: bool = False,
    normaliser: Normaliser | None = None,
    frames: int = 0,
    told: Told | None = None,
    metadata: Mapping[str, str] = {},
) -> None:
    """Write a network as an ONNX file; an old file is replaced whole.

    Actions end within their space: `squashed` by tanh, or `stretched` by a cut at -1
    and 1, which are stretched from end to end; else cut at the ends. Of choices the
    last layer gives one number each.

    With `frames` the network is shown so many last frames, the oldest first: an
    observation, and the action before it in the network's own numbers. Behind them it
    is shown what it is `told`.
    """
    graph = Graph()
    width = _check_chain(layers, action, normaliser, frames, told)
    at, memory = _normalised(graph, normaliser), _Memory(graph, layers)
    if frames:
        at = memory.framed(at, frames, width, layers[-1].sizes[1])
    inputs: list[Port] = [("obs", (BATCH, width))]
    if told is not None:
        at = graph.add("Concat", [at, told.numbers(graph, THETA)], axis=1)
        inputs.append((THETA, (BATCH, len(told.names)), DOUBLE))
        metadata = {**metadata, THETA: json.dumps(told.names)}
        metadata |= {MASKED: "true"} if told.masked else {}
    for layer in layers:
        if isinstance(layer, Dense):
            at = _dense(graph, layer, at)
        else:
            at = memory.follow(layer, at)
    memory.finish()
    acted = _bounded(graph, at, action, squashed, stretched)
    if frames:
        memory.remember(acted, action)
    outputs: list[Port] = [("actions", (BATCH, layers[-1].sizes[1])), *memory.outputs]
    content = model_bytes(graph, [*inputs, *memory.inputs], outputs, metadata)
    with replacing(Path(path)) as draft:
        draft.write_bytes(content)


class _Memory:
    """What is carried from step to step, in pairs of an input and an output.

    States of recurrent layers are (layers, batch, hidden), cut and put together.
    """

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
        self.inputs: list[Port] = [(f"{each}_in", shape) for each in names]
        self.outputs: list[Port] = [(f"{each}_out", shape) for each in names]
        self._before = {each: self._cut(f"{each}_in") for each in names}
        self._after: dict[str, list[str]] = {each: [] for each in names}

    def framed(self, at: str, frames: int, seen: int, acted: int) -> str:
        """Return the last frames, (batch, frames * frame); the oldest are carried."""
        graph, frame = self._graph, seen + acted
        at = graph.add("Concat", [at, self._carried(ACTION, acted)], axis=1)
        if frames == 1:
            return at
        older = self._carried("frames", (frames - 1) * frame)
        at = graph.add("Concat", [older, at], axis=1)
        places = ([frame], [frames * frame], [1])  # from, to, axis
        ends = [graph.constant(each, np.int64) for each in places]
        graph.add("Slice", [at, *ends], ["frames_out"])
        return at

    def remember(self, acted: str, action: Space) -> None:
        """Carry an action; of choices one number each, which is 1 for the choice."""
        graph, given, kind = self._graph, [acted], "Identity"
        if isinstance(action, Choices):
            best = graph.add("ArgMax", [acted], axis=1, keepdims=0)
            depth = graph.constant(action.n, np.int64)
            given, kind = [best, depth, graph.constant([0.0, 1.0])], "OneHot"
        graph.add(kind, given, [f"{ACTION}_out"])

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

    def _carried(self, name: str, size: int) -> str:
        self.inputs.append((f"{name}_in", (BATCH, size)))
        self.outputs.append((f"{name}_out", (BATCH, size)))
        return f"{name}_in"

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


def _bounded(
    graph: Graph, at: str, action: Space, squashed: bool, stretched: bool
) -> str:
    """Add the actions, and return them as the network's own numbers."""
    if isinstance(action, Choices):
        graph.add("Identity", [at], ["actions"])
        return at
    low, high = action.low, action.high
    ends = np.isfinite(low) & np.isfinite(high)
    if squashed and not ends.all():
        raise InvalidArgument(
            "tanh cannot be stretched to ends that are not there",
            hint="squashed=False leaves actions as they are",
        )
    if squashed:
        at = graph.add("Tanh", [at])
    elif stretched:
        at = _cut(graph, at, np.where(ends, -1.0, -np.inf), np.where(ends, 1.0, np.inf))
    else:
        return _cut(graph, at, low, high, ["actions"])
    low, high = np.where(ends, low, -1.0), np.where(ends, high, 1.0)
    grown = graph.add("Mul", [at, graph.constant((high - low) / 2.0)])
    graph.add("Add", [grown, graph.constant((high + low) / 2.0)], ["actions"])
    return at


def _cut(
    graph: Graph, at: str, low: FloatArray, high: FloatArray, names: Sequence[str] = ()
) -> str:
    at = graph.add("Max", [at, graph.constant(low)])
    return graph.add("Min", [at, graph.constant(high)], names)


def _check_chain(
    layers: Sequence[Layer],
    action: Space,
    normaliser: Normaliser | None,
    frames: int,
    told: Told | None,
) -> int:
    """Return the width of the observation; raise unless layers fit each other."""
    wanted = action.n if isinstance(action, Choices) else action.size
    sizes = [each.sizes for each in layers]
    if not layers or sizes[-1][1] != wanted:
        raise InvalidArgument(
            f"the network gives {sizes[-1][1] if sizes else 0} numbers",
            hint=f"an action needs {wanted}",
        )
    takes = sizes[0][0] - (0 if told is None else told.size)
    seen, left = divmod(takes, max(1, frames))
    seen -= wanted if frames else 0
    if left or seen < 1:
        raise InvalidArgument(
            f"the first layer takes {sizes[0][0]} numbers, which are no {frames} "
            f"frames of an observation and {wanted} numbers of an action, and what the "
            "network is told",
            hint="give the number of frames that the network was made for",
        )
    sizes[0] = (seen, sizes[0][1])
    if normaliser is not None:
        sizes.insert(0, (normaliser.mean.size, normaliser.mean.size))
    for (_, gives), (takes, _) in pairwise(sizes):
        if gives != takes:
            raise InvalidArgument(
                f"a layer gives {gives} numbers and the next one takes {takes}",
                hint="layers go from the observation to the action",
            )
    return seen
