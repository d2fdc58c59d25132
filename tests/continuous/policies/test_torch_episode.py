"""The shipped policies, trained and exported by PyTorch, say what PyTorch said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import Batch, open_policy, open_simulator
from simgap.continuous.policies.onnx_policy import OnnxPolicy, _network

pytest.importorskip("onnxruntime")
EXAMPLES = Path(__file__).parents[3] / "examples"
EPISODE = np.loadtxt(EXAMPLES / "cartpole_lstm_episode.csv", delimiter=",", skiprows=1)


def said(*, fed_back: bool) -> np.ndarray:
    """Return the scores of both actions over the episode that PyTorch played."""
    simulator = open_simulator("gym:CartPole-v1")
    policy = open_policy(str(EXAMPLES / "cartpole_lstm.onnx"), simulator)
    assert isinstance(policy, OnnxPolicy)
    network, memory = _network(policy), policy.reset(Batch(np.arange(1)))
    scores = []
    for row in EPISODE:
        found, after = network.step(row[None, :4], memory)
        memory = after if fed_back else memory
        scores.append(found[0])
    return np.array(scores)


def test_a_recurrent_policy_equals_its_framework_over_a_whole_episode() -> None:
    assert len(EPISODE) == 200
    assert np.abs(said(fed_back=True) - EPISODE[:, 4:]).max() < 1e-6


def test_a_state_that_is_not_fed_back_would_be_noticed() -> None:
    assert np.abs(said(fed_back=False) - EPISODE[:, 4:]).max() > 1e-3
