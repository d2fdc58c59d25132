"""The certified optimum of a grid beside what is measured."""

from __future__ import annotations

import pytest

import simgap
from simgap.planning import optimal_values


def test_the_optimum_stands_at_every_point_where_the_table_is_the_simulator() -> None:
    text = "model:riverswim?success=0.2,0.35,0.5"
    told: list[str] = []
    answer = simgap.transfer(
        text,
        ["random", "zero"],
        references="grid",
        randomize="success={0.2,0.5} delay={0,1}",
        horizon=20,
        episodes=8,
        beyond=1.0,
        progress=told.append,
    )
    worlds = simgap.instances.build_instance(text.removeprefix("model:"))
    ends = optimal_values(worlds, 20).start_ends
    for policy in answer.policies:
        for point in policy.points:
            if point.theta["delay"]:
                assert point.grid_optimum is None
            else:
                member = 0 if point.theta["success"] == 0.2 else 2
                assert point.grid_optimum is not None
                assert point.grid_optimum.ends == pytest.approx(
                    tuple(ends[member]), rel=1e-11
                )
    assert answer.certainty["grid_optimum"] == "certified"
    assert any(each.code == "grid-optimum" for each in answer.notes)
    assert sum("planning" in each for each in told) == 4


def test_without_a_grid_or_with_noise_there_is_no_optimum() -> None:
    for references, noise in (("zero", ""), ("grid:5x5", "action=0.1")):
        answer = simgap.transfer(
            "gym:Pendulum-v1",
            "random",
            references=references,
            randomize="mass={1}",
            horizon=5,
            episodes=4,
            beyond=1.0,
            noise=noise,
        )
        assert "grid_optimum" not in answer.certainty
        assert answer.policies[0].points[0].grid_optimum is None
