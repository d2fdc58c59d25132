"""Gymnasium's toy-text: published numbers, and the traps of its tables."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.instances import build_instance
from simgap.mdp import SimulatorClass
from tests.instances.test_known import connected, rewards_of, slow_diameter

DIAMETERS = {
    "1/3": 633 / 11,
    "0.5": 9023 / 277,
    "0.7": 432428980985 / 32979804662,
    "0.9": 40075642465 / 4900319046,
}


def start_values(worlds: SimulatorClass, horizon: int) -> FloatArray:
    """Return V*_1 at the start of each model."""
    found = []
    for m in range(len(worlds)):
        P, R = worlds.transitions.array(m), rewards_of(worlds, m)
        values: FloatArray = np.zeros(worlds.n_states)
        for _ in range(horizon):
            values = (R + P @ values).max(axis=1)
        found.append(float(worlds.start_law(m) @ values))
    return np.array(found)


def test_frozen_lake_with_restart_has_the_published_diameters() -> None:
    """Reliability 2a, Storm exact: terminal states stay and lead to the start."""
    worlds = build_instance(f"gym:FrozenLake-v1?success_rate={','.join(DIAMETERS)}")
    assert worlds.n_states == 16
    assert worlds.model_names[1] == "success_rate=0.5"
    for m, expected in enumerate(DIAMETERS.values()):
        found = slow_diameter(worlds.transitions.array(m))
        assert found == pytest.approx(expected, rel=1e-10)


def test_frozen_lake_with_restart_has_the_values_of_the_demo() -> None:
    """Ecosystem 5: H = 200."""
    worlds = build_instance(f"gym:FrozenLake-v1?success_rate={','.join(DIAMETERS)}")
    expected = [3.36, 6.19, 15.00, 24.17]
    np.testing.assert_allclose(start_values(worlds, 200), expected, atol=5e-3)


@pytest.mark.parametrize(
    ("rate", "chance"),
    [("1/3", 14 / 17), ("0.5", 19 / 21), ("0.7", 4073 / 4127), ("1", 1.0)],
)
def test_frozen_lake_absorbed_reaches_the_goal_with_the_published_chance(
    rate: str, chance: float
) -> None:
    worlds = build_instance(f"gym:FrozenLake-v1?success_rate={rate}&terminal=absorb")
    assert start_values(worlds, 4000)[0] == pytest.approx(chance, abs=1e-9)


def test_the_default_success_rate_is_one_third() -> None:
    default, named = (
        build_instance("gym:FrozenLake-v1"),
        build_instance("gym:FrozenLake-v1?success_rate=1/3"),
    )
    np.testing.assert_allclose(
        default.transitions.array(0), named.transitions.array(0), atol=1e-15
    )


def test_a_dry_lake_is_deterministic() -> None:
    lake = build_instance("gym:FrozenLake-v1?is_slippery=false&map_name=8x8")
    kernel = lake.transitions.array(0)
    assert set(np.unique(kernel)) == {0.0, 1.0}
    assert lake.n_states == 64
    assert lake.labels.states[9] == "r1c1"
    eight = build_instance("gym:FrozenLake8x8-v1?is_slippery=false")
    np.testing.assert_array_equal(eight.transitions.array(0), kernel)
    assert eight.labels.states == lake.labels.states


def test_duplicate_successors_are_added_up() -> None:
    """In the corner, left slips up and down: left and up stay, each with its share."""
    lake = build_instance("gym:FrozenLake-v1?success_rate=0.5")
    left = lake.labels.actions.index("left")
    assert lake.transitions.probability(0, 0, left, 0) == pytest.approx(0.75)
    assert lake.transitions.probability(0, 0, left, 4) == pytest.approx(0.25)


def test_rewards_are_means_over_successors_and_notes_say_so() -> None:
    worlds = build_instance("gym:FrozenLake-v1?success_rate=0.5,0.9")
    right = worlds.labels.actions.index("right")
    assert worlds.rewards[:, 14, right].tolist() == [0.5, 0.9]
    assert any("depend on the model" in note for note in worlds.notes)
    assert any(note.startswith("terminal=restart") for note in worlds.notes)


@pytest.mark.parametrize("mode", ["restart", "absorb"])
@pytest.mark.parametrize(
    "spec", ["gym:CliffWalking-v1?", "gym:Taxi-v4?", "gym:CliffWalkingSlippery-v1?"]
)
def test_rewards_are_those_of_the_environment_whatever_old_texts_say(
    spec: str, mode: str
) -> None:
    plain = build_instance(f"{spec}terminal={mode}")
    unit = build_instance(f"{spec}terminal={mode}&reward=unit")
    assert plain.rewards.min() <= -10.0
    assert plain.hash == unit.hash


def test_the_cliff_walk_costs_thirteen() -> None:
    walk = build_instance("gym:CliffWalking-v1?terminal=absorb")
    assert start_values(walk, 200)[0] == pytest.approx(-13.0)


def test_the_slippery_cliff_walk_has_the_published_value() -> None:
    walk = build_instance("gym:CliffWalkingSlippery-v1?terminal=absorb&reward=unit")
    expected = -1817367253278 / 28085155277
    assert start_values(walk, 5000)[0] == pytest.approx(expected, rel=1e-9)
    same = build_instance(
        "gym:CliffWalking-v1?terminal=absorb&reward=unit&is_slippery=true"
    )
    np.testing.assert_array_equal(same.transitions.values, walk.transitions.values)


def test_taxi_has_the_published_means_over_its_300_starts() -> None:
    dry = build_instance("gym:Taxi-v4?terminal=absorb")
    wet = build_instance(
        "gym:Taxi-v4?terminal=absorb&is_rainy=true&rainy_probability=0.8"
    )
    assert dry.n_states == 500
    assert (dry.start_law(0) > 0.0).sum() == 300
    assert start_values(dry, 100)[0] == pytest.approx(7.93, abs=5e-3)
    assert start_values(wet, 300)[0] == pytest.approx(3.954574517, abs=5e-9)


def test_the_moves_shipped_in_terminal_states_of_taxi_are_ignored() -> None:
    absorbed = build_instance("gym:Taxi-v4?terminal=absorb")
    kernel = absorbed.transitions.array(0)
    ends = [s for s in range(500) if (kernel[s, :, s] == 1.0).all()]
    assert len(ends) == 4
    assert (absorbed.rewards[0, ends] == 0.0).all()
    restarted = build_instance("gym:Taxi-v4").transitions.array(0)
    for s in ends:
        for a in range(6):
            np.testing.assert_allclose(restarted[s, a], absorbed.start_law(0))
    names = [absorbed.labels.states[s] for s in ends]
    assert names == ["r0c0-R-R", "r0c4-G-G", "r4c0-Y-Y", "r4c3-B-B"]


@pytest.mark.parametrize(
    ("spec", "everything", "reached"),
    [("gym:CliffWalking-v1", 48, 38), ("gym:Taxi-v4", 500, 404)],
)
def test_states_nobody_reaches_can_be_left_out(
    spec: str, everything: int, reached: int
) -> None:
    whole, part = build_instance(spec), build_instance(f"{spec}?states=reachable")
    assert (whole.n_states, part.n_states) == (everything, reached)
    assert not connected(whole.transitions.array(0))
    assert connected(part.transitions.array(0))
    assert any("cannot be reached" in note for note in whole.notes)
    np.testing.assert_allclose(start_values(part, 30), start_values(whole, 30))


def test_a_rainy_grid_gives_one_model_per_point() -> None:
    worlds = build_instance("gym:Taxi-v4?is_rainy=true&rainy_probability=0.5:0.9:3")
    assert worlds.model_names == (
        "rainy_probability=0.5",
        "rainy_probability=0.7",
        "rainy_probability=0.9",
    )
    assert len({worlds[m].hash for m in range(3)}) == 3
