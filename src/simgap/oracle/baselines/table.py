"""What the oracle is compared with: agents that know more, remember less, or guess.

Each baseline comes with its gap in every model. Those of policies with tables are known
up to rounding; those of policies that track the posterior are estimated, or known up to
rounding as well if their histories are few. `bound` says what the best policy of the
same kind can reach, where that is known.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import NOTHING_KNOWN, Certified, Estimate
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
    ties_exhausted,
)
from simgap.oracle.baselines.windowed import LARGEST_TABLE, window_nodes, window_size
from simgap.oracle.completed_graph import average_plan
from simgap.oracle.estimate import estimated_gap, estimated_gaps_per_model
from simgap.oracle.loss_form import LossForm
from simgap.policies import (
    BeliefPolicy,
    MarkovPolicy,
    Policy,
    WindowPolicy,
    number_of_windows,
)
from simgap.records import ON_GRID, Certainty

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
    least_gap: float | None = None  # nor a smaller average gap
    searched: int | None = None  # policies of this kind that it is the best of
    note: str = ""
    weights: FloatArray | None = None  # of the policies of a mixture
    cross_gaps: FloatArray | None = None  # (M, M), of the plan of model j in model m
    prior: FloatArray | None = None  # (M,); None: all models can be real
    plan: ShortMemoryPlan | None = None  # what it was made from, if it is a table

    @property
    def worst_gap(self) -> float:
        """Return the largest gap in a model that can be real, estimated if `gaps` are.

        A model of prior zero cannot.
        """
        told = (
            [each.estimate for each in self.gaps]
            if isinstance(self.gaps, tuple)
            else self.gaps.tolist()
        )
        chances = [1.0] * len(told) if self.prior is None else self.prior.tolist()
        return max(
            (gap for gap, chance in zip(told, chances, strict=True) if chance),
            default=0.0,
        )


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
        _single(form, ties_exhausted(form, plans, effort), memoryless.least),
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
    sure: Certainty = "certified" if form.latent.on_grid is None else ON_GRID
    return tuple(
        replace(
            each,
            prior=form.latent.prior,
            certainty="estimated" if each.certainty == "estimated" else sure,
        )
        for each in found
    )


def value_of_memory(
    form: LossForm, value: Certified, memoryless: Baseline
) -> Certified:
    """Return what remembering is worth: W* less the best value without memory.

    The lower end needs a bound on all memoryless policies; without one it is 0. With a
    discount these are the deterministic stationary ones.
    """
    found = _certified(memoryless.value).ends[0]
    best = _certified(value).ends[1] if memoryless.bound is None else memoryless.bound
    return _difference(form, _certified(value) - Certified(found, max(found, best)))


def value_of_randomization(
    form: LossForm, value: Certified, single: Baseline
) -> Certified:
    """Return what training on all models is worth: W* less the best plan for one.

    Plans for one model play an optimal action of it in every state at every step; ties
    are broken for the best of all models. The lower end needs a bound on all of these
    plans; without one it is 0.
    """
    low, high = _certified(value).ends
    found = _certified(single.value).ends[0]
    best = high if single.bound is None else single.bound
    return _difference(form, Certified(low, high) - Certified(found, max(found, best)))


def _difference(form: LossForm, worth: Certified) -> Certified:
    high = worth.ends[1]
    if high < -2.0 * form.rounding - 1e-9 * abs(form.informed):
        raise InvalidArgument(
            f"the oracle's value is {-high} below that of the baseline",
            hint="compare a value and a baseline of the same problem",
        )
    return worth.not_negative()


def _certified(value: Certified | Estimate) -> Certified:
    if isinstance(value, Estimate) or value == NOTHING_KNOWN:
        raise InvalidArgument(
            "the value to compare with is not certified",
            hint="use the oracle's value and a baseline with certified values",
        )
    return value


def _informed(form: LossForm, plans: tuple[ShortMemoryPlan, ...]) -> Baseline:
    value = form.informed_ends
    return Baseline(
        name="informed",
        about="is told the model",
        policy=tuple(
            _table(form, plan, f"plan of {name}")
            for plan, name in zip(
                plans, form.latent.simulators.model_names, strict=True
            )
        ),
        value=value,
        average_gap=Certified(0.0, 0.0),
        values=form.optimal,
        gaps=owned(np.zeros(form.n_models)),
        certainty="certified",
        bound=value.upper,
        note="one policy per model",
    )


def _single(
    form: LossForm, plans: tuple[ShortMemoryPlan, ...], floor: float | None
) -> Baseline:
    """Return the best plan of one model; `floor` bounds all policies without memory."""
    best = min(range(len(plans)), key=lambda j: plans[j].average)
    name = form.latent.simulators.model_names[best]
    table = owned(np.stack([plan.gaps for plan in plans]))
    bounds = [plan.least for plan in plans if plan.least is not None]
    least = min(bounds) if len(bounds) == len(plans) else floor
    if least is not None and floor is not None:
        least = min(plans[best].average, max(least, floor))
    known = replace(plans[best], least=least)
    tried = least is not None and known.average <= least + 4.0 * known.rounding
    how = "no optimal plan of one model is better" if tried else "the best one found"
    return _of_plan(
        form, known, "single-simulator", "optimal for the best single model",
        note=f"the plan of {name}; {how}", cross_gaps=table,
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
    average = plan.average_ends
    bound = None
    if plan.least is not None:
        bound = (form.informed_ends - Certified(plan.least, plan.least)).upper
    return Baseline(
        name=name,
        about=about,
        policy=_table(form, plan, name),
        value=form.informed_ends - average,
        average_gap=average,
        values=owned(form.optimal - plan.gaps),
        gaps=plan.gaps,
        certainty="certified",
        bound=bound,
        least_gap=plan.least,
        searched=plan.starts,
        note=note,
        cross_gaps=cross_gaps,
        plan=plan,
    )


def _table(
    form: LossForm, plan: ShortMemoryPlan, name: str
) -> MarkovPolicy | WindowPolicy:
    pattern, nodes = form.pattern, plan.nodes
    if nodes.window == 0:
        table = plan.actions if form.horizon is not None else plan.actions[0]
        return MarkovPolicy(name, pattern.n_actions, table)
    windows = number_of_windows(pattern.n_states, pattern.n_actions, nodes.window)
    # a window that no model allows has the plan of the average loss, not action 0
    shape = (form.steps, windows, pattern.n_states)
    actions = np.array(np.broadcast_to(average_plan(form)[:, None], shape))
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
    """Return a baseline that tracks the posterior: by histories, or sampled."""
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
            value=average.changed(-1.0, form.informed),
            average_gap=average,
            values=tuple(
                gap.changed(-1.0, float(best))
                for best, gap in zip(form.optimal, each, strict=True)
            ),
            gaps=each,
            certainty="estimated",
        )
    lost = form.around(float(form.latent.prior @ gaps))
    return Baseline(
        name=name,
        about=about,
        policy=policy,
        value=form.informed_ends - lost,
        average_gap=lost,
        values=owned(form.optimal - gaps),
        gaps=gaps,
        certainty="certified",
        note="found by going through all histories",
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
    average = form.around(float(form.latent.prior @ found.gaps))
    low, high = found.worst_gap.ends
    return Baseline(
        name="minimax",
        about=about,
        policy=found.policies,
        value=form.informed_ends - average,
        average_gap=average,
        values=owned(form.optimal - found.gaps),
        gaps=found.gaps,
        certainty="certified",
        note="a mixture, drawn before the episode; the least worst gap is between "
        f"{low:.9g} and {high:.9g}",
        weights=found.weights,
    )


def _absent(form: LossForm, name: str, about: str, note: str) -> Baseline:
    nothing = owned(np.zeros(0))
    return Baseline(
        name=name,
        about=about,
        policy=None,
        value=NOTHING_KNOWN,
        average_gap=NOTHING_KNOWN,
        values=nothing,
        gaps=nothing,
        certainty="certified",
        note=note,
    )


def _episodes(form: LossForm, effort: float) -> int:
    length = form.steps if form.horizon is not None else 16.0 / (1.0 - form.discount)
    cost = length * (form.pattern.n_actions + 2) * form.n_models
    return int(np.clip(effort * 1e8 / (cost + 1.0), 400, MOST_EPISODES))
