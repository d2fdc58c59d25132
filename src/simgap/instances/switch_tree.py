"""The class behind Theorem 3: k switches in a tree, one better pull per model.

Zero-states 0..k-1 form an A'-ary heap (children A'j+1..A'j+A', parent
floor((j-1)/A')), one-states k..2k-1 hang below them. In zero-state j there are A'
pulls (to one-state k+j with probability delta, or delta + e for the one pair of the
model, else stay), A' moves to children (stay if absent) and one to the parent (stay at
the root). One-states pay 1 and fall back with probability delta.

The sketch in the paper takes delta = 1/D, which gives a larger diameter than D; the
exact relation is D = 2/delta + td for k >= 2, with td the largest tree distance
(theory 4.11, errata E34). The number of pairs k A' bounds the class (errata E35).
"""

from __future__ import annotations

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import (
    MOST_MEMBERS,
    POSITIVE_PROBABILITY,
    PROBABILITY,
    Interval,
    check_volume,
    checked_number,
    checked_remainder,
    checked_whole,
)
from simgap.instances.known import Known
from simgap.instances.switch import switch_value
from simgap.mdp import Details, SimulatorClass, class_from_edges

DEFAULT_DELTA = 0.1
MOST_SWITCHES = 100_000


def switch_tree(
    k: int = 4,
    arms: int = 2,
    e: float = 0.05,
    members: int = 2,
    *,
    delta: float | None = None,
    diameter: float | None = None,
    null: bool = False,
) -> SimulatorClass:
    """Return the lower-bound class of theory 4.11; arms is A'.

    Model m has its better pull at zero-state m // A', arm m % A'. `null` adds the
    model without one. Give `delta`, or a `diameter` to derive it from.
    """
    k, arms, e, members, delta = _checked(
        k, arms, e, members, delta=delta, diameter=diameter
    )
    n_states, n_actions, models = 2 * k, 2 * arms + 1, members + int(null)
    check_volume("switch_tree", models * n_states * n_actions * 2)
    base = _plain_edges(k, arms, delta)
    edges = np.concatenate([_of_model(base[0], model) for model in range(models)])
    weights = np.tile(base[1], models)
    pulls = (edges[:, 1] < k) & (edges[:, 2] < arms)
    pair = edges[:, 1] * arms + edges[:, 2]
    better = pulls & (pair == edges[:, 0]) & (edges[:, 0] < members)
    up = edges[:, 3] >= k
    weights[better & up] = delta + e
    weights[better & ~up] = checked_remainder("delta + e", delta, e)
    rewards = np.zeros((n_states, n_actions))
    rewards[k:] = 1.0
    names = [f"pair {m // arms}.{m % arms}" for m in range(members)]
    return class_from_edges(
        edges,
        weights,
        rewards,
        shape=(models, n_states, n_actions),
        details=Details(
            model_names=names + ["null"] * null,
            state_names=[f"zero {j}" for j in range(k)]
            + [f"one {j}" for j in range(k)],
            action_names=[
                *(f"pull {a}" for a in range(arms)),
                *(f"child {a}" for a in range(arms)),
                "parent",
            ],
            notes=(f"delta = {delta:.9g}, e = {e:.9g}",),
        ),
    )


def switch_tree_known(
    k: int = 4,
    arms: int = 2,
    e: float = 0.05,
    members: int = 2,
    *,
    delta: float | None = None,
    diameter: float | None = None,
    null: bool = False,
) -> Known:
    """Return gain (delta+e)/(2 delta+e), D = 2/delta + td and the bias (theory 4.11).

    With rho > 1/2 no pull but the better one is worth its time, so l falls by rho per
    move away from it. In the null model the bias is not unique. V*_1 is known where
    the better pull is at the root, and in the null model.
    """
    k, arms, e, members, delta = _checked(
        k, arms, e, members, delta=delta, diameter=diameter
    )
    models = members + int(null)
    extra = np.array([e] * members + [0.0] * null)
    homes = np.arange(members) // arms
    gain = (delta + extra) / (2.0 * delta + extra)
    bias = np.full((models, 2 * k), np.nan)
    if e > 0.0 or k == 1:
        for m in range(models if k == 1 else members):
            away = _distances(k, arms, int(homes[m]) if m < members else 0)
            bias[m, :k] = gain[m] * (away.max() - away)
            bias[m, k:] = bias[m, :k] + 1.0 / (2.0 * delta + extra[m])

    def value(horizon: int) -> FloatArray:
        at_root = switch_value(np.full(models, delta), extra, horizon)
        at_root[:members][(homes != 0) & (extra[:members] > 0.0)] = np.nan
        return at_root

    return Known(
        gain=gain,
        bias=bias,
        diameter=np.full(models, 1.0 / delta if k == 1 else 2.0 / delta + _td(k, arms)),
        separation=2.0 * e if models > 1 else 2.0,
        value=value,
    )


def delta_for_diameter(k: int, arms: int, diameter: float) -> float:
    """Return delta = 2 / (D - td), or 1/D for k = 1: it meets D (theory 4.11)."""
    k = checked_whole("k", k, most=MOST_SWITCHES)
    arms = checked_whole("arms", arms)
    least = 1.0 if k == 1 else 2.0 + _td(k, arms)
    given = checked_number("diameter", diameter, Interval(least))
    return 1.0 / given if k == 1 else 2.0 / (given - _td(k, arms))


def _checked(
    k: int,
    arms: int,
    e: float,
    members: int,
    *,
    delta: float | None,
    diameter: float | None,
) -> tuple[int, int, float, int, float]:
    k = checked_whole("k", k, most=MOST_SWITCHES)
    arms = checked_whole("arms", arms, most=1_000)
    e = checked_number("e", e, PROBABILITY)
    members = checked_whole("members", members, most=MOST_MEMBERS)
    if members > k * arms:
        raise InvalidInstance(
            f"members is {members}, but k * arms = {k * arms} pairs exist",
            hint="each model has its own pair: raise k or arms (errata E35)",
        )
    if delta is not None and diameter is not None:
        raise InvalidInstance(
            f"delta is {delta} and diameter is {diameter}",
            hint="give one of them; the other follows",
        )
    if diameter is not None:
        delta = delta_for_diameter(k, arms, diameter)
    delta = DEFAULT_DELTA if delta is None else delta
    delta = checked_number("delta", delta, POSITIVE_PROBABILITY)
    checked_remainder("delta + e", delta, e)
    return k, arms, e, members, delta


def _plain_edges(k: int, arms: int, delta: float) -> tuple[OffsetArray, FloatArray]:
    """Return edges (n, 3) of (s, a, s') and their probabilities in the null model."""
    zero = np.repeat(np.arange(k), arms)
    arm = np.tile(np.arange(arms), k)
    child = arms * zero + 1 + arm
    root_up = np.arange(k)
    one, falls = np.repeat(np.arange(k, 2 * k), 2 * arms + 1), 2 * arms + 1
    action = np.tile(np.arange(falls), k)
    blocks = [
        (zero, arm, zero + k, delta),
        (zero, arm, zero, 1.0 - delta),
        (zero, arms + arm, np.where(child < k, child, zero), 1.0),
        (root_up, np.full(k, 2 * arms), np.maximum((root_up - 1) // arms, 0), 1.0),
        (one, action, one - k, delta),
        (one, action, one, 1.0 - delta),
    ]
    edges = np.concatenate([np.column_stack(block[:3]) for block in blocks])
    weights = np.concatenate([np.full(len(s), weight) for s, _, _, weight in blocks])
    return edges.astype(np.int64), weights


def _of_model(edges: OffsetArray, model: int) -> OffsetArray:
    numbered: OffsetArray = np.column_stack(
        [np.full(len(edges), model, np.int64), edges]
    )
    return numbered


def _distances(k: int, arms: int, home: int) -> OffsetArray:
    """Return how many moves every zero-state is away from one of them."""
    ancestors = {}  # of home -> moves from home
    at, moves = home, 0
    while True:
        ancestors[at] = moves
        if at == 0:
            break
        at, moves = (at - 1) // arms, moves + 1
    away = np.zeros(k, np.int64)
    for j in range(k):  # parents come before children
        away[j] = ancestors[j] if j in ancestors else away[(j - 1) // arms] + 1
    return away


def _td(k: int, arms: int) -> int:
    """Return the largest distance between two zero-states (two sweeps)."""
    far = int(np.argmax(_distances(k, arms, 0)))
    return int(_distances(k, arms, far).max())
