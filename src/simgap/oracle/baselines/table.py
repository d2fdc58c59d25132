"""What the oracle is compared with: agents that know more, remember less, or guess.

Each baseline comes with its gap in every model. Policies with tables have exact gaps;
those that track the posterior have estimated ones, or exact ones if their histories are
few. `bound` says what the best policy of the same kind can reach, where that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.oracle.baselines.history_values import gaps_by_histories
from simgap.oracle.baselines.memoryless import ShortMemoryPlan, best_plan, fits
from simgap.oracle.baselines.minimax import solve_minimax
from simgap.oracle.baselines.posterior_sampling import (
    estimated_sampling,
    sampling_policy,
)
from simgap.oracle.baselines.single_model import (
    best_memoryless,
    mean_model_plan,
    single_plans,
)
from simgap.oracle.baselines.windowed import LARGEST_TABLE, window_nodes, window_size
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.loss_form import EPS, LossForm
from simgap.policies.belief import BeliefPolicy
from simgap.policies.interface import Policy
from simgap.policies.markov import MarkovPolicy
from simgap.policies.window import WindowPolicy, number_of_windows
from simgap.records import ON_GRID, Certainty, Certified
from simgap.statistics import Estimate

MOST_EPISODES = 20_000
LARGEST_WINDOW_POLICY = 40_000_000  # actions
HISTORIES_PER_SECOND = 10_000
MINIMAX_NODES = 20_000
MINIMAX_ROUNDS = 100


@final
@dataclass(frozen=True, slots=True, eq=False)
class Baseline:
    """An agent to compare the oracle with."""

    name: str
    about: str  # one line for a table
    policy: Policy[Any] | tuple[Policy[Any], ...] | None  # several: see `note`
    value: Certified | Estimate  # averaged over the prior
    average_gap: Certified | Estimate
    values: FloatArray | tuple[Estimate, ...]  # (M,)
    gaps: FloatArray | tuple[Estimate, ...]  # (M,)
    certainty: Certainty  # of `value`
    bound: float | None = None  # no policy of this kind has a larger `value`
    note: str = ""
    weights: FloatArray | None = None  # of the policies of a mixture
    cross_gaps: FloatArray | None = None  # (M, M), of the plan of model j in model m

    @property
    def worst_gap(self) -> float:
        """Return the largest gap in any model, an estimate if `gaps` are."""
        if isinstance(self.gaps, tuple):
            return max((each.estimate for each in self.gaps), default=0.0)
        return float(self.gaps.max(initial=0.0))


def baselines(
    form: LossForm, *, seed: int = 0, effort: float = 1.0
) -> tuple[Baseline, ...]:
    """Return every baseline of a problem, in the order of a table.

    `effort` is in seconds of a usual machine for each search or simulation, spent as a
    fixed amount of work: the same seed gives the same numbers.
    """
    if not effort > 0.0 or not np.isfinite(effort):
        raise InvalidArgument(f"effort {effort!r}", hint="give seconds, above 0")
    plans = single_plans(form)
    mean = mean_model_plan(form)
    memoryless = best_memoryless(form, plans, mean, effort=effort, seed=seed)
    found = (
        _informed(form, plans),
        _single(form, plans),
        _of_plan(
            form, mean, "mean-model", "optimal for the average of all models"
        ),
        _of_plan(
            form, memoryless, "memoryless",
            "sees the state" if form.horizon is None else "sees the state and the step",
            note=_how_good(form, memoryless),
        ),
        *_windows(form, memoryless, effort=effort, seed=seed),
        _greedy(form, effort=effort, seed=seed),
        _sampling(form, effort=effort, seed=seed),
        _minimax(form, effort=effort),
    )  # fmt: skip
    if form.latent.on_grid is None:
        return found
    return tuple(
        each if each.certainty == "estimated" else replace(each, certainty=ON_GRID)
        for each in found
    )


def value_of_memory(
    form: LossForm, value: Certified, memoryless: Baseline
) -> Certified:
    """Return what remembering is worth: W* less the best value without memory.

    The lower end needs a bound on all memoryless policies; without one it is 0. With a
    discount these are the deterministic stationary ones.
    """
    low, high = _ends(value)
    found = _ends(memoryless.value)[0]
    best = high if memoryless.bound is None else min(high, memoryless.bound)
    return _difference(form, low - best, high - found)


def value_of_randomization(
    form: LossForm, value: Certified, single: Baseline
) -> Certified:
    """Return what training on all models is worth: W* less the best plan for one."""
    low, high = _ends(value)
    least, most = _ends(single.value)
    return _difference(form, low - most, high - least)


def _difference(form: LossForm, low: float, high: float) -> Certified:
    if high < -2.0 * form.rounding - 1e-9 * abs(form.informed):
        raise InvalidArgument(
            f"the oracle's value is {-high} below that of the baseline",
            hint="compare a value and a baseline of the same problem",
        )
    return Certified(max(0.0, low), max(0.0, low, high))


def _ends(value: Certified | Estimate) -> tuple[float, float]:
    if isinstance(value, Estimate) or value.lower is None or value.upper is None:
        raise InvalidArgument(
            "the value to compare with is not certified",
            hint="use the oracle's value and a baseline with exact values",
        )
    return value.lower, value.upper


def _informed(form: LossForm, plans: tuple[ShortMemoryPlan, ...]) -> Baseline:
    value = form.informed
    return Baseline(
        name="informed",
        about="is told the model",
        policy=tuple(
            _table(form, plan, f"plan of {name}")
            for plan, name in zip(
                plans, form.latent.simulators.model_names, strict=True
            )
        ),
        value=Certified(value - form.rounding, value + form.rounding),
        average_gap=Certified(0.0, 0.0),
        values=form.optimal,
        gaps=owned(np.zeros(form.n_models)),
        certainty="exact",
        bound=value + form.rounding,
        note="one policy per model",
    )


def _single(form: LossForm, plans: tuple[ShortMemoryPlan, ...]) -> Baseline:
    best = min(range(len(plans)), key=lambda j: plans[j].average)
    name = form.latent.simulators.model_names[best]
    table = owned(np.stack([plan.gaps for plan in plans]))
    return _of_plan(
        form, plans[best], "single-simulator", "optimal for the best single model",
        note=f"the plan of {name}", cross_gaps=table,
    )  # fmt: skip


def _of_plan(
    form: LossForm,
    plan: ShortMemoryPlan,
    name: str,
    about: str,
    *,
    note: str = "",
    cross_gaps: FloatArray | None = None,
) -> Baseline:
    middle, off = form.informed - plan.average, plan.rounding + form.rounding
    bound = None
    if plan.least is not None:
        bound = form.informed - plan.least + form.rounding
    return Baseline(
        name=name,
        about=about,
        policy=_table(form, plan, name),
        value=Certified(middle - off, middle + off),
        average_gap=Certified(
            max(0.0, plan.average - plan.rounding), plan.average + plan.rounding
        ),
        values=owned(form.optimal - plan.gaps),
        gaps=plan.gaps,
        certainty="exact",
        bound=bound,
        note=note,
        cross_gaps=cross_gaps,
    )


def _table(
    form: LossForm, plan: ShortMemoryPlan, name: str
) -> MarkovPolicy | WindowPolicy:
    pattern, nodes = form.pattern, plan.nodes
    if nodes.window == 0:
        table = plan.actions if form.horizon is not None else plan.actions[0]
        return MarkovPolicy(name, pattern.n_actions, table)
    windows = number_of_windows(pattern.n_states, pattern.n_actions, nodes.window)
    actions = np.zeros((form.steps, windows, pattern.n_states), np.int32)
    actions[:, nodes.window_numbers(pattern), nodes.node_state] = plan.actions
    return WindowPolicy(
        name, pattern.n_states, pattern.n_actions, nodes.window, form.horizon, actions
    )


def _windows(
    form: LossForm, memoryless: ShortMemoryPlan, *, effort: float, seed: int
) -> list[Baseline]:
    """Return the best policies that remember one and two steps, where they fit."""
    found, before = [], memoryless
    for window in (1, 2):
        name = f"window-{window}"
        about = f"sees the last {window} steps" if window > 1 else "sees the last step"
        pattern = form.pattern
        tables = number_of_windows(pattern.n_states, pattern.n_actions, window)
        size = window_size(pattern, window)
        if (
            tables * pattern.n_states > LARGEST_TABLE
            or form.steps * tables * pattern.n_states > LARGEST_WINDOW_POLICY
            or not fits(form, size)
        ):
            note = f"not searched: a table of {tables * pattern.n_states} entries a "
            note += f"step, {size} of them in use, is too large"
            found.append(_absent(form, name, about, note))
            continue
        nodes = window_nodes(pattern, window)
        start: IndexArray = before.for_nodes(nodes)
        before = best_plan(form, nodes, [start], effort=effort, seed=seed)
        note = _how_good(form, before)
        found.append(_of_plan(form, before, name, about, note=note))
    return found


def _how_good(form: LossForm, plan: ShortMemoryPlan) -> str:
    """Return what is known about a plan among all those of its memory."""
    kind = "" if form.horizon is not None else " stationary and deterministic"
    if not fits(form, plan.nodes.size):
        return f"too large to search: the best{kind} one made for a single model"
    if plan.least is not None and plan.average <= plan.least + 4.0 * plan.rounding:
        return f"no{kind} policy of this kind is better"
    return f"the best{kind} one found in {plan.starts} searches"


def _greedy(form: LossForm, *, effort: float, seed: int) -> Baseline:
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    policy = BeliefPolicy(
        name="greedy-posterior", pattern=form.pattern, horizon=form.horizon,
        discount=form.discount, prior=form.latent.prior, start_law=laws,
        likelihood=form.likelihood, losses=form.losses,
        vector_set=np.zeros(form.steps + 1, np.int32),
        vector_offsets=np.zeros(form.pattern.n_states + 1, np.int64),
        vectors=np.zeros((0, form.n_models)),
    )  # fmt: skip
    episodes = _episodes(form, effort)

    def sampled() -> tuple[Estimate, tuple[Estimate, ...]]:
        average = estimated_gap(form, policy, episodes=episodes, seed=seed)
        each = estimated_gaps_per_model(form, policy, episodes=episodes, seed=seed)
        return average, each

    about = "best action if the model were revealed after it"
    return _tracking(form, policy, about, sampled, effort)


def _sampling(form: LossForm, *, effort: float, seed: int) -> Baseline:
    def sampled() -> tuple[Estimate, tuple[Estimate, ...]]:
        return estimated_sampling(form, episodes=_episodes(form, effort), seed=seed)

    about = "plays the plan of a model drawn from the posterior, anew at every step"
    return _tracking(form, sampling_policy(form), about, sampled, effort)


def _tracking(
    form: LossForm,
    policy: Policy[Any],
    about: str,
    sampled: Callable[[], tuple[Estimate, tuple[Estimate, ...]]],
    effort: float,
) -> Baseline:
    """Return a baseline that tracks the posterior: exact if tiny, else sampled."""
    name = policy.name.replace(" ", "-")
    limit = int(HISTORIES_PER_SECOND * min(effort, 1.0) / 4)
    prior = tuple(form.latent.prior.tolist())  # the posterior of an impossible start
    gaps = gaps_by_histories(form, policy, limit=limit, fallback=prior)
    if gaps is None:
        average, each = sampled()
        return Baseline(
            name=name,
            about=about,
            policy=policy,
            value=_mirrored(form.informed, average),
            average_gap=average,
            values=tuple(
                _mirrored(float(best), gap)
                for best, gap in zip(form.optimal, each, strict=True)
            ),
            gaps=each,
            certainty="estimated",
        )
    lost = float(form.latent.prior @ gaps)
    longest = int(np.diff(form.pattern.indptr).max())
    off = form.rounding + form.steps * (form.n_models + longest + 4) * EPS * lost
    return Baseline(
        name=name,
        about=about,
        policy=policy,
        value=Certified(
            form.informed - lost - off - form.rounding,
            form.informed - lost + off + form.rounding,
        ),
        average_gap=Certified(max(0.0, lost - off), lost + off),
        values=owned(form.optimal - gaps),
        gaps=gaps,
        certainty="exact",
        note="exact, by going through all histories",
    )


def _minimax(form: LossForm, *, effort: float) -> Baseline:
    about = "least gap in the worst model, whatever the prior"
    try:
        found = solve_minimax(
            form,
            max_nodes=int(MINIMAX_NODES * min(1.0, effort)),
            max_rounds=MINIMAX_ROUNDS,
        )
    except NotSolved as error:
        return _absent(form, "minimax", about, error.problem)
    lost, worst = float(form.latent.prior @ found.gaps), found.worst_gap
    assert worst.lower is not None and worst.upper is not None
    off = form.rounding + worst.upper - float(found.gaps.max(initial=0.0))
    return Baseline(
        name="minimax",
        about=about,
        policy=found.policies,
        value=Certified(form.informed - lost - off, form.informed - lost + off),
        average_gap=Certified(max(0.0, lost - off), lost + off),
        values=owned(form.optimal - found.gaps),
        gaps=found.gaps,
        certainty="exact",
        note="a mixture, drawn before the episode; the least worst gap is between "
        f"{worst.lower:.9g} and {worst.upper:.9g}",
        weights=found.weights,
    )


def _absent(form: LossForm, name: str, about: str, note: str) -> Baseline:
    nothing = owned(np.zeros(0))
    missing = Certified(None, None)
    return Baseline(
        name, about, None, missing, missing, nothing, nothing, "certified", None, note
    )


def _mirrored(top: float, gap: Estimate) -> Estimate:
    """Return the estimate of a value from that of its gap to `top`."""
    return Estimate(
        estimate=top - gap.estimate,
        lower=top - gap.upper,
        upper=top - gap.lower,
        confidence=gap.confidence,
        method=gap.method,
    )


def _episodes(form: LossForm, effort: float) -> int:
    length = form.steps if form.horizon is not None else 16.0 / (1.0 - form.discount)
    cost = length * (form.pattern.n_actions + 2) * form.n_models
    return int(np.clip(effort * 1e8 / (cost + 1.0), 400, MOST_EPISODES))
