"""The top level: few names, all of which are there."""

from __future__ import annotations

from importlib import import_module
from inspect import isfunction
from types import ModuleType

import pytest

import simgap


def test_the_top_level_has_about_thirty_names() -> None:
    assert 25 <= len(simgap.__all__) <= 35
    assert all(getattr(simgap, name) is not None for name in simgap.__all__)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError):
        getattr(simgap, "nothing")  # noqa: B009 (types would object)


@pytest.mark.parametrize("name", ["bounds", "complexity", "oracle"])
def test_a_question_is_not_hidden_by_the_room_of_its_name(name: str) -> None:
    room = import_module(f"simgap.{name}")
    assert isinstance(room, ModuleType)
    assert isfunction(getattr(simgap, name))
