"""The numbers of a class that its bounds are made of, each at its safe end.

Theorems are for rewards in [0, 1]. Here rewards are moved and scaled to that range,
over all models that have prior weight; `applicable` brings bounds back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from simgap.bounds import ClassFacts
from simgap.complexity import MOST_MODELS, separation
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, SimulatorClass, class_from_models
from simgap.planning import AverageRewardPlan, diameter, solve_average_reward
from simgap.records.note import Note, Notes

if TYPE_CHECKING:
    from simgap.arrays import FloatArray

ROUNDING = 1e-11  # relative; distances between models are computed in floats
MOST_FUNCTIONS = 2e6  # models^2 x states x actions: eluder dimension takes some seconds


@final
@dataclass(frozen=True, slots=True, eq=False)
class MeasuredClass:
    """A class in the numbers that bounds are made of."""

    facts: ClassFacts
    diameter: Certified
    eluder: Certified | None  # at scale 1/H
    covering: Certified | None
    notes: tuple[Note, ...]


def measured_class(
    latent: LatentMDP, horizon: int, *, thorough: bool = False
) -> MeasuredClass:
    """Return the facts of a class under its prior, for bounds at one horizon.

    Eluder dimension and covering number of a large class are left out unless it is to
    be `thorough`: theorems have bounds by counting in their stead, never smaller ones.
    """
    kept = np.flatnonzero(latent.prior > 0.0)
    simulators, notes = latent.simulators, Notes()
    if kept.size < len(simulators):
        simulators = class_from_models([simulators[int(at)] for at in kept])
        notes.add(
            "without-prior-weight",
            f"{len(latent.simulators) - kept.size} models without prior weight are "
            "left out: the oracle never meets them",
        )
    low, high = float(simulators.rewards.min()), float(simulators.rewards.max())
    width = high - low
    far = diameter(simulators)
    plan = solve_average_reward(simulators) if np.isfinite(far.upper) else None
    eluder = covering = None
    if thorough or not many_functions(simulators):
        eluder, covering = _complexity(simulators, plan, width, horizon, notes)
    else:
        notes.add(
            "by-counting",
            f"eluder dimension and covering number by counting: {len(simulators)} "
            "models are too many to compare all their functions",
        )
    delta, exponent = _separation(simulators, notes)
    facts = ClassFacts(
        prior=latent.prior[kept],
        states=simulators.n_states,
        actions=simulators.n_actions,
        diameter=float(far.upper),
        diameter_lower=float(far.lower),
        spans=None if plan is None else _over(plan.bias_span, width),
        gains=None if plan is None else _over(plan.gain_lower - low, width),
        deviations=None if plan is None else _over(_deviations(plan), width),
        steps=None if plan is None else _over(_steps(plan), width),
        residual=0.0 if plan is None else _residual(plan, width),
        separation=delta,
        exponent=exponent,
        eluder=None if eluder is None else eluder.upper,
        covering=None if covering is None else covering.upper,
        pairs=None if plan is None else _pairs(plan),
        shared_rewards=_shared(simulators),
        reward_width=width,
    )
    if not facts.shared_rewards:
        notes.add(
            "rewards-of-models",
            "rewards depend on the model; agents see states, not rewards, so only "
            "bounds that find the model by its kernel apply",
        )
    return MeasuredClass(
        facts=facts,
        diameter=Certified(float(far.lower), float(far.upper)),
        eluder=eluder,
        covering=covering,
        notes=tuple(notes),
    )


def many_functions(simulators: SimulatorClass) -> bool:
    """Return whether comparing all functions of a class would take long."""
    places = simulators.n_states * simulators.n_actions
    return len(simulators) ** 2 * places > MOST_FUNCTIONS


def _separation(
    simulators: SimulatorClass, notes: Notes
) -> tuple[float | None, float | None]:
    """Return delta and the least -log BC over pairs, rounded down."""
    if len(simulators) > MOST_MODELS:
        notes.add(
            "no-separation",
            f"no separation: pairs are compared up to {MOST_MODELS} models",
        )
        return None, None
    found = separation(simulators)
    if len(simulators) == 1:
        return 2.0, None
    least = found.exponent[~np.eye(len(simulators), dtype=bool)].min()
    return found.value * (1.0 - ROUNDING), float(least) * (1.0 - ROUNDING)


def _complexity(
    simulators: SimulatorClass,
    plan: AverageRewardPlan | None,
    width: float,
    horizon: int,
    notes: Notes,
) -> tuple[Certified | None, Certified | None]:
    """Return eluder dimension and covering number at scale 1/H of rewards in [0, 1]."""
    if plan is None:
        return None, None
    from simgap.complexity import covering_number, eluder_dimension, function_class

    try:
        functions = function_class(simulators, plan=plan)
    except InvalidArgument as error:
        notes.add(
            "by-counting",
            f"eluder dimension and covering number by counting: {error.problem}",
        )
        return None, None
    scale = width / horizon
    eluder = eluder_dimension(functions, scale)
    covering = covering_number(functions, scale)
    return (
        Certified(float(eluder.lower), float(eluder.upper)),
        Certified(float(covering.lower), float(covering.upper)),
    )


def _deviations(plan: AverageRewardPlan) -> FloatArray:
    """Return the greatest standard deviation of l_m(s') under the policy of m, (M,)."""
    kernel = plan.simulators.transitions
    rows = np.arange(kernel.n_states) * kernel.n_actions
    begins = kernel.indptr[:-1]
    row_of = np.repeat(np.arange(begins.size), np.diff(kernel.indptr))
    out = np.empty(len(plan.simulators))
    for m, bias in enumerate(plan.bias):
        chances, following = kernel.values[m], bias[kernel.indices]
        mean = np.add.reduceat(chances * following, begins)
        apart = np.add.reduceat(chances * (following - mean[row_of]) ** 2, begins)
        out[m] = np.sqrt(apart[rows + plan.policy[m]].max())
    return np.minimum(out, plan.bias_span / 2.0)


def _steps(plan: AverageRewardPlan) -> FloatArray:
    """Return the greatest |P_m l_m (s, a) - l_m(s')| that some model makes possible."""
    kernel = plan.simulators.transitions
    begins, possible = kernel.indptr[:-1], (kernel.values > 0.0).any(axis=0)
    row_of = np.repeat(np.arange(begins.size), np.diff(kernel.indptr))
    out = np.empty(len(plan.simulators))
    for m, bias in enumerate(plan.bias):
        following = bias[kernel.indices]
        mean = np.add.reduceat(kernel.values[m] * following, begins)
        state, action = np.divmod(row_of, kernel.n_actions)
        used = possible & (plan.policy[m][state] == action)
        out[m] = np.abs(following - mean[row_of])[used].max()
    return np.minimum(out, plan.bias_span)


def _residual(plan: AverageRewardPlan, width: float) -> float:
    """Return what a step of the optimality equations may be off, policies included."""
    if width == 0.0:
        return 0.0
    wide = float((plan.gain_upper - plan.gain_lower).max())
    return (float(plan.residual.max()) + wide + 0.1 * plan.tolerance) / width


def _pairs(plan: AverageRewardPlan) -> int:
    """Return how many (s, a) the policies of the models play."""
    states = np.arange(plan.policy.shape[1])
    played = states * plan.simulators.n_actions + plan.policy
    return int(np.unique(played).size)


def _shared(simulators: SimulatorClass) -> bool:
    rewards = simulators.rewards
    return bool((rewards == rewards[:1]).all())


def _over(values: FloatArray, width: float) -> FloatArray:
    """Return numbers for rewards in [0, 1]; equal rewards are all 0."""
    if width == 0.0:
        return np.zeros_like(values)
    return np.maximum(values / width, 0.0)
