"""Names of models, states and actions, and the parameters that made each model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import final

import numpy as np

from simgap.arrays import FloatArray, read_only
from simgap.errors import InvalidModel

LONGEST_NAME = 200


@final
@dataclass(frozen=True, slots=True)
class Labels:
    """Names; an empty tuple means that things are called by their index."""

    states: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()

    def state(self, index: int) -> str:
        return self.states[index] if self.states else str(index)

    def action(self, index: int) -> str:
        return self.actions[index] if self.actions else str(index)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """The parameter vector theta behind each model; P = 0 where models have none."""

    names: tuple[str, ...]  # (P,)
    values: FloatArray  # (M, P)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        object.__setattr__(self, "values", read_only(self.values))
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names):
            raise InvalidModel(
                f"parameters have shape {self.values.shape} for "
                f"{len(self.names)} names {self.names}",
                hint="give one row per model and one column per parameter name",
            )
        checked_names(self.names, len(self.names), "parameter")

    @staticmethod
    def none(members: int) -> Parameters:
        return Parameters((), np.zeros((members, 0)))

    def of(self, member: int) -> dict[str, float]:
        """Return the parameters of one model by name."""
        row = self.values[member]
        return {name: float(row[i]) for i, name in enumerate(self.names)}


@final
@dataclass(frozen=True, slots=True)
class RewardUnits:
    """How rewards are written where they are given: offset + factor * written.

    It is applied when a class is built; the class holds the converted rewards.
    """

    offset: float = 0.0
    factor: float = 1.0

    def __post_init__(self) -> None:
        if not (isfinite(self.offset) and isfinite(self.factor) and self.factor > 0.0):
            raise InvalidModel(
                f"reward units {self.offset} + {self.factor} * reward",
                hint="the offset is finite, the factor finite and positive",
            )

    def meant(self, written: FloatArray) -> FloatArray:
        """Return offset + factor times the rewards as they are written."""
        if (self.offset, self.factor) == (0.0, 1.0):
            return written
        rewards: FloatArray = self.offset + self.factor * written
        return rewards


def checked_names(
    names: Sequence[str] | None, count: int, what: str, *, default: str = ""
) -> tuple[str, ...]:
    """Return names as a tuple of `count` distinct strings, or the default ones."""
    if names is None or len(names) == 0:
        return tuple(f"{default}{i}" for i in range(count)) if default else ()
    given = tuple(str(name) for name in names)
    if len(given) != count:
        raise InvalidModel(
            f"{len(given)} {what} names for {count} {what}s",
            hint=f"give one name per {what}, or none at all",
        )
    seen: dict[str, int] = {}
    for at, name in enumerate(given):
        if not name or len(name) > LONGEST_NAME:
            raise InvalidModel(
                f"name of {what} {at} has {len(name)} characters",
                hint=f"names have 1 to {LONGEST_NAME} characters",
            )
        if name in seen:
            raise InvalidModel(
                f"{what}s {seen[name]} and {at} have the same name {name!r}",
                hint="names must differ, so that results can be told apart",
            )
        seen[name] = at
    return given
