"""Kernels of short memories against plain loops and linear algebra."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from simgap._kernels.beliefs.memoryless import (
    follow_gaps,
    improve_backward,
    reach_weights,
    stationary_sweep,
)
from simgap.arrays import FloatArray, IndexArray, OffsetArray
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.stationary import policy_kernel
from simgap.oracle.baselines.windowed import MemoryNodes, first_weights, window_nodes
from simgap.oracle.loss_form import LossForm, loss_form
from tests.reference.memoryless import weights_by_paths
from tests.reference.rational import scattered_model
from tests.strategies import as_class

NONE: FloatArray = np.zeros((0, 0, 0))


def problem(seed: int, horizon: int | None = 4, members: int = 3) -> LossForm:
    """Models with different supports, a prior with a zero, several first states."""
    rng = np.random.default_rng(seed)
    models = [scattered_model(rng, 4, 3, 8) for _ in range(members)]
    simulators = as_class(models, start=np.array([0.25, 0.5, 0.0, 0.25]))
    prior = np.array([0.5, 0.0, *[0.5 / (members - 2)] * (members - 2)])
    discount = None if horizon is not None else 0.75
    latent = LatentMDP(simulators, prior)
    return loss_form(latent, horizon=horizon, discount=discount)


def graph(
    form: LossForm, nodes: MemoryNodes
) -> tuple[OffsetArray, IndexArray, OffsetArray, IndexArray, FloatArray]:
    return (
        form.pattern.indptr,
        nodes.node_state,
        nodes.shift,
        nodes.next_node,
        form.likelihood,
    )


def random_actions(rng: np.random.Generator, *shape: int) -> IndexArray:
    drawn: IndexArray = rng.integers(0, 3, shape).astype(np.int32)
    return drawn


def average(form: LossForm, nodes: MemoryNodes, actions: IndexArray) -> float:
    gaps = np.empty((nodes.size, form.n_models))
    follow_gaps(*graph(form, nodes), form.losses, actions, gaps)
    return float((first_weights(form, nodes) * gaps).sum())


@pytest.mark.parametrize("explore", [0.0, 0.25, 1.0])
def test_weights_are_sums_over_paths(explore: float) -> None:
    for seed in range(5):
        form = problem(seed)
        nodes = window_nodes(form.pattern, 0)
        actions = random_actions(np.random.default_rng(seed), 4, 4)
        chances = np.full((4, 4, 3), explore / 3.0)
        np.put_along_axis(
            chances, actions[..., None], 1.0 - explore + explore / 3.0, axis=2
        )
        found = np.full((4, 4, form.n_models), np.nan)
        found[0] = first_weights(form, nodes)
        reach_weights(*graph(form, nodes), 3, actions, explore, found)
        wanted = weights_by_paths(form, chances, 4)
        for h, s in product(range(4), range(4)):
            assert found[h, s] == pytest.approx(wanted.get((h, s), np.zeros(3)))


def test_a_backward_sweep_never_loses_and_ends_where_no_action_helps() -> None:
    for seed in range(6):
        form = problem(seed)
        nodes = window_nodes(form.pattern, seed % 2)
        actions = random_actions(np.random.default_rng(seed), 4, nodes.size)
        weights = np.zeros((4, nodes.size, form.n_models))
        weights[0] = first_weights(form, nodes)
        gaps = np.empty((nodes.size, form.n_models))
        last, changed = average(form, nodes, actions), 1
        while changed:
            reach_weights(*graph(form, nodes), 3, actions, 0.0, weights)
            changed = improve_backward(
                *graph(form, nodes), form.losses, weights,
                np.ones((nodes.size, form.n_models)), bool(seed % 3), NONE, 0.0,
                actions, gaps,
            )  # fmt: skip
            now = average(form, nodes, actions)
            assert now == pytest.approx(float((weights[0] * gaps).sum()))
            assert now <= last * (1.0 + 1e-12)
            assert not changed or now < last
            last = now
        for h, n, a in product(range(4), range(nodes.size), range(3)):
            other = np.array(actions)
            other[h, n] = a
            assert average(form, nodes, other) >= last * (1.0 - 1e-12)


def test_a_stationary_sweep_keeps_its_arrays_true_and_ends_at_an_optimum() -> None:
    for seed in range(8):
        form = problem(seed, horizon=None)
        nodes = window_nodes(form.pattern, seed % 2)
        size = nodes.size
        policy = random_actions(np.random.default_rng(seed), size)
        first, last, changed = first_weights(form, nodes), np.inf, 1
        while changed:
            inverse, gaps, visits = by_inversion(form, nodes, policy)
            found = [np.ascontiguousarray(x) for x in (inverse, gaps, visits)]
            changed = stationary_sweep(
                *graph(form, nodes), form.losses, form.discount, NONE, 0.0, policy,
                *found,
            )  # fmt: skip
            for kept, wanted in zip(
                found, by_inversion(form, nodes, policy), strict=True
            ):
                assert kept == pytest.approx(wanted, abs=1e-10)
            now = float((first * found[1]).sum())
            assert now <= last + 1e-12
            last = now
        for n, a in product(range(size), range(3)):
            other = np.array(policy)
            other[n] = a
            gap = float((first * by_inversion(form, nodes, other)[1]).sum())
            assert gap >= last - 1e-10


def by_inversion(
    form: LossForm, nodes: MemoryNodes, policy: IndexArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (I - discount P)^-1, gaps and visits of a stationary policy."""
    kernel = policy_kernel(form, nodes, policy)
    inverse: FloatArray = np.asarray(
        np.linalg.inv(np.eye(nodes.size) - form.discount * kernel), np.float64
    )
    paid = form.losses[0, nodes.node_state, policy]
    gaps = np.einsum("mij,jm->im", inverse, paid)
    visits = np.einsum("im,mij->jm", first_weights(form, nodes), inverse)
    return np.moveaxis(inverse, 0, 2), gaps, visits
