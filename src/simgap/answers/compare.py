"""What each policy loses in each model that may be the real one.

Rows are policies, columns real models. Policies without memory and policy graphs have
certified gaps; agents whose histories are few enough to follow have them too; all
others are run with common random numbers and have intervals. Then what memory and
randomization are worth, and how all of it grows with the horizon.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, Literal

from simgap._kernels.time_limit import check_time, if_in_time
from simgap.answers.brought_policies import Asked, asked_policy, names_a_file
from simgap.answers.class_facts import measured_class
from simgap.answers.model import Model, named_model
from simgap.answers.oracle import planned_and_compared, planned_class
from simgap.answers.over_horizons import (
    MOST_HORIZONS,
    over_horizons,
    trained_models,
    usual_horizons,
)
from simgap.answers.planned_class import PlannedClass, Tell, checked_oracle
from simgap.answers.policy_gaps import (
    DEFAULT,
    LARGEST_LOSSES,
    LONGEST_ORACLE,
    ORACLE,
    PLANNED_ONLY,
    SIMPLER,
    WITHOUT_PLANNING,
    brought_gaps,
    fewer_runs,
    policy_gaps,
)
from simgap.answers.stakes import stakes
from simgap.answers.time_limits import in_time
from simgap.base_policies.catalogue import POLICIES
from simgap.errors import InvalidArgument, OutOfTime, SimgapError
from simgap.gap import MonteCarlo
from simgap.mdp import LatentMDP
from simgap.oracle import AutoOracle, Outcome, bytes_of_losses
from simgap.planning import optimal_values
from simgap.records.gap import Gap, HorizonGaps
from simgap.records.note import Notes
from simgap.records.oracle import Oracle
from simgap.records.provenance import Certainty, provenance
from simgap.text import suggestion

KNOWN = tuple(dict.fromkeys([*ORACLE, *SIMPLER, *(each.name for each in POLICIES)]))
OUT_OF_TIME = "the time limit came first"
AT_HORIZONS = 100  # episodes of estimates that are not read
LARGEST_CLASS = 200_000  # models times states, up to which theorems are put in
CERTAINTY: Final[dict[str, Certainty]] = {
    "optimal": "certified",
    "at_stake": "certified",
    "value_of_memory": "certified",
    "value_of_randomization": "certified",
    "by_horizon": "certified",
}


@in_time
def compare(
    model: Model,
    horizon: int,
    *,
    policies: Sequence[Any] = (),
    horizons: Sequence[int] | Literal["all"] = (),
    agents: bool = True,
    seeds: int = 400,
    half_width: float | None = None,
    gap_tolerance: float = 0.1,
    time_limit: float = 60.0,
    seed: int = 0,
    threads: int | None = None,
    oracle: Oracle | None = None,
    progress: Tell | None = None,
) -> Gap:
    """Return what each policy loses in each model, and what memory is worth.

    `policies` are names: agents of `simgap run`, or policies planned for the class; or
    policies that you bring, a text such as `mine=file.py:act`, `policy.onnx` or
    `policy.simgap`, or a Python object. One that cannot be had is an error; by default
    all that can be had are compared, without `agents` only those that are planned.
    Where sampling is needed there are `seeds` runs in every model, or so many that
    intervals are within `half_width`, on `threads` (default: all cores). `horizons`
    asks the same at shorter ones, "all" at the usual ones. The oracle is planned until
    its bracket is `gap_tolerance` of its loss, or for `time_limit` seconds, unless it
    is given, compared with simpler policies. All that follows has a third of that time
    more, and what there is no time for is in `left_out`.

    >>> from simgap import compare
    >>> found = compare("absorbing_doors?members=3", 8, policies=["oracle", "random"])
    >>> [(each.name, round(each.average.upper, 6)) for each in found.policies]
    [('oracle', 4.0), ('random', 4.0)]
    """
    given, tell = named_model(model), progress or (lambda word: None)
    asked, lengths = checked_policies(policies), _lengths(horizons, horizon)
    solver = AutoOracle(gap_tolerance=gap_tolerance, time_limit=time_limit, seed=seed)
    evaluator = MonteCarlo(
        episodes=seeds,
        seed=seed,
        half_width=half_width,
        most_episodes=max(seeds, 10**6),
        threads=threads or len(os.sched_getaffinity(0)),
    )
    usual = DEFAULT if agents else PLANNED_ONLY
    latent, notes = given.latent, Notes()
    wanted = asked or tuple(Asked(each, each) for each in usual)
    best, stake = optimal_values(latent.simulators, horizon), stakes(latent, horizon)
    if oracle is not None:
        checked_oracle(oracle.result, latent, horizon)
    elif _worth_planning(latent, asked, horizon):
        oracle = planned_and_compared(given, horizon, solver, tell)
    if not asked:
        evaluator = fewer_runs(latent, evaluator, notes)
    if oracle is not None:
        _note_limit(oracle.result.outcome, "the oracle", notes)
        for each in oracle.notes:
            notes.add(each.code, each.text)
    rows, left_out = [], {}
    for name, what in wanted:
        tell(f"measuring {name}")
        try:
            own = isinstance(what, str) and what in KNOWN
            measure = policy_gaps if own else brought_gaps
            row = measure(latent, what, horizon, evaluator, oracle, tell)
            rows.append(replace(row, name=name))
        except OutOfTime:
            left_out[name] = OUT_OF_TIME
        except SimgapError as error:
            if asked:
                raise
            left_out[name] = error.problem
    late = [name for name, why in left_out.items() if why == OUT_OF_TIME]
    if late and not rows:
        check_time()  # nothing was measured: that is no answer
    if late:
        text = f"not measured: {', '.join(late)}; the time limit came first"
        notes.add("policies-left-out", text)
    known = None if oracle is None else planned_class(oracle)
    grown = None
    if lengths:
        grown = if_in_time(lambda: _grown(latent, lengths, solver, known, notes, tell))
        if grown is None:
            text = "nothing over horizons: the time limit came first"
            notes.add("horizons-left-out", text)
    return Gap(
        horizon=horizon,
        policies=tuple(rows),
        left_out=left_out,
        names=latent.simulators.model_names,
        prior=tuple(latent.prior.tolist()),
        optimal=tuple(best.start.tolist()),
        rounding=float(best.error.max()),
        at_stake=stake.average.upper,
        memory=None if oracle is None else oracle.memory,
        value_of_memory=None if oracle is None else oracle.value_of_memory,
        value_of_randomization=None
        if oracle is None
        else oracle.value_of_randomization,
        trained=None if grown is None else trained_models(latent),
        by_horizon=grown,
        certainty=dict(CERTAINTY),
        notes=tuple(notes),
        provenance=provenance(command="", model=given.name, latent=latent, seed=seed),
    )


def checked_policies(policies: Sequence[Any]) -> tuple[Asked, ...]:
    """Return the policies asked for, or say which name is wrong."""
    texts = dict.fromkeys(each for each in policies if isinstance(each, str))
    objects = [each for each in policies if not isinstance(each, str)]
    found = [asked_policy(each) for each in (*texts, *objects)]
    for _, what in found:
        if isinstance(what, str) and what not in KNOWN and not names_a_file(what):
            raise InvalidArgument(
                f"there is no policy {what[:60]!r}",
                hint=suggestion(what, KNOWN)
                or f"the policies are {', '.join(KNOWN)}, zero, or one of yours: "
                "file.py:function, file.onnx, file.simgap",
            )
    return tuple(found)


def _lengths(asked: Sequence[int] | Literal["all"], horizon: int) -> tuple[int, ...]:
    """Return the horizons asked for: all are the usual ones up to the given one."""
    if asked == "all":
        return usual_horizons(horizon)
    found = sorted(set(asked))
    if found and (found[0] < 1 or found[-1] > horizon):
        raise InvalidArgument(
            f"the horizons go from {found[0]} to {found[-1]}",
            hint=f"they are from 1 to the horizon -H {horizon}",
        )
    if len(found) > MOST_HORIZONS:
        raise InvalidArgument(
            f"{len(found)} horizons are named", hint=f"at most {MOST_HORIZONS}"
        )
    return tuple(found)


def _worth_planning(latent: LatentMDP, asked: Sequence[Asked], horizon: int) -> bool:
    """Return whether the oracle and simpler policies are planned at all."""
    if asked:
        planned = {*ORACLE, *SIMPLER}.difference(WITHOUT_PLANNING)
        return any(isinstance(w, str) and w in planned for _, w in asked)
    small = bytes_of_losses(latent, horizon) <= LARGEST_LOSSES
    return horizon <= LONGEST_ORACLE and small


def _note_limit(outcome: Outcome, what: str, notes: Notes) -> None:
    """Note where planning ended before its tolerance."""
    if outcome in (Outcome.EXACT, Outcome.SOLVED):
        return
    late = outcome is Outcome.OUT_OF_TIME
    notes.add(
        "planning-cut-short",
        f"{what}: planning {outcome.value}; the bracket is valid, wider than asked"
        + (", and differs from run to run" if late else ""),
    )


def _grown(
    latent: LatentMDP,
    horizons: Sequence[int],
    solver: AutoOracle,
    known: PlannedClass | None,
    notes: Notes,
    tell: Tell,
) -> tuple[HorizonGaps, ...]:
    """Return gaps over horizons, with what theorems promise where that is cheap."""
    worlds, measured = latent.simulators, None
    size = len(worlds) * worlds.n_states
    if size <= LARGEST_CLASS:
        tell("measuring the class")
        measured = measured_class(latent, max(horizons))
    else:
        notes.add(
            "no-theorems-over-horizons",
            f"no theorems over horizons: {size} states in all models, they are put in "
            f"up to {LARGEST_CLASS}; see simgap bounds",
        )
    quick = replace(solver, episodes=AT_HORIZONS)
    found = over_horizons(
        latent, horizons, solver=quick, measured=measured, planned=known, tell=tell
    )
    for each in found:
        _note_limit(each.outcome, f"at H = {each.horizon}", notes)
    trained = len(trained_models(latent))
    if trained < len(worlds):
        notes.add(
            "some-models",
            f"plans of {trained} of {len(worlds)} models, spread evenly, "
            "are shown in each other",
        )
    return found
