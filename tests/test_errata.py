"""Each erratum that touches code built so far, as a test (docs/errata.md)."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.errors import InvalidInstance
from simgap.instances.absorbing import absorbing_doors
from simgap.instances.linear_bandit import linear_bandit
from simgap.instances.riverswim import riverswim
from simgap.instances.switch_tree import delta_for_diameter, switch_tree
from simgap.planning import (
    diameter,
    optimal_values,
    policy_values,
    solve_average_reward,
    solve_episodic,
)


def test_e3_episodic_and_stationary_optimal_policies_differ() -> None:
    """With three steps left nobody swims; with no end in sight everybody does."""
    river = riverswim(6)
    last_steps = solve_episodic(river, 3).policy[0]
    for_ever = solve_average_reward(river).policy[0]
    assert (for_ever == 1).all()
    assert last_steps[0, 0] == 0


def test_e22_the_optimal_value_is_not_that_of_the_stationary_policy() -> None:
    """RiverSwim, H = 3: 0.015 against 0; the span is all the proof needs (spec 4.2)."""
    river = riverswim(6)
    stationary = solve_average_reward(river).policy[0]
    assert optimal_values(river, 3).start[0] == pytest.approx(0.015, abs=1e-15)
    assert policy_values(river, stationary, 3).start[0] == 0.0
    D = diameter(river).upper
    for horizon in (1, 3, 10, 100):
        values = optimal_values(river, horizon).values[0]
        assert values.max() - values.min() <= D


@pytest.mark.parametrize(("members", "horizon"), [(2, 6), (3, 8), (4, 8)])
def test_e32_every_door_is_as_good_as_another_on_average(
    members: int, horizon: int
) -> None:
    """A fixed door loses nothing in its own world and H - 2 in the others."""
    doors = absorbing_doors(members)
    best = optimal_values(doors, horizon).start
    assert best == pytest.approx(np.full(members, horizon - 2.0))
    for door in range(members):
        always = np.full(doors.n_states, door, np.int32)
        gaps = best - policy_values(doors, always, horizon).start
        assert gaps.mean() == pytest.approx((horizon - 2) * (1 - 1 / members))
        assert gaps[door] == 0.0
        assert gaps.max() == pytest.approx(horizon - 2.0)
    uniform = np.full((doors.n_states, members), 1.0 / members)
    gaps = best - policy_values(doors, uniform, horizon).start
    assert gaps == pytest.approx(np.full(members, (horizon - 2) * (1 - 1 / members)))


def test_e33_the_large_class_has_diameter_two() -> None:
    """Always pulling the safe arm loses (H - 1) / 2 in the last of 4H + 5 worlds."""
    horizon = 20
    worlds = linear_bandit(4 * horizon + 5)
    found = diameter(worlds)
    assert found.lower <= 2.0 <= found.upper
    assert found.upper == pytest.approx(2.0)
    safe = np.zeros(2, np.int32)
    gaps = optimal_values(worlds, horizon).start
    gaps = gaps - policy_values(worlds, safe, horizon).start
    assert gaps[-1] == pytest.approx((horizon - 1) / 2)
    assert gaps[:-1] == pytest.approx(np.zeros(len(worlds) - 1), abs=1e-12)


@pytest.mark.parametrize(("k", "arms"), [(1, 2), (2, 2), (4, 2), (7, 2), (4, 3)])
def test_e34_the_diameter_of_the_tree_is_met_with_the_repaired_delta(
    k: int, arms: int
) -> None:
    wanted = 23.0
    tree = switch_tree(k, arms, 0.01, 2, diameter=wanted)
    assert diameter(tree).upper == pytest.approx(wanted)
    if k > 1:
        literal = switch_tree(k, arms, 0.01, 2, delta=1.0 / wanted)
        assert diameter(literal).lower > 2.0 * wanted
        assert delta_for_diameter(k, arms, wanted) > 2.0 / wanted


def test_e35_the_tree_has_no_more_models_than_pairs() -> None:
    tree = switch_tree(2, 2, 0.01, 4, delta=0.1)
    S, A = tree.n_states, tree.n_actions
    assert len(tree) == (S // 2) * ((A - 1) // 2) < S * A
    with pytest.raises(InvalidInstance):
        switch_tree(2, 2, 0.01, 5, delta=0.1)
