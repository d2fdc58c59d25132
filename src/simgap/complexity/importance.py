"""The importance score of Algorithm 4: are there enough fresh data for a new fit?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import numpy.typing as npt

from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True)
class Importance:
    """The score and the pair of functions that attains it."""

    score: float
    first: int
    second: int


def importance(
    fresh: npt.ArrayLike, kept: npt.ArrayLike, *, alpha: float
) -> Importance:
    """Return max over f, f' of ||f - f'||^2_fresh / (||f - f'||^2_kept + alpha).

    Both are matrices (F, F) of squared differences summed over data (theory 2.13). A
    single function scores 0, so that it is never fitted again. Ties: first pair.
    """
    new, old = np.asarray(fresh, np.float64), np.asarray(kept, np.float64)
    if new.ndim != 2 or new.shape[0] != new.shape[1] or new.shape != old.shape:
        raise InvalidArgument(
            f"pair matrices of shapes {new.shape} and {old.shape}",
            hint="give two square matrices with a row and a column per function",
        )
    if not alpha > 0.0 or not np.isfinite(alpha):
        raise InvalidArgument(
            f"alpha is {alpha!r}", hint="it is positive, such as sp(l)^2 + 1"
        )
    if not (np.isfinite(new).all() and (new >= 0.0).all() and (old >= 0.0).all()):
        raise InvalidArgument(
            "a summed square is negative or not finite",
            hint="entries are sums of squared differences",
        )
    scores = new / (old + alpha)
    first, second = divmod(int(np.argmax(scores)), len(scores))
    return Importance(float(scores[first, second]), first, second)
