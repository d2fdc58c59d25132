"""Proposition 2's class with its bad models as one: a winner of weight 1 / (4H + 5).

Two arms. The first wins half the time. The second wins one time in ten, or always, and
the prior of "always" is what a class of 4H + 5 models gives it. All that Theorem 4 asks
for stays as it is for every H: diameter 2, eluder dimension 1, two functions, and the
oracle's policy never plays the second arm, so that its value is the same in both models
(L = 0 in Assumption 3). Its gap in the winner is (H - 1)/2. With two models instead of
4H + 5 this can be computed for horizons at which the constants of Theorem 4 matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.bounds import Bound, general_optimistic_gap
from simgap.complexity import (
    GreatestL1,
    ModelDistances,
    Smoothness,
    covering_number,
    eluder_dimension,
    function_class,
    lipschitz,
    model_distances,
    smoothness,
)
from simgap.experiments.agent_losses import KnownClass, known_class, solved_oracle
from simgap.instances import linear_bandit
from simgap.mdp import LatentMDP
from simgap.oracle import OracleResult
from simgap.records import Certified

BAD = 0.4  # the second arm of the bad model wins 1/2 - 0.4 of the time
WINNER = 1
TOLERANCE = 1e-3  # of the average gap
RADIUS = 2.0  # no two kernels are farther apart: the ball is the class


@final
@dataclass(frozen=True, slots=True, eq=False)
class RareWinner:
    """The class for one horizon, its oracle, and the numbers of Theorem 4."""

    horizon: int
    known: KnownClass
    latent: LatentMDP
    oracle: OracleResult
    distances: ModelDistances
    eluder: int  # at scale 1/H, upper end
    covering: int

    @property
    def gap(self) -> Certified:
        """The gap of the oracle's policy in the winner, exact up to rounding."""
        off = self.oracle.statistics.rounding
        found = float(self.oracle.gaps[WINNER])
        return Certified(found - off, found + off)

    @property
    def shortfall(self) -> float:
        """What the policy's mean value may lack to the best one."""
        ends = self.oracle.average_gap
        assert ends.lower is not None and ends.upper is not None
        return ends.upper - ends.lower

    @property
    def value_constant(self) -> float:
        """L of Assumption 3, upper end: 0 up to rounding."""
        steepest = lipschitz(self.distances, self.oracle.values).constant
        nearest = float(self.distances.matrix[0, WINNER])
        return steepest + 2.0 * self.oracle.statistics.rounding / nearest

    @property
    def base_bound(self) -> Bound:
        """C4, the gap of Algorithm 4 in every model."""
        return general_optimistic_gap(
            horizon=self.horizon,
            span=float(self.known.spans.max()),
            eluder=self.eluder,
            functions=self.known.members,
            covering=self.covering,
        )

    def ball(self, radius: float) -> Smoothness:
        """Return the neighbourhood of the winner."""
        return smoothness(
            self.distances,
            self.oracle.values,
            self.oracle.gaps,
            real=WINNER,
            radius=radius,
            prior=self.latent.prior,
        )


def rare_winner(horizon: int, weight: float | None = None) -> RareWinner:
    """Return the class for a horizon; the winner has prior 1 / (4H + 5) by default."""
    known = known_class("rare winner", linear_bandit(p=(BAD,)))
    rare = 1.0 / (4 * horizon + 5) if weight is None else weight
    latent = LatentMDP(known.simulators, np.array([1.0 - rare, rare]))
    functions = function_class(known.simulators)
    return RareWinner(
        horizon=horizon,
        known=known,
        latent=latent,
        oracle=solved_oracle(latent, horizon, tolerance=TOLERANCE),
        distances=model_distances(known.simulators, GreatestL1()),
        eluder=eluder_dimension(functions, 1.0 / horizon).upper,
        covering=covering_number(functions, 1.0 / horizon).upper,
    )
