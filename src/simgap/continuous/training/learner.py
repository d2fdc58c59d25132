"""A learner: rounds of collecting and updating, compiled once for a simulator.

For a simulator of equations a round is one program: episodes, advantages and all
minibatches. Any other simulator is stepped from outside, with the same networks and the
same update.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import AnyArray, BoolArray, FloatArray
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Parameter, Simulator
from simgap.continuous.simulators.jax_door import KEYS, JaxSimulator
from simgap.continuous.simulators.wrapped import WrappedSimulator
from simgap.continuous.training.draws import Drawn, Returns
from simgap.continuous.training.features import Features
from simgap.continuous.training.network import Network, network_of
from simgap.continuous.training.rows import Actions, Rows, no_statistics
from simgap.continuous.training.scanned import collected
from simgap.continuous.training.settings import Settings
from simgap.continuous.training.update import Learnt, optimiser, updated
from simgap.continuous.training.waves import BrokenTraining, collected_in_waves

MOST_BROKEN = 0.1  # of the episodes of a round


class Round(NamedTuple):
    """What a round leads to."""

    learnt: Learnt
    met: Returns  # of the first episode of every row
    told: dict[str, float]  # parts of the loss


@final
@dataclass(frozen=True, slots=True, eq=False)
class Learner:
    """Networks for a simulator, and the compiled programs that train them."""

    simulator: Simulator
    settings: Settings
    features: Features
    network: Network
    actions: Actions
    programs: _Programs
    around: tuple[Parameter, ...] = ()  # the equations: delays

    def start(self, seed: int) -> Learnt:
        """Return new weights, as the seed draws them."""
        random = np.random.default_rng(seed)
        weights = self.network.new(random, self.settings.spread)
        return Learnt(
            weights,
            optimiser(self.settings).init(weights),
            no_statistics(self.network.seen),
        )

    def rounds(
        self,
        learnt: Sequence[Learnt],
        drawn: Sequence[Drawn],
        seeds: Sequence[int],
        number: int,
        rate: float,
    ) -> list[Round]:
        """Return what round `number` leads to for several seeds.

        Of equations all seeds are one program; one seed alone has its own, and its
        numbers may differ in the last digits.
        """
        if len(learnt) == 1 or not all(map(self._is_one_program, drawn)):
            return [
                self.round(*each, number, rate)
                for each in zip(learnt, drawn, seeds, strict=True)
            ]
        import jax

        given = [(a, b.draws) for a, b in zip(learnt, drawn, strict=True)]
        every = jax.tree.map(lambda *each: np.stack(each), *given)
        words = np.array([seed & 0xFFFFFFFF for seed in seeds], np.uint32)
        found = self.programs.together(
            *every, words, np.uint32(number), np.float32(rate)
        )
        found = jax.tree.map(np.asarray, found)
        return [
            self._told(
                jax.tree.map(lambda each, at=at: each[at], found), one, draws, number
            )
            for at, (one, draws) in enumerate(zip(learnt, drawn, strict=True))
        ]

    def round(
        self, learnt: Learnt, drawn: Drawn, seed: int, number: int, rate: float
    ) -> Round:
        """Return what round `number` leads to; round 0 only measures numbers."""
        keys = np.uint32(seed & 0xFFFFFFFF), np.uint32(number)
        if self._is_one_program(drawn):
            found = self.programs.whole(learnt, drawn.draws, *keys, np.float32(rate))
            return self._told(found, learnt, drawn, number)
        rows = self._waves(learnt, drawn, np.asarray(self.programs.noise(*keys)))
        after, told = self.programs.learn(
            learnt, rows, drawn.draws, *keys, np.float32(rate)
        )
        return self._told((after, told, rows), learnt, drawn, number)

    def _is_one_program(self, drawn: Drawn) -> bool:
        """Return whether there are equations, and nothing around them is set."""
        return self.programs.whole is not None and all(
            np.all(drawn.values.get(each.name, each.nominal) == each.nominal)
            for each in self.around
        )

    def _told(self, found: Any, before: Learnt, drawn: Drawn, number: int) -> Round:
        after, told, rows = found
        if number == 0:  # nothing was learnt, and no moment is of a real step
            fresh = optimiser(self.settings).init(before.weights)
            after = Learnt(before.weights, fresh, after.statistics)
        met = finished(np.asarray(rows.reward), np.asarray(rows.ended), drawn)
        numbers = {name: float(each) for name, each in told.items()}
        if not all(map(np.isfinite, numbers.values())):
            raise BrokenTraining(
                f"the loss of round {number} is not a number",
                hint="look for rewards or observations that are not finite: simgap "
                "check; or train with a smaller rate",
                code="training-diverged",
            )
        return Round(after, met, numbers)

    def _waves(self, learnt: Learnt, drawn: Drawn, noise: AnyArray) -> Rows:
        settings, programs = self.settings, self.programs
        actor, statistics = learnt.weights.actor, learnt.statistics

        def act(*given: Any) -> Any:
            return programs.act(actor, statistics, *given)

        found = collected_in_waves(
            self.simulator,
            settings.horizon,
            act,
            lambda: self.network.start(len(drawn.seeds)),
            drawn,
            noise,
        )
        episodes = max(1, int(np.asarray(found.rows.ended).sum()))
        if len(found.broken) > MOST_BROKEN * episodes:
            raise BrokenTraining(
                f"{len(found.broken)} of {episodes} episodes broke, the first one: "
                f"{found.broken[0]}",
                hint="simgap check SIMULATOR --policy random --randomize ... looks for "
                "the reason",
                code="episodes-broke",
            )
        return found.rows


class _Programs(NamedTuple):
    whole: Any  # of a simulator of equations
    together: Any  # the same, of several seeds at once
    learn: Any
    act: Any
    noise: Any


def learner_of(simulator: Simulator, settings: Settings, features: Features) -> Learner:
    """Return the learner of a simulator; programs are compiled when first used."""
    jax = needed("jax", what="training")
    needed("optax", what="training")
    told = features.size
    shown = 0
    if settings.informed:
        shown = Features(features.each, settings.masked).size
    network = network_of(
        settings.memory,
        settings.units,
        simulator.observation,
        simulator.action,
        told,
        shown,
    )
    actions = Actions.of(simulator.action)
    equations, around = _equations(simulator)

    def keys(seed: Any, number: Any) -> Any:
        key = jax.random.fold_in(jax.random.key(seed, impl=KEYS), number)
        return jax.random.split(key)

    def whole(learnt: Learnt, draws: Any, seed: Any, number: Any, rate: Any) -> Any:
        rows = collected(
            equations,
            settings.horizon,
            network,
            actions,
            learnt.weights.actor,
            learnt.statistics,
            draws,
            noise(seed, number),
        )
        return *learn(learnt, rows, draws, seed, number, rate), rows

    def learn(
        learnt: Learnt, rows: Rows, draws: Any, seed: Any, number: Any, rate: Any
    ) -> Any:
        order = keys(seed, number)[1]
        return updated(settings, network, actions, learnt, rows, draws, order, rate)

    def act(
        actor: Any,
        statistics: Any,
        memory: Any,
        seen: Any,
        previous: Any,
        first: Any,
        shown: Any,
        noise: Any,
    ) -> Any:
        frame = network.framed(statistics.shown(seen), previous)
        memory, said = network.step(actor, memory, frame, shown, first)
        action = actions.chosen(said, actor.spread, noise)
        return memory, action, actions.played(action), actions.remembered(action)

    def noise(seed: Any, number: Any) -> Any:
        shape = (settings.horizon, settings.rows)
        return actions.noise(keys(seed, number)[0], shape)

    return Learner(
        simulator,
        settings,
        features,
        network,
        actions,
        _Programs(
            None if equations is None else jax.jit(whole),
            jax.jit(jax.vmap(whole, in_axes=(0, 0, 0, None, None))),
            jax.jit(learn),
            jax.jit(act),
            jax.jit(noise),
        ),
        around,
    )


def finished(reward: AnyArray, ended: BoolArray, drawn: Drawn) -> Returns:
    """Return the first episode of every row, with its undiscounted return.

    Later ones are left out. The end of the row cuts the longest of them, so that the
    returns of those that end in time say something else than those of all.
    """
    so_far: FloatArray = np.cumsum(reward, axis=0, dtype=np.float64)
    returned = so_far[ended.argmax(axis=0), np.arange(ended.shape[1])]
    return Returns(drawn.theta[:, 0], returned)


def _equations(simulator: Any) -> tuple[Any, tuple[Parameter, ...]]:
    """Return the simulator of equations inside, None without, and what is around it."""
    around: tuple[Parameter, ...] = ()
    while isinstance(simulator, WrappedSimulator) and simulator.more:  # else noise
        around += simulator.more
        simulator = simulator.inner
    return simulator if isinstance(simulator, JaxSimulator) else None, around
