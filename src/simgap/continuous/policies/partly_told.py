"""A policy that was trained with hidden parameters, told some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Batch, BroughtPolicy
from simgap.continuous.policies.actions import clips_actions


@final
@dataclass(frozen=True, slots=True, eq=False)
class PartlyTold:
    """A policy that is told some parameters; the others are NaN to it."""

    inner: BroughtPolicy
    known: frozenset[str]
    informed: bool = True

    @property
    def name(self) -> str:
        """What a table calls it."""
        return self.inner.name

    @property
    def clips(self) -> bool:
        """Whether actions beyond their ends are moved there."""
        return clips_actions(self.inner)

    def reset(self, batch: Batch) -> Any:
        """Return the memory of the policy, which knows what it is told."""
        hidden = np.full(batch.size, np.nan)
        theta = {
            name: value if name in self.known else hidden
            for name, value in batch.theta.items()
        }
        return self.inner.reset(replace(batch, theta=theta))

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        """Return the actions of the policy."""
        return self.inner.act(observations, memory)
