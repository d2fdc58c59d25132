"""What an agent loses while it runs, against exact values where there are some."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from simgap.answers import run
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.planning import optimal_values, policy_values

RUN: Any = import_module("simgap.answers.run.run")
AGENTS: Any = import_module("simgap.answers.run.agents")
RIVERS = "riverswim?states=3&success=0.2,0.8"
HORIZON = 12


def test_random_actions_lose_what_their_exact_values_say() -> None:
    worlds = build_instance(RIVERS)
    best = optimal_values(worlds, HORIZON).start_ends.mean(axis=1)
    random = np.full((3, 2), 0.5)
    value = policy_values(worlds, random, HORIZON).start_ends.mean(axis=1)
    told: list[str] = []
    found = run(
        "random", RIVERS, HORIZON, seeds=30, seed=5, curves=True, progress=told.append
    )
    for each, optimal, got in zip(found.models, best, value, strict=True):
        assert each.optimal == pytest.approx(optimal)
        assert each.gap.lower <= optimal - got <= each.gap.upper
        steps = [point.step for point in each.curve]
        assert steps[0] == 1 and steps[-1] == HORIZON
        last = each.curve[-1]
        assert each.regret is not None
        assert last.lower <= last.estimate <= last.upper
        assert last.lower <= each.regret.upper and each.regret.lower <= last.upper
    assert found.steps_simulated == 2 * 30 * HORIZON
    assert (found.seeds, found.horizon, found.eliminates) == (30, HORIZON, False)
    assert found.vacuity_horizon is None and found.steps_per_second > 0.0
    assert (found.provenance.model, found.provenance.seed) == (RIVERS, 5)
    assert any("30 of" in word or "60 of" in word for word in told)
    again = run("random", RIVERS, HORIZON, seeds=30, seed=5, threads=2)
    assert [each.gap for each in again.models] == [each.gap for each in found.models]
    assert all(each.curve == () for each in again.models)
    other = run("random", RIVERS, HORIZON, seeds=30, seed=6)
    assert [each.gap for each in other.models] != [each.gap for each in found.models]


def test_one_model_is_run_alone_and_has_both_intervals() -> None:
    found = run("random", RIVERS, HORIZON, seeds=2, real=1)
    assert [each.name for each in found.models] == [
        build_instance(RIVERS).model_names[1]
    ]
    assert found.models[0].gap.guaranteed is not None
    with pytest.raises(InvalidArgument, match="seeds"):
        run("random", RIVERS, HORIZON, seeds=1)


def test_a_learner_that_eliminates_says_so() -> None:
    found = run("likelihood", RIVERS, HORIZON, seeds=10)
    assert found.eliminates and found.vacuity_horizon is None
