"""Draws and accounts of the simulator against plain Python and exact chances."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.walking import walk as kernel
from simgap._kernels.walking.endings import leave_to_expectation
from simgap._kernels.walking.streams import mixed
from simgap._kernels.walking.walk import Record, new_run
from simgap.mdp import SimulatorClass, class_from_arrays
from simgap.simulation.observed import observed_class
from simgap.simulation.worlds import RealModels, real_models
from tests.base_policies.cases import random_class
from tests.kernels.inputs import course_of
from tests.reference import walk as reference


def prepared(worlds: SimulatorClass, horizon: int) -> RealModels:
    return real_models(observed_class(worlds), worlds, horizon)


@pytest.mark.parametrize("seed", range(8))
def test_cells_stand_for_the_chances_to_the_last_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worlds = random_class(rng, members=2, states=int(rng.integers(2, 9)))
    observed = observed_class(worlds)
    for member in range(2):
        world = prepared(worlds, 5).world(member)
        for row in range(observed.indptr.size - 1):
            found = reference.edge_chances(world, row)
            edges = range(observed.indptr[row], observed.indptr[row + 1])
            assert set(found) <= set(edges)
            for e in edges:
                wanted = Fraction(float(observed.chances[member, e]))
                off = abs(float(found.get(e, Fraction(0)) - wanted))
                assert off <= 4e-16 * len(edges)
                if wanted == 0:
                    assert found.get(e, 0) == 0  # impossible stays impossible


@pytest.mark.parametrize("seed", range(6))
def test_an_episode_is_that_of_plain_python(seed: int) -> None:
    rng = np.random.default_rng(seed)
    worlds = random_class(rng, states=5)
    real = prepared(worlds, 60)
    world, run = real.world(seed % 3), new_run(real.world(0))
    key = int(rng.integers(2**63))
    policy = rng.integers(0, 2, size=5)
    actions: list[int] = []
    kernel.begin(world, np.uint64(key), run)
    state, edges = int(run.clock[kernel.STATE]), []
    for _ in range(60):
        actions.append(int(policy[state]))
        row = state * 2 + int(policy[state])
        edges.append(kernel.step_with(world, run, row, np.zeros(0, np.int64), run.sums))
        state = int(run.clock[kernel.STATE])
    assert edges == reference.walk(world, key, actions, 2)
    assert int(run.stream[2]) == reference.mixed(key, 2)
    assert mixed(np.uint64(key), 7) == reference.mixed(key, 7)
    again = new_run(world)
    kernel.begin(world, np.uint64(key), again)
    course = course_of(world, policy)
    kernel.play(world, again, course, 60, np.zeros(0, np.int64), run.sums)
    np.testing.assert_array_equal(again.counts, run.counts)
    assert again.sums[kernel.LATE] == run.sums[kernel.LATE]


def test_a_walk_stops_at_its_target_and_when_a_quota_is_used_up() -> None:
    chain = np.zeros((1, 4, 1, 4))
    for s in range(4):
        chain[0, s, 0, (s + 1) % 4] = 1.0
    worlds = class_from_arrays(chain, np.zeros((4, 1)))
    for horizon in (20, 5000):  # late steps and early ones
        world = prepared(worlds, horizon).world(0)
        course = course_of(world, np.zeros(4, np.int32))
        run, nothing = new_run(world), np.zeros(0, np.int64)
        kernel.begin(world, np.uint64(1), run)
        kernel.play_until(world, run, course, 10, 3, nothing, nothing, run.sums)
        assert run.clock[kernel.STEPS] == 3 and run.clock[kernel.STATE] == 3
        kernel.play_until(world, run, course, 10, 3, nothing, nothing, run.sums)
        assert run.clock[kernel.STEPS] == 3  # already there: no step (errata E13)
        quota = np.array([2, 2, 2, 2])
        kernel.play_until(world, run, course, 100, -1, quota, nothing, run.sums)
        assert run.clock[kernel.STEPS] == 3 + 8 and quota.sum() == 0


@pytest.mark.parametrize("horizon", [1, 6, 40])
@pytest.mark.parametrize("random_start", [False, True])
def test_losses_average_to_the_exact_gap(horizon: int, random_start: bool) -> None:
    """The account is unbiased: its mean over all episodes is V* - V (exact chances)."""
    from simgap.planning import optimal_values, policy_values

    worlds = random_class(np.random.default_rng(5), random_start=random_start)
    policy = np.array([1, 0, 1, 1], np.int32)
    real = prepared(worlds, horizon)
    wanted = (
        optimal_values(worlds, horizon).start
        - policy_values(worlds, policy, horizon).start
    )
    for member in range(3):
        world = real.world(member)
        # follow the law of the state instead of drawing: every sum in expectation
        law, gap = np.array(world.start_law), 0.0
        gap += float(law @ world.ahead)
        assert world.early == 0
        gap += float(law @ (world.potential - world.late_potential))
        rows = np.arange(4) * 2 + policy
        for h in range(horizon):
            gap += float(law @ world.late_excess[horizon - h - 1, rows])
            after = np.zeros(4)
            for s in range(4):
                for e in range(world.indptr[rows[s]], world.indptr[rows[s] + 1]):
                    chance = real.observed.chances[member, e]
                    after[world.next_state[e]] += law[s] * chance
            law = after
        assert gap == pytest.approx(wanted[member], abs=1e-12)


def test_a_tail_is_what_the_steps_would_have_brought() -> None:
    """Leaving the rest to its expectation keeps the mean of gap, regret and reward."""
    worlds = random_class(np.random.default_rng(8))
    horizon = 5000
    real = prepared(worlds, horizon)
    world, policy = real.world(2), np.array([1, 0, 1, 1], np.int32)
    tails = real.tails(2, policy[None])
    assert tails is not None
    run = new_run(world)
    numbers, counts = np.zeros((5, 1)), np.zeros((5, 1), np.int64)
    record = Record(
        reward=numbers[0],
        gap=numbers[1],
        regret=numbers[2],
        bound=numbers[3],
        slack=numbers[4],
        switches=counts[0],
        resets=counts[1],
        identified=counts[2],
        simulated=counts[3],
        eliminated=np.zeros((1, 3), np.int64),
        trace=np.zeros((1, 0)),
        final_state=counts[4],
    )
    kernel.begin(world, np.uint64(3), run)
    leave_to_expectation(world, run, tails, 0)
    kernel.finish(world, run, record, 0)
    from simgap.planning import optimal_values, policy_values

    value = policy_values(worlds, policy, horizon).start[2]
    best = optimal_values(worlds, horizon).start[2]
    assert record.reward[0] == pytest.approx(value, rel=1e-11)
    assert record.gap[0] == pytest.approx(best - value, rel=1e-9)
    assert record.regret[0] == pytest.approx(horizon * real.gain[2] - value, rel=1e-9)
