"""The sim-to-real gap of any policy (Equation 1): one function per question.

gap(pi, m) = V*_m(s_1) - V^pi_m(s_1) >= 0. The evaluator decides what kind of number
comes back: `Exact` gives brackets of rounding width, `MonteCarlo` estimates with an
interval. The paper writes Gap(pi) for the real model's gap and for the class; here the
gap in one model, the average over the prior and the worst are three questions (E1).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, overload

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.gap.evaluator import Exact, MonteCarlo
from simgap.gap.exact import exact_gaps
from simgap.gap.sampled import sampled_gaps, worst_sampled
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.planning import solve_average_reward
from simgap.planning.connectivity import as_class
from simgap.planning.relative_values import relative_values
from simgap.policies.interface import Policy
from simgap.records import Certified
from simgap.statistics import Estimate

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
    simulators: SimulatorClass,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return the greatest gap in any model of the class."""
    if isinstance(evaluator, MonteCarlo):
        found = sampled_gaps(simulators, policy, horizon, evaluator)
        return worst_sampled(found, evaluator.confidence)
    return worst_of(exact_gaps(simulators, policy, horizon, evaluator))


def average_gap(
    latent: LatentMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return the gap averaged over the prior."""
    found = gaps(latent.simulators, policy, horizon, evaluator=evaluator)
    return average_of(found, latent.prior)


def regret(
    model: TabularMDP,
    policy: Policy[Any],
    horizon: int,
    *,
    evaluator: Exact | MonteCarlo = EXACT,
) -> Certified | Estimate:
    """Return E[H rho* - sum of rewards] in a communicating model (spec 2.9)."""
    real = as_class(model)
    if isinstance(evaluator, MonteCarlo):
        found = sampled_gaps(real, policy, horizon, evaluator)[0].regret
        if found is None:
            solve_average_reward(real)  # says which states cannot be reached
        assert found is not None
        return found
    plan = solve_average_reward(real)
    gap = exact_gaps(real, policy, horizon, evaluator)[0]
    ahead = relative_values(real, horizon, plan)
    slack = float(ahead.error[0]) + horizon * float(
        plan.gain_upper[0] - plan.gain_lower[0]
    )
    start = float(ahead.start[0])
    assert gap.lower is not None and gap.upper is not None
    return Certified(gap.lower - start - slack, gap.upper - start + slack)


def worst_of(found: Sequence[Certified]) -> Certified:
    """Return the greatest of several certified gaps."""
    return Certified(
        max(_end(each.lower) for each in found), max(_end(each.upper) for each in found)
    )


def average_of(
    found: Sequence[Certified | Estimate], prior: FloatArray
) -> Certified | Estimate:
    """Return the mean over the prior; episodes of different models are independent."""
    weights = prior
    if not all(isinstance(each, Estimate) for each in found):
        lower = float(
            sum(w * _end(g.lower) for w, g in zip(weights, found, strict=True))
        )
        upper = float(
            sum(w * _end(g.upper) for w, g in zip(weights, found, strict=True))
        )
        return Certified(lower, upper)
    estimates = [each for each in found if isinstance(each, Estimate)]
    means = np.array([each.estimate for each in estimates])
    below = means - np.array([each.lower for each in estimates])
    above = np.array([each.upper for each in estimates]) - means
    centre = float(weights @ means)
    errors = np.array([each.standard_error or 0.0 for each in estimates])
    return Estimate(
        estimate=centre,
        lower=max(0.0, centre - sqrt(float(((weights * below) ** 2).sum()))),
        upper=centre + sqrt(float(((weights * above) ** 2).sum())),
        confidence=estimates[0].confidence,
        method=f"weighted over {len(estimates)} models, {estimates[0].method}",
        standard_error=sqrt(float(((weights * errors) ** 2).sum())),
    )


def _end(value: float | None) -> float:
    if value is None:
        raise InvalidArgument("a gap without an end", hint="it has no number")
    return value
