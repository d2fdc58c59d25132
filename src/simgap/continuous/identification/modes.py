"""Where the likelihood is greatest: least squares from a start, inside the cube.

Levenberg and Marquardt's method on the errors of all windows, in units in which they
are uncorrelated. One pass over the log tries the next point of every delay together
with its derivatives. Parameters that stand at an end of their range stay there while
the errors push them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.identification.predictions import (
    FLOOR,
    Predictor,
    Windows,
    log_likelihood,
)

PASSES = 10
STEP = 1e-3  # of the cube, for derivatives; simulators may have seven digits
LAST = 1.0 - 1e-9  # of a coordinate of the cube
PRIOR_VARIANCE = 1.0 / 12.0  # of a coordinate of the cube
ENOUGH = 1e-3  # a gain of the log-likelihood that is not worth another pass


@final
@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """The best point for one delay, with what changes the errors there."""

    point: FloatArray  # (P,)
    delay: int
    log_likelihood: float
    errors: FloatArray  # (W, C)
    slopes: FloatArray  # (W, C, P), of the errors; 0 for what stands at an end
    covariance: FloatArray  # (P, P), of the normal law about the mode

    @property
    def log_evidence(self) -> float:
        """Return the logarithm of what the likelihood sums to about the mode."""
        return self.log_likelihood + 0.5 * float(np.linalg.slogdet(self.covariance)[1])


def modes(
    predictor: Predictor, starts: FloatArray, delays: OffsetArray, seen: Windows
) -> list[Mode]:
    """Return the mode for each delay, from its start (D, P)."""
    tried = starts.copy()
    best: list[Mode | None] = [None] * len(delays)
    damping = np.full(len(delays), 1e-3)
    for _ in range(PASSES):
        gains = np.zeros(len(delays))
        for at, new in enumerate(_measured(predictor, tried, delays, seen)):
            kept = best[at]
            better = kept is None or new.log_likelihood > kept.log_likelihood
            kept = new if kept is None or better else kept
            best[at], damping[at] = kept, damping[at] * (0.1 if better else 10.0)
            tried[at], gains[at] = _next(kept, float(damping[at]))
        if gains.max() < ENOUGH:
            break
    return [each for each in best if each is not None]


def _measured(
    predictor: Predictor, points: FloatArray, delays: OffsetArray, seen: Windows
) -> list[Mode]:
    """Return the errors, their slopes and the normal law at each point."""
    count, size = points.shape
    sides = np.where(points > 0.5, -STEP, STEP)  # away from the nearer end
    beside = points[:, None, :] + sides[:, :, None] * np.eye(size)[None]
    batch = np.concatenate([points[:, None], beside], axis=1)
    off = predictor.all_errors(
        batch.reshape(-1, size), np.repeat(delays, size + 1), seen
    ).reshape(count, size + 1, seen.rows.size, -1)
    squares = np.einsum("nwc,nwd->ncd", off[:, 0], off[:, 0])
    likely = log_likelihood(squares, seen.rows.size)
    out = []
    for at in range(count):
        slopes = np.moveaxis(
            (off[at, 1:] - off[at, 0]) / sides[at, :, None, None], 0, 2
        )
        slopes = np.nan_to_num(slopes, nan=0.0, posinf=0.0, neginf=0.0)
        errors = np.nan_to_num(off[at, 0])
        pulls, curved = _normal_equations(errors, slopes)
        low, high = points[at] <= 0.0, points[at] >= LAST
        held = low & (pulls > 0.0) | high & (pulls < 0.0)
        slopes[:, :, held] = 0.0
        curved[held] = curved[:, held] = 0.0
        covariance = np.linalg.inv(curved + np.eye(size) / PRIOR_VARIANCE)
        out.append(
            Mode(
                points[at].copy(),
                int(delays[at]),
                float(likely[at]),
                errors,
                slopes,
                np.asarray(covariance, np.float64),
            )
        )
    return out


def _normal_equations(
    errors: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradient (P,) and curvature (P, P) of half the squared white errors."""
    count = len(errors)
    noise = errors.T @ errors / count + FLOOR**2 * np.eye(errors.shape[1])
    weighted = np.einsum("cd,wdp->wcp", np.linalg.inv(noise), slopes)
    pulls = np.einsum("wc,wcp->p", errors, weighted)
    return pulls, np.einsum("wcp,wcq->pq", slopes, weighted)


def _next(mode: Mode, damping: float) -> tuple[FloatArray, float]:
    """Return a damped step from a mode, kept in the cube, and what it should gain."""
    pulls, curved = _normal_equations(mode.errors, mode.slopes)
    heavy = np.diag(damping * np.diag(curved) + 1e-12 * (1.0 + np.trace(curved)))
    step = np.linalg.solve(curved + heavy, pulls)
    return np.clip(mode.point - step, 0.0, LAST), 0.5 * float(pulls @ step)
