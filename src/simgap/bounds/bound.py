"""What a theorem promises for given numbers, and at which horizons it is not trivial.

A bound keeps the formula it comes from, so that it can be evaluated at other horizons.
An upper bound C(H) on a gap is trivial unless C(H) < H. All formulas of this room are
nondecreasing in H, and then the least H with C(H) < H is found exactly without a scan:
if such an H is at least h, then H > C(H) >= C(h), so that the search may go from h
straight to floor(C(h)) + 1 and never passes the answer. Formulas grow like sqrt(H) or
slower, so the search ends after a few dozen steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from math import ceil, floor, inf, nextafter
from typing import final

from simgap.bounds.numbers import LONGEST, whole
from simgap.errors import InvalidArgument, NotSolved
from simgap.records.bounds import Constant

LITERAL = "literal form"
MOST_STEPS = 100_000  # of the search; only a bound with a slope of about 1 needs them

Formula = Callable[[int], float]


class Kind(Enum):
    """From which side a number is bounded."""

    UPPER = "upper"
    LOWER = "lower"


class Quantity(Enum):
    """What is bounded."""

    REGRET = "regret of the base policy in any model"
    MEAN_REGRET = "regret of the base policy, mean over the prior"
    BASE_GAP = "gap of the base policy in any model"
    MEAN_BASE_GAP = "gap of the base policy, mean over the prior"
    ORACLE_GAP = "gap of the oracle in any model"
    MEAN_ORACLE_GAP = "gap of the oracle, mean over the prior"
    HARDEST_CLASS = "mean gap of every policy on the hardest class of this size"
    ORACLE_ON_CLASS = "worst gap of the oracle on the class of the statement"
    WITHOUT_MEMORY = "mean gap of every policy without memory on the class"
    UNTRAINED = "gap in a model that the policy was not trained on"
    STEPS = "expected steps"
    BIAS_SPAN = "span of the bias"
    VALUE = "optimal value"
    VALUE_SPAN = "span of optimal values"
    VALUE_DIFFERENCE = "difference of values between two models"


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """A theorem with its numbers put in.

    `unmet` lists, in plain words, what the theorem asks for and the input lacks; with
    anything in it, the value is not a bound. `non_vacuous_from` is the least horizon at
    which an upper bound is below H, or a lower bound above 0: inf if there is none up
    to 10^15, None where the question makes no sense or the numbers belong to one
    horizon only.
    """

    claim: str
    quantity: Quantity
    kind: Kind
    value: float
    horizon: int | None
    constants: tuple[Constant, ...] = ()
    unmet: tuple[str, ...] = ()
    non_vacuous_from: float | None = None
    label: str = ""  # "literal form": the paper's own version, which is wrong
    unit: float = 1.0  # max R - min R of the rewards that `value` is in
    formula: Formula | None = field(default=None, repr=False, compare=False)

    @property
    def holds(self) -> bool:
        """Whether every condition is met and the statement is not a wrong one."""
        return not self.unmet and self.label != LITERAL

    @property
    def vacuous(self) -> bool:
        """Whether the bound says no more than that a gap is between 0 and H."""
        if self.kind is Kind.LOWER:
            return self.value <= 0.0
        return (
            self.horizon is not None
            and self.unit > 0.0
            and self.value >= self.horizon * self.unit
        )

    def at(self, horizon: int) -> float:
        """Return the value at another horizon, all other numbers unchanged."""
        if self.formula is None:
            raise InvalidArgument(
                f"{self.claim} was given numbers of one horizon only",
                hint="compute it again with the numbers of the other horizon",
            )
        return self.formula(whole("horizon", horizon))

    def in_rewards(self, width: float) -> Bound:
        """Return a bound made for rewards in [0, 1] for rewards `width` wide.

        This is the one place where the scale changes; the value is rounded outwards.
        """
        if width == 1.0:
            return self
        outwards = inf if self.kind is Kind.UPPER else -inf
        formula = self.formula

        def scaled(value: float) -> float:
            if value == 0.0 or width == 0.0:
                return 0.0
            # one rounding of the width, one of the product
            return nextafter(nextafter(value * width, outwards), outwards)

        return replace(
            self,
            value=scaled(self.value),
            unit=width,
            formula=None if formula is None else lambda h: scaled(formula(h)),
        )

    def constant(self, name: str) -> float:
        """Return one of the numbers that went in."""
        for each in self.constants:
            if each.name == name:
                return each.value
        raise InvalidArgument(
            f"{self.claim} has no constant {name!r}",
            hint=f"it has {', '.join(each.name for each in self.constants)}",
        )


def upper_bound(
    claim: str,
    quantity: Quantity,
    formula: Formula,
    horizon: int,
    *,
    constants: tuple[Constant, ...] = (),
    unmet: tuple[str, ...] = (),
) -> Bound:
    """Return an upper bound whose formula is nondecreasing in the horizon."""
    return Bound(
        claim=claim,
        quantity=quantity,
        kind=Kind.UPPER,
        value=formula(horizon),
        horizon=horizon,
        constants=constants,
        unmet=unmet,
        non_vacuous_from=first_below(formula),
        formula=formula,
    )


def named(**numbers: float) -> tuple[Constant, ...]:
    """Return constants in the order in which they are written."""
    return tuple(Constant(name, float(value)) for name, value in numbers.items())


def first_below(bound: Formula) -> float:
    """Return the least H with bound(H) < H for a nondecreasing bound; inf if none."""
    return _climb(bound, lambda value, horizon: value < horizon, lambda v: floor(v) + 1)


def first_fit(need: Formula) -> float:
    """Return the least H with need(H) <= H for a nondecreasing need; inf if none."""
    return _climb(need, lambda value, horizon: value <= horizon, ceil)


def first_above_zero(bound: Formula) -> float:
    """Return the least H with bound(H) > 0 for a bound concave in H; inf if none.

    A concave sequence rises and then falls, so its top is found by bisection on the
    differences, and the first positive entry by bisection below the top.
    """
    low, high = 1, LONGEST
    while low < high:
        middle = (low + high) // 2
        if bound(middle + 1) > bound(middle):
            low = middle + 1
        else:
            high = middle
    if bound(low) <= 0.0:
        return inf
    first, last = 1, low
    while first < last:
        middle = (first + last) // 2
        if bound(middle) > 0.0:
            last = middle
        else:
            first = middle + 1
    return first


def _climb(
    formula: Formula,
    met: Callable[[float, int], bool],
    following: Callable[[float], int],
) -> float:
    horizon = 1
    for _ in range(MOST_STEPS):
        value = formula(horizon)
        if met(value, horizon):
            return horizon
        if value >= LONGEST:
            return inf
        horizon = following(value)
    raise NotSolved(
        f"no horizon up to {horizon} meets a bound that grows about as fast as it",
        hint="the numbers are at fault: look for a residual or slope of about 1",
        result=horizon,
    )
