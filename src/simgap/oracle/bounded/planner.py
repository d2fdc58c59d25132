"""The anytime planner: a bracket of the average gap that closes with time.

The lower side rises with a finer grid of odds on the pair faces and with more points;
the upper side falls with another pass over the policy graph and with more nodes. Work
goes to the side that closed more of the bracket per second the last time, and within a
side to what brought more. The bracket is valid after each piece of work.

The constants of this room decide how soon a bracket is narrow, never whether it holds.
Three of them matter on some class: `points.FAR_APART`, `upper_side.PART_FOR_NODES` and
`lower_side.PRUNE`. Their comments have the ratio of the ends of the average gap after
two seconds of planning, halved and doubled, for four lakes, a Garnet of ten models and
two winds; as they are it is 1.07, 2.65 to 2.71 and 1.002
(`benchmarks/planner_constants.py`). Nobody notices if another one is halved or doubled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.oracle.bounded.lower_nodes import (
    LowerValues,
    bytes_of_lower,
    lower_structure,
    pairs_of,
)
from simgap.oracle.bounded.lower_side import (
    lower_pass,
    pair_prices_below,
    root_lower,
)
from simgap.oracle.bounded.points import (
    BeliefPoints,
    LatticeSource,
    PointSource,
    no_points,
)
from simgap.oracle.bounded.upper_graph import (
    UpperPass,
    Visits,
    bytes_of_upper,
    moved_visits,
    planned_steps,
    policy_graph,
    upper_nodes,
    vector_sets,
    visits_of,
)
from simgap.oracle.bounded.upper_side import first_points, upper_pass
from simgap.oracle.graph_values import graph_gaps
from simgap.oracle.loss_form import LossForm
from simgap.oracle.pair_prices import pair_prices_above
from simgap.oracle.result import Outcome, Planned, VectorSets
from simgap.oracle.settings import AnytimeSolver
from simgap.oracle.watch import Progress, StopPlanning, Watch, ends_planning

FIRST_EFFORT = 1.5e6  # node-steps of the first look at the pairs, at most
EFFORT_PER_SECOND = 2e5  # the same, for a second of the time limit
MOST_CELLS = 512
MOST_LEVELS = 40
FEW_LEVELS = 3
GUIDES, VECTORS = 16, 128  # per state: to meet beliefs, and to run with
STALLED = 0.06  # a pass that gains less than this is followed by a larger graph
HOPE = 0.02  # what a piece of work is expected to close at least
FRUITLESS = 1e-5
PATIENCE = 3  # times that every kind of work may close nothing


class Source(Protocol):
    """Where points come from: episodes of simulation, or a lattice."""

    def grow(
        self,
        count: int,
        guide: VectorSets | LowerValues,
        keep_going: Callable[[], None],
    ) -> BeliefPoints:
        """Return `count` points or about as many, the old ones first."""
        ...


@final
@dataclass(slots=True, eq=False)
class _Work:
    """One kind of work: what it costs and what it brings."""

    run: Callable[[_Planner], bool]  # whether it can be done again
    growth: float  # how much more the next time costs
    effort: float  # of the last time, or a guess; nanoseconds, counted
    closed: float  # part of the bracket, the last time
    seconds: float = 0.0  # of the last time; only limits depend on it
    full: bool = False  # it needs more memory than there is
    spent: bool = False  # there is nothing left to add
    idle: int = 0  # times in a row that it closed nothing, and nothing else did

    @property
    def out(self) -> bool:
        return self.full or self.spent

    @property
    def rate(self) -> tuple[int, float]:
        """Return what to do first: not what was in vain, then what closes fastest."""
        return -self.idle, max(self.closed, HOPE) / (self.growth * self.effort)


@final
@dataclass(slots=True, eq=False)
class _Planner:
    """What is known so far about one loss form."""

    form: LossForm
    watch: Watch
    met_above: Source  # points for the upper side
    met_below: Source  # points for the lower side
    prices_below: FloatArray
    below: LowerValues | None = None
    best: UpperPass | None = None  # the graph that is worked on
    answer: UpperPass | None = None  # the one with the least bound so far
    visits: Visits | None = None  # of `best`, once they are counted
    cells: int = 8
    lower_points: int = 0
    upper_points: int = 0
    levels: int = 1
    nodes: int = 0
    effort: float = 0.0  # of the last piece of work


def solve_bounded(
    form: LossForm,
    limits: AnytimeSolver,
    *,
    seed: int = 0,
    report: Callable[[Progress], None] | None = None,
) -> Planned:
    """Return a bracket of the average gap and the policy graph of its upper end.

    Points are beliefs met in simulation.
    """
    above, below = (PointSource.at_root(form, seed + turn) for turn in (0, 1))
    return _solve(form, limits, above, below, report)


def solve_grid(
    form: LossForm,
    limits: AnytimeSolver,
    *,
    report: Callable[[Progress], None] | None = None,
) -> Planned:
    """Return the same for two or three models, with points on one lattice."""
    likely = int((form.latent.prior > 0.0).sum())
    if likely > 3:
        raise InvalidArgument(
            f"a grid of beliefs over {likely} models would be too large",
            hint="the grid solver takes two or three models; use the bounded one",
        )
    source = LatticeSource(form)
    return _solve(form, limits, source, source, report)


def without_planning(form: LossForm, limits: AnytimeSolver) -> Planned:
    """Return what is known at once, for a run that was interrupted before it began."""
    nowhere = LatticeSource(form)
    planner = _begin(form, limits, nowhere, nowhere, None)
    return _planned(planner, Outcome.INTERRUPTED)


def _solve(
    form: LossForm,
    limits: AnytimeSolver,
    above: Source,
    below: Source,
    report: Callable[[Progress], None] | None,
) -> Planned:
    try:
        planner = _begin(form, limits, above, below, report)
    except KeyboardInterrupt:
        if not ends_planning(limits):
            raise
        return without_planning(form, limits)
    outcome = Outcome.SOLVED
    try:
        _first_look(planner)
        outcome = _close(planner)
    except StopPlanning as stop:
        outcome = stop.outcome
    except KeyboardInterrupt:
        if not ends_planning(limits):
            raise
        outcome = Outcome.INTERRUPTED
    try:
        return _planned(planner, outcome)
    except KeyboardInterrupt:  # the bracket is there: only a second one gives it up
        if outcome is Outcome.INTERRUPTED or not ends_planning(limits):
            raise
        return _planned(planner, Outcome.INTERRUPTED)


def _begin(
    form: LossForm,
    limits: AnytimeSolver,
    above: Source,
    below: Source,
    report: Callable[[Progress], None] | None,
) -> _Planner:
    """Return a planner with a first policy: one model's plan needs no search."""
    scale = abs(form.informed) + float(np.abs(form.optimal).max())
    rounding = 2.0 * form.rounding + 1e-13 * scale
    watch = Watch(limits, form.informed, form.worth, rounding, report)
    none = np.zeros((form.n_models, form.n_models))
    planner = _Planner(form, watch, above, below, none)
    nodes = upper_nodes(form, no_points(form), levels=0)
    _keep(planner, upper_pass(form, nodes, check_time), "following one model")
    return planner


def _first_look(planner: _Planner) -> None:
    """Pairs only, coarsely: the first bracket."""
    form, watch = planner.form, planner.watch
    pairs, states = pairs_of(form)[0].size, form.pattern.n_states
    if pairs == 0:
        watch.narrow("there is only one model", upper=form.rounding)
        return
    per_level = states * pairs * max(planned_steps(form), 1)
    effort = min(FIRST_EFFORT, EFFORT_PER_SECOND * watch.asked_seconds)
    planner.levels = int(np.clip(effort / per_level, 1, MOST_LEVELS))
    affordable = 4.0 * effort / per_level
    planner.cells = int(2 ** np.clip(np.floor(np.log2(max(affordable, 8))), 3, 7))
    _lower(planner, cells=planner.cells, points=0)
    if planner.levels < FEW_LEVELS:  # points will do better
        return
    watch.claim(bytes_of_upper(form, 0, planner.levels))
    nodes = upper_nodes(form, no_points(form), levels=planner.levels)
    _keep(
        planner,
        upper_pass(form, nodes, watch.keep_going, bound=watch.upper),
        "pairs of models",
    )


def _close(planner: _Planner) -> Outcome:
    """Work on the bracket until it is narrow enough or a limit is reached."""
    watch = planner.watch
    first = max(planner.effort, 1.0)
    finer = _Work(_finer, growth=2.0, effort=first, closed=0.1)
    wider = _Work(_wider, growth=3.0, effort=first, closed=0.6)
    again = _Work(_again, growth=1.0, effort=first, closed=0.0, spent=True)
    larger = _Work(_larger, growth=2.5, effort=first, closed=1.0)
    every = (finer, wider, again, larger)
    while not watch.solved():
        above = again if again.closed > STALLED or larger.out else larger
        below = max(finer, wider, key=lambda each: (not each.out, each.rate))
        able = [each for each in dict.fromkeys((above, below, again)) if not each.out]
        left = 0.9 * watch.seconds_left
        ready = [each for each in able if each.seconds * each.growth < left]
        if not ready or min(each.idle for each in ready) >= PATIENCE:
            if any(each.full for each in every):
                return Outcome.OUT_OF_MEMORY
            late = len(ready) < len(able)
            return Outcome.OUT_OF_TIME if late else Outcome.STALLED
        work = max(ready, key=lambda each: each.rate)
        begin, width = watch.seconds, watch.upper - watch.lower
        try:
            work.spent = not work.run(planner)
        except StopPlanning as stop:
            if stop.outcome is not Outcome.OUT_OF_MEMORY:
                raise
            work.full = True
        work.seconds, work.effort = watch.seconds - begin, planner.effort
        work.closed = 1.0 - (watch.upper - watch.lower) / width
        work.idle += 1
        if work.closed >= FRUITLESS:  # what was in vain before may help now
            for each in every:
                each.idle = 0
        if work is larger:
            again.closed, again.effort, again.spent = 1.0, work.effort, False
            again.seconds = work.seconds
    return Outcome.SOLVED


def _finer(planner: _Planner) -> bool:
    """Double the cells of the pair faces; return whether more are possible."""
    _lower(planner, cells=2 * planner.cells, points=planner.lower_points)
    return planner.cells < MOST_CELLS


def _wider(planner: _Planner) -> bool:
    """Add points below; return whether there were any: a better bound meets others."""
    before = planner.lower_points
    points = max(2 * before, 2 * planner.form.pattern.n_states, 200)
    _lower(planner, cells=planner.cells, points=points)
    return planner.lower_points > before


def _lower(planner: _Planner, *, cells: int, points: int) -> None:
    form, watch = planner.form, planner.watch
    watch.claim(bytes_of_lower(form, points, cells))
    if planner.below is not None and points > 0:
        chosen = planner.met_below.grow(points, planner.below, watch.keep_going)
    else:
        chosen = no_points(form)
    structure = lower_structure(form, chosen.states, chosen.beliefs, cells=cells)
    values, planner.below = lower_pass(form, structure, watch.keep_going)
    planner.effort = planner.below.effort
    lower = root_lower(form, structure, values)
    prices = pair_prices_below(form, structure, values)
    planner.prices_below = np.maximum(planner.prices_below, prices)
    planner.cells, planner.lower_points = cells, chosen.size
    planner.nodes = max(planner.nodes, structure.node_state.size)
    watch.narrow(f"pairs in {cells} cells, {chosen.size} points", lower=lower)


def _again(planner: _Planner) -> bool:
    """Choose once more, by the weights with which the graph is really used.

    Returns that this can always be done again.
    """
    best, watch, form = planner.best, planner.watch, planner.form
    assert best is not None  # set by _begin
    watch.claim(_bytes_of_rules(form, best))
    visits = _visits(planner)
    if visits is None:
        raise StopPlanning(Outcome.OUT_OF_MEMORY)
    made = upper_pass(
        form,
        best.nodes,
        watch.keep_going,
        earlier=best.rules,
        visits=visits,
        bound=watch.upper,
    )
    _keep(planner, made, "another pass over the graph")
    return True


def _larger(planner: _Planner) -> bool:
    """Add nodes at beliefs that the current policy meets; return if there were any."""
    best, watch, form = planner.best, planner.watch, planner.form
    assert best is not None  # set by _begin
    states, pairs = form.pattern.n_states, max(pairs_of(form)[0].size, 1)
    if planner.upper_points == 0:
        count = first_points(form, watch.asked_seconds)
        levels = int(np.clip(count // (2 * states * pairs), 1, MOST_LEVELS))
    else:
        count, levels = 2 * planner.upper_points, planner.levels
    rules = 2.0 * _bytes_of_rules(form, best) if planner.upper_points > 0 else 0.0
    watch.claim(bytes_of_upper(form, count, levels) + rules)
    guides = vector_sets(form, best, GUIDES)
    points = planner.met_above.grow(count, guides, watch.keep_going)
    nodes = upper_nodes(form, points, levels=levels)
    if planner.upper_points > 0:
        visits = _visits(planner)
        if visits is not None:
            visits = moved_visits(visits, best.nodes, nodes)
        earlier = best.rules.moved(best.nodes, nodes)
        made = upper_pass(
            form,
            nodes,
            watch.keep_going,
            earlier=earlier,
            visits=visits,
            bound=watch.upper,
        )
    else:
        made = upper_pass(form, nodes, watch.keep_going, bound=watch.upper)
    if planner.upper_points == 0 or made.upper < best.upper:
        planner.upper_points, planner.levels = max(count, points.size), levels
        planner.best, planner.visits = made, None
    _keep(planner, made, f"{nodes.size} nodes")
    return points.size >= count


def _visits(planner: _Planner) -> Visits | None:
    """Return how the best graph is used, counted once."""
    if planner.visits is None:
        assert planner.best is not None  # set by _begin
        watch = planner.watch
        planner.visits = visits_of(
            planner.form, planner.best, watch.room(), watch.keep_going
        )
    return planner.visits


def _keep(planner: _Planner, made: UpperPass, doing: str) -> None:
    best = planner.best
    planner.nodes = max(planner.nodes, made.nodes.size)
    planner.effort = made.effort
    if best is None or made.upper < best.upper:
        planner.best, planner.visits = made, None
    if planner.answer is None or made.upper < planner.answer.upper:
        if planner.answer is not None:
            planner.watch.reserve(_bytes_of_rules(planner.form, made))
        planner.answer = made
    planner.watch.narrow(doing, upper=_certified(planner.form, made.upper))


def _bytes_of_rules(form: LossForm, made: UpperPass) -> float:
    """Return about what it takes to gather rules, or to write them down as a graph."""
    longest = int(np.diff(form.pattern.indptr).max())
    return made.rules.until.size * (60.0 + 16.0 * longest)


def _certified(form: LossForm, gap: float) -> float:
    """Return an upper bound that holds whatever rounding did."""
    return gap * (1.0 + form.relative_rounding) + form.rounding


def _planned(planner: _Planner, outcome: Outcome) -> Planned:
    form, best, watch = planner.form, planner.answer, planner.watch
    assert best is not None  # set by _begin
    policy = policy_graph(form, best)
    gaps = graph_gaps(form, policy)
    known = form.latent.prior > 0.0
    upper = _certified(form, float(form.latent.prior[known] @ gaps[known]))
    if form.nothing_hidden:
        upper = 0.0
    if watch.lower > upper:
        raise AssertionError("the lower side of the gap passed the upper: a defect")
    above = pair_prices_above(form, best)
    below = np.minimum(planner.prices_below, above)
    return Planned(
        lower=watch.lower,
        upper=upper,
        outcome=outcome,
        policy=policy,
        gaps=gaps,
        vectors=vector_sets(form, best, VECTORS),
        nodes=planner.nodes,
        largest_bytes=watch.largest_bytes,
        trace=tuple(watch.trace),
        pair_prices=(below, above),
    )
