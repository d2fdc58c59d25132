"""What the theorems promise, as the audit uses it."""

from __future__ import annotations

from simgap.bounds import applicable
from simgap.bounds.bound import Kind, Quantity
from tests.answers.audit_cases import coins, theory_of


def test_what_is_promised_is_the_least_of_all_bounds_that_hold() -> None:
    found = theory_of(coins(0.2, 0.9), 400)
    assert found.facts is not None
    known = [
        bound.value
        for bound in applicable(found.facts, 400)
        if bound.holds
        and bound.kind is Kind.UPPER
        and bound.quantity in (Quantity.ORACLE_GAP, Quantity.MEAN_ORACLE_GAP)
    ]
    assert len(set(known)) > 1
    assert found.promised == min(known)
