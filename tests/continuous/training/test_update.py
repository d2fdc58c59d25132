"""The update: advantages, chances, statistics, and the gradient of the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from simgap.continuous import Box, Choices
from simgap.continuous.training.rows import Actions, no_statistics
from simgap.continuous.training.update import advantages, discounted
from tests.continuous.program import told_by
from tests.continuous.training.trial import MEMORIES
from tests.reference import advantages as twin

jax = pytest.importorskip("jax")

STEPS, ROWS = 15, 6


def rows(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return rewards, values and ends: anywhere, one after the other, at the end."""
    random = np.random.default_rng(seed)
    ended = random.random((STEPS, ROWS)) < 0.15
    ended[3:5, 0], ended[-1, :3], ended[:, 5] = True, True, False
    reward = random.normal(size=(STEPS, ROWS)).astype(np.float32)
    value = random.normal(size=(STEPS + 1, ROWS)).astype(np.float32)
    return reward, value, ended


@pytest.mark.parametrize(("discount", "trace"), [(0.9, 0.8), (1.0, 1.0), (0.97, 0.0)])
def test_advantages_are_the_sum_that_defines_them(
    discount: float, trace: float
) -> None:
    reward, value, ended = rows()
    found = advantages(reward, value, ended, discount, trace)
    wanted = twin.advantages(reward, value, ended, discount, trace)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    late = twin.advantages(reward, value, np.roll(ended, 1, axis=0), discount, trace)
    assert not np.allclose(found, late, rtol=1e-2)  # the control


def test_what_follows_a_step_ends_with_its_episode() -> None:
    reward, _, ended = rows(1)
    found = discounted(reward, ended, 0.9)
    wanted = twin.discounted(reward, ended, 0.9)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    never = twin.discounted(reward, np.zeros_like(ended), 0.9)
    assert not np.allclose(found, never, rtol=1e-2)


def test_statistics_of_parts_are_those_of_all() -> None:
    random = np.random.default_rng(2)
    seen = random.normal(3.0, [0.1, 5.0], (3, STEPS, ROWS, 2)).astype(np.float32)
    returned = random.normal(2.0, 1.0, (3, STEPS, ROWS)).astype(np.float32)
    found = no_statistics(2)
    for part in zip(seen, returned, strict=True):
        found = found.merged(*part)
    assert float(found.count) == returned.size
    every = seen.reshape(-1, 2)
    np.testing.assert_allclose(found.mean, every.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.square, every.var(axis=0), rtol=1e-3)
    assert float(found.returned) == pytest.approx((returned**2).mean(), rel=1e-5)
    shown = found.shown(seen)
    np.testing.assert_allclose(shown.std(axis=(0, 1, 2)), 1.0, rtol=1e-3)
    far = found.shown(np.array([1e9, -1e9]))
    np.testing.assert_array_equal(far, [10.0, -10.0])


def test_chances_of_numbers_are_those_of_the_normal_distribution() -> None:
    actions = Actions.of(Box(np.array([-2.0, 0.0]), np.array([4.0, np.inf])))
    random = np.random.default_rng(3)
    said, action = random.normal(size=(2, STEPS, 2)).astype(np.float32)
    spread = np.array([-0.7, 0.4], np.float32)
    wanted = np.sum(norm.logpdf(action, said, np.exp(spread)), axis=-1)
    found = actions.log_chance(said, spread, action)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    entropy = np.sum(norm.entropy(0.0, np.exp(spread)))
    assert float(actions.entropy(said, spread)) == pytest.approx(entropy, rel=1e-5)
    played = actions.played(np.array([[0.5, 7.0], [-3.0, -7.0]], np.float32))
    np.testing.assert_allclose(played, [[2.5, 7.0], [-2.0, -7.0]])  # one end is none


def test_choices_are_drawn_as_often_as_their_chances_say() -> None:
    """Up to 5 standard deviations of a count; the control has two of them swapped."""
    actions, many = Actions.of(Choices(3)), 20_000
    said = np.tile(np.array([0.3, -1.0, 1.1], np.float32), (many, 1))
    noise = actions.noise(jax.random.key(0), (many,))
    chosen = np.asarray(actions.chosen(said, None, noise))
    share = np.bincount(chosen, minlength=3) / many
    chance = np.exp(actions.log_chance(said[:3], None, np.arange(3)))
    error = 5.0 * np.sqrt(chance * (1.0 - chance) / many)
    assert (np.abs(share - chance) < error).all()
    assert (np.abs(share - chance[[1, 0, 2]]) > error)[:2].all()
    wanted = -(chance * np.log(chance)).sum()
    assert float(actions.entropy(said, None)) == pytest.approx(wanted, rel=1e-5)


@pytest.fixture(scope="module")
def slopes() -> Any:
    """Gradients and finite differences in float64, of a process of its own."""
    return told_by("tests.continuous.training.slopes", {"JAX_ENABLE_X64": "1"})


@pytest.mark.parametrize("memory", MEMORIES)
def test_the_gradient_of_the_loss_is_that_of_finite_differences(
    memory: str, slopes: Any
) -> None:
    """Of every weight of a network with 2 units, over 3 steps with an end inside.

    The control forgets the memory between two steps, as a gradient would that stops
    there.
    """
    found = slopes[memory]
    assert found["weights"] > 30
    assert 0 < found["clipped"] < 1  # of the ratios: both sides of the clip are met
    assert found["apart"] < 1e-7 * found["largest"]
    if memory in ("gru", "lstm"):
        assert found["apart_without_past"] > 1e-3 * found["largest"]
