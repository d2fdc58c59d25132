"""How often intervals hold: 95 % is refused if what was met has a chance below 1e-6."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.stats import binom

from simgap.intervals import Estimate, Interval


@dataclass
class Coverage:
    """How often something held, by name."""

    held: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, name: str, held: object) -> None:
        self.held.setdefault(name, []).append(bool(held))

    def check(self, *names: str) -> None:
        """Print how often each held: pytest shows it with -s."""
        for name in names:
            held = self.held[name]
            print(self.text(name))
            assert binom.cdf(sum(held), len(held), 0.95) > 1e-6, self.text(name)

    def fails(self, *names: str) -> None:
        for name in names:
            held = self.held[name]
            assert binom.cdf(sum(held), len(held), 0.95) < 1e-6, self.text(name)

    def text(self, name: str) -> str:
        held = self.held[name]
        return f"{name}: {sum(held)} of {len(held)} = {np.mean(held):.3f}"


def sure(found: Estimate, *, even: bool) -> Interval:
    """Return the interval that has to hold: of uneven noise the theorem's, if any."""
    if even or found.guaranteed is None:
        return found
    return found.guaranteed


def holds(found: Interval, truth: float) -> bool:
    return found.lower <= truth <= found.upper
