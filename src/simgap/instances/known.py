"""What is known about an instance without solving it: its closed forms.

Every builder of this room has a twin `..._known` that takes the same arguments and
returns a `Known`. Tests compare the solvers with these numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from simgap.arrays import FloatArray, read_only
from simgap.errors import InvalidModel

PER_MODEL = ("gain", "bias", "bias_span", "diameter")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Closed forms of a class; None or NaN where there is none.

    `value` maps a horizon H >= 0 to V*_1 at the start, one per model. `oracle_value`
    maps it to W*, the best average over the class under the uniform prior, or to None
    for horizons without a closed form.
    """

    gain: FloatArray | None = None  # (M,), rho*
    bias: FloatArray | None = None  # (M, S), minimum 0; NaN where not unique
    bias_span: FloatArray | None = None  # (M,)
    diameter: FloatArray | None = None  # (M,), may be inf
    separation: float | None = None  # theory 2.7; 2 for one model
    value: Callable[[int], FloatArray] | None = None  # H -> (M,)
    oracle_value: Callable[[int], float | None] | None = None

    def __post_init__(self) -> None:
        for name in PER_MODEL:
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, read_only(given))
        if self.bias is not None and self.bias_span is None:
            span = self.bias.max(axis=1) - self.bias.min(axis=1)
            object.__setattr__(self, "bias_span", read_only(span))
        self._check_lengths()

    def _check_lengths(self) -> None:
        lengths = {
            name: len(getattr(self, name))
            for name in PER_MODEL
            if getattr(self, name) is not None
        }
        if len(set(lengths.values())) > 1:
            raise InvalidModel(
                f"closed forms for different numbers of models: {lengths}",
                hint="give one entry per model, NaN where nothing is known",
            )


def separation_of_rows(rows: npt.ArrayLike) -> float:
    """Return min over pairs of max over rows of 2 |p - q| (theory 2.7).

    `rows` is (M, R): the probability of the first of two successors in R rows.
    """
    table = np.asarray(rows, np.float64)
    members = len(table)
    if members < 2:
        return 2.0  # no pair, no constraint
    closest = np.inf
    for i in range(members - 1):
        apart = np.abs(table[i + 1 :] - table[i]).max(axis=1)
        closest = min(closest, float(apart.min()))
    return 2.0 * closest
