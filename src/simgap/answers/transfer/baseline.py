"""The baseline of a transfer: random actions, measured beside the policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.answers.transfer.opened_run import opened_work
from simgap.answers.transfer.setup import Brought, Where, brought
from simgap.continuous import (
    Baseline,
    BoundRandomization,
    Choices,
    Measured,
    Points,
    Simulator,
    measured,
)
from simgap.errors import InvalidArgument

RANDOM = "random"
EPISODES = 8  # of the baseline at each point


@final
@dataclass(frozen=True, slots=True, eq=False)
class MeasuredBaseline:
    """A baseline, and what it took."""

    baseline: Baseline | None  # None: no action is as likely as any other
    steps: int


@final
@dataclass(frozen=True, slots=True, eq=False)
class BaselineRun:
    """A baseline that meets the same starts and noise as the policies."""

    simulator_argument: Any  # by name or as an object
    simulator: Simulator
    randomization: BoundRandomization
    where: Where
    horizon: int
    noise: str
    seed: int
    bounds: tuple[float, float] | None
    paired: bool
    folder: Path | None
    workers: int

    def measured(
        self,
        baseline: Brought,
        policies: Sequence[Brought],
        *,
        episodes: int,
        nominal: int,
    ) -> MeasuredBaseline:
        """Return a few episodes of the baseline at the points inside the range.

        With `nominal` episodes the policies and it are measured at the nominal
        parameters, too, where they are known. There are no random actions where actions
        have no ends.
        """
        space = self.simulator.action
        endless = not isinstance(space, Choices) and not (
            np.isfinite(space.low).all() and np.isfinite(space.high).all()
        )
        if baseline.given == RANDOM and endless:
            return MeasuredBaseline(None, 0)
        name, steps = str(baseline.name), 0
        at_points = at_nominal = None
        own = all(each.name != baseline.name for each in policies)
        if own:
            points = self.where.points
            inside = Points(points.theta[points.inside], points.inside[points.inside])
            few = min(EPISODES, episodes)
            found = self._measured([baseline], inside, few, "baseline")
            at_points, steps = found.cube, found.steps
        theta = self.randomization.nominal() if nominal else None
        if theta is not None:
            every = [*policies, baseline] if own else policies
            point = Points(theta, np.ones(1, np.bool_))
            found = self._measured(every, point, nominal, "nominal")
            at_nominal, steps = found.cube, steps + found.steps
        return MeasuredBaseline(Baseline(name, at_points, at_nominal), steps)

    def _measured(
        self, policies: Sequence[Brought], points: Points, episodes: int, part: str
    ) -> Measured:
        ready = opened_work(
            self.simulator_argument,
            self.simulator,
            self.randomization,
            policies,
            replace(self.where, points=points),
            horizon=self.horizon,
            noise=self.noise,
            seed=self.seed,
            bounds=self.bounds,
        )
        return measured(
            ready.work,
            ready.entries,
            episodes=episodes,
            paired=self.paired,
            folder=self.folder,
            identity=ready.identity,
            part=part,
            recipe=ready.recipe,
            workers=self.workers,
        )


def baseline_policy(
    argument: Any, policies: Sequence[Brought], names: Sequence[str]
) -> Brought:
    """Return the policy that stands for knowing nothing, under a name of its own.

    If it is one of the policies, it has the name of that one.
    """
    every = brought(RANDOM if argument is None else argument, "baseline")
    if len(every) > 1:
        raise InvalidArgument(
            f"{len(every)} baselines are given", hint="give one: --baseline random"
        )
    (least,) = every
    for each, name in zip(policies, names, strict=True):
        if each.given is least.given or (
            isinstance(each.given, str) and each.given == least.given
        ):
            return replace(least, name=name)
    name = least.name or (least.given if isinstance(least.given, str) else "baseline")
    return replace(least, name=f"{name} (baseline)" if name in names else name)
