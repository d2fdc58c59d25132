"""Ends of audit, blame and width enclose the truth: in Fractions, without tolerance."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from simgap.answers.audit.audit import audit
from simgap.answers.blame.blame import blame
from simgap.answers.stakes import stakes
from simgap.answers.width.width import width
from simgap.intervals import Certified, Interval
from simgap.mdp import LatentMDP
from tests.answers.test_audit import random_gap
from tests.answers.width_cases import kept_by
from tests.reference.blame import hidden_game
from tests.reference.enclosure import random_problem
from tests.reference.latent import exact_gap, rational
from tests.reference.shapley import shapley_by_orders
from tests.reference.width import restricted, with_parameters

GRID = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))


def missed(what: str, ends: Interval | None, truth: Fraction) -> list[str]:
    assert isinstance(ends, Certified)
    low, high = ends.ends
    inside = Fraction(low) <= truth <= Fraction(high)
    return [] if inside else [f"{what}: {low!r} {float(truth)!r} {high!r}"]


def problems(seed: int, count: int) -> Iterator[tuple[LatentMDP, int]]:
    """Yield problems of four models over two parameters, all of which can be real."""
    rng = np.random.default_rng([seed, 31])
    while count:
        latent, horizon = random_problem(rng, most_histories=40)
        if len(latent.simulators) == 4 and latent.prior.all():
            count -= 1
            yield with_parameters(latent, ("one", "two"), GRID), horizon


def misses(latent: LatentMDP, horizon: int) -> list[str]:
    exact, game = rational(latent), hidden_game(latent, horizon)
    whole, found = game[-1], []
    told = blame(latent, horizon)
    found += missed("blame whole", told.whole, whole)
    for at, (part, share) in enumerate(
        zip(told.parameters, shapley_by_orders(2, game), strict=True)
    ):
        found += missed("share", part.share, share)
        found += missed("alone", part.alone, game[1 << at])
        found += missed("information", part.information, whole - game[3 ^ 1 << at])
    random = random_gap(exact, horizon)
    found += missed("stake", stakes(latent, horizon).average, random)
    lost = audit(latent, horizon)
    found += missed("audit", lost.average_gap, whole)
    if random and lost.relative_gap is not None:
        found += missed("relative", lost.relative_gap, whole / random)
    curve = width(latent, horizon, "one")
    for row in curve.widths:
        kept = np.flatnonzero(kept_by(curve, row)).tolist()
        inside = exact_gap(restricted(latent, kept), horizon)
        found += missed("inside", row.inside, inside)
    return found


def test_no_end_misses_the_truth() -> None:
    for latent, horizon in problems(0, 12):
        assert misses(latent, horizon) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 6))
def test_no_end_misses_the_truth_in_many_problems(seed: int) -> None:
    for latent, horizon in problems(seed, 60):
        assert misses(latent, horizon) == []
