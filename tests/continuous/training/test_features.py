"""Parameters as numbers for a network: of order one, without a seam, zero if hidden."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.continuous import BoundRandomization, Parameter, bind
from simgap.continuous.measuring.jobs import told_to_informed
from simgap.continuous.training.features import Scale, features_of
from tests.continuous.randomization.worlds import Named

ROBOT = Named(
    "robot",
    (
        Parameter("mass", 2.0, 0.0, low_open=True, unit="kg"),
        Parameter("friction", 1.0, 0.0),
        Parameter("mount", 0.0, unit="rad"),
        Parameter("sign", 1.0),
        Parameter("motor.left.gear", 30.0),
        Parameter("motor.right.gear", 40.0),
        Parameter("joint.hip.turn", 3.0, unit="rad"),
    ),
)


def bound(spec: str) -> BoundRandomization:
    return bind(spec, ROBOT)


def numbers(spec: str, theta: list[float], *, masked: bool = False) -> FloatArray:
    """Return the numbers of draws of the only column of a spec."""
    randomization = bound(spec)
    told = told_to_informed(randomization, np.array(theta)[:, None])
    return features_of(randomization, masked=masked).numbers(told, (len(theta),))


@pytest.mark.parametrize(
    ("spec", "theta", "scale", "wanted"),
    [
        ("mass=1..3", [1.0, 1.5, 3.0], Scale.LINE, [-1.0, -0.5, 1.0]),
        ("mass*=0.5..2", [0.5, 1.25, 2.0], Scale.LINE, [-1.0, 0.0, 1.0]),
        ("mass+=-1..1", [-1.0, 0.5], Scale.LINE, [-1.0, 0.5]),
        ("mass=log(0.5..8)", [0.5, 2.0, 8.0], Scale.LOG, [-1.0, 0.0, 1.0]),
        ("mass*=log(0.5..2)", [0.5, 1.0, 2.0], Scale.LOG, [-1.0, 0.0, 1.0]),
        ("sign={-1,1}", [-1.0, 1.0], Scale.LINE, [-1.0, 1.0]),
        ("mass={1,2,3,4,5,6,7,8,9}", [1.0, 5.0], Scale.LINE, [-1.0, 0.0]),
        ("mount=-1..1", [0.5], Scale.LINE, [0.5]),
        ("motor.*.gear*=0.5..1.5", [0.75], Scale.LINE, [-0.5]),
        ("joint.*.turn*=0.5..7.5", [4.0], Scale.LINE, [0.0]),
    ],
)
def test_a_range_becomes_minus_one_to_one(
    spec: str, theta: list[float], scale: Scale, wanted: list[float]
) -> None:
    (feature,) = features_of(bound(spec)).each
    assert feature.scale is scale
    np.testing.assert_allclose(numbers(spec, theta)[:, 0], wanted, atol=1e-12)


def test_a_full_turn_has_no_seam() -> None:
    spec = f"mount={-pi}..{pi}"
    found = numbers(spec, [-pi, pi, 0.0, pi / 2, pi - 1e-3, -pi + 1e-3])
    np.testing.assert_allclose(found[0], found[1], atol=1e-12)
    np.testing.assert_allclose(found[2:4], [[1.0, 0.0], [0.0, 1.0]], atol=1e-12)
    assert np.abs(found[4] - found[5]).max() < 3e-3
    half = numbers(f"mount={-pi / 2}..{pi / 2}", [-pi / 2, pi / 2])
    assert half.shape == (2, 1)  # the control: ends of half a turn stay apart
    assert abs(half[0, 0] - half[1, 0]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("spec", "theta"),
    [
        ("mass={1,2,4}", [1.0, 2.0, 4.0]),
        ("mass*={0.5,1,2}", [0.5, 1.0, 2.0]),
        ("motor.*.gear*={0.5,1,2}", [0.5, 1.0, 2.0]),
        ("joint.*.turn*={0.1,1,5}", [0.1, 1.0, 5.0]),  # one match is a factor too
    ],
)
def test_each_of_some_choices_has_a_number_of_its_own(
    spec: str, theta: list[float]
) -> None:
    np.testing.assert_array_equal(numbers(spec, theta), np.eye(3))


def test_what_is_hidden_is_zero_and_marked() -> None:
    randomization = bound(f"mass=1..3 mount={-pi}..{pi} friction={{1,2,3}} sign={{1}}")
    nan, shape = np.nan, (2,)
    theta = {
        "mass": np.array([3.0, nan]),
        "mount": np.array([nan, 0.0]),
        "friction": np.array([nan, 3.0]),
    }
    plain, masked = (features_of(randomization, masked=each) for each in (False, True))
    assert plain.names == ("mass", "mount", "friction")  # what does not vary is known
    assert (plain.size, masked.size) == (6, 9)
    found = masked.numbers(theta, shape)
    assert found.shape == (2, masked.size)
    np.testing.assert_allclose(found[0], [1, 0, 0, 0, 0, 0, 1, 0, 0])
    np.testing.assert_allclose(found[1], [0, 1, 0, 0, 0, 1, 0, 1, 1])
    np.testing.assert_array_equal(plain.numbers(theta, shape), found[:, :6])
