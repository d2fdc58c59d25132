"""The intervals of a measured value: at one point, and over all points.

*Points that are drawn*: independent units are the points, or, of randomized quasi-Monte
Carlo, its replicates (L'Ecuyer and Lemieux 2002): Student's t over the units. *Points
that are chosen*: strata, each with the variance of its episodes, and the degrees of
freedom of Satterthwaite. Noise of episodes is in the spread of units already and is not
added to it.

*Training seeds*: with three or more of a policy the number is the mean over policies
that training makes. Seeds and units are crossed, so that the variance is that of the
seeds' means, plus that of the units' means, less that of the rest, which is in both. A
source whose spread is no larger than the rest explains is pooled with it. With fewer
seeds the number is about these very policies.

*Looks*: if what was met decided how many episodes were run, look j has the share
1 / (j (j + 1)) of the chance to be wrong. These shares add up to 1, so that the
intervals of all looks hold at once, whichever of them was the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import NamedTuple, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.measuring.drawn import Drawn
from simgap.continuous.measuring.value import MeasuredValue, mean_of
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate, Guaranteed
from simgap.statistics import Part, estimated_rate, guaranteed_mean, rare_events

ENOUGH_SEEDS = 3  # for an interval over trainings


@final
@dataclass(frozen=True, slots=True)
class Level:
    """How sure an interval is, and at which look; look 0: the number was fixed."""

    confidence: float = 0.95
    look: int = 0

    def share(self, claims: int = 1) -> float:
        """Return the confidence of each of several claims that hold at once."""
        spent = self.look * (self.look + 1) if self.look else 1
        return 1.0 - (1.0 - self.confidence) / (spent * claims)


def mean_at(
    value: MeasuredValue, point: int, level: Level, claims: int = 1
) -> Estimate:
    """Return the mean at a point, with its intervals."""
    alone = value.of_point(point)
    (episodes,) = alone.values
    episodes = episodes[np.isfinite(episodes)]
    binary = value.bounds == (0.0, 1.0) and np.isin(episodes, (0.0, 1.0)).all()
    if binary and not _over_trainings(value):
        confidence = level.share(claims)
        return estimated_rate(int(episodes.sum()), episodes.size, confidence)
    if episodes.size > 1:
        return _estimate(alone, np.ones(1, np.bool_), np.ones(1), level, claims)
    there = np.arange(len(value.values)) == point
    return _estimate(value, there, np.ones(1), level, claims)


def mean_over(value: MeasuredValue, chosen: BoolArray, level: Level) -> Estimate:
    """Return the mean over the chosen points at which there are episodes."""
    there = chosen & (value.counts > 0)
    found = _estimate(value, there, value.points.shares(there), level)
    alone = value.points.sampled and there.sum() == 1  # nothing is known of the others
    return replace(found, guaranteed=None) if alone else found


def share_of_noise(value: MeasuredValue, chosen: BoolArray, found: Estimate) -> float:
    """Return what part of the variance of a mean the noise of episodes makes up."""
    there = chosen & (value.counts > 0)
    squares = _stratum_errors(value, there)[0]
    noise = float(value.points.shares(there) ** 2 @ squares)
    error = found.standard_error or 0.0
    return min(1.0, noise / error**2) if error > 0.0 else 1.0


def _estimate(
    value: MeasuredValue,
    there: BoolArray,
    weights: FloatArray,
    level: Level,
    claims: int = 1,
) -> Estimate:
    from scipy.special import stdtrit

    units = _units(value, there)
    confidence = level.share(claims)
    middle = float(weights @ value.means[there])
    if units is None:
        columns, crossed = _of_strata(value, there, weights)
    else:
        columns, crossed = _of_units(value, there, weights, units)
    sure = _guaranteed(value, there, weights, units, confidence)
    error = _with_trainings(columns, crossed)
    if error.freedom > 0.0:
        half = float(stdtrit(error.freedom, 0.5 + confidence / 2.0))
        half *= sqrt(error.variance)
        ends = (middle - half, middle + half)
        how = "t interval"
    else:  # one number, and nothing to compare it with
        if sure is None:
            raise InvalidArgument(
                "one episode in all, and no bounds of its return",
                hint="run two episodes or more, or say what a return lies between",
            )
        ends, how = sure.ends, "betting"
    return Estimate(
        middle,
        min(middle, ends[0]),
        max(middle, ends[1]),
        level.confidence,
        method=_method(value, how, there, units, len(crossed)),
        standard_error=sqrt(error.variance) if error.freedom > 0.0 else None,
        guaranteed=sure,
        warning=_warning(value, there, weights, units),
    ).within(*(value.bounds or (None, None)))


class _Error(NamedTuple):
    """The variance of a mean, and the degrees of freedom that it was estimated with."""

    variance: float
    freedom: float  # 0: it is not known


class _Crossed(NamedTuple):
    """What the training seeds of a term add to the error."""

    seeds: _Error  # of the means of the seeds
    rest: _Error  # of what is in the spread of seeds and in that of units


def _units(value: MeasuredValue, there: BoolArray) -> OffsetArray | None:
    """Return which independent unit each point belongs to; None: points are strata."""
    if not value.points.sampled or there.sum() < 2:
        return None
    ids = value.points.replicates
    every = np.arange(there.size) if ids is None else ids
    units: OffsetArray = np.unique(every[there], return_inverse=True)[1]
    return units if units.max() > 0 else None


def _of_units(
    value: MeasuredValue, there: BoolArray, weights: FloatArray, units: OffsetArray
) -> tuple[_Error, list[_Crossed]]:
    """Return the error of a weighted mean of independent units."""
    whole = np.bincount(units, weights)
    count = whole.size
    scale = count / (count - 1.0)

    def of_units(means: FloatArray) -> FloatArray:  # (..., T) to (..., R)
        known = np.isfinite(means) * weights
        members = np.eye(count)[units]  # (T, R)
        found: FloatArray = (np.nan_to_num(means) * known) @ members
        return found / np.maximum(known @ members, 1e-300)

    columns = of_units(value.means[there])
    apart = columns - whole @ columns
    variance = scale * float((whole**2) @ apart**2)
    if value.points.shared:  # all episodes may have the same noise at every point
        noise = _stratum_errors(value, there)[0]
        variance += float(weights @ np.sqrt(noise)) ** 2
    crossed = []
    for each in value.terms.values():
        if len(each) < ENOUGH_SEEDS:
            continue
        table = of_units(mean_of(each[:, there]))
        of_seeds = table @ whole
        rest = table - of_seeds[:, None] - table.mean(axis=0) + of_seeds.mean()
        seeds = len(table)
        left = scale * float((whole**2) @ (rest**2).sum(axis=0)) / (seeds * (seeds - 1))
        crossed.append(
            _Crossed(
                _Error(float(of_seeds.var(ddof=1)) / seeds, seeds - 1.0),
                _Error(left, (seeds - 1.0) * (count - 1.0)),
            )
        )
    return _Error(variance, count - 1.0), crossed


def _of_strata(
    value: MeasuredValue, there: BoolArray, weights: FloatArray
) -> tuple[_Error, list[_Crossed]]:
    """Return the error of a weighted mean of strata with independent episodes."""
    squares, freedoms = _stratum_errors(value, there)
    if value.points.shared and squares.size > 1:
        shared = float(weights @ np.sqrt(squares)) ** 2
        columns = _Error(shared, float(freedoms.min()))
    else:
        columns = _satterthwaite(weights**2 * squares, freedoms)
    crossed = []
    for each in value.terms.values():
        if len(each) < ENOUGH_SEEDS:
            continue
        table, seeds = each[:, there], len(each)
        counts = np.isfinite(table).all(axis=0).sum(axis=1)
        means = mean_of(table)
        rest = (
            table - means[..., None] - table.mean(axis=0) + means.mean(axis=0)[:, None]
        )
        free = (seeds - 1.0) * np.maximum(counts - 1.0, 0.0)
        left = np.nan_to_num(rest**2).sum(axis=(0, 2)) / np.maximum(free, 1.0)
        left = weights**2 * left / (seeds * np.maximum(counts, 1))
        of_seeds = np.nan_to_num(means) @ weights
        crossed.append(
            _Crossed(
                _Error(float(of_seeds.var(ddof=1)) / seeds, seeds - 1.0),
                _satterthwaite(left, np.maximum(free, 1.0)),
            )
        )
    return columns, crossed


def _stratum_errors(
    value: MeasuredValue, there: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of the mean at each chosen point, and degrees of freedom.

    A single episode has the spread of episodes at other points, or of other points.
    """
    values = value.values
    counts = np.isfinite(values).sum(axis=1)
    squares = np.nansum((values - mean_of(values)[:, None]) ** 2, axis=1)
    freedoms = np.maximum(counts - 1.0, 0.0)
    known = freedoms > 0.0
    pooled, free = float(squares[known].sum()), float(freedoms[known].sum())
    if not known.any():
        alone = values[np.isfinite(values)]
        free = alone.size - 1.0
        pooled = float(((alone - alone.mean()) ** 2).sum())
    variances = np.where(
        known, squares / np.maximum(freedoms, 1.0), pooled / max(free, 1.0)
    )
    found: FloatArray = variances / np.maximum(counts, 1)
    return found[there], np.where(known, freedoms, max(free, 0.0))[there]


def _satterthwaite(parts: FloatArray, freedoms: FloatArray) -> _Error:
    """Return the sum of independent variances with its degrees of freedom."""
    total = float(parts.sum())
    if total == 0.0:
        return _Error(0.0, float(max(freedoms.max(initial=0.0), 0.0)))
    used = parts > 0.0
    if not freedoms[used].all():
        return _Error(total, 0.0)
    shares = parts[used] / total
    return _Error(total, 1.0 / float((shares**2 / freedoms[used]).sum()))


def _with_trainings(columns: _Error, crossed: Sequence[_Crossed]) -> _Error:
    """Return the error over units and trainings; what is in both counts once."""
    if not crossed:
        return columns
    ahead = [each for each in crossed if each.seeds.variance > each.rest.variance]
    rest = sum(each.rest.variance for each in crossed)
    parts = [each.seeds for each in ahead]
    if columns.variance > rest or not ahead:
        parts.append(columns)
    total = sum(each.variance for each in parts)
    less = sum(each.rest.variance for each in ahead) if len(parts) > len(ahead) else 0.0
    variance = max(total - less, *(each.variance for each in parts))
    if variance == 0.0:
        return columns
    squares = sum(each.variance**2 / max(each.freedom, 1.0) for each in parts)
    least = min(each.freedom for each in parts)
    return _Error(variance, max(least, variance**2 / squares))


def _over_trainings(value: MeasuredValue) -> bool:
    """Return whether the number is a mean over what training makes."""
    return any(len(each) >= ENOUGH_SEEDS for each in value.terms.values())


def _guaranteed(
    value: MeasuredValue,
    there: BoolArray,
    weights: FloatArray,
    units: OffsetArray | None,
    confidence: float,
) -> Guaranteed | None:
    """Return the ends that hold by theorem, where units are known to be independent."""
    points = value.points
    if value.bounds is None or _over_trainings(value):
        return None
    if points.shared and there.sum() > 1:
        return None
    low, high = value.bounds
    if units is None:
        parts = [
            Part(row[np.isfinite(row)], low, high, weight=weight)
            for row, weight in zip(value.values[there], weights.tolist(), strict=True)
        ]
        return guaranteed_mean(parts, confidence)
    if points.drawn is not Drawn.INDEPENDENT and points.replicates is None:
        return None
    whole = np.bincount(units, weights)
    means = np.bincount(units, weights * value.means[there]) / whole
    return guaranteed_mean([Part(means, low, high)], confidence)


def _warning(
    value: MeasuredValue,
    there: BoolArray,
    weights: FloatArray,
    units: OffsetArray | None,
) -> str | None:
    low, high = value.bounds or (-inf, inf)
    if units is not None:
        return rare_events([Part(value.means[there], low, high)])
    rows = zip(value.values[there], weights.tolist(), strict=True)
    return rare_events([Part(r[np.isfinite(r)], low, high, weight=w) for r, w in rows])


def _method(
    value: MeasuredValue,
    how: str,
    there: BoolArray,
    units: OffsetArray | None,
    terms: int,
) -> str:
    episodes = int(value.counts[there].sum())
    said = [how, "paired" if value.paired else "", f"{episodes} episodes"]
    if (count := int(there.sum())) > 1:
        said.append(f"{count} points")
    if units is not None and units.max() + 1 < count:
        said.append(f"{units.max() + 1} replicates")
    if terms:
        seeds = [len(e) for e in value.terms.values() if len(e) >= ENOUGH_SEEDS]
        said.append(f"{' and '.join(map(str, seeds))} training seeds")
    return ", ".join(filter(None, said))
