"""nu as a value: which parameters are drawn, how, and which of them together.

A `Randomization` knows no simulator. Its names may be patterns, its numbers may be
factors or offsets; `bind` gives both their meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.randomization.distributions import Distribution
from simgap.errors import InvalidArgument
from simgap.text import clean, listed, shown, suggestion

NAME = re.compile(r"[^\s=#{}(),;\"'\\]+")
RESERVED = ("together", "samples")  # words of the files
MOST_ITEMS = 1000
LONGEST_NAME = 200
BAD_NAME, TWICE, BAD_GROUP = "randomize-name", "set-twice", "randomize-group"  # codes


class Operation(Enum):
    """What a drawn number does to a parameter; each starts from the nominal value."""

    ABSOLUTE = "="
    SCALE = "*="
    OFFSET = "+="

    def absolute(self, drawn: FloatArray, nominal: float) -> FloatArray:
        """Return the value of a parameter from what was drawn for it."""
        if self is Operation.SCALE:
            return nominal * drawn
        return nominal + drawn if self is Operation.OFFSET else drawn

    def drawn(self, absolute: float, nominal: float) -> float:
        """Return what must be drawn for a parameter to have a value."""
        if self is Operation.SCALE:
            return absolute / nominal
        return absolute - nominal if self is Operation.OFFSET else absolute


@final
@dataclass(frozen=True, slots=True)
class Item:
    """One parameter, or a pattern of them, and how it is drawn."""

    name: str  # "*" in it: one draw for all that match; in brackets: one for each
    distribution: Distribution
    operation: Operation = Operation.ABSOLUTE

    def __post_init__(self) -> None:
        check_name(self.name)

    @property
    def text(self) -> str:
        return f"{self.name}{self.operation.value}{self.distribution.text}"


@final
@dataclass(frozen=True, slots=True)
class Group:
    """Parameters that are drawn together: a Gaussian copula over their own laws.

    `correlation` is that of the normal scores. Ranges and choices keep their own law.
    """

    name: str
    members: tuple[str, ...]  # names of items
    correlation: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        rows = tuple(tuple(map(float, row)) for row in self.correlation)
        object.__setattr__(self, "members", tuple(self.members))
        object.__setattr__(self, "correlation", rows)
        check_name(self.name)
        self._check_members()
        size = len(self.members)
        if len(rows) != size or any(len(row) != size for row in rows):
            shape = f"{len(rows)} rows of {sorted({len(row) for row in rows})}"
            raise self._wrong(
                f"{size} members and a correlation of {shape} numbers",
                "give one row and one column for each member",
            )
        self._check_numbers(np.array(rows))

    @property
    def factor(self) -> FloatArray:
        """Return L with L L' = correlation, also where that is singular."""
        left = np.array(self.correlation)
        factor = np.zeros_like(left)
        for j in range(len(left)):
            column = left[j:, j]
            if column[0] > 1e-12:
                factor[j:, j] = column / np.sqrt(column[0])
                left = left - np.outer(factor[:, j], factor[:, j])
        return factor

    def _check_members(self) -> None:
        if len(self.members) < 2:
            raise self._wrong("it has fewer than two members", "name at least two")
        for member in self.members:
            check_name(member)
            if self.members.count(member) > 1:
                raise self._wrong(f"{shown(member)} is a member twice", "name it once")
            if "[" in member and "*" in member:
                raise self._wrong(
                    f"{shown(member)} stands for one draw per match",
                    "write the parameters of the group one by one",
                )

    def _check_numbers(self, matrix: FloatArray) -> None:
        if not np.isfinite(matrix).all() or (np.abs(matrix) > 1.0).any():
            raise self._wrong(
                "a correlation is not between -1 and 1", "mend the matrix"
            )
        if (np.diag(matrix) != 1.0).any() or (matrix != matrix.T).any():
            raise self._wrong(
                "the correlation is not symmetric with ones on its diagonal",
                "write [[1.0, 0.7], [0.7, 1.0]]",
            )
        if (least := float(np.linalg.eigvalsh(matrix)[0])) < -1e-9:
            raise self._wrong(
                f"the correlation contradicts itself: its least eigenvalue is "
                f"{least:.3g}, below 0",
                "make the correlations smaller; no numbers can be related like this",
            )

    def _wrong(self, problem: str, hint: str) -> InvalidArgument:
        return InvalidArgument(
            f"group {shown(self.name)}: {problem}", hint=hint, code=BAD_GROUP
        )


@final
@dataclass(frozen=True, slots=True)
class Rows:
    """One row of a file is drawn: parameters that belong together, as a posterior."""

    file: str

    def __post_init__(self) -> None:
        if not self.file.strip() or clean(self.file) != self.file:
            raise InvalidArgument(
                f"the name {self.file[:80]!r} of a file is empty or has characters "
                "that cannot be seen",
                hint="write rows(posterior.csv)",
                code="randomize-rows",
            )


@final
@dataclass(frozen=True, slots=True)
class Randomization:
    """A law over parameters: items that are drawn alone, in groups, or as rows."""

    items: tuple[Item, ...] = ()
    groups: tuple[Group, ...] = ()
    rows: Rows | None = None
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was not read

    def __post_init__(self) -> None:
        object.__setattr__(self, "items", tuple(self.items))
        object.__setattr__(self, "groups", tuple(self.groups))
        names = [item.name for item in self.items]
        if len(names) > MOST_ITEMS:
            raise InvalidArgument(
                f"{len(names)} items, at most {MOST_ITEMS} are drawn",
                hint="a pattern such as body[*].mass stands for many",
                code="randomize-size",
            )
        for item in self.items:
            if names.count(item.name) > 1:
                both = [each.text for each in self.items if each.name == item.name]
                raise InvalidArgument(
                    f"{shown(item.name)} is set twice: {both[0]} and {both[1]}",
                    hint="leave one of them out",
                    code=TWICE,
                )
        self._check_groups(names)

    def to_string(self) -> str:
        """Return it in the grammar; with groups, which that has not, as TOML."""
        from simgap.continuous.randomization.grammar import line_of
        from simgap.continuous.randomization.toml_form import toml_of

        return toml_of(self) if self.groups else line_of(self)

    def _check_groups(self, names: list[str]) -> None:
        members = [member for group in self.groups for member in group.members]
        titles = [group.name for group in self.groups]
        for group in self.groups:
            for member in group.members:
                if member not in names:
                    hint = suggestion(member, names) or f"there are {listed(names)}"
                    raise InvalidArgument(
                        f"group {shown(group.name)}: nothing draws {shown(member)}",
                        hint=hint,
                        code=BAD_GROUP,
                    )
                if members.count(member) > 1 or titles.count(group.name) > 1:
                    raise InvalidArgument(
                        f"{shown(member)} is in two groups, or two groups are called "
                        f"{shown(group.name)}",
                        hint="write one group with all of them",
                        code=BAD_GROUP,
                    )


def check_name(name: str) -> None:
    """Raise unless a name can be written in the grammar and in a file."""
    if not NAME.fullmatch(name) or clean(name) != name or len(name) > LONGEST_NAME:
        raise InvalidArgument(
            f"'{shown(name)}' cannot be the name of a parameter",
            hint="a name is a word such as mass, body.torso.mass or geom.*.friction",
            code=BAD_NAME,
        )
    if name[-1] in "*+-/:.!<>" or name[0] in ".[":
        raise InvalidArgument(
            f"the name '{shown(name)}' is not whole",
            hint="a name ends with a word, as geom.*.friction or actuator[*].gear; "
            "after it comes =, *= or +=",
            code=BAD_NAME,
        )
    if name in RESERVED:
        raise InvalidArgument(
            f"{name!r} is a word of the files and cannot be a parameter",
            hint="call the parameter something else",
            code=BAD_NAME,
        )
