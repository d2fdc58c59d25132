"""The oracle of a class as a record: closed forms of the paper."""

from __future__ import annotations

import pytest

from simgap.answers.oracle import oracle, planned_class
from simgap.instances import closed_forms


@pytest.mark.parametrize(
    ("text", "horizon"),
    [
        ("absorbing_doors?members=3", 8),
        ("needle?members=4", 6),
        ("best_arm?e=0.1", 4),
        ("linear_bandit?members=25", 5),
    ],
)
def test_closed_forms_of_the_paper(text: str, horizon: int) -> None:
    """Theory rows 16, 17, 22 and 23."""
    known = closed_forms(text).oracle_value
    assert known is not None
    expected = known(horizon)
    assert expected is not None
    found = oracle(text, horizon, baselines=False)
    assert found.lower - 1e-9 <= expected <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-6
    assert found.outcome == "exact up to rounding"
    assert found.baselines == {}
    assert found.value_of_memory is None
    assert planned_class(found) is None
