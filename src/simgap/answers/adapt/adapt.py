"""Real data, what now? A class of models, or a simulator whose parameters are ranges.

Two questions with one name, as on the command line: a class is planned again, a
simulator is only identified, and `randomize` says which is meant.
"""

from __future__ import annotations

import os
from typing import Any, overload

from simgap.answers.adapt.adapt_class import Log, adapt_class
from simgap.answers.adapt.evidence import RewardEvidence
from simgap.answers.adapt.options import refuse_options
from simgap.answers.adapt.simulator import adapt_simulator
from simgap.answers.model import Model
from simgap.answers.planned_class import KnownOracle, Tell
from simgap.continuous import Randomized, RealLog, Simulator, is_real_log
from simgap.errors import InvalidArgument
from simgap.interop import TransitionLog
from simgap.oracle import Solver
from simgap.records.adapt import Adapt
from simgap.records.adapt_simulator import AdaptedSimulator

Path = str | os.PathLike[str]


@overload
def adapt(
    model: Model,
    horizon: int,
    log: Log,
    *,
    rewards: RewardEvidence = ...,
    start_evidence: bool = ...,
    false_alarm: float = ...,
    gap_tolerance: float | None = ...,
    time_limit: float = ...,
    seed: int = ...,
    solver: Solver | None = ...,
    oracle: KnownOracle | None = ...,
    save: Path | None = ...,
    save_model: Path | None = ...,
    progress: Tell | None = ...,
) -> Adapt: ...


@overload
def adapt(
    model: Simulator | str | Any,
    *,
    log: RealLog | Path,
    randomize: Randomized,
    rate: float | None = ...,
    delay: int | None = ...,
    false_alarm: float = ...,
    transfer: Path | None = ...,
    out: Path | None = ...,
    seed: int = ...,
) -> AdaptedSimulator: ...


def adapt(
    model: Model | Any,  # or a simulator
    horizon: int | None = None,
    log: Log | RealLog | None = None,
    *,
    randomize: Randomized | None = None,
    rewards: RewardEvidence = RewardEvidence.IGNORED,
    start_evidence: bool = False,
    rate: float | None = None,
    delay: int | None = None,
    false_alarm: float = 0.01,
    gap_tolerance: float | None = None,
    time_limit: float = 60.0,
    transfer: Path | None = None,
    out: Path | None = None,
    seed: int = 0,
    solver: Solver | None = None,
    oracle: KnownOracle | None = None,
    save: Path | None = None,
    save_model: Path | None = None,
    progress: Tell | None = None,
) -> Adapt | AdaptedSimulator:
    """Return what real transitions say: posterior, tests of fit, new plan (theory 7.4).

    For a class of models `log` is a CSV file with the columns state, action,
    next_state, or what `read_transition_log` returns.
    Rewards and first states of episodes are evidence only if `rewards` and
    `start_evidence` say so. The alarm `outside_class` is false with chance
    `false_alarm` at most, however the data were collected. Models without prior weight
    get none from data; the class is those that have some.

    Two oracles are planned, for the prior (unless `oracle` is given) and for the
    posterior, until the bracket of the loss is `gap_tolerance` of it (0.05, or a width
    that is negligible) or for `time_limit` seconds, both; or as `solver` says. The new
    policies are kept in the file `save` and the class with the posterior as its prior
    in `save_model`, unless the log excludes every model.

    With `randomize` the model is a simulator and the answer is that of
    `simgap.answers.adapt_simulator`: a posterior of its parameters and of the delay,
    written to `out`. `log` is a `RealLog` then, or a CSV, .npz or Parquet file with
    columns obs_0, ..., act_0, ...; `rate` is in steps per second, `delay` what is known
    of the delay of actions.

    >>> from simgap import adapt
    >>> from simgap.interop import TransitionLog
    >>> seen = TransitionLog([0, 0], [0, 1], [0, 1], [1, 1], [1, 2])
    >>> found = adapt("riverswim?states=3&success=0.3,0.8", 10, seen)
    >>> [round(each.probability, 3) for each in found.posterior]
    [0.273, 0.727]
    """
    if log is None:
        raise InvalidArgument("no log is given", hint="log='real.csv'")
    if randomize is None:
        refuse_options(
            {"rate": rate, "delay": delay, "transfer": transfer, "out": out},
            "it needs a simulator: randomize='mass=0.5..2'",
        )
        if horizon is None:
            raise InvalidArgument(
                "no horizon is given",
                hint="adapt(model, 50, log), or randomize='mass=0.5..2' if the model "
                "is a simulator",
            )
        if isinstance(log, RealLog) or (
            isinstance(log, str | os.PathLike) and is_real_log(log)
        ):
            raise InvalidArgument(
                "the log has observations, and models of a class have numbered states",
                hint="give a log with the columns state, action, next_state; or the "
                "simulator itself with a range: randomize='mass=0.5..2'",
                code="log-of-observations",
            )
        return adapt_class(
            model,
            horizon,
            log,
            rewards=rewards,
            start_evidence=start_evidence,
            false_alarm=false_alarm,
            gap_tolerance=gap_tolerance,
            time_limit=time_limit,
            seed=seed,
            solver=solver,
            oracle=oracle,
            save=save,
            save_model=save_model,
            progress=progress,
        )
    refuse_options(
        {
            "horizon": horizon,
            "rewards": rewards is not RewardEvidence.IGNORED,
            "start_evidence": start_evidence,
            "gap_tolerance": gap_tolerance,
            "solver": solver,
            "oracle": oracle,
            "save": save,
            "save_model": save_model,
        },
        "leave it out: with randomize nothing is planned",
    )
    if isinstance(log, TransitionLog) or not isinstance(
        log, RealLog | str | os.PathLike
    ):
        raise InvalidArgument(
            f"the log of a simulator is a {type(log).__name__}",
            hint="name a file with columns episode, obs_0, ..., act_0, ..., or give a "
            "RealLog",
        )
    return adapt_simulator(
        model,
        randomize,
        log,
        rate=rate,
        delay=delay,
        false_alarm=false_alarm,
        transfer=transfer,
        out=out,
        seed=seed,
    )
