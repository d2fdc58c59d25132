"""Which parameter matters, and a map of the loss over those that matter most.

The loss is the gap where there is a reference, else how far a return lies below the
best mean return of a point. The map is the fitted function's mean over all parameters
that have no axis of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.cube import Cube
from simgap.continuous.measuring.drawn import Drawn, DrawnPoints
from simgap.continuous.measuring.gaps import losses
from simgap.continuous.measuring.polynomials import LEVELS, features
from simgap.continuous.measuring.shares import variance_shares
from simgap.continuous.measuring.surrogate import Surrogate, fitted
from simgap.continuous.measuring.value import mean_of, measured_return
from simgap.records.note import Note
from simgap.records.transfer import LossMap, VarianceShare
from simgap.text import number

FEWEST_POINTS = 8
MOST_POINTS = 400  # more are not fitted: the time grows with the cube
STEPS = (21, 21, 5)  # values along the axes of a map
PRIOR_EPISODES = 4  # what the noise of all points counts for at one
SURE = 0.5  # of the variance is explained at points that were left out

LossIs = Literal["gap", "return below the best point"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A function through the losses of one policy, over the parameters that vary."""

    policy: str
    loss_is: LossIs
    names: tuple[str, ...]
    surrogate: Surrogate
    explained: float  # share of the variance, at points that were left out

    def shares(
        self, confidence: float
    ) -> tuple[tuple[VarianceShare, ...], tuple[VarianceShare, ...]]:
        """Return the shares of the variance of parameters and pairs."""
        return variance_shares(self.surrogate, self.names, confidence)

    def map(self) -> LossMap:
        """Return the loss over the parameters that matter most."""
        found = self.surrogate
        matter = (found.coefficients**2) @ (found.terms > 0)
        shown = np.argsort(-matter, kind="stable")[: len(STEPS)].tolist()
        axes = [
            _values(found.axes[j].theta, n) for j, n in zip(shown, STEPS, strict=False)
        ]
        grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        grid = grid.reshape(-1, len(shown))
        others = np.delete(found.terms, shown, axis=1)
        kept = ~others.any(axis=1)
        table = features(
            [found.axes[j] for j in shown], found.terms[kept][:, shown], grid
        )
        return LossMap(
            policy=self.policy,
            loss_is=self.loss_is,
            parameters=tuple(self.names[j] for j in shown),
            axes=tuple(tuple(axis.tolist()) for axis in axes),
            loss=tuple((table @ found.coefficients[kept]).tolist()),
            error=found.error,
            sure=self.explained >= SURE,
        )


def fit(cube: Cube, policy: str, points: DrawnPoints) -> Fit | Note:
    """Return a function through the losses inside the range, or why there is none."""
    loss, loss_is = _loss(cube, policy, points)
    there = cube.inside & np.isfinite(loss).any(axis=1)
    at = np.flatnonzero(there)
    if at.size > MOST_POINTS:
        first = points.drawn is Drawn.SCRAMBLED  # a sequence is even from its start
        order = (
            np.arange(at.size)
            if first
            else np.random.default_rng(0).permutation(at.size)
        )
        at = np.sort(at[order[:MOST_POINTS]])
    theta = cube.theta[at]
    vary = [j for j in range(theta.shape[1]) if np.unique(theta[:, j]).size > 1]
    means = mean_of(loss[at])
    if at.size < FEWEST_POINTS or not vary:
        return Note(
            "too-few-points",
            f"{at.size} points with {len(vary)} parameters that vary "
            f"do not say which parameter matters; it takes {FEWEST_POINTS} or more",
        )
    if np.ptp(means) <= 1e-12 * np.abs(means).max():
        return Note("loss-is-constant", "the loss is the same at all points")
    noise = _noise(loss[at])
    if _is_noise(means, noise, int(np.isfinite(loss[at]).sum()) - at.size):
        return Note(
            "loss-is-noise",
            "the loss differs between points by no more than the noise of episodes "
            f"does, {number(float(np.sqrt(noise.mean())), 2)}: no share is printed",
        )
    weights = np.ones(there.size) if points.weights is None else points.weights
    uniforms = points.uniforms
    found = fitted(
        theta[:, vary],
        means,
        noise,
        weights=weights[at] / weights[at].sum(),
        uniforms=None if uniforms is None else uniforms[at][:, vary],
        resampled=points.drawn is Drawn.INDEPENDENT
        or (points.sampled and uniforms is None),
    )
    explained = 1.0 - found.error**2 / float(np.var(means))
    names = tuple(cube.parameters[j] for j in vary)
    return Fit(policy, loss_is, names, found, explained)


def dependent(cube: Cube) -> tuple[str, str] | None:
    """Return the two parameters that go together most, if any do."""
    from scipy.stats import rankdata

    theta = cube.theta[cube.inside]
    vary = [j for j in range(theta.shape[1]) if np.unique(theta[:, j]).size > 1]
    if len(vary) < 2 or len(theta) < FEWEST_POINTS:
        return None
    related = np.abs(np.corrcoef(rankdata(theta[:, vary], axis=0), rowvar=False))
    np.fill_diagonal(related, 0.0)
    one, two = np.unravel_index(int(related.argmax()), related.shape)
    if related[one, two] < max(0.3, 4.0 / np.sqrt(len(theta))):
        return None
    return cube.parameters[vary[int(one)]], cube.parameters[vary[int(two)]]


def _loss(cube: Cube, policy: str, points: DrawnPoints) -> tuple[FloatArray, LossIs]:
    """Return the loss of each episode, (T, K), averaged over training seeds."""
    lost = losses(cube, policy, points)
    if lost is not None:
        return lost.chosen_on_others().values, "gap"
    returns = measured_return(cube, policy, points)
    best = float(np.nanmax(returns.means[cube.inside]))
    return best - returns.values, "return below the best point"


def _is_noise(means: FloatArray, noise: FloatArray, freedom: int) -> bool:
    """Return whether noise alone may make means so different: an F test at 1 %."""
    from scipy.special import fdtrc

    if freedom < 1 or not noise.mean() > 0.0:
        return False
    ratio = float(means.var(ddof=1) / noise.mean())
    return float(fdtrc(means.size - 1.0, float(freedom), ratio)) > 0.01


def _noise(values: FloatArray) -> FloatArray:
    """Return the variance of each mean; few episodes lean on those of other points."""
    counts = np.isfinite(values).sum(axis=1)
    apart = np.nan_to_num(values - mean_of(values)[:, None])
    squares = (apart**2).sum(axis=1)
    freedom = np.maximum(counts - 1, 0)
    usual = squares.sum() / max(1, freedom.sum())
    leaning = (squares + PRIOR_EPISODES * usual) / (freedom + PRIOR_EPISODES)
    found: FloatArray = leaning / counts
    return found


def _values(theta: FloatArray, steps: int) -> FloatArray:
    """Return values along an axis: those of a choice, or an even grid."""
    if theta.size <= LEVELS:
        return theta
    return np.linspace(theta[0], theta[-1], steps)
