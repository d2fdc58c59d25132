"""Gain, bias and a greedy stationary policy (Lemma 3).

rho + l(s) = max_a R(s, a) + P l (s, a) for all s, with min l = 0. The symbol in the
paper's Lemma 3 is misprinted as pi_DR, and l is a solution of this equation, not the
Cesaro bias of a policy (errata E6). Algorithms 3 and 4 follow a policy that attains the
maximum in *every* state (errata E3), and that is the one returned. Ties: it takes the
lowest action within a tenth of the tolerance of the maximum.

Certificate: for any vector h, min (Th - h) <= rho* <= max (Th - h). Sweeps are tried
first; a chain that mixes too slowly for them goes to policy iteration in double-double.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, nextafter
from typing import final

import numpy as np

from simgap._kernels.solving.average_reward import (
    SOLVED,
    gain_sweeps,
    greedy_actions,
    improvement_sweep,
    lower_to_zero,
    return_sweeps,
    wide_gain_sweeps,
)
from simgap._kernels.solving.episodic import action_values
from simgap._kernels.solving.lanes import LANES
from simgap._kernels.solving.reachability import (
    backward_order,
    predecessors,
    strong_components,
)
from simgap._kernels.time_limit import check_time
from simgap.arrays import (
    BoolArray,
    FloatArray,
    IndexArray,
    OffsetArray,
    aligned,
    owned,
)
from simgap.errors import InvalidArgument, NotSolved
from simgap.intervals import EPS
from simgap.mdp import SimulatorClass, TabularMDP, Transitions, asked_once
from simgap.planning.average_exact import exact_gain
from simgap.planning.connectivity import as_class, require_communicating
from simgap.planning.lane_blocks import (
    WIDE_FROM,
    blocks,
    rewards_of,
    side_by_side,
    state_lanes,
    units_off,
)
from simgap.planning.policy_chain import Moves, first_best

PATIENCE = 120  # sweeps over all actions
POLISH = 0.1  # sweeps go on to this part of the tolerance, for the bias's sake
RETURN_PATIENCE = 400  # sweeps of Newton's method; small models get 3 a state
SHARPEN_UP_TO = 60  # states: small models are always solved to the last digits
LARGEST_SPAN = 1e100  # of a bias: its square, times a horizon, is a float
TIE = 1e-9  # of the spread of rewards: advantages closer to 0 count as tied


@final
@dataclass(frozen=True, slots=True, eq=False)
class AverageRewardPlan:
    """The optimality equation of every model, with its certificate."""

    gain_lower: FloatArray  # (M,), certified
    gain_upper: FloatArray  # (M,)
    bias: FloatArray  # (M, S), least entry 0
    residual: FloatArray  # (M,), bounds |rho + l - T l| for this l, rho midway
    policy: IndexArray  # (M, S), greedy for this bias in every state
    method: tuple[str, ...]  # (M,), "sweeps", "returns" or "policy iteration"
    tolerance: float  # the width allowed, in units of the rewards
    simulators: SimulatorClass

    @property
    def gain(self) -> FloatArray:
        """Midpoints of the brackets, (M,)."""
        middle: FloatArray = 0.5 * (self.gain_lower + self.gain_upper)
        return middle

    @property
    def bias_span(self) -> FloatArray:
        """sp(l) of every model, (M,)."""
        span: FloatArray = self.bias.max(axis=1) - self.bias.min(axis=1)
        return span

    @property
    def unique_bias(self) -> BoolArray:
        """Whether the bias is the only solution up to constants, (M,).

        It is unless optimal play can settle in several separate sets of states: they
        can then be shifted against each other, and the bias returned is one solution
        among several.
        """
        return np.array(
            [_optimal_classes(self, member) == 1 for member in range(len(self.bias))]
        )


def solve_average_reward(
    simulators: SimulatorClass | TabularMDP,
    *,
    tolerance: float = 1e-9,
    weakly_communicating: bool = False,
) -> AverageRewardPlan:
    """Return gain, bias and greedy policy of every model.

    `tolerance` is the greatest width of the gain's bracket; where rewards differ by
    more than 1, it counts in units of that difference, and no float can tell less than
    the rounding of the rewards themselves. A model that is not
    communicating is refused; with `weakly_communicating` it is tried, and refused if
    some state cannot reach the best recurrent class that was found. So is one whose
    bias spans more than floats can square.
    """
    every = as_class(simulators)
    real = isinstance(tolerance, (int, float)) and isfinite(tolerance)
    if not real or tolerance <= 0.0:
        raise InvalidArgument(
            f"tolerance {tolerance!r} is out of range",
            hint="give a positive width of the gain's bracket, such as 1e-9",
        )
    lows, highs = every.reward_ends.tolist()
    spread, largest = max(highs) - min(lows), max(*highs, -min(lows))
    longest = every.transitions.longest_row
    tolerance = max(tolerance * max(1.0, spread), 16.0 * (longest + 4) * EPS * largest)
    if not weakly_communicating:
        require_communicating(every)
    members, n_states = len(every), every.n_states
    bias = np.zeros((members, n_states))
    policy = np.empty((members, n_states), np.int32)
    gain_lower, gain_upper = np.empty(members), np.empty(members)
    residual = np.empty(members)
    bracket, methods = np.array([[0.0, inf, 0.0]] * members), []
    if members >= WIDE_FROM and n_states > SHARPEN_UP_TO:
        _sweep_together(every, tolerance, bias, bracket)
    off = every.transitions.row_defects.tolist()
    for member in range(members):
        check_time()
        rewards = rewards_of(every, member)
        method, actions = "sweeps", None
        if not bracket[member, 1] - bracket[member, 0] <= tolerance:
            method, actions = _solve(
                every, member, rewards, tolerance, bias[member], bracket[member]
            )
        methods.append(method)
        tallest = lower_to_zero(bias[member])
        lower, upper, _ = bracket[member].tolist()
        if method == "sweeps" and actions is not None:
            moved = 4.0 * EPS * tallest  # by taking the least away
            below, above = lower - moved, upper + moved
        else:
            below, above = _greedy(
                every, member, rewards, bias[member], tolerance, policy[member]
            )
        if actions is not None:
            policy[member] = actions
        low, high = lows[member], highs[member]
        slack = tolerance + 1e-12 * max(abs(low), abs(high))
        if lower > high + slack or upper < low - slack:
            raise AssertionError("a gain left [min R, max R]: a defect of the solver")
        if not upper - lower <= tolerance:
            reached = (
                float(np.fmax(lower, low)),  # a NaN tells nothing
                float(np.fmin(upper, high)),
            )
            raise _not_solved(every, member, reached, tolerance)
        if not tallest <= LARGEST_SPAN:
            raise NotSolved(
                f"the bias of model {every.model_names[member]!r} spans "
                f"{bias[member].max():g}, whose square is not a float",
                hint="write 0 for probabilities so small that you mean never",
                result=(float(lower), float(upper)),
            )
        lower, upper = _as_divided(lower, upper, off[member], high - low)
        gain_lower[member], gain_upper[member] = lower, upper
        gain = 0.5 * (lower + upper)
        residual[member] = max(above - gain, gain - below) + 2.0 * off[member] * tallest
    return AverageRewardPlan(
        gain_lower=owned(gain_lower),
        gain_upper=owned(gain_upper),
        bias=owned(bias),
        residual=owned(residual),
        policy=owned(policy),
        method=tuple(methods),
        tolerance=tolerance,
        simulators=every,
    )


def _sweep_together(
    every: SimulatorClass, tolerance: float, bias: FloatArray, bracket: FloatArray
) -> None:
    """Try 16 models at a time; a bracket that stays wide is left to `_solve`."""
    kernel = every.transitions
    longest = kernel.longest_row + int(_units_off(kernel).max())
    for block in blocks(len(every)):
        together, brackets = aligned((every.n_states, LANES)), np.empty((3, LANES))
        wide_gain_sweeps(
            kernel.indptr,
            kernel.indices,
            *side_by_side(every, block),
            kernel.n_actions,
            longest,
            POLISH * tolerance,
            PATIENCE,
            together,
            brackets,
        )
        count = len(block)
        bias[block.start : block.stop] = together[:, :count].T
        bracket[block.start : block.stop] = brackets[:, :count].T


def _as_divided(
    lower: float, upper: float, off: float, spread: float
) -> tuple[float, float]:
    """Return a bracket for rows divided by their sums, which are 1 up to `off`.

    The solvers read a row as moves, with what they leave as the chance to stay. If rows
    sum to 1 up to d, dividing them scales the time spent in each state by as much: the
    share of time in a state, and with it the gain, moves by 2 d of the rewards' range.
    T l moves by 2 d of the greatest entry of l.
    """
    room = 4.0 * off * spread
    if not room > 0.0:
        return lower, upper
    return nextafter(lower - room, -inf), nextafter(upper + room, inf)


def _solve(
    every: SimulatorClass,
    member: int,
    rewards: FloatArray,
    tolerance: float,
    bias: FloatArray,
    bracket: FloatArray,
) -> tuple[str, IndexArray | None]:
    """Fill in bias and bracket of one model; return the method that did it.

    Methods for slow chains also return a greedy policy, found by differences of the
    bias: its size may drown what one action pays more than another.
    """
    kernel = every.transitions
    if every.n_states > SHARPEN_UP_TO:
        longest, actions = kernel.longest_row, np.empty(every.n_states, np.int32)
        outcome = gain_sweeps(
            state_lanes(kernel, member),
            rewards,
            kernel.n_actions,
            longest,
            tolerance,
            POLISH * tolerance,
            PATIENCE,
            bias,
            actions,
            bracket,
        )
        off = int(_units_off(kernel)[member])
        if off:  # the noise so far is longest + 4 units
            bracket[2] *= off / (longest + 4)
            bracket[:2] += -bracket[2], bracket[2]
        if outcome == SOLVED and bracket[1] - bracket[0] <= tolerance:
            return "sweeps", actions
        policy = _by_returns(every, member, rewards, tolerance, bias, bracket)
        if policy is not None:
            return "returns", policy
    solved = exact_gain(every, member, rewards, bias)
    bias[:] = solved.bias
    bracket[:2] = solved.lower, solved.upper
    return "policy iteration", solved.policy


@asked_once
def _units_off(kernel: Transitions) -> OffsetArray:
    """Return how many units of rounding the rows of each model are off, (M,)."""
    off = [units_off(kernel.indptr, row) for row in kernel.values]
    frozen: OffsetArray = owned(np.array(off))
    return frozen


def _by_returns(
    every: SimulatorClass,
    member: int,
    rewards: FloatArray,
    tolerance: float,
    bias: FloatArray,
    bracket: FloatArray,
) -> IndexArray | None:
    """Try Newton's method through returns to the richest state.

    Returns a greedy policy if it worked, else None and leaves everything as it was.
    """
    kernel = every.transitions
    arrays = (kernel.indptr, kernel.indices, kernel.values[member])
    moves = Moves.of(*arrays, kernel.n_actions)
    reference = int(np.argmax(rewards)) // kernel.n_actions
    sources = predecessors(*arrays, every.n_states, kernel.n_actions)
    order = backward_order(*sources, np.array([reference]))
    if order.size < every.n_states:
        return None
    attempt, ends = np.array(bias), np.array(bracket)
    outcome = return_sweeps(
        moves.indptr,
        moves.indices.view(np.uint32),
        moves.values,
        moves.leave,
        rewards,
        kernel.n_actions,
        order,
        reference,
        tolerance,
        POLISH * tolerance,
        3 * every.n_states if every.n_states <= 1000 else RETURN_PATIENCE,
        attempt,
        ends,
    )
    if outcome != SOLVED:
        return None
    bias[:], bracket[:] = attempt, ends
    wide = moves.advantages(rewards, attempt, np.zeros(every.n_states))
    table = (wide.high + wide.low).reshape(every.n_states, every.n_actions)
    return first_best(table, POLISH * tolerance)


def _greedy(
    every: SimulatorClass,
    member: int,
    rewards: FloatArray,
    bias: FloatArray,
    tolerance: float,
    policy: IndexArray,
) -> tuple[float, float]:
    """Write in every state the lowest action within a tenth of the tolerance.

    Returns bounds of T l - l over the states for the bias as it is stored.
    """
    kernel = every.transitions
    indices = kernel.indices.view(np.uint32)
    values = kernel.values[member]
    totals = np.empty(every.n_states * every.n_actions)
    best, scratch = np.empty(every.n_states), np.empty(3)
    improvement_sweep(
        kernel.indptr,
        indices,
        values,
        rewards,
        kernel.n_actions,
        bias,
        totals,
        best,
        scratch,
    )
    noise = (kernel.longest_row + 4) * EPS * float(scratch[2])
    greedy_actions(totals, best, kernel.n_actions, POLISH * tolerance, policy)
    return float(scratch[0]) - noise, float(scratch[1]) + noise


def _optimal_classes(plan: AverageRewardPlan, member: int) -> int:
    """Return how many separate sets of states optimal play can stay in for ever.

    These are the maximal end components of the actions tied for the best: strongly
    connected sets that some tied action of each of their states never leaves.
    """
    every = plan.simulators
    kernel, bias = every.transitions, plan.bias[member]
    rewards = rewards_of(every, member)
    totals = np.empty(rewards.size)
    action_values(
        kernel.indptr, kernel.indices, kernel.values[member], rewards, bias, totals
    )
    table = totals.reshape(every.n_states, every.n_actions)
    spread = float(rewards.max() - rewards.min())
    slack = 2.0 * plan.residual[member] + TIE * spread + 1e-14 * float(bias.max())
    kept = (table >= table.max(axis=1, keepdims=True) - slack).reshape(-1)
    rows = np.repeat(np.arange(kept.size), np.diff(kernel.indptr))
    sources = rows // every.n_actions
    used = kernel.values[member] > 0.0
    component: OffsetArray = np.empty(every.n_states, np.int64)
    while True:
        weights = np.where(kept[rows] & used, 1.0, 0.0)
        strong_components(
            kernel.indptr, kernel.indices, weights, kernel.n_actions, component
        )
        leaving = (weights > 0.0) & (component[sources] != component[kernel.indices])
        if not leaving.any():
            break
        kept[rows[leaving]] = False
    stays = kept.reshape(table.shape).any(axis=1)
    return int(np.unique(component[stays]).size)


def _not_solved(
    every: SimulatorClass, member: int, reached: tuple[float, float], tolerance: float
) -> NotSolved:
    return NotSolved(
        f"gain of model {every.model_names[member]!r} was only bracketed in "
        f"[{reached[0]!r}, {reached[1]!r}], tolerance {tolerance} not met",
        hint="ask for a larger tolerance; a model that is not communicating may have "
        "a different gain from different states, and a long row of unlikely steps may "
        "take longer than floats tell",
        result=reached,
    )
