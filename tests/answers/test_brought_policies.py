"""Policies that are brought to a class of tables: certified, or run as black boxes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap import compare
from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle import domain_randomization_oracle
from simgap.policies import MarkovPolicy, save_policy
from simgap.records.gap import PolicyGaps

MODEL = "riverswim?states=4&success=0.3,0.7&left_reward=0.3"
H = 25
SOURCE = """
def as_table(state, memory):
    return [1, 0, 1, 1][state], None

def with_memory(state, memory):
    steps = 0 if memory is None else memory
    return int(steps >= 5), steps + 1

def told(state, memory, theta):
    return int(theta["success"] > 0.5), None

def fails_far(state, memory):
    if state == 3:
        raise RuntimeError("the bank")
    return 1, None
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("brought")
    (path / "mine.py").write_text(SOURCE)
    latent = LatentMDP.uniform(build_instance(MODEL))
    found = domain_randomization_oracle(latent, horizon=H)
    save_policy(found.policy, path / "graph.simgap")
    save_policy(found.belief_policy, path / "belief.simgap")
    return path


def rows(*policies: Any, **more: Any) -> list[PolicyGaps]:
    return list(compare(MODEL, H, policies=policies, seeds=300, **more).policies)


def covers(sampled: PolicyGaps, exact: PolicyGaps) -> bool:
    """Return whether all intervals of a sampled row hold the certified numbers."""
    pairs = zip(sampled.models, exact.models, strict=True)
    return all(
        one.gap.ends[0] - 1e-9 <= other.gap.ends[1]
        and other.gap.ends[0] <= one.gap.ends[1] + 1e-9
        for one, other in pairs
    )


def table(*actions: int) -> MarkovPolicy:
    return MarkovPolicy("table", 2, np.array(actions, np.int32))


def test_a_saved_graph_has_the_gaps_of_the_oracle(folder: Path) -> None:
    saved, oracle = rows(f"mine={folder}/graph.simgap", "oracle")
    assert saved.name == "mine"
    assert saved.certainty == "certified"
    for one, other in zip(saved.models, oracle.models, strict=True):
        assert one.gap.ends == pytest.approx(other.gap.ends, abs=1e-9)


def test_a_saved_belief_is_run(folder: Path) -> None:
    saved, oracle = rows(folder / "belief.simgap", "oracle-belief")
    assert saved.certainty == "estimated"
    assert saved.average.ends[0] <= oracle.average.ends[1]


def test_a_function_is_run_and_agrees_with_its_table(folder: Path) -> None:
    function, exact, control = rows(
        f"{folder}/mine.py:as_table", table(1, 0, 1, 1), table(0, 0, 0, 0)
    )
    assert function.certainty == "estimated"
    assert exact.certainty == "certified"
    assert covers(function, exact)
    assert not covers(function, control)


def test_a_function_may_remember(folder: Path) -> None:
    actions = np.array([[0] * 4] * 5 + [[1] * 4] * (H - 5), np.int32)
    exact = MarkovPolicy("in time", 2, actions)
    late, right, never = rows(f"{folder}/mine.py:with_memory", exact, table(0, 0, 0, 0))
    assert covers(late, right)
    assert not covers(late, never)


def test_an_informed_function_is_told_which_model_is_real(folder: Path) -> None:
    told, left, right = rows(
        f"{folder}/mine.py:told", table(0, 0, 0, 0), table(1, 1, 1, 1)
    )
    low, high = told.models
    assert low.gap.ends[0] <= left.models[0].gap.ends[1]
    assert left.models[0].gap.ends[0] <= low.gap.ends[1]
    assert high.gap.ends[0] <= right.models[1].gap.ends[1]
    assert not covers(told, left)


def test_a_network_sees_one_of_the_states(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    from onnx import helper

    from tests.continuous.policies.networks import save, tensor

    actions = np.array([1, 0, 1, 1])
    weight = np.stack([1.0 - actions, actions], axis=1)  # (states, choices)
    save(
        tmp_path / "p.onnx",
        [helper.make_node("MatMul", ["x", "weight"], ["y"])],
        [tensor("x", ["b", 4])],
        [tensor("y", ["b", 2])],
        {"weight": weight.astype(np.float32)},
    )
    network, exact = rows(tmp_path / "p.onnx", table(*actions.tolist()), threads=1)
    assert covers(network, exact)


def test_a_python_object_will_do() -> None:
    def always(state: int, memory: object) -> tuple[int, None]:
        return 1, None

    found, exact = rows(always, table(1, 1, 1, 1))
    assert found.name == "always"
    assert covers(found, exact)
