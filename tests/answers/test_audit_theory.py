"""What the theorems promise, as the audit uses it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simgap.bounds import applicable
from simgap.bounds.bound import Kind, Quantity
from simgap.text import number
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


def test_promises_and_what_can_be_lost_are_in_the_units_of_the_rewards() -> None:
    steps = 10**12
    plain = coins(0.2, 0.9)
    every = plain.simulators
    larger = replace(plain, simulators=replace(every, rewards=7.0 * every.rewards))
    one, other = theory_of(plain, steps), theory_of(larger, steps)
    assert one.finding.code == other.finding.code == "bounded"
    assert one.finding.value is not None and one.promised is not None
    assert other.finding.value == pytest.approx(7.0 * one.finding.value)
    assert other.promised == pytest.approx(7.0 * one.promised)
    assert f"of {number(steps, 3)} in any" in one.finding.text
    assert f"of {number(7 * steps, 3)} in any" in other.finding.text
