"""The function class F of a class of simulators (Section 5.3, theory 2.10).

    f_M(s, a, l) = sum over s' of P_M(s' | s, a) l(s') ,  l in Lambda, the biases of U

With finitely many models F is a matrix: functions on one side, points x = (s, a, l) on
the other. Everything below depends on differences f(x) - f'(x) alone, so that some
points can be left out without changing a result: those on which all functions agree,
and those with the same differences as another point (up to one sign). The other points
are stored: 200 models with 1000 pairs (s, a) and 200 biases need 320 MB.

Biases come from a solver and are rounded. Without care the eluder dimension would count
rounding errors: two points whose values differ in the last digit are two points.
Therefore numbers closer than `resolution` count as equal everywhere below. A class made
from a matrix has resolution 0: its numbers are taken as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np
import numpy.typing as npt

from simgap._kernels.solving.function_pairs import equal_points, sup_distances
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned, read_only
from simgap.errors import InvalidArgument, NotSolved
from simgap.mdp import SimulatorClass
from simgap.planning import AverageRewardPlan, solve_average_reward

MOST_ENTRIES = 2**27  # of the matrix: one gigabyte
RESOLUTION = 1e-9  # of the largest bias span
SOLVER_TOLERANCE = 1e-12
RESIDUALS = 1e3  # a bias is off by no more than so many residuals of its equation
BLOCK = 4096  # points handled at once
LARGEST_VALUE = 1e100  # its square is a float


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A point of the domain: a state, an action and the model whose bias it is."""

    state: int
    action: int
    bias: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class FunctionClass:
    """F, its different functions on the points that tell some of them apart."""

    values: FloatArray  # (X, F), f(x)
    function: IndexArray  # (M,), the function of each model
    column: OffsetArray  # (X,), where in the domain: (s * A + a) * biases + bias
    n_actions: int
    biases: IndexArray  # (L,), the first model with each bias
    distance: FloatArray  # (F, F), sup norms of differences
    resolution: float  # numbers this close are equal
    domain_size: int  # S * A * L, with the points left out here

    def __post_init__(self) -> None:
        for name, dtype in (
            ("values", np.float64),
            ("function", np.int32),
            ("column", np.int64),
            ("biases", np.int32),
            ("distance", np.float64),
        ):
            object.__setattr__(self, name, read_only(getattr(self, name), dtype))

    @property
    def n_functions(self) -> int:
        return int(self.values.shape[1])

    @property
    def n_points(self) -> int:
        """Points that show different differences; the rest cannot matter."""
        return int(self.values.shape[0])

    def point(self, at: int) -> Point:
        """Return what a row of `values` stands for; a matrix has states only."""
        pair, bias = divmod(int(self.column[at]), self.biases.size)
        state, action = divmod(pair, self.n_actions)
        return Point(state, action, int(self.biases[bias]))


def function_class(
    simulators: SimulatorClass, *, plan: AverageRewardPlan | None = None
) -> FunctionClass:
    """Return F for the biases of the models (Section 5.3).

    The biases are those of `plan` if there is one. A class that is not communicating
    has none and is refused.
    """
    if plan is None:
        plan = precise_biases(simulators)
    span = float(plan.bias_span.max())
    resolution = max(RESOLUTION * span, RESIDUALS * float(plan.residual.max()))
    if span == 0.0:  # no bias, no differences
        resolution = 0.0
    lambdas = _first_of_each(plan.bias, resolution)
    values, column = _fill(simulators, plan.bias[lambdas], resolution)
    return _reduced(
        values,
        column,
        n_actions=simulators.n_actions,
        biases=lambdas.astype(np.int32),
        resolution=resolution,
        domain_size=simulators.n_states * simulators.n_actions * lambdas.size,
    )


def precise_biases(simulators: SimulatorClass) -> AverageRewardPlan:
    """Return the biases of all models, to the last digits where that is possible."""
    try:
        return solve_average_reward(simulators, tolerance=SOLVER_TOLERANCE)
    except NotSolved:
        return solve_average_reward(simulators)


def function_class_from_matrix(matrix: npt.ArrayLike) -> FunctionClass:
    """Return the class whose functions are the rows of a matrix (F, X), by the letter.

    Equal rows are one function. A column counts as a state with one action.
    """
    given = np.array(matrix, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] == 0 or not np.isfinite(given).all():
        raise InvalidArgument(
            f"a function class of shape {given.shape}",
            hint="give a finite matrix with a row per function and a column per point",
        )
    largest = float(np.abs(given).max(initial=0.0))
    if largest > LARGEST_VALUE or 0.0 < largest < 1.0 / LARGEST_VALUE:
        raise InvalidArgument(
            f"the largest number of a function class is {largest:g}",
            hint="squares of its differences are no floats: use other units",
        )
    _check_size(given.size, "the matrix")
    values = np.ascontiguousarray(given.T)
    kept = np.flatnonzero(np.ptp(values, axis=1) > 0.0) if values.size else np.arange(0)
    return _reduced(
        values[kept],
        kept.astype(np.int64),
        n_actions=1,
        biases=np.zeros(1, np.int32),
        resolution=0.0,
        domain_size=values.shape[0],
    )


def check_scale(epsilon: float) -> None:
    """Raise unless eps is a scale at which a class can be measured."""
    if not isinstance(epsilon, (int, float)) or not isfinite(epsilon) or epsilon < 0.0:
        raise InvalidArgument(
            f"a scale of {epsilon!r}", hint="it is 0 or a positive number, such as 1/H"
        )


def _first_of_each(rows: FloatArray, tolerance: float) -> OffsetArray:
    """Return the first of each group of rows that agree within the tolerance."""
    sums = rows.sum(axis=1)
    window = rows.shape[1] * (tolerance + 1e-15 * float(np.abs(rows).max(initial=0.0)))
    firsts: list[int] = []
    for at, row in enumerate(rows):
        known = np.array(firsts, np.int64)
        close = known[np.abs(sums[known] - sums[at]) <= window]  # or they differ
        if not (np.abs(rows[close] - row).max(axis=1) <= tolerance).any():
            firsts.append(at)
    return np.array(firsts, np.int64)


def _fill(
    simulators: SimulatorClass, biases: FloatArray, resolution: float
) -> tuple[FloatArray, OffsetArray]:
    """Return P_M l at all (s, a, l) where models differ, (X, M), and their columns."""
    kernel, count = simulators.transitions, len(biases)
    differ = (kernel.values != kernel.values[:1]).any(axis=0)
    length = np.diff(kernel.indptr)
    row_of = np.repeat(np.arange(length.size), length)
    rows = np.unique(row_of[differ])
    _check_size(rows.size * count * len(simulators), "the function class")
    values = np.empty((rows.size * count, len(simulators)))
    column = np.empty(rows.size * count, np.int64)
    filled = 0
    for row in rows:
        at = slice(kernel.indptr[row], kernel.indptr[row + 1])
        block = biases[:, kernel.indices[at]] @ kernel.values[:, at].T  # (L, M)
        kept = np.flatnonzero(np.ptp(block, axis=1) > resolution)
        values[filled : filled + kept.size] = block[kept]
        column[filled : filled + kept.size] = row * count + kept
        filled += kept.size
    return values[:filled], column[:filled]


def _reduced(
    values: FloatArray,
    column: OffsetArray,
    *,
    n_actions: int,
    biases: IndexArray,
    resolution: float,
    domain_size: int,
) -> FunctionClass:
    """Return the class without equal functions and without equal points."""
    distance = np.zeros((values.shape[1], values.shape[1]))
    sup_distances(values, distance)
    distance = np.maximum(distance, distance.T)
    same = distance <= resolution
    function, firsts = np.zeros(len(distance), np.int32), list[int]()
    for member in range(len(distance)):
        earlier = [at for at, first in enumerate(firsts) if same[member, first]]
        function[member] = earlier[0] if earlier else len(firsts)
        if not earlier:
            firsts.append(member)
    if len(firsts) < len(distance):
        values = np.take(values, firsts, axis=1)  # C-ordered, unlike indexing
    kept = _different_points(values, resolution / 4.0)
    for begin in range(0, kept.size, BLOCK):  # in place: the matrix exists once
        part = kept[begin : begin + BLOCK]
        values[begin : begin + part.size] = values[part]
    owned(values)
    whole = values.base
    if isinstance(whole, np.ndarray):
        owned(whole)
    return FunctionClass(
        values=values[: kept.size],
        function=owned(function),
        column=owned(column[kept]),
        n_actions=n_actions,
        biases=biases,
        distance=distance[np.ix_(firsts, firsts)],
        resolution=resolution,
        domain_size=domain_size,
    )


def _different_points(values: FloatArray, tolerance: float) -> OffsetArray:
    """Return the points of which no other shows the same differences.

    Pair differences of two points that follow one leader differ by at most four
    tolerances, that is by the resolution: they count as the same point.
    """
    count = len(values)
    if count == 0:
        return np.zeros(0, np.int64)
    # By the letter (tolerance 0) no subtraction may round: whole values are compared.
    base = values[:, 0].copy() if tolerance > 0.0 else np.zeros(count)
    weights = np.random.default_rng(0).standard_normal(values.shape[1])
    keys = np.empty(count)
    for begin in range(0, count, BLOCK):
        part = slice(begin, begin + BLOCK)
        keys[part] = np.abs((values[part] - base[part, None]) @ weights)
    size = max(float(values.max()), -float(values.min()))
    window = float(np.abs(weights).sum()) * (tolerance + 1e-13 * values.shape[1] * size)
    leader = np.empty(count, np.int64)
    order = np.argsort(keys, kind="stable").astype(np.int64)
    equal_points(values, base, order, keys, window, tolerance, leader)
    return np.flatnonzero(leader == np.arange(count))


def _check_size(entries: int, what: str) -> None:
    if entries > MOST_ENTRIES:
        raise InvalidArgument(
            f"{what} has {entries} entries, at most {MOST_ENTRIES} are kept",
            hint="take fewer models: entries are models x biases x pairs (s, a) on "
            "which models differ",
        )
