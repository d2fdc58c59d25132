"""Four models of eluder dimension six; without them the remark stands."""

from __future__ import annotations

from simgap.complexity import eluder_dimension, function_class_from_matrix
from simgap.experiments.remarks.eluder_remark import (
    CLAIM,
    SIX_POINTS,
    Settings,
    four_bandits,
    measured,
)
from simgap.planning import diameter
from simgap.records.claim import ClaimVerdict
from tests.experiments.silence import silent
from tests.reference.complexity import eluder_dimension as slow_dimension, fractions

TINY = Settings(horizons=(2, 50), members=4)


def test_e7_four_models_have_six_points() -> None:
    found = measured(TINY, 0, silent)
    assert found.verdict is ClaimVerdict.REFUTED is CLAIM.expected
    assert found.key_number.value.lower == found.key_number.value.upper == 6.0
    refuted = [c.name for c in found.checks if c.verdict is ClaimVerdict.REFUTED]
    assert [name.split(":")[0] for name in refuted] == [
        "four functions",
        "four bandits",
    ]
    assert found.checks[-1].verdict is ClaimVerdict.HOLDS  # M(M - 1)/2


def test_without_the_six_points_the_remark_stands() -> None:
    control = Settings(horizons=(2, 50), six_points=False, members=4)
    assert measured(control, 0, silent).verdict is ClaimVerdict.HOLDS


def test_the_six_points_are_those_of_row_27() -> None:
    functions = function_class_from_matrix(SIX_POINTS.T)
    assert eluder_dimension(functions, 1.0).lower == 6
    assert (
        slow_dimension(fractions(SIX_POINTS.T.tolist()), fractions([[1.0]])[0][0]) == 6
    )
    assert diameter(four_bandits()).upper <= 2.0 + 1e-9
