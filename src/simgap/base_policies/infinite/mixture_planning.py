"""Extended value iteration: a plan that is optimistic for every member of a set C.

Every pair (s, a) may use a u of C of its own,

    T l (s) = max_a R(s, a) + centre l (s, a) + max over C of x(s, a) . u,

x = (direction_i l)_i. T l >= T_u l for every u of C, and rho(u) <= max_s (T_u l - l)(s)
whatever l is, so max (T l - l) bounds all gains of C. Plain sweeps are damped, which is
the usual transformation against periods. A step of Newton's method is taken where it
halves the defect: the bias of the rows that attain the maximum, after policy iteration
with a discount where they have none. A first solution uses the lesser of the maxima
over the region and over the ellipsoid; sweeps with it need not settle, those with the
exact maximum (`mixture_reach`), which come after, do.

Why the regret of Algorithm 4 survives a u per pair. With the policy greedy for l,
R = T l - (relaxed P l) >= min (T l - l) + l - (relaxed P l), so the loss of one step is

    rho* - R <= [max - min of (T l - l)] + (relaxed P l - P* l) + (P* l - l)(s, a).

The proof needs of the second term that it is at most 2 radius |x|_{V^-1} and at most
the width of l. Both hold pair by pair: the maximum over C is at most that over the
ellipsoid and at most that over the region, whose members are kernels. It also needs
sp(l) <= D: if u* is in C, l(s) + max (T l - l) >= R + P* l, and following the fastest
way to the state with the greatest l, sp(l) <= D(u*) (max (T l - l) - min R).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, owned
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_confidence import ConfidenceSet
from simgap.base_policies.infinite.mixture_reach import exact_reach
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import EPS
from simgap.planning import first_best

DAMPING = 0.9  # of a sweep: what is left removes every period
DISCOUNT = 1.0 - 1e-5  # of policy iteration where Newton's method has no bias
IMPROVEMENTS = 15  # of one policy iteration
PAUSE = 10  # sweeps between two policy iterations
CHEAP_SWEEPS = 100  # before maxima over a set are computed exactly


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


def relaxed_plan(
    mixture: MixtureClass,
    members: ConfidenceSet,
    *,
    tolerance: float = 1e-6,
    most_sweeps: int = 5_000,
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
    bias = np.zeros(mixture.n_states) if guess is None else np.array(guess)
    cheap = _Operator(mixture, members, tolerance, _lesser_reach)
    at, first = _settled(cheap, cheap.apply(bias), min(most_sweeps, CHEAP_SWEEPS))
    exact = _Operator(mixture, members, tolerance, exact_reach)
    at, then = _settled(exact, exact.apply(at.bias), most_sweeps - first)
    plan = at.plan(first + then)
    if plan.defect <= tolerance:
        return plan
    raise NotSolved(
        f"most_sweeps = {most_sweeps} is not enough: the optimistic gain lies in "
        f"[{plan.gain - plan.defect!r}, {plan.gain!r}], {tolerance} was asked for",
        hint="ask for a larger tolerance or more sweeps; rounding alone costs "
        f"{at.noise:.1e}",
        result=plan,
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Applied:
    """T l for one l, and what attained it."""

    bias: FloatArray  # (S,)
    best: FloatArray  # (S,), T l
    policy: IndexArray  # (S,)
    points: FloatArray  # (S A, r), the u of each pair
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
    """T for one set of members and one way to maximise over it."""

    def __init__(
        self,
        mixture: MixtureClass,
        members: ConfidenceSet,
        tolerance: float,
        reach: Callable[[ConfidenceSet, FloatArray], tuple[FloatArray, FloatArray]],
    ) -> None:
        S, A = mixture.n_states, mixture.n_actions
        self.tolerance, self._members, self._reach = tolerance, members, reach
        self._shape = S, A
        self._rewards = mixture.rewards.reshape(-1)
        self._centre = mixture.centre.reshape(S * A, S)
        self._axes = mixture.directions.reshape(-1, S * A, S)
        sizes = 1.0 + np.abs(self._axes).sum(axis=(0, 2)).max(initial=0.0)
        self._rounding = 8.0 * (S + mixture.dimension + 8) * EPS * float(sizes)

    def apply(self, bias: FloatArray) -> _Applied:
        directions = np.ascontiguousarray((self._axes @ bias).T)
        reach, points = self._reach(self._members, directions)
        values = self._centre @ bias + reach
        table = (self._rewards + values).reshape(self._shape)
        policy = first_best(table, 0.1 * self.tolerance)
        best = table.max(axis=1)
        played = np.take_along_axis(table, policy[:, None], axis=1)[:, 0]
        noise = self._rounding * (
            float(np.abs(bias).max()) + float(np.abs(self._rewards).max())
        )
        gain = float((best - bias).max()) + noise
        defect = gain - float((played - bias).min()) + noise
        return _Applied(bias, best, policy, points, gain, defect, noise)

    def newton(self, at: _Applied) -> _Applied | None:
        """Return T at the bias of the rows that attain T l, if they have one."""
        kernel, rewards = self._rows(at)
        system = np.eye(len(kernel)) - kernel
        system[:, 0] = 1.0  # the gain takes the place of the first bias
        solved = _solution(system, rewards)
        if solved is None:
            return None
        solved[0] = 0.0
        return self.apply(solved - solved.min())

    def howard(self, at: _Applied) -> _Applied | None:
        """Return Newton's step after policy iteration with a discount near 1.

        Rows with several recurrent classes have no bias, but discounted values; states
        of worse classes then learn to leave them.
        """
        for _ in range(IMPROVEMENTS):
            kernel, rewards = self._rows(at)
            values = _solution(np.eye(len(kernel)) - DISCOUNT * kernel, rewards)
            if values is None:
                return None
            before, at = at, self.apply(values - values.min())
            moved = float(np.abs(at.points - before.points).max(initial=0.0))
            if (at.policy == before.policy).all() and moved < 1e-9:
                break
        return self.newton(at)

    def _rows(self, at: _Applied) -> tuple[FloatArray, FloatArray]:
        rows = np.arange(self._shape[0]) * self._shape[1] + at.policy
        axes = self._axes[:, rows]
        kernel = self._centre[rows] + np.einsum("si,ist->st", at.points[rows], axes)
        return kernel, self._rewards[rows]


def _solution(system: FloatArray, right: FloatArray) -> FloatArray | None:
    """Return x with system x = right, or None if there is no one such x."""
    try:
        found = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(found, np.float64) if np.isfinite(found).all() else None


def _settled(operator: _Operator, at: _Applied, most: int) -> tuple[_Applied, int]:
    """Return T at a bias with a small enough defect, or after `most` sweeps."""
    for sweep in range(most):
        if at.defect <= operator.tolerance:
            return at, sweep
        step = operator.newton(at)
        if (step is None or step.defect > 0.5 * at.defect) and sweep % PAUSE == 1:
            step = operator.howard(at)
        if step is not None and step.defect <= 0.5 * at.defect:
            at = step
            continue
        moved = at.bias + DAMPING * (at.best - at.bias)
        at = operator.apply(moved - moved.min())
    return at, most


def _lesser_reach(
    members: ConfidenceSet, directions: FloatArray
) -> tuple[FloatArray, FloatArray]:
    return members.reach(directions), members.farthest(directions)
