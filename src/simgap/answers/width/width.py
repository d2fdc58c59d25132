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

The oracle of a range of models, and what it does after a step its range forbids.

The range is planned as a class of its own: nothing of the models outside enters, not
even their plans. (The oracle of the whole class with prior zero outside would go on,
after a step that is impossible in the range, with the plan of a model it never trained
on.) In reality more can happen than in the range. After a step, or in a first state,
that no model of the range allows, the policy goes on without memory: it plays what is
best on average over the range, sum_m nu_m loss_m(h, s, a) at its least (of actions that
are equal up to rounding the lowest). So its gap is defined and exact in every model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal, final

import numpy as np

from simgap.answers.model import Model, named_model
from simgap.answers.planned_class import KnownOracle, Tell, checked_oracle
from simgap.answers.stakes import Stakes, stakes
from simgap.answers.time_limits import in_time
from simgap.answers.width.ranges import (
    NEAR,
    TrainingRange,
    asked_ranges,
    middle_value,
    offered_ranges,
    parameter_values,
)
from simgap.answers.width.sentences import notes_of, reason_of
from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.intervals import EPS, Certified, around
from simgap.mdp import LatentMDP, class_from_models
from simgap.oracle import (
    AutoOracle,
    LossForm,
    Outcome,
    Solver,
    average_plan,
    completed_graph,
    graph_gaps,
    loss_form,
    planned_policy,
)
from simgap.planning import checked_horizon
from simgap.policies import GraphPolicy, Pattern
from simgap.records.provenance import Certainty, provenance
from simgap.records.width import LossBeyond, RangeLoss, RealModel, Width
from simgap.text import suggestion

CRITERIA = ("average", "worst")
CLOSE = 0.5  # a bracket this part of the slack wide decides well enough
MANY = 60  # models, from which on some may stand for their neighbours
CERTAINTY: dict[str, Certainty] = {
    "gap": "certified",  # of the policies planned, up to rounding
    "worst": "certified",
    "outside": "certified",
    "gaps": "certified",
    "at_nominal": "certified",
    "beyond": "certified",
    "inside": "certified",
    "least_possible": "certified",
    "at_stake": "certified",
}


@in_time
def width(
    model: Model,
    horizon: int,
    param: str | None = None,
    *,
    nominal: float | None = None,
    widths: Sequence[float] | None = None,
    criterion: Literal["average", "worst"] = "average",
    slack: float = 0.003,
    gap_tolerance: float | None = None,
    time_limit: float = 120.0,
    seed: int = 0,
    oracle: KnownOracle | None = None,
    progress: Tell | None = None,
) -> Width:
    """Return what training on each range of a parameter loses, and which is enough.

    For each range the best policy is planned for the models in it, and what it loses is
    computed in every model that may be real. Recommended is the narrowest range whose
    loss exceeds the least loss by at most `slack` times the loss of acting at random;
    by the `criterion`, the loss is the average over the prior or the worst one.

    `param` may be left out if only one parameter differs between models. Ranges are
    centred at `nominal` (the median under the prior unless it is given). Without
    `widths`, one range for each different set of models is tried, at most 12. Planning
    of a range stops when its bracket is narrower than `gap_tolerance` times its loss;
    without `gap_tolerance`, when a narrower bracket would not change the choice; and
    always after its equal part of `time_limit` seconds, which all ranges share.
    `oracle` is that of the whole class, if it is planned already. `progress` is called
    with a few words now and then.

    >>> from simgap import width
    >>> rivers = "riverswim?states=4&success=0.05:0.85:5&left_reward=0.4"
    >>> found = width(rivers, 30, "success")
    >>> [each.width for each in found.widths], found.recommended
    ([0.0, 0.4, 0.8], 0.8)
    """
    given = named_model(model)
    latent, horizon = given.latent, checked_horizon(horizon)
    _check(nominal, criterion, slack)
    param, values = parameter_values(latent, param)
    prior, real = latent.prior, np.flatnonzero(latent.prior > 0.0)
    centre = middle_value(values, prior) if nominal is None else nominal
    if widths is None:
        ranges, possible = offered_ranges(values, prior, centre)
    else:
        ranges = asked_ranges(values, prior, centre, widths)
        possible = len(ranges)
    names = [latent.simulators.model_names[at] for at in real.tolist()]
    at_stake = stakes(latent, horizon)
    form = loss_form(LatentMDP.uniform(latent.simulators), horizon=horizon)
    judge = _Judge(form, real, values[real], prior[real], centre, names)
    share_of_time = time_limit / len(ranges)  # counted: the same on every run
    planned: dict[bytes, RangePolicy] = {}
    oracle = checked_oracle(oracle, latent, horizon)
    if oracle is not None:
        planned[np.ones_like(ranges[0].kept).tobytes()] = RangePolicy(
            oracle.policy, oracle.average_gap, oracle.outcome, surprising=False
        )
    rows = []
    for done, each in enumerate(ranges):
        if progress is not None:
            progress(f"planning: {done} of {len(ranges)} ranges")
        key = each.kept.tobytes()
        if key not in planned:
            share = np.where(each.kept, prior, 0.0) / prior[each.kept].sum()
            solver = solver_of_range(
                AutoOracle(time_limit=share_of_time, episodes=2, seed=seed),
                form,
                at_stake,
                share,
                slack=slack,
                gap_tolerance=gap_tolerance,
            )
            planned[key] = range_policy(
                latent, each.kept, horizon=horizon, solver=solver
            )
        rows.append(judge.row(each, planned[key]))
    spare = slack * at_stake.average.upper
    by_average = rows[narrowest([row.gap for row in rows], spare)].width
    by_worst = rows[narrowest([row.worst for row in rows], spare)].width
    found = Width(
        param=param,
        horizon=horizon,
        nominal=centre,
        real=tuple(map(RealModel, names, values[real].tolist(), prior[real].tolist())),
        widths=tuple(rows),
        recommended=by_average if criterion == "average" else by_worst,
        reason="",
        criterion=criterion,
        slack=slack,
        at_stake=at_stake.average.upper,
        rounding=max(form.rounding_of(np.array(row.gaps)) for row in rows),
        recommended_average=by_average,
        recommended_worst=by_worst,
        least_possible=rows[-1].inside if rows[-1].models == real.size else None,
        certainty=dict(CERTAINTY),
        notes=(),
        provenance=provenance(command="", model=given.name, latent=latent, seed=seed),
    )
    aim = (
        f"a twentieth of it or {100 * CLOSE * slack:.2g} % of what is at stake"
        if gap_tolerance is None
        else "the tolerance asked for"
    )
    return replace(
        found,
        reason=reason_of(found, nothing_at_stake=at_stake.average.lower <= 0.0),
        notes=notes_of(
            found, latent, possible=possible, many=real.size > MANY, aim=aim
        ),
    )


def _check(nominal: float | None, criterion: str, slack: float) -> None:
    if nominal is not None and not isfinite(nominal):
        raise InvalidArgument(
            f"the nominal value is {nominal!r}", hint="it is a finite number"
        )
    if criterion not in CRITERIA:
        raise InvalidArgument(
            f"there is no criterion {criterion[:40]!r}",
            hint=suggestion(criterion, CRITERIA) or "it is average or worst",
        )
    if not (isfinite(slack) and 0.0 <= slack <= 1.0):
        raise InvalidArgument(
            f"slack is {slack!r}",
            hint="it is a part of what is at stake, from 0 to 1, such as 0.003",
        )


def solver_of_range(
    usual: AutoOracle,
    form: LossForm,
    at_stake: Stakes,
    share: FloatArray,
    *,
    slack: float,
    gap_tolerance: float | None,
) -> AutoOracle:
    """Return the solver of a range with a share (M,) of the prior.

    It stops at the tolerance asked for; else when the bracket is a twentieth of the gap
    wide, or `CLOSE` of the slack.
    """
    if gap_tolerance is not None:
        return replace(usual, gap_tolerance=gap_tolerance, negligible=0.0)
    best = float(share @ form.optimal)
    random = best - float(share @ [each.upper for each in at_stake.models])
    most = max(abs(best), abs(random))  # the value of the oracle is between the two
    if most == 0.0:
        return usual
    close = CLOSE * slack * at_stake.average.upper / most
    return replace(usual, negligible=min(max(usual.negligible, close), 0.5))


def narrowest(losses: Sequence[Certified], spare: float) -> int:
    """Return the first place whose loss is at most `spare` above the least.

    Losses are equal if rounding may have made them differ.
    """
    most = min(loss.upper for loss in losses) + spare
    return next(at for at, loss in enumerate(losses) if loss.lower <= most)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Judge:
    """What policies are judged by: all models, and the real ones among them."""

    form: LossForm
    real: OffsetArray  # (K,)
    values: FloatArray  # (K,)
    weights: FloatArray  # (K,)
    nominal: float
    names: Sequence[str]  # (K,)

    def row(self, chosen: TrainingRange, made: RangePolicy) -> RangeLoss:
        kept, weights = chosen.kept[self.real], self.weights
        gaps = np.maximum(graph_gaps(self.form, made.policy)[self.real], 0.0)
        slack = self.form.rounding + gaps * self.form.relative_rounding
        ends = np.maximum(around(gaps, slack), 0.0)  # (K, 2)
        inside = made.average_gap
        own = average(ends, np.where(kept, weights, 0.0))
        if own.upper < inside.lower or own.lower > inside.upper:
            raise AssertionError("a policy does not lose what its oracle promises")
        apart = np.abs(self.values - self.nominal)
        near = NEAR * max(float(np.abs(self.values).max()), abs(self.nominal))
        middle = apart <= apart.min() + near
        away = np.maximum(chosen.low - self.values, self.values - chosen.high)
        return RangeLoss(
            width=chosen.width,
            low=chosen.low,
            high=chosen.high,
            models=int(kept.sum()),
            gap=average(ends, weights),
            worst=Certified(float(ends[:, 0].max()), float(ends[:, 1].max())),
            worst_model=self.names[int(np.argmax(gaps))],
            inside=inside,
            outside=None if kept.all() else average(ends, np.where(kept, 0.0, weights)),
            gaps=tuple(gaps.tolist()),
            at_nominal=average(ends, np.where(middle, weights, 0.0)),
            beyond=_beyond(away, kept, ends, weights, near),
            surprising=made.surprising,
            outcome=made.outcome.value,
        )


def _beyond(
    distances: FloatArray,
    kept: BoolArray,
    ends: FloatArray,
    weights: FloatArray,
    near: float,
) -> tuple[LossBeyond, ...]:
    """Return the average gap of the models outside at each distance."""
    found = []
    left = ~kept
    while left.any():
        at = float(distances[left].min())
        here = left & (distances <= at + near)
        gap = average(ends, np.where(here, weights, 0.0))
        found.append(LossBeyond(float(f"{at:.12g}"), int(here.sum()), gap))
        left &= ~here
    return tuple(found)


def average(ends: FloatArray, weights: FloatArray) -> Certified:
    """Return the mean of gaps (K, 2) for weights of any sum, rounded outwards."""
    mean = (weights / weights.sum()) @ ends
    slack = (2 * weights.size + 4) * EPS
    return Certified(float(mean[0] * (1.0 - slack)), float(mean[1] * (1.0 + slack)))


@final
@dataclass(frozen=True, slots=True, eq=False)
class RangePolicy:
    """What was planned for a range, as a policy for every model of the class."""

    policy: GraphPolicy  # over the successors of the whole class
    average_gap: Certified  # of the oracle in the range
    outcome: Outcome
    surprising: bool  # whether a model outside can do what no model inside can


def range_policy(
    latent: LatentMDP, kept: BoolArray, *, horizon: int, solver: Solver
) -> RangePolicy:
    """Return the oracle of the models `kept` (M,) as a policy for the whole class."""
    inner = loss_form(_restricted(latent, kept), horizon=horizon)
    found = planned_policy(inner, solver)
    foreseen, starts = _foreseen(latent, kept)
    plan = average_plan(inner)
    return RangePolicy(
        policy=completed_graph(found.policy, _pattern(latent), foreseen, plan),
        average_gap=Certified(found.lower, found.upper),
        outcome=found.outcome,
        surprising=_surprising(latent, kept, foreseen, starts),
    )


def _restricted(latent: LatentMDP, kept: BoolArray) -> LatentMDP:
    """Return the class of the range with its part of the prior."""
    simulators, weight = latent.simulators, latent.prior[kept]
    if kept.all():
        return latent
    inside = [simulators[int(at)] for at in np.flatnonzero(kept)]
    return LatentMDP(class_from_models(inside), weight / weight.sum())


def _foreseen(latent: LatentMDP, kept: BoolArray) -> tuple[BoolArray, BoolArray]:
    """Return which successors (nnz,) and first states (S,) the range allows."""
    simulators = latent.simulators
    steps = (simulators.transitions.values[kept] > 0.0).any(axis=0)
    laws = [simulators.start_law(int(at)) > 0.0 for at in np.flatnonzero(kept)]
    return np.asarray(steps), np.logical_or.reduce(laws)


def _surprising(
    latent: LatentMDP, kept: BoolArray, foreseen: BoolArray, starts: BoolArray
) -> bool:
    """Return whether a model that may be real allows more than the range does."""
    outside = np.flatnonzero((latent.prior > 0.0) & ~kept)
    simulators = latent.simulators
    return any(
        bool((simulators.transitions.values[at] > 0.0)[~foreseen].any())
        or bool((simulators.start_law(int(at)) > 0.0)[~starts].any())
        for at in outside
    )


def _pattern(latent: LatentMDP) -> Pattern:
    kernel = latent.simulators.transitions
    return Pattern(kernel.n_states, kernel.n_actions, kernel.indptr, kernel.indices)
