"""Tables and graphs run compiled: the same episodes as step by step."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies import fixed
from simgap.base_policies.fixed import fixed_policy, uniformly_random
from simgap.errors import InvalidArgument, OutsideClass
from simgap.instances import absorbing_doors, bandit, riverswim
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import domain_randomization_oracle
from simgap.planning.episodic import policy_values
from simgap.policies import NOWHERE, GraphPolicy, MarkovPolicy, Pattern
from simgap.simulation.observed import RewardSignal, observed_class
from simgap.simulation.runs import Stepwise, log_grid, run_program
from simgap.simulation.worlds import real_models
from tests.base_policies.cases import assert_same, random_class

HORIZON = 150


def assert_both_ways(
    policy: MarkovPolicy | GraphPolicy,
    worlds: SimulatorClass,
    horizon: int,
    *,
    signal: RewardSignal = RewardSignal.UNSEEN,
    runs: int = 4,
) -> None:
    fast = fixed_policy(policy, worlds, signal=signal)
    real = real_models(fast.observed, worlds, horizon)
    slow = Stepwise(policy, fast.observed)
    for grid in (None, log_grid(horizon)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fixed, "run_stepwise", None)  # nothing is left for it
            found = run_program(fast, real, runs=runs, seed=1, grid=grid)
        wanted = run_program(slow, real, runs=runs, seed=1, grid=grid)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)


def tables(rng: np.random.Generator, horizon: int) -> dict[str, object]:
    shape, mixed = (horizon, 4), rng.dirichlet([0.5, 0.5, 0.5], (horizon, 4))
    long = np.repeat(rng.integers(0, 3, (horizon // 70 + 1, 4)), 70, axis=0)
    return {
        "one rule": rng.integers(0, 3, 4),
        "a rule per step": rng.integers(0, 3, shape),
        "long rules and short ones": np.concatenate(
            [long[: horizon // 2], rng.integers(0, 3, (horizon - horizon // 2, 4))]
        ),
        "mixed": mixed[0],
        "mixed by step": mixed,
        "nearly certain": np.where(mixed > 0.9, 1.0, 0.0)
        + np.where((mixed > 0.9).any(axis=-1, keepdims=True), 0.0, 1.0 / 3.0),
    }


@pytest.mark.parametrize("kind", list(tables(np.random.default_rng(0), 10)))
@pytest.mark.parametrize("horizon", [HORIZON, 2500])
def test_tables_run_as_they_do_step_by_step(kind: str, horizon: int) -> None:
    """2048 steps are the last ones, whose losses are added up one by one."""
    rng = np.random.default_rng(len(kind))
    worlds = random_class(rng, members=2, actions=3, random_start=True)
    table = np.asarray(tables(rng, horizon)[kind])
    if table.dtype.kind == "f":
        table = table / table.sum(axis=-1, keepdims=True)
    policy = MarkovPolicy(kind, 3, table)
    assert_both_ways(policy, worlds, horizon, runs=2 if horizon > HORIZON else 4)


@pytest.mark.parametrize("seed", range(3))
def test_the_oracles_graph_runs_as_it_does_step_by_step(seed: int) -> None:
    rng = np.random.default_rng(seed)
    horizon = 5 + seed
    worlds = random_class(rng, members=3, random_start=seed == 1)
    policy = domain_randomization_oracle(
        LatentMDP.uniform(worlds), horizon=horizon
    ).policy
    assert isinstance(policy, GraphPolicy)
    assert_both_ways(policy, worlds, horizon, runs=30)


def test_a_graph_for_a_longer_horizon_can_be_cut() -> None:
    worlds = bandit(((0.6, 0.5), (0.5, 0.6)))
    policy = domain_randomization_oracle(LatentMDP.uniform(worlds), horizon=12).policy
    assert isinstance(policy, GraphPolicy)
    assert_both_ways(policy, worlds, 7, runs=30)


def stationary_graph(
    worlds: SimulatorClass, actions: list[int], *, without: int | None = None
) -> GraphPolicy:
    """One node per state, one rule each: the memory of a stationary policy.

    Nothing is planned for the state `without`.
    """
    observed = observed_class(worlds)
    pattern = Pattern(
        worlds.n_states, worlds.n_actions, observed.indptr, observed.next_state
    )
    rows = np.arange(worlds.n_states) * worlds.n_actions + actions
    after = np.concatenate(
        [pattern.indices[pattern.indptr[r] : pattern.indptr[r + 1]] for r in rows]
    )
    nothing = np.zeros(worlds.n_states, np.int32)
    return GraphPolicy(
        name="for ever",
        pattern=pattern,
        horizon=None,
        node_state=np.arange(worlds.n_states, dtype=np.int32),
        start_node=np.arange(worlds.n_states, dtype=np.int32),
        rule_offsets=np.arange(worlds.n_states + 1, dtype=np.int64),
        rule_since=nothing,
        rule_until=nothing,
        rule_action=np.array(actions, np.int32),
        next_offsets=np.cumsum([0, *np.diff(pattern.indptr)[rows]], dtype=np.int64),
        next_node=np.where(after == without, NOWHERE, after).astype(np.int32),
    )


def test_a_graph_that_is_the_same_for_ever() -> None:
    worlds, actions = riverswim(3, (0.2, 0.4)), [1, 0, 1]
    graph = stationary_graph(worlds, actions)
    assert_both_ways(graph, worlds, 300)
    real = real_models(observed_class(worlds), worlds, 300)
    table = MarkovPolicy("the same", 2, np.array(actions))
    for one, other in zip(
        run_program(fixed_policy(graph, worlds), real, runs=5, seed=0),
        run_program(fixed_policy(table, worlds), real, runs=5, seed=0),
        strict=True,
    ):
        assert_same(one, other)


def test_estimates_of_a_table_are_unbiased() -> None:
    """The mean of rewards is the value by backward induction."""
    rng = np.random.default_rng(0)
    worlds = random_class(rng, members=2)
    mixture = rng.dirichlet([1.0, 1.0], (60, 4))
    exact = policy_values(worlds, mixture, 60).start
    program = fixed_policy(MarkovPolicy("mixed", 2, mixture), worlds)
    real = real_models(program.observed, worlds, 60)
    for m, runs in enumerate(run_program(program, real, runs=3000, seed=0)):
        error = runs.reward.std() / np.sqrt(3000)
        assert abs(runs.reward.mean() - exact[m]) < 4.9 * error
        assert abs(runs.reward.mean() - exact[m] - 10 * error) > 4.9 * error
        error = runs.gap.std() / np.sqrt(3000)
        assert abs(runs.gap.mean() - (real.optimal[m] - exact[m])) < 4.9 * error


def test_classes_without_a_gain_can_be_run() -> None:
    doors = absorbing_doors(3)
    assert_both_ways(uniformly_random(doors), doors, 12, runs=20)
    policy = domain_randomization_oracle(LatentMDP.uniform(doors), horizon=8).policy
    assert isinstance(policy, GraphPolicy)
    assert_both_ways(policy, doors, 8, runs=20)


def test_steps_beyond_the_table_are_refused() -> None:
    worlds = bandit(((0.6, 0.5),))
    policy = MarkovPolicy("short", 2, np.zeros((3, 2), np.int32))
    program = fixed_policy(policy, worlds)
    with pytest.raises(InvalidArgument, match="made for 3 steps"):
        run_program(program, real_models(program.observed, worlds, 4), runs=1, seed=0)


def test_a_policy_for_another_class_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="is for 4 states and 2 actions"):
        fixed_policy(MarkovPolicy("x", 2, np.zeros(4, np.int32)), riverswim(3))


def test_a_graph_says_where_the_real_world_left_the_class() -> None:
    """The graph was made for arms that always win; the real one sometimes loses."""
    worlds = bandit(((0.5, 1.0), (1.0, 0.5)))
    program = fixed_policy(stationary_graph(worlds, [1, 1], without=0), worlds)
    real = real_models(program.observed, worlds, 50)
    (runs,) = run_program(program, real, runs=10, seed=0, models=[0])
    assert (runs.reward == 49.0).all()
    with pytest.raises(OutsideClass, match="led to state 0"):
        run_program(program, real, runs=10, seed=0, models=[1])
