"""The oracle of hundreds of models: planned on a part, bounded on all of them.

Planning compares models in pairs and keeps a number per model at every node. The work
of its first pieces is counted before anything is built. If it does not fit into the
time limit, the class is split.

From above: the policy is planned for some models, evenly spread, that stand for their
neighbours, and is then evaluated exactly in every model.

From below: the average gap G is concave in the prior. With the class cut into groups,
each of which has models from all over it, G(prior) is at least the mean of G(group)
over the groups, by their weights; and pairs of models bound each G(group). A group for
which there was no time counts as 0. There is a second bound: no gap is negative, so
that with nu the prior weights of the chosen models and w their weights including those
of the models they stand for, G is at least min (nu / w) times the gap of the chosen
part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.intervals import EPS
from simgap.oracle.bounded.lower_nodes import lower_structure, number_of_pairs
from simgap.oracle.bounded.lower_side import lower_pass, root_lower
from simgap.oracle.bounded.points import no_points
from simgap.oracle.bounded.upper_graph import planned_steps
from simgap.oracle.bounded.upper_side import first_points, upper_effort
from simgap.oracle.completed_graph import average_plan, completed_graph
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm
from simgap.oracle.part_of_class import (
    Neighbourhoods,
    neighbourhoods,
    part_of_form,
)
from simgap.oracle.result import Outcome, Planned, VectorSets
from simgap.oracle.settings import AutoOracle, BoundedOracle
from simgap.oracle.watch import Progress, StopPlanning, Watch, ends_planning

PLANNED_ANYWAY = 40  # models, whatever they cost: so few are one class
FEWEST = 12
UNLIMITED = 600.0  # seconds that a run without a limit may be thought to take
PART_FOR_FIRST = 0.12  # of the time limit, counted, for the first look at points
LOOKS = 12  # at successors in a pass, about
FOR_PLANNING, FOR_GROUPS = 0.5, 0.75  # parts of the time limit: when to stop
PART_FOR_GROUPS = 0.12  # of the time limit, counted
GROUPS = (  # sizes and cells, the best bounds first
    *((16, 64), (16, 32), (12, 32), (8, 32), (16, 16), (8, 16), (16, 8), (8, 8)),
    *((4, 16), (4, 8), (2, 16), (2, 8)),
)
PROGRAM = 3e6  # nanoseconds of a small linear program, and to set a group up
VECTORS, LARGEST_VECTORS = 24, 8_000_000  # per state; numbers of all of them

Plan = Callable[[LossForm, AutoOracle | BoundedOracle], Planned]


def part_to_plan(form: LossForm, time_limit: float | None) -> int | None:
    """Return how many models to plan for at once; None: all of them.

    It depends on the work counted and on the time limit, not on the clock.
    """
    seconds = UNLIMITED if time_limit is None else time_limit
    likely = int((form.latent.prior > 0.0).sum())
    shorter = FOR_PLANNING * seconds
    if likely <= PLANNED_ANYWAY or any(
        _fits(form, likely, each) for each in (seconds, shorter)
    ):
        return None
    count = likely
    while count > FEWEST and not _fits(form, count, shorter):
        count = max(FEWEST, count * 9 // 10)
    return count


def solve_in_parts(
    form: LossForm,
    limits: AutoOracle | BoundedOracle,
    count: int,
    plan: Plan,
    *,
    report: Callable[[Progress], None] | None = None,
) -> Planned:
    """Return the oracle of a class of which `count` models are planned for.

    `plan` plans for a part within limits.
    """
    scale = abs(form.informed) + float(np.abs(form.optimal).max())
    rounding = 2.0 * form.rounding + 1e-13 * scale
    watch = Watch(limits, form.informed, form.worth, rounding, report)
    part = neighbourhoods(form.latent.prior, count)
    inner = part_of_form(form, part.chosen, part.weights)
    limit = limits.time_limit
    shorter = None if limit is None else FOR_PLANNING * limit
    found = plan(inner, replace(limits, time_limit=shorter))
    foreseen = np.asarray((inner.likelihood > 0.0).any(axis=1))
    policy = completed_graph(found.policy, form.pattern, foreseen, average_plan(inner))
    gaps = graph_gaps(form, policy)
    likely = form.latent.prior > 0.0
    upper = float(form.latent.prior[likely] @ gaps[likely])
    upper = upper * (1.0 + form.relative_rounding) + form.rounding
    watch.narrow(f"a plan for {part.chosen.size} models", upper=upper)
    own = float((form.latent.prior[part.chosen] / part.weights).min())
    below = own * found.lower * (1.0 - 64.0 * EPS * likely.size)
    watch.narrow("the models planned for", lower=min(below, upper))
    outcome = _not_solved(found.outcome)
    if outcome is not Outcome.INTERRUPTED:
        try:
            below, complete = _groups_below(form, watch)
        except KeyboardInterrupt:
            if not ends_planning(limits):
                raise
            below, complete, outcome = 0.0, True, Outcome.INTERRUPTED
        outcome = outcome if complete else Outcome.OUT_OF_TIME
        watch.narrow("groups of models", lower=min(below, upper))
    if watch.solved() and outcome is not Outcome.INTERRUPTED:
        outcome = Outcome.SOLVED
    return Planned(
        lower=watch.lower,
        upper=upper,
        outcome=outcome,
        policy=policy,
        gaps=gaps,
        vectors=_lifted(form, found.vectors, part),
        nodes=found.nodes,
        largest_bytes=max(found.largest_bytes, form.losses.nbytes),
        trace=tuple(watch.trace),
    )


def _fits(form: LossForm, count: int, seconds: float) -> bool:
    """Return whether the first pass over points is a small part of a time, counted."""
    points = first_points(form, seconds, members=count)
    nodes = points + form.pattern.n_states * (count + number_of_pairs(form, count))
    effort = upper_effort(form, nodes, points, LOOKS, members=count)
    return effort <= 1e9 * PART_FOR_FIRST * seconds


def _not_solved(outcome: Outcome) -> Outcome:
    """Return why a bracket is as wide as it is, when its part was planned so."""
    solved = outcome in (Outcome.EXACT, Outcome.SOLVED)
    return Outcome.STALLED if solved else outcome


def _groups_below(form: LossForm, watch: Watch) -> tuple[float, bool]:
    """Return a lower bound of G from groups, and whether there was time for all."""
    likely = np.flatnonzero(form.latent.prior > 0.0)
    size, cells = _grouping(form, likely.size, watch.asked_seconds)
    groups = -(-likely.size // size)
    limit = watch.limits.time_limit
    total = 0.0
    for turn in range(groups):
        late = limit is not None and watch.seconds > FOR_GROUPS * limit
        if late or watch.room() < 0.0:
            return total, False
        chosen = likely[turn::groups]
        share = float(form.latent.prior[chosen].sum())
        try:
            below = _group_below(form, chosen, share, cells, watch)
        except StopPlanning:
            return total, False
        total += share * below * (1.0 - 64.0 * EPS * likely.size)
    return total, True


def _grouping(form: LossForm, models: int, seconds: float) -> tuple[int, int]:
    """Return size and cells of groups: the best that the time counted for allows."""
    pattern, steps = form.pattern, max(planned_steps(form), 1)
    successors = pattern.indices.size / pattern.n_states
    per_cell = pattern.n_states * steps * (10.0 + 3.0 * successors)
    efforts = [
        -(-models // size) * (size * (size - 1) / 2 * (cells - 1) * per_cell + PROGRAM)
        for size, cells in GROUPS
    ]
    most = max(1e9 * PART_FOR_GROUPS * seconds, min(efforts))
    return next(
        each for each, effort in zip(GROUPS, efforts, strict=True) if effort <= most
    )


def _group_below(
    form: LossForm, chosen: OffsetArray, share: float, cells: int, watch: Watch
) -> float:
    """Return a lower bound of the average gap of a group, from its pairs."""
    if chosen.size < 2:
        return 0.0
    part = part_of_form(form, chosen, form.latent.prior[chosen] / share)
    nobody = no_points(part)
    faces = lower_structure(part, nobody.states, nobody.beliefs, cells=cells)
    values, _ = lower_pass(part, faces, watch.keep_going)
    return root_lower(part, faces, values)


def _lifted(form: LossForm, sets: VectorSets, part: Neighbourhoods) -> VectorSets:
    """Return vectors for all models: that of the model that stands for each.

    They only guide a policy that looks ahead; its gap is estimated for itself.
    """
    rows = np.diff(sets.vector_offsets)
    most = VECTORS
    while most > 0 and int(np.minimum(rows, most).sum()) * form.n_models > (
        LARGEST_VECTORS
    ):
        most //= 2
    kept = [
        first + np.unique(np.linspace(0, many - 1, min(most, many)).round())
        for first, many in zip(sets.vector_offsets, rows, strict=False)
    ]
    counts = [each.size for each in kept]
    which = np.concatenate(kept).astype(np.int64) if kept else np.zeros(0, np.int64)
    vectors: FloatArray = np.ascontiguousarray(sets.vectors[which][:, part.nearest])
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return VectorSets(sets.vector_set, offsets, vectors)
