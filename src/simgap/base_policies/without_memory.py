"""Agents that remember nothing: the best for the average, and the mean model's own.

For horizons whose losses fit in memory these are the oracle's baselines, which may
change with the step. For longer ones they are stationary: the mean model's policy, and
of the policies of all models and of their mean the one with the best average gain. One
stationary policy for all models loses a part of every step, so its gap is linear in H.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray, IndexArray
from simgap.mdp import LatentMDP
from simgap.oracle import (
    best_memoryless,
    bytes_of_losses,
    loss_form,
    mean_model,
    mean_model_plan,
    single_plans,
)
from simgap.planning import policy_values, solve_average_reward
from simgap.policies import MarkovPolicy

LARGEST_LOSSES = 2**24  # bytes: beyond, a search takes minutes
LONG = 2000  # steps over which stationary policies are compared


def memoryless_policy(
    latent: LatentMDP, horizon: int, *, seed: int = 0
) -> MarkovPolicy:
    """Return the best policy found for the prior's average that has no memory."""
    n_actions = latent.simulators.n_actions
    if bytes_of_losses(latent, horizon) <= LARGEST_LOSSES:
        form = loss_form(latent, horizon=horizon)
        plans, mean = single_plans(form), mean_model_plan(form)
        best = best_memoryless(form, plans, mean, seed=seed, prove=False)
        return MarkovPolicy("memoryless", n_actions, best.actions)
    worlds = latent.simulators
    candidates = np.unique(
        np.concatenate([solve_average_reward(worlds).policy, _mean_policy(latent)]),
        axis=0,
    )
    averages = [_average(latent, policy) for policy in candidates]
    best_one = candidates[int(np.argmax(averages))]
    return MarkovPolicy("memoryless, stationary", n_actions, best_one)


def mean_model_policy(latent: LatentMDP, horizon: int) -> MarkovPolicy:
    """Return the optimal policy of the model that is the prior mean of all."""
    n_actions = latent.simulators.n_actions
    if bytes_of_losses(latent, horizon) <= LARGEST_LOSSES:
        plan = mean_model_plan(loss_form(latent, horizon=horizon))
        return MarkovPolicy("mean-model", n_actions, plan.actions)
    return MarkovPolicy("mean-model, stationary", n_actions, _mean_policy(latent)[0])


def _mean_policy(latent: LatentMDP) -> IndexArray:
    """Return the gain-optimal policy of the mean model, (1, S)."""
    return solve_average_reward(mean_model(latent)).policy


def _average(latent: LatentMDP, policy: IndexArray) -> float:
    """Return the prior's average of what a policy earns in the second half of LONG."""
    worlds = latent.simulators
    whole: FloatArray = policy_values(worlds, policy, LONG).start
    half: FloatArray = policy_values(worlds, policy, LONG // 2).start
    return float(latent.prior @ (whole - half))
