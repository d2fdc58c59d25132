"""A randomization bound to a simulator: names found, domains checked, ready to draw.

Everything that is drawn is an array theta, (n, P): one row for each episode, one column
for each draw. A factor stays a factor in it; `values` says what the simulator gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Protocol, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray, read_only
from simgap.continuous.interfaces import Parameter, parameter_of
from simgap.continuous.randomization.distributions import (
    Choice,
    Distribution,
    is_discrete,
)
from simgap.continuous.randomization.domains import (
    check_item,
    domain_text,
    in_domain,
    trimmed,
)
from simgap.continuous.randomization.draws import uniforms
from simgap.continuous.randomization.patterns import matches, set_twice
from simgap.continuous.randomization.reading import Randomized, parse_randomization
from simgap.continuous.randomization.row_files import WEIGHT, RowTable, read_rows
from simgap.continuous.randomization.spec import Item, Operation, Randomization
from simgap.errors import InvalidArgument
from simgap.text import number, shown

LEAST_U = 2.0**-54  # normal scores of 0 and 1 are infinite


class Named(Protocol):
    """What is needed of a simulator: its name and its parameters."""

    @property
    def name(self) -> str: ...

    @property
    def parameters(self) -> tuple[Parameter, ...]: ...


@final
@dataclass(frozen=True, slots=True)
class Column:
    """One draw: how it is called, its law, and the parameters that it sets."""

    name: str
    operation: Operation
    distribution: Distribution  # of a column of rows: what its numbers are
    targets: tuple[Parameter, ...]
    item: str  # the text of the item that it comes from

    @property
    def header(self) -> str:
        """Return what a column of a file of rows is called: `name` or `name*=`."""
        sign = self.operation.value
        plain = self.operation is Operation.ABSOLUTE and self.name != WEIGHT
        return self.name if plain else f"{self.name}{sign}"

    @property
    def varies(self) -> bool:
        """Return whether there is more than one number to draw."""
        low, high = self.distribution.support
        return low < high


@final
@dataclass(frozen=True, slots=True, eq=False)
class BoundRandomization:
    """nu over the parameters of one simulator; P draws, the rows of a file last."""

    spec: Randomization
    simulator: str
    parameters: tuple[Parameter, ...]  # all those of the simulator
    columns: tuple[Column, ...]  # (P,)
    rows: RowTable | None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return what each draw is called, (P,)."""
        return tuple(column.name for column in self.columns)

    @property
    def support(self) -> FloatArray:
        """Return the least and the greatest number of each draw, (P, 2)."""
        ends = [column.distribution.support for column in self.columns]
        return np.array(ends).reshape(-1, 2)

    @property
    def varying(self) -> tuple[int, ...]:
        """Return which columns have more than one number to draw."""
        return tuple(i for i, column in enumerate(self.columns) if column.varies)

    @property
    def dependent(self) -> frozenset[int]:
        """Return the columns that are not drawn alone: those of groups and of rows."""
        grouped = {i for _, places in self.groups() for i in places}
        return frozenset(grouped | set(range(self.alone, len(self.columns))))

    def sample(
        self, seed: int, episodes: Sequence[int] | range | OffsetArray
    ) -> FloatArray:
        """Return what is drawn for episodes of these numbers, (n, P)."""
        return self.quantile(self.uniforms(seed, episodes))

    def uniforms(
        self, seed: int, episodes: Sequence[int] | range | OffsetArray
    ) -> FloatArray:
        """Return the points of the unit cube that `sample` makes theta from, (n, P)."""
        numbers = np.asarray(episodes)
        if not self.columns:
            return np.empty((numbers.size, 0))
        draws = [uniforms(seed, numbers, each.name) for each in self.columns]
        return np.column_stack(draws)

    def quantile(self, u: FloatArray) -> FloatArray:
        """Return theta for points u of the unit cube, (n, P) -> (n, P).

        If u is uniform, theta is drawn from nu. Of the columns of rows the first u
        chooses the row.
        """
        u = self._checked(u).copy()
        for factor, places in self.groups():
            u[:, places] = _related(u[:, places], factor)
        theta = np.empty_like(u)
        for i, column in enumerate(self.columns[: self.alone]):
            theta[:, i] = column.distribution.quantile(u[:, i])
        if self.rows is not None:
            up_to = self.rows.places[:-1]
            row = np.searchsorted(up_to, u[:, self.alone], side="left")
            theta[:, self.alone :] = self.rows.values[row]
        return theta

    def density(self, theta: FloatArray) -> FloatArray:
        """Return the density of nu, (n, P) -> (n,); of points with a chance, that."""
        theta = self._checked(theta)
        found = np.ones(len(theta))
        for i, column in enumerate(self.columns[: self.alone]):
            found = found * column.distribution.density(theta[:, i])
        for factor, places in self.groups():
            laws = [self.columns[i].distribution for i in places]
            if any(is_discrete(law) for law in laws):
                raise InvalidArgument(
                    f"the density of {shown(self.spec.to_string())} is not known: a "
                    "group has choices",
                    hint="leave the choice out of the group, or use draws of it",
                )
            u = [law.cdf(theta[:, i]) for law, i in zip(laws, places, strict=True)]
            found = found * _copula_density(np.column_stack(u), factor)
        if self.rows is not None:
            chances: dict[bytes, float] = {}
            for row, chance in zip(self.rows.values, self.rows.chances, strict=True):
                key = (row + 0.0).tobytes()  # -0.0 is 0.0
                chances[key] = chances.get(key, 0.0) + float(chance)
            block = np.ascontiguousarray(theta[:, self.alone :]) + 0.0
            found = found * [chances.get(row.tobytes(), 0.0) for row in block]
        return found

    def values(self, theta: FloatArray) -> dict[str, FloatArray]:
        """Return what the simulator gets: absolute values (n,) by parameter."""
        theta = self._checked(theta)
        return {
            parameter.name: read_only(
                column.operation.absolute(theta[:, i], parameter.nominal)
            )
            for i, column in enumerate(self.columns)
            for parameter in column.targets
        }

    def nominal(self) -> FloatArray | None:
        """Return the draws that change nothing, (1, P); None: they are not known."""
        drawn = []
        for column in self.columns:
            found = {
                {Operation.SCALE: 1.0, Operation.OFFSET: 0.0}.get(
                    column.operation, target.nominal
                )
                for target in column.targets
            }
            drawn.append(found.pop() if len(found) == 1 else nan)
        return None if any(map(isnan, drawn)) else np.array(drawn).reshape(1, -1)

    def inside(self, theta: FloatArray) -> BoolArray:
        """Return which points lie in the support of each draw, (n, P) -> (n,).

        Of rows it is the box that holds them all.
        """
        theta = self._checked(theta)
        low, high = self.support.T
        found = ((theta >= low) & (theta <= high)).all(axis=1)
        for i, column in enumerate(self.columns[: self.alone]):
            if isinstance(column.distribution, Choice):
                found &= np.isin(theta[:, i], column.distribution.values)
        return np.asarray(found)

    def widened(self, factor: float) -> BoundRandomization:
        """Return nu with ranges so many times as wide, about their middles.

        Ranges of log-uniform draws widen in the logarithm; choices, fixed numbers and
        rows stay. A range that would leave its parameter's domain ends there, and a
        note says so.
        """
        if not factor >= 1.0 or not np.isfinite(factor):
            raise InvalidArgument(
                f"a range cannot be {factor} times as wide", hint="give 1.5"
            )
        items, notes = [], list(self.notes)
        for item in self.spec.items:
            targets = tuple(
                target
                for column in self.columns
                if column.item == item.text
                for target in column.targets
            )
            targets = tuple(_above_zero(target, item) for target in targets)
            law = item.distribution.stretched(factor)
            if not in_domain(law, item, targets):
                wanted, law = law, trimmed(law, item, targets)
                notes.append(
                    f"{item.name} is widened to {law.text}, not to {wanted.text}: it "
                    f"must be {domain_text(targets[0])}"
                )
            items.append(replace(item, distribution=law))
        spec = replace(self.spec, items=tuple(items), notes=tuple(notes))
        return bind(spec, self)

    def to_string(self) -> str:
        """Return the randomization as a text."""
        return self.spec.to_string()

    @property
    def name(self) -> str:
        """Return the name of the simulator."""
        return self.simulator

    @property
    def alone(self) -> int:
        """Return how many columns are no rows."""
        return len(self.columns) - (len(self.rows.columns) if self.rows else 0)

    def groups(self) -> list[tuple[FloatArray, list[int]]]:
        """Return the factor of each group and where its members are."""
        names = self.names
        return [
            (group.factor, [names.index(member) for member in group.members])
            for group in self.spec.groups
        ]

    def _checked(self, given: FloatArray) -> FloatArray:
        array = np.asarray(given, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != len(self.columns):
            raise InvalidArgument(
                f"an array of shape {array.shape} for {len(self.columns)} parameters",
                hint=f"give (n, {len(self.columns)}): {', '.join(self.names[:8])}",
            )
        return array


def bind(spec: Randomized, simulator: Named) -> BoundRandomization:
    """Return a randomization bound to a simulator, or raise with the item at fault."""
    spec = parse_randomization(spec)
    parameters = simulator.parameters
    columns: list[Column] = []
    for item in spec.items:
        getattr(simulator, "check_name", _any_name)(item.name)
        found = _meant(item.name, item.operation, simulator)
        check_item(item, tuple(p for targets in found.values() for p in targets))
        columns += [
            Column(name, item.operation, item.distribution, targets, item.text)
            for name, targets in found.items()
        ]
    rows = None if spec.rows is None else read_rows(spec.rows.file)
    if spec.rows is not None and rows is not None:
        columns += _columns_of_rows(rows, spec.rows.file, simulator)
    setters: dict[str, str] = {}
    for column in columns:
        for target in column.targets:
            if target.name in setters:
                raise set_twice(target.name, setters[target.name], column.item)
            setters[target.name] = column.item
    every = dict.fromkeys((*parameters, *(p for c in columns for p in c.targets)))
    return BoundRandomization(
        spec, simulator.name, tuple(every), tuple(columns), rows, spec.notes
    )


def _meant(
    name: str, operation: Operation, simulator: Named
) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of each draw that a name stands for, by the draw's name."""
    one = parameter_of(simulator, name)
    found: dict[str, tuple[Parameter, ...]] = {name: (one,)} if one else {}
    found = found or matches(name, simulator.parameters, simulator.name)
    unknown = [p.name for those in found.values() for p in those if isnan(p.nominal)]
    if unknown and operation is not Operation.ABSOLUTE:
        raise InvalidArgument(
            f"{shown(unknown[0])} has no nominal value that is known, to start from",
            hint=f"write {shown(unknown[0])}=low..high, or give the argument a default",
            code="nominal-unknown",
        )
    return found


def _above_zero(target: Parameter, item: Item) -> Parameter:
    """Return a parameter that stays above 0, if its range does and no domain is known.

    Nobody says that a mass is positive; a wider range had better not find out.
    """
    least = float(
        item.operation.absolute(np.array(item.distribution.support[0]), target.nominal)
    )
    if target.low > -inf or not least >= 0.0 or target.nominal < 0.0:
        return target
    return replace(target, low=0.0, low_open=least > 0.0)


def _any_name(name: str) -> None:
    """Accept a name: most simulators know no reason to refuse one of theirs."""


def _columns_of_rows(rows: RowTable, file: str, simulator: Named) -> list[Column]:
    columns = []
    for j, (name, operation) in enumerate(rows.columns):
        found = _meant(name, operation, simulator)
        if len(found) > 1 or name not in found:
            raise InvalidArgument(
                f"column {shown(name)} of {file} stands for {len(found)} draws",
                hint=f"give each its column: {', '.join(list(found)[:6])}",
                code="randomize-rows",
            )
        values, at = np.unique(rows.values[:, j], return_inverse=True)
        weights = np.bincount(at, rows.chances)
        law = Choice(tuple(values.tolist()), tuple(weights.tolist()))
        source = f"rows({file})"
        for target in found[name]:
            allowed = [
                target.allows(float(value))
                for value in operation.absolute(values, target.nominal)
            ]
            if not all(allowed):
                bad = float(values[allowed.index(False)])
                whole = " a whole number" if target.whole else ""
                raise InvalidArgument(
                    f"{source}: {shown(target.name)} must be{whole} "
                    f"{domain_text(target)}, and a row has {number(bad)}",
                    hint="leave such rows out of the file",
                    code="outside-domain",
                )
        columns.append(Column(name, operation, law, found[name], source))
    return columns


def _related(u: FloatArray, factor: FloatArray) -> FloatArray:
    """Return uniform numbers whose normal scores are correlated, (n, k) -> (n, k)."""
    from scipy.special import ndtr, ndtri

    scores = ndtri(np.clip(u, LEAST_U, 1.0 - LEAST_U * 2.0))
    return np.asarray(ndtr(scores @ factor.T))


def _copula_density(u: FloatArray, factor: FloatArray) -> FloatArray:
    from scipy.special import ndtri

    scores = ndtri(np.clip(u, LEAST_U, 1.0 - LEAST_U * 2.0))
    alone = np.linalg.solve(factor, scores.T).T
    spread = np.prod(np.diag(factor))
    exponent = 0.5 * (scores**2).sum(axis=1) - 0.5 * (alone**2).sum(axis=1)
    return np.asarray(np.exp(exponent) / spread)
