"""Comparisons of two models: sample sizes, zero chances, and exact errors."""

from __future__ import annotations

from itertools import product
from math import comb, inf, log

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import binom

from simgap.arrays import OffsetArray
from simgap.base_policies.improved.evidence import Evidence, evidence_of
from simgap.base_policies.paper.comparison import (
    Comparison,
    Rounds,
    comparison_rounds,
    edge_separation,
    log_likelihood,
    log_ratio,
)
from simgap.bounds.comparisons import Bhattacharyya, Chernoff, PaperSamples
from simgap.complexity import separation
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.simulation.observed import RewardSignal, observed_class
from tests.strategies import STEADY, as_class, rational_classes


def coins(*means: float) -> SimulatorClass:
    """Return bandits as two-state models: heads leads to state 1 (theory 4.9)."""
    P = np.array([[[[1.0 - p, p]]] * 2 for p in means])
    return class_from_arrays(P, np.array([[0.0], [1.0]]))


def laws(*rows: tuple[float, ...]) -> tuple[Evidence, range]:
    """Return the evidence of one row of next states per model."""
    P = np.array([[[row]] + [[row]] * (len(row) - 1) for row in rows])
    observed = observed_class(class_from_arrays(P, np.zeros((len(rows[0]), 1))))
    return evidence_of(observed), range(len(rows[0]))


def exact_error(rounds: Rounds, worlds: SimulatorClass, truth: int, n: int) -> float:
    """Return the chance that n tosses of the true coin drop it, tie included."""
    observed = observed_class(worlds)
    evidence, other = evidence_of(observed), 1 - truth
    row = int(rounds.row[0, 1])
    edges = range(int(observed.indptr[row]), int(observed.indptr[row + 1]))
    chance = float(observed.chances[truth, edges[1]])
    weights = binom.pmf(np.arange(n + 1), n, chance)
    wrong = [
        log_ratio(evidence, other, truth, edges, (n - k, k)) >= 0.0
        for k in range(n + 1)
    ]
    return float(weights[wrong].sum())


@pytest.mark.parametrize(
    ("means", "members", "horizon", "n0", "by_affinity", "error"),
    [
        ((0.5, 0.6), 4, 100, 1199, None, 2.620e-4),
        ((0.1, 0.2), 4, 100, 1199, 594, 3.357e-7),
        ((0.35, 0.25), 2, 10, 600, 500, 4.163e-3),
    ],
)
def test_rows_29_to_31_errors_of_the_ratio_stay_below_their_bounds(
    means: tuple[float, float],
    members: int,
    horizon: int,
    n0: int,
    by_affinity: int | None,
    error: float,
) -> None:
    worlds = coins(*means)
    observed = observed_class(worlds)
    failure = 2.0 / (members * horizon)  # two models here, `members` in the table
    chernoff, affinity = (
        comparison_rounds(observed, kind, failure=failure)
        for kind in (Comparison.CHERNOFF, Comparison.BHATTACHARYYA)
    )
    assert chernoff.odds == pytest.approx(members * horizon)
    assert chernoff.samples[0, 1] == n0
    if by_affinity is not None:
        assert affinity.samples[0, 1] == by_affinity
    errors = [exact_error(chernoff, worlds, truth, n0) for truth in (0, 1)]
    # print has the error of one direction
    assert min(abs(each - error) for each in errors) < 0.001 * error
    bound = 1.0 / (members * horizon)
    for truth in (0, 1):
        for rounds in (chernoff, affinity):
            n = int(rounds.samples[0, 1])
            exact = exact_error(rounds, worlds, truth, n)
            coefficient = float(rounds.separation.affinity[0, 1]) ** n
            delta = rounds.separation.value
            assert exact <= coefficient * (1.0 + 1e-9) <= bound * (1.0 + 1e-9)
            assert coefficient <= np.exp(-n * delta**2 / 8.0) * (1.0 + 1e-9)


def test_too_few_samples_break_the_bound() -> None:
    """The control of the rows above: a tenth of the samples is not enough."""
    worlds = coins(0.35, 0.25)
    rounds = comparison_rounds(observed_class(worlds), Comparison.CHERNOFF, failure=0.1)
    assert max(exact_error(rounds, worlds, truth, 60) for truth in (0, 1)) > 0.05


def test_exact_errors_of_three_outcomes_stay_below_the_coefficient() -> None:
    """Multinomial counts, all of them: P(ratio >= 1) <= BC^n."""
    p, q = (0.5, 0.3, 0.2), (0.2, 0.3, 0.5)
    evidence, edges = laws(p, q)
    coefficient = sum((x * y) ** 0.5 for x, y in zip(p, q, strict=True))
    for n in (1, 4, 9, 16):
        total = 0.0
        for a, b in product(range(n + 1), repeat=2):
            c = n - a - b
            if c >= 0 and log_ratio(evidence, 1, 0, edges, (a, b, c)) >= 0.0:
                ways = comb(n, a) * comb(n - a, b)
                total += ways * p[0] ** a * p[1] ** b * p[2] ** c
        assert total <= coefficient**n * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((1, 0, 0, 0), log(0.25 / 0.5)),
        ((0, 1, 0, 0), -inf),  # impossible in the first alone
        ((0, 0, 1, 0), inf),  # in the second alone
        ((0, 0, 0, 1), 0.0),  # in both: says nothing
        ((9, 1, 0, 5), -inf),  # excluded whatever follows
        ((5, 0, 1, 0), inf),
        ((2, 1, 1, 0), 2 * log(0.25 / 0.5)),  # both are excluded: either may go
        ((2, 1, 2, 0), inf),
        ((0, 0, 0, 0), 0.0),  # a tie: the second goes
    ],
)
def test_impossible_steps_come_before_all_others(
    counts: tuple[int, ...], expected: float
) -> None:
    evidence, edges = laws(
        (0.25, 0.0, 0.75, 0.0), (0.5, 0.5, 0.0, 0.0), (0.25, 0.25, 0.25, 0.25)
    )
    assert log_ratio(evidence, 0, 1, edges, counts) == pytest.approx(expected)
    assert log_ratio(evidence, 1, 0, edges, counts) == pytest.approx(-expected)
    # the same from two likelihoods, edge by edge of the first state's row
    places = [int(evidence.place[e]) for e in edges]
    spread = [0] * evidence.edges.size
    for place, n in zip(places, counts, strict=True):
        spread[place] = n
    one, other = (log_likelihood(evidence, m, 0, tuple(spread)) for m in (0, 1))
    if one[0] != other[0]:
        assert expected == (-inf if one[0] > other[0] else inf)
    elif one[0] == 0:
        assert one[1] - other[1] == pytest.approx(expected)


@STEADY
@given(rational_classes(members=(2, 4)))
def test_sample_sizes_are_those_of_the_theorems(models: list[object]) -> None:
    """Two routes: rooms that do not know each other."""
    worlds = as_class(models)  # type: ignore[arg-type]
    measured = separation(worlds)
    if measured.value == 0.0:
        return
    members, horizon = len(worlds), 50
    observed = observed_class(worlds)

    def samples(kind: Comparison) -> OffsetArray:
        found = comparison_rounds(observed, kind, failure=1.0 / horizon)
        return np.asarray(found.samples[~np.eye(members, dtype=np.bool_)])

    apart = measured.value
    chernoff = Chernoff(apart).samples(horizon, members)
    assert (samples(Comparison.CHERNOFF) == chernoff).all()
    hardest = float(measured.exponent[~np.eye(members, dtype=np.bool_)].min())
    affinity = samples(Comparison.BHATTACHARYYA)
    assert affinity.max() == Bhattacharyya(hardest).samples(horizon, members)
    assert (affinity <= chernoff).all()
    paper = PaperSamples(apart, worlds.n_states).samples(horizon, members)
    assert (samples(Comparison.PAPER) == paper).all()
    if worlds.n_states >= 2:
        assert paper >= chernoff  # c0 = 67
    assert (samples(Comparison.TRUNCATED_SPRT) >= chernoff).all()


@STEADY
@given(rational_classes(members=(2, 4)))
def test_separation_of_what_is_seen_is_that_of_kernels_if_rewards_are_not(
    models: list[object],
) -> None:
    worlds = as_class(models)  # type: ignore[arg-type]
    ours, theirs = edge_separation(observed_class(worlds)), separation(worlds)
    for name in ("distance", "distance_row", "hellinger", "hellinger_row", "affinity"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    seen = edge_separation(observed_class(worlds, RewardSignal.SEEN))
    assert (seen.distance >= ours.distance - 1e-12).all()
    random = edge_separation(observed_class(worlds, RewardSignal.RANDOM))
    assert (random.distance >= ours.distance - 1e-12).all()
    assert (random.distance <= seen.distance + 1e-12).all()


def test_rewards_that_are_drawn_separate_by_their_means() -> None:
    """Theory 7.2: the joint law of (r, s'), here of r alone."""
    worlds = class_from_arrays(
        np.ones((2, 1, 1, 1)), np.array([0.5, 0.6]).reshape(2, 1, 1)
    )
    found = edge_separation(observed_class(worlds, RewardSignal.RANDOM))
    assert found.value == pytest.approx(0.2)
    assert edge_separation(observed_class(worlds, RewardSignal.SEEN)).value == 2.0
    assert edge_separation(observed_class(worlds)).value == 0.0


def test_the_published_number_of_samples_on_a_four_state_river() -> None:
    """Theory row 39: delta = .4, n0 = 435 at H = 2000."""
    rivers = riverswim(4, (0.35, 0.15, 0.75))
    rounds = comparison_rounds(
        observed_class(rivers), Comparison.CHERNOFF, failure=1.0 / 2000
    )
    assert rounds.separation.value == pytest.approx(0.4)
    assert rounds.samples[0, 1] == 435
    assert rounds.guarantee == pytest.approx(2.0 / 6000.0)
