"""Does any parameter explain the log? A test of what the best prediction leaves over.

If the simulator with its best parameters were right, its errors would be noise: nothing
that was known before a step would tell them. So the errors of each channel are
regressed on a constant, the observation one step before the window, the action that
acts and the one before it. (The observation at the start of a window would not do: its
measurement noise is part of the error.) F-tests of all channels and lengths of
windows share the chance of a false alarm. Errors of neighbouring windows share a
measurement and errors may be larger in places; both are allowed for where they would
make alarms more frequent. The chance is approximate: errors need not be normal.

The test says as well what it would have seen: the smallest drag, as a part of a channel
that is lost in a step, that would raise the alarm nine times out of ten, less what
other parameters could explain of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.identification.modes import Mode
from simgap.continuous.identification.predictions import FLOOR, Windows
from simgap.continuous.interfaces import Choices, Space

POWER = 0.9
MOST_KINDS = 16  # of actions that are told apart


@final
@dataclass(frozen=True, slots=True)
class Fit:
    """What a test of the errors found."""

    p_value: float  # of all channels and lengths together
    channel: int | None  # the one that is worst explained
    explained: float  # share of its squared errors that the test could explain
    drag: dict[int, float]  # by channel: the smallest drag of a step it would see


def tested_fit(
    found: list[tuple[Windows, Mode]], action: Space, *, false_alarm: float
) -> Fit:
    """Return the test of the errors of the best predictions of each length."""
    tests = [
        _ChannelTest.of(seen, mode, at, action)
        for seen, mode in found
        for at in range(seen.channels.size)
    ]
    whole = [(each, *each.tested()) for each in tests if each.can_tell]
    level = false_alarm / max(1, len(whole))
    drag = {
        each.channel: each.drag(level)
        for each, _, _ in whole
        if each.steps == min(seen.steps for seen, _ in found)
    }
    if not whole:
        return Fit(1.0, None, 0.0, drag)
    worst, p_value, explained = min(whole, key=lambda each: each[1])
    return Fit(min(1.0, p_value * len(whole)), worst.channel, explained, drag)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _ChannelTest:
    """The errors of one channel and what might explain them."""

    channel: int
    steps: int
    errors: FloatArray  # (W,)
    basis: FloatArray  # (W, p), orthonormal
    leverage: FloatArray  # (W,), how far each error has drawn the fit to itself
    own: FloatArray  # (W,), the channel, less what parameters could explain of it
    free: int  # degrees of freedom that are left
    can_tell: bool  # there are errors, and windows enough

    @staticmethod
    def of(seen: Windows, mode: Mode, at: int, action: Space) -> _ChannelTest:
        errors = mode.errors[:, at]
        slopes = _orthonormal(mode.slopes[:, at])
        before = seen.log.observation[seen.rows - 1][:, seen.channels] / seen.scale
        known = [before, *_actions(seen, mode.delay, action)]
        features = np.concatenate([np.ones((len(errors), 1)), *known], axis=1)
        features = features / np.maximum(np.abs(features).max(axis=0), 1e-300)
        basis = _orthonormal(features)
        own = seen.log.observation[seen.rows][:, seen.channels[at]] / seen.scale[at]
        free = len(errors) - basis.shape[1] - slopes.shape[1]
        leverage = (basis**2).sum(axis=1)
        return _ChannelTest(
            channel=int(seen.channels[at]),
            steps=seen.steps,
            errors=errors,
            basis=basis,
            leverage=np.minimum(leverage, 0.9),
            own=_without(slopes, own),
            free=free,
            can_tell=free >= basis.shape[1] > 0
            and float(np.sqrt((errors**2).mean())) > FLOOR,
        )

    def tested(self) -> tuple[float, float]:
        """Return the p-value and the share of the squared errors that is explained."""
        from scipy.stats import f

        scores = self.basis.T @ self.errors
        total = float(self.errors @ self.errors)
        left = self.errors - self.basis @ scores
        noise = float(left @ left) / self.free
        parts = self.basis * (left / (1.0 - self.leverage))[:, None]
        own = (parts**2).sum(axis=0)
        shared = 2.0 * (parts[1:] * parts[:-1]).sum(axis=0)
        spread = np.maximum(noise, own + np.maximum(0.0, shared))
        ratio = float((scores**2 / spread).mean())
        p_value = float(f.sf(ratio, scores.size, self.free))
        return p_value, float(scores @ scores) / total

    def drag(self, level: float) -> float:
        """Return the smallest part of the channel, lost in a step, that would show."""
        from scipy.optimize import brentq
        from scipy.stats import f, ncf

        size = self.basis.shape[1]
        edge = f.isf(level, size, self.free)
        wanted = brentq(
            lambda shift: ncf.sf(edge, size, self.free, shift) - POWER, 0.0, 1e4
        )
        scores = self.basis.T @ self.errors
        noise = (self.errors @ self.errors - scores @ scores) / self.free
        seen = float(np.linalg.norm(self.basis.T @ self.own))
        return float(np.sqrt(wanted * noise)) / max(seen, 1e-300)


def _actions(seen: Windows, delay: int, action: Space) -> list[FloatArray]:
    """Return the actions that act in each window, on average, and those before."""
    kinds = min(action.n, MOST_KINDS) if isinstance(action, Choices) else 0
    told = seen.log.action
    if kinds:
        told = (told == np.arange(1, kinds)).astype(np.float64)
    acts = [told[seen.rows + at - delay] for at in range(seen.steps)]
    return [np.mean(acts, axis=0), told[seen.rows - delay - 1]]


def _orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what columns span, (W, rank)."""
    from scipy.linalg import qr

    if columns.shape[1] == 0:
        return columns
    basis, upper, _ = qr(columns, mode="economic", pivoting=True)
    size = np.abs(np.diag(upper))
    rank = int((size > 1e-9 * max(size[0], 1e-9)).sum())
    return np.asarray(basis[:, :rank], np.float64)


def _without(basis: FloatArray, columns: FloatArray) -> FloatArray:
    """Return columns less their parts along a basis."""
    left: FloatArray = columns - basis @ (basis.T @ columns)
    return left
