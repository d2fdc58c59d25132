"""Maps of the loss, and which parameter matters, from a whole cube."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simgap.continuous import Cube, Drawn, DrawnPoints, graded
from simgap.continuous.measuring.maps import Fit, fit

MEASURED = 64


def cube(points: int = MEASURED, noise: float = 0.1) -> Cube:
    """Return a policy that loses 4 mass^2 + sign * length, against a reference."""
    rng = np.random.default_rng(5)
    mass, length = rng.random((2, points))
    sign = rng.choice([-1.0, 1.0], points)
    lost = 4.0 * mass**2 + sign * length
    shared = rng.normal(size=(1, 1, points, 6))
    own = noise * rng.normal(size=(2, 1, points, 6))
    return Cube(
        policies=("mine", "informed"),
        parameters=("length", "fixed", "sign", "mass"),
        theta=np.stack([length, np.ones(points), sign, mass], axis=1),
        inside=np.ones(points, dtype=bool),
        returns=np.stack([-lost, 0.0 * lost])[:, None, :, None] + shared + own,
        references=("informed",),
    )


POINTS = DrawnPoints(Drawn.SCRAMBLED)


def test_the_map_is_the_loss_where_it_was_not_measured() -> None:
    found = fit(cube(), "mine", POINTS)
    assert isinstance(found, Fit)
    shown = found.map()
    assert (shown.loss_is, shown.sure) == ("gap", True)
    assert shown.parameters == ("mass", "sign", "length")
    mass, sign, length = np.meshgrid(*shown.axes, indexing="ij")
    assert shown.axes[1] == (-1.0, 1.0)
    truth = 4.0 * mass**2 + sign * length
    off = np.array(shown.loss).reshape(truth.shape) - truth
    assert np.abs(off).max() < 0.5
    assert np.sqrt((off**2).mean()) < 2.0 * shown.error < 0.4


def test_parameters_that_vary_have_shares_and_pairs() -> None:
    found = graded(cube(), POINTS)
    assert found.parameters[0].name == "mass"
    assert {each.name for each in found.parameters} == {"mass", "sign", "length"}
    assert found.pairs[0].name == "length x sign"
    assert [each.policy for each in found.maps] == ["mine"]


def test_without_a_reference_the_loss_is_against_the_best_point() -> None:
    alone = replace(cube(noise=0.0), references=())
    found = graded(alone, POINTS)
    assert {each.loss_is for each in found.maps} == {"return below the best point"}


@pytest.mark.parametrize(
    ("points", "shared", "code"),
    [(5, 1.0, "too-few-points"), (MEASURED, 0.0, "loss-is-constant")],
)
def test_too_little_to_tell_is_told(points: int, shared: float, code: str) -> None:
    given = cube(points)
    found = graded(replace(given, returns=shared * given.returns), POINTS)
    assert (found.parameters, found.maps) == ((), ())
    assert code in {each.code for each in found.notes}


def test_parameters_that_go_together_are_told() -> None:
    given = cube()
    theta = np.array(given.theta)
    theta[:, 0] = theta[:, 3] + 0.01 * theta[:, 0]
    found = graded(replace(given, theta=theta), POINTS)
    assert "dependent-parameters" in {each.code for each in found.notes}


def test_noise_has_no_shares() -> None:
    given = cube()
    rng = np.random.default_rng(0)
    found = graded(replace(given, returns=rng.normal(size=given.returns.shape)), POINTS)
    assert "loss-is-noise" in [each.code for each in found.notes]
    assert not (found.parameters or found.pairs or found.maps)


def test_many_points_are_thinned() -> None:
    found = fit(cube(1000), "mine", POINTS)
    assert isinstance(found, Fit)
    assert found.surrogate.apart.size == 400
