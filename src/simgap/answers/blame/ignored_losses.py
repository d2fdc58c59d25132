"""What a plan for one nominal model loses because parts are not as it assumes.

u(S) is the gap of the nominal model's optimal plan if the parts in S have their real
values, drawn from the prior, and all others are nominal. u(empty) = 0, and u(N) is what
a team loses on average that plans for the nominal model and ignores that parameters may
differ. A part's share of it can be negative: one difference may make up for another.
The models that mix nominal and real values must be in the class; in a product grid they
are.

The plan is an optimal one of the nominal model; of equally good actions it takes the
one that loses least on average over the prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.answers.blame.hidden_parts import HiddenParts
from simgap.answers.blame.shapley import sets_without
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.intervals import EPS, Certified
from simgap.oracle import guided_plan, loss_form, window_nodes

LARGEST_TABLE = 10**8  # sets times models
MOST_PLAYERS = 16


@final
@dataclass(frozen=True, slots=True, eq=False)
class NominalPlan:
    """An optimal plan of one model, and what it loses in every model."""

    model: int
    actions: IndexArray  # (H, S)
    gaps: FloatArray  # (M,), exact up to `rounding`
    rounding: float  # absolute


def nominal_plan(parts: HiddenParts, nominal: int, horizon: int) -> NominalPlan:
    """Return the plan of the nominal model with its gap in every model."""
    form = loss_form(parts.latent, horizon=horizon)
    guide = np.ascontiguousarray(form.losses[..., nominal])
    slack = 2.0 * form.rounding / max(1, form.steps)
    plan = guided_plan(form, window_nodes(form.pattern, 0), guide, slack)
    gaps = np.maximum(plan.gaps, 0.0)
    return NominalPlan(nominal, plan.actions, owned(gaps), plan.rounding)


def middle_model(parts: HiddenParts) -> int:
    """Return the possible model nearest the middle of the ranges of all parameters.

    Every range counts as 1. Of equally near models, and of models without parameters,
    it is the most probable, then the first.
    """
    possible, prior = parts.possible, parts.latent.prior
    values = parts.latent.simulators.theta.values[possible]
    low, high = values.min(axis=0), values.max(axis=0)
    wide = np.where(high > low, high - low, 1.0)
    away = (((values - 0.5 * (low + high)) / wide) ** 2).sum(axis=1)
    near = away <= away.min() * (1.0 + 1e-9) + 1e-12
    best = np.where(near, prior[possible], -1.0)
    return int(possible[int(np.argmax(best >= best.max() * (1.0 - 1e-12)))])


def ignored_shares(
    parts: HiddenParts, plan: NominalPlan
) -> tuple[Certified, ...] | None:
    """Return the Shapley share of every relevant part; None if shares do not exist.

    A sum of 2^(n - 1) differences of averages; their weights sum to 1. Models that mix
    nominal and real values may be missing, and the nominal value of a part may have no
    weight: then parts that never differ among possible models differ from the nominal
    one, and the relevant parts alone do not make up the whole.
    """
    n, size = len(parts.relevant), len(parts.possible)
    if n > MOST_PLAYERS or 2**n * size > LARGEST_TABLE:
        return None
    losses = ignored_losses(parts, plan)
    if losses is None:
        return None
    slack = 2.0 * plan.rounding
    slack += EPS * (2**n + size + 8) * float(np.abs(losses).max(initial=0.0))
    whole = float(parts.latent.prior @ plan.gaps)
    if abs(losses[-1] - whole) > slack + EPS * size * abs(whole):
        return None
    found = []
    for player in range(n):
        before, weights = sets_without(player, n)
        share = float(weights @ (losses[before | 1 << player] - losses[before]))
        found.append(Certified(share - slack, share + slack))
    return tuple(found)


def ignored_losses(parts: HiddenParts, plan: NominalPlan) -> FloatArray | None:
    """Return u of every set of relevant parts, (2^n,); None if a model is missing."""
    radix = _radix(parts)
    if radix is None:
        return None
    keys = parts.codes.astype(np.int64) @ radix
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    possible, prior = parts.possible, parts.latent.prior
    real, nominal = parts.codes[possible], parts.codes[plan.model]
    losses = np.zeros(2 ** len(parts.relevant))
    for chosen in range(1, losses.size):
        columns = [part for k, part in enumerate(parts.relevant) if chosen >> k & 1]
        mixed = np.tile(nominal, (possible.size, 1)).astype(np.int64)
        mixed[:, columns] = real[:, columns]
        wanted = mixed @ radix
        at = np.minimum(np.searchsorted(ordered, wanted), ordered.size - 1)
        if (ordered[at] != wanted).any():
            return None
        losses[chosen] = prior[possible] @ plan.gaps[order[at]]
    return losses


def _radix(parts: HiddenParts) -> OffsetArray | None:
    """Return weights that turn a row of codes into one number, if it fits."""
    weights, product = [], 1
    for labels in parts.labels:
        weights.append(product)
        product *= len(labels)
    return np.array(weights, np.int64) if product < 2**62 else None
