"""Each erratum that touches code built so far, as a test (docs/errata.md)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, comb, log, sqrt

import numpy as np
import pytest

from simgap import domain_randomization_oracle
from simgap.answers.complexity.complexity import complexity
from simgap.bounds import (
    general_optimistic_regret,
    known_base_gap,
    lower_bound,
    neighbourhood_transfer,
    switch_tree_lower,
)
from simgap.complexity import covering_number, eluder_dimension, function_class
from simgap.errors import InvalidInstance
from simgap.instances.absorbing import absorbing_doors
from simgap.instances.bandit import bandit
from simgap.instances.linear_bandit import linear_bandit
from simgap.instances.riverswim import riverswim
from simgap.instances.switch_tree import delta_for_diameter, switch_tree
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
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
    """RiverSwim, H = 3: 0.015 against 0; the proof needs spans alone (theory 4.2)."""
    river = riverswim(6)
    stationary = solve_average_reward(river).policy[0]
    assert optimal_values(river, 3).start[0] == pytest.approx(0.015, abs=1e-15)
    assert policy_values(river, stationary, 3).start[0] == 0.0
    D = diameter(river).upper
    for horizon in (1, 3, 10, 100):
        values = optimal_values(river, horizon).values[0]
        assert values.max() - values.min() <= D


def test_e25_the_smoothing_outweighs_the_drift_for_large_delta_alone() -> None:
    """Lemma 5, a sample: Pinsker's drift less 2 alpha S, with alpha = delta^2/(8S)."""
    turn = 4.0 - 2.0 * 2.0**0.5
    assert turn == pytest.approx(1.17, abs=0.005)
    for delta in np.linspace(0.01, 2.0, 200):
        cost = delta**2 / 4.0
        assert (delta / 2.0) ** 2 / 2.0 - cost == pytest.approx(-(delta**2) / 8.0)
        left = delta - delta**2 / 4.0
        assert (left**2 / 2.0 > cost) == (delta < turn)
        assert (delta / 2.0) ** 2 / 2.0 > 2.0 * delta**2 / 64.0  # alpha = delta^2/(64S)
    rng = np.random.default_rng(25)
    for _ in range(200):  # the distance that this alpha leaves
        S = int(rng.integers(2, 7))
        p, q = rng.dirichlet(np.full(S, 0.3), 2)
        delta = float(np.abs(p - q).sum())
        smoothed = delta**2 / (8.0 * S) + (1.0 - delta**2 / 8.0) * q
        assert np.abs(smoothed - p).sum() >= delta - delta**2 / 4.0 - 1e-12


def test_e28_the_printed_level_is_fine_in_the_width_form() -> None:
    """Sums of n coins of width D = 1 leave D sqrt(2 n log(2HM)) with chance at most
    2/(2HM)^4, exactly computed: enough for all starts, ends and models together."""
    for horizon, members in ((3, 2), (10, 2), (20, 5)):
        level = Fraction(2, (2 * horizon * members) ** 4)
        for n in (1, 8, 30, 60, 150):
            limit = sqrt(2.0 * n * log(2.0 * horizon * members))
            heads = [k for k in range(n + 1) if abs(k - n / 2.0) > limit]
            chance = Fraction(sum(comb(n, k) for k in heads), 2**n)
            assert chance <= level
        everything = horizon**2 * members * level  # starts, ends and models
        assert everything <= Fraction(1, members * horizon)
        weaker = Fraction(1, horizon * members)  # from |X| <= D alone
        assert weaker > Fraction(1, (members * horizon) ** 2)


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


def _most_of_pulling(means: list[Fraction], pulls: int) -> Fraction:
    """Return the most that pulling the second arm adds to never doing so, times M.

    The first arm wins half the time and tells nothing, so that a history is how often
    the second was pulled and how often it won.
    """

    def most(left: int, weights: tuple[Fraction, ...]) -> Fraction:
        if left == 0:
            return Fraction(0)
        both = list(zip(weights, means, strict=True))
        now = sum((w * (m - Fraction(1, 2)) for w, m in both), Fraction(0))
        won = tuple(w * m for w, m in both)
        lost = tuple(w - v for w, v in zip(weights, won, strict=True))
        return max(Fraction(0), now + most(left - 1, won) + most(left - 1, lost))

    won, lost = tuple(means), tuple(1 - m for m in means)
    now = sum((m - Fraction(1, 2) for m in means), Fraction(0))
    return now + most(pulls - 1, won) + most(pulls - 1, lost)


@pytest.mark.parametrize("horizon", [2, 3, 5, 8, 11])
def test_e33_the_proposition_holds_with_as_many_models_as_steps(horizon: int) -> None:
    """In Fractions, M = H and M = H + 3: the first pull never pays with theta_M =
    (1/2, 1/4), even with p_i next to 1/4, and the gap is (H - 1)/4."""
    near = np.nextafter(0.25, 1.0)
    for members in (horizon, horizon + 3):
        for worlds in (
            linear_bandit(members, bonus=0.25),
            linear_bandit(p=(near,) * (members - 1), bonus=0.25),
        ):
            assert len(worlds) == members
            means = [Fraction(m) for m in worlds.theta.values[:, 1].tolist()]
            assert _most_of_pulling(means, horizon - 1) < 0
            assert means[-1] == Fraction(3, 4)
            best = optimal_values(worlds, horizon).start[-1]
            assert best == (horizon - 1) * 0.75
            assert diameter(worlds).upper == pytest.approx(2.0)


def test_e33_the_printed_instance_needs_more_models_than_steps() -> None:
    """With theta_M = (1/2, 1/2) the first pull pays at M = H and not at 4H + 5."""
    horizon = 10
    few = [Fraction(m) for m in linear_bandit(horizon).theta.values[:, 1].tolist()]
    many = linear_bandit(4 * horizon + 5).theta.values[:, 1].tolist()
    assert _most_of_pulling(few, horizon - 1) > 0
    assert _most_of_pulling([Fraction(m) for m in many], horizon - 1) < 0


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


@pytest.mark.parametrize(("S", "A"), [(10, 10), (5, 20), (3, 34), (4, 26), (21, 41)])
def test_e35_filled_up_classes_keep_the_order(S: int, A: int) -> None:
    """M = SA models, of which min(M, pairs) hide the good pair: sqrt(DMH) all the same.

    V* >= (H - D) rho, since the span of the bias is at most D rho. The other models may
    be anything of diameter D: the real one is among those that hide the pair.
    """
    members, k, arms = S * A, S // 2, (A - 1) // 2
    hiding = min(members, k * arms)
    assert hiding < members
    wanted = 20.0 * log(members) / log(A)
    delta = delta_for_diameter(k, arms, wanted)
    for long in (1, 10, 1000):
        horizon = ceil(long * wanted * members)
        e = 0.6 * sqrt(hiding * delta / horizon)
        found = switch_tree_lower(
            horizon=horizon,
            members=hiding,
            delta=delta,
            e=e,
            diameter=wanted,
            mean_optimal=(horizon - wanted) * (delta + e) / (2.0 * delta + e),
        )
        assert found.value >= 0.01 * sqrt(wanted * members * horizon)


def test_e36_the_eluder_dimension_needs_the_bias_of_the_sample() -> None:
    """One pair (s, a) is two points if two biases make different differences of it."""
    functions = function_class(riverswim(4, (0.2, 0.4, 0.6), left_reward=0.5))
    points = [functions.point(at) for at in range(functions.n_points)]
    pairs = [(point.state, point.action) for point in points]
    assert len(set(pairs)) < len(pairs)
    one = pairs.index(max(pairs, key=pairs.count))
    other = pairs.index(pairs[one], one + 1)
    differences = functions.values[[one, other]] - functions.values[[one, other], :1]
    assert np.abs(differences[0] - differences[1]).max() > 1e-3


def test_e37_uniform_in_a_parameter_is_not_uniform_in_its_square() -> None:
    """An arm of mean x against a safe 1/2, one pull: the best average is 1/2 if x is
    uniform and E sqrt(u) = 2/3 if its square is."""
    points = (np.arange(400) + 0.5) / 400
    for means, expected in ((points, 0.5), (np.sqrt(points), 2.0 / 3.0)):
        arms = bandit(np.column_stack([np.full(400, 0.5), means]))
        found = domain_randomization_oracle(LatentMDP.uniform(arms), horizon=2)
        assert found.value.lower == pytest.approx(expected, abs=1e-4)
        assert found.value.upper == pytest.approx(expected, abs=1e-4)


def test_e39_models_within_one_over_h_have_no_dimension_and_a_gap() -> None:
    """Means (1/2, 11/20) and (1/2, 9/20), H = 10: all the optimal policies."""
    half, horizon = Fraction(1, 2), 10
    means = ((half, Fraction(11, 20)), (half, Fraction(9, 20)))
    assert abs(means[0][1] - means[1][1]) <= Fraction(1, horizon)  # so d_e(1/H) = 0

    def ends(first: Fraction, second: Fraction, pulls: int) -> list[Fraction]:
        """Return W, and the least and greatest value in model 0 among the optimal."""
        if pulls == 0:
            return [Fraction(0)] * 3
        found = []
        for arm in (0, 1):
            p, q = means[0][arm], means[1][arm]
            won = ends(first * p, second * q, pulls - 1)
            failed = ends(first * (1 - p), second * (1 - q), pulls - 1)
            now = (first * p + second * q, first * p, first * p)
            found.append([a + b + c for a, b, c in zip(now, won, failed, strict=True)])
        best = max(value for value, _, _ in found)
        optimal = [each for each in found if each[0] == best]
        return [best, min(v[1] for v in optimal), max(v[2] for v in optimal)]

    pulls = horizon - 1
    value, low, high = ends(half, half, pulls)
    first = pulls * means[0][1] - 2 * high
    second = pulls * half - 2 * (value - low)
    assert float(first) == pytest.approx(0.1296, abs=5e-5)
    assert float(second) == pytest.approx(0.2611, abs=1e-4)
    promise = general_optimistic_regret(
        horizon=horizon, span=1.0, eluder=0, functions=2
    )
    assert promise.value >= second  # the repaired bound does not vanish with d_e
    close = LatentMDP.uniform(bandit([[0.5, 0.5 + 1 / 32], [0.5, 0.5 - 1 / 32]]))
    functions = function_class(close.simulators)  # the same in numbers that floats have
    assert eluder_dimension(functions, 1 / 16).upper == 0
    assert domain_randomization_oracle(close, horizon=16).average_gap.lower > 0.05


def two_banks(*crossing: float) -> SimulatorClass:
    """Return models in which both banks pay 1, and crossings succeed with a chance."""
    kernel = np.zeros((len(crossing), 2, 2, 2))
    for model, chance in enumerate(crossing):
        for bank in (0, 1):
            kernel[model, bank, 0, bank] = 1.0
            kernel[model, bank, 1, 1 - bank] = chance
            kernel[model, bank, 1, bank] = 1.0 - chance
    rewards = np.array([[1.0, 0.0], [1.0, 0.0]])
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


def test_e40_two_biases_of_one_class_have_two_dimensions() -> None:
    """Optimal play stays on either bank: l = (0, 0) and l = (0, 1) both solve the
    equation rho + l = max (R + P l), and F has one function or two."""
    banks = two_banks(1.0, 0.5)
    sizes = []
    for bias in ([0.0, 0.0], [0.0, 1.0]):
        for member in range(2):
            kernel = banks.transitions.array(member)
            assert (banks.rewards[0] + kernel @ bias).max(axis=1).tolist() == [
                1.0 + each for each in bias
            ]
        rows = [banks.transitions.array(m) @ bias for m in range(2)]
        sizes.append(np.abs(rows[0] - rows[1]).max())
    assert sizes == [0.0, 0.5]  # at the scale 1/4: d_e = 0 and N = 1, or 1 and 2
    assert not solve_average_reward(banks).unique_bias.any()
    answer = complexity(banks, 4)
    assert "many-biases" in {note.code for note in answer.notes}
    assert answer.certainty["eluder"] == answer.certainty["covering"] == "certified"
    arms = complexity(bandit([[0.5, 0.25], [0.5, 0.75]]), 4)  # the control
    assert arms.certainty["eluder"] == arms.certainty["covering"] == "exact"


def test_e41_one_state_hides_nothing_and_no_diameter_is_below_one() -> None:
    rng = np.random.default_rng(41)
    one = class_from_arrays(
        np.ones((100, 1, 100, 1)), rng.random((1, 100)), order=IndexOrder.STATE_ACTION
    )
    for horizon in (1, 7):  # S A = M = 100
        values = [optimal_values(model, horizon).start[0] for model in one]
        assert len(set(values)) == 1
    assert diameter(one).upper == 0.0
    assert 20.0 * log(100) / log(100.0**21) < 1.0
    for states in (2, 3, 5):
        kernel = rng.dirichlet(np.ones(states), (1, states, 2))
        model = class_from_arrays(
            kernel, rng.random((states, 2)), order=IndexOrder.STATE_ACTION
        )
        assert diameter(model).upper >= 1.0
    most_actions = 10**15  # that `lower_bound` takes: D >= 2 follows
    assert 20.0 * log(100) / log(most_actions) > 2.0
    short = lower_bound(
        horizon=10**6, members=100, states=1000, actions=most_actions, diameter=1.9
    )
    assert short.unmet
    one_state = lower_bound(
        horizon=10**6, members=100, states=1, actions=100, diameter=20.0
    )
    assert one_state.unmet


def test_e42_the_scale_of_a_linear_class_is_that_of_its_biases() -> None:
    """One parameter, eps = 1, so that d log(1/eps) = 0; biases reach D/2 and more."""
    stay, D = 1 / 16, 16.0
    kernel = np.zeros((2, 2, 1, 2))
    for model, up in enumerate((stay, 1.0)):
        kernel[model, 0, 0] = 1.0 - up, up
        kernel[model, 1, 0] = stay, 1.0 - stay
    mixed = class_from_arrays(
        kernel, np.array([[0.0], [1.0]]), order=IndexOrder.STATE_ACTION
    )
    assert diameter(mixed).upper == pytest.approx(D)
    bias = Fraction(1) / Fraction(2 * stay)  # l(1) - l(0) = 1 / (up + stay)
    assert (1 - Fraction(stay)) * bias > 1  # f differs by more than eps
    functions = function_class(mixed)
    assert eluder_dimension(functions, 1.0).lower == 1
    assert covering_number(functions, 1.0).lower == 2
    assert covering_number(functions, D).upper == 1  # the control: eps = D


def test_e43_a_ball_of_radius_zero_needs_an_atom() -> None:
    base = known_base_gap(0.25, horizon=10)
    atom = neighbourhood_transfer(base, radii=[0.0], masses=[0.5], lipschitz=1.0)
    assert atom.value == 0.5 and not atom.unmet
    none = neighbourhood_transfer(base, radii=[0.0], masses=[0.0], lipschitz=1.0)
    assert none.unmet
