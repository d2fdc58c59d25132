"""Linear mixture classes: coordinates, corners, and sets that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.base_policies.infinite.mixture_class import (
    MixtureClass,
    mixture_of,
    mixture_over_ball,
)
from simgap.base_policies.infinite.mixture_region import Hull
from simgap.errors import InvalidArgument, InvalidModel, NotCommunicating
from simgap.instances import absorbing_doors, linear_bandit
from simgap.mdp import Details, class_from_arrays
from tests.base_policies.mixtures import (
    random_ball,
    random_mixture,
    second_arm,
    two_arms,
)

SEEDS = range(8)


def some_class(seed: int) -> MixtureClass:
    rng = np.random.default_rng(seed)
    if seed % 2:
        return random_ball(rng, axes=1 + seed % 3)
    return random_mixture(rng, members=2 + seed % 4)


def members(mixture: MixtureClass, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random points of the region."""
    if isinstance(mixture.region, Hull):
        weights = rng.dirichlet(np.ones(len(mixture.region.corners)), count)
        return np.asarray(weights @ mixture.region.corners)
    points = rng.normal(size=(count, mixture.dimension))
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return np.asarray(points / lengths * rng.random((count, 1)))


def test_proposition_2_has_one_dimension_and_contains_its_models() -> None:
    """Theory 4.9: theta = (1/2, -p) or (1/2, 1/2)."""
    mixture = second_arm()
    assert mixture.dimension == 1
    printed = linear_bandit(p=(0.3, 0.45))
    for member, offset in enumerate((-0.3, -0.45, 0.5)):
        kernel = mixture.model([0.5, offset]).transitions.array(0)
        assert kernel == pytest.approx(printed.transitions.array(member), abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_member_is_the_mixture_of_its_theta(seed: int) -> None:
    mixture, rng = some_class(seed), np.random.default_rng(seed)
    for u in members(mixture, rng, 20):
        theta = mixture.theta(u)
        mixed = np.tensordot(theta, mixture.features, axes=1)
        assert mixture.kernel(u) == pytest.approx(mixed, abs=1e-9)
        assert mixture.coordinates(theta) == pytest.approx(u, abs=1e-8)
        stored = mixture.model(theta).transitions.array(0)
        assert stored == pytest.approx(mixed, abs=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_region_lies_in_the_unit_ball_and_holds_a_smaller_one(seed: int) -> None:
    mixture, rng = some_class(seed), np.random.default_rng(seed)
    ways = rng.normal(size=(500, mixture.dimension))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    reach = mixture.region.reach(ways)
    assert reach.max() <= 1.0 + 1e-12
    q = mixture.region.elongation if isinstance(mixture.region, Hull) else 1.0
    assert reach.min() >= 1.0 / (mixture.dimension * q**2) - 1e-9


@pytest.mark.parametrize("seed", SEEDS)
def test_features_of_a_bias_of_width_one_are_bounded(seed: int) -> None:
    mixture, rng = some_class(seed), np.random.default_rng(seed)
    corners = rng.integers(0, 2, (200, mixture.n_states)).astype(float)
    features = np.einsum("isat,nt->nsai", mixture.directions, corners)
    lengths = np.linalg.norm(features, axis=-1)
    assert lengths.max() <= mixture.region.feature_bound + 1e-12


@pytest.mark.parametrize("seed", SEEDS)
def test_reach_is_attained_and_no_member_goes_further(seed: int) -> None:
    mixture, rng = some_class(seed), np.random.default_rng(seed)
    ways = rng.normal(size=(50, mixture.dimension))
    reach, points = mixture.region.reach(ways), mixture.region.farthest(ways)
    assert (ways * points).sum(axis=1) == pytest.approx(reach, abs=1e-12)
    others = members(mixture, rng, 300)
    assert ((ways @ others.T).max(axis=1) <= reach + 1e-12).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_member_is_nearest_in_any_metric(seed: int) -> None:
    """Obtuse angles prove it: (p - near) V (u - near) <= 0 for every member u."""
    mixture, rng = some_class(seed), np.random.default_rng(seed)
    r = mixture.dimension
    for _ in range(10):
        root = rng.normal(size=(r, r))
        metric = root @ root.T + 0.1 * np.eye(r)
        point = 3.0 * rng.normal(size=r)
        near = mixture.region.nearest(point, metric)
        pull = metric @ (point - near)
        worst = float(mixture.region.reach(pull[None])[0] - pull @ near)
        assert worst <= 1e-9 * max(1.0, float(np.abs(pull).max()))


def test_a_set_with_a_theta_that_is_no_kernel_is_refused_by_entry() -> None:
    features, rewards = two_arms()
    with pytest.raises(InvalidModel, match=r"P\(s'=0 \| s=0, a=1\) is -0.1 at theta"):
        mixture_over_ball(features, rewards, centre=[0.5, 0.0], radius=0.6)


def test_features_that_allow_no_kernel_are_refused() -> None:
    features, rewards = two_arms()
    features[:, 1, 0] *= 3.0
    with pytest.raises(InvalidModel, match="no theta makes every row sum to 1"):
        mixture_over_ball(features, rewards, centre=[0.5, 0.0], radius=0.5)


def test_wrong_shapes_and_numbers_are_refused() -> None:
    features, rewards = two_arms()
    for wrong in (features[0], features[:, :, :, :1], np.zeros((0, 2, 2, 2))):
        with pytest.raises(InvalidModel, match="features have shape"):
            mixture_over_ball(wrong, rewards, centre=[0.5, 0.0], radius=0.5)
    with pytest.raises(InvalidModel, match="rewards have shape"):
        mixture_over_ball(features, rewards[0], centre=[0.5, 0.0], radius=0.5)
    with pytest.raises(InvalidModel, match="not finite"):
        mixture_over_ball(np.nan * features, rewards, centre=[0.5, 0.0], radius=0.5)
    with pytest.raises(InvalidModel, match="radius"):
        mixture_over_ball(features, rewards, centre=[0.5, 0.0], radius=-1.0)
    with pytest.raises(InvalidModel, match="centre of the ball"):
        mixture_over_ball(features, rewards, centre=[0.5], radius=0.5)
    with pytest.raises(InvalidModel, match="no theta of the ball"):
        mixture_over_ball(features, rewards, centre=[2.0, 0.0], radius=0.5)
    mixture = mixture_over_ball(features, rewards, centre=[0.5, 0.0], radius=0.5)
    with pytest.raises(InvalidArgument, match="not in the set"):
        mixture.model([0.5, 0.6])
    with pytest.raises(InvalidArgument, match="one per base kernel"):
        mixture.model([0.5])


def test_classes_that_cannot_be_mixed_are_refused() -> None:
    rng = np.random.default_rng(1)
    kernels = rng.dirichlet(np.ones(3), (2, 3, 2))
    with pytest.raises(InvalidModel, match="different rewards"):
        mixture_of(class_from_arrays(kernels, rng.random((2, 3, 2))))
    elsewhere = Details(start=[0, 1])
    with pytest.raises(InvalidModel, match="different states"):
        mixture_of(class_from_arrays(kernels, np.zeros((3, 2)), details=elsewhere))
    with pytest.raises(NotCommunicating, match="no model of the mixture"):
        mixture_of(absorbing_doors(3))
