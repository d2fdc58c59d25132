"""Policies made for one model, and the best memoryless policy that starts from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simgap.arrays import FloatArray
from simgap.mdp import (
    LEAST_CHANCE,
    LEAST_REWARD,
    LatentMDP,
    SimulatorClass,
    Transitions,
)
from simgap.oracle.baselines.memoryless import (
    WORK_PER_SECOND,
    ShortMemoryPlan,
    best_plan,
    fits,
    guided_plan,
)
from simgap.oracle.baselines.ties import best_of_ties, most_of_ties
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.loss_form import LossForm, loss_form

MOST_STARTS = 12  # plans of single models from which the search starts


def single_plans(
    form: LossForm, members: Sequence[int] | None = None
) -> tuple[ShortMemoryPlan, ...]:
    """Return the optimal policy of every model; ties are broken by the prior average.

    Among the actions that are optimal in its own model, each plan takes those that
    lose least in the others. `members` are the models to plan for, all by default.
    """
    nodes = window_nodes(form.pattern, 0)
    slack = _tie(form)
    return tuple(
        guided_plan(form, nodes, np.ascontiguousarray(form.losses[..., m]), slack)
        for m in (range(form.n_models) if members is None else members)
    )


def ties_exhausted(
    form: LossForm, plans: Sequence[ShortMemoryPlan], effort: float
) -> tuple[ShortMemoryPlan, ...]:
    """Return the best optimal plan of every model, with `least` if all ties were tried.

    A plan is optimal if it plays an optimal action of its model in every state at every
    step. `most` counts ties that are proved. The effort, in seconds of a usual machine,
    is spent as a fixed amount of work, the same for every model.
    """
    work = effort * WORK_PER_SECOND / len(plans)
    if form.losses.size > work or not fits(form, form.pattern.n_states):
        best = min(range(len(plans)), key=lambda m: plans[m].average)
        most = most_of_ties(form, best)
        return tuple(
            replace(plan, most=most) if m == best else plan
            for m, plan in enumerate(plans)
        )
    return tuple(
        best_of_ties(form, plan, member, work) for member, plan in enumerate(plans)
    )


def mean_model_plan(form: LossForm) -> ShortMemoryPlan:
    """Return the optimal policy of the model with the prior mean of P and of R."""
    discount = None if form.horizon is not None else form.discount
    known = loss_form(
        LatentMDP.uniform(mean_model(form.latent)),
        horizon=form.horizon,
        discount=discount,
    )
    guide = np.ascontiguousarray(known.losses[..., 0])
    return guided_plan(form, window_nodes(form.pattern, 0), guide, _tie(known))


def mean_model(latent: LatentMDP) -> SimulatorClass:
    """Return the one model with the prior mean of P, of R and of the start law."""
    simulators, prior = latent.simulators, latent.prior
    kernel = simulators.transitions
    shape = (len(simulators), kernel.n_states, kernel.n_actions)
    rewards = np.broadcast_to(simulators.rewards, shape)
    paid = np.tensordot(prior, rewards, 1)[None]
    if np.abs(paid).max() < LEAST_REWARD:  # what is left of rewards that cancel
        paid = np.zeros_like(paid)
    laws = np.stack([simulators.start_law(m) for m in range(len(simulators))])
    return SimulatorClass(
        transitions=Transitions(
            kernel.n_states, kernel.n_actions, kernel.indptr, kernel.indices,
            _likely((prior @ kernel.values)[None]),
        ),
        rewards=paid,
        start=_likely((prior @ laws)[None]),
    )  # fmt: skip


def _likely(chances: FloatArray) -> FloatArray:
    return np.asarray(np.where(chances < LEAST_CHANCE, 0.0, chances))


def best_memoryless(
    form: LossForm,
    plans: tuple[ShortMemoryPlan, ...],
    mean: ShortMemoryPlan | None,
    *,
    effort: float = 1.0,
    seed: int = 0,
    prove: bool = True,
) -> ShortMemoryPlan:
    """Return the best policy found that sees the state and the step alone."""
    known = plans if mean is None else (*plans, mean)
    ranked = sorted(known, key=lambda plan: plan.average)
    starts = [plan.actions for plan in ranked[:MOST_STARTS]]
    nodes = window_nodes(form.pattern, 0)
    if not fits(form, nodes.size):
        return ranked[0]
    return best_plan(form, nodes, starts, effort=effort, seed=seed, prove=prove)


def _tie(form: LossForm) -> float:
    """Return how far two equally good actions may be apart by rounding."""
    if form.horizon is None:
        return 2.0 * form.rounding * (1.0 - form.discount)
    return 2.0 * form.rounding / max(1, form.steps)
