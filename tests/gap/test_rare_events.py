"""Sampled gaps hold exact ones where almost every episode is the same.

In these models an event of small chance ends what an agent loses, or begins it; gaps
are computed exactly and compared with intervals from some hundred episodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simgap.gap import MonteCarlo, average_gap, gaps, worst_gap
from simgap.intervals import Estimate
from simgap.mdp import IndexOrder, LatentMDP, SimulatorClass, class_from_arrays
from simgap.policies.markov import MarkovPolicy
from tests.statistics.laws import most_misses, plain_t, room_above_only

HORIZON, EPISODES = 20, 400


def worlds(
    *chances: float, lost: float = 1.0, moved: float = 0.0, back: float = 0.0
) -> SimulatorClass:
    """Return models in which an event happens with a chance in every step.

    State 1 is after the event, and with chance `back` it is over again. Action 1 earns
    `lost` more than action 0, and all rewards are moved.
    """
    kernel = np.zeros((len(chances), 2, 2, 2))
    for model, chance in enumerate(chances):
        kernel[model, 0, :] = [1.0 - chance, chance]
        kernel[model, 1, :] = [back, 1.0 - back]
    rewards = moved + lost * np.array([[0.0, 1.0], [0.0, 1.0]])
    return class_from_arrays(kernel, rewards, order=IndexOrder.STATE_ACTION)


LOSES_BEFORE = MarkovPolicy("loses before the event", 2, np.array([0, 1]))
LOSES_AFTER = MarkovPolicy("loses after the event", 2, np.array([1, 0]))
NOISY = MarkovPolicy(  # loses a little by luck, and all of it after the event
    "loses by luck, too", 2, np.array([[0.1, 0.9], [1.0, 0.0]])
)


def exact(real: SimulatorClass, policy: MarkovPolicy) -> list[float]:
    found = (each.ends for each in gaps(real, policy, HORIZON))
    return [0.5 * (low + high) for low, high in found]


def sampled(
    real: SimulatorClass, policy: MarkovPolicy, seed: int, **settings: Any
) -> tuple[Estimate, ...]:
    evaluator = MonteCarlo(episodes=EPISODES, seed=seed, **settings)
    return gaps(real, policy, HORIZON, evaluator=evaluator)


def missed(
    real: SimulatorClass, policy: MarkovPolicy, seeds: int, **settings: Any
) -> int:
    (truth,), count = exact(real, policy), 0
    for seed in range(seeds):
        (found,) = sampled(real, policy, seed, **settings)
        assert found.guaranteed is not None
        low, high = found.guaranteed.ends
        count += not low - 1e-9 <= truth <= high + 1e-9
        assert low >= 0.0 and high <= HORIZON * 3.0 + 1e-9
    return count


@pytest.mark.parametrize("policy", [LOSES_BEFORE, LOSES_AFTER, NOISY])
@pytest.mark.parametrize("chance", [1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("back", [0.0, 0.25])
def test_a_rare_event_is_covered_by_theorem_on_either_side(
    policy: MarkovPolicy, chance: float, back: float
) -> None:
    real = worlds(chance, lost=3.0, moved=-2.0, back=back)
    assert missed(real, policy, 20) <= most_misses(20)


@pytest.mark.slow
@pytest.mark.parametrize("policy", [LOSES_BEFORE, LOSES_AFTER, NOISY])
@pytest.mark.parametrize("chance", [1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 0.1])
@pytest.mark.parametrize("back", [0.0, 0.25])
def test_rare_events_are_covered_at_the_stated_rate(
    policy: MarkovPolicy, chance: float, back: float
) -> None:
    real = worlds(chance, lost=3.0, moved=-2.0, back=back)
    assert missed(real, policy, 300) <= most_misses(300)


@pytest.mark.parametrize(("chance", "least"), [(1e-5, 40), (1e-4, 8)])
def test_room_on_one_side_and_none_at_all_miss_it(chance: float, least: int) -> None:
    """The controls: intervals of the same episodes that leave less room."""
    real, count = worlds(chance), [0, 0]
    (truth,) = exact(real, LOSES_BEFORE)
    for seed in range(60):
        luck = np.random.default_rng([seed, 1]).geometric(chance, EPISODES)
        lost = np.minimum(luck, HORIZON).astype(float)  # steps before the event
        for k, (low, high) in enumerate(
            (plain_t(lost, 0.95), room_above_only(lost, 0.95, float(HORIZON)))
        ):
            count[k] += not low <= truth <= high
    assert min(count) >= least


def test_averages_and_the_worst_of_several_models_are_covered() -> None:
    real = worlds(1e-4, 2e-3, 0.05)
    latent = LatentMDP(real, np.array([0.7, 0.2, 0.1]))
    truth = exact(real, LOSES_BEFORE)
    mean, most = float(latent.prior @ truth), max(truth)
    wrong = [0, 0]
    for seed in range(30):
        how = MonteCarlo(episodes=100, seed=seed)
        one = average_gap(latent, LOSES_BEFORE, HORIZON, evaluator=how)
        other = worst_gap(real, LOSES_BEFORE, HORIZON, evaluator=how)
        assert isinstance(one, Estimate) and isinstance(other, Estimate)
        assert one.guaranteed is not None and other.guaranteed is not None
        wrong[0] += not one.guaranteed.lower <= mean <= one.guaranteed.upper
        wrong[1] += not other.guaranteed.lower <= most <= other.guaranteed.upper
    assert max(wrong) <= most_misses(30)


@pytest.mark.parametrize("reward", [-1e6 / 3.0, 0.0, 1.0 / 3.0])
@pytest.mark.parametrize("horizon", [1, 7, 300])
def test_rewards_that_are_all_equal_lose_nothing(reward: float, horizon: int) -> None:
    """Sums that are equal in truth differ by rounding, and are in their range."""
    kernel = np.random.default_rng(1).dirichlet(np.full(3, 0.5), size=(2, 3, 2))
    equal = np.full((3, 2), reward)
    real = class_from_arrays(kernel, equal, order=IndexOrder.STATE_ACTION)
    policy = MarkovPolicy("any", 2, np.array([0, 1, 0]))
    how = MonteCarlo(episodes=20)
    for found in gaps(real, policy, horizon, evaluator=how):
        assert isinstance(found, Estimate) and found.guaranteed is not None
        for ends in (found.ends, found.guaranteed.ends):
            assert 0.0 <= ends[0] <= ends[1] <= 1e-9 * (1.0 + abs(reward))
