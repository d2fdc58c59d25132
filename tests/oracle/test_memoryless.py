"""Short memories: against all policies on tiny problems, and what memory must give."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances import absorbing_doors, best_arm, garnet_mixture
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.memoryless import best_plan, evaluated
from simgap.oracle.baselines.single_model import (
    best_memoryless,
    mean_model_plan,
    single_plans,
)
from simgap.oracle.baselines.windowed import window_nodes, window_size
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.planning import policy_values
from simgap.policies.window import Window, WindowPolicy, number_of_windows
from tests.reference.latent import exact_gap, random_latent, rational
from tests.reference.memoryless import (
    average_value,
    best_memoryless_value,
    every_stationary,
    stationary_gap,
)


def tiny(seed: int, most: int = 600) -> list[tuple[LatentMDP, int]]:
    """Return random problems with few Markov policies."""
    rng = np.random.default_rng(seed)
    found: list[tuple[LatentMDP, int]] = []
    while len(found) < 25:
        latent, horizon = random_latent(rng, denominator=8)
        simulators = latent.simulators
        policies = simulators.n_actions ** (simulators.n_states * horizon)
        if 1 < policies <= most:
            found.append((latent, horizon))
    return found


def searched(latent: LatentMDP, horizon: int) -> tuple[LossForm, float, float]:
    form = loss_form(latent, horizon=horizon)
    found = best_memoryless(
        form, single_plans(form), mean_model_plan(form), effort=0.05
    )
    assert found.least is not None
    return form, found.average, found.least


def test_the_best_memoryless_policy_and_its_bound_are_those_of_trying_all() -> None:
    for latent, horizon in tiny(1):
        form, average, least = searched(latent, horizon)
        wanted = float(best_memoryless_value(rational(latent), horizon))
        assert form.informed - average == pytest.approx(wanted, abs=1e-12)
        assert least <= average
        assert least == pytest.approx(average, abs=1e-11)


def test_chance_does_not_help_without_memory() -> None:
    """The value is linear in the chances of each (step, state): see the module."""
    rng = np.random.default_rng(2)
    for latent, horizon in tiny(3)[:10]:
        form, _, least = searched(latent, horizon)
        shape = (horizon, form.pattern.n_states)
        for _ in range(40):
            chances = rng.dirichlet(np.full(form.pattern.n_actions, 0.3), shape)
            values = policy_values(latent.simulators, chances, horizon)
            reached = float(latent.prior @ values.start)
            assert reached <= form.informed - least + 1e-12


def test_gaps_of_a_table_are_optimal_values_less_its_own() -> None:
    rng = np.random.default_rng(4)
    form = loss_form(LatentMDP.uniform(garnet_mixture(members=4)), horizon=30)
    actions = rng.integers(0, 4, (30, 20)).astype(np.int32)
    found = evaluated(form, window_nodes(form.pattern, 0), actions)
    values = policy_values(form.latent.simulators, actions, 30)
    assert found.gaps == pytest.approx(form.optimal - values.start, abs=1e-10)
    assert found.average == pytest.approx(float(form.latent.prior @ found.gaps))


def test_a_stationary_search_finds_the_best_of_all_tables() -> None:
    for latent, _ in tiny(5):
        form = loss_form(latent, discount=0.8)
        tables = [stationary_gap(form, each) for each in every_stationary(form)]
        found = best_memoryless(
            form, single_plans(form), mean_model_plan(form), effort=0.1
        )
        assert found.average == pytest.approx(min(tables), abs=1e-11)
        assert found.least == pytest.approx(min(tables), abs=1e-11)
        assert found.average == pytest.approx(stationary_gap(form, found.actions[0]))


def test_a_window_as_long_as_the_episode_is_a_full_memory() -> None:
    """The first step needs no memory, so H - 1 transitions are everything."""
    for latent, horizon in tiny(6, most=5_000):
        if horizon > 3:
            continue
        form = loss_form(latent, horizon=horizon)
        nodes = window_nodes(form.pattern, horizon - 1)
        found = best_plan(form, nodes, [], effort=0.2)
        assert found.average == pytest.approx(float(exact_gap(latent, horizon)))


def test_two_arms_need_one_step_of_memory_for_four_steps() -> None:
    """Theory row 16: W* = 1.6605 at e = .1; the mean without memory is worse."""
    form = loss_form(LatentMDP.uniform(best_arm(2, 0.1)), horizon=4)
    plain = best_plan(form, window_nodes(form.pattern, 0), [], effort=0.1)
    one = best_plan(form, window_nodes(form.pattern, 1), [], effort=0.1)
    assert form.informed - one.average == pytest.approx(1.6605)
    assert plain.least is not None
    assert plain.least > one.average + 0.004


def test_doors_cannot_be_told_apart_before_it_is_too_late() -> None:
    form = loss_form(LatentMDP.uniform(absorbing_doors(4)), horizon=8)
    for window in (0, 1, 2):
        nodes = window_nodes(form.pattern, window)
        found = best_plan(form, nodes, [], effort=0.1)
        assert found.average == pytest.approx(4.5)
        assert found.least == pytest.approx(4.5)


@pytest.mark.parametrize("window", [0, 1, 2])
def test_window_nodes_move_as_windows_do(window: int) -> None:
    """Every path from every state ends in the node of its last transitions."""
    form = loss_form(LatentMDP.uniform(garnet_mixture(5, 2, 2, 2)), horizon=1)
    pattern = form.pattern
    nodes = window_nodes(pattern, window)
    assert nodes.size == window_size(pattern, window)
    rng = np.random.default_rng(7)
    windows = number_of_windows(5, 2, window)
    numbers = nodes.window_numbers(pattern) if window else np.zeros(5, np.int64)
    seen = set(zip(numbers.tolist(), nodes.node_state.tolist(), strict=True))
    assert len(seen) == nodes.size
    policy = WindowPolicy("w", 5, 2, window, None, np.zeros((1, windows, 5), np.int32))
    for state in range(5):
        node, here = state, state
        past: Window = ()
        for _ in range(12):
            action = int(rng.integers(2))
            row = here * 2 + action
            k = int(rng.integers(pattern.indptr[row], pattern.indptr[row + 1]))
            node = int(nodes.next_node[nodes.shift[node] + k])
            past = (*past, (here, action))[max(0, len(past) + 1 - window) :]
            here = int(pattern.indices[k])
            assert nodes.node_state[node] == here
            assert numbers[node] == policy.number(past if window else ())


def test_a_plan_for_one_model_is_optimal_there_and_breaks_ties_for_the_others() -> None:
    for latent, horizon in tiny(9):
        form = loss_form(latent, horizon=horizon)
        exact = rational(latent)
        for m, plan in enumerate(single_plans(form)):
            assert plan.gaps[m] == pytest.approx(0.0, abs=1e-11)
            lowest = form.losses[..., m].argmin(axis=2)
            simple = average_value(exact, tuple(map(tuple, lowest.tolist())))
            assert form.informed - plan.average >= float(simple) - 1e-11


def test_the_mean_model_plan_is_optimal_for_the_mean() -> None:
    """One model: the mean is the model. Two alike but for P: the mean P is solved."""
    latent = LatentMDP(garnet_mixture(6, 3, 2, 3), np.array([0.0, 1.0, 0.0]))
    for kind in ({"horizon": 15}, {"discount": 0.9}):
        form = loss_form(latent, **kind)
        plan = mean_model_plan(form)
        assert plan.gaps[1] == pytest.approx(0.0, abs=1e-10)
    latent = LatentMDP.uniform(latent.simulators)
    form = loss_form(latent, horizon=3)
    kernel = sum(latent.simulators.transitions.array(m) for m in range(3)) / 3.0
    rewards, V = latent.simulators.rewards[0], np.zeros(6)
    found = mean_model_plan(form)
    for h in (2, 1, 0):
        Q = rewards + kernel @ V
        V = Q.max(axis=1)
        taken = Q[np.arange(6), found.actions[h]]
        assert taken == pytest.approx(V, abs=1e-12)
