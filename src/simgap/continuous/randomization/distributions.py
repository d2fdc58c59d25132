"""How one parameter is drawn: uniform, log-uniform, truncated normal, choice, fixed.

Each is a frozen value with its ends (`support`), its distribution function (`cdf`), the
inverse of it (`quantile`), its `density` and its `text` in the grammar. Where a
distribution has points of positive chance, `density` is that chance. What `quantile`
returns never leaves the support, whatever is rounded: a range of width zero gives its
one number, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, log
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.errors import InvalidArgument

LEAST_MASS = 1e-12  # of a normal in its range: below, its tail is no longer exact
BAD_VALUE = "randomize-value"  # code


def number_text(value: float) -> str:
    """Return a number as the grammar writes it; reading it gives the same bits."""
    return repr(float(value)).removesuffix(".0")


@final
@dataclass(frozen=True, slots=True)
class Fixed:
    """Always the same number."""

    value: float

    def __post_init__(self) -> None:
        _check_finite(value=self.value)

    @property
    def support(self) -> tuple[float, float]:
        return self.value, self.value

    @property
    def text(self) -> str:
        return number_text(self.value)

    def quantile(self, u: FloatArray) -> FloatArray:
        return np.full(np.shape(u), self.value, dtype=np.float64)

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.where(np.asarray(x) >= self.value, 1.0, 0.0)

    def density(self, x: FloatArray) -> FloatArray:
        return np.where(np.asarray(x) == self.value, 1.0, 0.0)

    def stretched(self, factor: float, about: float | None = None) -> Fixed:
        return self


@final
@dataclass(frozen=True, slots=True)
class Uniform:
    """Any number between two ends, all alike."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_finite(low=self.low, high=self.high)
        _check_order(self.low, self.high)

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def text(self) -> str:
        return f"{number_text(self.low)}..{number_text(self.high)}"

    def quantile(self, u: FloatArray) -> FloatArray:
        u = np.asarray(u)
        return np.clip(self.low * (1.0 - u) + self.high * u, self.low, self.high)

    def cdf(self, x: FloatArray) -> FloatArray:
        if self.low == self.high:
            return Fixed(self.low).cdf(x)
        half = self.high / 2.0 - self.low / 2.0  # the width itself may overflow
        return np.clip((np.asarray(x) / 2.0 - self.low / 2.0) / half, 0.0, 1.0)

    def density(self, x: FloatArray) -> FloatArray:
        if self.low == self.high:
            return Fixed(self.low).density(x)
        half = self.high / 2.0 - self.low / 2.0
        return np.where(_within(x, self), 0.5 / half, 0.0)

    def stretched(self, factor: float, about: float | None = None) -> Uniform:
        """Return it so many times as wide, about its middle or another number."""
        return Uniform(*_stretched_ends(self.low, self.high, factor, about))


@final
@dataclass(frozen=True, slots=True)
class LogUniform:
    """A number above 0 whose logarithm is uniform: each doubling is as likely."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _check_finite(low=self.low, high=self.high)
        if self.low <= 0.0:
            raise InvalidArgument(
                f"log starts at {number_text(self.low)}, which has no logarithm",
                hint="both ends are above 0, as in log(0.1..10)",
                code=BAD_VALUE,
            )
        _check_order(self.low, self.high)

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def text(self) -> str:
        return f"log({number_text(self.low)}..{number_text(self.high)})"

    def quantile(self, u: FloatArray) -> FloatArray:
        drawn = self._in_logs().quantile(u)
        return np.clip(np.exp(drawn), self.low, self.high)

    def cdf(self, x: FloatArray) -> FloatArray:
        if self.low == self.high:
            return Fixed(self.low).cdf(x)
        inside = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        return self._in_logs().cdf(np.log(inside))

    def density(self, x: FloatArray) -> FloatArray:
        if self.low == self.high:
            return Fixed(self.low).density(x)
        within, width = _within(x, self), log(self.high) - log(self.low)
        return np.where(within, 1.0 / (np.where(within, x, 1.0) * width), 0.0)

    def stretched(self, factor: float, about: float | None = None) -> LogUniform:
        """Return it so many times as wide in the logarithm, about its middle there."""
        middle = None if about is None else log(about)
        low, high = _stretched_ends(log(self.low), log(self.high), factor, middle)
        if low == high:
            return self
        return LogUniform(_short(float(np.exp(low))), _short(float(np.exp(high))))

    def _in_logs(self) -> Uniform:
        return Uniform(log(self.low), log(self.high))


@final
@dataclass(frozen=True, slots=True)
class TruncatedNormal:
    """A normal number, drawn again until it lies between two ends."""

    mean: float
    sd: float
    low: float = -inf
    high: float = inf

    def __post_init__(self) -> None:
        _check_finite(mean=self.mean, sd=self.sd)
        if self.sd <= 0.0:
            raise InvalidArgument(
                f"sd is {number_text(self.sd)}",
                hint="a standard deviation is above 0; without it, write the number",
                code=BAD_VALUE,
            )
        if not self.low < self.high:
            raise InvalidArgument(
                f"in={number_text(self.low)}..{number_text(self.high)} is empty or one "
                "point",
                hint="the first end is below the second, as in in=0.5..1.5",
                code=BAD_VALUE,
            )
        if (mass := self._mass()) < LEAST_MASS:
            raise InvalidArgument(
                f"a normal number with mean {number_text(self.mean)} and sd "
                f"{number_text(self.sd)} lies in {number_text(self.low)}.."
                f"{number_text(self.high)} with chance {mass:.1g}",
                hint="move the range to the mean, or write the range alone",
                code=BAD_VALUE,
            )

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def text(self) -> str:
        ends = ""
        if isfinite(self.low) or isfinite(self.high):
            ends = f", in={number_text(self.low)}..{number_text(self.high)}"
        return f"normal({number_text(self.mean)}, sd={number_text(self.sd)}{ends})"

    def quantile(self, u: FloatArray) -> FloatArray:
        from scipy.special import ndtri

        sign, first, mass = self._lower_tail()
        u = np.asarray(u) if sign > 0 else 1.0 - np.asarray(u)
        drawn = self.mean + sign * self.sd * ndtri(first + u * mass)
        return np.clip(drawn, self.low, self.high)

    def cdf(self, x: FloatArray) -> FloatArray:
        from scipy.special import ndtr

        sign, first, mass = self._lower_tail()
        inside = np.clip(np.asarray(x, dtype=np.float64), self.low, self.high)
        below = (ndtr(sign * (inside - self.mean) / self.sd) - first) / mass
        found = np.clip(below if sign > 0 else 1.0 - below, 0.0, 1.0)
        return np.asarray(found, dtype=np.float64)

    def density(self, x: FloatArray) -> FloatArray:
        score = (np.asarray(x) - self.mean) / self.sd
        height = np.exp(-0.5 * score**2) / np.sqrt(2.0 * np.pi)
        return np.where(_within(x, self), height / (self.sd * self._mass()), 0.0)

    def stretched(self, factor: float, about: float | None = None) -> TruncatedNormal:
        """Return it so many times as wide, about the middle of its range.

        With an end that is not finite that is its mean, and both ends stay.
        """
        low, high, middle = self.low, self.high, about
        if isfinite(low) and isfinite(high):
            middle = low / 2.0 + high / 2.0 if middle is None else middle
            low, high = _stretched_ends(low, high, factor, middle)
        middle = self.mean if middle is None else middle
        mean = middle + factor * (self.mean - middle)
        return TruncatedNormal(_short(mean), _short(self.sd * factor), low, high)

    def _mass(self) -> float:
        return self._lower_tail()[2]

    def _lower_tail(self) -> tuple[float, float, float]:
        """Return a sign, the chance below the range and that of the range.

        A range above the mean is turned about it: there are digits for small chances,
        not for those next to 1.
        """
        from scipy.special import ndtr

        low, high = (self.low - self.mean) / self.sd, (self.high - self.mean) / self.sd
        sign = -1.0 if low > 0.0 else 1.0
        if sign < 0.0:
            low, high = -high, -low
        first = float(ndtr(low))
        return sign, first, float(ndtr(high)) - first


@final
@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few numbers; without weights each is as likely."""

    values: tuple[float, ...]
    weights: tuple[float, ...] = ()  # relative; empty: all alike

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(map(float, self.values)))
        object.__setattr__(self, "weights", tuple(map(float, self.weights)))
        if not self.values:
            raise InvalidArgument(
                "a choice of nothing", hint="write {-1, 1}", code=BAD_VALUE
            )
        for value in self.values:
            _check_finite(value=value)
        if len(set(self.values)) < len(self.values):
            twice = next(v for v in self.values if self.values.count(v) > 1)
            raise InvalidArgument(
                f"{number_text(twice)} is chosen from twice",
                hint=f"give it more weight instead: {{{number_text(twice)}: 2, ...}}",
                code=BAD_VALUE,
            )
        if self.weights and len(self.weights) != len(self.values):
            raise InvalidArgument(
                f"{len(self.values)} values and {len(self.weights)} weights",
                hint="give every value a weight, or none",
                code=BAD_VALUE,
            )
        for weight in self.weights:
            if not (isfinite(weight) and weight > 0.0):
                raise InvalidArgument(
                    f"a weight is {number_text(weight)}",
                    hint="weights are above 0; leave a value out that is never drawn",
                    code=BAD_VALUE,
                )
        if self.weights and not isfinite(sum(self.weights)):
            raise InvalidArgument(
                "the sum of the weights is not finite",
                hint="weights are relative: make them smaller",
                code=BAD_VALUE,
            )

    @property
    def support(self) -> tuple[float, float]:
        return min(self.values), max(self.values)

    @property
    def text(self) -> str:
        named = [number_text(value) for value in self.values]
        if self.weights:
            pairs = zip(named, self.weights, strict=True)
            named = [f"{value}: {number_text(weight)}" for value, weight in pairs]
        return f"{{{', '.join(named)}}}"

    def quantile(self, u: FloatArray) -> FloatArray:
        values, up_to = self._sorted()
        at = np.searchsorted(up_to[:-1], np.asarray(u), side="left")
        return np.asarray(values[at], dtype=np.float64)

    def cdf(self, x: FloatArray) -> FloatArray:
        values, up_to = self._sorted()
        at = np.searchsorted(values, np.asarray(x), side="right")
        return np.asarray(np.concatenate([[0.0], up_to])[at], dtype=np.float64)

    def density(self, x: FloatArray) -> FloatArray:
        values, up_to = self._sorted()
        chances = np.diff(up_to, prepend=0.0)
        at = np.minimum(np.searchsorted(values, np.asarray(x)), values.size - 1)
        return np.where(values[at] == x, chances[at], 0.0)

    def stretched(self, factor: float, about: float | None = None) -> Choice:
        return self

    def _sorted(self) -> tuple[FloatArray, FloatArray]:
        """Return the values from the least on, and the chance of at most each."""
        values = np.asarray(self.values)
        weights = np.asarray(self.weights) if self.weights else np.ones(values.size)
        order = np.argsort(values)
        up_to = np.cumsum(weights[order])
        return values[order], up_to / up_to[-1]


Distribution = Fixed | Uniform | LogUniform | TruncatedNormal | Choice


def is_discrete(law: Distribution) -> bool:
    """Return whether single numbers have a chance: choices and ranges of no width."""
    return isinstance(law, Choice) or law.support[0] == law.support[1]


def _within(x: FloatArray, law: Distribution) -> BoolArray:
    low, high = law.support
    return np.asarray((np.asarray(x) >= low) & (np.asarray(x) <= high))


def _stretched_ends(
    low: float, high: float, factor: float, about: float | None
) -> tuple[float, float]:
    if low == high:
        return low, high
    middle = low / 2.0 + high / 2.0 if about is None else about
    ends = middle - factor * (middle - low), middle + factor * (high - middle)
    least = 1e-12 * (high - low)  # 0 but for rounding, as of 0.3..1.5 times 1.5
    low, high = (0.0 if abs(end) < least else _short(end) for end in ends)
    return low, high


def _short(value: float) -> float:
    """Return a number without what rounding made of it: 0.525, not 0.5249999999."""
    return float(f"{value:.12g}")


def _check_finite(**numbers: float) -> None:
    for name, number in numbers.items():
        if not isfinite(number):
            raise InvalidArgument(
                f"{name} is {number}", hint="give a finite number", code=BAD_VALUE
            )


def _check_order(low: float, high: float) -> None:
    if low > high:
        text = f"{number_text(high)}..{number_text(low)}"
        raise InvalidArgument(
            f"the range starts at {number_text(low)} and ends at {number_text(high)}",
            hint=f"write {text}",
            code=BAD_VALUE,
        )
