"""The best of all optimal policies of one model: its ties are broken for the others.

Actions that are within rounding of the best one need not be tied: .1 + .2 is not .3.
Where the work allows it, which actions are optimal is decided in exact arithmetic, for
the stored numbers as the fractions that they are. Elsewhere one of the actions within
rounding is optimal, and which one is open: the best plan loses no less than the best
selection of them, which is the plan that is returned, and no more than the worst.

Breaking ties one by one can end in a plan that is not the best of them, so that all are
searched, and a bound says whether the search came to its end.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import BoolArray, owned
from simgap.oracle.baselines.memoryless import (
    ShortMemoryPlan,
    branched,
    enumerated,
    evaluated,
    guided_plan,
)
from simgap.oracle.loss_form import LossForm

MOST_PRODUCTS = 100_000  # of exact arithmetic in one model, some tenths of a second
MOST_BITS = 2048  # of the common denominator of all rows


def best_of_ties(
    form: LossForm, plan: ShortMemoryPlan, member: int, work: float
) -> ShortMemoryPlan:
    """Return the best policy within rounding of optimal, with bounds on both sides.

    No optimal policy of the model has an average gap below `least`, and the best one
    has at most `most`. Without enough work `least` is lower, or None, and the plan is
    the best one found.
    """
    near = _reached_ties(form, _within_rounding(form, member))
    best = _best_of(form, plan, near, work)
    if int(near.sum(axis=2).max()) == 1:  # one policy, wherever it matters
        return replace(best, most=best.average_ends.upper)
    exact = _optimal_actions(form, member)
    if exact is None:
        return replace(best, most=_worst_of(form, near))
    tied = _reached_ties(form, exact)
    if (tied == near).all():
        return replace(best, most=best.average_ends.upper)
    sure = guided_plan(form, plan.nodes, np.where(tied, 0.0, 1.0), 0.0)
    sure = _best_of(form, sure, tied, work)
    return replace(best, most=sure.average_ends.upper)


def _best_of(
    form: LossForm, plan: ShortMemoryPlan, near: BoolArray, work: float
) -> ShortMemoryPlan:
    """Return the best policy of a table of allowed actions, with `least` of them all.

    The search is that of all policies where actions that are not allowed cost more than
    any episode loses: taking one never pays.
    """
    bits = float(np.log2(near.sum(axis=2)).sum())
    if bits == 0.0:
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
    says_something = safe > 0.0 or least >= best.average
    return replace(best, least=safe if says_something else None)


def most_of_ties(form: LossForm, member: int) -> float:
    """Return what the best plan of a model loses at most, without a search."""
    return _worst_of(form, _reached_ties(form, _within_rounding(form, member)))


def _within_rounding(form: LossForm, member: int) -> BoolArray:
    """Return (T, S, A) the actions among which the optimal ones are."""
    losses = form.losses[..., member]
    least = losses.min(axis=2, keepdims=True)
    return np.asarray(losses <= least + 2.0 * form.rounding)


def _worst_of(form: LossForm, near: BoolArray) -> float:
    """Return an average gap that no selection of the actions of a table exceeds.

    Every model has the worst selection of its own.
    """
    allowed = np.where(near[..., None], form.losses, -np.inf)
    weights = np.zeros((form.pattern.n_states, form.n_models))
    weights[form.root_states] = form.root_weights
    if form.horizon is None:
        most = allowed.max(axis=(0, 1, 2)) / (1.0 - form.discount)
        average = float(form.latent.prior @ most)
    else:
        gaps = np.zeros_like(weights)
        for h in range(form.steps - 1, -1, -1):
            check_time()
            later = form.likelihood * gaps[form.pattern.indices]
            rows = np.add.reduceat(later, form.pattern.indptr[:-1], axis=0)
            gaps = (allowed[h] + rows.reshape(allowed.shape[1:])).max(axis=1)
        average = float((weights * gaps).sum())
    return form.around(average).upper


def _optimal_actions(form: LossForm, member: int) -> BoolArray | None:
    """Return (H, S, A) the optimal actions of a model; None if that is too much work.

    Every row is taken as whole numbers over their sum, rewards as whole numbers over
    2^q, and values with t steps to go as whole numbers over 2^q times the t-th power of
    the common denominator of the rows, so that nothing is rounded.
    """
    pattern = form.pattern
    if form.horizon is None or form.steps * pattern.indices.size > MOST_PRODUCTS:
        return None
    rows = []
    for row in range(pattern.indptr.size - 1):
        entries = slice(pattern.indptr[row], pattern.indptr[row + 1])
        chances = [Fraction(p) for p in form.likelihood[entries, member].tolist()]
        whole = sum(chances, Fraction(0))
        rows.append((pattern.indices[entries].tolist(), [p / whole for p in chances]))
    common = lcm(*(p.denominator for _, chances in rows for p in chances))
    if common.bit_length() > MOST_BITS:
        return None
    simulators = form.latent.simulators
    own = np.broadcast_to(
        simulators.rewards, (form.n_models, pattern.n_states, pattern.n_actions)
    )[member]
    rewards = [Fraction(r) for r in own.ravel().tolist()]
    unit = lcm(*(r.denominator for r in rewards))
    paid = [int(r * unit) for r in rewards]
    parts = [(after, [int(p * common) for p in chances]) for after, chances in rows]
    shape = (form.steps, pattern.n_states, pattern.n_actions)
    optimal: BoolArray = np.zeros(shape, np.bool_)
    values, scale = [0] * pattern.n_states, 1
    for h in range(form.steps - 1, -1, -1):
        check_time()
        scale *= common
        found = [
            reward * scale + sum(p * values[s] for s, p in zip(*part, strict=True))
            for reward, part in zip(paid, parts, strict=True)
        ]
        for s in range(pattern.n_states):
            mine = found[s * pattern.n_actions : (s + 1) * pattern.n_actions]
            values[s] = max(mine)
            optimal[h, s] = [value == values[s] for value in mine]
    return optimal


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
