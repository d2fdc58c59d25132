"""The best of all optimal policies of one model: its ties are broken for the others.

Breaking ties one by one can end in a plan that is not the best of them, so that all are
searched, and a bound says whether the search came to its end.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import BoolArray, FloatArray, owned
from simgap.oracle.baselines.memoryless import (
    ShortMemoryPlan,
    branched,
    enumerated,
    evaluated,
)
from simgap.oracle.loss_form import LossForm


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
