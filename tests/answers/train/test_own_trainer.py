"""A trainer of one's own: its policies are trainings like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.continuous import OwnSampler, Simulator
from simgap.errors import InvalidArgument, SimgapError
from tests.answers.target import Guess, MeanGuess, Target
from tests.continuous.toy import ToyPendulum

RANGE = "theta=0..4"


def test_the_function_is_called_once_for_each_seed_with_what_it_draws() -> None:
    met: list[tuple[Any, ...]] = []

    def train_fn(simulator: Simulator, sampler: OwnSampler, memory: str) -> Guess:
        theta = sampler.draw(sampler.seed, range(1000))
        assert ((theta >= 0.0) & (theta <= 4.0)).all() and np.ptp(theta) > 3.9
        worlds = simulator.instantiate(sampler.values(theta))
        assert worlds.reset(sampler.seeds(sampler.seed, range(1000))).shape == (1000, 1)
        met.append((simulator.name, sampler.seed, sampler.horizon, memory))
        return Guess(2.0)

    found = simgap.train(
        Target(), randomize=RANGE, memory="none", seeds=3, seed=5, train_fn=train_fn
    )
    assert met == [("target", seed, 1, "none") for seed in (5, 6, 7)]
    assert [each.file for each in found.policies] == ["", "", ""]
    assert found.converged is None and found.steps is None
    assert found.name == found.memory == "none"
    assert [each.seed for each in found.policies] == [5, 6, 7]
    assert found.final_return.estimate == pytest.approx(-4.0 / 3.0, abs=0.6)


def test_nominal_values_and_one_value_are_all_that_is_drawn() -> None:
    drawn: list[float] = []

    def train_fn(simulator: Simulator, sampler: OwnSampler, memory: str) -> Guess:
        values = sampler.values(sampler.draw(0, range(7)))["theta"]
        assert values.shape == (7,)
        drawn.append(float(values[0]))
        return Guess(0.0)

    whole: dict[str, Any] = {"randomize": RANGE, "memory": "none", "train_fn": train_fn}
    nominal = simgap.train(Target(1.5), nominal=True, **whole)
    special = simgap.train(Target(1.5), at="theta=3", **whole)
    assert drawn == [1.5, 3.0]
    assert nominal.specialist and special.specialist
    assert nominal.randomize == "nominal" and special.randomize == "theta=3"


def test_the_worth_of_randomization_is_that_of_the_closed_form() -> None:
    """Over theta=0..4 the mean 2 gets -4/3, the nominal 1 one less."""
    whole: dict[str, Any] = {
        "randomize": RANGE,
        "memory": "none",
        "train_fn": MeanGuess(),
        "seeds": 2,
    }
    over = simgap.train(Target(), **whole)
    single = simgap.train(Target(), nominal=True, **whole)
    found = simgap.transfer([over, single], design="sobol:256", episodes=4)
    (worth,) = found.worths
    assert (worth.what, worth.policy) == ("randomization", "none")
    assert worth.trainings == (2, 2)
    assert worth.value.lower <= 1.0 <= worth.value.upper
    assert worth.value.lower > 0.2
    # the control: nothing was randomized for either
    again = simgap.train(Target(), nominal=True, name="again", **whole)
    (none,) = simgap.transfer([over, again], design="sobol:256", episodes=4).worths
    assert none.value.estimate == worth.value.estimate
    alone = simgap.transfer([again], episodes=4)
    assert alone.worths == ()


def test_what_cannot_be_meant_is_refused() -> None:
    whole: dict[str, Any] = {
        "randomize": RANGE,
        "memory": "none",
        "train_fn": MeanGuess(),
    }
    more: dict[str, Any]
    for more in ({"steps": 100}, {"settings": {"rate": 1.0}}, {"masked": True}):
        with pytest.raises(InvalidArgument) as wrong:
            simgap.train(Target(), **whole, **more)
        assert wrong.value.code == "not-for-own-trainer"
    with pytest.raises(InvalidArgument) as wrong:
        simgap.train(Target(), **{**whole, "train_fn": lambda *given: 3.0})
    assert wrong.value.code == "not-a-policy"

    def breaks(observation: Any, memory: Any) -> Any:
        if memory == 2:
            raise ValueError
        return [0.0], (memory or 0) + 1

    with pytest.raises(InvalidArgument) as wrong:
        simgap.train(
            ToyPendulum(),
            randomize="mass=0.5..2",
            horizon=3,
            memory="none",
            train_fn=lambda *given: breaks,
        )
    assert wrong.value.code == "episodes-broke"
    one = simgap.train(Target(), **whole)
    with pytest.raises(InvalidArgument) as wrong:
        simgap.transfer([one, one])
    assert wrong.value.code == "name-taken"


@pytest.mark.parametrize(
    "name", ["../x", "/tmp/x", "..", ".", "", "a\\b", "x\0", "a" * 300]
)
def test_the_name_of_a_training_is_no_path(name: str, tmp_path: Path) -> None:
    given: dict[str, Any] = {"randomize": RANGE, "memory": "none", "name": name}
    with pytest.raises(SimgapError) as error:
        simgap.train(Target(), train_fn=MeanGuess(), **given)
    assert error.value.code == "not-a-name"
    with pytest.raises(SimgapError) as error:
        simgap.train(
            "cartpole", **{**given, "randomize": "length=0.3..1"}, out=tmp_path
        )
    assert error.value.code == "not-a-name" and not list(tmp_path.iterdir())
