"""The one question: how well can an agent do that does not know the model?

`domain_randomization_oracle` plans for the average gap G = sum_m nu_m V*_m - W* and
returns bounds of G and of W*, the policy graph that reaches the upper end of G with its
gap in every model, and a policy that tracks beliefs with an estimate of its own gap.

Rewards that depend on the model are expectations: the agent sees states, not rewards.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from time import perf_counter

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP
from simgap.oracle.bounded import solve_bounded, solve_grid
from simgap.oracle.bounded.points import no_vectors
from simgap.oracle.estimate import estimated_gap
from simgap.oracle.exact import count_nodes, solve_exact
from simgap.oracle.loss_form import LossForm, bytes_of_losses, loss_form
from simgap.oracle.pair_prices import pair_prices
from simgap.oracle.result import (
    OracleResult,
    OracleStatistics,
    Outcome,
    Planned,
    VectorSets,
)
from simgap.oracle.settings import (
    AutoOracle,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    Solver,
)
from simgap.oracle.warm_up import compile_bounded, compile_exact
from simgap.oracle.watch import Progress, resident_bytes
from simgap.policies.belief import BeliefPolicy
from simgap.records import Certified
from simgap.statistics import Estimate

FEW_NODES = 200_000  # up to which the exact solver is preferred
MODELS_OF_A_GRID = 3
CONFIDENCE = 0.95
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

    Limits and interrupts end planning with the bracket reached; `outcome` says why.
    `progress` is called with the bracket so far.
    """
    _check(solver)
    _check_memory(latent, horizon, solver)
    begin = perf_counter()
    compiled = 0.0 if isinstance(solver, ExactOracle) else _compile(horizon)
    if not isinstance(solver, BoundedOracle | GridOracle) and horizon is not None:
        compiled += compile_exact()
    form = loss_form(latent, horizon=horizon, discount=discount)
    planned, name = _plan(form, solver, progress)
    prices = planned.pair_prices or pair_prices(form)
    belief, estimate = _to_run(form, planned, solver)
    seconds = perf_counter() - begin - compiled
    return OracleResult(
        value=Certified(form.informed - planned.upper, form.informed - planned.lower),
        average_gap=Certified(planned.lower, planned.upper),
        outcome=planned.outcome,
        solver=name,
        settings=solver,
        horizon=form.horizon,
        discount=form.discount,
        policy=planned.policy,
        belief_policy=belief,
        optimal=form.optimal,
        values=owned(form.optimal - planned.gaps),
        gaps=owned(np.array(planned.gaps)),
        gap_intervals=owned(_gap_intervals(form, planned)),
        estimated_gap=estimate,
        pair_prices_lower=owned(prices[0]),
        pair_prices_upper=owned(prices[1]),
        statistics=OracleStatistics(
            seconds=seconds,
            compile_seconds=compiled,
            nodes=planned.nodes,
            largest_bytes=planned.largest_bytes,
            rounding=form.rounding,
            trace=planned.trace,
        ),
        least_worst_gap=planned.least_worst_gap,
    )


def _compile(horizon: int | None) -> float:
    return compile_bounded(finite=horizon is not None)


def _plan(form: LossForm, solver: Solver, progress: Report) -> tuple[Planned, str]:
    """Return what was planned and the name of the solver, with why it was picked."""
    if isinstance(solver, ExactOracle):
        return _exact(form, solver, progress), "exact, as asked"
    if isinstance(solver, BoundedOracle):
        planned = solve_bounded(form, solver, seed=solver.seed, report=progress)
        return planned, "bounded, as asked"
    if isinstance(solver, GridOracle):
        return solve_grid(form, solver, report=progress), "grid, as asked"
    nodes = count_nodes(form, FEW_NODES) if form.horizon is not None else None
    if nodes is not None:
        limits = ExactOracle(
            time_limit=solver.time_limit,
            max_memory=solver.max_memory,
            episodes=solver.episodes,
            seed=solver.seed,
        )
        planned = _exact(form, limits, progress)
        if planned.lower == planned.upper:
            return planned, f"exact: there are only {nodes} beliefs to come to"
    likely = int((form.latent.prior > 0.0).sum())
    if 1 < likely <= MODELS_OF_A_GRID:
        planned = solve_grid(form, solver, report=progress)
        return planned, f"grid: there are only {likely} models"
    planned = solve_bounded(form, solver, seed=solver.seed, report=progress)
    return planned, f"bounded: too many beliefs, and {likely} models"


def _exact(form: LossForm, solver: ExactOracle, progress: Report) -> Planned:
    if form.horizon is None:
        raise InvalidArgument(
            "the exact solver needs a finite horizon, there are infinitely many "
            "beliefs with a discount",
            hint="give a horizon, or use the bounded solver",
        )
    begin = perf_counter()

    def told(text: str) -> None:
        if progress is not None:
            seconds = perf_counter() - begin
            progress(Progress(seconds, 0.0, form.informed, text))

    return solve_exact(form, solver, progress=told)


def _to_run(
    form: LossForm, planned: Planned, solver: Solver
) -> tuple[BeliefPolicy, Estimate]:
    """Return the better of looking ahead with vectors and without, and its gap.

    The choice and the estimate use different episodes: the interval stays honest.
    """
    choices = [_belief_policy(form, planned.vectors)]
    if planned.outcome is not Outcome.EXACT:
        choices.append(_belief_policy(form, no_vectors(form)))
    pilot = max(2, solver.episodes // 4)
    first = [
        estimated_gap(form, each, episodes=pilot, seed=2 * solver.seed).estimate
        for each in choices
    ]
    policy = choices[int(np.argmin(first))]
    return policy, estimated_gap(
        form,
        policy,
        episodes=solver.episodes,
        seed=2 * solver.seed + 1,
        confidence=CONFIDENCE,
    )


def _belief_policy(form: LossForm, sets: VectorSets) -> BeliefPolicy:
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    return BeliefPolicy(
        name="oracle, tracking beliefs",
        pattern=form.pattern,
        horizon=form.horizon,
        discount=form.discount,
        prior=form.latent.prior,
        start_law=laws,
        likelihood=form.likelihood,
        losses=form.losses,
        vector_set=sets.vector_set,
        vector_offsets=sets.vector_offsets,
        vectors=sets.vectors,
    )


def _gap_intervals(form: LossForm, planned: Planned) -> FloatArray:
    """Return intervals that hold gap(pi, m) of every optimal policy pi, (M, 2).

    Without the exact ones: no gap is negative, so that nu_m gap_m is at most the
    average gap; and no policy loses more than the worst one does.
    """
    if planned.gap_intervals is not None:
        return np.array(planned.gap_intervals)
    prior = form.latent.prior
    most = _worst_possible(form)
    shared = np.divide(
        planned.upper, prior, where=prior > 0.0, out=np.full(prior.size, np.inf)
    )
    return np.stack([np.zeros(prior.size), np.minimum(most, shared)], axis=1)


def _worst_possible(form: LossForm) -> FloatArray:
    """Return the largest gap any policy can have in each model, (M,)."""
    if form.horizon is None:
        return np.asarray(form.losses[0].max(axis=(0, 1)) / (1.0 - form.discount))
    pattern = form.pattern
    after = np.zeros((pattern.n_states, form.n_models))
    for losses in form.losses[::-1]:
        ahead = np.add.reduceat(
            form.likelihood * after[pattern.indices], pattern.indptr[:-1], axis=0
        )
        after = (losses + ahead.reshape(losses.shape)).max(axis=1)
    simulators = form.latent.simulators
    worst: FloatArray = simulators.at_start(after.T) + form.rounding
    return worst


def _check(solver: Solver) -> None:
    for name in ("gap_tolerance", "tolerance"):
        asked = getattr(solver, name, None)
        if asked is not None and not 0.0 < asked < 1.0:
            raise InvalidArgument(
                f"{name} is {asked!r}", hint="it is a part, between 0 and 1"
            )
    for name in ("time_limit", "max_memory"):
        asked = getattr(solver, name)
        if asked is not None and not (isfinite(asked) and asked > 0.0):
            raise InvalidArgument(f"{name} is {asked!r}", hint="it is above 0, or None")
    if solver.episodes < 2:
        raise InvalidArgument(
            f"{solver.episodes} episodes for the estimate", hint="at least 2"
        )


def _check_memory(latent: LatentMDP, horizon: int | None, solver: Solver) -> None:
    need = bytes_of_losses(latent, horizon)
    if solver.max_memory is not None and need > solver.max_memory - resident_bytes():
        raise InvalidArgument(
            f"the losses of all steps alone take {need / 1e9:.2f} GB, and "
            f"{resident_bytes() / 1e9:.2f} GB are in use",
            hint="allow more memory, or take fewer models or a shorter horizon",
        )
