"""The chain of one policy against Fractions: edges, systems, visits, paths."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from simgap.arrays import IndexArray, OffsetArray, owned
from simgap.planning import policy_chain
from simgap.planning.policy_chain import (
    Moves,
    PolicyChain,
    elimination_order,
    first_best,
    often_visited,
    paths_to,
)
from tests.reference.average_reward import closed_classes
from tests.reference.linear import solve
from tests.reference.rational import Kernel, scattered_model, sparse_model

ROWS = ("eliminated", "LU")


def moves_in(P: Kernel) -> Moves:
    """Rows as they are, without entries that are 0."""
    rows = [row for pair in P for row in pair]
    used = [[t for t, p in enumerate(row) if p] for row in rows]
    indptr = np.cumsum([0, *map(len, used)])
    indices = np.array([t for row in used for t in row], np.int32)
    values = np.array([float(p) for row in rows for p in row if p])
    return Moves.of(owned(indptr), owned(indices), owned(values), len(P[0]))


def policies(seed: int, S: int, A: int, count: int) -> list[IndexArray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, A, S).astype(np.int32) for _ in range(count)]


def shuffled(seed: int, S: int) -> OffsetArray:
    return np.random.default_rng(seed).permutation(S)


@pytest.mark.parametrize("seed", range(3))
def test_the_edges_of_a_policy_are_its_rows_without_staying(seed: int) -> None:
    P = sparse_model(np.random.default_rng(seed), 6, 3, 16).transitions
    moves = moves_in(P)
    assert moves.n_states == 6
    for policy in policies(seed, 6, 3, 5):
        found = zip(
            *(part.tolist() for part in moves.policy_edges(policy)), strict=True
        )
        wanted = [
            (s, t, float(p))
            for s in range(6)
            for t, p in enumerate(P[s][policy[s]])
            if p and s != t
        ]
        assert list(found) == wanted


def exact_solution(
    P: Kernel, policy: IndexArray, states: list[int], right: list[Fraction]
) -> dict[int, Fraction]:
    """(I - P) x = b over some states, x = 0 in all others."""
    matrix = [
        [Fraction(int(s == t)) - P[s][policy[s]][t] for t in states] for s in states
    ]
    return dict(zip(states, solve(matrix, [right[s] for s in states]), strict=True))


@pytest.mark.parametrize("way", ROWS)
@pytest.mark.parametrize("seed", range(4))
def test_a_system_is_solved_over_the_states_that_were_chosen(
    seed: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps out of them lead nowhere: x is 0 in the reference and in the others."""
    monkeypatch.setattr(policy_chain, "ELIMINATE_UP_TO", 6 if way == ROWS[0] else 5)
    rng = np.random.default_rng(seed)
    P = sparse_model(rng, 7, 2, 16).transitions
    moves, solved = moves_in(P), 0
    for policy in policies(seed, 7, 2, 6):
        for order, reference in ((shuffled(seed, 7), 3), (shuffled(seed, 7), 0)):
            states = [int(s) for s in order if s != reference]
            right = [Fraction(int(k), 8) for k in rng.integers(-9, 10, 7)]
            try:
                wanted = exact_solution(P, policy, states, right)
            except ZeroDivisionError:
                continue
            chain = PolicyChain(moves, policy, reference, order)
            x = chain.solve(np.array([float(b) for b in right]))
            size = float(max(map(abs, wanted.values())))
            for s in range(7):
                off = abs(Fraction(float(x[s])) - wanted.get(s, Fraction(0)))
                assert off <= 1e-12 * (1.0 + size)
            solved += 1
    assert solved >= 3


def test_states_left_out_of_a_system_count_as_the_end() -> None:
    P = sparse_model(np.random.default_rng(9), 7, 1, 16).transitions
    policy = np.zeros(7, np.int32)
    order = np.array([5, 2, 4, 1])
    right = [Fraction(s + 1) for s in range(7)]
    wanted = exact_solution(P, policy, [5, 2, 1], right)
    found = PolicyChain(moves_in(P), policy, 4, order).solve(np.arange(1.0, 8.0))
    exact = [float(wanted.get(s, Fraction(0))) for s in range(7)]
    assert found == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("limit", [2, 0])
def test_a_system_of_tiny_chances_has_products_that_are_floats(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two states that leave with chance 1e-200, half of it to each other: 2e200."""
    monkeypatch.setattr(policy_chain, "ELIMINATE_UP_TO", limit)
    half = Fraction(2) ** -665
    stay, none = 1 - 2 * half, Fraction(0)
    rows = [[stay, half, half], [half, stay, half], [none, none, Fraction(1)]]
    P = [[row] for row in rows]
    chain = PolicyChain(moves_in(P), np.zeros(3, np.int32), 2, np.arange(3))
    assert chain.solve(np.ones(3)).tolist() == [2.0**665, 2.0**665, 0.0]


@pytest.mark.parametrize("limit", [2, 0])
@pytest.mark.parametrize("after", [(1, 0, 2), (2, 1, 2), (0, 2, 2)])
def test_a_system_that_is_singular_has_no_number_for_an_answer(
    limit: int, after: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """States that never come to the reference, by themselves or round in a ring."""
    monkeypatch.setattr(policy_chain, "ELIMINATE_UP_TO", limit)
    P = [[[Fraction(int(t == s)) for t in range(3)]] for s in after]
    chain = PolicyChain(moves_in(P), np.zeros(3, np.int32), 2, np.arange(3))
    with np.errstate(all="ignore"):
        assert not np.isfinite(chain.solve(np.ones(3))).all()


def test_ties_within_the_slack_go_to_the_lowest_action() -> None:
    table = np.array([[1.0, 1.25, 1.5], [2.0, 0.0, 1.75], [0.0, 1.0, 1.0]])
    assert first_best(table, 0.0).tolist() == [2, 0, 1]
    assert first_best(table, 0.25).tolist() == [1, 0, 1]
    assert first_best(table, 0.5).tolist() == [0, 0, 1]
    assert first_best(-table, 0.25).tolist() == [0, 1, 0]


def test_a_path_is_eliminated_from_one_end_to_the_other() -> None:
    """Whatever its states are called and whichever action goes which way."""
    for seed in range(3):
        names = shuffled(seed, 9)
        P = [[[Fraction(0)] * 9 for _ in range(2)] for _ in range(9)]
        for place, state in enumerate(names):
            for action, step in ((place % 2, 1), (1 - place % 2, -1)):
                P[state][action][names[min(max(place + step, 0), 8)]] += 1
        order = elimination_order(moves_in(P))
        assert sorted(order.tolist()) == list(range(9))
        at = np.argsort(order)[names]
        assert (np.abs(np.diff(at)) == 1).all()


def law_of(P: Kernel, policy: IndexArray, closed: list[int]) -> list[Fraction]:
    """The share of time in each state of a closed class."""
    rows = [
        [P[s][policy[s]][t] - Fraction(int(s == t)) for s in closed] for t in closed
    ]
    rows[-1] = [Fraction(1)] * len(closed)
    return solve(rows, [Fraction(int(t == closed[-1])) for t in closed])


@pytest.mark.parametrize("way", ["eliminated", "walked"])
def test_the_reference_of_a_class_is_the_state_visited_most(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = later = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        P = [*scattered_model(rng, 8, 2, 16).transitions]
        moves = moves_in(P)
        for policy in policies(seed, 8, 2, 6):
            for closed in closed_classes(P, [int(a) for a in policy]):
                law = law_of(P, policy, sorted(closed))
                second, most = sorted([Fraction(0), *law])[-2:]
                if most < second * Fraction(21, 20):
                    continue  # a tie, to a walk
                place = law.index(most)
                limit = len(closed) if way == "eliminated" else 1
                monkeypatch.setattr(policy_chain, "ELIMINATE_UP_TO", limit)
                found = often_visited(
                    moves, policy, np.array(sorted(closed)), shuffled(seed, 8)
                )
                assert found == sorted(closed)[place]
                seen += len(closed) > 1
                later += place > 0
    assert seen >= 10
    assert later >= 5


@pytest.mark.parametrize("seed", range(4))
def test_paths_to_a_set_cost_the_least_sum_of_inverse_chances(seed: int) -> None:
    """Chances are powers of 2, so that costs are whole numbers."""
    rng = np.random.default_rng(seed)
    S, A = 7, 2
    laws = [
        [Fraction(1)],
        [Fraction(1, 2)] * 2,
        [Fraction(1, 4), *[Fraction(1, 8)] * 2],
    ]
    P = [[[Fraction(0)] * S for _ in range(A)] for _ in range(S)]
    for s, a in np.ndindex(S, A):
        law = laws[int(rng.integers(3))]
        for p, t in zip(law, rng.choice(S, len(law), replace=False), strict=True):
            P[s][a][int(t)] = p
    targets = [2, 5]
    cost: list[float] = [0.0 if s in targets else inf for s in range(S)]
    for _ in range(S):
        for s, a in np.ndindex(S, A):
            for t, p in enumerate(P[s][a]):
                if p and s != t:
                    cost[s] = min(cost[s], float(1 / p) + cost[t])
    policy, distance = paths_to(moves_in(P), np.array(targets))
    assert distance.tolist() == cost
    for s in range(S):
        ways = [
            min(
                [float(1 / p) + cost[t] for t, p in enumerate(row) if p and t != s]
                + [inf]
            )
            for row in P[s]
        ]
        assert policy[s] == ways.index(min(ways))


def test_advantages_are_good_to_thirty_digits() -> None:
    """R + P h - h of a bias of 1e6 and more, in two floats each."""
    rng = np.random.default_rng(5)
    P = sparse_model(rng, 6, 2, 16).transitions
    moves = moves_in(P)
    high = 1e6 * rng.random(6)
    low = 1e-16 * high * rng.random(6)
    rewards = rng.random(12)
    found = moves.advantages(rewards, high, low)
    h = [
        Fraction(float(a)) + Fraction(float(b)) for a, b in zip(high, low, strict=True)
    ]
    for s, a in np.ndindex(6, 2):
        row = 2 * s + a
        wanted = sum((p * (h[t] - h[s]) for t, p in enumerate(P[s][a])), Fraction(0))
        wanted += Fraction(float(rewards[row]))
        got = Fraction(float(found.high[row])) + Fraction(float(found.low[row]))
        assert abs(got - wanted) <= Fraction(float(found.noise[row])) <= 1e-20
