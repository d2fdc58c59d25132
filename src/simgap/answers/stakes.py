"""What is at stake: the gap of acting at random, the yardstick of every other gap.

It is a yardstick, not a limit: a policy that insists on wrong actions loses more.

A gap as a part of V* depends on where the user put the zero of the reward: a pendulum's
rewards are all negative. As a part of what random actions lose it does not change when
rewards are moved or scaled, is 0 for an optimal policy and 1 for a random one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nextafter
from typing import final

import numpy as np

from simgap.gap import Exact, average_certified, exact_gaps
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, checked_latent
from simgap.policies import MarkovPolicy


@final
@dataclass(frozen=True, slots=True)
class Stakes:
    """What an agent loses that plays every action equally often."""

    average: Certified  # over the prior
    models: tuple[Certified, ...]  # (M,)

    def part(self, gap: Certified) -> Certified | None:
        """Return an average gap as a part of what is at stake; None if that is 0."""
        return part_of(gap, self.average)


def stakes(latent: LatentMDP, horizon: int) -> Stakes:
    """Return the gap of the uniformly random policy in every model and on average."""
    worlds = checked_latent(latent).simulators
    shape = worlds.n_states, worlds.n_actions
    policy = MarkovPolicy("random", shape[1], np.full(shape, 1.0 / shape[1]))
    found = exact_gaps(worlds, policy, horizon, Exact())
    return Stakes(average_certified(found, latent.prior), found)


def part_of(gap: Certified, stake: Certified) -> Certified | None:
    """Return a gap as a part of a stake; None if nothing may be at stake."""
    if stake.lower <= 0.0:
        return None
    low, high = gap.lower / stake.upper, gap.upper / stake.lower
    return Certified(nextafter(low, -inf) if low else 0.0, nextafter(high, inf))
