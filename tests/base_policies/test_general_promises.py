"""Algorithm 4: what theory 4.7 promises, on every path; errata E20; exact tails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from simgap.arrays import AnyArray, FloatArray
from simgap.base_policies.paper.general_optimistic import (
    Data,
    GeneralOptimistic,
    general_optimistic,
)
from simgap.instances import bandit, riverswim
from simgap.mdp import SimulatorClass
from simgap.policies.interface import Step
from simgap.simulation.observed import RewardSignal
from simgap.simulation.runs import Stepwise, run_program
from tests.base_policies.cases import prepared, random_class
from tests.base_policies.general_cases import (
    COINS,
    far_apart,
    memories,
    opposites,
)
from tests.base_policies.variants import lived

SURE = 1e-6  # chance with which a sampling test may fail


def test_the_real_model_leaves_the_set_no_more_often_than_promised() -> None:
    """Item 1: 1/H. A tenth of the radius, and the printed rule, break it."""
    horizon, runs = 300, 4_000
    agent = general_optimistic(bandit(COINS), horizon)
    limit = binom.ppf(1.0 - SURE, runs, 1.0 / horizon)

    def most_often(each: GeneralOptimistic) -> int:
        found = run_program(each, prepared(each), runs=runs, seed=5)
        assert all((of_model.switches >= 4).all() for of_model in found)
        return max(int(of_model.truth_eliminated.sum()) for of_model in found)

    assert most_often(agent) <= limit
    assert most_often(replace(agent, radius=0.1 * agent.radius)) > limit
    assert most_often(replace(agent, literal=True)) > limit


@pytest.mark.parametrize("seed", range(10))
def test_every_path_keeps_items_2_to_5(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worlds = far_apart(rng, 2 + seed)
    if seed % 2 == 0:
        worlds = random_class(rng, members=4, own_rewards=seed % 4 == 2)
    signal = RewardSignal.RANDOM if seed % 4 == 2 else RewardSignal.UNSEEN
    agent = general_optimistic(worlds, 3_000, signal=signal)
    real = prepared(agent)
    for runs in run_program(agent, real, runs=30, seed=seed):
        assert (runs.slack <= 1.0).all()
        assert runs.switches.max() <= agent.most_switches
        lost = runs.horizon * real.gain[runs.model] - runs.reward
        held = ~runs.truth_eliminated
        assert held.any()
        assert (lost[held] <= runs.bound[held] + 1e-9 * runs.horizon).all()
        assert np.isnan(runs.bound[~held]).all()
        assert runs.regret.mean() <= agent.most_regret


class Recording:
    """The readable agent, and every step with the memory that it met."""

    def __init__(self, agent: GeneralOptimistic) -> None:
        self.agent, self.name = agent, "recording"
        self.paths: list[list[tuple[Data, Step]]] = []

    def start(self, state: int) -> Data:
        self.paths.append([])
        return self.agent.start(state)

    def act(self, memory: Data, h: int, state: int) -> FloatArray:
        return self.agent.act(memory, h, state)

    def observe(self, memory: Data, step: Step) -> Data:
        self.paths[-1].append((memory, step))
        return self.agent.observe(memory, step)


@pytest.mark.parametrize("literal", [False, True])
def test_slack_and_bound_are_those_of_sums_over_all_steps(literal: bool) -> None:
    """Items 2 to 4 at every step of a path, from its data instead of its counts."""
    worlds, truth = far_apart(np.random.default_rng(1), 4), 2
    agent = replace(general_optimistic(worlds, 300), literal=literal)
    real, recording = prepared(agent), Recording(agent)
    (fast,) = run_program(agent, real, runs=3, seed=0, models=[truth])
    slow = Stepwise(recording, agent.observed)
    run_program(slow, real, runs=3, seed=0, models=[truth])
    for run, path in enumerate(recording.paths):
        assert all(truth in memory.alive for memory, _ in path)
        assert fast.switches[run] > 0
        ratio = _ratio(agent, path, truth, int(fast.switches[run]))
        assert fast.slack[run] == pytest.approx(ratio, rel=1e-12)
        bound = np.nan if literal else _bound(agent, path, truth, len(path))
        assert fast.bound[run] == pytest.approx(bound, rel=1e-9, nan_ok=True)


def _ratio(
    agent: GeneralOptimistic, path: list[tuple[Data, Step]], truth: int, switches: int
) -> float:
    """Return the greatest ratio of items 2 to 4 over all steps of a path."""
    f = agent.functions.mean  # f_m(s, pi_k(s), l_k) at [k, s, m]
    points = np.array([(memory.current, step.state) for memory, step in path])
    ratio = total = 0.0
    for h, (k, s) in enumerate(points, start=1):
        past = f[points[:h, 0], points[:h, 1]]
        mass = float(((past[:, k] - past[:, truth]) ** 2).sum())
        ratio = max(ratio, mass / agent.most_mass)
        total += abs(float(f[k, s, k] - f[k, s, truth]))
    return max(ratio, total / agent.most_sum, switches / agent.most_switches)


def _bound(
    agent: GeneralOptimistic, path: list[tuple[Data, Step]], truth: int, stop: int
) -> float:
    """Return the bound of a path of which the steps from `stop` on are expected."""
    luck = climbed = 0.0
    for memory, step in path[:stop]:
        bias = agent.known.bias[memory.current]
        mean = agent.functions.mean[memory.current, step.state, truth]
        luck += float(mean - bias[step.next_state])
        climbed += float(bias[step.next_state] - bias[step.state])
    if stop < len(path):
        memory, step = path[stop]
        bias = agent.known.bias[memory.current]
        climbed += float(bias.max() - bias[step.state])
    lengths = np.bincount([memory.switches for memory, _ in path])
    inside = 4.0 * agent.radius + agent.ridge + agent.width**2
    apart = np.minimum(lengths * agent.width, np.sqrt(lengths * inside)).sum()
    return float(apart) + luck + climbed


def test_few_switches_on_the_rivers_of_row_41() -> None:
    """Theory row 41: K <= 9 at H = 10^4."""
    agent = general_optimistic(riverswim(4, (0.35, 0.15, 0.75)), 10_000)
    found = run_program(agent, prepared(agent), runs=30, seed=0)
    assert 6 <= max(int(runs.switches.max()) + 1 for runs in found) <= 9


# Errata E20: print never empties Z_new.


def test_e20_printed_data_count_twice() -> None:
    """Masses of one a step, alpha = 2: repaired, Z + alpha doubles at each switch.

    Repaired: switches at 2, 6, 14, 30. Printed: Z_new holds all t steps, Z the sum of
    all earlier switches' steps, and fires at t = Z + 2: 2, 4, 8, 16, which is more than
    item 4 allows at H = 16.
    """
    repaired = general_optimistic(opposites(), 30)
    assert (repaired.width, repaired.ridge) == (1.0, 2.0)
    for agent, expected in (
        (repaired, [2, 6, 14, 30]),
        (replace(repaired, literal=True), [2, 4, 8, 16]),
    ):
        found = memories(agent, lived(agent, 0, 30, 0))
        counts = [0, *(memory.switches for memory in found)]
        assert [h for h in range(1, 31) if counts[h] > counts[h - 1]] == expected
        for memory, steps in zip(found, range(1, 31), strict=True):
            held = memory.settled.apart[0] + sum(memory.fresh)
            if agent.literal:
                assert held > steps or memory.switches <= 1
            else:
                assert held == steps
    short = general_optimistic(opposites(), 16)
    printed = replace(short, literal=True)
    (one, _) = run_program(short, prepared(short), runs=2, seed=0)
    (other, _) = run_program(printed, prepared(printed), runs=2, seed=0)
    assert (one.switches == 3).all()
    assert (one.slack <= 1.0).all()
    assert (other.switches == 4).all()
    assert (other.slack > 1.0).all()


# What is left to its expectation.


@pytest.mark.parametrize(
    ("firsts", "radius", "truth", "final"),
    [
        ((0.5, 0.35), None, 0, 0),  # never leaves arm 0
        ((0.5, 0.35), None, 1, 1),  # finds out that arm 1 is better
        ((0.5, 0.49, 0.48, 0.47, 0.46, 0.35), 150.0, 5, 0),  # never finds out
    ],
)
def test_the_tail_is_worth_what_the_last_plan_earns(
    firsts: tuple[float, ...], radius: float | None, truth: int, final: int
) -> None:
    worlds, horizon = bandit([(first, 0.45) for first in firsts]), 5_500
    agent = general_optimistic(worlds, horizon)
    agent = replace(agent, radius=agent.radius if radius is None else radius)
    real, recording = prepared(agent), Recording(agent)
    (left,) = run_program(agent, real, runs=1, seed=0, models=[truth])
    stop, state = int(left.simulated[0]), int(left.final_state[0])
    assert 1_000 < stop < 3_400
    slow = Stepwise(recording, agent.observed)
    grid = np.array([stop])
    (whole,) = run_program(slow, real, runs=1, seed=0, models=[truth], grid=grid)
    (path,) = recording.paths
    assert path[stop][1].state == state
    assert {memory.current for memory, _ in path[stop:]} == {final}
    worth = _earned(worlds, truth, agent.known.policy[final], horizon - stop)[state]
    above = worth - (horizon - stop) * real.gain[truth]
    assert whole.trace[0, 0] - left.regret[0] == pytest.approx(above, abs=1e-9)
    bound = _bound(agent, path, truth, stop)
    assert left.bound[0] == pytest.approx(bound, rel=1e-9)
    ratio = _ratio(agent, path[:stop], truth, path[-1][0].switches)
    assert left.slack[0] == pytest.approx(ratio, rel=1e-12)


def _earned(
    worlds: SimulatorClass, member: int, policy: AnyArray, steps: int
) -> FloatArray:
    model, value = worlds[member], np.zeros(worlds.n_states)
    P, R = model.transitions.array(0), model.rewards
    here = np.arange(worlds.n_states)
    for _ in range(steps):
        value = R[here, policy] + P[here, policy] @ value
    return value
