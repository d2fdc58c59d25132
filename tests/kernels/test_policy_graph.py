"""The backward pass over rules against a loop over nodes and steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from simgap._kernels.beliefs.policy_graph import (
    solve_chain,
)
from simgap.oracle.graph_values import node_gaps
from simgap.oracle.loss_form import loss_form
from tests.policies.cases import random_graph, random_latent
from tests.reference.policy_graph import gaps_of_nodes


@pytest.mark.parametrize("seed", range(30))
def test_every_node_has_the_gap_of_the_slow_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=int(rng.integers(1, 5)), without_prior=seed % 2)
    form = loss_form(latent, horizon=int(rng.integers(1, 9)))
    policy = random_graph(rng, form, copies=int(rng.integers(1, 4)))
    found, wanted = node_gaps(form, policy), gaps_of_nodes(form, policy)
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert found == pytest.approx(wanted, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("seed", range(30))
def test_rules_that_hold_at_some_steps_only_leave_the_others_unknown(seed: int) -> None:
    """A value that was right at another step is not taken for one of this step."""
    rng = np.random.default_rng(seed)
    form = loss_form(random_latent(rng, zeros=0.5), horizon=8)
    policy = random_graph(rng, form, copies=3)
    since = rng.integers(policy.rule_since, policy.rule_until + 1, dtype=np.int32)
    until = rng.integers(since, policy.rule_until + 1, dtype=np.int32)
    thin = replace(policy, rule_since=since, rule_until=until)
    found, wanted = node_gaps(form, thin), gaps_of_nodes(form, thin)
    assert np.isnan(wanted).any()
    assert (np.isnan(found) == np.isnan(wanted)).all()
    assert found == pytest.approx(wanted, abs=1e-13, nan_ok=True)


@pytest.mark.parametrize("discount", [0.5, 0.99, 0.9999])
def test_the_chain_is_solved_as_by_elimination(discount: float) -> None:
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.full(30, 0.1), 30)
    target = rng.random(30)
    chain, found = csr_array(P), np.empty(30)
    solve_chain(
        chain.indptr, chain.indices, chain.data, discount, target, 200, 1e-12, found
    )
    wanted = np.linalg.solve(np.eye(30) - discount * P, target)
    assert found == pytest.approx(wanted, rel=1e-7)
    solve_chain(
        chain.indptr, chain.indices, chain.data, discount, 0 * target, 200, 1e-12, found
    )
    assert (found == 0.0).all()
