"""The top level: few names, all of which are there."""

from __future__ import annotations

import pytest

import simgap


def test_the_top_level_has_about_thirty_names() -> None:
    assert 25 <= len(simgap.__all__) <= 35
    assert all(getattr(simgap, name) is not None for name in simgap.__all__)


def test_other_names_are_not_there() -> None:
    with pytest.raises(AttributeError):
        getattr(simgap, "nothing")  # noqa: B009 (types would object)
