"""Policies with little memory, by trying all of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from simgap.arrays import FloatArray, IndexArray
from simgap.oracle.loss_form import LossForm
from tests.reference.episodic import (
    _q,
    deterministic,
    optimal_values,
    policy_values,
)
from tests.reference.latent import RationalLatent

MOST_TABLES = 3_000  # of actions that are tried


def average_value(
    latent: RationalLatent, actions: tuple[tuple[int, ...], ...]
) -> Fraction:
    """Return sum_m nu_m V^pi_m of a table (H, S) of actions."""
    policy = deterministic(actions, latent.n_actions)
    total = Fraction(0)
    for model, prior, law in zip(
        latent.models, latent.prior, latent.start, strict=True
    ):
        first = policy_values(model.transitions, model.rewards, policy)[0]
        total += prior * sum(
            (p * v for p, v in zip(law, first, strict=True)), Fraction(0)
        )
    return total


def best_memoryless_value(latent: RationalLatent, horizon: int) -> Fraction:
    """Return the best average value of all deterministic Markov policies."""
    S, A = latent.n_states, latent.n_actions
    steps = list(product(range(A), repeat=S))
    return max(
        average_value(latent, actions) for actions in product(steps, repeat=horizon)
    )


def stationary_gap(form: LossForm, actions: IndexArray) -> float:
    """Return the average discounted gap of actions (S,), by linear algebra."""
    simulators, total = form.latent.simulators, 0.0
    states = np.arange(form.pattern.n_states)
    for m, prior in enumerate(form.latent.prior):
        P = simulators.transitions.array(m)[states, actions]
        paid = form.losses[0, states, actions, m]
        gaps = np.linalg.solve(np.eye(states.size) - form.discount * P, paid)
        total += float(prior * (simulators.start_law(m) @ gaps))
    return total


def every_stationary(form: LossForm) -> Iterator[IndexArray]:
    """Yield all tables (S,) of actions."""
    pattern = form.pattern
    for actions in product(range(pattern.n_actions), repeat=pattern.n_states):
        yield np.array(actions, np.int32)


def weights_by_paths(
    form: LossForm, chances: FloatArray, steps: int
) -> dict[tuple[int, int], FloatArray]:
    """Return nu_m P_m(s_h = s), h < steps, of action chances (H, S, A)."""
    found: dict[tuple[int, int], FloatArray] = {}
    members = form.n_models
    arrays = [form.latent.simulators.transitions.array(m) for m in range(members)]
    paths: dict[tuple[int, ...], FloatArray] = {
        (int(s),): w for s, w in zip(form.root_states, form.root_weights, strict=True)
    }
    for h in range(steps):
        longer: dict[tuple[int, ...], FloatArray] = {}
        for path, weight in paths.items():
            state = path[-1]
            found[h, state] = found.get((h, state), 0.0) + weight
            for a, chance in enumerate(chances[h, state]):
                for t in range(form.pattern.n_states):
                    row = np.array([P[state, a, t] for P in arrays])
                    key = (*path, t)
                    moved = weight * chance * row
                    if moved.any():
                        longer[key] = longer.get(key, 0.0) + moved
        paths = longer
    return found


def best_single_plan_value(latent: RationalLatent, horizon: int) -> Fraction | None:
    """Return the best average value of a plan that is optimal in some one model.

    All tables of actions that are optimal in their model, in every state at every step,
    are tried; None if they are too many.
    """
    best: list[Fraction] = []
    for model in latent.models:
        values = optimal_values(model.transitions, model.rewards, horizon)
        ties = [
            [
                a
                for a in range(latent.n_actions)
                if _q(model.transitions, model.rewards, values[h + 1], s, a)
                == values[h][s]
            ]
            for h in range(horizon)
            for s in range(latent.n_states)
        ]
        if prod(map(len, ties)) > MOST_TABLES:
            return None
        for flat in product(*ties):
            rows = range(0, len(flat), latent.n_states)
            steps = (flat[row : row + latent.n_states] for row in rows)
            best.append(average_value(latent, tuple(steps)))
    return max(best)
