"""A cart-pole held upright by hand: push to the side to which the pole is falling."""

from __future__ import annotations

from collections.abc import Sequence


def lean(observation: Sequence[float], memory: None) -> tuple[int, None]:
    """Return 1, to the right, or 0."""
    place, speed, angle, spin = observation
    return int(angle + 0.25 * spin + 0.02 * place + 0.05 * speed > 0.0), None
