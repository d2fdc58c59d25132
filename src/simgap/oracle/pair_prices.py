"""What not knowing one model from another costs, for every pair.

The price of (i, j) is the average gap of the oracle of these two models alone, with
their prior: an agent that knows that the world is i or j. High prices say which
differences between simulators the loss comes from.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.oracle.bounded.lower_nodes import lower_structure, pairs_of
from simgap.oracle.bounded.lower_side import lower_pass, pair_prices_below, slack_of
from simgap.oracle.bounded.points import no_points
from simgap.oracle.bounded.upper_graph import UpperPass, planned_steps
from simgap.oracle.bounded.upper_nodes import upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass
from simgap.oracle.loss_form import LossForm

EFFORT = 3e6  # node-steps
MOST_CELLS, MOST_LEVELS = 64, 24


def pair_prices(form: LossForm) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the prices, (M, M) each."""
    members = form.n_models
    pairs = pairs_of(form)[0].size
    if pairs == 0:
        return np.zeros((members, members)), np.zeros((members, members))
    each = form.pattern.n_states * pairs * max(planned_steps(form), 1)
    cells = int(np.clip(EFFORT / each, 4, MOST_CELLS))
    levels = int(np.clip(EFFORT / each, 1, MOST_LEVELS))
    nobody = no_points(form)
    faces = lower_structure(form, nobody.states, nobody.beliefs, cells=cells)
    values, _ = lower_pass(form, faces, _go_on)
    made = upper_pass(form, upper_nodes(form, nobody, levels=levels), _go_on)
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
    prices = (prices + made.loose) * (1.0 + slack_of(form)) + form.rounding
    np.fill_diagonal(prices, 0.0)
    return prices


def _go_on() -> None:
    """Never stop."""
