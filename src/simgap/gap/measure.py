"""The sim-to-real gap of any policy (Equation 1): one function per question.

gap(pi, m) = V*_m(s_1) - V^pi_m(s_1) >= 0. The evaluator decides what kind of number
comes back: `Exact` gives brackets of rounding width, `MonteCarlo` estimates with an
interval. The paper writes Gap(pi) for the real model's gap and for the class; here the
gap in one model, the average over the prior and the worst are three questions (E1).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.gap.evaluator import Exact, MonteCarlo
from simgap.gap.exact import exact_gaps
from simgap.gap.sampled import average_sampled, sampled_gaps, worst_sampled
from simgap.intervals import EPS, Certified, Estimate, defect, weighted_sum
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.planning import as_class, relative_values, solve_average_reward
from simgap.policies import Policy

EXACT = Exact()


@overload
def sim_to_real_gap(
    model: TabularMDP, policy: Policy[Any], horizon: int, *, evaluator: Exact = ...
) -> Certified: ...
@overload
def sim_to_real_gap(
    model: TabularMDP, policy: Policy[Any], horizon: int, *, evaluator: MonteCarlo
) -> Estimate: ...
def sim_to_real_gap(
    model: TabularMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return V*_1 - V^pi_1 in the model that is real (Equation 1)."""
    if not isinstance(model, TabularMDP):
        raise InvalidArgument(
            f"a {type(model).__name__} is not one model",
            hint="gaps(...) measures all models of a class",
        )
    return gaps(as_class(model), policy, horizon, evaluator=evaluator)[0]


@overload
def gaps(
    simulators: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact = ...,
) -> tuple[Certified, ...]: ...
@overload
def gaps(
    simulators: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: MonteCarlo,
) -> tuple[Estimate, ...]: ...
@overload
def gaps(
    simulators: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo,
) -> tuple[Certified, ...] | tuple[Estimate, ...]: ...
def gaps(
    simulators: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> tuple[Certified, ...] | tuple[Estimate, ...]:
    """Return the gap of a policy in every model of a class."""
    if isinstance(evaluator, Exact):
        return exact_gaps(simulators, policy, horizon, evaluator)
    return tuple(
        each.gap for each in sampled_gaps(simulators, policy, horizon, evaluator)
    )


def worst_gap(
    simulators: SimulatorClass | LatentMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return the greatest gap in a model (theory 2.5).

    Of a class all models count; of a latent MDP those of positive prior, as in records.
    """
    counts = None
    if isinstance(simulators, LatentMDP):
        every = simulators.simulators
        counts = np.flatnonzero(simulators.prior > 0.0).tolist()
    else:
        every = simulators
    if isinstance(evaluator, MonteCarlo):
        sampled = sampled_gaps(every, policy, horizon, evaluator, models=counts)
        return worst_sampled(sampled, evaluator)
    found = exact_gaps(every, policy, horizon, evaluator)
    return worst_of(found if counts is None else [found[m] for m in counts])


def average_gap(
    latent: LatentMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return the gap averaged over the prior."""
    if isinstance(evaluator, MonteCarlo):
        sampled = sampled_gaps(latent.simulators, policy, horizon, evaluator)
        return average_sampled(sampled, latent.prior, evaluator)
    found = exact_gaps(latent.simulators, policy, horizon, evaluator)
    return average_certified(found, latent.prior)


def regret(
    model: TabularMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return E[H rho* - sum of rewards] in a communicating model (theory 2.9)."""
    real = as_class(model)
    if isinstance(evaluator, MonteCarlo):
        found = sampled_gaps(real, policy, horizon, evaluator)[0].regret
        if found is None:
            solve_average_reward(real)  # says why there is none
        assert found is not None
        return found
    plan = solve_average_reward(real)
    gap = exact_gaps(real, policy, horizon, evaluator)[0]
    ahead = relative_values(real, horizon, plan)
    width = float(plan.gain_upper[0] - plan.gain_lower[0])
    slack = float(ahead.error[0]) + horizon * width * (1.0 + 8.0 * EPS)
    return gap - Certified.around(float(ahead.start[0]), slack)


def worst_of(found: Sequence[Certified]) -> Certified:
    """Return the greatest of several certified gaps."""
    low, high = zip(*(each.ends for each in found), strict=True)
    return Certified(max(low), max(high))


def average_certified(found: Sequence[Certified], prior: FloatArray) -> Certified:
    """Return the mean over the prior of gaps that are known between ends."""
    weights = prior.tolist()
    low, high = zip(*(each.ends for each in found), strict=True)
    mean, off = weighted_sum(weights, low, high), 2.0 * defect(weights)
    least, most = (mean.wider(off * max(end)) for end in (low, high))
    return Certified(least.lower, most.upper).not_negative()
