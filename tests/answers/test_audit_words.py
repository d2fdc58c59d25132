"""A verdict in words: which numbers and options it names, case by case."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.audit import theory, words
from simgap.answers.audit.losses import Losses
from simgap.answers.audit.separation import Apart
from simgap.answers.audit.ways_back import WaysBack
from simgap.answers.stakes import Stakes
from simgap.answers.weighted_models import weighted_models
from simgap.bounds import Kind, Quantity
from simgap.intervals import Certified
from simgap.oracle import Outcome
from simgap.records import WorstModel
from tests.answers.audit_cases import coins

auditing: Any = import_module("simgap.answers.audit.audit")
LATENT = coins(0.2, 0.9)
FINE = WaysBack(True, 0, None, (), (), False)
STUCK = WaysBack(False, 1, 1, ((0,),), (), False)
MISSED = WaysBack(False, 1, 1, (), (1,), True)
GOOD, BAD = WorstModel("model 0", 1.0, 0.1), WorstModel("model 1", 1.0, 0.75)
LOST = Losses(
    horizon=9,
    stakes=Stakes(Certified(8.0, 8.0), ()),
    average_gap=Certified(1.0, 2.0),
    memoryless_gap=Certified(3.0, 4.0),
    outcome=Outcome.SOLVED,
    planned=2,
)


def said(verdict: Any, back: WaysBack = FINE, at: float = 0.3, **changes: Any) -> str:
    """Return headline and reason of a verdict where 30 % are acceptable."""
    lost = replace(LOST, verdict=verdict, **changes)
    found = words.judged_in_steps(LATENT, lost, back, at)
    assert found.verdict == verdict
    return f"{found.headline} | {found.reason}"


def test_yes_names_what_a_policy_without_memory_loses_and_where() -> None:
    everywhere = said("yes", memoryless_worst=GOOD)
    assert "at most 50 % of" in everywhere and "In every model" in everywhere
    assert "at most 10 %" in everywhere
    assert "nothing" in said("yes", memoryless_worst=None)
    but = said("yes", memoryless_worst=BAD, worst=BAD)
    assert "But it loses 75 %" in but and "model 1" in but
    assert "up to 75 %" in but and "In every" not in but
    assert "up to" not in said("yes", memoryless_worst=BAD, worst=None)


def test_with_memory_says_why_without_is_not_enough() -> None:
    theorem = said("with memory", outcome=None)
    assert "theorem" in theorem and "at most 25 % of" in theorem
    needed = said("with memory", worst=GOOD)
    assert "more than 30 %" in needed and "between 37.5 % and 50 %" in needed
    assert "at most 10 % in every model" in needed
    wide = replace(LOST, memoryless_gap=Certified(2.0, 4.0)).memoryless_gap
    found = said("with memory", memoryless_gap=wide, worst=BAD)
    assert "the best one found loses 50 %" in found and "at least 25 %" in found
    assert "With memory it loses 75 %" in found
    fine = said("with memory", memoryless_gap=Certified(2.0, 2.0), memoryless_worst=BAD)
    assert "a loss of 25 %, but it loses 75 %" in fine


def test_no_says_what_even_the_best_policy_loses() -> None:
    found = said("no", worst=BAD)
    assert "at least 12.5 % of" in found and "acceptable 30 %" in found
    assert "In 9 steps" in found and "75 %" in found
    assert "undone" in said("no", STUCK) and "undone" not in said("no", MISSED)


def test_undecided_says_what_would_decide() -> None:
    found = said("undecided")
    assert "between 12.5 % and 25 %" in found and "30 %" in found
    assert "narrow" in found and "--time-limit" in found
    late = said("undecided", outcome=Outcome.OUT_OF_TIME, planned=1)
    assert Outcome.OUT_OF_TIME.value in late and "--thorough" in late
    assert "shorter -H" in said("undecided", outcome=None)


def test_where_nothing_can_be_compared_that_is_said() -> None:
    assert "nothing can be lost" in said("yes", average_gap=None)
    assert "9 steps are too many" in said("undecided", stakes=None)
    nothing = Stakes(Certified(0.0, 1e-20), ())
    assert "Rescale" in said("undecided", stakes=nothing)


def test_the_long_run_names_the_theorem_or_what_is_missing() -> None:
    models = weighted_models(LATENT)
    apart = Apart(None, None, (), (), 2, Certified(0.0, 0.0))
    confused = replace(apart, confused=((0, 1),), loss_per_step=Certified(0.25, 0.5))

    def told(verdict: Any, back: WaysBack, which: Apart) -> str:
        found = words.judged_in_the_long_run(verdict, models, back, which)
        assert found.verdict == verdict
        return found.reason

    fine = told("in the long run", FINE, apart)
    assert "(Theorem 1)" in fine and "never reached" not in fine
    missed = told("in the long run", MISSED, confused)
    assert "Theorem 1, on what is seen" in missed and "never reached" in missed
    stuck = told("not promised", STUCK, apart)
    assert "In model 1 there is no way back from 0" in stuck
    costs = told("not promised", FINE, confused)
    assert "model 0, model 1" in costs and "at least 0.25 in every" in costs
    exact = replace(confused, loss_per_step=Certified(0.5, 0.5))
    assert "costs 0.5 in every" in told("not promised", FINE, exact)
    unknown = replace(confused, loss_per_step=None)
    assert "may cost" in told("not promised", FINE, unknown)


@pytest.mark.parametrize(
    ("horizon", "value", "vacuous", "first", "code", "expected"),
    [
        (None, 1.0, True, 50.0, "applies", 50.0),
        (None, 1.0, True, None, "applies", np.inf),
        (100, 25.0, False, 50.0, "bounded", 25.0),
        (100, 250.0, True, 500.0, "vacuous", 250.0),
    ],
)
def test_a_theorem_says_how_much_or_from_when_on(
    horizon: Any, value: float, vacuous: bool, first: Any, code: str, expected: float
) -> None:
    bound: Any = Stand(
        claim="T", value=value, vacuous=vacuous, non_vacuous_from=first, unit=2.0
    )
    found = theory._in_words(bound, (bound,), horizon)
    assert (found.code, found.value) == (code, expected)
    if horizon is not None and not vacuous:
        assert "of 200 in any model" in found.text


def test_only_upper_bounds_that_hold_are_promises() -> None:
    def bound(**changes: Any) -> Any:
        usual = {"holds": True, "kind": Kind.UPPER, "quantity": Quantity.ORACLE_GAP}
        return Stand(**{**usual, "unmet": ("x",), **changes})

    good, mean = bound(), bound(quantity=Quantity.MEAN_ORACLE_GAP)
    every: Any = (good, mean, bound(holds=False), bound(kind=Kind.LOWER))
    assert theory._upper(every, Quantity.ORACLE_GAP) == [good]
    both = theory._upper(every, Quantity.ORACLE_GAP, Quantity.MEAN_ORACLE_GAP)
    assert both == [good, mean]
    found = theory._in_words(None, (bound(unmet=("a",)), bound(unmet=("b", "a"))), 5)
    assert found.code == "none-applies" and found.text.endswith("ask for a; b")


def test_findings_are_about_models_with_weight_and_parts_of_the_stake() -> None:
    latent = coins(0.2, 0.5, 0.9, prior=(0.5, 0.0, 0.5), named=True)
    models = weighted_models(latent)
    known: Any = Stand(trip=0, finding=1, facts=None)
    lost = replace(
        LOST,
        stakes=Stakes(Certified(8.0, 8.0), ()),
        gaps=np.array([1.0, np.nan, 3.0]),
        rounding=8e-5,
    )
    apart = Apart(None, None, (), (), 2, None)
    found: Any = auditing._findings(latent, models, FINE, apart, known, lost, 0.1)
    said = {each.check: each for each in found if not isinstance(each, int)}
    assert said["smoothness"].value == 0.25 and said["smoothness"].code == "jumps"
    assert said["digits"].code == "rounding"  # 1e-5 of the stake
    fine = auditing._findings(
        latent, models, FINE, apart, known, replace(lost, rounding=8e-7), 0.1
    )
    assert fine[-1].code == "well-conditioned"
    facts = Stand(spans=np.array([1.0]), residual=0.5)
    known.facts = facts
    off = auditing._findings(
        latent, models, FINE, apart, known, replace(lost, rounding=None), 0.1
    )
    assert off[-1].code == "unsolved-equations"
