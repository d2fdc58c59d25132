"""ONNX files of several frameworks: the same numbers as their source, step by step."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.continuous import Batch, open_policy, to_actions
from simgap.continuous.policies.onnx_policy import OnnxPolicy
from tests.continuous.policies.cases import choosing, linear, tabular

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from tests.continuous.policies.networks import (  # noqa: E402
    mlp,
    recurrent,
    save,
    tensor,
    told,
    weights,
)

STEPS = 60


def opened(path: Path, simulator: Any = None) -> OnnxPolicy:
    policy = open_policy(path, simulator or linear())
    assert isinstance(policy, OnnxPolicy)
    return policy


def first_action(policy: OnnxPolicy) -> Any:
    return policy.act(np.zeros((2, 3)), policy.reset(Batch(np.arange(2))))[0]


def episode(policy: Any, twin: Any, worlds: int = 5, hidden: int = 5) -> float:
    """Return how far a policy and its twin part in an episode of several worlds."""
    simulator = linear()
    live = simulator.instantiate({"gain": np.linspace(0.05, 0.2, worlds)})
    seen = live.reset(np.arange(worlds))
    memory = policy.reset(Batch(np.arange(worlds)))
    states: Any = [np.zeros((worlds, hidden)) for _ in range(2)]
    worst = 0.0
    for _ in range(STEPS):
        raw, memory = policy.act(seen, memory)
        expected, states = twin(seen, states)
        worst = max(worst, float(np.abs(raw - expected).max()))
        actions, _ = to_actions(raw, simulator.action)
        seen = live.step(actions, np.ones(worlds, np.bool_)).observation
    return worst


@pytest.mark.parametrize("batch", ["batch", 1, 4])
def test_a_plain_network_equals_its_source(tmp_path: Path, batch: int | str) -> None:
    path, twin = mlp(tmp_path / "policy.onnx", batch=batch)
    policy = opened(path)
    assert policy.signature.batched == (batch == "batch")
    assert episode(policy, lambda x, states: (twin(x), states)) < 1e-6


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("batch", ["n", 1])
def test_a_recurrent_network_equals_its_source(
    tmp_path: Path, kind: str, batch: int | str
) -> None:
    path, twin = recurrent(tmp_path / "policy.onnx", kind, batch=batch)
    policy = opened(path)
    assert policy.signature.batched == (batch == "n")
    assert episode(policy, twin) < 1e-6
    forgets = lambda x, states: twin(x, [np.zeros((5, 5))] * 2)  # noqa: E731
    assert episode(policy, forgets) > 1e-3  # the control: memory matters


@pytest.mark.parametrize(
    "names",
    [
        {"obs": "obs", "h_in": "out_state.1", "c_in": "hidden_state.1", "actions": "mu"}
        | {"h_out": "out_state", "c_out": "hidden_state"},
        {"obs": "observation", "actions": "action", "h_in": "recurrent_state_h"}
        | {"c_in": "recurrent_state_c", "h_out": "next_recurrent_state_h"}
        | {"c_out": "next_recurrent_state_c"},
        {"obs": "input", "actions": "output", "h_in": "h0", "c_in": "c0"}
        | {"h_out": "hn", "c_out": "cn"},
        {"h_in": "state_in_0", "c_in": "state_in_1"}
        | {"h_out": "state_out_0", "c_out": "state_out_1"},
    ],
    ids=["rl_games", "torchrl", "torch", "rllib"],
)
def test_names_of_frameworks_are_known(tmp_path: Path, names: dict[str, str]) -> None:
    path, twin = recurrent(tmp_path / "policy.onnx", "LSTM", names=names)
    policy = opened(path)
    assert len(policy.signature.roles.memory) == 2
    assert episode(policy, twin) < 1e-6


def test_one_step_of_one_world_as_torchrl_exports_it(tmp_path: Path) -> None:
    """No axis for worlds, a state (layers, hidden), and `is_init` at the first step."""
    a, b = weights(4, (2, 3), (2, 2))
    save(
        tmp_path / "p.onnx",
        [
            helper.make_node("Cast", ["is_init"], ["first"], to=1),
            helper.make_node("MatMul", ["a", "observation"], ["x"]),
            helper.make_node("Squeeze", ["recurrent_state", "zero"], ["h"]),
            helper.make_node("MatMul", ["b", "h"], ["y"]),
            helper.make_node("Sum", ["x", "y"], ["z"]),
            helper.make_node("Tanh", ["z"], ["after"]),
            helper.make_node("Add", ["after", "first"], ["action"]),
            helper.make_node("Unsqueeze", ["after", "zero"], ["next_recurrent_state"]),
        ],
        [
            tensor("observation", [3]),
            tensor("is_init", [1], onnx.TensorProto.BOOL),
            tensor("recurrent_state", [1, 2]),
        ],
        [tensor("action", [2]), tensor("next_recurrent_state", [1, 2])],
        {"a": a, "b": b, "zero": np.array([0])},
    )
    policy = opened(tmp_path / "p.onnx")
    assert not policy.signature.batched
    assert policy.signature.roles.begins == "is_init"
    memory, h = policy.reset(Batch(np.arange(4))), np.zeros((4, 2))
    for step in range(10):
        seen = np.random.default_rng(step).normal(size=(4, 3))
        actions, memory = policy.act(seen, memory)
        h = np.tanh(seen @ a.T + h @ b.T)
        assert np.abs(actions - h - (step == 0)).max() < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_damaged_files_are_refused_or_fit(tmp_path: Path, seed: int) -> None:
    from simgap.errors import SimgapError

    path, _ = mlp(tmp_path / "p.onnx")
    content, random = bytearray(path.read_bytes()), np.random.default_rng(seed)
    for at in random.integers(len(content), size=1 + 10 * seed):
        content[at] = random.integers(256)
    path.write_bytes(bytes(content))
    try:
        assert np.isfinite(first_action(opened(path))).all()
    except SimgapError as error:
        assert error.code.startswith(("onnx-", "action-", "observation-"))


def test_memory_of_unknown_names_is_named_behind_the_file(tmp_path: Path) -> None:
    names = {"obs": "11", "actions": "14", "h_in": "12", "c_in": "13", "h_out": "15"}
    path, twin = recurrent(tmp_path / "p.onnx", "LSTM", names=names | {"c_out": "16"})
    policy: Any = open_policy(f"{path}?12=15&13=16", linear())
    assert episode(policy, twin) < 1e-6
    swapped: Any = open_policy(f"mine={path}?12=16&13=15", linear())
    assert swapped.name == "mine"
    assert episode(swapped, twin) > 1e-3  # the control


def test_numbers_beyond_the_ends_are_moved_there(tmp_path: Path) -> None:
    path, twin = mlp(tmp_path / "p.onnx", scale=30.0)
    seen, policy = np.random.default_rng(0).normal(size=(4, 3)), opened(path)
    raw = policy.act(seen, policy.reset(Batch(np.arange(4))))[0]
    assert np.allclose(raw, twin(seen))
    actions, beyond = to_actions(raw, linear().action)
    assert np.array_equal(actions, np.clip(raw, -1, 1))
    assert beyond == (np.abs(raw) > 1).mean() > 0.5


def test_the_greatest_of_the_choices_wins(tmp_path: Path) -> None:
    path, twin = mlp(tmp_path / "p.onnx", size=4)
    policy = opened(path, choosing(choices=4))
    seen = np.random.default_rng(0).normal(size=(50, 3))
    actions, _ = policy.act(seen, policy.reset(Batch(np.arange(50))))
    assert np.array_equal(actions, twin(seen).argmax(axis=1))
    assert len(set(actions.tolist())) > 1


def test_states_of_a_table_go_in_as_one_of_many(tmp_path: Path) -> None:
    path, twin = mlp(tmp_path / "p.onnx", width=6, size=2)
    policy = opened(path, tabular(6, 2))
    actions, _ = policy.act(np.arange(6.0)[:, None], policy.reset(Batch(np.arange(6))))
    assert np.array_equal(actions, twin(np.eye(6)).argmax(axis=1))


def test_weights_beside_the_file_are_read_from_one_name_only(tmp_path: Path) -> None:
    from simgap.errors import InvalidFile

    path, twin = mlp(tmp_path / "p.onnx")
    for beside, fits in (("p.onnx.data", True), ("other.bin", False)):
        onnx.save(
            onnx.load(path),
            tmp_path / "q.onnx",
            save_as_external_data=True,
            location=beside.replace("p.", "q."),
            size_threshold=0,
        )
        assert (tmp_path / beside.replace("p.", "q.")).exists()
        if fits:
            policy = opened(tmp_path / "q.onnx")
            assert episode(policy, lambda x, s: (twin(x), s)) < 1e-6
            (tmp_path / "q.onnx.data").unlink()
        else:
            with pytest.raises(InvalidFile) as caught:
                opened(tmp_path / "q.onnx")
            assert caught.value.code == "onnx-does-not-load"


@pytest.mark.parametrize("batch", ["batch", 1, 4])
def test_an_informed_network_is_told_the_parameters(
    tmp_path: Path, batch: int | str
) -> None:
    path, twin = told(tmp_path / "p.onnx", batch=batch, theta='["mass", "gain"]')
    policy, random = opened(path), np.random.default_rng(2)
    assert policy.informed and policy.told == ("mass", "gain")
    assert policy.signature.batched == (batch == "batch")
    theta, seen = random.normal(size=(6, 2)), random.normal(size=(6, 3))
    given = {"gain": theta[:, 1], "mass": theta[:, 0]}
    actions, memory = policy.act(seen, policy.reset(Batch(np.arange(6), given)))
    assert np.abs(actions - twin(seen, theta)).max() < 1e-6
    assert np.abs(actions - twin(seen, theta[:, ::-1])).max() > 0.1  # the control
    assert not memory.kept
    again, _ = policy.act(-seen, memory)
    assert np.abs(again - twin(-seen, theta)).max() < 1e-6


@pytest.mark.parametrize("batch", ["n", 1])
def test_what_a_network_remembers_is_read_by_world(
    tmp_path: Path, batch: int | str
) -> None:
    path, twin = recurrent(tmp_path / "policy.onnx", "LSTM", batch=batch)
    policy, states = opened(path), [np.zeros((4, 5))] * 2
    memory = policy.reset(Batch(np.arange(4)))
    for step in range(5):
        seen = np.random.default_rng(step).normal(size=(4, 3))
        _, memory = policy.act(seen, memory)
        _, states = twin(seen, states)
        held = policy.remembered(memory)
        assert np.abs(held - np.concatenate(states, axis=1)).max() < 1e-6
    assert np.abs(held - held[::-1]).max() > 1e-3  # the control: worlds differ
