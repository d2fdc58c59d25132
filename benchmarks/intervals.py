"""Intervals of measured numbers: how often they hold, and how much too wide they are.

    python -m benchmarks.intervals [--quick]

A world is a mean return over [0, 1]^d for each policy, and a law of the noise of
episodes; its numbers are known by integration. A cell is repeated: coverage is that of
intervals of 95 %, and the width is the median half-width divided by the true error, the
95 % quantile of the distance between estimate and truth. Worlds that are not closed
forms are banks: returns of a simulator that were run once at points of a fine grid,
from which episodes are drawn, so that their truth is known as well.

Goals: coverage from 93.5 to 98.5 %, up to its own error (three deviations), width at
most 1.3 for means and gaps and 1.6 for worst points and shares; no `guaranteed`
interval misses more often than it says. Cells `apart` are those where a failing region
is smaller than five points of the design, which no interval can know, and trainings:
of three or five Student's t has two or four degrees of freedom.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, final

import numpy as np
from scipy.stats import binom, qmc

from benchmarks.results import Row, Table, run
from simgap.answers.transfer.transfer import transfer
from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous import (
    ENOUGH_SEEDS,
    Cube,
    Fit,
    Level,
    Parameter,
    bind,
    fit,
    mean_at,
    mean_over,
    measured_return,
    parse_design,
    parse_randomization,
    worst_point,
)
from simgap.intervals import Estimate, Interval
from simgap.statistics import RARE

REPEATS, QUICK = 400, 40
LEVEL = Level(0.95)
Mean = Callable[[FloatArray], FloatArray]  # of (T, d), to (N, T): policies
Noise = Callable[[np.random.Generator, FloatArray, tuple[int, ...]], FloatArray]


@final
@dataclass(frozen=True, slots=True)
class World:
    """Mean returns of some policies, the last one a reference, and their noise."""

    name: str
    size: int  # parameters
    mean: Mean
    noise: Noise  # for (N, S, T, K), of u (T, d)
    bounds: tuple[float, float] | None = None
    trainings: float = 0.0  # deviation between trainings, everywhere the same
    own: float = 0.0  # deviation between trainings, another one at each point
    sign: bool = False  # the first parameter has two values


def normal(deviation: float, shared: float = 0.7) -> Noise:
    """Return noise of which a part is shared by all policies and trainings."""

    def draw(
        rng: np.random.Generator, u: FloatArray, shape: tuple[int, ...]
    ) -> FloatArray:
        common = rng.standard_normal((1, 1, *shape[2:]))
        own = rng.standard_normal(shape)
        found: FloatArray = deviation * (
            np.sqrt(shared) * common + np.sqrt(1.0 - shared) * own
        )
        return found

    return draw


def skewed(scale: float) -> Noise:
    """Return exponential noise of mean 0, with a tail below."""

    def draw(
        rng: np.random.Generator, u: FloatArray, shape: tuple[int, ...]
    ) -> FloatArray:
        return scale * (1.0 - rng.exponential(size=shape))

    return draw


def bounded(width: float) -> Noise:
    """Return even noise between two ends."""

    def draw(
        rng: np.random.Generator, u: FloatArray, shape: tuple[int, ...]
    ) -> FloatArray:
        common = rng.uniform(-width, width, (1, 1, *shape[2:]))
        return 0.8 * common + 0.2 * rng.uniform(-width, width, shape)

    return draw


def two(mean: Callable[[FloatArray], FloatArray], loss: float = 1.0) -> Mean:
    """Return a policy and a reference that gets more where the first gets little."""

    def of_both(u: FloatArray) -> FloatArray:
        mine = mean(u)
        return np.stack([mine, mine + loss * (0.5 + u[:, 0])])

    return of_both


def _smooth(u: FloatArray) -> FloatArray:
    found: FloatArray = 10.0 * np.exp(-((u - 0.4) ** 2).sum(axis=1)) + 3.0 * u[:, 0]
    return found


def _kink(u: FloatArray) -> FloatArray:
    return -8.0 * np.abs(u[:, 0] - 0.3) + np.where(u[:, 1] > 0.5, 2.0, 0.0)


def _signed(u: FloatArray) -> FloatArray:
    """Return a policy that is right for one sign of the first parameter."""
    return 5.0 * np.sign(u[:, 0] - 0.5) + u[:, 1] * u[:, -1]


def _drone(u: FloatArray) -> FloatArray:
    """Return what a drone pays for mass, thrust and wind, with a fall in 8 % of nu."""
    weight = 0.5 + u[:, 0] - 0.8 * u[:, 1]
    return -4.0 * weight**2 - 3.0 * u[:, 2] ** 2 - 6.0 * (weight > 1.1)


def _line(u: FloatArray) -> FloatArray:
    return -np.abs(u[:, 0] * 2.0 - 0.7)


def _regulator(u: FloatArray) -> FloatArray:
    """Return -(cost of x' = a x + b v, v = -0.6 x, from 1, over 20 steps)."""
    closed = 0.5 + 0.6 * u[:, 0] - (0.5 + u[:, 1]) * 0.6
    return -(1.0 + 0.36) * (1.0 - closed**40) / (1.0 - closed**2)


def _corner(u: FloatArray) -> FloatArray:
    return np.where((u[:, 0] > 0.9) & (u[:, 1] < 0.5), 150.0, 500.0)


def _tiny(u: FloatArray) -> FloatArray:
    return np.where(u[:, 0] > 0.98, 0.0, 1.0)


class Bank(NamedTuple):
    """A simulator whose episodes are run once, on a grid of its parameters."""

    simulator: str
    randomize: str
    policies: tuple[str, str]  # the second one is the reference
    horizon: int
    size: int  # parameters
    side: int = 16  # cells along each


BANKS = {
    "cart-pole": Bank(
        "cartpole", "length=0.3..1.5 masspole=0.05..0.8",
        ("zero", "examples/cartpole_mlp.onnx"), 100, 2,
    ),
    "arm (MuJoCo)": Bank(
        "mujoco:examples/arm.xml",
        "body.load.mass=0.1..1.5 actuator.motor.gear=log(5..12)",
        ("examples/arm_policies.py:hold", "examples/arm_policies.py:told"), 40, 2,
    ),
    "river (table)": Bank(
        "model:riverswim?states=4&success=0.1:0.6:16&left_reward=0.2",
        f"success={{{','.join(map(str, np.linspace(0.1, 0.6, 16).tolist()))}}}",
        ("random", "zero"), 20, 1,
    ),
}  # fmt: skip
EPISODES = 48  # of a bank, at each cell


@cache
def _bank(name: str) -> FloatArray:
    """Return the returns of both policies, (2, cells, EPISODES)."""
    bank = BANKS[name]
    mine, reference = bank.policies
    with TemporaryDirectory() as folder:
        transfer(
            bank.simulator,
            {"mine": mine},
            references={"reference": reference},
            randomize=bank.randomize,
            horizon=bank.horizon,
            design=f"grid:{bank.side}",
            episodes=EPISODES,
            beyond=1.0,
            checked=False,
            out=folder,
        )
        with np.load(Path(folder) / "returns.npz") as found:
            returns: FloatArray = found["returns"][:, 0]
    return returns


def _cells_of(name: str, u: FloatArray) -> OffsetArray:
    bank = BANKS[name]
    at = np.minimum((u * bank.side).astype(np.int64), bank.side - 1)
    found: OffsetArray = at @ bank.side ** np.arange(bank.size)[::-1]
    return found


def from_bank(name: str, bounds: tuple[float, float] | None = None) -> World:
    """Return the world of a bank: its truth is the mean of what was run."""

    def mean(u: FloatArray) -> FloatArray:
        found: FloatArray = _bank(name).mean(axis=2)[:, _cells_of(name, u)]
        return found

    def noise(
        rng: np.random.Generator, u: FloatArray, shape: tuple[int, ...]
    ) -> FloatArray:
        cells = _cells_of(name, u)[:, None]
        drawn = _bank(name)[:, cells, rng.integers(EPISODES, size=shape[2:])]
        return (drawn - mean(u)[:, :, None])[:, None]

    return World(name, BANKS[name].size, mean, noise, bounds)


WORLDS = (
    World("smooth", 3, two(_smooth), normal(1.0)),
    World("kink", 2, two(_kink), bounded(1.0), (-12.0, 12.0)),
    World("sign", 3, two(_signed, 6.0), normal(0.5), sign=True),
    World("drone", 3, two(_drone), skewed(0.7)),
    World("line", 1, two(_line), bounded(0.5), (-3.0, 4.0)),
    World("regulator", 2, two(_regulator), normal(0.6)),
    World("noisy", 3, two(lambda u: 0.1 * u.sum(axis=1)), normal(3.0)),
    World("trained, noise", 2, two(_kink), normal(3.0, 0.3), trainings=0.02),
    World("trained, seeds", 2, two(_kink), normal(0.5), trainings=0.5),
    World("trained, points", 3, two(_drone), normal(0.5), trainings=0.1, own=0.5),
    from_bank("cart-pole", (0.0, 100.0)),
    from_bank("arm (MuJoCo)"),
    from_bank("river (table)", (0.0, 20.0)),
    World("corner", 4, two(_corner, 30.0), bounded(8.0), (0.0, 600.0)),
    World("tiny", 2, two(_tiny, 0.1), bounded(0.08), (-1.0, 2.0)),
)
BY_NAME = {each.name: each for each in WORLDS}


@final
@dataclass(frozen=True, slots=True)
class Box01:
    """What a randomization needs to know of a world."""

    size: int
    name: str = "world"

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return tuple(Parameter(f"p{j}", 0.5, 0.0, 1.0) for j in range(self.size))


class Cell(NamedTuple):
    """What is repeated."""

    world: str
    number: str  # mean, gap, point, worst, share
    design: str = "sobol:64"
    episodes: int = 16
    seeds: int = 1
    apart: str = ""  # why no goal holds


class Said(NamedTuple):
    """One repetition: an estimate, and what is true."""

    estimate: Estimate
    truth: float


def said(cell: Cell, repeat: int) -> Said:
    """Return a number of one repetition."""
    world = BY_NAME[cell.world]
    rng = np.random.default_rng([repeat, *map(ord, "".join(map(str, cell[:5])))])
    spec = " ".join(f"p{j}=0..1" for j in range(world.size))
    spec = spec.replace("p0=0..1", "p0={0.25,0.75}") if world.sign else spec
    bound = bind(parse_randomization(spec), Box01(world.size))
    where = parse_design(cell.design).points(bound, int(rng.integers(2**31)))
    points, theta = where.drawn, where.theta
    means = world.mean(theta)
    cube, trained = returns_of(world, theta, means, rng, cell)
    mine, best = (measured_return(cube, each, points) for each in cube.policies)
    truth = _truth(world.name) if points.sampled else means @ points.shares(cube.inside)
    if cell.seeds < ENOUGH_SEEDS:
        truth = truth + trained
    if cell.number == "mean":
        return Said(mean_over(mine, cube.inside, LEVEL), float(truth[0]))
    if cell.number == "gap":
        found = mean_over(best - mine, cube.inside, LEVEL)
        return Said(found, float(truth[1] - truth[0]))
    if cell.number == "point":
        at = int(rng.integers(len(theta)))
        return Said(mean_at(mine, at, LEVEL), float(means[0, at]))
    if cell.number == "worst":
        worst = worst_point(mine, cube, LEVEL)
        place = np.array([*worst.theta.values()])
        at = int(np.abs(theta - place).sum(axis=1).argmin())
        return Said(worst.number, float(means[0, at]))
    fitted = fit(replace(cube, references=()), "mine", points)
    assert isinstance(fitted, Fit)
    (first, *_), _ = fitted.shares(0.95)
    return Said(first.share, _share(world.name, int(first.name[1:])))


def returns_of(
    world: World,
    theta: FloatArray,
    means: FloatArray,
    rng: np.random.Generator,
    cell: Cell,
) -> tuple[Cube, FloatArray]:
    """Return episodes of the policies, and what their trainings change on average."""
    shape = (len(means), cell.seeds, len(theta), cell.episodes)
    luck = world.trainings * rng.standard_normal(shape[:2])
    phase = rng.uniform(0.0, 2.0 * np.pi, (*shape[:2], 1))
    waves = world.own * np.sin(2.0 * np.pi * theta[:, 0] + phase)  # of mean 0 over nu
    returns = means[:, None, :] + luck[..., None] + waves
    cube = Cube(
        policies=("mine", "reference"),
        parameters=tuple(f"p{j}" for j in range(world.size)),
        theta=theta,
        inside=np.ones(len(theta), np.bool_),
        returns=returns[..., None] + world.noise(rng, theta, shape),
        references=("reference",),
        bounds=world.bounds,
    )
    return cube, luck.mean(axis=1)


@cache
def _everywhere(name: str) -> FloatArray:
    u = qmc.Sobol(BY_NAME[name].size, rng=np.random.default_rng(1)).random(2**18)
    if BY_NAME[name].sign:
        u[:, 0] = np.where(u[:, 0] < 0.5, 0.25, 0.75)
    return u


@cache
def _truth(name: str) -> FloatArray:
    """Return the mean return of each policy over nu."""
    found: FloatArray = BY_NAME[name].mean(_everywhere(name)).mean(axis=1)
    return found


@cache
def _share(name: str, parameter: int) -> float:
    """Return the share of the variance over nu that a parameter explains alone."""
    world, u = BY_NAME[name], _everywhere(name)
    other = np.random.default_rng(2).permutation(u)
    other[:, parameter] = u[:, parameter]
    one, two = world.mean(u)[0], world.mean(other)[0]
    return float(np.cov(one, two)[0, 1] / one.var())


def _cells() -> Iterator[Cell]:
    for world in ("smooth", "kink", "sign", "drone", "line", "regulator", "noisy"):
        yield Cell(world, "mean")
        yield Cell(world, "gap")
    for world in BANKS:
        yield Cell(world, "mean")
        yield Cell(world, "gap", "sobol:128", 8)
        yield Cell(world, "worst", "sobol:16", 128)
    for design, episodes in (("sobol:16", 64), ("sobol:256", 16), ("sobol:100", 16)):
        yield Cell("smooth", "mean", design, episodes)
        yield Cell("drone", "gap", design, episodes)
    for world, design in (
        ("smooth", "random:64"),
        ("kink", "grid:5x5"),
        ("line", "grid:9"),
    ):
        yield Cell(world, "mean", design)
        yield Cell(world, "gap", design, 64)
    for world, episodes in (
        ("kink", 16),
        ("noisy", 64),
        ("drone", 256),
        ("line", 1024),
    ):
        yield Cell(world, "point", "sobol:16", episodes)
        yield Cell(world, "worst", "sobol:16", episodes)
    for seeds in (1, 3, 5):
        for world in ("trained, noise", "trained, seeds", "trained, points"):
            apart = "" if seeds == 1 else f"{seeds} trainings"
            yield Cell(world, "mean", seeds=seeds, apart=apart)
            yield Cell(world, "gap", seeds=seeds, apart=apart)
    for world in ("smooth", "drone", "sign", "regulator"):
        yield Cell(world, "share")
    for world, design in (("corner", "sobol:16"), ("tiny", "sobol:64")):
        yield Cell(world, "mean", design, apart="a small region fails")


def intervals(options: Namespace) -> Iterator[Row]:
    """Repeat each cell and compare."""
    many = QUICK if options.quick else REPEATS
    for cell in _cells():
        repeats = many // 4 if cell.number == "share" else many
        every = [said(cell, each) for each in range(repeats)]
        held = np.mean([_holds(each.estimate, each.truth) for each in every])
        halves = [0.5 * (e.estimate.upper - e.estimate.lower) for e in every]
        errors = [abs(each.estimate.estimate - each.truth) for each in every]
        width = float(np.median(halves) / np.quantile(errors, 0.95))
        sure = [
            _holds(e.estimate.guaranteed, e.truth)
            for e in every
            if e.estimate.guaranteed is not None
        ]
        room = 3.0 * np.sqrt(0.05 * 0.95 / repeats)
        met: bool | None = 0.935 - room <= held <= 0.985 + room and width <= (
            1.6 if cell.number in ("worst", "share") else 1.3
        )
        if sure and binom.cdf(sum(sure), len(sure), 0.95) < 1e-3:
            met = False
        elif cell.apart:
            met = None
        warned = 100.0 * float(np.mean([e.estimate.warning == RARE for e in every]))
        share = None if not sure else 100.0 * float(np.mean(sure))
        holds, apart = 100.0 * float(held), cell.apart or "-"
        yield (*cell[:5], holds, width, share, warned, met, apart)


def _holds(interval: Interval, truth: float) -> bool:
    room = 1e-9 * (1.0 + abs(truth))
    return interval.lower - room <= truth <= interval.upper + room


TABLES = (
    Table(
        "intervals",
        "world | number | design | episodes | trainings | holds, % | width / error | "
        "guaranteed holds, % | warned, % | met | apart",
        intervals,
    ),
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.intervals", str(__doc__), TABLES))
