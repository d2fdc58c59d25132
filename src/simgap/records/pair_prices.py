"""What it costs not to know one model from another: a part of several records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.text import means


@final
@dataclass(frozen=True, slots=True)
class PairPrices:
    """What it costs not to know one model from another, (K, K) each."""

    lower: tuple[tuple[float, ...], ...]
    upper: tuple[tuple[float, ...], ...]
    models: Annotated[tuple[int, ...], means("(K,), those of the tables")]
