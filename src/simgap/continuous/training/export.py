"""A trained policy as an ONNX file: the only form in which it is kept.

The file holds everything between what a simulator shows and what it takes: the
normaliser of the observations, the network, the last action where the policy remembers
it, the ends of the actions, and how the parameters become numbers if it is told them.
Actions are not drawn: each is the middle, or the likeliest one.

Inputs and outputs are called as Isaac Lab calls them, `obs, h_in[, c_in] -> actions,
h_out[, c_out]`, and any number of worlds goes in at once. What else is carried from
step to step has names of the same kind, `action_in -> action_out` and `frames_in ->
frames_out`; the parameters that an informed network is told go in as `theta`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import pi
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.about import __version__
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Choices, Space
from simgap.continuous.policies.onnx_signature import ACTION, MASKED, THETA
from simgap.continuous.training.features import Feature, Features, Scale
from simgap.continuous.training.learner import Learner
from simgap.continuous.training.memory import Cell
from simgap.continuous.training.network import Gates, Layer
from simgap.continuous.training.rows import LIMIT
from simgap.continuous.training.update import Learnt
from simgap.user_files import replacing

OPSET, IR = 17, 8
FLOAT, DOUBLE = 1, 11  # of onnx.TensorProto
BATCH = "batch"
STATES = {Cell.GRU: ("h",), Cell.LSTM: ("h", "c")}
ORDER = {Cell.GRU: (1, 0, 2), Cell.LSTM: (0, 3, 1, 2)}  # of PyTorch's gates in ONNX


def write_trained(
    path: str | Path,
    learner: Learner,
    learnt: Learnt,
    metadata: Mapping[str, str] = {},
) -> None:
    """Write the policy that a learner has learnt; an old file is replaced whole."""
    graph, memory = _Graph(), learner.network.memory
    action, actor = learner.simulator.action, learnt.weights.actor
    outputs = len(actor.head.bias)
    metadata = {"memory": memory.text, **metadata}
    x = _normalised(graph, learner, learnt)
    if memory.remembers:
        x = _framed(graph, x, memory.frames, learner.network.seen, outputs)
    if learner.network.shown:
        shown = Features(learner.features.each, learner.settings.masked)
        x = graph.add("Concat", [x, _numbers(graph, shown)], axis=1)
        metadata[THETA] = json.dumps(shown.names)
        metadata |= {MASKED: "true"} if shown.masked else {}
    x = graph.add("Tanh", [_dense(graph, actor.encoder, x)])
    if actor.cell is not None:
        x = _recurrent(graph, actor.cell, memory.cell, x)
    x = graph.add("Tanh", [_dense(graph, actor.hidden, x)])
    x = _played(graph, _dense(graph, actor.head, x), action)
    if memory.remembers:
        _remember(graph, x, action)
    graph.leaves("actions", (BATCH, outputs))
    content = graph.model(metadata)
    with replacing(Path(path)) as draft:
        draft.write_bytes(content)


@final
class _Graph:
    """Nodes, arrays, inputs and outputs of a network that are written so far."""

    def __init__(self) -> None:
        self._onnx = needed("onnx", what="the file of a trained policy")
        self._nodes: list[Any] = []
        self._arrays: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def constant(self, values: Any, kind: Any = np.float32) -> str:
        name = f"constant_{len(self._arrays)}"
        array = np.asarray(values, kind)
        self._arrays.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def add(
        self,
        kind: str,
        inputs: Sequence[str],
        outputs: Sequence[str] = (),
        **attributes: int,
    ) -> str:
        """Add a node, and return what it gives (the last name, if there are more)."""
        label = f"{kind}_{len(self._nodes)}"
        names = list(outputs) or [label.lower()]
        node = self._onnx.helper.make_node(kind, inputs, names, label, **attributes)
        self._nodes.append(node)
        return names[-1]

    def enters(self, name: str, shape: Sequence[int | str], kind: int = FLOAT) -> str:
        """Add an input, and return its name."""
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, shape))
        return name

    def leaves(self, name: str, shape: Sequence[int | str]) -> None:
        """Say that what is so called is an output."""
        port = self._onnx.helper.make_tensor_value_info(name, FLOAT, shape)
        self._outputs.append(port)

    def model(self, metadata: Mapping[str, str]) -> bytes:
        """Return the whole file."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, "policy", self._inputs, self._outputs, self._arrays
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR,
            producer_name="simgap",
            producer_version=__version__,
        )
        helper.set_model_props(model, dict(metadata))
        content: bytes = model.SerializeToString(deterministic=True)
        return content


def _normalised(graph: _Graph, learner: Learner, learnt: Learnt) -> str:
    """Return the observations as the learner takes them."""
    mean = np.asarray(learnt.statistics.mean, np.float64)
    if learner.simulator.observation == Choices(1):
        mean = mean - 1.0  # the only state is 1 to a learner and 0 to a file
    x = graph.enters("obs", (BATCH, mean.size))
    x = graph.add("Sub", [x, graph.constant(mean)])
    x = graph.add("Div", [x, graph.constant(learnt.statistics.spread)])
    return graph.add("Clip", [x, graph.constant(-LIMIT), graph.constant(LIMIT)])


def _framed(graph: _Graph, x: str, frames: int, seen: int, acted: int) -> str:
    """Return the last frames, the oldest first: observation and the action before."""
    frame, name = seen + acted, f"{ACTION}_in"
    x = graph.add("Concat", [x, graph.enters(name, (BATCH, acted))], axis=1)
    graph.leaves(f"{ACTION}_out", (BATCH, acted))
    if frames == 1:
        return x
    older = (BATCH, (frames - 1) * frame)
    x = graph.add("Concat", [graph.enters("frames_in", older), x], axis=1)
    ends = ([frame], [frames * frame], [1])  # from, to, axis
    cut = [graph.constant(each, np.int64) for each in ends]
    graph.add("Slice", [x, *cut], ["frames_out"])
    graph.leaves("frames_out", older)
    return x


def _remember(graph: _Graph, acted: str, action: Space) -> None:
    """Carry an action; of choices one number each, which is 1 for the choice."""
    given, kind = [acted], "Identity"
    if isinstance(action, Choices):
        best = graph.add("ArgMax", [acted], axis=1, keepdims=0)
        depth = graph.constant(action.n, np.int64)
        given, kind = [best, depth, graph.constant([0.0, 1.0])], "OneHot"
    graph.add(kind, given, [f"{ACTION}_out"])


def _dense(graph: _Graph, layer: Layer, x: str) -> str:
    arrays = [graph.constant(each) for each in layer]
    return graph.add("Gemm", [x, *arrays], transB=1)


def _recurrent(graph: _Graph, gates: Gates, cell: Cell, x: str) -> str:
    """Add a cell; its states are (1, batch, units), as ONNX has them."""

    def sorted_(values: Any) -> Any:
        parts = np.split(np.asarray(values), len(ORDER[cell]))
        return np.concatenate([parts[each] for each in ORDER[cell]])

    units = gates.of_hidden.weight.shape[1]
    zero = graph.constant([0], np.int64)
    shape = (1, BATCH, units)
    graph.add(
        cell.name,
        [
            graph.add("Unsqueeze", [x, zero]),
            *(graph.constant(sorted_(each.weight)[None]) for each in gates),
            graph.constant(np.concatenate([sorted_(e.bias) for e in gates])[None]),
            "",
            *(graph.enters(f"{each}_in", shape) for each in STATES[cell]),
        ],
        ["", *(f"{each}_out" for each in STATES[cell])],
        hidden_size=units,
        **({"linear_before_reset": 1} if cell is Cell.GRU else {}),
    )
    for each in STATES[cell]:
        graph.leaves(f"{each}_out", shape)
    return graph.add("Squeeze", ["h_out", zero])


def _played(graph: _Graph, x: str, action: Space) -> str:
    """Add the actions, and return them as the network's own numbers.

    What has two ends is cut at -1 and 1, which are stretched from end to end.
    """
    if isinstance(action, Choices):
        graph.add("Identity", [x], ["actions"])
        return x
    ends = np.isfinite(action.low) & np.isfinite(action.high)
    x = graph.add("Max", [x, graph.constant(np.where(ends, -1.0, -np.inf))])
    x = graph.add("Min", [x, graph.constant(np.where(ends, 1.0, np.inf))])
    low, high = np.where(ends, action.low, -1.0), np.where(ends, action.high, 1.0)
    grown = graph.add("Mul", [x, graph.constant((high - low) / 2.0)])
    graph.add("Add", [grown, graph.constant((high + low) / 2.0)], ["actions"])
    return x


def _numbers(graph: _Graph, features: Features) -> str:
    """Add what `Features.numbers` computes, of double precision until the end."""
    theta = graph.enters(THETA, (BATCH, len(features.names)), DOUBLE)
    each = [_of_one(graph, theta, *one) for one in enumerate(features.each)]
    found = graph.add("Concat", each, axis=1)
    if not features.masked:
        return graph.add("Cast", [found], to=FLOAT)
    owners = np.repeat(np.arange(len(each)), [one.size for one in features.each])
    hidden = graph.add("IsNaN", [theta])
    where = graph.add("Gather", [hidden, graph.constant(owners, np.int64)], axis=1)
    found = graph.add("Where", [where, graph.constant(0.0, np.float64), found])
    known = graph.add("Cast", [graph.add("Not", [hidden])], to=FLOAT)
    return graph.add("Concat", [graph.add("Cast", [found], to=FLOAT), known], axis=1)


def _of_one(graph: _Graph, theta: str, at: int, feature: Feature) -> str:
    """Add what `Feature.numbers` computes of a finite value."""

    def double(values: object) -> str:
        return graph.constant(values, np.float64)

    one = graph.add("Gather", [theta, graph.constant([at], np.int64)], axis=1)
    if feature.scale is Scale.ANGLE:
        return graph.add("Sin", [graph.add("Add", [one, double([pi / 2.0, 0.0])])])
    if feature.scale is Scale.CHOICE:
        apart = graph.add("Abs", [graph.add("Sub", [one, double(feature.choices)])])
        nearest, first = f"nearest_{at}", graph.constant([1], np.int64)
        graph.add("TopK", [apart, first], [nearest, f"which_{at}"], largest=0)
        return graph.add("Cast", [graph.add("Equal", [apart, nearest])], to=DOUBLE)
    if feature.scale is Scale.LOG:
        one = graph.add("Log", [one])
    middle, half = feature.line
    return graph.add("Div", [graph.add("Sub", [one, double(middle)]), double(half)])
