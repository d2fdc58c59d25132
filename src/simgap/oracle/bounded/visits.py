"""How a policy graph is used: which nodes are visited when, in which models."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simgap._kernels.beliefs import occupancy_step
from simgap.oracle.bounded.upper_graph import UpperPass, Visits, place, planned_steps
from simgap.oracle.bounded.upper_nodes import UpperNodes
from simgap.oracle.loss_form import LossForm

MOST_BYTES = 4e8
UNSEEN = 1e-8  # nodes visited with less weight than this choose by their own belief


def visits_of(
    form: LossForm, made: UpperPass, room: float, keep_going: Callable[[], None]
) -> Visits | None:
    """Return, step by step, the nodes the graph visits with the weights of models.

    None if that takes more than `room` bytes.
    """
    nodes, rules = made.nodes, made.rules
    here = np.zeros((nodes.size, form.n_models))
    there = np.zeros_like(here)
    current, reached = np.empty(nodes.size, np.int32), np.empty(nodes.size, np.int32)
    for node, weights in zip(made.roots, form.root_weights, strict=True):
        here[node] += weights
    count = made.roots.size
    current[:count] = made.roots
    mark = np.full(nodes.size, -1, np.int32)
    rule_of = rules.offsets[:-1].copy()
    found: Visits = []
    room = min(room, MOST_BYTES)
    for h in range(planned_steps(form)):
        which = current[:count].copy()
        total = here[which].sum(axis=1)
        seen = total > UNSEEN
        which, total = which[seen], total[seen]
        weights = (here[which] / total[:, None]).astype(np.float32)
        found.append((which, weights, total.astype(np.float32)))
        room -= weights.nbytes + 2 * which.nbytes
        if room < 0.0:
            return None
        count = occupancy_step(
            h, form.pattern.indptr, form.likelihood, form.pattern.n_actions,
            nodes.node_state, rules.until, rules.actions, rules.successors, rule_of,
            rules.offsets[1:], here, current, count, there, reached, mark,
        )  # fmt: skip
        here, there, current, reached = there, here, reached, current
        keep_going()
    return found


def moved_visits(visits: Visits, old: UpperNodes, new: UpperNodes) -> Visits:
    """Return the same visits to the same nodes of a larger structure."""
    return [
        (place(which, old, new), beliefs, chances) for which, beliefs, chances in visits
    ]
