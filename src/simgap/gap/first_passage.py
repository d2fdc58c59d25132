"""The gap of Algorithm 3 without sampling, for rewards on a lattice (theory 3.2, 4.6).

Only the candidate that is played is tested, so candidates are taken up in one order, by
gain. An episode of one candidate is the first passage of a Markov chain (`passage_law`)
and episodes follow one another by convolution over their start times (`episodes`);
after the last candidate the order begins again (errata E18).

With g, l gain and bias of the real model and Delta = g + l - R - P l >= 0,

    gap = (V*_1(s1) - H g - l(s1)) + E[sum_h Delta(s_h, a_h)] + E[l(s_{H+1})],

which holds for any g and l, so that no term is larger than the gap and two spans. The
bracket has in it: the rounding of all sums, the error of the FFT, and the chance that
was dropped times the most it could still have lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, IndexArray, OffsetArray, read_only
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap.episodes import Followed, follow_episodes
from simgap.gap.passage_law import CandidateRun
from simgap.intervals import EPS, Certified
from simgap.mdp import TabularMDP
from simgap.planning import (
    AverageRewardPlan,
    checked_horizon,
    relative_values,
    solve_average_reward,
)

MOST_WORK = 10**11  # cells: some minutes


@final
@dataclass(frozen=True, slots=True, eq=False)
class EliminationTests:
    """When Algorithm 3 gives up the candidate it plays: |stat| > thr_k(n) + tol."""

    thresholds: FloatArray  # (M, H), thr_k(n) for n = 1..H (index n - 1); inf: never
    tolerance: FloatArray  # (M,), against rounding where the statistic meets thr
    two_sided: bool = True  # False: stat > thr_k(n) + tol

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", read_only(self.thresholds))
        object.__setattr__(self, "tolerance", read_only(self.tolerance))
        wrong = np.isnan(self.thresholds) | (self.thresholds < 0.0)
        if self.thresholds.ndim != 2 or wrong.any():
            raise InvalidArgument(
                f"thresholds of shape {self.thresholds.shape}, of which "
                f"{int(wrong.sum())} are negative or not a number",
                hint="give thr_k(n) >= 0 for every candidate k and n = 1..H",
            )
        fits = self.tolerance.shape == self.thresholds.shape[:1]
        if not fits or not (np.isfinite(self.tolerance) & (self.tolerance >= 0)).all():
            raise InvalidArgument(
                f"tolerance {self.tolerance} for {self.thresholds.shape[0]} candidates",
                hint="give a small number >= 0 each, as 1e-9 max(1, sp(l))",
            )


@final
@dataclass(frozen=True, slots=True, eq=False)
class OptimisticGap:
    """What Algorithm 3 loses in one real model, and what its tests do there."""

    horizon: int
    gap: Certified  # V*_1 - V^pi_1
    regret: Certified  # H rho* - V^pi_1
    eliminated: tuple[Certified, ...]  # (M,), chance that it ever is, by step H
    steps: tuple[Certified, ...]  # (M,), expected number of steps that it is played
    eliminations: Certified  # expected number
    exhausted: Certified  # chance that none is left and U is taken up again
    order: OffsetArray  # (M,), the order in which candidates are played
    lost: float  # chance that was dropped; the brackets hold all it could have done
    columns: int  # the greatest number of reward counts held at once
    cells: int  # the work that was done


def first_passage_gap(
    real: TabularMDP,
    plan: AverageRewardPlan,
    tests: EliminationTests,
    horizon: int,
    *,
    order: npt.ArrayLike | None = None,
    prune: float = 1e-24,
    most_work: int = MOST_WORK,
) -> OptimisticGap:
    """Return the gap of Algorithm 3 in the real model, enclosed (Eq. 1, theory 3.2).

    `plan` has gain, bias and policy of the candidates. The statistic is the sum of
    P_k l_k - l_k(s'), which is n rho_k + l_k(first) - l_k(now) - sum of R_k: rewards
    of the candidate, as the agent does not see others. `order` is by gain if it is not
    given, the lowest index first among equals. Raises NotSolved where rewards are on no
    lattice, and with the bracket reached where `most_work` cells are not enough.
    """
    horizon = checked_horizon(horizon)
    _check(real, plan, tests, horizon, prune)
    ranked = _checked_order(order, plan.gain)
    truth = solve_average_reward(real)
    losses = _losses(real, plan.policy, truth)
    runs = [_run(real, plan, tests, member, horizon) for member in range(ranked.size)]
    followed = follow_episodes(
        real.as_class().start_law(0),
        runs,
        ranked,
        losses,
        truth.bias[0],
        horizon=horizon,
        prune=prune,
        most_work=most_work,
    )
    doubt = _Doubt(
        rounding=followed.rounding + _chain_rounding(runs, horizon),
        moved=followed.moved,
        lost=followed.lost * (1.0 + 1e-9),
    )
    result = _enclosed(real, truth, losses, followed, doubt, horizon, ranked)
    if not followed.finished:
        raise NotSolved(
            f"{followed.cells} cells of reward counts were not enough: the gap is in "
            f"[{result.gap.lower!r}, {result.gap.upper!r}]",
            hint="raise most_work, ask for a shorter horizon, or simulate",
            result=result,
        )
    return result


def _run(
    real: TabularMDP,
    plan: AverageRewardPlan,
    tests: EliminationTests,
    member: int,
    horizon: int,
) -> CandidateRun:
    """Return a candidate's policy in the real model, and its test."""
    kernel, states = real.transitions, np.arange(real.n_states)
    known = plan.simulators
    rewards = known.rewards[0 if known.shared_rewards else member]
    rows = states * real.n_actions + plan.policy[member]
    taken = np.zeros(real.n_states * real.n_actions, np.bool_)
    taken[rows] = True
    row_of = np.repeat(np.arange(taken.size), np.diff(kernel.indptr))
    used = taken[row_of] & (kernel.values[0] > 0.0)
    thresholds = np.full(horizon + 1, np.inf)
    thresholds[1:] = tests.thresholds[member, :horizon] + tests.tolerance[member]
    return CandidateRun(
        origins=(row_of[used] // real.n_actions).astype(np.int32),
        targets=kernel.indices[used],
        chances=kernel.values[0, used],
        rewards=rewards[states, plan.policy[member]],
        gain=float(plan.gain[member]),
        bias=plan.bias[member],
        thresholds=thresholds,
        two_sided=tests.two_sided,
    )


def _losses(
    real: TabularMDP, policies: IndexArray, truth: AverageRewardPlan
) -> FloatArray:
    """Return Delta = g + l - R - P l for the actions of every candidate, (M, S).

    In Fractions, as most are 0 or nearly so; rows count as divided by their sums.
    """
    gain = Fraction(float(truth.gain[0]))
    bias = [Fraction(float(each)) for each in truth.bias[0]]
    losses = np.zeros(policies.shape)
    for state in range(real.n_states):
        for action in np.unique(policies[:, state]).tolist():
            targets, chances = real.transitions.row(0, state, action)
            shares = [Fraction(float(chance)) for chance in chances]
            after = sum(p * bias[t] for p, t in zip(shares, targets, strict=True))
            ahead = Fraction(float(real.rewards[state, action])) + after / sum(shares)
            loss = float(gain + bias[state] - ahead)
            losses[policies[:, state] == action, state] = loss
    return losses


@final
@dataclass(frozen=True, slots=True)
class _Doubt:
    """What may be wrong with an expectation."""

    rounding: float  # relative, for sums of terms of one sign
    moved: float  # chance that the FFT may have put elsewhere
    lost: float  # chance that is missing

    def around(
        self,
        value: float,
        *,
        size: float,
        most: float,
        least: float = 0.0,
        extra: float = 0.0,
    ) -> Certified:
        """Return ends for a value whose terms add up to `size` in absolute value.

        A unit of chance is worth `least` to `most`; `extra` goes to both sides.
        """
        error = self.rounding * size + self.moved * (most - least) + extra
        error += 4.0 * EPS * (abs(value) + size)
        return Certified(
            value - error + self.lost * least, value + error + self.lost * most
        )


def _enclosed(
    real: TabularMDP,
    truth: AverageRewardPlan,
    losses: FloatArray,
    followed: Followed,
    doubt: _Doubt,
    horizon: int,
    order: OffsetArray,
) -> OptimisticGap:
    """Return the sums with ends for all that may be wrong with them."""
    law, bias = real.as_class().start_law(0), truth.bias[0]
    first, reach = float(law @ bias), float(bias.max())
    relative = relative_values(real, horizon, truth)
    least = horizon * min(0.0, float(losses.min()))
    most = horizon * max(0.0, float(losses.max())) + reach
    size = abs(followed.loss) - 2.0 * least + followed.end
    later = followed.loss + followed.end - first
    noise = (real.n_states + 8) * EPS * reach  # of the mean over the start law
    unsure = float(truth.gain_upper[0] - truth.gain_lower[0])
    spread = float(real.rewards.max() - real.rewards.min())
    gap = doubt.around(
        float(relative.start[0]) + later,
        size=size,
        most=most,
        least=least,
        extra=float(relative.error[0]) + noise,
    )
    regret = doubt.around(
        later, size=size, most=most, least=least, extra=horizon * unsure + noise
    )
    once = [doubt.around(x, size=x, most=1.0) for x in followed.eliminated.tolist()]
    played = [
        doubt.around(x, size=x, most=float(horizon)) for x in followed.steps.tolist()
    ]
    number = followed.eliminations
    count = doubt.around(number, size=number, most=float(horizon))
    eliminated = tuple(_within(each, 1.0) for each in once)
    return OptimisticGap(
        horizon=horizon,
        gap=_within(gap, horizon * spread * (1.0 + 4.0 * EPS)),
        regret=regret,
        eliminated=eliminated,
        steps=tuple(_within(each, float(horizon)) for each in played),
        eliminations=_within(count, float(horizon)),
        exhausted=eliminated[order[-1]],  # the last of them goes
        order=order,
        lost=followed.lost,
        columns=followed.columns,
        cells=followed.cells,
    )


def _within(ends: Certified, most: float) -> Certified:
    """Return the part of a bracket between 0 and `most`, where the number must be."""
    assert ends.lower is not None and ends.upper is not None
    low, high = max(0.0, ends.lower), min(most, ends.upper)
    if low > high:
        raise AssertionError(
            f"[{ends.lower}, {ends.upper}] leaves [0, {most}]: a defect"
        )
    return Certified(low, high)


def _chain_rounding(runs: Sequence[CandidateRun], horizon: int) -> float:
    """Return the relative error of the chance of a history of H steps.

    A step multiplies and adds up what comes into a state; rows count as divided by
    their sums, which they are up to a rounding or two.
    """
    worst = 0.0
    for run in runs:
        incoming = int(np.bincount(run.targets).max())
        outgoing = int(np.bincount(run.origins).max())
        sums = np.bincount(run.origins, run.chances)
        defect = float(np.abs(sums - 1.0).max()) + outgoing * EPS
        worst = max(worst, (incoming + 2) * EPS + defect)
    return float(np.expm1(horizon * worst))


def _checked_order(order: npt.ArrayLike | None, gain: FloatArray) -> OffsetArray:
    if order is None:
        order = np.argsort(-gain, kind="stable")
    given = np.asarray(order)
    if given.dtype.kind not in "iu" or sorted(given.tolist()) != list(range(gain.size)):
        raise InvalidArgument(
            f"order {given.tolist()} is not an order of {gain.size} candidates",
            hint=f"name each of 0 to {gain.size - 1} once, the first to play first",
        )
    ranked: OffsetArray = read_only(given, np.int64)
    return ranked


def _check(
    real: TabularMDP,
    plan: AverageRewardPlan,
    tests: EliminationTests,
    horizon: int,
    prune: float,
) -> None:
    members, n_states = plan.policy.shape
    n_actions = plan.simulators.n_actions
    if (real.n_states, real.n_actions) != (n_states, n_actions):
        raise InvalidArgument(
            f"the real model has {real.n_states} states and {real.n_actions} actions, "
            f"the candidates {n_states} and {n_actions}",
            hint="candidates and real model share their states and actions",
        )
    if tests.thresholds.shape[0] != members or tests.thresholds.shape[1] < horizon:
        raise InvalidArgument(
            f"thresholds of shape {tests.thresholds.shape} for {members} candidates "
            f"and horizon {horizon}",
            hint="give thr_k(n) for every candidate and n = 1..H",
        )
    if not 0.0 < prune < 1.0:
        raise InvalidArgument(
            f"prune {prune!r} is not between 0 and 1",
            hint="give a chance that may be dropped, such as 1e-24",
        )
