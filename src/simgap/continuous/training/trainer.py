"""The loop of a training: draw, collect, learn, keep, tell.

Several seeds may be trained side by side in one program (`vmap`), which pays on an
accelerator; on a CPU each has a process of its own. The numbers of a seed do not depend
on when it was stopped and resumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf, sqrt
from time import monotonic, process_time
from typing import NamedTuple, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.training.checkpoint import Checkpoints, Kept
from simgap.continuous.training.draws import OwnDraws, Returns, drawn
from simgap.continuous.training.learner import Learner
from simgap.continuous.training.settings import Settings
from simgap.continuous.training.update import Learnt
from simgap.text import number

EVERY = 10.0  # seconds between two checkpoints
RECENT = 1024  # episodes that the worst parameters are looked for in
NEAREST = 16  # of them are averaged
SLACK = 0.02  # of all that was gained: what may still be gained at the end


class Outcome(Enum):
    """How a training ended."""

    CONVERGED = "converged"
    RISING = "not converged: returns were still rising"
    FELL = "not converged: returns fell at the end"
    SHORT = "not converged: too few rounds to tell"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What is trained: one seed."""

    learner: Learner
    randomization: BoundRandomization
    steps: int  # of the simulator, at most
    seed: int
    checkpoints: Checkpoints | None = None
    warm: Learnt | None = None  # weights and statistics to begin with
    draws: OwnDraws | None = None  # instead of those of the randomization

    @property
    def rounds(self) -> int:
        """Return how often is collected: the first round only measures."""
        return self.learner.settings.updates(self.steps) + 1

    def begin(self) -> Kept:
        """Return where the training is: at its beginning, or at a checkpoint."""
        fresh = self.learner.start(self.seed)
        kept = None if self.checkpoints is None else self.checkpoints.latest(fresh)
        if kept is not None:
            return kept
        if self.warm is not None:
            weights, _, statistics = self.warm
            fresh = Learnt(weights, fresh.moments, statistics)
        width = len(self.randomization.names)
        return Kept(0, fresh, Returns(np.empty((0, width)), np.empty(0)), np.empty(0))


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trained:
    """What a training led to."""

    seed: int
    learnt: Learnt
    returns: FloatArray  # (rounds,), mean return of the episodes of each round
    steps: int
    seconds: float  # of the processor, from the first round on, which compiles
    fresh_steps: int  # that they paid for

    @property
    def outcome(self) -> Outcome:
        """Return how it ended."""
        return outcome_of(self.returns)

    @property
    def final_return(self) -> float:
        """Return the mean return of the last tenth of the rounds, noise included."""
        return float(np.nanmean(self.returns[-_tenth(self.returns) :]))


class News(NamedTuple):
    """How far a training has come."""

    seed: int
    rounds: int
    of: int
    steps: int
    returned: float
    worst: tuple[float, dict[str, float]] | None
    speed: float  # steps a second, by the clock
    seconds_left: float

    @property
    def text(self) -> str:
        """Return the news in a line."""
        said = (
            f"seed {self.seed}: {self.steps} steps, {self.rounds} of {self.of} rounds, "
            f"return {number(self.returned, 4)}"
        )
        if self.worst is not None:
            where = " ".join(f"{k}={number(v, 3)}" for k, v in self.worst[1].items())
            said += f", worst about {number(self.worst[0], 4)} at {where}"
        if self.speed == 0.0:
            return f"{said}, compiled"
        return f"{said}, {self.speed:.3g} steps/s, {self.seconds_left:.0f} s left"


Tell = Callable[[News], None]


def trained(
    trainings: Sequence[Training], tell: Tell = lambda _: None
) -> list[Trained]:
    """Return what trainings of the same learner lead to, trained side by side."""
    learner, rounds = trainings[0].learner, trainings[0].rounds
    settings = learner.settings
    kept = [each.begin() for each in trainings]
    at = kept[0].rounds
    if any(each.rounds != at for each in kept):  # stopped between two checkpoints
        return [one for each in trainings for one in trained([each], tell)]
    learnt = [each.learnt for each in kept]
    past = [each.past for each in kept]
    returns = [list(each.returns) for each in kept]
    watches = [_Watch(each, settings, rounds, at) for each in trainings]
    saved = begin = 0.0
    for now in range(at, rounds):
        if now == at + 1:  # programs are compiled by now
            saved, begin = monotonic(), process_time()
        draws = [
            drawn(
                each.randomization,
                learner.features,
                settings,
                each.seed,
                now,
                learner.simulator.parameters,
                each.draws,
                before,
            )
            for each, before in zip(trainings, past, strict=True)
        ]
        rate = rate_of(settings, now, rounds)
        seeds = [each.seed for each in trainings]
        done = learner.rounds(learnt, draws, seeds, now, rate)
        learnt = [each.learnt for each in done]
        past = [
            before if one.draws is None else before.then(each.met)
            for one, before, each in zip(trainings, past, done, strict=True)
        ]
        for row, watch, each in zip(returns, watches, done, strict=True):
            got = each.met.returned
            row.append(float(got.mean()) if got.size else float("nan"))
            tell(watch.news(now + 1, row[-1], each.met))
        if now + 1 == rounds or monotonic() - saved > EVERY:
            saved = monotonic()
            for one, new, before, row in zip(
                trainings, learnt, past, returns, strict=True
            ):
                if one.checkpoints is not None:
                    one.checkpoints.save(Kept(now + 1, new, before, np.array(row)))
    fresh = max(0, rounds - at - 1)
    spent = (process_time() - begin) / len(trainings) if fresh else 0.0
    return [
        Trained(
            one.seed,
            new,
            np.array(row),
            rounds * settings.batch,
            spent,
            fresh * settings.batch,
        )
        for one, new, row in zip(trainings, learnt, returns, strict=True)
    ]


def rate_of(settings: Settings, now: int, rounds: int) -> float:
    """Return the learning rate of a round: it falls to its last share in a line."""
    if now == 0:
        return 0.0
    over = (now - 1) / max(1, rounds - 2)
    return settings.rate * (1.0 - (1.0 - settings.last_rate) * over)


def outcome_of(returns: FloatArray) -> Outcome:
    """Return whether returns had settled at the end.

    The last tenth of the rounds is compared with the tenth before it. They may differ
    by twice the standard error of that difference, or by SLACK of all that was gained.
    """
    found = returns[np.isfinite(returns)]
    many = _tenth(found)
    if many < 3:
        return Outcome.SHORT
    last, before, first = found[-many:], found[-2 * many : -many], found[:many]
    rise = float(last.mean() - before.mean())
    error = sqrt(float(last.var(ddof=1) + before.var(ddof=1)) / many)
    gained = abs(float(last.mean() - first.mean()))
    if abs(rise) <= max(2.0 * error, SLACK * gained):
        return Outcome.CONVERGED
    return Outcome.RISING if rise > 0.0 else Outcome.FELL


class _Watch:
    """What is told of a training while it runs."""

    def __init__(
        self, training: Training, settings: Settings, rounds: int, at: int
    ) -> None:
        self._training, self._batch = training, settings.batch
        self._rounds, self._at, self._begin = rounds, at + 1, 0.0
        width = len(training.randomization.names)
        self._theta, self._returned = np.empty((0, width)), np.empty(0)

    def news(self, rounds: int, returned: float, met: Returns) -> News:
        self._theta = np.concatenate([self._theta, met.theta])[-RECENT:]
        self._returned = np.concatenate([self._returned, met.returned])[-RECENT:]
        if rounds == self._at:  # the first round compiles: it says nothing of speed
            self._begin = monotonic()
        spent, done = monotonic() - self._begin, rounds - self._at
        return News(
            self._training.seed,
            rounds,
            self._rounds,
            rounds * self._batch,
            returned,
            self._worst() if rounds % 10 == 0 or rounds == self._rounds else None,
            done * self._batch / spent if done else 0.0,
            spent * (self._rounds - rounds) / done if done else inf,
        )

    def _worst(self) -> tuple[float, dict[str, float]] | None:
        """Return the least mean return of neighbouring episodes, and where."""
        varying = list(self._training.randomization.varying)
        if not varying or self._returned.size < 2 * NEAREST:
            return None
        low, high = self._training.randomization.support[varying].T
        places = (self._theta[:, varying] - low) / (high - low)
        some = places[:: max(1, len(places) // 64)]
        apart = np.abs(some[:, None] - places[None]).max(axis=-1)
        near = np.argpartition(apart, NEAREST - 1, axis=1)[:, :NEAREST]
        means = self._returned[near].mean(axis=1)
        at = int(means.argmin())
        theta = self._theta[near[at]].mean(axis=0)
        names = self._training.randomization.names
        return float(means[at]), {names[i]: float(theta[i]) for i in varying}


def _tenth(returns: FloatArray) -> int:
    return max(1, len(returns) // 10)
