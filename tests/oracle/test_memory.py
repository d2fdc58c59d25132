"""Is memory enough, is it needed: which brackets prove what."""

from __future__ import annotations

import pytest

from simgap.intervals import Certified
from simgap.oracle.baselines.table import memory_proofs


@pytest.mark.parametrize(
    ("with_memory", "without", "needed"),
    [
        ((0.1, 0.2), (0.3, 0.5), "certified"),
        ((0.1, 0.2), (0.15, 0.5), "not proved"),
        ((0.1, 0.2), (0.0, 0.5), "not proved"),
        ((0.1, 0.2), (0.2, 0.5), "not proved"),
        ((0.1, 0.5), (0.3, 0.5), "not proved"),
        ((0.2, 0.2), (0.2, 0.2), "no"),
        ((0.2, 0.3), (0.0, 0.2), "no"),
        ((0.0, 0.0), (0.0, 0.0), "no"),
        ((0.0, 0.2), (0.2 + 1e-12, 0.5), "not proved"),
    ],
)
def test_memory_is_needed_if_every_policy_without_loses_more(
    with_memory: tuple[float, float], without: tuple[float, float], needed: str
) -> None:
    found = memory_proofs(
        Certified(*with_memory), Certified(*without), searched=3, noise=1e-9
    )
    assert found.needed == needed
    assert found.enough == "certified"


@pytest.mark.parametrize(
    ("acceptable", "enough"),
    [
        ((0.25, 0.3), "certified"),
        ((0.15, 0.3), "not proved"),
        ((0.05, 0.15), "not proved"),
        ((0.05, 0.09), "no"),
    ],
)
def test_memory_is_enough_if_what_it_loses_is_acceptable(
    acceptable: tuple[float, float], enough: str
) -> None:
    found = memory_proofs(
        Certified(0.1, 0.2),
        Certified(0.3, 0.5),
        searched=3,
        acceptable=Certified(*acceptable),
    )
    assert found.enough == enough
    assert found.needed == "certified"


def test_each_bracket_narrows_the_other() -> None:
    """A policy without memory is a policy, and the best one loses no less."""
    found = memory_proofs(Certified(0.2, 0.6), Certified(0.1, 0.5), searched=None)
    assert found.with_memory == Certified(0.2, 0.5)
    assert found.without_memory == Certified(0.2, 0.5)
