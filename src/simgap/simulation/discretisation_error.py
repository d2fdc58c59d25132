"""How wrong a table is about its simulator: the same policies in both.

In the table the return of a Markov policy over H steps is computed up to rounding. In
the simulator it is sampled, with the state rounded before every action. Start states
are drawn from the simulator's own law; each episode is compared with the table's value
at its own start, interpolated (the table's start law is the mean of just these
mixtures), so that the random start does not add noise to the difference.

The interval is that of `statistics.mean`: what an episode can be away from the table is
known, as rewards have a range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.mdp import (
    Discretisation,
    Interpolation,
    OneStepError,
    Rounding,
    TabularMDP,
    seen_states,
)
from simgap.planning import checked_horizon, policy_values, solve_episodic
from simgap.policies import MarkovPolicy
from simgap.statistics import Part, estimated_mean

AT_ONCE = 20_000  # episodes that are stepped side by side


Play = Callable[[int, OffsetArray], OffsetArray]


@final
@dataclass(frozen=True, slots=True)
class PolicyError:
    """One policy in one model; returns are in the simulator's rewards."""

    model: str
    policy: str
    table: float  # return of the table, up to rounding
    simulator: Estimate  # return of the simulator itself
    error: Estimate  # table - simulator


@final
@dataclass(frozen=True, slots=True, eq=False)
class DiscretisationError:
    """What a discretisation gets wrong, in one step and over a horizon."""

    horizon: int
    episodes: int  # of every policy in every model
    seed: int
    rounding: Rounding
    one_step: OneStepError
    policies: tuple[PolicyError, ...]

    @property
    def worst(self) -> PolicyError:
        """The policy and model with the greatest error."""
        return max(self.policies, key=lambda each: abs(each.error.estimate))

    def lines(self) -> tuple[str, ...]:
        """Return the report as text, one line per policy and model."""
        return tuple(
            f"{each.model}, {each.policy}: table {each.table:.6g} (up to rounding), "
            f"simulator {each.simulator.estimate:.6g}, difference "
            f"{each.error.estimate:.4g} in [{each.error.lower:.4g}, "
            f"{each.error.upper:.4g}] at {100 * each.error.confidence:g} % "
            f"({each.error.label})"
            for each in self.policies
        )


def discretisation_error(
    table: Discretisation,
    horizon: int,
    *,
    policies: Sequence[MarkovPolicy] | None = None,
    models: Sequence[int] | None = None,
    rounding: Rounding = Rounding.NEAREST,
    episodes: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> DiscretisationError:
    """Return table minus simulator for policies followed in both, over H steps.

    Without policies: the optimal one of each model's own table, and the even mixture
    of all actions.
    """
    horizon = checked_horizon(horizon)
    _check(episodes, seed, confidence)
    worlds = table.simulators
    chosen = (
        range(len(worlds)) if models is None else [worlds.member(m) for m in models]
    )
    found = []
    for m in chosen:
        played = usual_policies(worlds[m], horizon) if policies is None else policies
        for number, policy in enumerate(played):
            rng = np.random.default_rng([seed, m, number])
            found.append(
                _compared(
                    table, m, policy, horizon, rounding, episodes, rng, confidence
                )
            )
    return DiscretisationError(
        horizon, episodes, seed, rounding, table.one_step, tuple(found)
    )


def usual_policies(model: TabularMDP, horizon: int) -> tuple[MarkovPolicy, ...]:
    """Return the optimal policy of one model's table, and the even mixture."""
    n_actions = model.n_actions
    even = np.full((model.n_states, n_actions), 1.0 / n_actions)
    best = solve_episodic(model, horizon).policy[0]
    return (
        MarkovPolicy("optimal", n_actions, best),
        MarkovPolicy("random", n_actions, even),
    )


def simulated_returns(
    table: Discretisation,
    member: int,
    policy: MarkovPolicy | Play,
    starts: FloatArray,
    horizon: int,
    rounding: Rounding,
    random: np.random.Generator,
) -> FloatArray:
    """Return the sum of H rewards from each start (n, d), (n,).

    A policy that remembers is given by the actions (n,) that it plays at a step in the
    states seen (n,).
    """
    physics, theta = table.physics, table.thetas[table.simulators.member(member)]
    points, over = np.array(starts), np.zeros(len(starts), np.bool_)
    total: FloatArray = np.zeros(len(starts))
    for h in range(horizon):
        seen = seen_states(table.origin, points, rounding, random)
        if table.end is not None:
            seen = np.where(over, table.end, seen)
        if isinstance(policy, MarkovPolicy):
            actions = _played(policy, h, seen, random)
        else:
            actions = policy(h, seen)
        after = physics.moved(theta, points, physics.actions[actions])
        total += np.where(over, 0.0, after.reward)
        if table.restart:
            fresh = physics.starts(random.random(points.shape))
            points = np.where(over[:, None], fresh, after.state)
            over = after.ended & ~over
        else:
            points = np.where(over[:, None], points, after.state)
            over = over | after.ended
    return total


def _compared(
    table: Discretisation,
    member: int,
    policy: MarkovPolicy,
    horizon: int,
    rounding: Rounding,
    episodes: int,
    random: np.random.Generator,
    confidence: float,
) -> PolicyError:
    model, physics = table.simulators[member], table.physics
    in_table = policy_values(model, policy.table, horizon)
    # values at a start are means of those of its corners
    values = in_table.values[0]
    apart, returned = [], []
    for first in range(0, episodes, AT_ONCE):
        count = min(AT_ONCE, episodes - first)
        starts = physics.starts(random.random((count, len(physics.start))))
        nodes, weights = table.grid.corners(starts, Interpolation.MULTILINEAR)
        expected = (values[table.state_of_node[nodes]] * weights).sum(axis=1)
        returns = simulated_returns(
            table, member, policy, starts, horizon, rounding, random
        )
        apart.append(expected - returns)
        returned.append(returns)
    least, most = (horizon * end for end in physics.reward_range)
    wrong = float(in_table.error[0])
    low, high = float(values.min()) - most - wrong, float(values.max()) - least + wrong
    exact = float(in_table.start[0])
    error = estimated_mean(
        [Part(np.concatenate(apart), low, high, unexplained=np.concatenate(returned))],
        confidence,
        method="each against the table at its own start",
        least=exact - most - wrong,
        greatest=exact - least + wrong,
        rounding=wrong,
    )
    simulator = error.changed(-1.0, exact)
    return PolicyError(model.name, policy.name, exact, simulator, error)


def _played(
    policy: MarkovPolicy, h: int, seen: OffsetArray, random: np.random.Generator
) -> OffsetArray:
    of_step = policy.table if policy.horizon is None else policy.table[h]
    if policy.certain:
        return np.asarray(of_step[seen], np.int64)
    reached = np.cumsum(of_step[seen], axis=1)
    uniforms = random.random(len(seen)) * reached[:, -1]
    return np.asarray((reached <= uniforms[:, None]).sum(axis=1), np.int64)


def _check(episodes: int, seed: int, confidence: float) -> None:
    whole = isinstance(episodes, int | np.integer) and not isinstance(episodes, bool)
    if not whole or episodes < 2:
        raise InvalidArgument(
            f"episodes is {episodes!r}", hint="a whole number, at least 2"
        )
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InvalidArgument(f"seed is {seed!r}", hint="a whole number from 0 on")
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence!r}", hint="it is between 0 and 1"
        )
