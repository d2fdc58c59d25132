"""A small training: a simulator, what is randomized, and the learner between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous import BoundRandomization, bind, parse_memory, preset
from simgap.continuous.training.draws import Drawn, drawn
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, finished, learner_of
from simgap.continuous.training.rows import Rows
from simgap.continuous.training.trainer import Training, trained
from simgap.continuous.training.update import Learnt
from simgap.continuous.training.waves import collected_in_waves

MEMORIES = ("gru", "lstm", "window:3", "none")
SMALL = {"rows": 8, "minibatches": 2, "units": 6}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A learner, and what its episodes are drawn from."""

    learner: Learner
    randomization: BoundRandomization

    def drawn(self, seed: int, number: int, **changes: Any) -> Drawn:
        """Return the draws of a round; `changes` are other settings."""
        return drawn(
            self.randomization,
            self.learner.features,
            replace(self.learner.settings, **changes),
            seed,
            number,
            self.learner.simulator.parameters,
        )

    def drawing(self, spec: str) -> Trial:
        """Return the same learner, compiled already, with other draws."""
        return Trial(self.learner, bind(spec, self.learner.simulator))

    def trained(self, seed: int, updates: int) -> Learnt:
        """Return what so many updates lead to."""
        steps = (updates + 1) * self.learner.settings.batch
        training = Training(self.learner, self.randomization, steps, seed)
        return trained([training])[0].learnt

    def in_waves(self, learnt: Learnt, drawn: Drawn, noise: AnyArray) -> Rows:
        """Return rows, collected step by step from outside."""
        learner, size = self.learner, len(drawn.seeds)

        def act(*given: Any) -> Any:
            return learner.programs.act(learnt.weights.actor, learnt.statistics, *given)

        def begin() -> Any:
            return learner.network.start(size)

        found = collected_in_waves(
            learner.simulator, learner.settings.horizon, act, begin, drawn, noise
        )
        assert not found.broken
        return found.rows

    def returns(
        self, learnt: Learnt, episodes: int, *, shuffled: bool = False
    ) -> FloatArray:
        """Return what a policy gets that draws no actions, in the same episodes always.

        `shuffled`: it is told the parameters of other episodes.
        """
        draws = self.drawn(2**32, 0, rows=episodes)
        if shuffled:
            order = np.random.default_rng(0).permutation(episodes)
            told = draws.draws._replace(shown=draws.draws.shown[order])
            draws = draws._replace(draws=told)
        shape = (self.learner.settings.horizon, episodes, self.learner.network.outputs)
        rows = self.in_waves(learnt, draws, np.zeros(shape, np.float32))
        return finished(rows.reward, rows.ended, draws).returned


def trial(simulator: Any, spec: str, memory: str, **changes: Any) -> Trial:
    """Return a small trial; `changes` are settings, `horizon` among them."""
    randomization = bind(spec, simulator)
    horizon = changes.pop("horizon", simulator.horizon)
    settings = preset(parse_memory(memory), horizon, **{**SMALL, **changes})
    learner = learner_of(simulator, settings, features_of(randomization))
    return Trial(learner, randomization)
