"""The grammar of instance strings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.errors import InvalidInstance
from simgap.instances import build_instance, is_instance_string, names
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
