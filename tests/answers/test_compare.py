"""Rows of a comparison against exact recursions, and which policy is measured how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from math import inf
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import compare, named_model
from simgap.answers.compare import checked_policies
from simgap.answers.oracle import compared, planned
from simgap.errors import InvalidArgument, NotSolved
from simgap.gap import MonteCarlo
from simgap.intervals import Certified, Estimate
from simgap.oracle import AutoOracle, Outcome
from simgap.planning import optimal_values, policy_values
from simgap.records import Notes, Oracle
from tests.answers.audit_cases import coins
from tests.note_codes import codes
from tests.reference.latent import exact_gap

comparing: Any = import_module("simgap.answers.compare")
measuring: Any = import_module("simgap.answers.policy_gaps")

LATENT = coins(0.2, 0.9, prior=(0.25, 0.75))
H = 4


def silent(word: str) -> None:
    pass


@pytest.fixture(scope="module")
def plan() -> Oracle:
    given = named_model(LATENT)
    found = planned(given, H, solver=AutoOracle(), tell=silent)
    return compared(LATENT, found, silent, effort=0.01)


def test_rows_that_are_planned_hold_the_exact_gaps(plan: Oracle) -> None:
    """Whoever knows the coin gets 3 tosses of the better one; a random one, of both."""
    best = np.array([3 * 0.5, 3 * 0.9])
    names = ["oracle", "memoryless", "random"]
    found = compare(LATENT, H, policies=names, oracle=plan)
    assert found.optimal == pytest.approx(best)
    assert found.names == LATENT.simulators.model_names
    assert found.prior == (0.25, 0.75)
    assert 0.0 < found.rounding < 1e-12
    rows = {each.name: each for each in found.policies}
    assert list(rows) == names
    exact = float(exact_gap(LATENT, H))
    for name, least in (("oracle", exact), ("memoryless", exact), ("random", 0.0)):
        row = rows[name]
        assert row.certainty == "certified"
        low, high = row.average.ends
        assert least - 1e-9 <= high and low <= high
        each = np.array([model.gap.ends for model in row.models])
        assert low <= LATENT.prior @ each[:, 1] + 1e-12
        assert high >= LATENT.prior @ each[:, 0] - 1e-12
        assert row.worst.ends[1] == pytest.approx(each[:, 1].max())
    assert rows["oracle"].average.ends[1] == pytest.approx(exact, abs=1e-9)
    lost = best - 3 * np.array([0.35, 0.7])
    assert rows["random"].average.ends[1] == pytest.approx(LATENT.prior @ lost)
    assert found.at_stake == pytest.approx(LATENT.prior @ lost)
    assert [each.gap.ends[1] for each in rows["random"].models] == pytest.approx(lost)
    assert found.value_of_memory == plan.value_of_memory
    assert found.value_of_randomization == plan.value_of_randomization
    assert found.memory == plan.memory
    assert (found.by_horizon, found.trained) == (None, None)
    assert (found.left_out, codes(found)) == ({}, [])


def test_a_policy_that_tracks_the_posterior_is_run(plan: Oracle) -> None:
    """Sampled rows hold the certified gaps of the graph that stands for it."""
    names = ["oracle", "oracle-belief"]
    found = compare(LATENT, H, policies=names, oracle=plan, seeds=2_000, seed=3)
    graph, row = found.policies
    assert row.certainty == "estimated"
    for sampled, exact in zip(row.models, graph.models, strict=True):
        assert isinstance(sampled.gap, Estimate)
        assert sampled.gap.confidence == 0.95
        assert sampled.gap.lower - 1e-9 <= exact.gap.ends[1]
        assert exact.gap.ends[0] <= sampled.gap.upper + 1e-9
    assert isinstance(row.average, Estimate) and isinstance(row.worst, Estimate)
    assert row.average.lower >= plan.average_gap.lower
    assert row.worst.confidence == 0.95
    greatest = max(each.gap.ends[1] for each in row.models)
    assert row.worst.upper >= greatest - 1e-9  # all models at once
    again = compare(LATENT, H, policies=names, oracle=plan, seeds=2_000, seed=3)
    assert again.policies == found.policies
    few = compare(LATENT, H, policies=names[1:], oracle=plan, seeds=20).policies[0]
    assert isinstance(few.average, Estimate)
    assert few.average.label == "guaranteed"  # 20 runs show too little
    assert few.average.lower >= plan.average_gap.lower
    other = compare(LATENT, H, policies=names[1:], oracle=plan, seeds=40)
    assert [each.gap for each in other.policies[0].models] != [
        each.gap for each in row.models
    ]


def test_an_average_that_is_not_good_enough_is_estimated_again(
    plan: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def again(form: Any, policy: Any, **more: Any) -> Estimate:
        asked.append(more)
        return Estimate(1.0, -1.0, 2.0, 0.9, label="guaranteed")

    monkeypatch.setattr(measuring, "estimated_gap", again)

    def average(known: Estimate | None, *, guaranteed: bool = True) -> Any:
        runs = MonteCarlo(episodes=50, seed=3, confidence=0.9, guaranteed=guaranteed)
        result = replace(plan.result, estimated_gap=known)
        asked.clear()
        row = measuring._oracle_row(LATENT, "oracle-belief", runs, result)
        assert all(each.gap.confidence == 0.9 for each in row.models)
        assert row.worst.confidence == 0.9
        return row.average

    assert average(None).ends == (plan.average_gap.lower, 2.0)
    wanted = {"episodes": 100, "seed": 3, "confidence": 0.9, "guaranteed": True}
    assert asked == [wanted]
    rough = Estimate(1.0, 0.5, 2.0, 0.9, label="approximate")
    assert average(rough) != rough and asked == [wanted]
    assert average(rough, guaranteed=False) == rough and not asked
    good = replace(rough, label="guaranteed")
    assert average(good) == good and not asked


def test_a_policy_that_is_not_planned_says_so(plan: Oracle) -> None:
    """Without an oracle two of the simpler policies can be had, the others not."""
    runs = MonteCarlo(episodes=100)

    def row(name: str, oracle: Oracle | None) -> Any:
        return measuring.policy_gaps(LATENT, name, H, runs, oracle, silent)

    for name in ("oracle", "oracle-belief", "minimax", "window-1", "single-simulator"):
        with pytest.raises(InvalidArgument):
            row(name, None)
    for name in ("memoryless", "mean-model"):
        assert row(name, None).name == name
    assert row("memoryless", plan).average == plan.baselines["memoryless"].average_gap
    with pytest.raises(NotSolved):
        measuring._simpler_row(LATENT, "minimax", None)
    empty: Any = Stand(models=(), note="too long")
    with pytest.raises(NotSolved, match="too long"):
        measuring._simpler_row(LATENT, "minimax", empty)


def test_gaps_of_a_table_are_off_by_half_the_width_of_their_average() -> None:
    found: Any = Stand(
        models=(0,), average_gap=Certified(1.0, 1.5), gaps=[2.0, 0.125], about="table"
    )
    row = measuring._simpler_row(LATENT, "minimax", found)
    assert [each.gap for each in row.models] == [
        Certified(1.75, 2.25),
        Certified(0.0, 0.375),
    ]
    assert (row.average, row.worst) == (found.average_gap, Certified(1.75, 2.25))


def test_an_agent_is_followed_exactly_in_short_episodes_and_run_in_long_ones() -> None:
    def certainty(horizon: int) -> str:
        runs = MonteCarlo(episodes=30, guaranteed=True)
        found = measuring.policy_gaps(LATENT, "likelihood", horizon, runs, None, silent)
        assert found.name == "likelihood"
        return str(found.certainty)

    assert certainty(5) == "certified"
    assert certainty(measuring.SHORT + 1) == "estimated"


def test_gaps_are_at_least_0_and_rounding_goes_both_ways() -> None:
    assert measuring._around([0.5, 0.125], 0.25) == [
        Certified(0.25, 0.75),
        Certified(0.0, 0.375),
    ]


@pytest.mark.parametrize(
    ("members", "asked", "width", "runs"),
    [
        (60, 400, None, 400),  # not many
        (61, 400, None, 196),  # 400 * 60 / 122
        (100, 400, None, 120),
        (3000, 400, None, 10),
        (61, 10, None, 10),
        (100, 400, 0.1, 400),  # as many as the width takes
    ],
)
def test_agents_are_run_less_often_in_each_of_many_models(
    members: int, asked: int, width: float | None, runs: int
) -> None:
    notes, latent = Notes(), Stand(simulators=range(members))
    evaluator = MonteCarlo(episodes=asked, half_width=width, seed=5)
    found = measuring.fewer_runs(latent, evaluator, notes)
    assert (found.episodes, found.seed) == (runs, 5)
    assert [each.code for each in notes] == ["fewer-runs"] * (runs < asked)


@pytest.mark.parametrize(
    ("members", "vectors", "runs"),
    [(60, 10**6, 400), (100, 9, 400), (100, 99, 200), (100, 10**6, None)],
)
def test_the_belief_is_tracked_as_often_as_there_is_time_for(
    members: int, vectors: int, runs: int | None
) -> None:
    """100 models: 2e9 / (10 steps * 100 / 10 next states * (1 + vectors) * 100^2)."""
    kernel = Stand(nonzeros=100, n_states=10)

    class Many(list[int]):
        transitions = kernel

    latent = Stand(simulators=Many(range(members)))
    policy = Stand(vectors=range(vectors * 4), vector_offsets=np.zeros(5))
    result = Stand(horizon=1, belief_policy=policy)
    if runs is None:
        with pytest.raises(InvalidArgument):
            measuring._tracked_runs(latent, result, 400)
    else:
        assert measuring._tracked_runs(latent, result, 400) == runs


def test_what_is_asked_decides_whether_to_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    def worth(*names: str, horizon: int = H) -> bool:
        asked = [(name, name) for name in names]
        return bool(comparing._worth_planning(LATENT, asked, horizon))

    assert worth("oracle") and worth("random", "minimax")
    assert not worth("random") and not worth("memoryless", "mean-model")
    assert worth("oracle", horizon=10**6)
    assert worth(horizon=2_000) and not worth(horizon=2_001)
    size = comparing.bytes_of_losses(LATENT, H)
    monkeypatch.setattr(comparing, "LARGEST_LOSSES", size)
    assert worth()
    monkeypatch.setattr(comparing, "LARGEST_LOSSES", size - 1)
    assert not worth()


def test_horizons_are_sorted_and_within_the_given_one() -> None:
    lengths: Callable[..., Any] = comparing._lengths
    assert lengths((3, 1, 3, 8), 8) == (1, 3, 8)
    assert lengths((), 8) == ()
    assert lengths("all", 8) == (1, 2, 4, 8)
    assert lengths(range(1, 41), 40) == tuple(range(1, 41))
    for bad in ((0, 3), (3, 9), range(1, 42)):
        with pytest.raises(InvalidArgument):
            lengths(bad, 8 if max(bad) < 10 else 41)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_planning_that_ended_early_is_noted(outcome: Outcome) -> None:
    notes = Notes()
    comparing._note_limit(outcome, "the oracle", notes)
    done = outcome in (Outcome.EXACT, Outcome.SOLVED)
    assert [each.code for each in notes] == ([] if done else ["planning-cut-short"])
    late = [each for each in notes if "run to run" in each.text]
    assert bool(late) == (outcome is Outcome.OUT_OF_TIME)


def test_the_same_question_is_asked_at_shorter_horizons(plan: Oracle) -> None:
    found = compare(LATENT, H, policies=["random"], horizons=(2, H), oracle=plan)
    assert found.by_horizon is not None
    assert [each.horizon for each in found.by_horizon] == [2, H]
    assert found.trained == (0, 1)
    assert found.by_horizon[-1].average_gap == plan.average_gap
    for each in found.by_horizon:
        best = optimal_values(LATENT.simulators, each.horizon).start
        half = policy_values(
            LATENT.simulators, np.full((2, 2), 0.5), each.horizon
        ).start
        assert each.random == pytest.approx(LATENT.prior @ (best - half))
        assert each.bounds and all(bound.value < inf for bound in each.bounds)
    assert codes(found) == []


def test_theorems_are_left_out_for_a_large_class(
    plan: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked() -> Any:
        return compare(LATENT, H, policies=["random"], horizons=(2,), oracle=plan)

    monkeypatch.setattr(comparing, "LARGEST_CLASS", 4)  # 2 models of 2 states
    assert asked().by_horizon[0].bounds
    monkeypatch.setattr(comparing, "LARGEST_CLASS", 3)
    found = asked()
    assert codes(found) == ["no-theorems-over-horizons"]
    assert found.by_horizon[0].bounds == ()


def test_a_policy_asked_for_twice_is_measured_once() -> None:
    assert [name for name, _ in checked_policies(["random", "oracle", "random"])] == [
        "random",
        "oracle",
    ]
    with pytest.raises(InvalidArgument):
        checked_policies(["randm"])
