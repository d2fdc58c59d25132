"""Theorem 3 and Propositions 1 and 2 against exact oracles and numbers of the spec."""

from __future__ import annotations

from itertools import product
from math import ceil, inf, log, sqrt

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.bounds import (
    best_arm_lower,
    hardest_best_arm_lower,
    large_class,
    lower_bound,
    no_diameter,
    switch_tree_lower,
)
from simgap.bounds.lower import UNIVERSAL, bernoulli_kl
from simgap.errors import InvalidArgument
from simgap.instances import absorbing_doors, best_arm
from simgap.instances.switch_tree import delta_for_diameter, switch_tree
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import ExactOracle
from simgap.planning import diameter, optimal_values


def average_gap(simulators: SimulatorClass, horizon: int) -> float:
    form = loss_form(LatentMDP.uniform(simulators), horizon=horizon)
    return solve_exact(form, ExactOracle()).upper


@pytest.mark.parametrize(
    ("pulls", "e", "gap", "bound"),
    [(50, 0.05, 1.019206, 0.623429), (10, 0.25 * sqrt(0.2), 0.459264, 0.275917)],
)
def test_two_arms_cost_the_bandit_bound(
    pulls: int, e: float, gap: float, bound: float
) -> None:
    """Theory rows 19 and 20."""
    found = best_arm_lower(horizon=pulls + 1, members=2, e=e)
    assert found.value == pytest.approx(bound, abs=5e-7)
    assert found.non_vacuous_from == 2
    exact = average_gap(best_arm(2, e), pulls + 1)
    assert exact == pytest.approx(gap, abs=5e-7)
    assert exact >= found.value


@pytest.mark.parametrize(("members", "horizon"), [(2, 3), (2, 20), (3, 9), (4, 6)])
@pytest.mark.parametrize("e", [0.02, 0.1, 0.3, 0.5])
def test_no_oracle_is_below_the_bandit_bound(
    members: int, horizon: int, e: float
) -> None:
    found = best_arm_lower(horizon=horizon, members=members, e=e)
    assert average_gap(best_arm(members, e), horizon) >= found.value
    assert hardest_best_arm_lower(horizon=horizon, members=members).value >= found.value


@pytest.mark.parametrize("members", [2, 3, 10, 100])
def test_the_hardest_e_costs_the_square_root_of_mn(members: int) -> None:
    """Theory 4.10: 0.052 sqrt(Mn) for n >= M; and no e of a fine grid is harder."""
    for pulls in (members, 3 * members, 1000 * members):
        hardest = hardest_best_arm_lower(horizon=pulls + 1, members=members)
        assert hardest.value >= 0.052 * sqrt(members * pulls)
        half = sqrt(members / pulls) / 4.0
        at_half = best_arm_lower(horizon=pulls + 1, members=members, e=half).value
        assert at_half >= 0.052 * sqrt(members * pulls)
        grid = [
            best_arm_lower(horizon=pulls + 1, members=members, e=e).value
            for e in np.linspace(1e-4, 0.4999, 500)
        ]
        assert hardest.value >= max(grid)


def test_two_switches_cost_the_bound_of_theorem_3() -> None:
    """Theory row 21b: positive, and below the exact gap 1.4081236."""
    value, gap = 252.4615150, 1.4081236
    found = switch_tree_lower(
        horizon=500, members=2, delta=0.4, e=0.01, diameter=2.5, mean_optimal=value
    )
    assert found.value == pytest.approx(0.1781441, abs=5e-7)
    assert 0.0 < found.value <= gap
    assert found.non_vacuous_from is None
    plain = switch_tree_lower(horizon=500, members=2, delta=0.4, e=0.01, diameter=2.5)
    assert plain.value < found.value  # H rho - D instead of V*


@pytest.mark.parametrize(
    ("copies", "per_state", "members", "horizon"),
    [(1, 2, 2, 8), (1, 3, 3, 7), (2, 1, 2, 7)],
)
def test_no_oracle_is_below_the_formula_of_theorem_3(
    copies: int, per_state: int, members: int, horizon: int
) -> None:
    for delta, e in ((0.4, 0.1), (0.2, 0.2)):
        tree = switch_tree(copies, per_state, delta=delta, e=e, members=members)
        optimal = float(optimal_values(tree, horizon).start.mean())
        D = diameter(tree).upper
        exact = average_gap(tree, horizon)
        for known in (optimal, None):
            found = switch_tree_lower(
                horizon=horizon,
                members=members,
                delta=delta,
                e=e,
                diameter=D,
                mean_optimal=known,
            )
            assert exact >= found.value


def test_the_formula_is_first_positive_where_a_scan_says() -> None:
    found = switch_tree_lower(horizon=10, members=9, delta=0.5, e=0.02, diameter=2.0)
    begin = found.non_vacuous_from
    assert begin is not None
    assert begin < inf
    assert begin == next(h for h in range(1, 10**6) if found.at(h) > 0.0)
    never = switch_tree_lower(horizon=10, members=2, delta=0.4, e=0.4, diameter=2.5)
    assert never.non_vacuous_from == inf
    assert all(never.at(h) <= 0.0 for h in range(1, 5000))


@pytest.mark.parametrize("actions", [10, 31, 200, 401])
@pytest.mark.parametrize("members", [100, 700, 3000])
def test_the_universal_form_follows_from_the_formula(
    actions: int, members: int
) -> None:
    """At the conditions' edge and beyond, e = sqrt(M delta/H)/2 (theory 4.11)."""
    per_state = (actions - 1) // 2
    copies = ceil(members / per_state)
    least = 20.0 * log(members) / log(actions)
    for far, long in product((1.0, 3.0, 100.0), (1.0, 10.0, 10**6)):
        D = far * least
        H = ceil(long * D * members)
        delta = delta_for_diameter(copies, per_state, D)
        e = sqrt(members * delta / H) / 2.0
        formula = switch_tree_lower(
            horizon=H, members=members, delta=delta, e=e, diameter=D
        )
        universal = lower_bound(
            horizon=H,
            members=members,
            diameter=D,
            states=2 * copies,
            actions=actions,
        )
        assert universal.holds
        assert universal.value == UNIVERSAL * sqrt(D * members * H)
        assert formula.value >= universal.value
        assert universal.non_vacuous_from == ceil(D * members) <= H


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": 99}, "100 models"),
        ({"actions": 9}, "10 actions"),
        ({"diameter": 39.0}, "20 log M"),
        ({"states": 49}, "floor(S/2)"),
        ({"horizon": 3999}, "D M steps"),
        ({"diameter": inf}, "finite diameter"),
    ],
)
def test_what_theorem_3_asks_for_is_said(change: dict[str, float], words: str) -> None:
    """Errata E35: S A = 500 pairs are not enough for 100 models with 49 states."""
    numbers = {
        "horizon": 4000,
        "members": 100,
        "diameter": 40.0,
        "states": 50,
        "actions": 10,
    }
    assert lower_bound(**numbers).holds  # type: ignore[arg-type]
    found = lower_bound(**(numbers | change))  # type: ignore[arg-type]
    assert any(words in each for each in found.unmet)
    assert not found.holds


@pytest.mark.parametrize(("members", "horizon"), [(2, 6), (3, 8), (4, 8)])
def test_doors_cost_all_but_two_steps(members: int, horizon: int) -> None:
    """Proposition 1, theory row 22: it is the mean gap as well."""
    found = no_diameter(horizon=horizon, members=members)
    exact = average_gap(absorbing_doors(members), horizon)
    assert found.value == pytest.approx(exact)
    assert found.value == pytest.approx((1 - 1 / members) * (horizon - 2))
    assert found.holds
    assert found.non_vacuous_from == 3
    assert no_diameter(horizon=2, members=members).unmet == ("at least 3 steps",)
    assert no_diameter(horizon=9, members=1).non_vacuous_from == inf


def spread(members: int) -> FloatArray:
    interior: FloatArray = np.linspace(0.25, 0.5, members + 1)[1:-1]
    return interior


def test_a_large_class_needs_a_large_sum() -> None:
    """Proposition 2, theory rows 23 and 26: M = 4H + 5, or M = H and a bonus of 1/4."""
    for horizon in (5, 20, 80):
        enough = large_class(horizon=horizon, shortfalls=tuple(spread(4 * horizon + 5)))
        assert enough.holds
        assert enough.value == (horizon - 1) / 2
        stated = large_class(
            horizon=horizon, shortfalls=tuple(spread(horizon)), bonus=0.25
        )
        assert stated.holds
        assert stated.value == (horizon - 1) / 4
    few = large_class(horizon=10, shortfalls=tuple(spread(10)))
    assert len(few.unmet) == 1 and not few.holds
    odd = large_class(horizon=3, shortfalls=(0.6, 0.9, 0.7))
    assert odd.unmet == ("every p_i between 1/4 and 1/2",)


def test_divergences_of_coins() -> None:
    assert bernoulli_kl(0.5, 0.5) == 0.0
    assert bernoulli_kl(0.5, 0.6) == pytest.approx(-log(1 - 4 * 0.1**2) / 2)
    assert bernoulli_kl(0.3, 1.0) == inf
    assert bernoulli_kl(0.0, 0.25) == pytest.approx(-log(0.75))
    assert bernoulli_kl(1.0, 0.25) == pytest.approx(-log(0.25))
    with pytest.raises(InvalidArgument, match="p is 1"):
        bernoulli_kl(1.5, 0.5)
