"""All bounds of a class at once: conditions, ranking, safe ends."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from simgap.bounds import Bound, ClassFacts, Kind, Quantity, applicable
from simgap.errors import InvalidArgument

RIVERS = ClassFacts(
    prior=np.full(4, 0.25),
    states=6,
    actions=2,
    diameter=15.0,
    diameter_lower=14.9,
    spans=np.array([6.0, 5.0, 4.0, 3.0]),
    gains=np.array([0.4, 0.5, 0.6, 0.7]),
    deviations=np.array([1.0, 1.0, 1.0, 1.0]),
    separation=0.2,
    exponent=0.01,
    eluder=3.0,
    covering=4.0,
)
UPPER = (
    "Theorem 1",
    "Theorem 2",
    "Theorem 4 (corrected)",
    "Lemma 1 (likelihood-ratio optimism)",
    "Lemma 1 (variance-aware optimism)",
    "Lemma 1 (posterior sampling)",
)


def by_name(facts: ClassFacts, horizon: int) -> dict[str, Bound]:
    found = applicable(facts, horizon)
    names = [bound.claim for bound in found]
    assert len(names) == len(set(names))
    return dict(zip(names, found, strict=True))


def test_every_theorem_is_there_and_holds() -> None:
    found = by_name(RIVERS, 10**6)
    for name in UPPER:
        assert found[name].holds
        assert found[name].quantity is Quantity.ORACLE_GAP
        assert 0.0 < found[name].value < inf
        mean = name.removesuffix(")") + ", mean gap)" if "(" in name else ""
        half = found[mean or f"{name} (mean gap)"]
        assert half.value == pytest.approx(found[name].value / 4)
    assert found["Theorem 3"].kind is Kind.LOWER
    assert found["Theorem 3"].unmet


def test_bounds_that_hold_come_first_and_the_tightest_on_top() -> None:
    found = applicable(RIVERS, 10**6)
    assert [b.holds for b in found] == sorted((b.holds for b in found), reverse=True)
    for quantity in Quantity:
        values = [b.value for b in found if b.quantity is quantity and b.holds]
        if values and quantity is not Quantity.HARDEST_CLASS:
            assert values == sorted(values)
    assert found[0].quantity is Quantity.ORACLE_GAP


def test_the_oracle_profits_from_the_best_variant() -> None:
    found = by_name(RIVERS, 10**6)
    for theorem, base in (("Theorem 1", "Theorem 5"), ("Theorem 2", "Theorem 6")):
        variants = [b.value for name, b in found.items() if name.startswith(base)]
        assert len(variants) > 1
        assert found[theorem].value == pytest.approx(4 * min(variants))


def test_a_skewed_prior_makes_rare_models_expensive() -> None:
    skewed = replace(RIVERS, prior=np.array([0.85, 0.05, 0.05, 0.05]))
    for name in UPPER[:3]:
        rare, plain = by_name(skewed, 10**5)[name], by_name(RIVERS, 10**5)[name]
        assert rare.value == pytest.approx(5 * plain.value)


def test_without_a_diameter_only_lower_bounds_remain() -> None:
    doors = ClassFacts(
        prior=np.full(2, 0.5),
        states=7,
        actions=2,
        diameter=inf,
        diameter_lower=inf,
        separation=2.0,
        exponent=inf,
    )
    for bound in applicable(doors, 100):
        if bound.kind is Kind.UPPER:
            assert bound.value == inf
            assert any("finite diameter" in words for words in bound.unmet)
            assert bound.non_vacuous_from == inf
        elif bound.claim == "bandit lower bound":
            assert bound.holds


def test_unseen_rewards_leave_only_theorem_1() -> None:
    """Errata aside: an agent that sees no rewards cannot find a wrong one."""
    unseen = by_name(replace(RIVERS, shared_rewards=False), 1000)
    assert unseen["Theorem 1"].holds
    for name in UPPER[1:]:
        assert "seen by the agent" in unseen[name].unmet[-1]


def test_what_equations_are_off_is_paid_for() -> None:
    exact, rough = (
        by_name(RIVERS, 10**6),
        by_name(replace(RIVERS, residual=1e-6), 10**6),
    )
    paid = rough["Theorem 6 (spans)"].value - exact["Theorem 6 (spans)"].value
    assert paid == pytest.approx(7 * 1e-6 * 10**6)
    begin = rough["Theorem 6 (spans)"].non_vacuous_from
    assert begin is not None
    assert begin >= (exact["Theorem 6 (spans)"].non_vacuous_from or 0)


def test_one_model_is_no_risk() -> None:
    alone = ClassFacts(
        prior=np.ones(1),
        states=3,
        actions=2,
        diameter=4.0,
        spans=np.array([2.0]),
        gains=np.array([0.5]),
        separation=2.0,
    )
    found = by_name(alone, 50)
    assert found["Theorem 1"].value == 0.0
    assert all(bound.value < inf for bound in found.values())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"prior": np.array([0.5, 0.5, 0.0, 0.0])}, "positive weight"),
        ({"prior": np.full(4, 0.3)}, "sums to 1"),
        ({"spans": np.ones(3)}, "3 spans for 4 models"),
        ({"spans": np.full(4, inf)}, "spans of model 0"),
        ({"diameter": inf}, "diameter is infinite"),
        ({"separation": 2.5}, "separation is 2.5"),
        ({"covering": 0.0}, "covering is"),
        ({"pairs": 13}, "pairs is 13"),
        ({"diameter_lower": 16.0}, "diameter_lower is 16"),
    ],
)
def test_facts_that_cannot_be_are_refused(
    change: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidArgument) as caught:
        replace(RIVERS, **change)  # type: ignore[arg-type]
    assert words in str(caught.value)
