"""A seed in, the same bytes out: on one core or two, together or one by one."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import SimulatorClass
from simgap.simulation.runs import Program, Runs, log_grid, run_program
from simgap.simulation.worlds import RealModels, real_models

HORIZON = 3000


def rivers() -> SimulatorClass:
    return riverswim(4, (0.1, 0.35, 0.6), left_reward=0.4, uniform=True)


def prepared() -> tuple[Program, RealModels]:
    agent = optimistic_exploration(rivers(), HORIZON, threshold=Threshold.VARIANCE)
    return agent, real_models(agent.observed, agent.known.simulators, HORIZON)


def assert_equal(one: Runs, other: Runs) -> None:
    for each in fields(Runs):
        np.testing.assert_array_equal(
            getattr(one, each.name), getattr(other, each.name), err_msg=each.name
        )


@pytest.mark.parametrize("threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bytes(threads: int) -> None:
    agent, real = prepared()
    grid = log_grid(HORIZON)
    one = run_program(agent, real, runs=30, seed=5, grid=grid, threads=1)
    many = run_program(agent, real, runs=30, seed=5, grid=grid, threads=threads)
    for a, b in zip(one, many, strict=True):
        assert_equal(a, b)


def test_runs_together_are_those_one_by_one_in_any_order() -> None:
    agent, real = prepared()
    together = run_program(agent, real, runs=6, seed=9)
    for number in (4, 0, 5, 2):
        for model in (2, 0, 1):
            (alone,) = run_program(
                agent, real, runs=1, seed=9, first_run=number, models=[model]
            )
            assert alone.reward[0] == together[model].reward[number]
            assert alone.gap[0] == together[model].gap[number]
            assert alone.regret[0] == together[model].regret[number]
            np.testing.assert_array_equal(
                alone.eliminated[0], together[model].eliminated[number]
            )


def test_seeds_models_and_runs_have_luck_of_their_own() -> None:
    agent, real = prepared()
    runs = run_program(agent, real, runs=40, seed=1)
    assert len(set(runs[0].reward.tolist())) > 20
    other = run_program(agent, real, runs=40, seed=2)
    assert (runs[0].reward != other[0].reward).mean() > 0.8
    assert (runs[0].final_state != runs[1].final_state).any()


def test_a_trace_is_the_regret_along_the_way() -> None:
    agent, real = prepared()
    grid = log_grid(HORIZON)
    for runs in run_program(agent, real, runs=5, seed=0, grid=grid):
        assert grid[-1] == HORIZON
        np.testing.assert_array_equal(runs.trace[:, -1], runs.regret)
        assert np.isfinite(runs.trace).all()


def test_progress_counts_all_runs() -> None:
    agent, real = prepared()
    told: list[tuple[int, int]] = []
    run_program(agent, real, runs=7, seed=0, progress=lambda a, b: told.append((a, b)))
    assert told[-1] == (21, 21)


@pytest.mark.parametrize(
    "wrong",
    [
        {"runs": 0},
        {"runs": 2.5},
        {"seed": -1},
        {"threads": 0},
        {"first_run": -1},
        {"grid": np.array([3, 2])},
        {"grid": np.array([HORIZON + 1])},
    ],
)
def test_what_cannot_be_run_is_refused(wrong: dict[str, object]) -> None:
    agent, real = prepared()
    with pytest.raises(InvalidArgument):
        run_program(agent, real, **({"runs": 2, "seed": 0} | wrong))  # type: ignore[arg-type]


@pytest.mark.parametrize("horizon", [1, 9, 10, 99, 12345])
def test_a_grid_of_steps_rises_to_the_horizon(horizon: int) -> None:
    grid = log_grid(horizon)
    assert grid[0] == 1 and grid[-1] == horizon
    assert (np.diff(grid) > 0).all()
