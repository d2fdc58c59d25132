"""Small models on which some solvers fail: rare falls, loose rooms, two optima."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from simgap.arrays import FloatArray
from simgap.instances.arguments import (
    POSITIVE_PROBABILITY,
    Points,
    check_volume,
    checked_grid,
    checked_points,
    checked_whole,
)
from simgap.instances.family import family
from simgap.instances.known import Known, separation_of_rows
from simgap.mdp import (
    Details,
    IndexOrder,
    SimulatorClass,
    TabularMDP,
    mdp_from_arrays,
    mdp_from_edges,
)

WAIT_REWARD = 0.5


def trap_door(leak: Points = 1e-4, climb: Points = 1e-3) -> SimulatorClass:
    """Return a hall with a slow trap door, for every (leak, climb).

    In the hall `work` pays 1 and falls into the pit with probability `leak`, `wait`
    pays 1/2 and is safe. The pit pays 0 and is left with probability `climb`. A short
    horizon always works; whether a long one does depends on climb > leak.
    """
    return family(_trap_door, _trap_grid(leak, climb))


def trap_door_known(leak: Points = 1e-4, climb: Points = 1e-3) -> Known:
    """Return rho = max(1/2, climb / (climb + leak)), l = (rho / climb, 0) and D.

    D = max(1 / leak, 1 / climb). If climb >= leak and climb + leak <= 1, working is
    optimal at every horizon and V*_1 is that of a two-state chain.
    """
    grid = _trap_grid(leak, climb)
    fall, rise = np.array(list(product(grid["leak"], grid["climb"]))).T
    work = rise / (rise + fall)
    gain = np.maximum(WAIT_REWARD, work)

    def value(horizon: int) -> FloatArray:
        rate = fall + rise
        worked = horizon * work + (1.0 - work) * (1.0 - (1.0 - rate) ** horizon) / rate
        return np.where((rise >= fall) & (rate <= 1.0), worked, np.nan)

    return Known(
        gain=gain,
        bias=np.column_stack([gain / rise, np.zeros(gain.size)]),
        diameter=np.maximum(1.0 / fall, 1.0 / rise),
        separation=separation_of_rows(np.column_stack([fall, rise])),
        value=value,
    )


def near_multichain(room: int = 2, coupling: Points = 1e-3) -> SimulatorClass:
    """Return two cyclic rooms joined by a small probability: nearly two chains.

    One action walks round a room of `room` states; from its last state it enters the
    other room with probability `coupling`. The second room pays 1, the first 0.
    """
    size = checked_whole("room", room, most=100_000)
    points = checked_points("coupling", coupling, POSITIVE_PROBABILITY)
    check_volume("near_multichain", 4 * size * len(points))

    def instantiate(theta: Mapping[str, float]) -> TabularMDP:
        return _rooms(size, theta["coupling"])

    return family(instantiate, {"coupling": points})


def near_multichain_known(room: int = 2, coupling: Points = 1e-3) -> Known:
    """Return rho = 1/2, l(a_i) = i/2, l(b_i) = n/(2c) - i/2, D = n/c + n - 1.

    After j rounds the second room is occupied with probability (1 - (1-2c)^j) / 2.
    """
    size = checked_whole("room", room, most=100_000)
    join = np.array(checked_points("coupling", coupling, POSITIVE_PROBABILITY))
    here = np.arange(size) / 2.0

    def value(horizon: int) -> FloatArray:
        rounds, rest = divmod(horizon, size)
        steps = np.full(rounds + 1, float(size))
        steps[-1] = rest
        paid = (1.0 - (1.0 - 2.0 * join[:, None]) ** np.arange(rounds + 1)) / 2.0
        total: FloatArray = paid @ steps
        return total

    return Known(
        gain=np.full(join.size, 0.5),
        bias=np.column_stack(
            [np.tile(here, (join.size, 1)), size / (2.0 * join[:, None]) - here]
        ),
        diameter=size / join + size - 1.0,
        separation=separation_of_rows(join[:, None]),
        value=value,
    )


def two_optima(states: int = 5) -> SimulatorClass:
    """Return a line whose two ends both pay 1 for staying: the bias is not unique.

    Moves are certain; `left` in the first state and `right` in the last stay and pay.
    The start is the middle.
    """
    n_states = checked_whole("states", states, least=2)
    here = np.arange(n_states)
    zero = np.zeros(n_states, np.int64)
    left = np.column_stack([here, zero, np.maximum(here - 1, 0)])
    right = np.column_stack([here, zero + 1, np.minimum(here + 1, n_states - 1)])
    rewards = np.zeros((n_states, 2))
    rewards[0, 0] = rewards[-1, 1] = 1.0
    return mdp_from_edges(
        np.concatenate([left, right]),
        np.ones(2 * n_states),
        rewards,
        shape=(n_states, 2),
        details=Details(
            start=n_states // 2,
            model_names=("two optima",),
            action_names=("left", "right"),
        ),
    ).as_class()


def two_optima_known(states: int = 5) -> Known:
    """Return rho = 1, D = S - 1, V*_1 = H minus the way to the nearer end."""
    n_states = checked_whole("states", states, least=2)
    way = min(n_states // 2, n_states - 1 - n_states // 2)

    def value(horizon: int) -> FloatArray:
        return np.array([float(max(horizon - way, 0))])

    return Known(
        gain=np.array([1.0]),
        diameter=np.array([n_states - 1.0]),
        separation=2.0,
        value=value,
    )


def _trap_grid(leak: Points, climb: Points) -> dict[str, tuple[float, ...]]:
    grid = {
        "leak": checked_points("leak", leak, POSITIVE_PROBABILITY),
        "climb": checked_points("climb", climb, POSITIVE_PROBABILITY),
    }
    return checked_grid(grid)


def _trap_door(theta: Mapping[str, float]) -> TabularMDP:
    leak, climb = theta["leak"], theta["climb"]
    out = [climb, 1.0 - climb]
    return mdp_from_arrays(
        np.array([[[1.0 - leak, leak], [1.0, 0.0]], [out, out]]),
        np.array([[1.0, WAIT_REWARD], [0.0, 0.0]]),
        order=IndexOrder.STATE_ACTION,
        details=Details(state_names=("hall", "pit"), action_names=("work", "wait")),
    )


def _rooms(size: int, coupling: float) -> TabularMDP:
    here = np.arange(2 * size)
    first = size * (here // size)
    last = here == first + size - 1
    after = np.where(last, first, here + 1)
    other = np.where(last, size - first, here)
    zero = np.zeros_like(here)
    edges = [np.column_stack([here, zero, to]) for to in (after, other)]
    leave = np.where(last, coupling, 0.0)
    rooms = [f"{letter}{i}" for letter in "ab" for i in range(size)]
    return mdp_from_edges(
        np.concatenate(edges),
        np.concatenate([1.0 - leave, leave]),
        (here >= size).astype(np.float64)[:, None],
        shape=(2 * size, 1),
        details=Details(state_names=rooms, action_names=("on",)),
    )
