"""Designs over nu: where to measure, and what the points weigh."""

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import (
    Corners,
    Drawn,
    Grid,
    Parameter,
    RandomPoints,
    Sobol,
    bind,
    parse_design,
    write_rows,
)
from simgap.errors import InvalidArgument
from tests.continuous.randomization.test_binding import GROUP
from tests.continuous.randomization.worlds import PENDULUM, Named

SPEC = "mass=0.5..2 gain=log(0.25..4) torque_sign={-1: 1, 1: 3}"


@pytest.mark.parametrize(
    ("text", "design"),
    [
        ("sobol:64", Sobol(64)),
        ("random:200", RandomPoints(200)),
        ("grid:5x4", Grid((5, 4))),
        ("grid:5", Grid((5,))),
        ("corners", Corners()),
    ],
)
def test_a_design_is_read_and_written(text: str, design: object) -> None:
    assert parse_design(text) == design
    assert parse_design(parse_design(text)).text == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sobol",
        "sobol:",
        "sobol:-3",
        "sobol:0",
        "sobol:9x9",
        "sobol:1e3",
        "grid:5y5",
        "latin:9",
        "corners:3",
        "random:99999999",
        "grid:0",
        "grid:",
        "\x1b[31m",
    ],
)
def test_a_text_that_is_no_design_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_design(text)
    assert caught.value.code == "design"
    assert caught.value.hint


@pytest.mark.parametrize("count", [1, 2, 64, 100])
def test_sobol_points_are_spread_evenly_and_follow_the_seed(count: int) -> None:
    bound = bind("mass=0.5..2 gain=log(0.25..4)", PENDULUM)
    found = Sobol(count).points(bound, 3)
    assert found.theta.shape == (count, 2)
    assert found.drawn.drawn is Drawn.SCRAMBLED
    assert bool(found.notes) == (count == 100)
    cube = found.drawn.uniforms
    assert cube is not None
    assert (bound.quantile(cube) == found.theta).all()
    again, other = Sobol(count).points(bound, 3), Sobol(count).points(bound, 4)
    assert (again.theta == found.theta).all()
    assert (other.theta != found.theta).any()
    replicates = found.drawn.replicates
    assert replicates is not None
    assert np.bincount(replicates).sum() == count
    assert np.ptp(np.bincount(replicates)) <= 1
    if count == 64:  # one point of each of 8 replicates in each of 8 slices
        assert (np.bincount((cube[:, 0] * 8).astype(int)) == 8).all()
        first = cube[replicates == 0]
        assert sorted((first[:, 0] * 8).astype(int)) == [*range(8)]
        drawn = bound.uniforms(3, range(64))  # the control
        assert (np.bincount((drawn[:, 0] * 8).astype(int)) != 8).any()


def test_a_grid_has_the_ends_and_weighs_what_nu_says() -> None:
    found = Grid((3, 5)).points(bind(SPEC, PENDULUM), 0)
    weights = found.drawn.weights
    assert weights is not None
    assert found.theta.shape == (3 * 5 * 2, 3)
    assert found.drawn.drawn is Drawn.CHOSEN
    assert np.unique(found.theta[:, 0]).tolist() == [0.5, 1.25, 2.0]
    np.testing.assert_allclose(np.unique(found.theta[:, 1]), [0.25, 0.5, 1, 2, 4])
    by_mass = [weights[found.theta[:, 0] == m].sum() for m in (0.5, 1.25, 2.0)]
    np.testing.assert_allclose(by_mass, [0.25, 0.5, 0.25])
    by_sign = [weights[found.theta[:, 2] == s].sum() for s in (-1.0, 1.0)]
    np.testing.assert_allclose(by_sign, [0.25, 0.75])
    assert weights.sum() == pytest.approx(1.0)
    one = Grid((1,)).points(bind(SPEC, PENDULUM), 0).theta
    np.testing.assert_allclose(one[0], [1.25, 1.0, -1.0])


def test_a_fine_grid_has_the_mean_of_nu() -> None:
    bound = bind("mass=normal(1, sd=0.3, in=0.2..1.5) gain=log(0.25..4)", PENDULUM)
    found = Grid((201,)).points(bound, 0)
    weights = found.drawn.weights
    assert weights is not None
    mean = weights @ found.theta
    drawn = bound.sample(1, range(100_000))
    error = 5.0 * drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(mean - drawn.mean(axis=0)) < error).all()
    flat = found.theta.mean(axis=0)  # the control: equal weights are another law
    assert (np.abs(flat - drawn.mean(axis=0)) > error).any()


def test_corners_are_all_combinations_of_ends() -> None:
    found = Corners().points(bind(f"{SPEC} length=0.7", PENDULUM), 0)
    assert found.theta.shape == (8, 4)
    assert len({tuple(row) for row in found.theta}) == 8
    assert set(found.theta[:, 1]) == {0.25, 4.0}
    assert set(found.theta[:, 3]) == {0.7}
    assert found.drawn.drawn is Drawn.CHOSEN


def test_a_few_choices_are_all_taken_with_their_chances(tmp_path: Path) -> None:
    bound = bind("torque_sign={-1: 1, 1: 3} delay={0,1,2} mass=1", PENDULUM)
    found = Sobol(64).points(bound, 5)
    weights = found.drawn.weights
    assert weights is not None
    assert found.theta.shape == (6, 3)
    assert found.drawn.drawn is Drawn.EVERY
    assert weights.tolist() == pytest.approx([1 / 12] * 3 + [3 / 12] * 3)
    assert Sobol(4).points(bound, 5).theta.shape == (4, 3)  # fewer than there are
    path = tmp_path / "rows.csv"
    rows = np.array([[1.0, 0.5], [2.0, 0.25]])
    write_rows(path, ["mass", "gain*="], rows, np.array([1.0, 4.0]))
    every = Sobol(8).points(bind(f"rows({path}) delay={{0,1}}", PENDULUM), 0)
    assert every.theta.tolist() == [[d, *row] for d in (0.0, 1.0) for row in rows]
    assert every.drawn.weights is not None
    assert every.drawn.weights.tolist() == pytest.approx([0.1, 0.4, 0.1, 0.4])


@pytest.mark.parametrize(
    ("design", "spec", "named"),
    [
        ("grid:5x5x5", SPEC, "mass, gain"),
        ("grid:5", GROUP, "mass, gain"),
        ("grid:1001", "mass=1..2 length=1..2 gain=1..2", "mass, length"),
        ("corners", " ".join(f"x{i}=0..1" for i in range(13)), "8192"),
        ("corners", "x1=normal(0, sd=1)", "x1"),
        ("grid:3", "x1=normal(0, sd=1)", "x1"),
    ],
)
def test_a_design_that_does_not_fit_is_refused(
    design: str, spec: str, named: str
) -> None:
    many = tuple(Parameter(f"x{i}", 0.0) for i in range(13))
    world = Named("wide", PENDULUM.parameters + many)
    with pytest.raises(InvalidArgument) as caught:
        parse_design(design).points(bind(spec, world), 0)
    assert caught.value.code == "design"
    assert named in caught.value.problem
    assert caught.value.hint
