"""Instance strings with intervals: `riverswim?success=0.1..0.6` has every value.

A parameter that varies between models may be written `a..b`: all numbers from a to b,
infinitely many models. `simgap run general` takes such a class; all other commands need
finitely many models and say so. A continuum is a box of parameters, a function that
builds the model of a point, and a function that builds the class of some points; all
three are made from the string.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from simgap.errors import InvalidInstance
from simgap.instances.catalogue import build_instance
from simgap.instances.spelling import interval_ends, split_query
from simgap.mdp import SimulatorClass, TabularMDP

MOST_INTERVALS = 6  # their corners are 2^6 models


@final
@dataclass(frozen=True, slots=True)
class Continuum:
    """A class of infinitely many models; `continuum_of` reads it from a string."""

    name: str  # what stands before the question mark
    query: Mapping[str, str]  # as written
    box: Mapping[str, tuple[float, float]]  # the parameters that are intervals

    def at(self, theta: Mapping[str, float]) -> TabularMDP:
        """Return the model of one point of the box."""
        found = self._class({name: repr(float(theta[name])) for name in self.box})
        if len(found) != 1:
            names = ", ".join(self.box)
            raise InvalidInstance(
                f"one value of {names} makes {len(found)} models of {self.name}",
                hint="only a parameter that belongs to one model can be an interval",
            )
        return found[0]

    def corners(self) -> SimulatorClass:
        """Return the models of all corners of the box."""
        return self._class(
            {name: f"{low!r},{high!r}" for name, (low, high) in self.box.items()}
        )

    def points(self) -> SimulatorClass:
        """Return the models at the ends and in the middle of every interval."""
        return self._class(
            {name: f"{low!r}:{high!r}:3" for name, (low, high) in self.box.items()}
        )

    def _class(self, texts: Mapping[str, str]) -> SimulatorClass:
        query = {**self.query, **texts}
        return build_instance(
            f"{self.name}?" + "&".join(f"{k}={v}" for k, v in query.items())
        )


def continuum_of(spec: str) -> Continuum | None:
    """Return the continuum that an instance string names, None if it names points."""
    name, _, query = spec.strip().partition("?")
    if ".." not in query or not re.match(r"[A-Za-z]", name):
        return None
    texts = split_query(query)
    box = {
        key: ends
        for key, text in texts.items()
        if (ends := interval_ends(key, text)) is not None
    }
    if not box:
        return None
    if len(box) > MOST_INTERVALS:
        raise InvalidInstance(
            f"{len(box)} parameters are intervals",
            hint=f"at most {MOST_INTERVALS} may be; give the others one value",
        )
    found = Continuum(name, texts, box)
    try:
        found.at({key: low for key, (low, _) in box.items()})
    except InvalidInstance as error:
        raise InvalidInstance(
            f"{' and '.join(box)} cannot be an interval here: {error.problem}",
            hint=error.hint,
        ) from error
    return found
