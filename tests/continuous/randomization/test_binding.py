"""A randomization bound to a simulator: names, domains, draws, values."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from simgap.continuous import Parameter, bind, parse_randomization, write_rows
from tests.continuous.randomization.worlds import HOPPER, PENDULUM, Named

FAILURE = 1e-6
GROUP = """
[randomize]
mass = "0.5..2"
gain = { scale = "log(0.5..2)" }
length = "normal(1, sd=0.3, in=0.5..1.5)"
[randomize.together.payload]
members = ["mass", "gain"]
correlation = [[1.0, 0.7], [0.7, 1.0]]
"""


def test_a_pattern_is_one_draw_and_brackets_are_one_for_each() -> None:
    shared = bind("body.*.mass*=0.5..1.5", HOPPER)
    assert shared.names == ("body.*.mass",)
    theta = shared.sample(1, range(5))
    values = shared.values(theta)
    assert list(values) == [p.name for p in HOPPER.parameters[:3]]
    np.testing.assert_array_equal(values["body.torso.mass"], 3.5 * theta[:, 0])
    np.testing.assert_array_equal(values["body.left_foot.mass"], 2.0 * theta[:, 0])
    each = bind("body[*_foot].mass*=0.5..1.5 actuator[*].gear+=-9..9", HOPPER)
    assert each.names == (
        "body.left_foot.mass",
        "body.right_foot.mass",
        "actuator.hip.gear",
        "actuator.knee.gear",
    )
    drawn = each.sample(1, range(50))
    assert abs(np.corrcoef(drawn[:, 0], drawn[:, 1])[0, 1]) < 0.9
    gear = each.values(drawn)["actuator.knee.gear"]
    np.testing.assert_array_equal(gear, 150.0 + drawn[:, 3])


@pytest.mark.parametrize(
    "text", ["mass=1..1", "mass*=1..1", "mass+=0", "mass=log(1..1)"]
)
def test_a_range_of_no_width_at_the_nominal_is_the_nominal(text: str) -> None:
    bound = bind(text, PENDULUM)
    assert (bound.values(bound.sample(3, range(100)))["mass"] == 1.0).all()
    assert bound.varying == ()
    nothing = bind("nominal", PENDULUM)
    assert nothing.sample(3, range(4)).shape == (4, 0)
    assert nothing.values(np.empty((4, 0))) == {}


def test_a_draw_is_a_function_of_seed_and_episode_alone() -> None:
    bound = bind("mass=0.5..2 length=0.5..1.5 torque_sign={-1,1}", PENDULUM)
    many = bound.sample(5, range(300))
    assert (bound.sample(5, [250, 3]) == many[[250, 3]]).all()
    assert (bound.sample(6, range(300)) != many).any()
    alone = bind("length=0.5..1.5", PENDULUM)  # what else is drawn does not matter
    assert (alone.sample(5, range(300))[:, 0] == many[:, 1]).all()


def test_a_group_keeps_its_laws_and_has_its_correlation() -> None:
    bound = bind(parse_randomization(GROUP), PENDULUM)
    n = 20_000
    theta = bound.sample(2, range(n))
    laws = [column.distribution for column in bound.columns]
    u = np.column_stack([law.cdf(theta[:, i]) for i, law in enumerate(laws)])
    for i in range(3):
        assert stats.kstest(u[:, i], "uniform").pvalue > FAILURE
    scores = stats.norm.ppf(u)
    related = np.corrcoef(scores[:, 0], scores[:, 1])[0, 1]
    apart = np.corrcoef(scores[:, 0], scores[:, 2])[0, 1]
    bound_5 = 5.0 / np.sqrt(n)
    assert abs(related - 0.7) < bound_5 * (1.0 - 0.7**2)
    assert abs(apart) < bound_5
    assert abs(related - 0.65) > bound_5 * (1.0 - 0.7**2)  # the control
    assert bound.dependent == {0, 1}


def test_members_with_correlation_one_move_together() -> None:
    text = GROUP.replace("0.7", "1.0")
    theta = bind(parse_randomization(text), PENDULUM).sample(2, range(200))
    mass, gain = (theta[:, 0] - 0.5) / 1.5, np.log(theta[:, 1] / 0.5) / np.log(4.0)
    np.testing.assert_allclose(mass, gain, atol=1e-9)


def test_the_density_of_a_group_integrates_to_one() -> None:
    bound = bind(parse_randomization(GROUP), PENDULUM)
    cells = 400
    u = (np.arange(cells) + 0.5) / cells
    mass, gain = 0.5 + 1.5 * u, 0.5 + 1.5 * u
    grid = np.stack(np.meshgrid(mass, gain, [1.0], indexing="ij"), -1).reshape(-1, 3)
    at_one = bound.columns[2].distribution.density(np.array([1.0]))[0]
    total = bound.density(grid).sum() * (1.5 / cells) ** 2 / at_one
    assert total == pytest.approx(1.0, abs=2e-3)
    theirs = stats.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]])
    z = stats.norm.ppf([[0.2, 0.9]])
    theta = bound.columns[0].distribution.quantile(np.array([0.2]))
    gains = bound.columns[1].distribution.quantile(np.array([0.9]))
    ours = bound.density(np.array([[theta[0], gains[0], 1.0]]))[0]
    margins = (1 / 1.5) * (1 / (gains[0] * np.log(4.0))) * at_one
    expected = theirs.pdf(z) / np.prod(stats.norm.pdf(z)) * margins
    assert ours == pytest.approx(expected, rel=1e-9)


def test_rows_are_drawn_whole_by_their_weights(tmp_path: Path) -> None:
    rows = np.array([[1.0, 0.5], [2.0, 0.25], [1.5, 0.75]])
    path = tmp_path / "rows.csv"
    write_rows(path, ["mass", "gain*="], rows, np.array([1.0, 2.0, 1.0]))
    bound = bind(f"rows({path}) delay={{0,1}}", PENDULUM)
    assert bound.names == ("delay", "mass", "gain")
    assert bound.dependent == {1, 2}
    theta = bound.sample(1, range(8000))
    drawn = [tuple(row) for row in theta[:, 1:]]
    counts = [drawn.count(tuple(row)) for row in rows]
    assert sum(counts) == 8000
    assert stats.chisquare(counts, [2000, 4000, 2000]).pvalue > FAILURE
    assert stats.chisquare(counts, [2667, 2667, 2666]).pvalue < FAILURE  # the control
    np.testing.assert_allclose(
        bound.density(np.array([[0, 2.0, 0.25], [1, 1.0, 0.5], [1, 1.0, 0.25]])),
        [0.25, 0.125, 0.0],
    )
    assert bound.values(theta[:1])["gain"] == theta[0, 2]
    npz = tmp_path / "rows.npz"
    columns = {"mass": rows[::-1, 0], "gain*=": rows[::-1, 1]}
    columns["weight"] = np.array([1.0, 2.0, 1.0])
    np.savez(npz, **columns)  # type: ignore[arg-type]  # none is allow_pickle
    again = bind(f"rows({npz}) delay={{0,1}}", PENDULUM)
    assert (again.sample(1, range(50)) == theta[:50]).all()  # in whatever order


def test_a_parameter_called_weight_is_told_from_the_weights(tmp_path: Path) -> None:
    world = Named("scale", (Parameter("weight", 2.0), Parameter("x", 1.0)))
    bound = bind("weight=1..3 x*=1..2", world)
    assert [column.header for column in bound.columns] == ["weight=", "x*="]
    path = tmp_path / "rows.csv"
    headers = [column.header for column in bound.columns]
    write_rows(path, headers, np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 3.0]))
    again = bind(str(path), world)
    assert again.names == ("weight", "x")
    assert again.rows is not None
    assert again.rows.chances.tolist() == [0.25, 0.75]


def test_what_is_drawn_is_inside_and_what_is_wider_is_not_all() -> None:
    bound = bind("mass=0.5..2 gain=log(0.5..2) delay={0,2}", PENDULUM)
    wide = bound.widened(1.5)
    assert bound.inside(bound.sample(1, range(500))).all()
    assert wide.support.tolist() == [
        [0.125, 2.375],
        pytest.approx([2.0**-1.5, 2.0**1.5]),
        [0.0, 2.0],
    ]
    beyond = wide.inside(wide.sample(1, range(500)))
    assert beyond.all()
    assert 0.3 < bound.inside(wide.sample(1, range(500))).mean() < 0.6  # 4 / 9
    assert not bound.inside(np.array([[1.0, 1.0, 1.0]]))[0]  # no such choice
    assert bound.widened(1.0).to_string() == bound.to_string()


def test_a_range_is_not_widened_out_of_its_domain() -> None:
    bound = bind("mass=0.1..2 gain=-4..4.5", PENDULUM)
    wide = bound.widened(3.0)
    assert wide.support.tolist() == [[0.05, 3.9], [-5.0, 5.0]]
    assert len(wide.notes) == 2
    scaled = bind("gain*=-3..4.9", PENDULUM).widened(2.0)
    assert scaled.support.tolist() == [[-5.0, 5.0]]
    normal = bind("mass=normal(1, sd=0.2, in=0.1..1.9)", PENDULUM).widened(1.5)
    assert normal.to_string() == "mass=normal(1, sd=0.3, in=0.05..2.35)"
