"""Algorithm 4 on mixtures: the agent, its data, its switches and its regret."""

from __future__ import annotations

from dataclasses import replace
from math import log, sqrt

import numpy as np
import pytest

from simgap.base_policies.infinite.general_mixture import (
    MixtureMemory,
    OptimisticMixture,
    optimistic_mixture,
)
from simgap.base_policies.infinite.mixture_class import MixtureClass
from simgap.base_policies.infinite.mixture_guarantee import mixture_guarantee
from simgap.errors import InvalidArgument, OutsideClass
from simgap.planning import diameter, solve_average_reward
from simgap.policies import Step
from tests.base_policies.mixtures import (
    Run,
    random_ball,
    random_mixture,
    rivers,
    run,
    second_arm,
)


def always_looking(agent: OptimisticMixture, steps: list[Step]) -> MixtureMemory:
    """Return the memory of an agent that computes its score at every step."""
    memory = agent.start(steps[0].state)
    for step in steps:
        memory = agent.observe(replace(memory, look_at=0), step)
    return memory


def small_classes() -> list[MixtureClass]:
    rng = np.random.default_rng(5)
    return [
        second_arm(),
        random_ball(rng, axes=2),
        random_mixture(rng, members=3),
        random_mixture(rng, members=5, states=6),
        rivers(0.1, 0.6),
    ]


@pytest.mark.parametrize("which", range(5))
def test_looking_seldom_loses_nothing(which: int) -> None:
    mixture = small_classes()[which]
    agent = optimistic_mixture(mixture, 2000)
    played = run(agent, mixture.at(np.zeros(mixture.dimension)), seed=which)
    slow = always_looking(agent, played.history)
    assert slow.data == played.memory.data
    assert slow.fresh == played.memory.fresh
    assert played.memory.data.switches > 0


@pytest.mark.parametrize("which", range(5))
def test_every_step_is_counted_once(which: int) -> None:
    """Errata E20: print never empties Z_new, so that samples are counted again."""
    mixture = small_classes()[which]
    agent = optimistic_mixture(mixture, 1500)
    played = run(agent, mixture.at(np.zeros(mixture.dimension)), seed=which)
    gram, moment = _from_history(mixture, played)
    last = played.memory.data
    assert np.array(last.gram) == pytest.approx(gram, abs=1e-10)
    assert np.array(last.moment) == pytest.approx(moment, abs=1e-10)
    assert last.steps + played.memory.steps == len(played.history)
    assert played.memory.steps == np.sum(played.memory.fresh)


def _from_history(mixture: MixtureClass, played: Run) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums over Z, one sample after the other, from the features P_i."""
    gram = np.zeros((mixture.dimension, mixture.dimension))
    moment = np.zeros(mixture.dimension)
    at = 0
    for memory, following in zip(played.memories, played.memories[1:], strict=False):
        bias = np.array(memory.data.bias)
        for step in played.history[at : following.data.steps]:
            row = mixture.centre[step.state, step.action]
            seen = bias[row > 0.0]
            width = seen.max() - seen.min()
            x = mixture.directions[:, step.state, step.action] @ bias / width
            gram += np.outer(x, x)
            moment += x * (bias[step.next_state] - row @ bias) / width
        at = following.data.steps
    return gram, moment


@pytest.mark.parametrize("which", range(5))
def test_switches_come_when_the_score_reaches_one_and_are_few(which: int) -> None:
    mixture = small_classes()[which]
    agent = optimistic_mixture(mixture, 3000)
    played = run(agent, mixture.at(np.zeros(mixture.dimension)), seed=which)
    bound = agent.guarantee(1.0).switches
    assert 0 < played.memory.data.switches <= bound
    for before, later in zip(played.memories, played.memories[1:], strict=False):
        volume = [np.linalg.det(agent.members(m).metric) for m in (before, later)]
        assert volume[1] >= 2.0 * volume[0] * (1.0 - 1e-12)
    assert agent.score(played.memory) < 1.0


@pytest.mark.parametrize("which", range(5))
def test_while_the_truth_is_inside_every_inequality_of_the_proof_holds(
    which: int,
) -> None:
    """Theory 4.7, path by path: optimism, spans, the sum of errors, the regret."""
    mixture = small_classes()[which]
    rng = np.random.default_rng(which)
    eye = np.eye(mixture.dimension)
    truth = mixture.region.nearest(0.5 * rng.normal(size=mixture.dimension), eye)
    model, agent = mixture.at(truth), optimistic_mixture(mixture, 3000)
    played = run(agent, model, seed=which)
    real, longest = solve_average_reward(model), diameter(model).upper
    kernel, tolerance = mixture.kernel(truth), agent.tolerance
    ends = [*(m.data.steps for m in played.memories[1:]), len(played.history)]
    errors, at, beta = 0.0, 0, 0.0
    for memory, end in zip(played.memories, ends, strict=True):
        data, members = memory.data, agent.members(memory)
        assert members.contains(truth)
        assert data.gain >= real.gain_lower[0] - 1e-12
        assert data.span <= longest * (mixture.spread + tolerance)
        beta = max(beta, members.square_radius)
        bias = np.array(data.bias)
        for step in played.history[at:end]:
            s, a = step.state, step.action
            promised = data.gain + bias[s] - model.rewards[s, a] - kernel[s, a] @ bias
            errors += promised  # relaxed P l - P* l, up to the defect
            x = mixture.directions[:, s, a] @ bias
            inverse = np.linalg.solve(members.metric, x)
            allowed = 2.0 * members.radius * sqrt(float(x @ inverse))
            assert promised <= min(allowed, data.span) + 2.0 * tolerance
        at = end
    horizon, volume = len(played.history), _volume(agent, played.memory)
    spans = [m.data.span for m in played.memories]
    most = max(1.0, 2.0 * sqrt(2.0 * beta)) * sqrt(2.0 * horizon * volume)
    assert errors <= max(spans) * most + 2.0 * horizon * tolerance
    allowed_regret = max(spans) * (most + len(spans)) + 2.0 * horizon * tolerance
    assert played.regret <= allowed_regret + max(spans) * sqrt(horizon * log(1e6) / 2.0)


def _volume(agent: OptimisticMixture, memory: MixtureMemory) -> float:
    """log det(V_H / ridge) of all data; Z_new is less than V and at most doubles it."""
    metric = agent.members(memory).metric
    return float(np.linalg.slogdet(2.0 * metric / agent.ridge)[1])


def test_the_second_arm_is_found_and_left_alone() -> None:
    """Proposition 2 for every mean: regret far below linear, whichever arm is best."""
    mixture, horizon = second_arm(), 10_000
    agent = optimistic_mixture(mixture, horizon)
    for offset in (-0.5, -0.05, 0.2, 0.5):
        played = run(agent, mixture.model([0.5, offset]), seed=3)
        assert not played.memory.data.refuted
        assert -1e-9 <= played.regret <= 0.03 * horizon
        if offset > 0.0:  # the first plan is right already
            assert played.regret == pytest.approx(0.0, abs=1e-8)


@pytest.mark.slow
def test_a_hundred_thousand_steps_in_five_dimensions_keep_their_bounds() -> None:
    rng = np.random.default_rng(8)
    mixture = random_mixture(rng, members=6, states=6)
    horizon = 100_000
    agent = optimistic_mixture(mixture, horizon)
    for seed in range(3):
        theta = rng.dirichlet(np.ones(6))
        model = mixture.model(theta)
        played = run(agent, model, seed=seed)
        bound = agent.guarantee(diameter(model).upper)
        assert played.regret <= bound.regret
        assert played.regret <= 0.02 * horizon
        assert played.memory.data.switches <= bound.switches


def test_the_guarantee_has_the_constants_of_its_proof() -> None:
    """r = 1, L = 1/2, H = 1000, ridge 1/2, D = 2: by hand."""
    bound = mixture_guarantee(
        dimension=1, feature_bound=0.5, horizon=1000, ridge=0.5, diameter=2.0
    )
    volume = log(501.0)
    beta = volume / 4.0 + log(1000.0) / 2.0 + 0.5
    learning = 4.0 * sqrt(beta * volume * 1000.0)
    assert bound.log_volume == pytest.approx(volume)
    assert bound.square_radius == pytest.approx(beta)
    assert bound.regret == pytest.approx(
        2.0 * (learning + volume / log(2.0) + 1.0) + 1.0
    )
    assert bound.gap == pytest.approx(bound.regret + 2.0)
    assert bound.vacuous
    much_later = mixture_guarantee(
        dimension=1, feature_bound=0.5, horizon=10**6, ridge=0.5, diameter=2.0
    )
    assert not much_later.vacuous


def test_what_cannot_happen_is_refused() -> None:
    mixture = rivers(0.1, 0.6)
    agent = optimistic_mixture(mixture, 10)
    memory = agent.start(0)
    action = int(agent.act(memory, 0, 0).argmax())
    with pytest.raises(OutsideClass, match="no mixture of the class allows"):
        agent.observe(memory, Step(0, 0, action, 5))
    with pytest.raises(InvalidArgument, match="not what this agent plays"):
        agent.observe(memory, Step(0, 0, 1 - action, 0))
    with pytest.raises(InvalidArgument, match="beyond the horizon"):
        agent.act(memory, 10, 0)
    for wrong in (-1, 6):
        with pytest.raises(InvalidArgument):
            agent.start(wrong)
        with pytest.raises(InvalidArgument):
            agent.observe(memory, Step(0, 0, action, wrong))
    with pytest.raises(InvalidArgument, match="there is no action"):
        agent.observe(memory, Step(0, 0, 2, 0))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizon": 0}, "horizon"),
        ({"horizon": -3}, "horizon"),
        ({"ridge": 0.0}, "ridge"),
        ({"ridge": np.nan}, "ridge"),
        ({"tolerance": -1e-6}, "tolerance"),
        ({"name": ""}, "named"),
    ],
)
def test_settings_out_of_range_are_refused(
    changed: dict[str, float], message: str
) -> None:
    given: dict[str, object] = {"horizon": 10, **changed}
    with pytest.raises(InvalidArgument, match=message):
        optimistic_mixture(second_arm(), **given)  # type: ignore[arg-type]
