"""Pair faces and backups of the lower side against plain recursions."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.beliefs.oracle_lower_side import lower_step
from simgap.oracle.bounded.lower_nodes import lower_structure, pairs_of
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.bounded.points import no_points
from simgap.oracle.loss_form import loss_form
from tests.policies.cases import random_latent
from tests.reference.belief_bounds import dense_beliefs, pair_recursion


@pytest.mark.parametrize("seed", range(8))
def test_pair_faces_are_a_recursion_on_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    latent = random_latent(rng, states=3, actions=2, members=3, without_prior=seed % 2)
    form = loss_form(latent, horizon=int(rng.integers(0, 6)))
    nobody = no_points(form)
    cells = int(rng.integers(2, 9))
    made = lower_structure(form, nobody.states, nobody.beliefs, cells=cells)
    values, _ = lower_pass(form, made, lambda: None)
    pairs = list(zip(*pairs_of(form), strict=True))
    assert len(pairs) == (1 if seed % 2 else 3)
    for p, (i, j) in enumerate(pairs):
        wanted = pair_recursion(form, int(i), int(j), made.grid, form.horizon or 0)
        for s in range(form.pattern.n_states):
            first = made.state_offsets[s] + p * (cells - 1)
            found = values[first : first + cells - 1]
            assert found == pytest.approx(wanted[s, 1:-1], abs=1e-13)


def test_discounted_pair_faces_stay_below_the_recursion_that_goes_on() -> None:
    """Every sweep is a lower bound of the next; the last ones matter little."""
    rng = np.random.default_rng(9)
    form = loss_form(random_latent(rng, members=2), discount=0.7)
    nobody = no_points(form)
    made = lower_structure(form, nobody.states, nobody.beliefs, cells=7)
    values, _ = lower_pass(form, made, lambda: None)
    wanted = pair_recursion(form, 0, 1, made.grid, 120)[:, 1:-1].ravel()
    assert wanted.max() > 0.0
    assert (values <= wanted * (1.0 + 1e-12)).all()
    assert values == pytest.approx(wanted, rel=5e-3, abs=5e-3 * wanted.max())


@pytest.mark.parametrize("seed", range(8))
def test_a_backup_takes_the_cheapest_action(seed: int) -> None:
    """Against loops, from any favourite: the order of actions must not matter."""
    rng = np.random.default_rng(seed)
    form = loss_form(random_latent(rng, states=3, actions=3), horizon=2)
    n_actions, indptr = form.pattern.n_actions, form.pattern.indptr
    beliefs = rng.dirichlet(np.ones(3), 9)
    states = rng.integers(0, 3, 9).astype(np.int32)
    made = lower_structure(form, states, beliefs, cells=4)
    size = made.node_state.size
    made.term_weight[:] = rng.random(made.term_weight.size)
    made.term_node[:] = rng.integers(0, size, made.term_node.size)
    after, now = rng.random(size), np.empty(size)
    favourite = rng.integers(0, n_actions, size).astype(np.int32)
    lower_step(
        n_actions, indptr, form.losses[0], made.node_state, made.node_offsets,
        made.node_model, made.node_weight, made.row_offsets, made.terms_each,
        made.term_node, made.term_weight, favourite, after, now,
    )  # fmt: skip
    dense = dense_beliefs(made.node_offsets, made.node_model, made.node_weight, 3)
    for node, s in enumerate(made.node_state):
        costs = []
        at = made.row_offsets[node]
        for a in range(n_actions):
            row = s * n_actions + a
            terms = (indptr[row + 1] - indptr[row]) * made.terms_each[node]
            rest = (
                made.term_weight[at : at + terms] @ after[made.term_node[at:][:terms]]
            )
            costs.append(dense[node] @ form.losses[0, s, a] + rest)
            at += terms
        assert now[node] == pytest.approx(min(costs), rel=1e-13)
        assert costs[favourite[node]] == pytest.approx(min(costs), rel=1e-13)
