"""Which infinite form of Algorithm 4 plays a box of parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from simgap.base_policies.infinite.continuum_agent import (
    continuum_agent,
    linear_in_parameters,
)
from simgap.base_policies.infinite.cover_agent import OptimisticCover
from simgap.base_policies.infinite.general_mixture import OptimisticMixture
from simgap.errors import InvalidModel
from simgap.gap import MonteCarlo, gaps
from simgap.instances import bandit, riverswim
from simgap.mdp import TabularMDP, class_from_models
from tests.base_policies.covers import bent, river

BOX = {"success": (0.1, 0.6), "down": (0.02, 0.2)}


def corners() -> list[TabularMDP]:
    return [
        river({"success": s, "down": d}) for s in BOX["success"] for d in BOX["down"]
    ]


def test_linear_families_are_told_from_bent_ones() -> None:
    assert linear_in_parameters(river, BOX)
    assert not linear_in_parameters(bent, {"x": (0.3, 1.2)})

    def product(theta: Mapping[str, float]) -> TabularMDP:
        return bandit([[0.5, theta["a"] * theta["b"]]])[0]

    assert not linear_in_parameters(product, {"a": (0.1, 0.9), "b": (0.1, 0.9)})


def test_linear_boxes_are_mixtures_of_their_corners() -> None:
    """Every model of the box is a member, and one outside of it is not."""
    found = continuum_agent(river, BOX, class_from_models(corners()), 200)
    assert found.linear and found.proved
    assert isinstance(found.policy, OptimisticMixture)
    assert found.policy.mixture.dimension == 2
    rng = np.random.default_rng(1)
    for part in rng.random((5, 2)):
        weights = np.outer([1.0 - part[0], part[0]], [1.0 - part[1], part[1]]).ravel()
        low, high = np.array(list(BOX.values())).T
        success, down = low + part * (high - low)
        np.testing.assert_allclose(
            found.policy.mixture.model(weights).transitions.array(0),
            river({"success": success, "down": down}).transitions.array(0),
            atol=1e-12,
        )


def test_bent_boxes_are_covered_and_nothing_is_promised() -> None:
    box = {"x": (0.3, 1.2)}
    ends = class_from_models([bent({"x": x}) for x in box["x"]])
    found = continuum_agent(bent, box, ends, 400)
    assert not found.linear and not found.proved
    assert isinstance(found.policy, OptimisticCover)
    sampled = MonteCarlo(episodes=6, seed=3)
    for lost, wrong in zip(
        gaps(ends, found.policy, 400, evaluator=sampled), (0.41, 0.37), strict=True
    ):
        assert lost.estimate < 0.5 * wrong * 400  # half of always playing the other arm


def test_sizes_must_not_depend_on_the_parameters() -> None:
    def growing(theta: Mapping[str, float]) -> TabularMDP:
        return riverswim(3 + round(theta["x"]))[0]

    with pytest.raises(InvalidModel, match="3 and 4 states"):
        continuum_agent(growing, {"x": (0.0, 1.0)}, riverswim(3), 10)
    with pytest.raises(InvalidModel, match="too large"):
        continuum_agent(
            lambda _: riverswim(3000)[0], {"x": (0.0, 1.0)}, riverswim(3), 10
        )
