"""Intervals in instance strings: what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.instances.catalogue import build_instance
from simgap.instances.continuum import continuum_of

RIVERS = "riverswim?states=4&success=0.1..0.4&down=1/20..0.1&uniform=true"


def test_an_interval_is_every_value_between_its_ends() -> None:
    rivers = continuum_of(RIVERS)
    assert rivers is not None
    assert rivers.box == {"success": (0.1, 0.4), "down": (0.05, 0.1)}
    rng = np.random.default_rng(0)
    for success, down in rng.uniform((0.1, 0.05), (0.4, 0.1), (5, 2)).tolist():
        one = rivers.at({"success": success, "down": down})
        same = build_instance(
            f"riverswim?states=4&success={success!r}&down={down!r}&uniform=1"
        )
        np.testing.assert_array_equal(
            one.transitions.array(0), same.transitions.array(0)
        )
    assert len(rivers.corners()) == 4
    assert rivers.points().model_names[4] == "success=0.25, down=0.075"


@pytest.mark.parametrize("spec", ["riverswim?success=0.1:0.4:3", "needle", "a..b.npz"])
def test_points_and_files_are_no_continuum(spec: str) -> None:
    assert continuum_of(spec) is None
