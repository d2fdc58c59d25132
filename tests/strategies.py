"""Random models for hypothesis: exact rows k / n with zeros and ties, small on purpose.

`STEADY` makes a run repeat itself: the same examples on every machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hypothesis import HealthCheck, settings, strategies as st

from simgap.mdp import Details, SimulatorClass, class_from_models, mdp_from_arrays
from simgap.mdp.build import IndexOrder
from tests.reference.rational import RationalMDP, frozen

STEADY = settings(
    deadline=None,
    derandomize=True,
    max_examples=40,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

DYADIC = (2, 8, 16)  # rows k/n that floats hold exactly
ANY = (2, 3, 10, 12, 16)


@st.composite
def rows(
    draw: st.DrawFn, states: int, total: int, floor: Sequence[int]
) -> list[Fraction]:
    """A law k / total with at least `floor[s]` parts in state s."""
    free = total - sum(floor)
    cuts = sorted(
        draw(st.lists(st.integers(0, free), min_size=states - 1, max_size=states - 1))
    )
    edges = [0, *cuts, free]
    parts = [high - low for low, high in pairwise(edges)]
    return [
        Fraction(part + least, total) for part, least in zip(parts, floor, strict=True)
    ]


@st.composite
def rational_models(
    draw: st.DrawFn,
    *,
    shape: tuple[int, int] | None = None,
    most: tuple[int, int] = (4, 3),
    denominators: Sequence[int] = ANY,
    communicating: bool = True,
) -> RationalMDP:
    """A model of at most `most` (states, actions), or of exactly `shape`.

    A communicating one can step from s to s + 1 under action 0.
    """
    S, A = shape or (draw(st.integers(1, most[0])), draw(st.integers(1, most[1])))
    total = draw(st.sampled_from(tuple(denominators)))
    reward = st.sampled_from([Fraction(k, 8) for k in (0, 0, 1, 3, 4, 8)])
    kernel, rewards = [], []
    for s in range(S):
        pair = []
        for a in range(A):
            floor = [0] * S
            if communicating and a == 0:
                floor[(s + 1) % S] = 1
            pair.append(draw(rows(S, total, floor)))
        kernel.append(pair)
        rewards.append([draw(reward) for _ in range(A)])
    return frozen(kernel, rewards)


@st.composite
def rational_classes(
    draw: st.DrawFn,
    *,
    members: tuple[int, int] = (1, 4),
    most: tuple[int, int] = (4, 3),
    denominators: Sequence[int] = ANY,
    communicating: bool = True,
) -> list[RationalMDP]:
    """Models over the same states and actions; half the time rewards are shared."""
    shape = (draw(st.integers(1, most[0])), draw(st.integers(1, most[1])))
    one = rational_models(
        shape=shape, denominators=denominators, communicating=communicating
    )
    models = draw(st.lists(one, min_size=members[0], max_size=members[1]))
    if draw(st.booleans()):
        models = [RationalMDP(m.transitions, models[0].rewards) for m in models]
    return models


@st.composite
def start_laws(draw: st.DrawFn, states: int) -> list[float]:
    """A distribution of the first state, in sixteenths."""
    return [float(p) for p in draw(rows(states, 16, [0] * states))]


def as_class(models: Sequence[RationalMDP], start: object = 0) -> SimulatorClass:
    """Return rational models as one stored class."""
    built = []
    for model in models:
        P, R = model.arrays()
        details = Details(start=start)
        built.append(
            mdp_from_arrays(P, R, order=IndexOrder.STATE_ACTION, details=details)
        )
    return class_from_models(built)
