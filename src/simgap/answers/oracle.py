"""Will a policy trained under domain randomization transfer?

The oracle is the best policy for the average over all models that does not know which
one is real. The answer is a bracket of what it loses, certified, a policy that loses no
more than the upper end, and what simpler policies lose.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import replace
from time import perf_counter
from typing import Final, Literal

from simgap._kernels.time_limit import (
    claim,
    if_in_time,
    limit_reached,
    memory_limited,
    time_limited,
)
from simgap.answers.model import Model, NamedModel, named_model
from simgap.answers.planned_class import (
    PlannedClass,
    Tell,
    planned_oracle,
    recorded_prices,
)
from simgap.answers.saved_policies import saved_policies, writable_file
from simgap.answers.time_limits import whole_time
from simgap.errors import InvalidArgument
from simgap.interrupts import answer_interrupt
from simgap.intervals import Certified, Estimate
from simgap.mdp import LatentMDP
from simgap.oracle import (
    AutoOracle,
    Baseline,
    BoundedOracle,
    ExactOracle,
    GridOracle,
    LossForm,
    OracleResult,
    Outcome,
    Solver,
    baselines as all_baselines,
    bytes_of_losses,
    loss_form,
    memory_proofs,
    value_of_memory,
    value_of_randomization,
)
from simgap.records.note import Note
from simgap.records.oracle import (
    BaselineModel,
    BaselinePolicy,
    Oracle,
    OracleModel,
    TracePoint,
)
from simgap.records.provenance import Certainty, provenance
from simgap.text import suggestion

SOLVERS: Final = {
    "auto": AutoOracle,
    "exact": ExactOracle,
    "bounded": BoundedOracle,
    "grid": GridOracle,
}
MOST_CROSSED = 200  # models whose plans are shown in each other
EFFORT = 0.5  # seconds of a usual machine for each simpler policy
CERTAINTY: Final[dict[str, Certainty]] = {
    "lower": "certified",
    "upper": "certified",
    "average_gap": "certified",
    "worst_gap": "certified",
    "optimal": "certified",
    "value": "certified",
    "gap": "certified",
    "gap_interval": "certified",
    "pair_prices": "certified",
    "estimated_gap": "estimated",
}


def oracle(
    model: Model,
    horizon: int | None = None,
    *,
    discount: float | None = None,
    gap_tolerance: float | None = None,
    tolerance: float | None = None,
    time_limit: float | None = None,
    max_memory: float | None = None,
    solver: Literal["auto", "exact", "bounded", "grid"] = "auto",
    save: str | os.PathLike[str] | None = None,
    baselines: bool = True,
    seed: int = 0,
    progress: Tell | None = None,
) -> Oracle:
    """Return what the best agent loses that does not know which model is real.

    Give a horizon or a discount, one of the two. Planning stops when the bracket of the
    loss is `gap_tolerance` of it (0.05 by default), or `tolerance` of the value, after
    `time_limit` seconds (60, but none for "exact"), at `max_memory` gigabytes, or when
    it is interrupted; the bracket is valid in every case. What follows it has a third
    of the time limit more; what a limit leaves no room for is left out: see `notes`.
    `OutOfTime` is raised if not even a first policy is there by then. `save` keeps the
    certified policy in a file.simgap, and the one to run beside it. `baselines`
    compares with simpler policies. `max_memory` counts all that the process holds:
    before planning that is about 0.2 GB. `policy`, `belief_policy` and `result` of the
    answer are what was planned; they are not written down.

    >>> from simgap import oracle
    >>> found = oracle("absorbing_doors?members=3", 8, baselines=False)
    >>> round(found.average_gap.upper, 9), found.outcome
    (4.0, 'exact up to rounding')
    """
    settings = named_solver(
        solver,
        gap_tolerance=gap_tolerance,
        tolerance=tolerance,
        time_limit=time_limit,
        max_memory=max_memory,
        seed=seed,
    )
    _check_length(horizon, discount)
    target = None if save is None else writable_file(save)
    given, tell = named_model(model), progress or (lambda word: None)
    settings = replace(settings, bracket_if_interrupted=True)
    with time_limited(whole_time(settings.time_limit)):
        found = planned(given, horizon, discount=discount, solver=settings, tell=tell)
        files = saved_policies(found.result, target, given.latent.simulators.grid)
        found = replace(found, policy_file=files[0], belief_policy_file=files[1])
        if not baselines or found.result.outcome is Outcome.INTERRUPTED:
            return found
        try:
            return compared(given.latent, found, tell)
        except KeyboardInterrupt:  # the bracket is there: better without than nothing
            answer_interrupt()
            return replace(found, outcome=Outcome.INTERRUPTED.value)


def planned_and_compared(
    given: NamedModel, horizon: int, solver: AutoOracle, tell: Tell
) -> Oracle:
    """Return the oracle and simpler policies, for other answers to build on."""
    with time_limited(whole_time(solver.time_limit)):
        found = planned(given, horizon, solver=solver, tell=tell)
        return compared(given.latent, found, tell)


def planned_class(found: Oracle) -> PlannedClass | None:
    """Return what other answers need not plan again; None if nothing was compared."""
    if found.memoryless is None or found.value_of_memory is None:
        return None
    return PlannedClass(found.result, found.memoryless, found.value_of_memory)


def planned(
    given: NamedModel,
    horizon: int | None,
    *,
    discount: float | None = None,
    solver: Solver,
    tell: Tell,
) -> Oracle:
    """Return the oracle, compared with nothing yet."""
    latent = given.latent
    result = planned_oracle(
        latent, horizon, discount=discount, solver=solver, progress=tell
    )
    statistics = result.statistics
    return Oracle(
        horizon=result.horizon,
        discount=None if result.horizon is not None else result.discount,
        lower=result.value.lower,
        upper=result.value.upper,
        informed=float(latent.prior @ result.optimal),
        average_gap=result.average_gap,
        estimated_gap=result.estimated_gap,
        worst_gap=result.worst_gap,
        least_worst_gap=result.least_worst_gap,
        outcome=result.outcome.value,
        solver=result.solver,
        models=_models(latent, result),
        pair_prices=recorded_prices(
            result.pair_prices_lower, result.pair_prices_upper, result.compared
        ),
        nodes=statistics.nodes,
        rounding=statistics.rounding,
        baselines={},
        memory=None,
        value_of_memory=None,
        value_of_randomization=None,
        trace=tuple(
            TracePoint(each.seconds, each.lower, each.upper)
            for each in statistics.trace
        ),
        seconds=statistics.seconds,
        compile_seconds=statistics.compile_seconds,
        baseline_seconds=0.0,
        largest_bytes=statistics.largest_bytes,
        policy_file=None,
        belief_policy_file=None,
        certainty=dict(CERTAINTY),
        notes=result.notes,
        provenance=provenance(
            command="", model=given.name, latent=latent, seed=solver.seed
        ),
        policy=result.policy,
        belief_policy=result.belief_policy,
        result=result,
    )


def compared(
    latent: LatentMDP, found: Oracle, tell: Tell, *, effort: float = EFFORT
) -> Oracle:
    """Return the oracle with what simpler policies lose; `effort` is seconds each."""
    begin, result, seed = perf_counter(), found.result, found.provenance.seed
    tell("planning simpler policies to compare with")
    with memory_limited(result.settings.max_memory):
        form = if_in_time(lambda: _form_again(latent, found))
        if form is None:
            note = _left_out((), [limit_reached()])
            return replace(found, notes=(*found.notes, note))
        others = {
            each.name: each
            for each in all_baselines(form, seed=seed or 0, effort=effort)
        }
    plain, single = others["memoryless"], others["single-simulator"]
    late = {name: each.limit for name, each in others.items() if each.limit}
    found = replace(
        found,
        baselines={
            name: _baseline(latent, each, found.average_gap.lower)
            for name, each in others.items()
        },
        baseline_seconds=perf_counter() - begin,
        memoryless=plain.plan,
        notes=(*found.notes, *([_left_out(late, late.values())] if late else [])),
    )
    if plain.policy is not None:
        assert isinstance(plain.average_gap, Certified)
        found = replace(
            found,
            memory=memory_proofs(
                found.average_gap,
                Certified(plain.least_gap or 0.0, plain.average_gap.upper),
                searched=plain.searched,
                noise=10.0 * form.rounding,
                stationary=form.horizon is None,
            ),
            value_of_memory=value_of_memory(form, result.value, plain),
        )
    if single.policy is not None:
        worth = value_of_randomization(form, result.value, single)
        found = replace(found, value_of_randomization=worth)
    return found


def _form_again(latent: LatentMDP, found: Oracle) -> LossForm:
    claim(bytes_of_losses(latent, found.horizon))
    return loss_form(latent, horizon=found.horizon, discount=found.discount)


def _left_out(names: Collection[str], limits: Iterable[str]) -> Note:
    what = f"simpler policies ({', '.join(names)})" if names else "all simpler policies"
    which = " or ".join(dict.fromkeys(limits))
    return Note(
        "baselines-left-out",
        f"{what} were not found, or not searched for to the end: {which} came first",
    )


def named_solver(
    name: str,
    *,
    gap_tolerance: float | None = None,
    tolerance: float | None = None,
    time_limit: float | None = None,
    max_memory: float | None = None,
    seed: int = 0,
) -> Solver:
    """Return the settings of a solver; what is None stays as the solver has it."""
    if name not in SOLVERS:
        raise InvalidArgument(
            f"there is no solver {name[:40]!r}",
            hint=suggestion(name, SOLVERS) or f"it is one of {', '.join(SOLVERS)}",
        )
    solver: Solver = SOLVERS[name](seed=seed)
    if time_limit is not None:
        solver = replace(solver, time_limit=time_limit)
    if max_memory is not None:
        solver = replace(solver, max_memory=max_memory * 1e9)
    asked = gap_tolerance is not None or tolerance is not None
    if asked and not isinstance(solver, ExactOracle):  # exact is within any tolerance
        solver = replace(
            solver, gap_tolerance=gap_tolerance, tolerance=tolerance, negligible=0.0
        )
    return solver


def _check_length(horizon: int | None, discount: float | None) -> None:
    if (horizon is None) == (discount is None):
        both = "both a horizon and a discount are given"
        raise InvalidArgument(
            "no horizon is given" if horizon is None else both,
            hint="give -H 200 or --discount 0.99",
        )
    if horizon == 0:
        raise InvalidArgument("the horizon -H is 0", hint="it is 1 or more")


def _models(latent: LatentMDP, result: OracleResult) -> tuple[OracleModel, ...]:
    found = []
    for at, name in enumerate(latent.simulators.model_names):
        optimal, gap = float(result.optimal[at]), float(result.gaps[at])
        low, high = (float(end) for end in result.gap_intervals[at])
        found.append(
            OracleModel(
                name=name,
                prior=float(latent.prior[at]),
                optimal=optimal,
                value=float(result.values[at]),
                gap=gap,
                relative_gap=gap / abs(optimal) if optimal != 0.0 else None,
                gap_interval=Certified(low, high),
            )
        )
    return tuple(found)


def _baseline(latent: LatentMDP, found: Baseline, least: float) -> BaselinePolicy:
    """Return a baseline; no policy loses less than `least` on average."""
    value, average = found.value, found.average_gap
    if isinstance(value, Estimate) and isinstance(average, Estimate):
        top = value.estimate + average.estimate
        average = average.within(least, None)
        value = average.changed(-1.0, top)
    names = latent.simulators.model_names
    evaluated = len(found.gaps) == len(names)
    cross, left_out = found.cross_gaps, ""
    if cross is not None and len(names) > MOST_CROSSED:
        left_out = f"gaps of each plan in each of {len(names)} models are left out"
    return BaselinePolicy(
        about=found.about,
        value=value,
        average_gap=average,
        worst_gap=found.worst_gap if evaluated else None,
        models=tuple(
            BaselineModel(name, _number(value), _number(gap))
            for name, value, gap in zip(names, found.values, found.gaps, strict=True)
        )
        if evaluated
        else (),
        certainty=found.certainty,
        bound=found.bound,
        note="; ".join(filter(None, (found.note, left_out))),
        cross_gaps=None
        if cross is None or left_out
        else tuple(map(tuple, cross.tolist())),
    )


def _number(found: float | Estimate) -> float | Estimate:
    return found if isinstance(found, Estimate) else float(found)
