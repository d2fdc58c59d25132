"""All bounds for a class, ranked: what the theorems promise at a horizon.

By Lemma 1 every base policy gives an upper bound on the loss of the oracle, and the
least of these bounds counts. A bound whose conditions are not met is listed with what
is missing; it is not left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf

import numpy as np

from simgap.arrays import FloatArray
from simgap.bounds.bound import Bound, Kind, Quantity, named, upper_bound
from simgap.bounds.comparisons import (
    Anytime,
    Bhattacharyya,
    Chernoff,
    ComparisonRule,
    PaperSamples,
)
from simgap.bounds.facts import ClassFacts
from simgap.bounds.general import Radius, general_optimistic_gap
from simgap.bounds.likelihood_optimism import likelihood_gap
from simgap.bounds.lower import hardest_best_arm_lower, lower_bound
from simgap.bounds.numbers import whole
from simgap.bounds.posterior_sampling import sampling_gap
from simgap.bounds.reduction import base_policy_transfer, mean_transfer
from simgap.bounds.upper import (
    ProvedThreshold,
    elimination_gap,
    optimistic_gap,
)
from simgap.bounds.variance_optimism import variance_gap

NO_BIAS = "a finite diameter: some state cannot be reached (Assumption 1)"
UNSEEN_REWARDS = "rewards shared by all models, or seen by the agent"

RANK = (
    Quantity.ORACLE_GAP,
    Quantity.MEAN_ORACLE_GAP,
    Quantity.BASE_GAP,
    Quantity.MEAN_BASE_GAP,
    Quantity.HARDEST_CLASS,
)


def applicable(facts: ClassFacts, horizon: int) -> tuple[Bound, ...]:
    """Return every bound for the class: those that hold first, the tightest on top.

    They come by what they bound: the oracle in any model, its mean, base policies, and
    at the end what some class of the same size costs every policy. Values are in the
    user's rewards, `facts.reward_width` wide.
    """
    horizon = whole("horizon", horizon)
    families = (
        ("Theorem 1", "", _by_elimination(facts, horizon)),
        ("Theorem 2", "", _by_optimism(facts, horizon)),
        ("Theorem 4", "corrected", _by_regression(facts, horizon)),
        ("Lemma 1", "likelihood-ratio optimism", _by_likelihood(facts, horizon)),
        ("Lemma 1", "variance-aware optimism", _by_variance(facts, horizon)),
        ("Lemma 1", "posterior sampling", _by_sampling(facts, horizon)),
    )
    found: list[Bound] = []
    for theorem, variant, bases in families:
        best = min(bases, key=lambda base: (not base.holds, base.value))
        name, weight = _named(theorem, variant), facts.least_weight
        found.append(base_policy_transfer(best, weight=weight, claim=name))
        found.append(mean_transfer(best, claim=_named(theorem, variant, "mean gap")))
        found.extend(bases)
    found.extend(_lower(facts, horizon))
    told = (bound.in_rewards(facts.reward_width) for bound in found)
    return tuple(sorted(told, key=_rank))


def _by_elimination(facts: ClassFacts, horizon: int) -> list[Bound]:
    rules: list[tuple[str, ComparisonRule]] = []
    if facts.separation is not None:
        delta = facts.separation
        rules = [
            ("Chernoff", Chernoff(delta)),
            ("all data", Anytime(delta)),
            ("paper's n0", PaperSamples(delta, facts.states)),
        ]
    if facts.exponent is not None:
        rules.insert(1, ("Bhattacharyya", Bhattacharyya(facts.exponent)))
    if not rules:
        return [_missing("Theorem 5", "a known separation (Assumption 2)")]
    found = []
    for name, rule in rules:
        bound = elimination_gap(
            rule, horizon=horizon, members=facts.members, diameter=facts.diameter
        )
        found.append(replace(bound, claim=_named("Theorem 5", name)))
    return found


def _by_optimism(facts: ClassFacts, horizon: int) -> list[Bound]:
    if (spans := facts.spans) is None:
        return [_missing("Theorem 6", NO_BIAS)]
    D = facts.diameter
    found = {
        "spans": optimistic_gap(horizon=horizon, spans=spans),
        "diameter": optimistic_gap(horizon=horizon, spans=np.full(facts.members, D)),
        "paper's threshold": optimistic_gap(
            horizon=horizon,
            spans=np.minimum(spans, D),
            threshold=ProvedThreshold.PAPER,
            diameter=D,
        ),
    }
    return [
        _settled(facts, replace(bound, claim=_named("Theorem 6", name)))
        for name, bound in found.items()
    ]


def _by_regression(facts: ClassFacts, horizon: int) -> list[Bound]:
    if (spans := facts.spans) is None:
        return [_missing("Theorem 7", NO_BIAS)]
    span = float(spans.max())
    here = _regression(facts, horizon, span, facts.most_eluder, facts.most_covering)
    beyond = _regression(
        facts, horizon, span, facts.eluder_at_every_scale, float(facts.members)
    )
    # Numbers at scale 1/H are right up to H; beyond it, those of every scale are.
    joined = upper_bound(
        here.claim,
        here.quantity,
        lambda h: here.at(h) if h <= horizon else beyond.at(h),
        horizon,
        constants=here.constants,
        unmet=here.unmet,
    )
    return [_settled(facts, joined)]


def _regression(
    facts: ClassFacts, horizon: int, span: float, eluder: float, covering: float
) -> Bound:
    found = [
        general_optimistic_gap(
            horizon=horizon,
            span=span,
            eluder=eluder,
            functions=facts.members,
            covering=covering,
            radius=radius,
        )
        for radius in (Radius.FINITE, Radius.COVER)
    ]
    return min(found, key=lambda bound: bound.value)


def _by_likelihood(facts: ClassFacts, horizon: int) -> list[Bound]:
    return _from_spans(
        facts,
        "likelihood-ratio optimism",
        lambda spans: likelihood_gap(horizon=horizon, spans=spans),
    )


def _by_variance(facts: ClassFacts, horizon: int) -> list[Bound]:
    known = facts.deviations if facts.shared_rewards else None
    return _from_spans(
        facts,
        "variance-aware optimism",
        lambda spans: variance_gap(horizon=horizon, spans=spans, deviations=known),
    )


def _by_sampling(facts: ClassFacts, horizon: int) -> list[Bound]:
    return _from_spans(
        facts,
        "posterior sampling",
        lambda spans: sampling_gap(
            horizon=horizon,
            spans=spans,
            pairs=facts.most_pairs,
            mean_gain=facts.mean_gain,
        ),
        Quantity.MEAN_BASE_GAP,
    )


def _lower(facts: ClassFacts, horizon: int) -> list[Bound]:
    found = [
        lower_bound(
            horizon=horizon,
            members=facts.members,
            diameter=facts.diameter_lower,
            states=facts.states,
            actions=facts.actions,
        )
    ]
    if facts.members >= 2:
        arms = hardest_best_arm_lower(horizon=horizon, members=facts.members)
        few = () if facts.actions >= facts.members else ("as many actions as models",)
        found.append(replace(arms, unmet=arms.unmet + few))
    return found


def _from_spans(
    facts: ClassFacts,
    claim: str,
    bound: Callable[[FloatArray], Bound],
    quantity: Quantity = Quantity.BASE_GAP,
) -> list[Bound]:
    if (spans := facts.spans) is None:
        return [_missing(claim, NO_BIAS, quantity)]
    return [_settled(facts, bound(spans))]


def _settled(facts: ClassFacts, bound: Bound) -> Bound:
    """Return a bound made of biases, with what their equations may be off.

    A step of the equation that is off by r, in the model played or in the real one,
    costs at most r a step, and a test that allows for it as much again per model.
    """
    if not facts.shared_rewards:
        bound = replace(bound, unmet=(*bound.unmet, UNSEEN_REWARDS))
    exact = bound.formula
    if facts.residual == 0.0 or exact is None or bound.horizon is None:
        return bound
    rate = (facts.members + 3) * facts.residual
    return upper_bound(
        bound.claim,
        bound.quantity,
        lambda h: exact(h) + rate * h,
        bound.horizon,
        constants=bound.constants + named(residual=facts.residual),
        unmet=bound.unmet,
    )


def _missing(claim: str, words: str, quantity: Quantity = Quantity.BASE_GAP) -> Bound:
    return Bound(
        claim=claim,
        quantity=quantity,
        kind=Kind.UPPER,
        value=inf,
        horizon=None,
        unmet=(words,),
        non_vacuous_from=inf,
        formula=lambda h: inf,
    )


def _named(theorem: str, *variants: str) -> str:
    said = ", ".join(each for each in variants if each)
    return f"{theorem} ({said})" if said else theorem


def _rank(bound: Bound) -> tuple[bool, int, float]:
    tight = bound.value if bound.kind is Kind.UPPER else -bound.value
    return (not bound.holds, RANK.index(bound.quantity), tight)
