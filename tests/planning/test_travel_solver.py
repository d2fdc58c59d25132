"""Parts of the travel solver: moved bounds, matrix products, elimination, patience."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from simgap._kernels.time_limit import time_limited
from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import NotSolved, OutOfTime
from simgap.instances import adverse, garnet, nodrift, riverswim
from simgap.mdp import IndexOrder, TabularMDP, mdp_from_arrays
from simgap.planning import all_travel_times, travel_times
from simgap.planning.policy_chain import Moves, elimination_order, paths_to
from simgap.planning.travel_exact import _bracket, exact_travel
from simgap.planning.travel_solver import Solved, TravelSolver, _columns
from tests.reference import travel as twin
from tests.reference.kernel_rows import travel_bounds_hold
from tests.reference.rational import dense_model, slow_model, sparse_model

EPS = Fraction(1, 2**52)


def solver_of(model: TabularMDP, tolerance: float) -> TravelSolver:
    kernel = model.transitions
    return TravelSolver(
        kernel.indptr, kernel.indices, kernel.values[0], kernel.n_actions, tolerance
    )


def moves_of(model: TabularMDP) -> Moves:
    kernel = model.transitions
    return Moves.of(kernel.indptr, kernel.indices, kernel.values[0], kernel.n_actions)


# Times that are moved to the middle of their bounds


def test_times_in_the_middle_keep_their_bounds_to_the_last_digit() -> None:
    rng = np.random.default_rng(1)
    now = 1e3 * rng.random((5, 16))
    bounds = np.stack([1.0 - 1e-9 * rng.random(16), 1.0 + rng.random(16), np.zeros(16)])
    bounds[1, 8:] = np.nextafter(bounds[0, 8:], 2.0)
    block = np.array([3, 1, 4, 2, 0, 9, 5, 7, 6, 8, 11, 10, 12])
    found = _columns(block, now, bounds)
    assert [each.target for each in found] == block.tolist()
    for lane, each in enumerate(found):
        below, above = (Fraction(x) for x in bounds[:2, lane].tolist())
        assert each.low <= 1.0 <= each.high
        for time, before in zip(
            each.times.tolist(), now[:, lane].tolist(), strict=True
        ):
            low, high = Fraction(each.low) * Fraction(time), Fraction(before) * above
            assert (1 - 8 * EPS) * below * Fraction(before) <= low
            assert low <= below * Fraction(before)
            assert high <= Fraction(each.high) * Fraction(time) <= (1 + 8 * EPS) * high


# Sweeps as matrix products


def two_rooms(stay: float) -> TabularMDP:
    """The second room is left ever more rarely: sweeps converge like its stay."""
    rare = 2.0**-12
    P = [
        [[0.5, 0.25, 0.25]],
        [[1.0 / 128.0 - rare, 127.0 / 128.0, rare]],
        [[rare, 1.0 - stay - rare, stay]],
    ]
    return mdp_from_arrays(P, np.zeros((3, 1)), order=IndexOrder.STATE_ACTION)


def test_products_go_on_as_long_as_300_more_sweeps_will_do() -> None:
    """A stay of 0.966 takes 539 sweeps; after the first it is said to take too long."""
    for stay, works in ((0.5, True), (0.96, True), (0.966, False), (0.999, False)):
        found = solver_of(two_rooms(stay), 1e-9)._by_product(np.array([0]), 0.0)
        assert (found is not None) == works


@pytest.mark.parametrize("tolerance", [1e-2, 1e-9, 1e-12])
def test_products_bound_the_times_in_fractions(tolerance: float) -> None:
    """The narrowest bracket that there is has room for nothing but rounding."""
    rng = np.random.default_rng(2)
    P = rng.random((12, 2, 12)) ** 3 + 1e-3
    P /= P.sum(axis=2, keepdims=True)
    model = mdp_from_arrays(P, np.zeros((12, 2)), order=IndexOrder.STATE_ACTION)
    kernel = model.transitions
    solver = solver_of(model, tolerance)
    found = solver._by_product(np.arange(1, 12), 0.0)
    assert found is not None
    assert [each.target for each in found] == list(range(1, 12))
    for each in found:
        assert each.high <= each.low * (1.0 + 1.01 * tolerance)
        assert travel_bounds_hold(
            (kernel.indptr, kernel.indices, kernel.values[0]), 2, each.target,
            each.times, each.low, each.high,
        )  # fmt: skip
    longest = max(each.reach_high for each in found)
    shortest = min(each.reach_low for each in found)
    assert solver._by_product(np.arange(1, 12), 1.1 * longest) == []
    for best in (0.9 * longest, shortest):
        kept = solver._by_product(np.arange(1, 12), best)
        assert kept is not None
        assert len(kept) == 11


def test_targets_that_are_easier_to_reach_are_dropped_early() -> None:
    model = garnet(48, 2, 3, 1)[0]
    found = {each.target: each for each in solver_of(model, 1e-9).hardest()}
    assert len(found) < 48
    hardest = max(found.values(), key=lambda each: each.reach_low)
    times = all_travel_times(model).upper[0]
    assert hardest.target == int(times.max(axis=1).argmax())


# Elimination


def test_the_ends_of_a_bracket_are_the_greatest_changes_of_a_step() -> None:
    """W / (1 - min r) <= V* <= W / (1 - max r), r = 1 + min_a P W - W."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        table = rng.integers(-40, 30, (6, 3)) / 64.0
        changes = [-Fraction(max(row)) for row in table.tolist()]
        low, high = _bracket(table, np.zeros((6, 3)))
        assert low == float(1 / (1 - min(changes)))
        assert high == float(1 / (1 - max(changes)))
        noise = rng.integers(0, 9, (6, 3)) / 1024.0
        wider = _bracket(table, noise)
        up = [-Fraction(max(row)) for row in (table + noise).tolist()]
        down = [-Fraction(max(row)) for row in (table - noise).tolist()]
        assert wider[0] == float(1 / (1 - min(up))) <= low
        assert wider[1] == float(1 / (1 - max(down))) >= high
    one = np.zeros((2, 1))
    assert _bracket(one, one) == (1.0, 1.0)
    assert _bracket(np.array([[-1.0], [0.0]]), one) == (1.0, inf)
    assert _bracket(np.array([[-0.5], [0.25]]), one) == (0.8, 2.0)
    assert _bracket(np.array([[np.nan], [0.0]]), one) == (0.0, inf)


def exact_by_elimination(model: TabularMDP, target: int) -> Solved:
    moves = moves_of(model)
    return Solved(target, *exact_travel(moves, target, elimination_order(moves), 1e-9))


@pytest.mark.parametrize("family", [dense_model, sparse_model, slow_model])
def test_elimination_finds_all_digits_of_the_fastest_times(family: object) -> None:
    """Also where the way along the likeliest steps is not the fastest one."""
    assert callable(family)
    improved = 0
    for seed in range(2):
        rational = family(np.random.default_rng(seed), 6, 3, 16)
        P, model = rational.transitions, rational.simulator()
        for target in range(0, 6, 2):
            found = exact_by_elimination(model, target)
            assert found.policy is not None
            exact = twin.hitting_times(P, target)
            first, _ = paths_to(moves_of(model), np.array([target]))
            started = twin.hitting_times([[P[s][first[s]]] for s in range(6)], target)
            improved += started != exact
            assert found.high <= found.low * (1.0 + 1e-13)
            for s, time in enumerate(exact):
                x = Fraction(float(found.times[s]))
                assert Fraction(found.low) * x <= time <= Fraction(found.high) * x
                steps = [
                    sum((p * exact[t] for t, p in enumerate(row)), Fraction(0))
                    for row in P[s]
                ]
                if s != target:
                    assert found.policy[s] == steps.index(min(steps))
    assert improved >= (0 if family is slow_model else 2)


def test_elimination_leaves_the_likeliest_way_for_a_faster_one() -> None:
    """By way of state 1 for sure, two steps; straight ahead half the time, 1.5."""
    P = [
        [[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]],
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
        [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]],
    ]
    model = mdp_from_arrays(P, np.zeros((3, 2)), order=IndexOrder.STATE_ACTION)
    first, costs = paths_to(moves_of(model), np.array([2]))
    assert (first.tolist(), costs.tolist()) == ([0, 0, 0], [2.0, 1.0, 0.0])
    found = exact_by_elimination(model, 2)
    assert found.policy is not None
    assert found.policy.tolist() == [1, 0, 0]
    assert found.times == pytest.approx(np.array([1.5, 1.0, 0.0]), rel=1e-15)


@pytest.mark.parametrize(
    "P",
    [
        [[[1.0, 1e-160, 0.0]], [[0.25, 0.75, 1e-160]], [[0.0, 1e-160, 1.0]]],
        [[[1.0, 1e-310, 0.0]], [[1.0, 0.0, 0.0]], [[0.5, 0.0, 0.5]]],
        [[[1.0, 0.0, 1e-310]], [[0.0, 0.5, 0.5]], [[0.5, 0.5, 0.0]]],
    ],
)
def test_elimination_says_nothing_where_floats_end(P: list[list[list[float]]]) -> None:
    """More than 1e308 steps, from some states at least: no time is claimed at all."""
    model = mdp_from_arrays(P, [[0.0]] * 3, order=IndexOrder.STATE_ACTION)
    target = 1 if P[0][0][1] == 1e-310 else 2
    with np.errstate(all="ignore"):
        found = exact_by_elimination(model, target)
    assert (found.low, found.high) == (0.0, inf)
    assert found.times.tolist() == [float(s != target) for s in range(3)]


def test_policies_that_only_elimination_finds_are_kept_for_all_targets() -> None:
    """Staying put comes first, costs one step of 1e12, and is not taken."""
    model = adverse(40)[0]
    stay = np.eye(40)[:, None, :]
    P = np.concatenate([stay, model.transitions.array(0)], axis=1)
    slow = mdp_from_arrays(P, np.zeros((40, 2)), order=IndexOrder.STATE_ACTION)
    found = all_travel_times(slow)
    assert (found.policy[0] + np.eye(40) == 1).all()
    assert {*found.known_policies} == {(0, target) for target in range(40)}
    for (_, target), policy in found.known_policies.items():
        assert (policy == found.policy[0, target]).all()


# What is asked for is what is given


@pytest.mark.parametrize("ends", [(0.8, 1.19), (1.0, 1.49), (1.0, 1.0)])
def test_a_bracket_within_the_tolerance_is_an_answer(
    ends: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that is a little wider is none: 1.5 times the lower end at most."""
    times: FloatArray = np.array([0.0, 4.0, 2.0, 1.0])
    low, high = ends

    def one(self: TravelSolver, target: int) -> Solved:
        return Solved(target, times, low, high)

    def every(self: TravelSolver, targets: OffsetArray) -> list[Solved]:
        return [Solved(int(t), np.roll(times, t), low, high) for t in targets]

    monkeypatch.setattr(TravelSolver, "one", one)
    monkeypatch.setattr(TravelSolver, "every", every)
    found = travel_times(riverswim(4), 0, tolerance=0.5)
    assert found.upper[0] == pytest.approx(high * times, rel=1e-14)
    assert found.lower[0] == pytest.approx(low * times, rel=1e-14)
    all_travel_times(riverswim(4), tolerance=0.5)
    high = 1.02 * low * 1.5
    for ask in (lambda: travel_times(riverswim(4), 0, tolerance=0.5),
                lambda: all_travel_times(riverswim(4), tolerance=0.5)):  # fmt: skip
        with pytest.raises(NotSolved) as caught:
            ask()
        assert caught.value.result == (4.0 * low, 4.0 * high)


def test_solvers_stop_where_their_time_is_over() -> None:
    model = nodrift(8)[0]
    moves = moves_of(model)
    with time_limited(0.0):
        with pytest.raises(OutOfTime):
            solver_of(model, 1e-9).one(0)
        with pytest.raises(OutOfTime):
            exact_travel(moves, 0, elimination_order(moves), 1e-9)


def test_elimination_is_given_as_many_sweeps_as_it_is_worth() -> None:
    """n^3 / 4 products a target, against one a sweep for every entry."""
    assert solver_of(nodrift(8)[0], 1e-9)._patience() == 400
    assert solver_of(nodrift(100)[0], 1e-9)._patience() == 16 * 100**3 // (4 * 200)
    assert solver_of(nodrift(1000)[0], 1e-9)._patience() == 50_000
