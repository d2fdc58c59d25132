"""The numbers of a class that bounds are computed from, for rewards in [0, 1].

Where a number is only known between two ends, the record takes the end that keeps every
bound valid: the upper end of diameters, spans, deviations, eluder dimension and
covering number, the lower end of gains, separation and exponent.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import final

from simgap.arrays import FloatArray, read_only
from simgap.bounds.numbers import real, whole, widths
from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True, eq=False)
class ClassFacts:
    """What is known of (U, nu); None where it is not known or does not exist.

    Models without prior weight are left out: the oracle never meets them. A class with
    a model that is not communicating has an infinite diameter and no spans or gains.
    Spans, gains, deviations, steps and residual are for rewards in [0, 1].
    """

    prior: FloatArray  # (M,), positive
    states: int
    actions: int
    diameter: float  # upper end, inf if some model is not communicating
    spans: FloatArray | None = None  # (M,), of the biases
    gains: FloatArray | None = None  # (M,), lower ends
    deviations: FloatArray | None = None  # (M,), of l_m(s') under its own policy
    steps: FloatArray | None = None  # (M,), greatest |P_m l_m - l_m(s')| of a step
    residual: float = 0.0  # what a step of the optimality equations may be off
    diameter_lower: float = 0.0
    separation: float | None = None  # lower end of delta
    exponent: float | None = None  # lower end of -log BC over pairs of models
    eluder: float | None = None  # upper end, at scale 1/H
    covering: float | None = None  # upper end, at scale 1/H
    pairs: int | None = None  # (s, a) that the policy of some model plays
    shared_rewards: bool = True
    reward_width: float = 1.0  # max R - min R of the user's rewards

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", self._checked_prior())
        whole("states", self.states)
        whole("actions", self.actions)
        real("diameter", self.diameter)
        real("diameter_lower", self.diameter_lower, most=self.diameter)
        real("residual", self.residual)
        real("reward_width", self.reward_width)
        for name in ("spans", "gains", "deviations", "steps"):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, self._checked_row(name, given))
        if self.separation is not None:
            real("separation", self.separation, most=2.0)
        for name in ("exponent", "eluder"):
            if getattr(self, name) is not None:
                real(name, getattr(self, name))
        if self.covering is not None:
            real("covering", self.covering, least=1.0)
        if self.pairs is not None:
            whole("pairs", self.pairs, most=self.states * self.actions)

    @property
    def members(self) -> int:
        return int(self.prior.size)

    @property
    def least_weight(self) -> float:
        """The smallest prior weight of a model: 1/M if the prior is uniform."""
        return float(self.prior.min())

    @property
    def mean_gain(self) -> float:
        """The mean gain over the prior, 0 if gains are not known."""
        if self.gains is None:
            return 0.0
        mean = float(self.prior @ self.gains)
        return min(max(mean, 0.0), 1.0)

    @property
    def most_pairs(self) -> int:
        """How many (s, a) are played at most."""
        if self.pairs is not None:
            return self.pairs
        return self.states * min(self.actions, self.members)

    @property
    def eluder_at_every_scale(self) -> float:
        """M(M-1)/2 and S A M, whichever is less: a pair and a point count once."""
        M = self.members
        return min(M * (M - 1) / 2.0, float(self.states * self.actions * M))

    @property
    def most_eluder(self) -> float:
        """The eluder dimension at most."""
        known = inf if self.eluder is None else self.eluder
        return min(known, self.eluder_at_every_scale)

    @property
    def most_covering(self) -> float:
        """The covering number at most: M at every scale."""
        return min(inf if self.covering is None else self.covering, float(self.members))

    def _checked_prior(self) -> FloatArray:
        prior: FloatArray = read_only(self.prior)
        if prior.ndim != 1 or prior.size == 0 or not (prior > 0.0).all():
            raise InvalidArgument(
                f"the prior is {prior.tolist()}",
                hint="give one positive weight per model; leave models without weight "
                "out of all numbers",
            )
        if abs(float(prior.sum()) - 1.0) > 1e-9:
            raise InvalidArgument(
                f"the prior sums to {float(prior.sum())}", hint="a prior sums to 1"
            )
        return prior

    def _checked_row(self, name: str, given: FloatArray) -> FloatArray:
        row = widths(name, given)
        if row.size != self.members:
            raise InvalidArgument(
                f"{row.size} {name} for {self.members} models",
                hint="give one number per model with prior weight",
            )
        if not isfinite(self.diameter):
            raise InvalidArgument(
                f"{name} are given, but the diameter is infinite",
                hint="models that are not communicating have no gain and no bias",
            )
        return row
