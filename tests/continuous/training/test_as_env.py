"""A simulator as an environment of Gymnasium that draws its parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from simgap.continuous import OwnSampler, as_env, bind
from simgap.errors import InvalidArgument
from tests.answers.target import Target
from tests.continuous.measuring.line import Line
from tests.continuous.toy import ToyPendulum


def thetas(env: Any, episodes: int) -> list[float]:
    return [env.reset()[1]["theta"]["gain"] for _ in range(episodes)]


@pytest.mark.filterwarnings("ignore:.*symmetric and normalized")
@pytest.mark.parametrize(
    ("simulator", "drawn"),
    [
        (ToyPendulum(), "mass=0.5..2 length=0.7..1.3"),
        ("model:riverswim?success=0.2,0.5", "success={0.2,0.5}"),
    ],
)
def test_it_is_what_gymnasium_calls_an_environment(simulator: Any, drawn: str) -> None:
    check_env(as_env(simulator, drawn, horizon=30), skip_render_check=True)


def test_episodes_have_the_parameters_that_the_sampler_draws() -> None:
    sampler = OwnSampler(bind("gain=0.5..1.5", Line()), seed=3, horizon=5)
    drawn = sampler.draw(3, range(12))[:, 0].tolist()
    assert thetas(as_env(Line(), sampler), 12) == drawn
    both = [as_env(Line(), sampler, number=at, of=2) for at in (0, 1)]
    assert thetas(both[0], 6) == drawn[0::2]
    assert thetas(both[1], 6) == drawn[1::2]
    env = as_env(Line(), sampler)
    env.reset()
    assert env.reset(seed=9)[1]["theta"]["gain"] == sampler.draw(9, range(1))[0, 0]


def test_steps_are_those_of_the_simulator() -> None:
    sampler = OwnSampler(bind("gain=0.5..1.5", Line()), seed=1, horizon=5)
    env = as_env(Line(), sampler)
    values = sampler.values(sampler.draw(1, range(1)))
    worlds = Line().instantiate(values)
    seen = worlds.reset(sampler.seeds(1, range(1)))[0]
    shown, _ = env.reset()
    assert shown == pytest.approx(seen, rel=1e-6)
    for step in range(5):
        action = np.array([0.3 * step - 0.5], np.float32)
        after = worlds.step(action[None].astype(np.float64), np.ones(1, np.bool_))
        shown, reward, over, cut, _ = env.step(action)
        assert shown == pytest.approx(after.observation[0], rel=1e-6)
        assert reward == after.reward[0]
        assert not over and cut == (step == 4)
    env.close()


def test_an_episode_that_breaks_is_over() -> None:
    env = as_env(Target(), "theta=0..4", horizon=3)
    env.reset()
    _, reward, over, cut, told = env.step(np.array([np.nan]))
    assert (reward, over, cut) == (0.0, True, False) and told["broken"]


def test_what_cannot_be_meant_is_refused() -> None:
    for number, of in ((1, 1), (-1, 2)):
        with pytest.raises(InvalidArgument):
            as_env(Line(), "gain=0.5..1.5", number=number, of=of)
    with pytest.raises(InvalidArgument) as wrong:
        as_env("model:riverswim?success=0.2,0.5", "success={0.2,0.5}")
    assert wrong.value.code == "no-horizon"
