"""What is lost without memory: by a policy that sees the state and the step alone."""

from __future__ import annotations

import numpy as np

from simgap.base_policies import memoryless_policy
from simgap.errors import NotCommunicating, NotSolved
from simgap.gap import Exact, exact_gaps
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle import (
    LossForm,
    ShortMemoryPlan,
    best_plan,
    fits,
    mean_model_plan,
    window_nodes,
)

MOST_STARTS = 8  # models whose plans the search starts from


def search_without_memory(form: LossForm, effort: float, seed: int) -> ShortMemoryPlan:
    """Return the best policy found that sees the state and the step alone.

    The search starts from the plans of the mean model and of the likeliest models.
    """
    mean, nodes = mean_model_plan(form), window_nodes(form.pattern, 0)
    if not fits(form, nodes.size):
        return mean
    likely = np.argsort(-form.latent.prior, kind="stable")
    spread = np.linspace(0, likely.size - 1, min(MOST_STARTS, likely.size))
    starts = [mean.actions]
    for at in np.unique(spread.round().astype(np.int64)):
        own = form.losses[..., int(likely[at])]
        starts.append(own.argmin(axis=2).astype(np.int32))
    return best_plan(form, nodes, starts, effort=effort, seed=seed)


def memoryless_bracket(plan: ShortMemoryPlan, average: Certified) -> Certified:
    """Return a bracket of the least average gap without memory.

    It is no less than with memory.
    """
    high = plan.average_ends.ends[1]
    return Certified(min(high, max(plan.least or 0.0, average.lower)), high)


def stationary_gaps(
    latent: LatentMDP, horizon: int, seed: int
) -> tuple[Certified, ...] | None:
    """Return the gaps of the best of the models' own stationary policies."""
    try:
        policy = memoryless_policy(latent, horizon, seed=seed)
    except (NotCommunicating, NotSolved):
        return None
    return exact_gaps(latent.simulators, policy, horizon, Exact())
