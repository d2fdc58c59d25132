"""The grammar of instance strings: what is read, what is refused and how."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.errors import InvalidInstance
from simgap.instances import build_instance, closed_forms, is_instance_string, names
from simgap.instances.spelling import Kind, read_value

READ = [
    ("riverswim", 1),
    (" riverswim ", 1),
    ("riverswim?success=0.2:0.5:4", 4),
    ("riverswim?success=0.2,0.3,0.35", 3),
    ("riverswim?success=.5", 1),
    ("riverswim?success=0.3:0.3:1", 1),
    ("riverswim?success=5e-1", 1),
    ("riverswim?success=1/3", 1),
    ("riverswim?success=1/3:2/3:3&down=0.1,0.2", 6),
    ("riverswim?success=0.2, 0.3", 2),
    ("riverswim?success=0.5:0.2:4", 4),
    ("riverswim?success=0.2,0.2", 2),
    ("switch_tree?null=yes", 3),
    ("switch_tree?null=False", 2),
    ("bandit?means=0.5,0.6;0.6,0.5", 2),
]


@pytest.mark.parametrize(("spec", "members"), READ)
def test_a_well_formed_string_is_read(spec: str, members: int) -> None:
    assert len(build_instance(spec)) == members


def test_a_range_holds_the_decimals_a_person_means() -> None:
    worlds = build_instance("riverswim?success=0.2:0.5:4")
    assert worlds.theta.values[:, 0].tolist() == [0.2, 0.3, 0.4, 0.5]
    assert worlds.model_names == (
        "success=0.2",
        "success=0.3",
        "success=0.4",
        "success=0.5",
    )


def test_a_long_range_agrees_with_linspace() -> None:
    worlds = build_instance("switch?delta=0.1:0.7:101&e=0")
    np.testing.assert_allclose(
        worlds.theta.values[:, 0], np.linspace(0.1, 0.7, 101), rtol=1e-15
    )


MALFORMED = [
    ("", "is not an instance string", "write a name"),
    ("   ", "is not an instance string", "write a name"),
    ("x" * 20_000, "is not an instance string", "write a name"),
    ("riverswm", "no instance 'riverswm'", "did you mean 'riverswim'"),
    ("RiverSwim", "no instance 'RiverSwim'", "did you mean 'riverswim'"),
    ("zzzzzzz", "no instance 'zzzzzzz'", "there are absorbing_doors"),
    ("FrozenLake-v1", "no instance", "did you mean 'gym:FrozenLake-v1'"),
    ("?states=6", "no instance ''", "there are"),
    ("riverswim?", "nothing follows the question mark", "leave the question mark out"),
    ("riverswim?states", "'states' has no '='", "key=value"),
    ("riverswim?states=", "has no value", "key=value"),
    ("riverswim?=6", "has no key", "key=value"),
    ("riverswim?states=6&", "an empty part", "between the &"),
    ("riverswim?&states=6", "an empty part", "between the &"),
    ("riverswim?states=6&states=7", "states is given twice", "give it once"),
    ("riverswim?state=6", "no parameter 'state'", "did you mean 'states'"),
    ("riverswim?sucess=0.2", "no parameter 'sucess'", "did you mean 'success'"),
    ("riverswim?qqq=0.2", "no parameter 'qqq'", "there are states, success"),
    ("riverswim?states=6.0", "states=6.0 cannot be read", "a whole number"),
    ("riverswim?states=six", "states=six cannot be read", "a whole number"),
    ("riverswim?states=-3", "states is -3", "whole number, 2 to"),
    ("riverswim?states=3:6:4", "is not one value", "the same in all models"),
    ("riverswim?states=3,4", "is not one value", "the same in all models"),
    ("riverswim?states=99999999999999999999", "states is", "at most"),
    ("riverswim?states=" + "9" * 5000, "cannot be read", "a whole number"),
    ("riverswim?left_reward=0.1,0.2", "is not one value", "the same in all models"),
    ("riverswim?success=nan", "success=nan cannot be read", "finite"),
    ("riverswim?success=inf", "success=inf cannot be read", "finite"),
    ("riverswim?success=-Infinity", "cannot be read", "finite"),
    ("riverswim?success=1e999", "success=1e999 cannot be read", "finite"),
    ("riverswim?success=1e9999999999", "cannot be read", "finite"),
    ("riverswim?success=1/0", "success=1/0 cannot be read", "finite"),
    ("riverswim?success=0x1", "success=0x1 cannot be read", "a number"),
    ("riverswim?success=1_0", "success=1_0 cannot be read", "a number"),
    ("riverswim?success=abc", "success=abc cannot be read", "a range a:b:n"),
    ("riverswim?success=0.2,", "success has an empty value", "a list a,b,c"),
    ("riverswim?success=,", "success has an empty value", "a list a,b,c"),
    ("riverswim?success=0.2,nan", "success=nan cannot be read", "finite"),
    ("riverswim?success=0.2:0.5", "is not a range", "a:b:n"),
    ("riverswim?success=0.2:0.5:4:5", "is not a range", "a:b:n"),
    ("riverswim?success=0.2:0.5:2,0.7", "is not a range", "a:b:n"),
    ("riverswim?success=:0.5:4", "has an empty value", "a list"),
    ("riverswim?success=0.2:0.5:", "number of points in success=", "whole number"),
    ("riverswim?success=0.2:0.5:0", "asks for 0 points", "at least one"),
    ("riverswim?success=0.2:0.5:-4", "asks for -4 points", "at least one"),
    ("riverswim?success=0.2:0.5:2.5", "2.5 cannot be read", "whole number"),
    ("riverswim?success=0.2:0.5:10001", "is 10001", "at most 10000"),
    ("riverswim?success=0.2:0.5:999999999999", "is 999999999999", "at most 10000"),
    ("riverswim?success=0.2:0.5:1", "one point with two ends", "write success=0.2"),
    ("riverswim?success=0.2:nan:4", "success=nan cannot be read", "finite"),
    ("riverswim?success=1.5", "success is 1.5", "(0, 1]"),
    ("riverswim?success=0.2:0.5:200&down=0:0.5:200", "40000 points", "at most 10000"),
    ("switch_tree?null=maybe", "null=maybe cannot be read", "true or false"),
    ("bandit?means=0.5;0.5,0.6", "[1, 2] numbers", "same number of arms"),
    ("bandit?means=0.5,1.5", "mean of arm 1 in model 0 is", "[0, 1]"),
    ("bandit?means=0.5;", "means has an empty value", "rows of numbers"),
    ("bandit?model_names=a", "no parameter 'model_names'", "there are means"),
    ("gym:", "no environment ''", "there are FrozenLake-v1"),
    ("gym:FrozenLake", "no environment 'FrozenLake'", "did you mean 'FrozenLake-v1'"),
    ("gym:FrozenLake-v0", "no environment", "did you mean 'FrozenLake-v1'"),
    ("gym:Taxi-v3", "no environment 'Taxi-v3'", "did you mean 'Taxi-v4'"),
    ("gym:CliffWalking-v0", "no environment", "did you mean 'CliffWalking-v1'"),
    ("gym:Blackjack-v1", "no environment 'Blackjack-v1'", "no transition table"),
    ("gym:CartPole-v1", "no environment 'CartPole-v1'", "there are FrozenLake-v1"),
    ("gym:FrozenLake-v1?sucess_rate=0.5", "'sucess_rate'", "mean 'success_rate'"),
    ("gym:FrozenLake-v1?success_rate=1.5", "success_rate is 1.5", "[0, 1]"),
    ("gym:FrozenLake-v1?success_rate=-0.1", "success_rate is -0.1", "[0, 1]"),
    ("gym:FrozenLake-v1?success_rate=nan", "success_rate=nan", "finite"),
    ("gym:FrozenLake-v1?success_rate=0.5&is_slippery=no", "no effect", "leave"),
    ("gym:FrozenLake-v1?map_name=5x5", "map_name of FrozenLake-v1", "4x4, 8x8"),
    ("gym:FrozenLake-v1?is_slippery=2", "is_slippery=2", "true or false"),
    ("gym:FrozenLake-v1?is_slippery=true,false", "cannot be read", "true or false"),
    ("gym:FrozenLake-v1?terminal=stop", "terminal is 'stop'", "there are restart"),
    ("gym:FrozenLake-v1?terminal=restrat", "'restrat'", "did you mean 'restart'"),
    ("gym:FrozenLake-v1?reward=affine", "reward is 'affine'", "original, unit"),
    ("gym:FrozenLake-v1?terminal=error", "5 terminal states", "terminal=restart"),
    ("gym:Taxi-v4?fickle_passenger=true", "fickle_passenger", "does not contain it"),
    ("gym:Taxi-v4?fickle_passenger=false", "fickle_passenger", "does not contain it"),
    ("gym:Taxi-v4?rainy_probability=0.5", "no effect", "add is_rainy=true"),
    ("gym:CliffWalkingSlippery-v1?is_slippery=no", "is_slippery", "CliffWalking-v1"),
]


@pytest.mark.parametrize(
    ("spec", "problem", "hint"), MALFORMED, ids=[spec[:50] for spec, _, _ in MALFORMED]
)
def test_a_malformed_string_is_refused_by_name(
    spec: str, problem: str, hint: str
) -> None:
    with pytest.raises(InvalidInstance) as caught:
        build_instance(spec)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    assert len(str(caught.value)) < 800


@given(text=st.text("0123456789.,:;/eE+-naif _", max_size=12))
def test_any_text_is_read_as_finite_numbers_or_refused(text: str) -> None:
    for kind in (Kind.POINTS, Kind.NUMBER, Kind.WHOLE, Kind.TABLE):
        try:
            read = np.asarray(read_value("key", text, kind), np.float64)
        except InvalidInstance as refused:
            assert refused.hint
        else:
            assert read.size >= 1
            assert np.isfinite(read).all()


def test_closed_forms_refuse_the_same_names() -> None:
    with pytest.raises(InvalidInstance, match="did you mean 'riverswim'"):
        closed_forms("riverswin")
    with pytest.raises(InvalidInstance, match="no environment"):
        closed_forms("gym:Nowhere-v1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("riverswim", True),
        ("riverswim?success=0.2:0.5:4", True),
        ("misspelt", True),
        ("gym:FrozenLake-v1", True),
        ("gym:ALE/Pong-v5", True),
        ("model.npz", False),
        ("dir/riverswim", False),
        ("./riverswim", False),
        ("a.npz?x=1", False),
        ("", False),
        ("C:model", False),
    ],
)
def test_strings_are_told_from_file_names(text: str, expected: bool) -> None:
    assert is_instance_string(text) is expected


def test_every_name_builds_with_its_defaults() -> None:
    for name in names():
        assert is_instance_string(name)
        assert len(build_instance(name)) >= 1


def test_importing_the_catalogue_loads_nothing_heavy() -> None:
    code = (
        "import sys, simgap.instances.catalogue; "
        "print([m for m in ('numba', 'gymnasium', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
