"""The whole path on surfaces with known answers: simulator, policies, runs, record.

An episode is one step: action i gets the return of surface i at theta, and noise of
which half is a function of the episode's seed alone. A policy always takes its action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import pytest
from scipy.stats import qmc

from simgap.answers.transfer.transfer import transfer
from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import Box, Choices, Parameter, Stepped
from simgap.records.transfer import Transfer
from tests.continuous.measuring.coverage import Coverage, holds, sure
from tests.continuous.measuring.surfaces import Surface, noise, random_surface

BOUNDS = (-25.0, 25.0)
CLAIMS = ("mean", "gap", "return at a point", "gap at a point", "worst", "worst gap")


@final
@dataclass
class Worlds:
    surfaces: list[Surface]
    u: FloatArray
    kind: int
    seeds: OffsetArray | None = None

    def reset(self, seeds: OffsetArray) -> FloatArray:
        self.seeds = seeds
        return np.zeros((len(self.u), 1))

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        assert self.seeds is not None
        means = np.stack([each.at(self.u) for each in self.surfaces])
        chosen = np.asarray(actions).astype(int).ravel()
        reward = means[chosen, np.arange(len(self.u))]
        for row, seed in enumerate(self.seeds.tolist()):
            common = noise(np.random.default_rng(seed), (1,), self.kind)[0]
            own = np.random.default_rng([seed % 2**32, int(chosen[row])])
            reward[row] += common + 0.5 * noise(own, (1,), self.kind)[0]
        done = np.ones(len(self.u), dtype=bool)
        return Stepped(np.zeros((len(self.u), 1)), reward, done)

    def close(self) -> None: ...


@final
@dataclass(frozen=True)
class Simulated:
    """A simulator whose returns are surfaces."""

    surfaces: list[Surface]
    bounded: bool
    kind: int
    name: str = "surface"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        size = len(self.surfaces[0].shapes)
        return tuple(Parameter(f"p{j}", 0.5, 0.0, 1.0) for j in range(size))

    observation = Box(np.zeros(1), np.ones(1))

    @property
    def action(self) -> Choices:
        return Choices(len(self.surfaces))

    horizon = 1

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        return BOUNDS if self.bounded else None

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        batch = max((len(each) for each in values.values()), default=1)
        names = [each.name for each in self.parameters]
        columns = [values.get(name, np.full(batch, 0.5)) for name in names]
        return Worlds(self.surfaces, np.stack(columns, axis=1), self.kind)


def always(action: int) -> Callable[[Any, Any], tuple[int, None]]:
    return lambda observation, memory: (action, None)


def one_surface(seed: int, design: str, found: Coverage) -> Transfer:
    """Measure one policy against two references, and compare the record."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 4))
    first, *others = (random_surface(rng, size) for _ in range(3))
    surfaces = [Surface(first.shapes, s.alone, s.together) for s in (first, *others)]
    kind = int(rng.integers(3))
    simulator = Simulated(surfaces, kind > 0 or bool(rng.integers(2)), kind)
    answer = transfer(
        simulator,
        {"a": always(0)},
        references={"b": always(1), "c": always(2)},
        randomize=" ".join(f"p{j}=0..1" for j in range(size)),
        horizon=1,
        design=design,
        episodes=int(rng.choice([8, 30])),
        beyond=1.0,
        checked=False,  # a surface may be flat in a parameter
        seed=seed,
    )
    everywhere = qmc.Sobol(size, rng=np.random.default_rng(99)).random(2**13)
    gap = np.max([each.at(everywhere) for each in surfaces[1:]], axis=0)
    gap = gap - first.at(everywhere)
    mine = answer.policies[0]
    assert mine.gap is not None
    assert mine.worst_gap is not None
    found.add("mean", holds(mine.mean, 0.0))
    found.add("gap", holds(mine.gap, float(gap.mean())))
    for point in mine.points:
        u = np.array([[*point.theta.values()]])
        means = [float(each.at(u)[0]) for each in surfaces]
        assert point.gap is not None
        even, gap_here = kind == 0, max(means[1:]) - means[0]
        returned = sure(point.returned, even=even)
        found.add("return at a point", holds(returned, means[0]))
        found.add("gap at a point", holds(sure(point.gap, even=even), gap_here))
    worst = np.array([[*mine.worst.theta.values()]])
    truth = float(first.at(worst)[0])
    found.add("worst", holds(sure(mine.worst.number, even=kind == 0), truth))
    most = np.array([[*mine.worst_gap.theta.values()]])
    lost = [float((each.at(most) - first.at(most))[0]) for each in surfaces[1:]]
    ends = sure(mine.worst_gap.number, even=kind == 0)
    found.add("worst gap", any(holds(ends, each) for each in lost))
    return answer


def alone(seed: int, design: str, found: Coverage) -> None:
    """Measure one policy without a reference, and compare shares of the variance."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    surface = random_surface(rng, size)
    answer = transfer(
        Simulated([surface], True, int(rng.integers(3))),
        {"a": always(0)},
        randomize=" ".join(f"p{j}=0..1" for j in range(size)),
        horizon=1,
        design=design,
        episodes=int(rng.choice([8, 30])),
        beyond=1.0,
        checked=False,  # a surface may be flat in a parameter
        seed=seed,
    )
    for each in answer.parameters:
        j = int(each.name[1:])
        assert each.total is not None
        found.add("share", holds(each.share, surface.share(j)))
        found.add("total share", holds(each.total, surface.total(j)))
    for pair in answer.pairs:
        one, two = (int(name[1:]) for name in pair.name.split(" x "))
        found.add("share of a pair", holds(pair.share, surface.pair(one, two)))


SHARES = ("share", "total share", "share of a pair")


@pytest.mark.parametrize("design", ["sobol:64", "random:64"])
def test_records_hold_what_is_true(design: str) -> None:
    found = Coverage()
    for seed in range(3):
        one_surface(seed, design, found)
        alone(seed, design, found)
    found.check(*CLAIMS, *SHARES)


@pytest.mark.slow
def test_records_hold_on_three_hundred_surfaces() -> None:
    found = Coverage()
    for seed in range(300):
        design = ("sobol:64", "random:64")[seed % 2]
        one_surface(seed, design, found)
        alone(seed, design, found)
    found.check(*CLAIMS, *SHARES)
