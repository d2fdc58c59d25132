"""Policies made for one model, and the best memoryless policy that starts from them.

The ties of an optimal policy of one model are broken for the others. Breaking ties one
by one can end in a plan that is not the best of them, so that all are searched, and a
bound says whether the search came to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import BoolArray, FloatArray, owned
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
    branched,
    enumerated,
    evaluated,
    fits,
    guided_plan,
)
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
    step. Losses below rounding count as none. The effort, in seconds of a usual
    machine, is spent as a fixed amount of work, the same for every model.
    """
    work, slack = effort * WORK_PER_SECOND / len(plans), _tie(form)
    if form.losses.size > work or not fits(form, form.pattern.n_states):
        return tuple(plans)
    guides = (np.ascontiguousarray(form.losses[..., m]) for m in range(form.n_models))
    return tuple(
        best_of_ties(form, plan, guide, slack, work)
        for plan, guide in zip(plans, guides, strict=True)
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


def best_of_ties(
    form: LossForm, plan: ShortMemoryPlan, guide: FloatArray, slack: float, work: float
) -> ShortMemoryPlan:
    """Return the best of all memoryless policies that a guide allows, with a bound.

    The search is that of all policies where actions that are not allowed cost more than
    any episode loses: taking one never pays. Without enough work the bound is lower,
    or None, and the plan is the best one found.
    """
    near = _reached_ties(form, guide <= guide.min(axis=2, keepdims=True) + slack)
    bits = float(np.log2(near.sum(axis=2)).sum())
    if bits == 0.0:  # one policy, wherever it matters
        return replace(plan, least=max(0.0, plan.average - plan.rounding))
    length = form.steps if form.horizon is not None else 1.0 / (1.0 - form.discount)
    dear = 2.0 * length * float(form.losses.max(initial=0.0)) + 1.0
    penal = replace(form, losses=owned(np.where(near[..., None], form.losses, dear)))
    if form.horizon is None:
        found, least = enumerated(penal, plan.nodes, plan, work)
    else:
        found, least = branched(penal, plan.nodes, plan, work, bits=bits)
    best = evaluated(form, plan.nodes, found.actions)
    best = best if best.average < plan.average else plan
    safe = min(least, best.average) - best.rounding
    return replace(best, least=safe if safe > 0.0 or least >= best.average else None)


def _reached_ties(form: LossForm, near: BoolArray) -> BoolArray:
    """Return the same with one action where no allowed one leads in a real episode."""
    pattern = form.pattern
    first = np.zeros_like(near)
    np.put_along_axis(first, near.argmax(axis=2)[..., None], True, axis=2)
    if form.horizon is None:
        return near
    reached = np.zeros(pattern.n_states, np.bool_)
    reached[form.root_states] = True
    possible = (form.likelihood[:, form.latent.prior > 0.0] > 0.0).any(axis=1)
    row_of = np.repeat(np.arange(pattern.indptr.size - 1), np.diff(pattern.indptr))
    kept = np.array(near)
    for h in range(form.steps):
        check_time()
        kept[h, ~reached] = first[h, ~reached]
        played = (kept[h] & reached[:, None]).ravel()
        after = pattern.indices[possible & played[row_of]]
        reached = np.zeros(pattern.n_states, np.bool_)
        reached[after] = True
    return kept
