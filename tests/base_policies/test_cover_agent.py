"""Algorithm 4 on covers: refining, switching, the proof path by path, regret."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from simgap.base_policies.infinite.cover import FamilyCover, cover_of_family
from simgap.base_policies.infinite.cover_agent import (
    CoverMemory,
    OptimisticCover,
    optimistic_cover,
)
from simgap.base_policies.infinite.cover_confidence import own_price, price
from simgap.base_policies.infinite.cover_guarantee import ALPHA, cover_guarantee
from simgap.base_policies.infinite.parametric_family import estimated_smoothness
from simgap.errors import InvalidArgument, OutsideClass
from simgap.mdp import TabularMDP
from simgap.planning import solve_average_reward
from simgap.policies import Step
from tests.base_policies.covers import Run, arm, arms, bends, bent, river, rivers, run
from tests.reference import cover as twin


def families() -> list[tuple[FamilyCover, TabularMDP, tuple[float, ...]]]:
    """Return covers, a model of each, and its parameters."""
    return [
        (arms(), arm({"mean": 0.4}), (0.4,)),
        (rivers(), river({"success": 0.3, "down": 0.1}), (0.3, 0.1)),
        (bends(), bent({"x": 2.5}), (2.5,)),
    ]


def real_cells(memory: CoverMemory, theta: tuple[float, ...]) -> list[int]:
    """Return the cells that hold theta (two on a common side)."""
    return [
        b
        for b, cell in enumerate(memory.data.cells)
        if all(
            low <= x <= high
            for low, x, high in zip(cell.low, theta, cell.high, strict=True)
        )
    ]


@pytest.mark.parametrize("which", range(3))
def test_looking_seldom_loses_nothing(which: int) -> None:
    cover, model, _ = families()[which]
    agent = optimistic_cover(cover, 600)
    played = run(agent, model, seed=which)
    memory = agent.start(0)
    for sample in played.history:
        memory = agent.observe(replace(memory, look_at=0), sample.step)
    assert memory.data == played.memory.data
    assert memory.fresh == played.memory.fresh
    assert len(played.memories) > 5


@pytest.mark.parametrize("which", range(3))
def test_the_proof_holds_path_by_path(which: int) -> None:
    """The real cell stays, bounds are optimistic, and errors are those of item 2."""
    cover, model, theta = families()[which]
    horizon = 1200
    agent = optimistic_cover(cover, horizon)
    played = run(agent, model, seed=10 + which)
    gain = float(solve_average_reward(model).gain_lower[0])
    kernel, at = model.transitions.array(0), 0
    ends = [*(m.data.steps for m in played.memories[1:]), len(played.history)]
    for memory, end in zip(played.memories, ends, strict=True):
        data = memory.data
        real = [b for b in real_cells(memory, theta) if b in data.alive]
        assert real
        assert data.cell.gain_bound >= gain - 1e-12
        assert data.cell.planned
        assert not data.held_back
        asked = sqrt(log(2.0 * horizon) / data.steps) if data.steps else np.inf
        target = min(agent.coarse, asked)
        assert max(data.cells[b].radius for b in data.alive) <= target + 1e-12
        assert end - data.steps <= max(1, data.steps)
        _check_errors(agent, played, memory, kernel, at, end)
        at = end


def _check_errors(
    agent: OptimisticCover,
    played: Run,
    memory: CoverMemory,
    kernel: np.ndarray,
    begin: int,
    end: int,
) -> None:
    """sum (f_k - f*)^2 over Z and Z_new but the last step is at most b'."""
    data, support = memory.data, agent.cover.support
    told = [s for s in played.history[:end] if _width(s, support) > 1e-6]
    if end > begin and told and told[-1] is played.history[end - 1]:
        told = told[:-1]
    off = max(1.0, 0.25 * log(2.0 * agent.horizon), data.misfit)
    depth = max(cell.depth for cell in data.cells)
    roots = len(agent.cover.roots)
    z = 6.0 * off + 0.5 * own_price(depth, agent.horizon)
    z += 2.0 * price(depth, agent.horizon, roots)
    inside = sqrt(off) + 2.0 * sqrt(z)
    beside = sqrt(4.0 * (sqrt(off) + sqrt(z)) ** 2 + ALPHA) + sqrt(off)
    errors = twin.square_distance(data.cell.kernel, kernel, told, support)
    assert errors <= inside**2 + beside**2


def _width(sample: twin.Sample, support: np.ndarray) -> float:
    seen = sample.bias[support[sample.step.state, sample.step.action]]
    return float(seen.max() - seen.min())


@pytest.mark.parametrize("which", range(3))
def test_the_score_is_that_of_all_pairs_with_the_current_cell(which: int) -> None:
    """Theory 2.13, one sample after the other."""
    cover, model, _ = families()[which]
    agent = optimistic_cover(cover, 600)
    played = run(agent, model, seed=which, steps=230 + 10 * which)
    data, support = played.memory.data, cover.support
    samples = [s for s in played.history if _width(s, support) > 1e-6]
    old = [s for s in samples if s.step.h < data.steps]
    new = [s for s in samples if s.step.h >= data.steps]
    best = 0.0
    for b in data.alive:
        pair = data.cell.kernel, data.cells[b].kernel
        kept = twin.square_distance(*pair, old, support)
        best = max(best, twin.square_distance(*pair, new, support) / (kept + ALPHA))
    assert agent.score(played.memory) == pytest.approx(best, abs=1e-9)
    assert best < 1.0


def test_bad_arms_are_left_alone_and_good_ones_kept() -> None:
    """Regret far below linear for every mean; zero where the first plan is right."""
    agent = optimistic_cover(arms(), 4000)
    for mean, most in ((0.05, 120.0), (0.3, 160.0), (0.7, 1e-6)):
        played = run(agent, arm({"mean": mean}), seed=2)
        assert -1e-9 <= played.regret <= most
        assert played.regret <= 0.2 * (0.5 - mean) * 4000 or mean > 0.5


@pytest.mark.slow
def test_a_river_with_two_unknowns_is_learnt_in_the_end() -> None:
    agent = optimistic_cover(rivers(), 60_000)
    model = river({"success": 0.12, "down": 0.15})
    played = run(agent, model, seed=0)
    always = run(agent, model, seed=0, steps=2000).regret / 2000.0
    assert played.regret <= 0.6 * always * 60_000
    reached = agent.resolution(played.memory, diameter=100.0, eluder_dimension=2)
    assert played.regret <= reached.guarantee.regret


def test_the_resolution_says_what_was_reached_and_what_it_is_worth() -> None:
    agent = optimistic_cover(arms(), 2000)
    played = run(agent, arm({"mean": 0.2}), seed=0)
    reached = agent.resolution(played.memory, diameter=100.0, eluder_dimension=1)
    asked = sqrt(log(4000.0) / played.memory.data.steps)
    assert reached.coarsest <= asked
    assert reached.current <= max(asked / 8.0, 1e-12) * (1.0 + 1e-9)
    assert not reached.held_back
    assert reached.guarantee.proved
    assert reached.guarantee == agent.guarantee(diameter=100.0, eluder_dimension=1)
    assert reached.cells >= reached.alive


def test_too_few_cells_are_confessed() -> None:
    """The guarantee then uses the misfit of the run, and is worse."""
    agent = optimistic_cover(arms(), 2000, max_cells=6)
    played = run(agent, arm({"mean": 0.4}), seed=0)
    reached = agent.resolution(played.memory, diameter=100.0, eluder_dimension=1)
    assert reached.held_back
    assert reached.cells <= 6
    honest = agent.guarantee(diameter=100.0, eluder_dimension=1)
    assert reached.guarantee.regret > honest.regret
    largest = max(m.data.misfit for m in played.memories)
    assert reached.guarantee.misfit == pytest.approx(largest)


def test_estimated_rates_guarantee_nothing() -> None:
    rates = estimated_smoothness(arm, {"mean": (0.1, 0.9)}, pairs=4)
    agent = optimistic_cover(cover_of_family(arm, {"mean": (0.1, 0.9)}, rates), 50)
    assert not agent.guarantee(diameter=10.0, eluder_dimension=1).proved


def test_the_guarantee_has_the_constants_of_its_proof() -> None:
    """H = 1000, d_e = 1, D = 2, one parameter of radius 1: by hand."""
    found = cover_guarantee(
        horizon=1000,
        eluder_dimension=1,
        diameter=2.0,
        parameters=1,
        widest=1.0,
        finest=0.0,
        proved=True,
    )
    off = log(2000.0) / 4.0
    depth = 7  # 2^-7 <= sqrt(log(2000) / 1000) / 8 = 0.0109 < 2^-6
    own = log(2000.0 * 8 * 9)
    z = 6.0 * off + own / 2.0 + 2.0 * (own + depth * log(2.0))
    errors = (sqrt(off) + 2.0 * sqrt(z)) ** 2
    errors += (sqrt(4.0 * (sqrt(off) + sqrt(z)) ** 2 + 2.0) + sqrt(off)) ** 2
    learning = 2.0 + 2.0 * sqrt(errors * 1000.0)
    coarse = 1.0 + sqrt(2000.0 * log(2000.0))
    score = (np.log2(sqrt(1000.0)) + 2.0) * (4.0 * log(1000.0) + 1.0)
    episodes = 3.0 + np.log2(1000.0) + 2.0 * (1.0 + score)
    expected = 2.0 * (learning + coarse + episodes) + 1.0
    assert found.regret == pytest.approx(expected)
    assert found.gap == pytest.approx(expected + 2.0)
    assert found.vacuous
    assert found.misfit == pytest.approx(off)


def test_what_cannot_happen_is_refused() -> None:
    agent = optimistic_cover(rivers(), 10)
    memory = agent.start(0)
    action = int(agent.act(memory, 0, 0).argmax())
    with pytest.raises(OutsideClass, match="no model of the family allows"):
        agent.observe(memory, Step(0, 0, action, 3))
    with pytest.raises(InvalidArgument, match="not what this agent plays"):
        agent.observe(memory, Step(0, 0, 1 - action, 0))
    with pytest.raises(InvalidArgument, match="beyond the horizon"):
        agent.act(memory, 10, 0)
    for wrong in (-1, 4):
        with pytest.raises(InvalidArgument):
            agent.start(wrong)
        with pytest.raises(InvalidArgument):
            agent.observe(memory, Step(0, 0, action, wrong))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizon": 0}, "horizon"),
        ({"coarse": 0.0}, "coarse"),
        ({"finest": -0.1}, "finest"),
        ({"finest": np.nan}, "finest"),
        ({"max_cells": 0}, "max_cells"),
        ({"name": ""}, "named"),
    ],
)
def test_settings_out_of_range_are_refused(
    changed: dict[str, float], message: str
) -> None:
    given: dict[str, object] = {"horizon": 10, **changed}
    with pytest.raises(InvalidArgument, match=message):
        optimistic_cover(arms(), **given)  # type: ignore[arg-type]
