"""What agents lose in the models of their class, by sampling, and the class in numbers.

Intervals of one measurement hold together: each model gets its share of the failure
that is allowed. A number that is the greatest of several models has the standard error
of the model where it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.base_policies.knowledge import ClassKnowledge, class_knowledge
from simgap.complexity import separation
from simgap.errors import InvalidArgument
from simgap.gap import MonteCarlo, SampledGap, sampled_gaps
from simgap.intervals import Certified, Estimate, greatest_of
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import AutoOracle, OracleResult, domain_randomization_oracle
from simgap.planning import diameter
from simgap.policies import Policy
from simgap.statistics import estimated_rate

CONFIDENCE = 0.999  # that all intervals of one measurement hold
ROUNDING = 1e-11  # relative; distances between models are computed in floats


@final
@dataclass(frozen=True, slots=True, eq=False)
class KnownClass:
    """A class and the numbers that its bounds are made of, each at its safe end."""

    name: str
    known: ClassKnowledge
    diameter: float  # upper end
    separation: float  # lower end

    @staticmethod
    def of(name: str, simulators: SimulatorClass) -> KnownClass:
        """Return a communicating class with its numbers."""
        return KnownClass(
            name=name,
            known=class_knowledge(simulators),
            diameter=float(diameter(simulators).upper),
            separation=separation(simulators).value * (1.0 - ROUNDING),
        )

    @property
    def simulators(self) -> SimulatorClass:
        return self.known.simulators

    @property
    def members(self) -> int:
        return len(self.known.simulators)

    @property
    def spans(self) -> FloatArray:
        """Of the biases, (M,)."""
        return self.known.average.bias_span

    def losses(
        self,
        agent: Policy[Any],
        horizon: int,
        *,
        runs: int,
        seed: int,
        models: Sequence[int] | None = None,
    ) -> Losses:
        """Return what an agent lost in every model of the class, or in some."""
        count = self.members if models is None else len(models)
        sampling = MonteCarlo(
            episodes=runs, seed=seed, confidence=1.0 - (1.0 - CONFIDENCE) / count
        )
        return Losses(
            sampled_gaps(self.simulators, agent, horizon, sampling, models=models)
        )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What one agent lost in the models that were real in turn."""

    found: tuple[SampledGap, ...]

    @property
    def worst_gap(self) -> Estimate:
        """The greatest gap, all models at once."""
        return greatest_of([each.gap for each in self.found], CONFIDENCE)

    @property
    def worst_regret(self) -> Estimate:
        """The greatest regret, all models at once."""
        return greatest_of([_regret(each) for each in self.found], CONFIDENCE)

    @property
    def mean_regret(self) -> Estimate:
        """The regret averaged over a uniform prior; all intervals hold at once."""
        all_of = [_regret(each) for each in self.found]
        return Estimate(
            estimate=float(np.mean([each.estimate for each in all_of])),
            lower=float(np.mean([each.lower for each in all_of])),
            upper=float(np.mean([each.upper for each in all_of])),
            confidence=CONFIDENCE,
            method=f"mean of {len(all_of)} models, {all_of[0].method}",
        )

    @property
    def dropped(self) -> Estimate:
        """How often the real model was dropped where it was most often (all runs)."""
        share = 1.0 - (1.0 - CONFIDENCE) / len(self.found)
        rates = [
            estimated_rate(
                int(each.runs.truth_eliminated.sum()), each.runs.reward.size, share
            )
            for each in self.found
        ]
        return greatest_of(rates, CONFIDENCE)

    @property
    def slack(self) -> float:
        """The greatest ratio of the two sides of what theorems claim of every path.

        Paths on which nothing is claimed, as the real model was dropped, do not count.
        """
        ratios = np.concatenate([each.runs.slack for each in self.found])
        if np.isnan(ratios).all():
            raise InvalidArgument(
                "nothing is claimed of any path", hint="this agent has no such theorem"
            )
        return float(np.nanmax(ratios))

    @property
    def paths(self) -> int:
        """The number of paths of which something is claimed."""
        return sum(int((~np.isnan(each.runs.slack)).sum()) for each in self.found)

    @property
    def settled(self) -> bool:
        """Whether the plan was final before the horizon in every run."""
        return all((each.runs.identified >= 0).all() for each in self.found)


def solved_oracle(simulators: SimulatorClass | LatentMDP, horizon: int) -> OracleResult:
    """Return the oracle with its average gap bracketed within 5 % of itself.

    It stops there and at no clock, so that the same call gives the same
    numbers.
    """
    latent = simulators
    if isinstance(latent, SimulatorClass):
        latent = LatentMDP.uniform(latent)
    solver = AutoOracle(gap_tolerance=0.05, time_limit=None, episodes=2)
    return domain_randomization_oracle(latent, horizon=horizon, solver=solver)


def worst_of_oracles(found: OracleResult) -> Certified:
    """Return the greatest gap in a model, whichever optimal policy is taken (E4)."""
    low = max(0.0, found.average_gap.lower)
    return Certified(low, float(found.gap_intervals[:, 1].max()))


def _regret(found: SampledGap) -> Estimate:
    if found.regret is None or isnan(found.regret.estimate):
        raise InvalidArgument(
            f"model {found.runs.name!r} has no gain",
            hint="regret is measured in communicating models",
        )
    return found.regret
