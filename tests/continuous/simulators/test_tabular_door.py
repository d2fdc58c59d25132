"""Classes of tables as simulators: whose models, which numbers, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simgap
from simgap.arrays import FloatArray
from simgap.continuous import Choices, TabularSimulator, open_simulator
from simgap.continuous.simulators.tabular_door import open_model, tabular_simulator
from simgap.errors import SimgapError
from simgap.instances import build_instance
from simgap.interop import save_model
from simgap.mdp import LatentMDP

RIVER = "riverswim?success=0.2,0.35,0.5"


def walked(simulator: TabularSimulator, theta: float, seeds: Any) -> FloatArray:
    """Return the states of episodes under the last action, (B, 21)."""
    seeds = np.asarray(seeds, np.int64)
    worlds = simulator.instantiate({"success": np.full(len(seeds), theta)})
    seen, alive = [worlds.reset(seeds)], np.ones(len(seeds), np.bool_)
    seen += [worlds.step(np.ones(len(seeds)), alive).observation for _ in range(20)]
    return np.concatenate(seen, axis=1)


def test_a_class_is_opened_by_name_from_a_file_or_as_it_is(tmp_path: Path) -> None:
    worlds = build_instance(RIVER)
    save_model(worlds, tmp_path / "river.simgap")
    given = (
        *(f"model:{RIVER}", f"model:{tmp_path}/river.simgap", worlds),
        *(LatentMDP.uniform(worlds), worlds[0]),
    )
    for each in given:
        simulator = open_simulator(each)
        assert simulator.observation == Choices(6)
        assert simulator.action == Choices(2)
        assert [each.name for each in simulator.parameters] == ["success", "delay"]
        assert simulator.return_bounds(10) == (0.0, 10.0)


def test_an_episode_is_a_function_of_its_model_and_its_seed() -> None:
    simulator = open_model(RIVER)
    together = walked(simulator, 0.35, np.arange(100, 140))
    assert np.array_equal(walked(simulator, 0.35, [117]), together[17:18])
    assert len(np.unique(together, axis=0)) > 30
    assert not np.array_equal(walked(simulator, 0.5, np.arange(100, 140)), together)


def test_steps_and_starts_are_drawn_from_the_tables() -> None:
    """Every successor within 4.5 standard errors; of another model, it is not."""
    worlds = build_instance("discretise:Pendulum-v1?mass=0.5,1.5&cells=5x5")
    draws, state, action = 40_000, 7, 1
    found = tabular_simulator(worlds).instantiate({"mass": np.full(draws, 1.5)})
    start = found.reset(np.arange(draws))[:, 0].astype(int)
    found.place(np.full((draws, 1), float(state)))
    after = found.step(np.full(draws, float(action)), np.ones(draws, np.bool_))
    seen = after.observation[:, 0].astype(int)
    assert (after.reward == worlds.rewards[-1, state, action]).all()
    laws = [worlds.transitions.array(member)[state, action] for member in (0, 1)]

    def apart(drawn: Any, law: FloatArray) -> float:
        shares = np.bincount(drawn, minlength=law.size) / draws
        error = np.sqrt(law * (1.0 - law) / draws)
        off = np.abs(shares - law)
        assert (off[law == 0.0] == 0.0).all() or law is laws[0]
        return float((off[law > 0.0] / (error[law > 0.0] + 1e-12)).max())

    assert apart(start, worlds.start_law(1)) < 4.5
    assert apart(seen, laws[1]) < 4.5
    assert apart(seen, laws[0]) > 4.5  # the control


@pytest.mark.parametrize("text", ["garnet?members=3", "best_arm?members=3"])
def test_models_that_no_parameter_tells_apart_are_numbered(text: str) -> None:
    (parameter,) = open_model(text).parameters
    assert (parameter.name, parameter.high, parameter.whole) == ("model", 2.0, True)


def test_a_number_means_its_model() -> None:
    """Behind the first door every step after the second pays in model 0 alone."""
    answer = simgap.transfer(
        "model:absorbing_doors",
        {"first": lambda state, memory: (0, None)},
        randomize="model={0,1}",
        horizon=20,
        episodes=16,
        beyond=1.0,
    )
    means = {p.theta["model"]: p.returned.estimate for p in answer.policies[0].points}
    assert means == {0.0: 18.0, 1.0: 0.0}


@pytest.mark.parametrize(
    ("text", "randomize", "code"),
    [
        (RIVER, "success=0.2..0.5", "no-such-model"),
        (RIVER, "success={0.2,0.3}", "no-such-model"),
        (RIVER, "success={0.2,0.6}", "outside-domain"),
        (RIVER, "model={0,1}", "unknown-parameter"),
        ("garnet", "model=0..1", "needs-whole"),
        ("riverswin", "success=0.2", "InvalidInstance"),
        ("nowhere.simgap", "success=0.2", "no-file"),
    ],
)
def test_what_the_class_does_not_have_is_refused(
    text: str, randomize: str, code: str
) -> None:
    with pytest.raises(SimgapError) as found:
        simgap.transfer(f"model:{text}", "random", randomize=randomize, horizon=5)
    assert found.value.code == code
