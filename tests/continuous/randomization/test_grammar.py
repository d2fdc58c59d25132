"""The text of a randomization: what is written is read as the same value."""

from pathlib import Path

import pytest

from simgap.continuous import (
    Choice,
    Fixed,
    Group,
    Item,
    LogUniform,
    Operation,
    Randomization,
    Rows,
    TruncatedNormal,
    Uniform,
    parse_randomization,
)
from simgap.continuous.randomization.toml_form import parse_toml, toml_of
from tests.continuous.randomization.generated import randomization

TOGETHER = """
[randomize]
mass = "0.5..2.0"
gain = { scale = "log(0.5..2)" }
torque_sign = "{-1, 1}"
length = 1
"body.torso.mass" = { offset = "normal(0, sd=0.1, in=-1..1)" }
[randomize.together.payload]
members = ["mass", "gain"]
correlation = [[1.0, 0.7], [0.7, 1.0]]
[randomize.samples]
file = "posterior.csv"
"""
MEANT = Randomization(
    (
        Item("mass", Uniform(0.5, 2.0)),
        Item("gain", LogUniform(0.5, 2.0), Operation.SCALE),
        Item("torque_sign", Choice((-1.0, 1.0))),
        Item("length", Fixed(1.0)),
        Item("body.torso.mass", TruncatedNormal(0.0, 0.1, -1.0, 1.0), Operation.OFFSET),
    ),
    (Group("payload", ("mass", "gain"), ((1.0, 0.7), (0.7, 1.0))),),
    Rows("posterior.csv"),
)


@pytest.mark.parametrize("block", range(10))
def test_five_hundred_randomizations_come_back_as_they_were(block: int) -> None:
    for seed in range(50 * block, 50 * block + 50):
        spec = randomization(seed)
        assert parse_randomization(spec.to_string()) == spec
        assert parse_toml(toml_of(spec)) == spec


def test_generated_randomizations_have_every_part() -> None:
    specs = [randomization(seed) for seed in range(500)]
    laws = [item.distribution for spec in specs for item in spec.items]
    assert {type(law) for law in laws} == {
        Fixed,
        Uniform,
        LogUniform,
        TruncatedNormal,
        Choice,
    }
    assert min(sum(bool(s.groups) for s in specs), sum(bool(s.rows) for s in specs)) > 9
    assert any(not spec.items and spec.rows is None for spec in specs)


def test_a_changed_digit_is_another_randomization() -> None:
    """The control: equality of randomizations is not equality of everything."""
    assert parse_randomization("mass=0.5..2") != parse_randomization("mass=0.5..2.1")
    assert parse_randomization("mass=0.5..2") != parse_randomization("mass*=0.5..2")


@pytest.mark.parametrize(
    ("text", "law", "operation"),
    [
        ("m=1.2", Fixed(1.2), "="),
        ("m=0.5..2.0", Uniform(0.5, 2.0), "="),
        ("m = 0.5 .. 2.0", Uniform(0.5, 2.0), "="),
        ("m=-1...5", Uniform(-1.0, 0.5), "="),
        ("m=1/4..1e3", Uniform(0.25, 1000.0), "="),
        ("m*=log(0.1..10)", LogUniform(0.1, 10.0), "*="),
        ("m+=normal( 1.0,sd=0.2 )", TruncatedNormal(1.0, 0.2), "+="),
        ("m=normal(1, in=0.5..inf, sd=.2)", TruncatedNormal(1.0, 0.2, 0.5), "="),
        ("m={-1,1}", Choice((-1.0, 1.0)), "="),
        ("m={-1: 0.3, 1 : 0.7}", Choice((-1.0, 1.0), (0.3, 0.7)), "="),
    ],
)
def test_each_form_means_what_the_anchor_says(
    text: str, law: object, operation: str
) -> None:
    (item,) = parse_randomization(text).items
    assert (item.name, item.distribution, item.operation.value) == ("m", law, operation)


def test_toml_has_the_same_words() -> None:
    assert parse_randomization(TOGETHER) == MEANT


def test_a_file_names_its_rows_from_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "nu.toml"
    path.parent.mkdir()
    path.write_text(TOGETHER)
    read = parse_randomization(path)
    assert read.rows == Rows(str(path.parent / "posterior.csv"))


@pytest.mark.parametrize("file", ["rows.csv", "my rows.npz"])
def test_a_file_of_rows_stands_alone_or_beside_items(file: str) -> None:
    assert parse_randomization(file) == Randomization(rows=Rows(file))
    both = parse_randomization(f"rows({file}) delay={{0,1}}")
    assert both.rows == Rows(file)
    assert both.items == (Item("delay", Choice((0.0, 1.0))),)


def test_python_says_the_same_as_text() -> None:
    text = parse_randomization("mass=0.5..2 length=1 torque_sign={-1,1}")
    laws = {"mass": Uniform(0.5, 2), "length": 1, "torque_sign": "{-1, 1}"}
    assert parse_randomization(laws) == text
    assert parse_randomization(text) is text
