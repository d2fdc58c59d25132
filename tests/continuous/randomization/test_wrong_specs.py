"""Wrong randomizations: each is refused with a code, the item, and a way out."""

from pathlib import Path

import numpy as np
import pytest

from simgap.continuous import (
    Choice,
    Fixed,
    Group,
    Item,
    LogUniform,
    Randomization,
    Rows,
    TruncatedNormal,
    Uniform,
    bind,
    parse_randomization,
)
from simgap.errors import InvalidArgument, SimgapError
from tests.continuous.randomization.generated import randomization
from tests.continuous.randomization.worlds import HOPPER, PENDULUM, Named

SYNTAX, VALUE, NAME = "randomize-syntax", "randomize-value", "randomize-name"
GROUP, TWICE, ROWS = "randomize-group", "set-twice", "randomize-rows"
UNKNOWN, OUTSIDE = "unknown-parameter", "outside-domain"

TEXTS = [  # text, code, what the problem names, what the way out says
    ("", SYNTAX, "empty", "mass=0.5..2"),
    ("   ", SYNTAX, "empty", "mass=0.5..2"),
    ("mass", SYNTAX, "mass", "name=0.5..2"),
    ("mass 0.5..2", SYNTAX, "mass", "name=0.5..2"),
    ("mass=", SYNTAX, "mass=", "0.5..2"),
    ("mass=heavy", SYNTAX, "mass=heavy", "0.5..2"),
    ("mass=1kg", SYNTAX, "mass=1kg", "unit"),
    ("mass=50%", SYNTAX, "mass=50%", "0.5"),
    ("mass=0.5:2", SYNTAX, "mass=0.5:2", "0.5..2"),
    ("mass=0.5-2", SYNTAX, "mass=0.5-2", "0.5..2"),
    ("mass=0.5…2", SYNTAX, "mass=0.5…2", "two plain dots"),
    ("mass=0.5...", SYNTAX, "mass=0.5...", "digits"),
    ("mass=1.", SYNTAX, "mass=1.", "digits"),
    ("mass=0.5..", SYNTAX, "mass=0.5..", "0.5..2"),
    ("mass=..2", SYNTAX, "mass=..2", "0.5..2"),
    ("mass=0,5..2", SYNTAX, "mass=0,5..2", "decimal point"),
    ("mass=[0.5, 2]", SYNTAX, "mass=[0.5,", "0.5..2"),
    ("mass=(0.5, 2)", SYNTAX, "mass=(0.5,", "0.5..2"),
    ("mass=uniform(0.5, 2)", SYNTAX, "mass=uniform(0.5,", "its range alone"),
    ("mass=loguniform(1, 2)", SYNTAX, "mass=loguniform(1,", "log(0.1..10)"),
    ("mass=gauss(1, 2)", SYNTAX, "mass=gauss(1,", "normal("),
    ("mass=choice(1, 2)", SYNTAX, "mass=choice(1,", "{-1, 1}"),
    ("mass=log(0.1, 10)", SYNTAX, "mass=log(0.1,", "log(0.1..10)"),
    ("mass=log(0.1..10", SYNTAX, "mass=log(0.1..10", ")"),
    ("mass=log(0..10)", VALUE, "mass=log(0..10)", "above 0"),
    ("mass=log(10..1)", VALUE, "mass=log(10..1)", "1..10"),
    ("mass=2..1", VALUE, "mass=2..1", "1..2"),
    ("mass=1e999", VALUE, "mass=1e999", "finite"),
    ("mass=1/0", VALUE, "mass=1/0", "finite"),
    ("mass=nan", SYNTAX, "mass=nan", "finite"),
    ("mass=0..inf", SYNTAX, "mass=0..inf", "finite"),
    ("mass=normal(1)", SYNTAX, "mass=normal(1)", "sd=0.2"),
    ("mass=normal(1, 0.2)", SYNTAX, "mass=normal(1,", "sd=0.2"),
    ("mass=normal(1, sd=0)", VALUE, "mass=normal(1,", "above 0"),
    ("mass=normal(1, sd=1, sd=2)", SYNTAX, "mass=normal(1,", "sd=0.2"),
    ("mass=normal(1, sd=1, in=2..1)", VALUE, "mass=normal(1,", "in=0.5..1.5"),
    ("mass=normal(1, sd=1, in=1..1)", VALUE, "mass=normal(1,", "in=0.5..1.5"),
    ("mass=normal(1, sd=1, in=30..40)", VALUE, "mass=normal(1,", "mean"),
    ("mass={}", SYNTAX, "mass={}", "{-1, 1}"),
    ("mass={1, 1}", VALUE, "mass={1,", "weight"),
    ("mass={1: 0, 2: 1}", VALUE, "mass={1:", "leave a value out"),
    ("mass={1: 1, 2}", VALUE, "mass={1:", "every value"),
    ("mass={1, 2", SYNTAX, "mass={1,", "}"),
    ("mass={1; 2}", SYNTAX, "mass={1;", "}"),
    ("mass=1, length=2", SYNTAX, "mass=1,", "blanks"),
    ("mass=1;length=2", SYNTAX, "mass=1;length=2", "blanks"),
    ("mass=1..2length=3", SYNTAX, "mass=1..2length=3", "unit"),
    ("mass==1", SYNTAX, "mass==1", "one sign"),
    ("mass-=1", NAME, "mass-", "+="),
    ("mass/=2", NAME, "mass/", "*="),
    ("mass=1 # heavy", SYNTAX, "#", "TOML"),
    ("=1..2", SYNTAX, "=1..2", "name=0.5..2"),
    ("geom.*=1..2", NAME, "geom.", "geom.*.friction"),
    (".mass=1", NAME, ".mass", "word"),
    ("together=1", NAME, "together", "something else"),
    ("mass=1 mass*=2", TWICE, "mass", "leave one"),
    ("mass=\x1b[31m1", SYNTAX, "mass=\\x1b[31m1", "0.5..2"),
    ("\x00=1", NAME, "\\x00", "word"),
    ("m\u202ess=1", NAME, "\\u202e", "word"),
    ("x" * 201 + "=1", NAME, "xxx", "word"),
    ("rows()", ROWS, "rows()", "rows(posterior.csv)"),
    ("rows(a.csv) rows(b.csv)", SYNTAX, "rows(b.csv)", "one file"),
    ('rows("a.csv)', SYNTAX, "rows(", "my posterior.csv"),
    ("rows(a.csv", SYNTAX, "rows(a.csv", ")"),
    ("a.csv mass=1", SYNTAX, "a.csv", "rows(a.csv)"),
    ("posterior.parquet", "randomize-file", "posterior.parquet", ".csv"),
    ("mass=1 " * 20_000, "randomize-size", "140000", "rows(FILE)"),
    (
        "x=1 " * 1 + " ".join(f"x{i}=1" for i in range(1000)),
        "randomize-size",
        "1001",
        "[",
    ),
    ("mass={" + ",".join(map(str, range(10_002))) + "}", SYNTAX, "10000", "file"),
]
BOUND = [
    ("mas=0.5..2", UNKNOWN, "'mas' in pendulum", "did you mean mass? known: mass, l"),
    ("mass=-1..2", OUTSIDE, "must be > 0 kg, the range starts at -1", "mass=0.1..2"),
    ("mass=0..2", OUTSIDE, "starts at 0", "mass=0.1..2"),
    ("mass=0", OUTSIDE, "0 is given", "> 0 kg"),
    ("gain=-9..9", OUTSIDE, "in [-5, 5], the range starts at -9", "gain=-5..5"),
    ("gain=1..9", OUTSIDE, "ends at 9", "gain=1..5"),
    ("gain={1, 7}", OUTSIDE, "7 is given", "[-5, 5]"),
    ("gain*=2..6", OUTSIDE, "makes it 6 (it is 1)", "[-5, 5]"),
    ("gain+=0..6", OUTSIDE, "makes it 7 (it is 1)", "[-5, 5]"),
    ("mass*=-1..1", OUTSIDE, "makes it -1", "> 0 kg"),
    ("gain=normal(1, sd=.2)", "needs-in", "in [-5, 5]", "in=low..high"),
    ("mass=normal(1, sd=.2, in=-inf..2)", "needs-in", "> 0 kg", "in=low..high"),
    ("gain=normal(1, sd=2, in=-6..6)", OUTSIDE, "starts at -6", "[-5, 5]"),
    ("delay=0..3", "needs-whole", "delay=0..3", "delay={0, 1, 2, 3}"),
    ("delay={0.5, 1}", "needs-whole", "delay", "{"),
    ("delay={0, 21}", OUTSIDE, "21 is given", "[0, 20]"),
    ("wind*=0.5..2", "factor-of-zero", "wind is 0", "wind+="),
    ("body.*.mass=1", UNKNOWN, "body.*.mass", "known: mass"),
]
MUJOCO = [
    (
        "geom.foo.friction=1",
        UNKNOWN,
        "no geom matches 'foo' in hopper.xml",
        "geoms: fl",
    ),
    ("geom[foo*].friction=1", UNKNOWN, "no geom matches 'foo*'", "torso_geom"),
    ("body.torsoo.mass=1", UNKNOWN, "'torsoo'", "did you mean torso? bodies: torso"),
    (
        "body.torso.mass=1 body.*.mass*=0.8..1.2",
        TWICE,
        "body.torso.mass is set twice",
        "one by one",
    ),
    ("body[*].mass*=1..2 body.*.mass*=1..2", TWICE, "body.torso.mass", "leave out"),
    ("body[*].mass=-1..1", OUTSIDE, "body.torso.mass must be > 0 kg", "body[*].mass="),
    ("body.*.mass+=-2.2..1", OUTSIDE, "body.left_foot.mass", "> 0 kg"),
]
TOML = [
    ("[randomise]\nmass = 1", SYNTAX, "randomise", "randomize"),
    ("mass = 1", SYNTAX, "mass", "randomize"),
    ("[randomize]\nmass = ", SYNTAX, "TOML", "quotes"),
    ("[randomize]\nbody.torso.mass = '1..2'", SYNTAX, "body", '"body.torso'),
    ("[randomize]\nmass = true", VALUE, "mass is True", "0.5..2"),
    ("[randomize]\nmass = [1, 2]", VALUE, "mass is [1, 2]", "0.5..2"),
    ("[randomize]\nmass = inf", VALUE, "mass is inf", "number"),
    ("[randomize]\nmass = '2..1'", VALUE, "mass", "1..2"),
    ("[randomize]\nmass = '1..2 3'", SYNTAX, "mass", "one of"),
    ("[randomize]\nmass = {times = '1..2'}", SYNTAX, "mass", "scale"),
    ("[randomize]\nmass = {scale = 1, offset = 1}", SYNTAX, "mass", "one of"),
    ("[randomize]\nsamples = 'a.csv'", SYNTAX, "samples", "samples"),
    ("[randomize.samples]\npath = 'a.csv'", SYNTAX, "path", "file"),
    ("[randomize.samples]", SYNTAX, "names no file", "file ="),
    ("[randomize.together]\np = 1", GROUP, "group p", "members"),
    ("[randomize.together.p]\nmembers = ['a']", GROUP, "group p", "correlation"),
    ("[randomize.together.p]\nmember = []", SYNTAX, "member", "did you mean members"),
    ("a = " + "[" * 5000, SYNTAX, "TOML", "quotes"),
]


def check(error: SimgapError, code: str, named: str, way: str) -> None:
    assert error.code == code
    assert named in error.problem
    assert way in error.hint
    assert error.problem.isprintable()


@pytest.mark.parametrize(("text", "code", "named", "way"), TEXTS)
def test_a_text_is_refused(text: str, code: str, named: str, way: str) -> None:
    with pytest.raises(SimgapError) as caught:
        parse_randomization(text)
    check(caught.value, code, named, way)


@pytest.mark.parametrize(
    ("world", "text", "code", "named", "way"),
    [(PENDULUM, *each) for each in BOUND] + [(HOPPER, *each) for each in MUJOCO],
)
def test_a_randomization_that_does_not_fit_is_refused(
    world: Named, text: str, code: str, named: str, way: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        bind(text, world)
    check(caught.value, code, named, way)


@pytest.mark.parametrize(("text", "code", "named", "way"), TOML)
def test_a_toml_file_is_refused(
    text: str, code: str, named: str, way: str, tmp_path: Path
) -> None:
    path = tmp_path / "nu.toml"
    path.write_text(text)
    with pytest.raises(SimgapError) as caught:
        parse_randomization(path)
    check(caught.value, code, named, way)
    assert "nu.toml" in caught.value.problem


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "no rows"),
        (b"mass,gain\n", "no rows"),
        (b"mass,mass\n1,2\n", "'mass' twice"),
        (b"mass,gain\n1\n", "line 2"),
        (b"mass\nheavy\n", "line 2: mass is 'heavy'"),
        (b"mass\nnan\n", "row 1: mass"),
        (b"mass,weight\n1,-1\n", "weight"),
        (b"mass,weight\n1,0\n", "weight"),
        (b"weight\n1\n", "columns of parameters"),
        (b"ma ss\n1\n", "'ma ss'"),
        (b"mass*\n1\n", "'mass*'"),
        (b"\xff\xfe\n1\n", "UTF-8"),
        (b'"mass\n1\n', "CSV"),
        (b"body[*].mass\n1\n", "draws"),
        (b"mass\n-1\n", "mass must be > 0 kg, and a row has -1"),
        (b"delay\n0.5\n", "whole number"),
        (b"mas\n1\n", "'mas'"),
    ],
)
def test_a_file_of_rows_is_refused(content: bytes, named: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    world = HOPPER if b"body" in content else PENDULUM
    with pytest.raises(SimgapError) as caught:
        bind(f"rows({path})", world)
    assert caught.value.code in {ROWS, OUTSIDE, UNKNOWN}
    assert named in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize(
    "arrays",
    [
        {"mass": np.array([[1.0]])},
        {"mass": np.array(["heavy"])},
        {"mass": np.array([1.0]), "gain": np.array([1.0, 2.0])},
        {"mass": np.array([object()])},
    ],
)
def test_an_npz_of_other_things_is_refused(
    arrays: dict[str, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, **arrays)  # type: ignore[arg-type]  # none is allow_pickle
    with pytest.raises(SimgapError) as caught:
        bind(str(path), PENDULUM)
    assert caught.value.code == ROWS


@pytest.mark.parametrize("name", ["none.csv", "none.npz", "none.toml", "none.yaml"])
def test_a_file_that_is_not_there_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(SimgapError, match=name) as caught:
        bind(str(tmp_path / name), PENDULUM)
    assert caught.value.code == "no-file"


@pytest.mark.parametrize("cut", [0, 10, 60, 200])
def test_a_cut_npz_is_refused(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.npz"
    np.savez(path, mass=np.ones(50))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(SimgapError) as caught:
        bind(str(path), PENDULUM)
    assert caught.value.code == ROWS


ONE = ((1.0, 0.5), (0.5, 1.0))


@pytest.mark.parametrize(
    ("members", "correlation"),
    [
        (("a",), ((1.0,),)),
        (("a", "a"), ONE),
        (("a", "b[*].c"), ONE),
        (("a", "b"), ((1.0, 0.5),)),
        (("a", "b"), ((1.0, 0.5), (0.4, 1.0))),
        (("a", "b"), ((1.0, 1.5), (1.5, 1.0))),
        (("a", "b"), ((0.9, 0.5), (0.5, 0.9))),
        (("a", "b"), ((1.0, float("nan")), (float("nan"), 1.0))),
        (("a", "b", "c"), ((1, 0.9, -0.9), (0.9, 1, 0.9), (-0.9, 0.9, 1))),
    ],
)
def test_a_group_is_refused(
    members: tuple[str, ...], correlation: tuple[tuple[float, ...], ...]
) -> None:
    with pytest.raises(InvalidArgument, match="group pay") as caught:
        Group("pay", members, correlation)
    assert caught.value.code == GROUP
    assert caught.value.hint


def test_groups_name_items_once() -> None:
    items = tuple(Item(name, Uniform(0, 1)) for name in "abc")
    for groups in (
        (Group("p", ("a", "d"), ONE),),
        (Group("p", ("a", "b"), ONE), Group("q", ("b", "c"), ONE)),
    ):
        with pytest.raises(InvalidArgument) as caught:
            Randomization(items, groups)
        assert caught.value.code == GROUP


@pytest.mark.parametrize(
    "make",
    [
        lambda: Fixed(float("nan")),
        lambda: Uniform(0.0, float("inf")),
        lambda: LogUniform(-1.0, 1.0),
        lambda: TruncatedNormal(0.0, -1.0),
        lambda: TruncatedNormal(float("nan"), 1.0),
        lambda: Choice(()),
        lambda: Choice((1.0, 2.0), (1.0,)),
        lambda: Choice((1.0, 2.0), (1e308, 1e308)),
        lambda: parse_randomization({"mass": None}),
        lambda: parse_randomization(3),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_python_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert caught.value.code == VALUE


def test_a_file_name_with_hidden_characters_is_refused() -> None:
    with pytest.raises(InvalidArgument) as caught:
        Rows("a\x1b.csv")
    assert caught.value.code == ROWS


def test_there_are_enough_wrong_specs() -> None:
    assert len(TEXTS) + len(BOUND) + len(MUJOCO) + len(TOML) >= 60


PIECES = (
    "mass gain delay = *= += .. log( normal( ) { } , : sd= in= 1 -2 0.5 1/3 inf rows( "
)
PIECES += '.csv " [*] * \x00 é [randomize] # x.toml 1e400 together'


def test_no_text_ends_in_anything_but_a_value_or_an_error_with_a_way_out() -> None:
    rng = np.random.default_rng(5)
    pieces = [*PIECES.split(" "), " ", "\n"]
    fates = [0, 0]
    for seed in range(1500):
        text = "".join(rng.choice(pieces, size=rng.integers(1, 12)))
        if seed % 2:
            letters = list(randomization(seed).to_string())
            for _ in range(rng.integers(3)):
                letters[rng.integers(len(letters))] = str(rng.choice(pieces))
            text = "".join(letters)
        try:
            spec = parse_randomization(text)
            assert parse_randomization(spec.to_string()) == spec
            bind(Randomization(spec.items, spec.groups), PENDULUM).widened(1.5)
            fates[0] += 1
        except SimgapError as error:
            fates[1] += 1
            assert error.hint
            assert error.code not in {"InvalidArgument", "InvalidFile"}
    assert min(fates) > 10
