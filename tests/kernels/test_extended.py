"""Optimistic planning against a plain twin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from simgap._kernels.solving.extended_values import (
    Chart,
    Sheet,
    ball_radius,
    count_visits,
    empty_plausible,
    empty_sheet,
    extended_plan,
    interval_radius,
    set_plausible,
)
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from tests.reference import extended as twin


class Planned(NamedTuple):
    """What one call of the kernel left behind."""

    sweeps: int
    values: FloatArray
    policy: IndexArray
    sheet: Sheet


def chart_of(counts: OffsetArray, known: BoolArray) -> tuple[Chart, OffsetArray]:
    """Return the edges where `known` (S A, S) is true, and the counts on them."""
    rows, states = np.nonzero(known)
    n_rows, n_states = counts.shape
    chart = Chart(
        indptr=np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_rows))]),
        row=rows,
        into=np.concatenate([[0], np.cumsum(np.bincount(states, minlength=n_states))]),
        arriving=np.argsort(states, kind="stable"),
    )
    return chart, counts[rows, states]


def planned(
    kind: str,
    counts: OffsetArray,
    rewards: FloatArray,
    *,
    step: int = 100,
    delta: float = 0.1,
    factor: float = 1.0,
    accuracy: float = 1e-9,
    least_visited: bool = False,
    most_sweeps: int = 100_000,
    values: FloatArray | None = None,
    known: BoolArray | None = None,
) -> Planned:
    """Plan for counts (S A, S) and rewards (S A,)."""
    n_rows, n_states = counts.shape
    chart, on_edges = chart_of(counts, counts > 0 if known is None else known)
    plausible, sheet = (
        empty_plausible(n_rows, n_states, on_edges.size),
        empty_sheet(n_rows, n_states),
    )
    count_visits(chart, on_edges, sheet.visits)
    np.testing.assert_array_equal(sheet.visits, counts.sum(axis=1))
    set_plausible(
        kind == "ball", chart, on_edges, sheet.visits, step, delta, factor, plausible
    )
    found = np.zeros(n_states) if values is None else np.array(values)
    policy = np.zeros(n_states, np.int32)
    sweeps = extended_plan(
        kind == "ball",
        plausible,
        rewards,
        float(np.ptp(rewards)),
        accuracy,
        least_visited,
        most_sweeps,
        found,
        policy,
        sheet,
    )
    return Planned(sweeps, found, policy, sheet)


def some_counts(
    rng: np.random.Generator, states: int, actions: int, most: int
) -> OffsetArray:
    """Return counts (S A, S): rows of all sizes, sparse, some empty."""
    P = rng.dirichlet(np.full(states, 0.4), size=states * actions)
    visits = rng.integers(0, most, size=states * actions)
    visits[rng.random(visits.size) < 0.2] = 0
    return np.array(
        [rng.multinomial(n, p) for n, p in zip(visits, P, strict=True)], np.int64
    )


@pytest.mark.parametrize("kind", ["ball", "intervals"])
@pytest.mark.parametrize("seed", range(6))
def test_plans_agree_with_the_twin_and_keep_their_certificate(
    kind: str, seed: int
) -> None:
    rng = np.random.default_rng(100 + seed)
    states, actions = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    counts = some_counts(rng, states, actions, 3000)
    rewards = rng.integers(0, 5, size=(states, actions)) / 4.0
    factor, step = (1.0, 0.2, 0.02)[seed % 3], 4000
    inner = twin.plausible_maximum(kind, counts.tolist(), actions, step, 0.1, factor)
    low, high = twin.extended_gain(inner, rewards.tolist(), 1e-9)
    for accuracy in (1e-9, 1e-2):
        for values in (None, 10.0 * rng.random(states)):  # any start will do
            found = planned(
                kind, counts, rewards.reshape(-1), step=step, factor=factor,
                accuracy=accuracy, values=values,
            )  # fmt: skip
            assert found.sweeps >= 1
            bottom, top = found.sheet.bracket
            assert (
                top - bottom < accuracy * max(np.ptp(rewards), 1e-12) or bottom == top
            )
            assert bottom <= high + 1e-12
            assert top >= low - 1e-12
            earned, _ = twin.extended_gain(
                inner, rewards.tolist(), 1e-9, found.policy.tolist()
            )
            assert earned >= bottom - 1e-8


def test_radii_are_the_published_ones() -> None:
    for visits in (0, 1, 7, 10**6):
        for chance in (0.0, 0.3, 1.0):
            assert ball_radius(6, 2, 99, 0.01, visits) == pytest.approx(
                twin.ball_radius(6, 2, 99, 0.01, visits), rel=1e-14
            )
            assert interval_radius(6, 2, 0.01, visits, chance) == pytest.approx(
                twin.interval_radius(6, 2, 0.01, visits, chance), rel=1e-14
            )
    # sqrt(14 * 6 * log(400) / 9), 2 sqrt(.21 log(64800) / 9) + 6 log(64800) / 9
    assert ball_radius(6, 2, 10, 0.1, 9) == pytest.approx(7.477990, rel=1e-6)
    assert interval_radius(6, 2, 0.01, 9, 0.3) == pytest.approx(8.402921, rel=1e-6)
