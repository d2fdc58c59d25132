"""Linear losses without memory or randomization, against all policies, in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest

from simgap.bounds.lower import memoryless_lower, untrained_lower
from simgap.errors import InvalidArgument

Arm = tuple[Fraction, ...]


def best_of_memoryless(means: Sequence[Arm], pulls: int) -> Fraction:
    """Return the least average gap of all tables by pull and last result."""
    models, arms = len(means), len(means[0])
    best = None
    for table in product(range(arms), repeat=2 * pulls - 1):
        lost = Fraction(0)
        for own in means:
            won = Fraction(0)  # the chance that the last pull won
            for pull in range(pulls):
                at = (0, 0) if pull == 0 else (2 * pull - 1, 2 * pull)
                chances = (1 - won, won)
                lost += sum(
                    p * (max(own) - own[table[k]])
                    for p, k in zip(chances, at, strict=True)
                )
                won = sum(
                    p * own[table[k]] for p, k in zip(chances, at, strict=True)
                ) + Fraction(0)
        best = lost if best is None else min(best, lost)
    assert best is not None
    return best / models


def least_of_all(
    means: Sequence[Arm], weights: tuple[Fraction, ...], pulls: int
) -> Fraction:
    """Return the least weighted loss of all policies, with memory, by recursion."""
    if pulls == 0 or not any(weights):
        return Fraction(0)
    found = []
    for arm in range(len(means[0])):
        now = sum(
            (w * (max(own) - own[arm]) for w, own in zip(weights, means, strict=True)),
            Fraction(0),
        )
        win = tuple(w * own[arm] for w, own in zip(weights, means, strict=True))
        fail = tuple(w - v for w, v in zip(weights, win, strict=True))
        later = least_of_all(means, win, pulls - 1) + least_of_all(
            means, fail, pulls - 1
        )
        found.append(now + later)
    return min(found)


@pytest.mark.parametrize(
    ("members", "other", "better"),
    [(2, "1/4", "1/2"), (2, "0", "1"), (3, "1/4", "1/2")],
)
@pytest.mark.parametrize("pulls", [1, 2, 3, 4])
def test_no_table_loses_less_than_the_bound(
    members: int, other: str, better: str, pulls: int
) -> None:
    low, g = Fraction(other), Fraction(better)
    means = [
        tuple(low + g * (arm == model) for arm in range(members))
        for model in range(members)
    ]
    bound = memoryless_lower(horizon=pulls + 1, members=members, better=float(g))
    assert Fraction(bound.value) <= best_of_memoryless(means, pulls) + Fraction(
        1, 10**12
    )
    if (members, other) == (2, "1/4"):
        assert Fraction(bound.value) >= Fraction(pulls, 8)  # theory 4.19


def test_memory_is_what_makes_the_difference() -> None:
    """The control: with memory less is lost than every policy without it loses."""
    quarter, half = Fraction(1, 4), Fraction(1, 2)
    means = [(quarter + half, quarter), (quarter, quarter + half)]
    pulls = 8
    with_memory = least_of_all(means, (half, half), pulls)
    bound = memoryless_lower(horizon=pulls + 1, members=2, better=0.5)
    assert with_memory < Fraction(bound.value)


@pytest.mark.parametrize("pulls", [1, 3, 6, 9])
def test_every_policy_is_good_in_the_first_model_or_bad_in_the_second(
    pulls: int,
) -> None:
    """n gap_1 + gap_2 >= n/4, with equality for the plan of the first model."""
    means = [
        (Fraction(1, 2), Fraction(1, 4)),
        (Fraction(1, 2), Fraction(3, 4)),
    ]
    least = least_of_all(means, (Fraction(pulls), Fraction(1)), pulls)
    assert least == Fraction(pulls, 4)
    assert untrained_lower(horizon=pulls + 1).value == pulls / 4


@pytest.mark.parametrize("pulls", [2, 4])
def test_a_model_left_out_of_three_is_not_found(pulls: int) -> None:
    """Trained on models 0 and 1: the arm of model 2 is 1/4 in both (theory 4.20)."""
    half, low, high = Fraction(1, 2), Fraction(1, 4), Fraction(3, 4)
    means = [(half, low, low), (half, high, low), (half, low, high)]
    best = least_of_all(means[:2], (half, half), pulls)
    for price in (Fraction(1, 100), Fraction(1, 4 * pulls)):
        # gap_2 >= (1 - 8 excess) n / 4: worth no excess at a price up to 1/(2 n)
        weights = (half, half, price)
        least = least_of_all(means, weights, pulls)
        assert least - best >= price * Fraction(pulls, 4)


def test_bounds_say_nothing_where_nothing_is_promised() -> None:
    assert memoryless_lower(horizon=50, members=2, better=1.0).value == 0.5
    assert memoryless_lower(horizon=50, members=1, better=0.5).unmet
    assert untrained_lower(horizon=50, excess=0.25).value == 0.0
    with pytest.raises(InvalidArgument):
        untrained_lower(horizon=50, weight=0.0)
