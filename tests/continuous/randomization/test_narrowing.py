"""A narrower randomization: a part of nu about the nominal values."""

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import bind, narrowed, write_rows
from simgap.errors import InvalidArgument
from tests.continuous.randomization.worlds import HOPPER, PENDULUM


@pytest.mark.parametrize(
    ("text", "half", "none"),
    [
        ("mass=0.5..2", "mass=0.75..1.5", "mass=1"),  # about the nominal value
        ("mass=2..4", "mass=2.5..3.5", "mass=3"),  # which is not in the range
        ("gain*=0.6..2", "gain*=0.8..1.5", "gain*=1"),
        ("wind+=-1..3", "wind+=-0.5..1.5", "wind+=0"),
        ("mass=log(0.25..16)", "mass=log(0.5..4)", "mass=1"),
        ("mass=log(2..8)", "mass=log(2.82842712475..5.65685424949)", "mass=4"),
        ("delay={1, 0, 2}", "delay={1, 0, 2}", "delay=0"),
        ("delay={1: 1, 2: 3}", "delay={1: 1, 2: 3}", "delay=2"),
        (
            "length=normal(1.2, sd=0.4, in=0.5..2)",
            "length=normal(1.1, sd=0.2, in=0.75..1.5)",
            "length=1",
        ),
        ("wind=normal(2, sd=1)", "wind=normal(1, sd=0.5)", "wind=0"),
        ("length=0.7", "length=0.7", "length=0.7"),
    ],
)
def test_ranges_shrink_to_the_nominal_value(text: str, half: str, none: str) -> None:
    nu = bind(text, PENDULUM)
    assert narrowed(nu, 0.5).to_string() == half
    assert narrowed(nu, 0.0).to_string() == none
    assert narrowed(nu, 1.0) is nu


def test_parameters_of_different_nominal_values_shrink_to_the_median() -> None:
    nu = bind("body[*].mass=1..5", HOPPER)  # 3.5, 2 and 2.5
    assert narrowed(nu, 0.5).to_string() == "body[*].mass=2..4"
    scaled = bind("body[*].mass*=0.5..2", HOPPER)
    assert narrowed(scaled, 0.0).to_string() == "body[*].mass*=1"


def test_widths_are_nested_and_share_their_random_numbers() -> None:
    nu = bind("mass=log(0.5..4) length=0.5..1.2 delay={0,1,2}", PENDULUM)
    u = nu.uniforms(3, range(500))
    before = narrowed(nu, 0.0).quantile(u)
    for width in (0.1, 0.3, 0.6, 1.0):
        part = narrowed(nu, width)
        theta = part.quantile(u)
        assert nu.inside(theta).all() and part.inside(theta).all()
        assert (np.abs(theta[:, :2] - 1.0) >= np.abs(before[:, :2] - 1.0) - 1e-9).all()
        before = theta


def test_groups_stay_together() -> None:
    text = """
    [randomize]
    mass = "0.5..2"
    length = "0.5..1.5"
    [randomize.together.both]
    members = ["mass", "length"]
    correlation = [[1.0, 0.9], [0.9, 1.0]]
    """
    nu = bind(text, PENDULUM)
    drawn = narrowed(nu, 0.5).sample(0, range(400))
    assert np.atleast_2d(np.corrcoef(drawn.T))[0, 1] > 0.8
    assert (narrowed(nu, 0.0).sample(0, range(5)) == 1.0).all()


def test_what_has_no_width_is_refused(tmp_path: Path) -> None:
    nu = bind("mass=0.5..2", PENDULUM)
    for width in (-0.1, 1.5, float("nan")):
        with pytest.raises(InvalidArgument) as wrong:
            narrowed(nu, width)
        assert wrong.value.code == "no-such-width"
    path = tmp_path / "rows.csv"
    write_rows(path, ("mass",), np.array([[1.0], [2.0]]), None)
    with pytest.raises(InvalidArgument) as wrong:
        narrowed(bind(f"rows({path})", PENDULUM), 0.5)
    assert wrong.value.code == "rows-have-no-width"
