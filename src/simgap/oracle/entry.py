"""The one question: how well can an agent do that does not know the model?

`domain_randomization_oracle` plans for the average gap G = sum_m nu_m V*_m - W* and
returns bounds of G and of W*, the policy graph that reaches the upper end of G with its
gap in every model, and a policy that tracks beliefs with an estimate of its own gap.

Rewards that depend on the model are expectations: the agent sees states, not rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite
from numbers import Real
from typing import final

import numpy as np

from simgap._kernels.compile_clock import compile_seconds, working_seconds
from simgap._kernels.time_limit import (
    check_time,
    if_in_time,
    limit_reached,
    memory_limited,
    resident_bytes,
    time_limited,
)
from simgap.arrays import FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle.bounded import solve_bounded, solve_grid, without_planning
from simgap.oracle.exact import count_nodes, looks_hopeless, solve_exact
from simgap.oracle.large_class import part_to_plan, solve_in_parts
from simgap.oracle.loss_form import LossForm, bytes_of_losses, loss_form
from simgap.oracle.pair_prices import cheap_prices, compared_models, pair_prices
from simgap.oracle.result import (
    OracleResult,
    OracleStatistics,
    Outcome,
    Planned,
)
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.to_run import PolicyToRun, policy_to_run
from simgap.oracle.watch import Progress, ends_planning
from simgap.planning import checked_horizon
from simgap.records.note import Note

FEW_NODES = 200_000  # up to which the exact solver is preferred
MODELS_OF_A_GRID = 3  # with a horizon that is long; two models always
LONG = 2000
PART_FOR_EACH, LEAST_FOR_EACH = 0.1, 0.1  # of a time limit; seconds
LARGEST_SEED = 2**62
DEFAULT = AutoOracle()

Report = Callable[[Progress], None] | None


def domain_randomization_oracle(
    latent: LatentMDP,
    *,
    horizon: int | None = None,
    discount: float | None = None,
    solver: Solver = DEFAULT,
    progress: Report = None,
) -> OracleResult:
    """Return the oracle of (U, nu) for a horizon or a discount (Section 4.2).

    Limits end planning with the bracket reached; `outcome` says why, and `notes` say
    what else was left out. So does an interrupt if the solver has
    `bracket_if_interrupted`: after planning it shortens the estimate, and a second one
    is raised. A first policy is found whatever time that takes. `progress` is called
    with the bracket so far.
    """
    checked_latent(latent)
    _check(solver)
    _check_memory(latent, horizon, solver)
    begin, compiled = working_seconds(), compile_seconds()

    def left() -> float:
        """Return the time for a small thing: the rest, or a part of the limit."""
        if solver.time_limit is None:
            return inf
        rest = solver.time_limit - (working_seconds() - begin)
        return max(rest, PART_FOR_EACH * solver.time_limit, LEAST_FOR_EACH)

    form = loss_form(latent, horizon=horizon, discount=discount)
    planned, name = _plan(form, solver, progress)
    try:
        prices = _prices(form, planned, left(), solver.max_memory)
        found = _to_run(form, planned, solver, left())
    except KeyboardInterrupt:
        if planned.outcome is Outcome.INTERRUPTED or not ends_planning(solver):
            raise
        planned = replace(planned, outcome=Outcome.INTERRUPTED)
        prices = _prices(form, planned, left(), solver.max_memory)
        found = _to_run(form, planned, solver, LEAST_FOR_EACH)
    intervals = _gap_intervals(form, planned, left())
    seconds = working_seconds() - begin
    average = Certified(planned.lower, planned.upper)
    return OracleResult(
        value=form.informed_ends - average,
        average_gap=average,
        outcome=planned.outcome,
        solver=name,
        settings=solver,
        horizon=form.horizon,
        discount=form.discount,
        policy=replace(planned.policy, fallback=found.policy),
        belief_policy=found.policy,
        prior=latent.prior,
        optimal=form.optimal,
        values=owned(form.optimal - planned.gaps),
        gaps=owned(np.array(planned.gaps)),
        gap_intervals=owned(intervals.ends),
        estimated_gap=found.gap,
        pair_prices_lower=owned(prices.lower),
        pair_prices_upper=owned(prices.upper),
        statistics=OracleStatistics(
            seconds=seconds,
            compile_seconds=compile_seconds() - compiled,
            nodes=planned.nodes,
            largest_bytes=planned.largest_bytes,
            rounding=form.rounding_of(planned.gaps),
            trace=planned.trace,
        ),
        least_worst_gap=planned.least_worst_gap,
        compared=prices.compared,
        certainty=latent.certified,
        notes=(*prices.notes, *found.notes, *intervals.notes),
    )


def planned_policy(
    form: LossForm, solver: Solver = DEFAULT, *, progress: Report = None
) -> Planned:
    """Return the bracket and the certified policy alone: no prices, no estimate."""
    _check(solver)
    return _plan(form, solver, progress)[0]


def planned_in_part(
    form: LossForm,
    solver: AutoOracle | BoundedOracle,
    count: int,
    *,
    progress: Report = None,
) -> Planned:
    """Return the same with `count` of the models planned for, bounded for all."""
    _check(solver)

    def plan(part: LossForm, limits: AutoOracle | BoundedOracle) -> Planned:
        return _plan(part, limits, None)[0]

    return solve_in_parts(form, solver, count, plan, report=progress)


def _plan(form: LossForm, solver: Solver, progress: Report) -> tuple[Planned, str]:
    """Return what was planned and the name of the solver, with why it was picked."""
    if isinstance(solver, ExactOracle):
        return _exact(form, solver, progress), "exact, as asked"
    if isinstance(solver, BoundedOracle):
        planned, how = _bounded(form, solver, progress)
        return planned, f"bounded, as asked{how}"
    if isinstance(solver, GridOracle):
        return solve_grid(form, solver, report=progress), "grid, as asked"
    try:
        hopeless = looks_hopeless(form, FEW_NODES)
        nodes = None if hopeless else count_nodes(form, FEW_NODES)
    except KeyboardInterrupt:
        if not ends_planning(solver):
            raise
        return without_planning(form, solver), "none: interrupted"
    if nodes is not None:
        # if half the time is not enough, the other half is for bounds
        half = None if solver.time_limit is None else 0.5 * solver.time_limit
        limits = ExactOracle(
            time_limit=half,
            max_memory=solver.max_memory,
            episodes=solver.episodes,
            seed=solver.seed,
            bracket_if_interrupted=solver.bracket_if_interrupted,
        )
        planned = _exact(form, limits, progress)
        if planned.outcome is Outcome.EXACT:
            return planned, f"exact: there are only {nodes} beliefs to come to"
        if planned.outcome is Outcome.INTERRUPTED:
            return planned, f"exact, interrupted: there are {nodes} beliefs to come to"
        solver = replace(solver, time_limit=half)
    likely = int((form.latent.prior > 0.0).sum())
    long = form.horizon is not None and form.horizon >= LONG
    if likely == 2 or (likely == MODELS_OF_A_GRID and long):
        planned = solve_grid(form, solver, report=progress)
        return planned, f"grid: there are only {likely} models"
    planned, how = _bounded(form, solver, progress)
    return planned, f"bounded: too many beliefs, and {likely} models{how}"


def _bounded(
    form: LossForm, solver: AutoOracle | BoundedOracle, progress: Report
) -> tuple[Planned, str]:
    """Return bounds of a class, planned in parts if it is large, and words for that."""
    count = part_to_plan(form, solver.time_limit)
    if count is None:
        planned = solve_bounded(form, solver, seed=solver.seed, report=progress)
        return planned, ""
    planned = planned_in_part(form, solver, count, progress=progress)
    return planned, f", planned for {count} of them that stand for their neighbours"


def _exact(form: LossForm, solver: ExactOracle, progress: Report) -> Planned:
    if form.horizon is None:
        raise InvalidArgument(
            "the exact solver needs a finite horizon, there are infinitely many "
            "beliefs with a discount",
            hint="give a horizon, or use the bounded solver",
        )
    begin = working_seconds()

    def told(text: str) -> None:
        if progress is not None:
            seconds = working_seconds() - begin
            progress(Progress(seconds, 0.0, form.informed, text))

    return solve_exact(form, solver, clock=working_seconds, progress=told)


def _to_run(
    form: LossForm, planned: Planned, solver: Solver, seconds: float
) -> PolicyToRun:
    found = policy_to_run(
        form,
        planned.vectors,
        settled=planned.gap_intervals is not None,
        episodes=solver.episodes,
        seed=solver.seed,
        asked=solver.time_limit,
        seconds=seconds,
    )
    if found.gap is None:
        return found
    return replace(found, gap=found.gap.within(planned.lower, None))  # none loses less


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Prices:
    lower: FloatArray  # (M, M)
    upper: FloatArray  # (M, M)
    compared: OffsetArray | None
    notes: tuple[Note, ...] = ()


def _prices(
    form: LossForm, planned: Planned, seconds: float, most_bytes: float | None
) -> _Prices:
    """Return what pairs of models cost, or what is known of it at once."""
    if planned.pair_prices is not None:
        return _Prices(*planned.pair_prices, None)
    with time_limited(seconds), memory_limited(most_bytes):
        found = if_in_time(lambda: pair_prices(form, planned.gaps))
        limit = limit_reached() if found is None else ""
    if found is not None:
        return _Prices(*found, compared_models(form))
    nobody = np.zeros(0, np.int64)
    above = cheap_prices(form, nobody, planned.gaps)
    text = f"pairs of models were not compared: {limit}; prices have wide bounds"
    note = Note("pairs-not-compared", text)
    return _Prices(np.zeros_like(above), above, nobody, (note,))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _GapIntervals:
    ends: FloatArray  # (M, 2)
    notes: tuple[Note, ...] = ()


def _gap_intervals(form: LossForm, planned: Planned, seconds: float) -> _GapIntervals:
    """Return intervals that hold gap(pi, m) of every optimal policy pi.

    Without those of the exact solver: no gap is negative, so that nu_m gap_m is at most
    the average gap; and no policy loses more than the worst one does.
    """
    if planned.gap_intervals is not None:
        return _GapIntervals(np.array(planned.gap_intervals))
    prior = form.latent.prior * (1.0 - 2.0 * form.defect)
    shared = np.divide(
        planned.upper, prior, where=prior > 0.0, out=np.full(prior.size, np.inf)
    )
    notes: tuple[Note, ...] = ()
    with time_limited(seconds):
        worst = if_in_time(lambda: _worst_possible(form))
    if worst is None:
        worst = form.losses.max(axis=(1, 2)).sum(axis=0)
        worst = worst * (1.0 + form.relative_rounding) + form.rounding
        text = "intervals of gaps are wide: the time limit came before the worst policy"
        notes = (Note("wide-gap-intervals", text),)
    most = np.minimum(worst, np.nextafter(shared, np.inf))
    return _GapIntervals(np.stack([np.zeros(prior.size), most], axis=1), notes)


def _worst_possible(form: LossForm) -> FloatArray:
    """Return the largest gap any policy can have in each model, (M,)."""
    if form.horizon is None:
        most = form.losses[0].max(axis=(0, 1)) / (1.0 - form.discount)
        return np.asarray(most * (1.0 + form.relative_rounding) + form.rounding)
    pattern = form.pattern
    after = np.zeros((pattern.n_states, form.n_models))
    for losses in form.losses[::-1]:
        check_time()
        ahead = np.add.reduceat(
            form.likelihood * after[pattern.indices], pattern.indptr[:-1], axis=0
        )
        after = (losses + ahead.reshape(losses.shape)).max(axis=1)
    simulators = form.latent.simulators
    worst: FloatArray = simulators.at_start(after.T) * (1.0 + form.relative_rounding)
    return worst + form.rounding


def _check(solver: Solver) -> None:
    if not isinstance(solver, Solver):
        raise InvalidArgument(
            f"{solver!r} is not a solver",
            hint="give settings, for instance BoundedOracle(time_limit=10.0)",
        )
    negligible = getattr(solver, "negligible", 0.0)
    if not (_finite(negligible) and 0.0 <= negligible < 1.0):
        raise InvalidArgument(
            f"negligible is {negligible!r}", hint="it is a part, from 0 to below 1"
        )
    for name in ("gap_tolerance", "tolerance"):
        asked = getattr(solver, name, None)
        if asked is not None and not (_finite(asked) and 0.0 < asked < 1.0):
            raise InvalidArgument(
                f"{name} is {asked!r}", hint="it is a part, between 0 and 1"
            )
    for name in ("time_limit", "max_memory"):
        asked = getattr(solver, name)
        if asked is not None and not (_finite(asked) and asked > 0.0):
            raise InvalidArgument(f"{name} is {asked!r}", hint="it is above 0, or None")
    if not _whole(solver.episodes) or solver.episodes < 2:
        raise InvalidArgument(
            f"{solver.episodes!r} episodes for the estimate", hint="at least 2"
        )
    if not _whole(solver.seed) or not 0 <= solver.seed <= LARGEST_SEED:
        raise InvalidArgument(
            f"seed is {solver.seed!r}", hint=f"a whole number from 0 to {LARGEST_SEED}"
        )


def _finite(asked: object) -> bool:
    return isinstance(asked, Real) and isfinite(asked)


def _whole(asked: object) -> bool:
    return isinstance(asked, int | np.integer) and not isinstance(asked, bool)


def _check_memory(latent: LatentMDP, horizon: int | None, solver: Solver) -> None:
    steps = horizon if horizon is None else checked_horizon(horizon)
    need = bytes_of_losses(latent, steps)
    if solver.max_memory is not None and need > solver.max_memory - resident_bytes():
        raise InvalidArgument(
            f"the losses of all steps alone take {need / 1e9:.2f} GB, and "
            f"{resident_bytes() / 1e9:.2f} GB are in use",
            hint="allow more memory, or take fewer models or a shorter horizon",
        )
