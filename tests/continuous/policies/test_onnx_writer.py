"""Networks that we write: `onnx` checks and runs them, NumPy computes them again."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.arrays import AnyArray
from simgap.continuous import Batch, Box, Choices, open_policy, to_actions
from simgap.continuous.policies.onnx_layers import (
    Activation,
    Dense,
    Gru,
    Layer,
    Lstm,
    Normaliser,
)
from simgap.continuous.policies.onnx_writer import write_policy
from simgap.errors import InvalidArgument
from tests.continuous.policies.cases import choosing, linear

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

from onnx.reference import ReferenceEvaluator  # noqa: E402

from tests.continuous.policies.networks import sigmoid  # noqa: E402

RANDOM = np.random.default_rng(11)
HIDDEN = 4
ENDS = Box(np.array([-0.4, -2.0]), np.array([0.4, 1.0]))


def drawn(*shape: int) -> AnyArray:
    return RANDOM.normal(0.0, 0.7, shape)


def dense(inputs: int, outputs: int, kind: Activation = Activation.TANH) -> Dense:
    return Dense(drawn(outputs, inputs), drawn(outputs), kind)


def gru(inputs: int) -> Gru:
    rows = 3 * HIDDEN
    return Gru(drawn(rows, inputs), drawn(rows, HIDDEN), drawn(rows), drawn(rows))


def lstm(inputs: int) -> Lstm:
    rows = 4 * HIDDEN
    return Lstm(drawn(rows, inputs), drawn(rows, HIDDEN), drawn(rows), drawn(rows))


def after(layer: Layer, x: AnyArray, state: Any) -> tuple[AnyArray, Any]:
    """Return what a layer gives: PyTorch's equations, in NumPy."""
    if isinstance(layer, Dense):
        y = x @ layer.weight.T + layer.bias
        if layer.activation is Activation.TANH:
            y = np.tanh(y)
        elif layer.activation is Activation.RELU:
            y = np.maximum(y, 0.0)
        elif layer.activation is Activation.ELU:
            y = np.where(y > 0, y, np.expm1(y))
        elif layer.activation is Activation.SIGMOID:
            y = sigmoid(y)
        return y, None
    h, c = state
    gates = 3 if isinstance(layer, Gru) else 4
    i = np.split(x @ layer.input_weight.T + layer.input_bias, gates, axis=1)
    j = np.split(h @ layer.hidden_weight.T + layer.hidden_bias, gates, axis=1)
    if isinstance(layer, Gru):
        reset, update = sigmoid(i[0] + j[0]), sigmoid(i[1] + j[1])
        new = np.tanh(i[2] + reset * j[2])
        h = (1.0 - update) * new + update * h
        return h, (h, c)
    enter, forget, leave = (sigmoid(i[g] + j[g]) for g in (0, 1, 3))
    c = forget * c + enter * np.tanh(i[2] + j[2])
    h = leave * np.tanh(c)
    return h, (h, c)


NETWORKS: dict[str, list[Layer]] = {
    "mlp": [dense(3, 8), dense(8, 5, Activation.RELU), dense(5, 2, Activation.NONE)],
    "mlp of others": [dense(3, 6, Activation.ELU), dense(6, 2, Activation.SIGMOID)],
    "gru": [gru(3), dense(HIDDEN, 2, Activation.NONE)],
    "lstm": [dense(3, 5), lstm(5), dense(HIDDEN, 2, Activation.NONE)],
    "two grus": [gru(3), gru(HIDDEN), dense(HIDDEN, 2, Activation.NONE)],
    "two lstms": [lstm(3), dense(HIDDEN, 6), lstm(6), dense(HIDDEN, 2)],
}


@pytest.mark.parametrize("squashed", [False, True])
@pytest.mark.parametrize("case", NETWORKS)
def test_a_written_network_is_what_it_was(
    tmp_path: Path, case: str, squashed: bool
) -> None:
    layers, path = NETWORKS[case], tmp_path / "p.onnx"
    normaliser = Normaliser(np.array([0.1, -0.2, 0.0]), np.array([0.5, 1.0, 2.0]), 1.5)
    write_policy(
        path,
        layers,
        ENDS,
        squashed=squashed,
        normaliser=normaliser,
        metadata={"made by": "a test"},
    )
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    simulator = linear()
    free = type(simulator)(ENDS, simulator.observation)
    policy: Any = open_policy(path, free)
    assert policy.signature.batched
    assert policy.signature.metadata["made by"] == "a test"
    judge = ReferenceEvaluator(model)
    worlds = free.instantiate({"gain": np.linspace(0.0, 1.0, 5)})
    seen, memory = worlds.reset(np.arange(5)), policy.reset(Batch(np.arange(5)))
    states: list[Any] = [(np.zeros((5, HIDDEN)),) * 2 for _ in layers]
    names = [each.name for each in model.graph.input][1:]
    depth = sum(not isinstance(each, Dense) for each in layers)
    held = [np.zeros((depth, 5, HIDDEN), np.float32) for _ in names]
    worst = 0.0
    for _ in range(50):
        raw, memory = policy.act(seen, memory)
        feeds = dict(zip(names, held, strict=True))
        told, *held = judge.run(None, {"obs": seen.astype(np.float32), **feeds})
        x = np.clip((seen - normaliser.mean) / normaliser.scale, -1.5, 1.5)
        for at, layer in enumerate(layers):
            x, states[at] = after(layer, x, states[at])
        middle, half = (ENDS.high + ENDS.low) / 2, (ENDS.high - ENDS.low) / 2
        x = middle + half * np.tanh(x) if squashed else np.clip(x, ENDS.low, ENDS.high)
        worst = max(worst, np.abs(raw - x).max(), np.abs(told - x).max())
        actions, beyond = to_actions(raw, ENDS)
        assert beyond == 0.0
        seen = worlds.step(actions, np.ones(5, np.bool_)).observation
    assert worst < 2e-6


def test_choices_get_one_number_each(tmp_path: Path) -> None:
    layer = dense(3, 4, Activation.NONE)
    write_policy(tmp_path / "p.onnx", [layer], Choices(4))
    policy = open_policy(tmp_path / "p.onnx", choosing(choices=4))
    seen = RANDOM.normal(size=(30, 3))
    actions, _ = policy.act(seen, policy.reset(Batch(np.arange(30))))
    assert np.array_equal(actions, (seen @ layer.weight.T + layer.bias).argmax(axis=1))


def test_the_same_network_makes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_policy(tmp_path / name, NETWORKS["lstm"], ENDS, metadata={"x": "y"})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda path: write_policy(path, [], ENDS),
        lambda path: write_policy(path, [dense(3, 5)], ENDS),
        lambda path: write_policy(path, [dense(3, 5), dense(4, 2)], ENDS),
        lambda path: write_policy(path, [gru(3), lstm(HIDDEN), dense(4, 2)], ENDS),
        lambda path: write_policy(
            path, [dense(3, 2)], Box(-np.full(2, np.inf), np.ones(2)), squashed=True
        ),
        lambda path: write_policy(path, [dense(10, 2)], ENDS, frames=3),  # 9 or 12
        lambda path: write_policy(path, [dense(2, 2)], ENDS, frames=1),
        lambda path: Dense(drawn(2, 3), drawn(3)),
        lambda path: Dense(drawn(2, 3) * np.nan, drawn(2)),
        lambda path: Gru(drawn(12, 3), drawn(12, 5), drawn(12), drawn(12)),
        lambda path: Normaliser(np.zeros(3), np.zeros(3)),
    ],
)
def test_networks_that_do_not_fit_are_refused(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        wrong(tmp_path / "p.onnx")
    assert not (tmp_path / "p.onnx").exists()
