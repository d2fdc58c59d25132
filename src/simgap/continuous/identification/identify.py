"""What a real log says about the parameters of a simulator, and about its delay.

The posterior is the average of two: from predictions of one step and of five. One step
is careful, since neighbouring errors share a measurement; five see slow effects, but
the error of the start grows with them. Longer ones are overconfident and not used.
Where the two disagree the model is wrong in a way that grows, and `disagree` names it.
A delay of actions that is not modelled ruins everything else, so delays of 0 to 3 steps
are always looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous.identification.fit_test import Fit, tested_fit
from simgap.continuous.identification.modes import LAST, Mode, modes
from simgap.continuous.identification.predictions import (
    LENGTHS,
    Predictor,
    Windows,
    usable_windows,
)
from simgap.continuous.identification.real_log import RealLog
from simgap.continuous.identification.sampling import Sampler, Samples
from simgap.continuous.interfaces import Choices, Simulator
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.simulators.delay import DELAY
from simgap.errors import InvalidArgument
from simgap.text import counted

NEGLIGIBLE = 20.0  # log-evidence below the best: no sample is drawn there
AT_EDGE = 0.02  # outermost part of a range
EDGE_MASS = 0.2  # posterior there that is worth a warning: ten times that of nu
DISAGREE = 3.0  # standard deviations
MOST_ROWS = 512  # of the posterior as a file
DELAYS = 3  # the longest that is always looked at


@final
@dataclass(frozen=True, slots=True, eq=False)
class Identified:
    """A posterior over draws of nu and delays, as weighted samples."""

    nu: BoundRandomization
    free: tuple[int, ...]  # the draws of nu that were looked for, (F,)
    seen: tuple[Windows, ...]  # one for each length
    delays: OffsetArray  # (D,)
    samples: Samples
    theta: FloatArray  # (n, P)
    modes: tuple[Mode, ...]  # the best point of each length, at the likeliest delay
    fit: Fit

    @property
    def weights(self) -> FloatArray:
        """The weight of each sample, (n,)."""
        found: FloatArray = self.samples.pooled.sum(axis=1)
        return found

    @property
    def delay_chances(self) -> FloatArray:
        """The probability of each delay, (D,)."""
        found: FloatArray = self.samples.pooled.sum(axis=0)
        return found

    @property
    def delay(self) -> int:
        """The likeliest delay."""
        return int(self.delays[self.delay_chances.argmax()])

    def interval(self, draw: int, level: float = 0.95) -> tuple[float, float]:
        """Return the credible interval of a draw with equal chances outside."""
        order = np.argsort(self.theta[:, draw], kind="stable")
        sums = np.cumsum(self.weights[order])
        tails = np.array([0.5 - 0.5 * level, 0.5 + 0.5 * level]) * sums[-1]
        low, high = self.theta[order, draw][np.searchsorted(sums[:-1], tails)]
        return float(low), float(high)

    def remaining(self, at: int) -> float:
        """Return the deviation that is left of a draw, over that of nu (in quantiles).

        `at` is a place in `free`.
        """
        points = self.samples.points[:, at]
        mean = self.weights @ points
        return float(np.sqrt(12.0 * (self.weights @ (points - mean) ** 2)))

    def at_edge(self, at: int) -> bool:
        """Return whether the posterior of a draw leans on an end of its range."""
        points = self.samples.points[:, at]
        sides = (points < AT_EDGE, points > 1.0 - AT_EDGE)
        return max(float(self.weights @ side) for side in sides) > EDGE_MASS

    def disagree(self, at: int) -> bool:
        """Return whether one step and five say different things about a draw."""
        points = self.samples.points[:, at]
        weights = self.samples.weights.sum(axis=1)  # (n, K)
        means = points @ weights
        spread = ((points[:, None] - means) ** 2 * weights).sum(axis=0)
        apart = float(np.ptp(means))
        return apart > DISAGREE * float(np.sqrt(spread.sum())) + 1e-3

    @property
    def delays_disagree(self) -> bool:
        """Whether one step and five find different delays."""
        found = self.samples.weights.sum(axis=0).argmax(axis=0)
        return bool(np.ptp(found))

    def rows(self, seed: int) -> tuple[list[str], FloatArray]:
        """Return header and rows, all equally likely, of the posterior with delay."""
        pooled = self.samples.pooled
        start = np.random.default_rng(seed).random()
        places = (start + np.arange(MOST_ROWS)) / MOST_ROWS
        sums = np.cumsum(pooled.ravel())
        chosen = np.searchsorted(sums[:-1], places * sums[-1])
        sample, delay = np.divmod(chosen, len(self.delays))
        kept = [at for at, each in enumerate(self.nu.names) if each != DELAY.name]
        header = [*(self.nu.columns[at].header for at in kept), DELAY.name]
        return header, np.column_stack(
            [self.theta[sample][:, kept], self.delays[delay]]
        )


def identified(
    simulator: Simulator,
    nu: BoundRandomization,
    log: RealLog,
    *,
    longest_delay: int = 0,
    lengths: tuple[int, ...] = LENGTHS,
    false_alarm: float = 0.01,
    sampler: Sampler | None = None,
) -> Identified:
    """Return what a log says about the parameters that nu draws, and the delay."""
    predictor = Predictor(simulator, nu)
    if not predictor.free:
        raise InvalidArgument(
            f"{nu.to_string() or 'the randomization'} leaves nothing to find out",
            hint="give at least one parameter a range: --randomize 'mass=0.5..2'",
            code="nothing-randomized",
        )
    _check_fits(simulator, log)
    delays = _delays(nu, longest_delay)
    seen = usable_windows(log, lengths, before=int(delays.max()) + 1)
    kept: dict[tuple[int, int], Mode] = {}

    def likely(points: FloatArray, asked: BoolArray) -> FloatArray:
        return _likely(predictor, seen, delays, points, asked)

    def guess(points: FloatArray, found: FloatArray) -> tuple[FloatArray, FloatArray]:
        for at, each in enumerate(seen):
            best = points[found[:, :, at].argmax(axis=0)]
            for mode in modes(predictor, best, delays, each):
                kept[at, mode.delay] = mode
        chosen = [
            mode
            for at in range(len(seen))
            for mode in _near_best([m for (k, _), m in kept.items() if k == at])
        ]
        return (
            np.array([mode.point for mode in chosen]),
            np.array([mode.covariance for mode in chosen]),
        )

    samples = (sampler or Sampler()).samples(
        likely, guess, len(predictor.free), len(delays)
    )
    delay = int(delays[samples.pooled.sum(axis=0).argmax()])
    best = [
        kept.get((at, delay)) or _mode(predictor, samples, delays, delay, at, each)
        for at, each in enumerate(seen)
    ]
    fit = tested_fit(
        list(zip(seen, best, strict=True)), simulator.action, false_alarm=false_alarm
    )
    theta = predictor.theta(np.clip(samples.points, 0.0, 1.0))
    return Identified(
        nu, predictor.free, seen, delays, samples, theta, tuple(best), fit
    )


def _likely(
    predictor: Predictor,
    seen: tuple[Windows, ...],
    delays: OffsetArray,
    points: FloatArray,
    asked: BoolArray,
) -> FloatArray:
    """Return log-likelihoods (n, D, K); -inf for delays that are not asked about."""
    count, chosen = len(points), delays[asked]
    out: FloatArray = np.full((count, delays.size, len(seen)), -np.inf)
    every = np.repeat(points, chosen.size, axis=0)
    for at, each in enumerate(seen):
        found = predictor.log_likelihood(every, np.tile(chosen, count), each)
        out[:, asked, at] = found.reshape(count, chosen.size)
    if not np.isfinite(out).any(axis=(0, 1)).all():
        raise InvalidArgument(
            f"{predictor.simulator.name} shows no finite numbers at any parameters "
            "when it starts where the log was",
            hint="are the observations of the log in the order and the units of the "
            "simulator's?",
            code="no-predictions",
        )
    return out


def _near_best(found: list[Mode]) -> list[Mode]:
    most = max(mode.log_evidence for mode in found)
    return [mode for mode in found if mode.log_evidence > most - NEGLIGIBLE]


def _mode(
    predictor: Predictor,
    samples: Samples,
    delays: OffsetArray,
    delay: int,
    length: int,
    seen: Windows,
) -> Mode:
    """Return the mode of one length at one delay, from the best sample there."""
    likely = samples.log_likelihood[:, delays == delay, length]
    start = np.clip(samples.points[[likely.argmax()]], 0.0, LAST)
    return modes(predictor, start, np.array([delay]), seen)[0]


def _delays(nu: BoundRandomization, longest: int) -> OffsetArray:
    """Return the delays that are looked at: 0 to 3 and what nu or the user names."""
    if DELAY.name in nu.names:
        longest = max(longest, int(nu.support[nu.names.index(DELAY.name), 1]))
    if not DELAY.low <= longest <= DELAY.high:
        raise InvalidArgument(
            f"a delay of {longest} steps", hint=f"it is {DELAY.low:g} to {DELAY.high:g}"
        )
    return np.arange(max(DELAYS, longest) + 1)


def _check_fits(simulator: Simulator, log: RealLog) -> None:
    for what, space, given in (
        ("observation", simulator.observation, log.observation),
        ("action", simulator.action, log.action),
    ):
        if given.shape[1] != space.size:
            column = f"{what[:3]}_0 to {what[:3]}_{space.size - 1}"
            raise InvalidArgument(
                f"the log has {counted(given.shape[1], what)} in a row, "
                f"{simulator.name} {space.size}",
                hint=f"its columns are {column}, in the simulator's order",
                code="log-width",
            )
    if isinstance(simulator.action, Choices):
        told, last = log.action[:, 0], simulator.action.n - 1
        wrong = np.flatnonzero((told != np.rint(told)) | (told < 0) | (told > last))
        if wrong.size:
            raise InvalidArgument(
                f"action {told[wrong[0]]:g} in step {wrong[0]} of the log",
                hint=f"actions of {simulator.name} are 0 to {last}",
                code="log-action",
            )
