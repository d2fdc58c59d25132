"""Policies at points of a simulator, opened: what is measured, here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.answers.transfer.setup import (
    Brought,
    Recipe,
    Where,
    digest,
    identity,
    opened_policies,
)
from simgap.continuous import BoundRandomization, Entry, Simulator, Work


@final
@dataclass(frozen=True, slots=True, eq=False)
class OpenedWork:
    """What is measured, in the order of the policies.

    The same in another process is made by `recipe`, and `identity` says what it is.
    """

    work: Work
    entries: tuple[Entry, ...]
    recipe: Recipe | None  # None: something is a Python object
    identity: dict[str, str]


def opened_work(
    given: Any,
    simulator: Simulator,
    randomization: BoundRandomization,
    policies: Sequence[Brought],
    where: Where,
    *,
    horizon: int,
    noise: str,
    seed: int,
    bounds: tuple[float, float] | None = None,
) -> OpenedWork:
    """Return policies that are fitted to a simulator, which was `given` and opened."""
    points = where.points
    opened, entries = opened_policies(policies, simulator)
    work = Work(simulator, randomization, opened, points, horizon, seed, bounds)
    texts = [each.given for each in policies]
    by_name = all(isinstance(each, str) for each in (given, *texts))
    return OpenedWork(
        work,
        entries,
        Recipe(
            given,
            tuple(texts),
            randomization.spec,
            noise,
            horizon,
            seed,
            points.theta,
            points.inside,
        )
        if by_name
        else None,
        identity(
            simulator.name,
            {
                f"{each.name} {each.training_seed}": str(one)
                for each, one in zip(entries, texts, strict=True)
            },
            {
                "randomization": randomization.to_string(),
                "points": digest(points.theta),
                "horizon": horizon,
                "noise": noise,
                "bounds": work.bounds,
                "seed": seed,
            },
        ),
    )
