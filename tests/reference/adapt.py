"""Bayes' rule and the evidence against a model, step by step in long arithmetic.

The posterior is in Fractions. The evidence follows a log in its order and multiplies
one prediction after the other, in decimals of 60 digits: no counts, no gamma functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from tests.reference.rational import RationalMDP

Transition = tuple[int, int, int]  # state, action, next state
DIGITS = 60
TILTS = ("-0.5", "0.5", "1", "2")
CENTRED = (2, 10, 50)


def likelihood(model: RationalMDP, log: Sequence[Transition]) -> Fraction:
    """Return the product of P(s'|s,a)."""
    out = Fraction(1)
    for s, a, t in log:
        out *= model.transitions[s][a][t]
    return out


def posterior(
    models: Sequence[RationalMDP], prior: Sequence[Fraction], log: Sequence[Transition]
) -> list[Fraction] | None:
    """Return Bayes' rule, or None if no model with prior weight allows the log."""
    joint = [p * likelihood(m, log) for p, m in zip(prior, models, strict=True)]
    total = sum(joint)
    return None if total == 0 else [each / total for each in joint]


def evidence_against(
    models: Sequence[RationalMDP],
    prior: Sequence[Fraction],
    log: Sequence[Transition],
    member: int,
) -> Decimal | None:
    """Return E of one model: the average of its parts; None if it rules the log out."""
    own = likelihood(models[member], log)
    if own == 0:
        return None
    with localcontext() as context:
        context.prec = DIGITS
        mixture = sum(
            p * likelihood(m, log) for p, m in zip(prior, models, strict=True)
        )
        by_row = []
        pairs = Decimal(models[0].n_states * models[0].n_actions)
        for law in (None, *CENTRED):
            rows = _dirichlet_rows(models[member], log, law)
            for share in (Decimal(1), 1 / pairs.sqrt(), 1 / pairs):
                product = Decimal(1)
                for each in rows:
                    product *= 1 - share + share * each
                by_row.append(product)
        parts = [_decimal(mixture / own), _tilted(models, log, member)]
        parts.append(sum(by_row, Decimal(0)) / len(by_row))
        return sum(parts, Decimal(0)) / len(parts)


def _dirichlet_rows(
    model: RationalMDP, log: Sequence[Transition], concentration: int | None
) -> list[Decimal]:
    """Return E of each visited row for one Dirichlet law; None: one half each."""
    rows: dict[tuple[int, int], Fraction] = {}
    seen: dict[tuple[int, int, int], int] = {}
    for s, a, t in log:
        law = model.transitions[s][a]
        weights = [
            (Fraction(1, 2) if concentration is None else concentration * p)
            if p > 0
            else Fraction(0)
            for p in law
        ]
        past = [seen.get((s, a, k), 0) for k in range(len(law))]
        predicted = (weights[t] + past[t]) / (sum(weights) + sum(past))
        rows[s, a] = rows.get((s, a), Fraction(1)) * predicted / law[t]
        seen[s, a, t] = past[t] + 1
    return [_decimal(each) for each in rows.values()]


def _tilted(
    models: Sequence[RationalMDP], log: Sequence[Transition], member: int
) -> Decimal:
    others = [k for k in range(len(models)) if k != member]
    if not others:
        return Decimal(1)
    total = Decimal(0)
    for k in others:
        for tilt in TILTS:
            total += _tilted_ratio(models[member], models[k], log, Decimal(tilt))
    return total / (len(others) * len(TILTS))


def _tilted_ratio(
    model: RationalMDP, other: RationalMDP, log: Sequence[Transition], tilt: Decimal
) -> Decimal:
    out = Decimal(1)
    for s, a, t in log:
        own, away = model.transitions[s][a], other.transitions[s][a]
        if [p > 0 for p in own] != [p > 0 for p in away]:
            continue
        weights = [
            _decimal(p) * _decimal(p / q) ** tilt if p > 0 else Decimal(0)
            for p, q in zip(own, away, strict=True)
        ]
        out *= weights[t] / sum(weights, Decimal(0)) / _decimal(own[t])
    return out


def _decimal(value: Fraction | int) -> Decimal:
    exact = Fraction(value)
    return Decimal(exact.numerator) / Decimal(exact.denominator)
