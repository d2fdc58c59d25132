"""What the theorems promise, as the audit uses it."""

from __future__ import annotations

from simgap.answers.audit.audit import audit
from simgap.answers.audit.losses import PlanningSettings
from simgap.bounds import applicable
from simgap.bounds.bound import Kind, Quantity
from tests.answers.audit_cases import coins


def test_what_is_promised_is_the_least_of_all_bounds_that_hold() -> None:
    found = audit(coins(0.2, 0.9), 400, settings=PlanningSettings(effort=0.02)).theory
    assert found.measured is not None
    known = [
        bound.value
        for bound in applicable(found.measured.facts, 400)
        if bound.holds
        and bound.kind is Kind.UPPER
        and bound.quantity in (Quantity.ORACLE_GAP, Quantity.MEAN_ORACLE_GAP)
    ]
    assert len(set(known)) > 1
    assert found.promised == min(known)
