"""Random communicating classes of a given separation (after Garnet, Archibald 1995).

A row of (s, a) has `branching` random successors with random weights. In every state
one action leads, among others, to the next state of a random cycle through all
states, so that every model communicates. All models have the same supports and rewards.

The separation is met exactly. A few rows outside the cycle are *code rows*: each puts
all its mass on two successors, at one of the levels 0, delta/2, 2 delta/2, ... of the
first. Models are numbered in this code, so two of them differ by at least one level,
that is delta in L1, in some code row, and models 0 and 1 by exactly that. Every other
row is (1 - delta/2) base + (delta/2) own, which differs by at most delta.
"""

from __future__ import annotations

from math import floor

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_MEMBERS,
    Interval,
    check_volume,
    checked_number,
    checked_whole,
)
from simgap.instances.known import Known
from simgap.mdp import Details, SimulatorClass, class_from_edges

LEAST_WEIGHT = 0.1  # of a successor before rows are normalised: bounds the diameter
SEPARATION = Interval(0.0, 2.0, low_open=True)


def garnet(
    states: int = 8,
    actions: int = 2,
    branching: int = 3,
    members: int = 3,
    *,
    separation: float = 0.5,
    seed: int = 0,
) -> SimulatorClass:
    """Return a random class whose separation (theory 2.7) is the one asked for."""
    digits, levels = _checked_code(
        states, actions, branching, members, separation=separation, seed=seed
    )
    rng = np.random.default_rng(seed)
    supports, cycle_rows = _supports(rng, states, actions, branching)
    values = _weights(rng, members, states * actions, branching, separation)
    free = np.setdiff1d(np.arange(states * actions), cycle_rows)
    if digits:
        chosen = rng.choice(free, digits, replace=False)
        values[:, chosen] = _code(members, digits, levels, branching, separation)
    rewards = rng.random((states, actions))
    model, row, slot = np.indices(values.shape).reshape(3, -1)
    edges = np.column_stack([model, row // actions, row % actions, supports[row, slot]])
    how = (
        f"code rows: {digits}, levels: {levels}"
        if digits
        else "one model, no pair to separate"
    )
    return class_from_edges(
        edges,
        values.ravel(),
        rewards,
        shape=(members, states, actions),
        details=Details(
            notes=(f"seed {seed}; separation {separation:g} met exactly: {how}",)
        ),
    )


def garnet_known(
    states: int = 8,
    actions: int = 2,
    branching: int = 3,
    members: int = 3,
    *,
    separation: float = 0.5,
    seed: int = 0,
) -> Known:
    """Return the separation, which is the one asked for."""
    _checked_code(states, actions, branching, members, separation=separation, seed=seed)
    return Known(separation=float(separation) if members > 1 else 2.0)


def _checked_code(
    states: int,
    actions: int,
    branching: int,
    members: int,
    *,
    separation: float,
    seed: int,
) -> tuple[int, int]:
    """Return how many code rows, with how many levels, tell the models apart."""
    checked_whole("states", states, least=2)
    checked_whole("actions", actions, most=10_000)
    checked_whole("branching", branching, most=states)
    checked_whole("members", members, most=MOST_MEMBERS)
    checked_whole("seed", seed, least=0, most=2**63 - 1)
    checked_number("separation", separation, SEPARATION)
    check_volume("garnet", members * states * actions * branching)
    if members == 1:
        return 0, 1
    if branching < 2 or actions < 2:
        raise InvalidInstance(
            f"{members} models with branching {branching} and {actions} actions "
            "cannot be kept apart",
            hint="several models need branching >= 2 and actions >= 2",
        )
    levels = 1 + floor(2.0 / separation + 1e-9)
    digits, words = 1, levels
    while words < members:
        digits, words = digits + 1, words * levels
    room = states * (actions - 1)
    if digits > room:
        raise InvalidInstance(
            f"{members} models at separation {separation:g} need {digits} code rows, "
            f"{room} are free",
            hint="ask for fewer models, less separation, or more states or actions",
        )
    return digits, levels


def _supports(
    rng: np.random.Generator, states: int, actions: int, branching: int
) -> tuple[OffsetArray, OffsetArray]:
    """Return successors (S * A, branching) and the S rows that contain the cycle."""
    rows = states * actions
    supports = np.empty((rows, branching), np.int64)
    for row in range(rows):
        supports[row] = rng.choice(states, branching, replace=False)
    order = rng.permutation(states)
    after = np.empty(states, np.int64)
    after[order] = np.roll(order, -1)
    cycle_rows = np.arange(states) * actions + rng.integers(actions, size=states)
    present = (supports[cycle_rows] == after[:, None]).any(axis=1)
    supports[cycle_rows[~present], 0] = after[~present]
    return supports, cycle_rows


def _weights(
    rng: np.random.Generator, members: int, rows: int, branching: int, separation: float
) -> FloatArray:
    """Return rows (M, S * A, branching) at most `separation` apart."""
    own = rng.uniform(LEAST_WEIGHT, 1.0, (members + 1, rows, branching))
    own /= own.sum(axis=2, keepdims=True)
    share = separation / 2.0 if members > 1 else 1.0
    mixed: FloatArray = (1.0 - share) * own[:1] + share * own[1:]
    return mixed


def _code(
    members: int, digits: int, levels: int, branching: int, separation: float
) -> FloatArray:
    """Return the code rows (M, digits, branching): two successors share the mass."""
    numbers = np.arange(members)[:, None] // levels ** np.arange(digits)[None, :]
    first = np.minimum((numbers % levels) * separation / 2.0, 1.0)
    rows: FloatArray = np.zeros((members, digits, branching))
    rows[..., 0], rows[..., 1] = first, 1.0 - first
    return rows
