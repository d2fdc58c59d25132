"""The policy of a bounded run: its gaps by four routes, in files and step by step."""

from __future__ import annotations

from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.history_values import gaps_by_histories
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import OracleResult
from simgap.oracle.settings import BoundedOracle, GridOracle
from simgap.policies import GraphPolicy, Policy, Step, load_policy, save_policy
from tests.oracle.test_grid import coins
from tests.policies.cases import random_latent
from tests.reference.policy_graph import values_by_playing

SOLVER = BoundedOracle(gap_tolerance=0.01, time_limit=0.3, episodes=50)


def case(seed: int) -> tuple[LatentMDP, LossForm, OracleResult]:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, members=3, without_prior=seed % 2)
    solver = GridOracle(time_limit=0.3, episodes=50) if seed % 3 == 2 else SOLVER
    horizon = int(rng.integers(1, 6))
    result = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    return latent, loss_form(latent, horizon=horizon), result


@pytest.mark.parametrize("seed", range(12))
def test_gaps_are_those_of_playing_the_policy(seed: int) -> None:
    """Rewards in Fractions through start, act, observe; losses through histories."""
    latent, form, result = case(seed)
    assert form.horizon is not None
    played = values_by_playing(latent, result.policy, form.horizon)
    assert None not in played  # a bounded graph goes on in models without a prior too
    values = np.array([float(value) for value in played if value is not None])
    assert result.values == pytest.approx(values, abs=1e-12)
    assert result.gaps == pytest.approx(form.optimal - values, abs=1e-12)
    by_losses = gaps_by_histories(form, result.policy, limit=10**5)
    assert result.gaps == pytest.approx(by_losses, abs=1e-12)
    assert graph_gaps(form, result.policy) == pytest.approx(by_losses, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_policy_reaches_the_lower_end_of_the_value(seed: int) -> None:
    latent, _, result = case(seed)
    known = latent.prior > 0.0
    reached = float(latent.prior[known] @ result.values[known])
    assert result.value.lower == pytest.approx(reached, abs=1e-11)
    assert result.value.lower is not None
    assert result.value.lower <= reached
    assert result.worst_gap == result.gaps[known].max()  # others cannot be real


@pytest.mark.parametrize("discount", [None, 0.7])
def test_simulated_losses_agree_with_the_gaps(discount: float | None) -> None:
    """Hoeffding at 1e-6 a model; the losses of the other model would be noticed."""
    latent, horizon = coins(0.4), None if discount else 8
    form = loss_form(latent, horizon=horizon, discount=discount)
    result = domain_randomization_oracle(
        latent, horizon=horizon, discount=discount, solver=SOLVER
    )
    rng = np.random.default_rng(0)
    steps, episodes = horizon or 25, 600
    width = float(form.losses.max() * (form.discount ** np.arange(steps)).sum())
    margin = width * sqrt(log(2e6) / (2.0 * episodes)) + 1e-3
    wrong = []
    for m in range(2):
        each = [lost(rng, form, result.policy, m, steps) for _ in range(episodes)]
        mean = np.mean(each, axis=0)
        assert abs(mean[m] - result.gaps[m]) <= margin
        wrong.append(abs(mean[1 - m] - result.gaps[m]))
    assert max(wrong) > 2.0 * margin


def lost(
    rng: np.random.Generator,
    form: LossForm,
    policy: Policy[Any],
    member: int,
    steps: int,
) -> FloatArray:
    """Return what one episode in a model loses by the losses of every model, (M,)."""
    law = form.latent.simulators.start_law(member)
    state = int(rng.choice(law.size, p=law))
    memory = policy.start(state)
    total = np.zeros(form.n_models)
    for h in range(steps):
        action = int(np.argmax(policy.act(memory, h, state)))
        at = h if form.horizon is not None else 0
        total += form.discount**h * form.losses[at, state, action]
        row = state * form.pattern.n_actions + action
        entries = slice(*form.pattern.indptr[row : row + 2])
        chances = form.likelihood[entries, member]
        to = int(rng.choice(form.pattern.indices[entries], p=chances / chances.sum()))
        memory = policy.observe(memory, Step(h, state, action, to))
        state = to
    return total


@pytest.mark.parametrize("discount", [None, 0.9])
def test_a_saved_policy_has_the_same_gaps(
    discount: float | None, tmp_path: Path
) -> None:
    rng = np.random.default_rng(7)
    latent, horizon = random_latent(rng, members=4), None if discount else 8
    form = loss_form(latent, horizon=horizon, discount=discount)
    result = domain_randomization_oracle(
        latent, horizon=horizon, discount=discount, solver=SOLVER
    )
    save_policy(result.policy, tmp_path / "graph.simgap")
    loaded = load_policy(tmp_path / "graph.simgap")
    assert isinstance(loaded, GraphPolicy)
    assert graph_gaps(form, loaded).tobytes() == result.gaps.tobytes()
    save_policy(result.belief_policy, tmp_path / "belief.simgap")
    belief = load_policy(tmp_path / "belief.simgap")
    state = int(form.root_states[0])
    memory: Any = belief.start(state)
    same = result.belief_policy.act(memory, 0, state)
    assert (belief.act(memory, 0, state) == same).all()
