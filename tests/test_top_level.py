"""The top level: few names, and those that left it are found with a warning."""

from __future__ import annotations

import warnings
from importlib import import_module

import pytest

import simgap
from simgap.moved import MOVED

LEFT = [(room, name) for room, names in MOVED.items() for name in names.split()]


def test_the_top_level_has_about_thirty_names() -> None:
    assert 25 <= len(simgap.__all__) <= 35
    assert not {name for _, name in LEFT} & set(simgap.__all__)


@pytest.mark.parametrize(("room", "name"), LEFT, ids=[name for _, name in LEFT])
def test_a_name_that_left_is_found_with_a_warning(room: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"from simgap.{room} import {name}"):
        found = getattr(simgap, name)
    assert found is getattr(import_module(f"simgap.{room}"), name)


def test_names_that_stay_do_not_warn_and_others_are_not_there() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(getattr(simgap, name) is not None for name in simgap.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(simgap, "nothing")  # noqa: B009 (types would object)
