"""What it costs not to know one model from another: a part of several records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class PairPrices:
    """What it costs not to know one model from another, (K, K) each."""

    lower: tuple[tuple[float, ...], ...]
    upper: tuple[tuple[float, ...], ...]
    models: tuple[int, ...]  # (K,), the models that the tables are about
