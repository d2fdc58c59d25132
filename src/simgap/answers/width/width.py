"""How wide to randomize a parameter: train on a range, be real anywhere in the class.

The models of the class are what may be real, the prior is the belief in them. For each
range of the parameter the oracle is planned for the models in it, other parameters
random as the prior has them, and its gap is computed in every model, inside and
outside. Gaps are those of the policy that was planned: a range has many optimal
policies, and another of them may do better or worse outside.

The oracle of the whole class has the least average gap of all policies. Between ranges
that leave models out nothing is promised: a wider one may lose more, by the models it
then hedges for. A narrower range is recommended when the difference to the best is
below a slack: it is cheaper to train and simpler.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import final

import numpy as np

from simgap.answers.planned_class import checked_oracle
from simgap.answers.stakes import Stakes, stakes
from simgap.answers.width.policy import RangePolicy, range_policy
from simgap.answers.width.ranges import (
    NEAR,
    TrainingRange,
    asked_ranges,
    middle_value,
    offered_ranges,
    parameter_values,
)
from simgap.arrays import BoolArray, FloatArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, Certified, around
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle import (
    AutoOracle,
    LossForm,
    OracleResult,
    Outcome,
    Solver,
    graph_gaps,
    loss_form,
)
from simgap.planning import checked_horizon
from simgap.records import Certainty

CLOSE = 0.5  # a bracket this part of the slack wide decides well enough
SLACK = 0.003  # of what is at stake: a difference not worth a wider range
MANY = 60  # models, from which on all ranges share one time limit
LEAST_SECONDS = 1.0  # of a range


class Criterion(Enum):
    """What a range is judged by, over all models that may be real."""

    AVERAGE = "average"
    WORST = "worst"


@final
@dataclass(frozen=True, slots=True)
class WidthSettings:
    """Where ranges are centred, which are tried and when a difference is small."""

    nominal: float | None = None  # None: the median under the prior
    widths: tuple[float, ...] | None = None  # None: all that differ, at most 12
    criterion: Criterion = Criterion.AVERAGE
    slack: float = SLACK  # of what is at stake
    solver: Solver | None = None  # None: `usual_solver`, with these two
    time_limit: float = 60.0  # seconds for each range, for all of them if MANY models
    seed: int = 0

    def __post_init__(self) -> None:
        if self.nominal is not None and not isfinite(self.nominal):
            raise InvalidArgument(
                f"the nominal value is {self.nominal!r}", hint="it is a finite number"
            )
        if not (isfinite(self.slack) and 0.0 <= self.slack <= 1.0):
            raise InvalidArgument(
                f"slack is {self.slack!r}",
                hint="it is a part of what is at stake, from 0 to 1, such as 0.003",
            )


@final
@dataclass(frozen=True, slots=True)
class Beyond:
    """What is lost if reality lies a distance outside the range."""

    distance: float
    models: int
    gap: Certified  # average over these models


@final
@dataclass(frozen=True, slots=True, eq=False)
class WidthRow:
    """The policy of one range, in every model that may be real."""

    width: float
    low: float
    high: float
    kept: BoolArray  # (K,), which real models are in the range
    gaps: FloatArray  # (K,)
    gap: Certified  # average over all real models
    worst: Certified
    worst_model: int  # its place among the real models
    inside: Certified  # average gap of the oracle in its own range
    outside: Certified | None  # average over the real models outside
    at_nominal: Certified  # average over the models nearest to the nominal value
    beyond: tuple[Beyond, ...]  # by distance from the range
    surprising: bool  # reality may do what no model of the range can
    outcome: Outcome


@final
@dataclass(frozen=True, slots=True, eq=False)
class WidthCurve:
    """What ranges of one parameter lose, and which of them is wide enough."""

    param: str
    horizon: int
    nominal: float
    real: OffsetArray  # (K,), the models that may be real
    values: FloatArray  # (K,), of the parameter
    weights: FloatArray  # (K,), the prior
    rows: tuple[WidthRow, ...]  # by increasing width
    ranges: int  # how many there would be
    at_stake: Certified  # average gap of acting at random
    rounding: float  # of a gap told as one number
    by_average: int  # the narrowest row that is nearly as good as any
    by_worst: int
    settings: WidthSettings
    certainty: Certainty = "certified"  # of what is proved; the class says it

    @property
    def recommended(self) -> int:
        """Return the row that the criterion asks for."""
        wanted = self.settings.criterion is Criterion.AVERAGE
        return self.by_average if wanted else self.by_worst

    @property
    def whole(self) -> Certified | None:
        """Return the least average gap of any policy, if all models were a range."""
        last = self.rows[-1]
        return last.inside if last.kept.all() else None


def width_curve(
    latent: LatentMDP,
    *,
    horizon: int,
    param: str | None = None,
    settings: WidthSettings | None = None,
    oracle: OracleResult | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> WidthCurve:
    """Return what the oracle of each range of a parameter loses in all real models.

    `oracle` is that of the whole class, if it is planned already. `progress` is called
    with the number of ranges done and of all.
    """
    checked_latent(latent)
    horizon, chosen = checked_horizon(horizon), settings or WidthSettings()
    param, values = parameter_values(latent, param)
    prior = latent.prior
    nominal = chosen.nominal
    if nominal is None:
        nominal = middle_value(values, prior)
    if chosen.widths is None:
        ranges, possible = offered_ranges(values, prior, nominal)
    else:
        ranges = asked_ranges(values, prior, nominal, chosen.widths)
        possible = len(ranges)
    real, at_stake = np.flatnonzero(prior > 0.0), stakes(latent, horizon)
    form = loss_form(LatentMDP.uniform(latent.simulators), horizon=horizon)
    judge = _Judge(form, real, values[real], prior[real], nominal)
    timed = chosen
    if real.size > MANY:
        each_limit = max(LEAST_SECONDS, chosen.time_limit / len(ranges))
        timed = replace(chosen, time_limit=each_limit)
    planned: dict[bytes, RangePolicy] = {}
    oracle = checked_oracle(oracle, latent, horizon)
    if oracle is not None:
        planned[np.ones_like(ranges[0].kept).tobytes()] = RangePolicy(
            oracle.policy, oracle.average_gap, oracle.outcome, surprising=False
        )
    rows = []
    for done, each in enumerate(ranges):
        if progress is not None:
            progress(done, len(ranges))
        key = each.kept.tobytes()
        if key not in planned:
            share = np.where(each.kept, prior, 0.0) / prior[each.kept].sum()
            solver = chosen.solver or usual_solver(form, at_stake, share, timed)
            planned[key] = range_policy(
                latent, each.kept, horizon=horizon, solver=solver
            )
        rows.append(judge.row(each, planned[key]))
    spare = chosen.slack * _upper(at_stake.average)
    return WidthCurve(
        param=param,
        horizon=horizon,
        nominal=nominal,
        real=owned(real),
        values=owned(values[real]),
        weights=owned(prior[real]),
        rows=tuple(rows),
        ranges=possible,
        at_stake=at_stake.average,
        rounding=max(form.rounding_of(row.gaps) for row in rows),
        by_average=narrowest([row.gap for row in rows], spare),
        by_worst=narrowest([row.worst for row in rows], spare),
        settings=chosen,
        certainty=latent.certified,
    )


def usual_solver(
    form: LossForm, at_stake: Stakes, share: FloatArray, settings: WidthSettings
) -> AutoOracle:
    """Return the solver of a range with a share (M,) of the prior.

    It stops when the bracket is a twentieth of the gap wide, or `CLOSE` of the slack;
    the estimate of the policy to run is not read, so its episodes are few.
    """
    usual = AutoOracle(time_limit=settings.time_limit, episodes=2, seed=settings.seed)
    best = float(share @ form.optimal)
    random = best - float(share @ [_upper(each) for each in at_stake.models])
    most = max(abs(best), abs(random))  # the value of the oracle is between the two
    if most == 0.0:
        return usual
    close = CLOSE * settings.slack * _upper(at_stake.average) / most
    return replace(usual, negligible=min(max(usual.negligible, close), 0.5))


def narrowest(losses: Sequence[Certified], spare: float) -> int:
    """Return the first place whose loss is at most `spare` above the least.

    Losses are equal if rounding may have made them differ.
    """
    most = min(_upper(loss) for loss in losses) + spare
    return next(at for at, loss in enumerate(losses) if _lower(loss) <= most)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """What policies are judged by: all models, and the real ones among them."""

    form: LossForm
    real: OffsetArray  # (K,)
    values: FloatArray  # (K,)
    weights: FloatArray  # (K,)
    nominal: float

    def row(self, chosen: TrainingRange, made: RangePolicy) -> WidthRow:
        kept, weights = chosen.kept[self.real], self.weights
        gaps = np.maximum(graph_gaps(self.form, made.policy)[self.real], 0.0)
        ends = self._ends(gaps)
        inside = made.average_gap
        own = average(ends, np.where(kept, weights, 0.0))
        if _upper(own) < _lower(inside) or _lower(own) > _upper(inside):
            raise AssertionError("a policy does not lose what its oracle promises")
        apart = np.abs(self.values - self.nominal)
        near = NEAR * max(float(np.abs(self.values).max()), abs(self.nominal))
        middle = apart <= apart.min() + near
        away = np.maximum(chosen.low - self.values, self.values - chosen.high)
        return WidthRow(
            width=chosen.width,
            low=chosen.low,
            high=chosen.high,
            kept=owned(kept),
            gaps=owned(gaps),
            gap=average(ends, weights),
            worst=Certified(float(ends[:, 0].max()), float(ends[:, 1].max())),
            worst_model=int(np.argmax(gaps)),
            inside=inside,
            outside=None if kept.all() else average(ends, np.where(kept, 0.0, weights)),
            at_nominal=average(ends, np.where(middle, weights, 0.0)),
            beyond=_beyond(away, kept, ends, weights, near),
            surprising=made.surprising,
            outcome=made.outcome,
        )

    def _ends(self, gaps: FloatArray) -> FloatArray:
        """Return gaps with what rounding may have done to them, (K, 2)."""
        slack = self.form.rounding + gaps * self.form.relative_rounding
        return np.maximum(around(gaps, slack), 0.0)


def _beyond(
    distances: FloatArray,
    kept: BoolArray,
    ends: FloatArray,
    weights: FloatArray,
    near: float,
) -> tuple[Beyond, ...]:
    """Return the average gap of the models outside at each distance."""
    found = []
    left = ~kept
    while left.any():
        at = float(distances[left].min())
        here = left & (distances <= at + near)
        gap = average(ends, np.where(here, weights, 0.0))
        found.append(Beyond(float(f"{at:.12g}"), int(here.sum()), gap))
        left &= ~here
    return tuple(found)


def average(ends: FloatArray, weights: FloatArray) -> Certified:
    """Return the mean of gaps (K, 2) for weights of any sum, rounded outwards."""
    mean = (weights / weights.sum()) @ ends
    slack = (2 * weights.size + 4) * EPS
    return Certified(float(mean[0] * (1.0 - slack)), float(mean[1] * (1.0 + slack)))


def _lower(bounds: Certified) -> float:
    return bounds.lower


def _upper(bounds: Certified) -> float:
    return bounds.upper
