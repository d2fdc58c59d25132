"""The latent MDP (U, nu): a model of U is drawn from nu and hidden from the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, digest, read_only
from simgap.errors import InvalidModel
from simgap.mdp.simulators import SimulatorClass
from simgap.mdp.validation import (
    ROW_TOLERANCE,
    as_floats,
    check_least,
    summing_to_one,
)
from simgap.records.provenance import Certainty


@final
@dataclass(frozen=True, slots=True, eq=False)
class LatentMDP:
    """Domain randomization as a decision problem (Section 4.2)."""

    simulators: SimulatorClass
    prior: FloatArray  # (M,), a distribution; zeros are allowed

    def __post_init__(self) -> None:
        prior = as_floats(self.prior, "prior")
        if prior.shape != (len(self.simulators),):
            raise InvalidModel(
                f"prior has shape {prior.shape}, the class {len(self.simulators)} "
                "members",
                hint="LatentMDP.uniform(simulators) builds the usual one",
            )
        bad = ~np.isfinite(prior) | (prior < 0.0)
        if bad.any():
            member = int(np.argmax(bad))
            raise InvalidModel(
                f"prior of model {self.simulators.model_names[member]!r} "
                f"is {prior[member]}",
                hint="prior weights are finite and not negative",
            )
        if abs(prior.sum() - 1.0) > ROW_TOLERANCE:
            raise InvalidModel(
                f"prior sums to {float(prior.sum())!r}, not 1",
                hint="divide it by its sum if that is what you mean",
            )
        prior = summing_to_one(prior[None])
        check_least(prior, "the prior")
        object.__setattr__(self, "prior", read_only(prior[0]))

    @staticmethod
    def uniform(simulators: SimulatorClass) -> LatentMDP:
        """Return (U, uniform), the paper's choice."""
        members = len(simulators)
        return LatentMDP(simulators, np.full(members, 1.0 / members))

    @property
    def certified(self) -> Certainty:
        """What a proved number about this class is called."""
        return self.simulators.certified

    @property
    def on_grid(self) -> str | None:
        """The simulator and the grid that the class is a table of, in words."""
        return self.simulators.on_grid

    @property
    def hash(self) -> str:
        return digest(self.simulators.hash.encode(), self.prior)
