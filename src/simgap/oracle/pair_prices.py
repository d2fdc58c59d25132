"""What not knowing one model from another costs, for every pair.

The price of (i, j) is the average gap of the oracle of these two models alone, with
their prior: an agent that knows that i or j is real. High prices say which
differences between simulators the loss comes from.

Pairs grow with the square of the class. Where comparing all of them would take too long
some models, evenly spread, are compared with each other, and every other pair has what
is cheap: 0 from below, and from above the least that a plan of one of these models, or
the policy found for the whole class, costs it.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.time_limit import check_time, claim
from simgap.arrays import FloatArray, OffsetArray
from simgap.intervals import EPS
from simgap.oracle.baselines.memoryless import evaluated
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.bounded.lower_nodes import (
    bytes_of_lower,
    lower_structure,
    number_of_pairs,
    pairs_of,
)
from simgap.oracle.bounded.lower_side import lower_pass, pair_prices_below
from simgap.oracle.bounded.points import no_points
from simgap.oracle.bounded.upper_graph import (
    UpperPass,
    bytes_of_upper,
    planned_steps,
    upper_nodes,
)
from simgap.oracle.bounded.upper_side import upper_effort, upper_pass
from simgap.oracle.loss_form import LossForm
from simgap.oracle.part_of_class import part_of_form, spread_over

EFFORT = 3e6  # node-steps
MOST_CELLS, MOST_LEVELS = 64, 24
MOST_EFFORT = 4e9  # nanoseconds, counted, of comparing all models
MOST_COMPARED, FEWEST_COMPARED = 48, 6  # models, if they are too many


def pair_prices(
    form: LossForm, gaps: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the prices, (M, M) each.

    `gaps` (M,) are those of some policy; they help where models are too many.
    """
    members = form.n_models
    if number_of_pairs(form) == 0:
        return np.zeros((members, members)), np.zeros((members, members))
    kept = compared_models(form)
    if kept is None:
        return _compared(form)
    above = cheap_prices(form, kept, gaps)
    below = np.zeros_like(above)
    weights = form.latent.prior[kept]
    low, high = _compared(part_of_form(form, kept, weights / weights.sum()))
    block = np.ix_(kept, kept)
    above[block] = np.minimum(above[block], high)
    below[block] = np.minimum(low, above[block])
    return below, above


def compared_models(form: LossForm) -> OffsetArray | None:
    """Return the models whose pairs are looked at; None: all, for they are few."""
    likely = np.flatnonzero(form.latent.prior > 0.0)
    if _effort(form, likely.size) <= MOST_EFFORT:
        return None
    count = min(MOST_COMPARED, likely.size)
    while count > FEWEST_COMPARED and _effort(form, count) > MOST_EFFORT:
        count = max(FEWEST_COMPARED, count * 3 // 4)
    return likely[spread_over(likely.size, count)] if count < likely.size else None


def _effort(form: LossForm, members: int) -> float:
    """Return about how many nanoseconds comparing so many models takes, counted."""
    pattern, pairs = form.pattern, number_of_pairs(form, members)
    steps = max(planned_steps(form), 1)
    most = EFFORT / max(1, pattern.n_states * pairs * steps)
    cells, levels = (
        int(np.clip(most, 4, MOST_CELLS)),
        int(np.clip(most, 1, MOST_LEVELS)),
    )
    successors = pattern.indices.size / pattern.n_states
    faces = pattern.n_states * pairs * (cells - 1) * (10.0 + 3.0 * successors)
    of_state = members + pairs * levels
    passes = upper_effort(form, pattern.n_states * of_state, 0, 0, members=members)
    best = 3.0 * members**2 * of_state * form.root_states.size  # node of each pair
    return steps * faces + passes + best


def cheap_prices(
    form: LossForm, kept: OffsetArray, gaps: FloatArray | None
) -> FloatArray:
    """Return what the best of a few policies costs each pair, (M, M)."""
    nodes, prior = window_nodes(form.pattern, 0), form.latent.prior
    table = []
    for member in kept:
        actions = form.losses[..., member].argmin(axis=2).astype(np.int32)
        plan = evaluated(form, nodes, np.ascontiguousarray(actions))
        table.append(plan.gaps + plan.rounding)
    if gaps is not None:
        finite = np.where(np.isnan(gaps), np.inf, gaps)
        table.append(finite * (1.0 + form.relative_rounding) + form.rounding)
    least = np.full((prior.size, prior.size), np.inf)
    for lost in table:
        weighted = np.zeros(prior.size)
        np.multiply(prior, lost, where=prior > 0.0, out=weighted)
        np.minimum(least, weighted[:, None] + weighted, out=least)
    both = prior[:, None] + prior
    prices: FloatArray = np.zeros_like(least)
    np.divide(least * (1.0 + 8.0 * EPS), both, where=both > 0.0, out=prices)
    single = (prior == 0.0)[:, None] | (prior == 0.0)  # a model is known then
    prices[single] = 0.0
    np.fill_diagonal(prices, 0.0)
    return prices


def _compared(form: LossForm) -> tuple[FloatArray, FloatArray]:
    """Return the bounds of the prices of all pairs, on faces and levels of odds."""
    each = form.pattern.n_states * pairs_of(form)[0].size * max(planned_steps(form), 1)
    cells = int(np.clip(EFFORT / each, 4, MOST_CELLS))
    levels = int(np.clip(EFFORT / each, 1, MOST_LEVELS))
    claim(bytes_of_lower(form, 0, cells) + bytes_of_upper(form, 0, levels))
    nobody = no_points(form)
    faces = lower_structure(form, nobody.states, nobody.beliefs, cells=cells)
    values, _ = lower_pass(form, faces, check_time)
    made = upper_pass(form, upper_nodes(form, nobody, levels=levels), check_time)
    above = pair_prices_above(form, made)
    return np.minimum(pair_prices_below(form, faces, values), above), above


def pair_prices_above(form: LossForm, made: UpperPass) -> FloatArray:
    """Return what each pair costs at most: the best node of a graph for that pair."""
    prices = np.zeros((form.n_models, form.n_models))
    for state, root in zip(form.root_states, form.root_weights, strict=True):
        block = slice(*made.nodes.state_offsets[state : state + 2])
        parts = made.vectors[block] * root
        for i in range(form.n_models):
            prices[i] += (parts[:, i, None] + parts).min(axis=0)
    both = form.latent.prior[:, None] + form.latent.prior
    prices = np.divide(prices, both, where=both > 0.0, out=np.zeros_like(prices))
    prices = (prices + made.loose) * (1.0 + form.relative_rounding) + form.rounding
    np.fill_diagonal(prices, 0.0)
    return prices
