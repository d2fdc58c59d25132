"""Return surfaces with known answers: sums of products of functions of mean 0.

f(u) = sum_j a_j g_j(u_j) + sum_jk b_jk g_j(u_j) g_k(u_k) with E g = 0 and E g^2 = 1, so
that the mean is 0, and the shares of the variance are squares of the coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from scipy.stats import qmc

from simgap.arrays import FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints

SHAPES: tuple[Callable[[FloatArray], FloatArray], ...] = (
    lambda u: np.sqrt(12.0) * (u - 0.5),
    lambda u: np.sqrt(5.0) * (6.0 * u**2 - 6.0 * u + 1.0),
    lambda u: np.sqrt(2.0) * np.sin(2.0 * np.pi * u),
    lambda u: (np.exp(2.0 * u) - 3.1945280494653248) / 1.7658139165281937,
    lambda u: np.where(u < 0.7, np.sqrt(3.0 / 7.0), -np.sqrt(7.0 / 3.0)),  # a cliff
    lambda u: np.where(u < 0.5, -1.0, 1.0),  # of a sign
)
SIGN = len(SHAPES) - 1


@final
@dataclass(frozen=True)
class Surface:
    """A mean return over [0, 1]^P."""

    shapes: tuple[int, ...]
    alone: FloatArray  # (P,)
    together: dict[tuple[int, int], float]

    def at(self, u: FloatArray) -> FloatArray:
        g = np.stack([SHAPES[s](u[:, j]) for j, s in enumerate(self.shapes)], axis=1)
        pairs = sum(b * g[:, j] * g[:, k] for (j, k), b in self.together.items())
        found: FloatArray = g @ self.alone + pairs
        return found

    @property
    def variance(self) -> float:
        return float((self.alone**2).sum() + sum(b**2 for b in self.together.values()))

    def share(self, j: int) -> float:
        return float(self.alone[j] ** 2) / self.variance

    def total(self, j: int) -> float:
        pairs = sum(b**2 for key, b in self.together.items() if j in key)
        return self.share(j) + pairs / self.variance

    def pair(self, j: int, k: int) -> float:
        return self.together.get((j, k), 0.0) ** 2 / self.variance


def random_surface(
    rng: np.random.Generator, parameters: int, shapes: tuple[int, ...] = ()
) -> Surface:
    """Return a surface whose parameters matter very differently."""
    kinds = shapes or tuple(rng.integers(len(SHAPES), size=parameters).tolist())
    alone = rng.exponential(size=parameters) * rng.choice([-1, 1], parameters)
    alone[rng.random(parameters) < 0.2] = 0.0
    alone[rng.integers(parameters)] += 1.0
    pairs = combinations(range(parameters), 2)
    together = {p: float(rng.normal(scale=0.5)) for p in pairs if rng.random() < 0.5}
    return Surface(kinds, alone, together)


def drawn_points(
    rng: np.random.Generator, drawn: Drawn, surface: Surface, points: int
) -> tuple[FloatArray, FloatArray, DrawnPoints]:
    """Return uniforms, theta and the design; theta of a sign is -1 or 1."""
    size = len(surface.shapes)
    if drawn is Drawn.SCRAMBLED:
        each = [qmc.Sobol(size, rng=rng).random(points // 8) for _ in range(8)]
        u = np.concatenate(each)
    elif drawn is Drawn.INDEPENDENT:
        u = rng.random((points, size))
    else:
        axis = (np.arange(points) + 0.5) / points
        u = np.stack(np.meshgrid(*[axis] * size), axis=-1).reshape(-1, size)
    theta = np.array(u)
    for j, shape in enumerate(surface.shapes):
        if shape == SIGN:
            theta[:, j] = np.where(u[:, j] < 0.5, -1.0, 1.0)
    uniforms = u if drawn in (Drawn.SCRAMBLED, Drawn.INDEPENDENT) else None
    replicates = np.repeat(np.arange(8), points // 8)
    several = replicates if drawn is Drawn.SCRAMBLED else None
    return u, theta, DrawnPoints(drawn, uniforms=uniforms, replicates=several)


def noise(rng: np.random.Generator, shape: tuple[int, ...], kind: int) -> FloatArray:
    """Return numbers in [-3, 3] of mean 0: even, skewed, or rare failures."""
    if kind == 0:
        return rng.uniform(-1.5, 1.5, shape)
    if kind == 1:
        return 4.0 * rng.beta(0.5, 2.0, shape) - 0.8
    return np.where(rng.random(shape) < 0.1, -2.7, 0.3)


def measured(
    rng: np.random.Generator,
    surfaces: list[Surface],
    theta: FloatArray,
    u: FloatArray,
    episodes: int,
    *,
    bounds: tuple[float, float] | None,
    references: int = 0,
    kind: int = 0,
    seeds: int = 1,
    spread: float = 0.0,
) -> Cube:
    """Return a cube of noisy returns; the last policies are references.

    Half of the noise of an episode is shared by all policies.
    """
    names = tuple("abcdefgh"[: len(surfaces)])
    shape = (len(surfaces), seeds, len(theta), episodes)
    common = noise(rng, (1, 1, *shape[2:]), kind)
    own = 0.5 * noise(rng, shape, kind)
    luck = spread * rng.normal(size=(len(surfaces), seeds, 1, 1))
    mean = np.stack([each.at(u) for each in surfaces])[:, None, :, None]
    return Cube(
        policies=names,
        parameters=tuple(f"p{j}" for j in range(theta.shape[1])),
        theta=theta,
        inside=np.ones(len(theta), dtype=bool),
        returns=mean + common + own + luck,
        references=names[len(names) - references :] if references else (),
        bounds=bounds,
    )
