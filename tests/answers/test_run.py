"""What an agent loses while it runs, against exact values where there are some."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import run
from simgap.answers.run.agents import built_agent, run_model
from simgap.base_policies import OptimisticMixture
from simgap.errors import InvalidArgument
from simgap.instances import build_instance
from simgap.planning import diameter, optimal_values, policy_values

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
        assert all(point.label in ("approximate", "guaranteed") for point in each.curve)
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


def test_one_model_is_run_alone_and_intervals_can_be_guaranteed() -> None:
    found = run("random", RIVERS, HORIZON, seeds=2, real=1)
    assert [each.name for each in found.models] == [
        build_instance(RIVERS).model_names[1]
    ]
    assert found.models[0].gap.label == "guaranteed"  # so few runs say little else
    with pytest.raises(InvalidArgument, match="seeds"):
        run("random", RIVERS, HORIZON, seeds=1)


def test_few_runs_have_guaranteed_intervals_and_many_if_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[bool] = []
    right = RUN.measured

    def noted(world: Any, runs: Any, confidence: float, *, guaranteed: bool) -> Any:
        met.append(guaranteed)
        assert confidence == 0.95
        return right(world, runs, confidence, guaranteed=guaranteed)

    monkeypatch.setattr(RUN, "measured", noted)
    thin = int(RUN.THIN)
    assert thin == RUN.THIN
    for seeds, asked, expected in (
        (thin - 1, False, True),
        (thin, False, False),
        (thin, True, True),
    ):
        run("random", RIVERS, 3, seeds=seeds, real=0, guaranteed=asked)
        assert met.pop() is expected


def test_curves_follow_two_hundred_runs_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[Any] = []
    right = RUN.run_program

    def noted(*given: Any, **more: Any) -> Any:
        met.append((more["runs"], more.get("grid") is not None, more["models"]))
        threads.append(more.get("threads"))
        return right(*given, **more)

    threads: list[int | None] = []
    monkeypatch.setattr(RUN, "run_program", noted)
    run("random", RIVERS, 3, seeds=201, real=1, curves=True, threads=2)
    assert met == [(1, False, [1]), (201, False, [1]), (200, True, [1])]
    assert threads == [None, 2, 2]  # the first one compiles


def test_a_learner_that_eliminates_says_so() -> None:
    found = run("likelihood", RIVERS, HORIZON, seeds=10)
    assert found.eliminates and found.vacuity_horizon is None


@pytest.mark.parametrize("vacuous", [False, True])
def test_a_continuum_of_mixtures_has_a_guarantee(
    vacuous: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told for the models that are run; their diameters are its argument."""
    met: list[float] = []
    text = "riverswim?states=3&success=0.1..0.6"
    given = run_model(text)

    def guarantee(self: Any, far: float) -> Any:
        met.append(far)
        return Stand(gap=3.25, vacuous=vacuous)

    monkeypatch.setattr(OptimisticMixture, "guarantee", guarantee)
    agent, (note,) = built_agent(
        "general", given, HORIZON, seed=3, literal=False, time_limit=None
    )
    assert isinstance(agent, OptimisticMixture)
    assert met == [float(diameter(given.latent.simulators).upper)]
    assert note.code == "linear-in-parameters" and "mixtures of 2" in note.text
    assert ("3.25" in note.text) is not vacuous


def test_a_continuum_that_is_not_linear_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[Any] = []

    def agent(*given: Any, seed: int) -> Any:
        met.append((given[1:], seed))
        return Stand(policy="covered")

    monkeypatch.setattr(AGENTS, "continuum_agent", agent)
    given = run_model("riverswim?states=3&success=0.1..0.6")
    assert given.continuum is not None
    policy: Any
    policy, (note,) = built_agent(
        "general", given, HORIZON, seed=3, literal=False, time_limit=None
    )
    box, corners = given.continuum.box, given.continuum.corners()
    assert policy == "covered" and note.code == "nothing-guaranteed"
    ((shape, _, horizon), seed) = met[0]
    assert (shape, horizon, seed) == (box, HORIZON, 3)
    assert len(corners) == 2


def test_an_oracle_with_a_limit_is_planned_within_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    met: list[Any] = []

    def planned(latent: Any, *, horizon: int, solver: Any) -> Any:
        met.append((horizon, solver.time_limit, solver.seed))
        return Stand(policy="planned")

    monkeypatch.setattr(AGENTS, "domain_randomization_oracle", planned)
    found: Any = built_agent(
        "oracle", run_model(RIVERS), 6, seed=3, literal=False, time_limit=2.0
    )
    assert found == ("planned", ()) and met == [(6, 2.0, 3)]


def test_an_agent_that_draws_is_given_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[Any] = []
    monkeypatch.setattr(
        AGENTS, "build_policy", lambda *given, **more: met.append((*given, more))
    )
    model = run_model(RIVERS)
    built_agent("random", model, 6, seed=3, literal=True, time_limit=None)
    assert met == [("random", model.latent, 6, {"seed": 3, "literal": True})]
