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

TEXTS = [
    ("   ", SYNTAX),
    ("mass 0.5..2", SYNTAX),
    ("mass=heavy", SYNTAX),
    ("mass=50%", SYNTAX),
    ("mass=0.5-2", SYNTAX),
    ("mass=0.5...", SYNTAX),
    ("mass=0.5..", SYNTAX),
    ("mass=0,5..2", SYNTAX),
    ("mass=(0.5, 2)", SYNTAX),
    ("mass=loguniform(1, 2)", SYNTAX),
    ("mass=choice(1, 2)", SYNTAX),
    ("mass=log(0.1..10", SYNTAX),
    ("mass=log(0..10)", VALUE),
    ("mass=log(10..1)", VALUE),
    ("mass=2..1", VALUE),
    ("mass=1e999", VALUE),
    ("mass=1/0", VALUE),
    ("mass=0..inf", SYNTAX),
    ("mass=normal(1, 0.2)", SYNTAX),
    ("mass=normal(1, sd=0)", VALUE),
    ("mass=normal(1, sd=1, in=2..1)", VALUE),
    ("mass=normal(1, sd=1, in=1..1)", VALUE),
    ("mass=normal(1, sd=1, in=30..40)", VALUE),
    ("mass={}", SYNTAX),
    ("mass={1, 1}", VALUE),
    ("mass={1: 0, 2: 1}", VALUE),
    ("mass={1: 1, 2}", VALUE),
    ("mass={1; 2}", SYNTAX),
    ("mass=1;length=2", SYNTAX),
    ("mass==1", SYNTAX),
    ("mass-=1", NAME),
    ("mass/=2", NAME),
    ("=1..2", SYNTAX),
    ("geom.*=1..2", NAME),
    (".mass=1", NAME),
    ("together=1", NAME),
    ("mass=1 mass*=2", TWICE),
    ("\x00=1", NAME),
    ("m\u202ess=1", NAME),
    ("x" * 201 + "=1", NAME),
    ("rows()", ROWS),
    ("rows(a.csv) rows(b.csv)", SYNTAX),
    ("rows(a.csv", SYNTAX),
    ("posterior.pkl", "randomize-file"),
    ("mass=1 " * 20_000, "randomize-size"),
    ("x=1 " * 1 + " ".join(f"x{i}=1" for i in range(1000)), "randomize-size"),
    ("mass={" + ",".join(map(str, range(10_002))) + "}", SYNTAX),
]
BOUND = [
    ("mas=0.5..2", UNKNOWN),
    ("mass=-1..2", OUTSIDE),
    ("mass=0..2", OUTSIDE),
    ("mass=0", OUTSIDE),
    ("gain=-9..9", OUTSIDE),
    ("gain=1..9", OUTSIDE),
    ("gain={1, 7}", OUTSIDE),
    ("gain*=2..6", OUTSIDE),
    ("gain+=0..6", OUTSIDE),
    ("mass*=-1..1", OUTSIDE),
    ("gain=normal(1, sd=.2)", "needs-in"),
    ("mass=normal(1, sd=.2, in=-inf..2)", "needs-in"),
    ("gain=normal(1, sd=2, in=-6..6)", OUTSIDE),
    ("delay=0..3", "needs-whole"),
    ("delay={0.5, 1}", "needs-whole"),
    ("delay={0, 21}", OUTSIDE),
    ("wind*=0.5..2", "factor-of-zero"),
    ("body.*.mass=1", UNKNOWN),
]
MUJOCO = [
    ("geom.foo.friction=1", UNKNOWN),
    ("geom[foo*].friction=1", UNKNOWN),
    ("body.torsoo.mass=1", UNKNOWN),
    ("body.torso.mass=1 body.*.mass*=0.8..1.2", TWICE),
    ("body[*].mass*=1..2 body.*.mass*=1..2", TWICE),
    ("body[*].mass=-1..1", OUTSIDE),
    ("body.*.mass+=-2.2..1", OUTSIDE),
]
TOML = [
    ("[randomise]\nmass = 1", SYNTAX),
    ("mass = 1", SYNTAX),
    ("[randomize]\nmass = ", SYNTAX),
    ("[randomize]\nbody.torso.mass = '1..2'", SYNTAX),
    ("[randomize]\nmass = true", VALUE),
    ("[randomize]\nmass = [1, 2]", VALUE),
    ("[randomize]\nmass = inf", VALUE),
    ("[randomize]\nmass = '2..1'", VALUE),
    ("[randomize]\nmass = '1..2 3'", SYNTAX),
    ("[randomize]\nmass = {times = '1..2'}", SYNTAX),
    ("[randomize]\nmass = {scale = 1, offset = 1}", SYNTAX),
    ("[randomize]\nsamples = 'a.csv'", SYNTAX),
    ("[randomize.samples]\npath = 'a.csv'", SYNTAX),
    ("[randomize.samples]", SYNTAX),
    ("[randomize.together]\np = 1", GROUP),
    ("[randomize.together.p]\nmembers = ['a']", GROUP),
    ("[randomize.together.p]\nmember = []", SYNTAX),
    ("a = " + "[" * 5000, SYNTAX),
]


def check(error: SimgapError, code: str) -> None:
    assert error.code == code
    assert error.hint
    assert error.problem.isprintable()


@pytest.mark.parametrize(("text", "code"), TEXTS)
def test_a_text_is_refused(text: str, code: str) -> None:
    with pytest.raises(SimgapError) as caught:
        parse_randomization(text)
    check(caught.value, code)


@pytest.mark.parametrize(
    ("world", "text", "code"),
    [(PENDULUM, *each) for each in BOUND] + [(HOPPER, *each) for each in MUJOCO],
)
def test_a_randomization_that_does_not_fit_is_refused(
    world: Named, text: str, code: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        bind(text, world)
    check(caught.value, code)


@pytest.mark.parametrize(("text", "code"), TOML)
def test_a_toml_file_is_refused(text: str, code: str, tmp_path: Path) -> None:
    path = tmp_path / "nu.toml"
    path.write_text(text)
    with pytest.raises(SimgapError) as caught:
        parse_randomization(path)
    check(caught.value, code)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"mass,gain\n",
        b"mass,mass\n1,2\n",
        b"mass,gain\n1\n",
        b"mass\nheavy\n",
        b"mass\nnan\n",
        b"mass,weight\n1,-1\n",
        b"mass,weight\n1,0\n",
        b"weight\n1\n",
        b"ma ss\n1\n",
        b"mass*\n1\n",
        b"\xff\xfe\n1\n",
        b'"mass\n1\n',
        b"body[*].mass\n1\n",
        b"mass\n-1\n",
        b"delay\n0.5\n",
        b"mas\n1\n",
    ],
)
def test_a_file_of_rows_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    world = HOPPER if b"body" in content else PENDULUM
    with pytest.raises(SimgapError) as caught:
        bind(f"rows({path})", world)
    assert caught.value.code in {ROWS, OUTSIDE, UNKNOWN}
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
