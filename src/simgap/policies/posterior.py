"""The posterior over models as a memory: Bayes' rule, and what it refuses.

A model leaves the posterior when it gives what was seen probability zero, and never by
rounding: a positive weight stays at least TINY however long the episode is, so that
"outside the class" means just that.
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray
from simgap.errors import InvalidArgument
from simgap.policies.checks import (
    check_lived,
    check_state,
    outside,
    outside_at_start,
)
from simgap.policies.graph import Pattern
from simgap.policies.interface import Step

TINY = 1e-300  # least weight of a model that is still possible
Posterior = tuple[float, ...]


def first_posterior(prior: FloatArray, start_law: FloatArray, state: int) -> Posterior:
    """Return the posterior of an episode that begins in `state`."""
    check_state(state, start_law.shape[1])
    posterior = bayes(prior, start_law[:, state])
    if posterior is None:
        raise outside_at_start(state)
    return tuple(posterior.tolist())


def next_posterior(
    pattern: Pattern,
    likelihood: FloatArray,
    horizon: int | None,
    memory: Posterior,
    step: Step,
) -> Posterior:
    """Return the posterior after a step."""
    check_lived(step, horizon, pattern.n_states, pattern.n_actions)
    weights = as_weights(memory, likelihood.shape[1])
    column = pattern.column(step)
    if column < 0:
        raise outside(step)
    row = step.state * pattern.n_actions + step.action
    posterior = bayes(weights, likelihood[pattern.indptr[row] + column])
    if posterior is None:
        raise outside(step)
    return tuple(posterior.tolist())


def bayes(weights: FloatArray, likelihood: FloatArray) -> FloatArray | None:
    """Return weights times likelihood, normalised, or None if nothing is left."""
    possible = (weights > 0.0) & (likelihood > 0.0)
    if not possible.any():
        return None
    joint = np.where(possible, weights * likelihood, 0.0)
    total = 0.0
    for each in joint.tolist():  # in the order of the compiled simulation
        total += each
    if total < TINY:  # products that underflow: bring both to one first
        scaled = np.where(possible, weights, 0.0)
        likely = np.where(possible, likelihood, 0.0)
        joint = (scaled / scaled.max()) * (likely / likely.max())
        total = float(joint.sum())
    return np.where(possible, np.maximum(joint / total, TINY), 0.0)


def as_weights(memory: Posterior, members: int) -> FloatArray:
    """Return a memory as an array, or raise if it is not one of this class."""
    weights: FloatArray = np.array(memory, dtype=np.float64)
    if weights.shape != (members,):
        raise InvalidArgument(
            f"a memory of shape {weights.shape} for {members} models",
            hint="memories come from start() and observe() of the same policy",
        )
    return weights


def check_tracking(
    pattern: Pattern,
    prior: FloatArray,
    start_law: FloatArray,
    likelihood: FloatArray,
) -> None:
    """Raise unless the arrays that a posterior needs belong together."""
    members = prior.size
    wanted = {
        "prior": (prior, (members,)),
        "start_law": (start_law, (members, pattern.n_states)),
        "likelihood": (likelihood, (pattern.indices.size, members)),
    }
    for name, (array, shape) in wanted.items():
        if array.shape != shape or members == 0:
            raise InvalidArgument(
                f"{name} has shape {array.shape}",
                hint=f"{members} models need shape {shape}",
            )
        if not np.isfinite(array).all() or (array < 0.0).any():
            raise InvalidArgument(
                f"{name} holds a number that is not a probability",
                hint="probabilities are finite and not negative",
            )
    if (np.diff(pattern.indptr) == 0).any():
        raise InvalidArgument(
            "a state and action have no successor", hint="every row has at least one"
        )
    rows = np.add.reduceat(likelihood, pattern.indptr[:-1], axis=0)
    for name, sums in (
        ("prior", prior.sum()),
        ("a row of start_law", start_law.sum(axis=1)),
        ("a row of likelihood", rows),
    ):
        if (np.abs(sums - 1.0) > 1e-6).any():
            raise InvalidArgument(f"{name} does not sum to 1", hint="divide by the sum")
