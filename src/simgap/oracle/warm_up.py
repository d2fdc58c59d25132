"""Compiling the kernels a solver needs, apart from planning, once per process.

numba keeps what it compiled beside the library, so that only the first run after an
installation is slow; later ones load it.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle.bounded import solve_bounded
from simgap.oracle.bounded.graph_assembly import policy_graph
from simgap.oracle.bounded.lower_nodes import lower_structure
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.bounded.points import PointSource
from simgap.oracle.bounded.upper_nodes import upper_nodes
from simgap.oracle.bounded.upper_side import upper_pass, vector_sets, visits_of
from simgap.oracle.exact import count_nodes, solve_exact
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.settings import BoundedOracle, ExactOracle

_ready: set[str] = set()  # what this process has compiled or loaded already


def compile_exact() -> float:
    """Return the seconds it took to compile or load the exact solver, 0 if it was."""
    if "exact" in _ready:
        return 0.0
    begin = perf_counter()
    form = _tiny(finite=True)
    count_nodes(form, 1000)
    solve_exact(form, ExactOracle())
    _ready.add("exact")
    return perf_counter() - begin


def compile_bounded(*, finite: bool) -> float:
    """Return the seconds it took to compile or load the bounded and grid solvers."""
    if f"bounded {finite}" in _ready:
        return 0.0
    begin = perf_counter()
    form = _tiny(finite=finite)
    solve_bounded(form, BoundedOracle(time_limit=None))
    nodes = upper_nodes(form, PointSource.at_root(form, 0).points, levels=2)
    first = upper_pass(form, nodes, _go_on)
    visits = visits_of(form, first, 1e9, _go_on)
    second = upper_pass(form, nodes, _go_on, earlier=first.rules, visits=visits)
    graph_gaps(form, policy_graph(form, second))
    above = PointSource.at_root(form, 0).grow(3, vector_sets(form, second, 8))
    faces = lower_structure(form, above.states, above.beliefs, cells=4)
    _, below = lower_pass(form, faces, _go_on)
    PointSource.at_root(form, 1).grow(3, below)
    _ready.add(f"bounded {finite}")
    return perf_counter() - begin


def _go_on() -> None:
    """Never stop."""


def _tiny(*, finite: bool) -> LossForm:
    """Return two models that differ in which of two actions pays."""
    even, good = [0.5, 0.5], [0.2, 0.8]
    kernels = np.array([[[even, good]] * 2, [[good, even]] * 2])
    rewards = np.array([[0.0, 0.0], [1.0, 1.0]])
    order = IndexOrder.STATE_ACTION
    latent = LatentMDP.uniform(class_from_arrays(kernels, rewards, order=order))
    if finite:
        return loss_form(latent, horizon=3)
    return loss_form(latent, discount=0.5)
