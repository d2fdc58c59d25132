"""The most optimistic member of a confidence set, with a certificate.

The gain is not concave in u, so that its maximum over a set of members is bracketed.
From above: the relaxed plan of `mixture_planning`, in which every pair (s, a) may use a
u of its own. From below: the gain of one member, found by climbing the gain's gradient
sum_s mu(s) x(s, pi(s)), mu the stationary law of the policy, from several starts: the
fit, the middle, the ends of the axes, and the way the relaxed plan points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import (
    ConfidenceSet,
    single_member,
)
from simgap.base_policies.infinite.mixture_planning import RelaxedPlan, relaxed_plan
from simgap.base_policies.infinite.mixture_reach import exact_reach
from simgap.errors import NotCommunicating, NotSolved

CLIMBERS = 3  # starts of the search below, the best of those tried
CLIMBS = 40  # steps of each
HALVINGS = 12  # of one step
SHARP = 1e-10  # of the spread of rewards: how well the search knows gains
PATIENCE = 50  # sweeps for one gain


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimisticMember:
    """The greatest gain of a set lies in [lower, upper]; `u` is a member with lower."""

    lower: float
    upper: float
    u: FloatArray  # (r,)
    theta: FloatArray  # (d,), of the user's parametrisation
    plan: RelaxedPlan  # what the upper end comes from

    @property
    def width(self) -> float:
        """How much of the optimism may be due to the relaxation or the search."""
        return self.upper - self.lower


def optimistic_member(
    mixture: MixtureClass,
    members: ConfidenceSet,
    *,
    tolerance: float = 1e-6,
) -> OptimisticMember:
    """Return a bracket of the greatest gain in a set and a member at its lower end."""
    plan = relaxed_plan(mixture, members, tolerance=tolerance)
    best: tuple[FloatArray, float] | None = None
    for start in _starts(mixture, members, plan):
        found = _climb(mixture, members, start)
        if found is not None and (best is None or found[1] > best[1]):
            best = found
        if best is not None and best[1] >= plan.gain - tolerance:
            break
    if best is None:
        raise NotCommunicating(
            "no member of the set that was tried is communicating",
            hint="only the upper end of the bracket exists: see relaxed_plan",
        )
    u, lower = best
    if lower > plan.gain:
        raise AssertionError("a member above the bound of all: a defect of the bound")
    return OptimisticMember(lower, plan.gain, owned(u), mixture.theta(u), plan)


def _starts(
    mixture: MixtureClass, members: ConfidenceSet, plan: RelaxedPlan
) -> list[FloatArray]:
    """Return the most promising members to begin at."""
    r, states = mixture.dimension, np.arange(mixture.n_states)
    rows = mixture.directions[:, states, plan.policy] @ plan.bias
    ways = np.vstack([rows.sum(axis=1), np.eye(r), -np.eye(r)])
    ends = [*members.region.farthest(ways), np.zeros(r)]
    starts = [members.fit, *exact_reach(members, ways)[1]]
    starts += [members.inward(end) for end in ends]
    found = [_gain(mixture, members, u) for u in starts]
    gains = [-np.inf if each is None else each[0] for each in found]
    order = np.argsort(-np.array(gains), kind="stable")[:CLIMBERS]
    return [starts[i] for i in order]


def _climb(
    mixture: MixtureClass, members: ConfidenceSet, start: FloatArray
) -> tuple[FloatArray, float] | None:
    """Return the best member met and a lower bound of its gain."""
    found = _gain(mixture, members, start)
    if found is None:
        return None
    u, (gain, uphill) = start, found
    for _ in range(CLIMBS):
        step = _uphill_step(mixture, members, u, gain, uphill)
        if step is None:
            break
        u, gain, uphill = step
    return u, gain


def _uphill_step(
    mixture: MixtureClass,
    members: ConfidenceSet,
    u: FloatArray,
    gain: float,
    uphill: FloatArray,
) -> tuple[FloatArray, float, FloatArray] | None:
    """Return a member with a greater gain: towards the farthest member, or up.

    Steps straight up, in two metrics, are bent back into the set.
    """
    steep = (uphill, members.whiten.T @ (members.whiten @ uphill))
    targets = [
        exact_reach(members, uphill[None])[1][0],
        *(u + 2.0 * way / max(float(np.linalg.norm(way)), 1e-300) for way in steep),
    ]
    for target in targets:
        share = 1.0
        for _ in range(HALVINGS):
            moved = members.inward(u + share * (target - u))
            if float(uphill @ (moved - u)) <= 1e-12:
                break
            found = _gain(mixture, members, moved)
            if found is not None and found[0] > gain + SHARP:
                return moved, *found
            share *= 0.5
    return None


def _gain(
    mixture: MixtureClass, members: ConfidenceSet, u: FloatArray
) -> tuple[float, FloatArray] | None:
    """Return a lower bound of the gain at u and its gradient, (r,).

    With one member T is the operator of its MDP, and min (T l - l) is below its gain.
    """
    try:
        plan = relaxed_plan(
            mixture,
            single_member(members.region, u),
            tolerance=SHARP * max(1.0, mixture.spread),
            most_sweeps=PATIENCE,
        )
    except NotSolved:  # a member that is not communicating, or nearly so
        return None
    states = np.arange(mixture.n_states)
    chain = mixture.kernel(u)[states, plan.policy]
    system = np.vstack([(np.eye(len(states)) - chain).T, np.ones(len(states))])
    law = np.linalg.lstsq(system, np.append(np.zeros(len(states)), 1.0), rcond=None)[0]
    rows = mixture.directions[:, states, plan.policy] @ plan.bias
    return plan.gain - plan.defect, np.asarray(rows @ law)
