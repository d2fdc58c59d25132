"""The optimistic model of a confidence set: a certified bracket of the greatest gain.

The gain is not concave in u, so that its maximum over a set C of members is bracketed.

From above: extended value iteration. Every pair (s, a) may use a u of its own,

    T l (s) = max_a R(s, a) + centre l (s, a) + [bound on max over C of x(s, a) . u],

x = (direction_i l)_i. T l >= T_u l for every u of C, and rho(u) <= max_s (T_u l - l)(s)
whatever l is, so max (T l - l) bounds all gains of C. Plain sweeps are damped, which is
the usual transformation against periods; a step of Newton's method (the bias of the
rows that attain the maximum) is taken where it halves the defect.

Why the regret of Algorithm 4 survives a u per pair. With the policy greedy for l,
R = T l - (relaxed P l) >= min (T l - l) + l - (relaxed P l), so the loss of one step is

    rho* - R <= [max - min of (T l - l)] + (relaxed P l - P* l) + (P* l - l)(s, a).

The proof needs of the second term that it is at most 2 radius |x|_{V^-1} and at most
sp(l). Both hold pair by pair: the bound on the maximum is at most that over the
ellipsoid and at most that over the region, whose members are kernels. It also needs
sp(l) <= D: if u* is in C, l(s) + max (T l - l) >= R + P* l, and following the fastest
way to the state with the greatest l, sp(l) <= D(u*) (max (T l - l) - min R).

From below: the gain of one member of C, found by climbing the gain's gradient
sum_s mu(s) x(s, pi(s)), mu the stationary law of the policy, from several starts: the
fit, the middle, the ends of the axes, and the way the relaxed plan points.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, owned
from simgap.base_policies.mixture_class import MixtureClass
from simgap.base_policies.mixture_confidence import ConfidenceSet, single_member
from simgap.errors import InvalidArgument, NotCommunicating, NotSolved
from simgap.planning.policy_chain import first_best

DAMPING = 0.9  # of a sweep: what is left removes every period
EPS = 2.0**-52
CLIMBERS = 3  # starts of the search below, the best of those tried
CLIMBS = 40  # steps of each
HALVINGS = 12  # of one step
SHARP = 1e-10  # of the spread of rewards: how well the search knows gains
PATIENCE = 400  # sweeps for one gain


@final
@dataclass(frozen=True, slots=True, eq=False)
class RelaxedPlan:
    """A bias and its greedy policy, optimistic for every member of a set."""

    gain: float  # max (T l - l): no member has a greater gain
    defect: float  # this less the least R + relaxed P l - l of the policy
    bias: FloatArray  # (S,), least entry 0
    policy: IndexArray  # (S,)
    sweeps: int

    @property
    def span(self) -> float:
        """sp(l)."""
        return float(self.bias.max())


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


def relaxed_plan(
    mixture: MixtureClass,
    members: ConfidenceSet,
    *,
    tolerance: float = 1e-6,
    most_sweeps: int = 50_000,
    guess: FloatArray | None = None,
) -> RelaxedPlan:
    """Return an optimistic plan whose defect is at most `tolerance`.

    Raises `NotSolved`, with the plan reached, if `most_sweeps` do not suffice.
    """
    if not (np.isfinite(tolerance) and tolerance > 0.0):
        raise InvalidArgument(
            f"tolerance {tolerance!r} is out of range",
            hint="give a positive number, such as 1e-6",
        )
    operator = _Operator(mixture, members, tolerance)
    bias = np.zeros(mixture.n_states) if guess is None else np.array(guess)
    at = operator.apply(bias)
    for sweep in range(most_sweeps):
        plan = at.plan(sweep)
        if plan.defect <= tolerance:
            return plan
        newton = operator.newton(at)
        if newton is not None and newton.defect <= 0.5 * at.defect:
            at = newton
            continue
        moved = at.bias + DAMPING * (at.best - at.bias)
        at = operator.apply(moved - moved.min())
    plan = at.plan(most_sweeps)
    raise NotSolved(
        f"after {most_sweeps} sweeps the optimistic gain lies in "
        f"[{plan.gain - plan.defect!r}, {plan.gain!r}], {tolerance} was asked for",
        hint="ask for a larger tolerance or more sweeps; rounding alone costs "
        f"{at.noise:.1e}",
        result=plan,
    )


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


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Applied:
    """T l for one l, and what attained it."""

    bias: FloatArray  # (S,)
    best: FloatArray  # (S,), T l
    policy: IndexArray  # (S,)
    directions: FloatArray  # (S A, r)
    gain: float
    defect: float
    noise: float

    def plan(self, sweeps: int) -> RelaxedPlan:
        bias = self.bias - self.bias.min()
        return RelaxedPlan(
            self.gain, self.defect, owned(bias), owned(np.array(self.policy)), sweeps
        )


@final
class _Operator:
    """T for one set of members."""

    def __init__(
        self, mixture: MixtureClass, members: ConfidenceSet, tolerance: float
    ) -> None:
        S, A = mixture.n_states, mixture.n_actions
        self._members, self._shape, self._slack = members, (S, A), 0.1 * tolerance
        self._rewards = mixture.rewards.reshape(-1)
        self._centre = mixture.centre.reshape(S * A, S)
        self._axes = mixture.directions.reshape(-1, S * A, S)
        sizes = 1.0 + np.abs(self._axes).sum(axis=(0, 2)).max(initial=0.0)
        self._rounding = 8.0 * (S + mixture.dimension + 8) * EPS * float(sizes)

    def apply(self, bias: FloatArray) -> _Applied:
        directions = np.ascontiguousarray((self._axes @ bias).T)
        values = self._centre @ bias + self._members.reach(directions)
        table = (self._rewards + values).reshape(self._shape)
        policy = first_best(table, self._slack)
        best = table.max(axis=1)
        played = np.take_along_axis(table, policy[:, None], axis=1)[:, 0]
        noise = self._rounding * (
            float(np.abs(bias).max()) + float(np.abs(self._rewards).max())
        )
        gain = float((best - bias).max()) + noise
        defect = gain - float((played - bias).min()) + noise
        return _Applied(bias, best, policy, directions, gain, defect, noise)

    def newton(self, at: _Applied) -> _Applied | None:
        """Return T at the bias of the rows that attain T l, if they have one."""
        rows = np.arange(self._shape[0]) * self._shape[1] + at.policy
        u = self._members.farthest(at.directions[rows])
        kernel = self._centre[rows] + np.einsum("si,ist->st", u, self._axes[:, rows])
        system = np.eye(len(rows)) - kernel
        system[:, 0] = 1.0  # the gain takes the place of the first bias
        try:
            solved = np.linalg.solve(system, self._rewards[rows])
        except np.linalg.LinAlgError:
            return None
        solved[0] = 0.0
        if not np.isfinite(solved).all():
            return None
        return self.apply(solved - solved.min())


def _starts(
    mixture: MixtureClass, members: ConfidenceSet, plan: RelaxedPlan
) -> list[FloatArray]:
    """Return the most promising members to begin at."""
    r, states = mixture.dimension, np.arange(mixture.n_states)
    rows = mixture.directions[:, states, plan.policy] @ plan.bias
    ways = np.vstack([rows.sum(axis=1), np.eye(r), -np.eye(r)])
    ends = [*members.region.farthest(ways), *members.farthest(ways), np.zeros(r)]
    starts = [members.fit, *(members.inward(end) for end in ends)]
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
    """Return a member with a greater gain: towards the best of two relaxations, or up.

    Steps straight up, in two metrics, are bent back into the set; they slide along its
    rim where the others stop.
    """
    steep = (uphill, members.whiten.T @ (members.whiten @ uphill))
    targets = [
        members.inward(members.farthest(uphill[None])[0]),
        members.inward(members.region.farthest(uphill[None])[0]),
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
