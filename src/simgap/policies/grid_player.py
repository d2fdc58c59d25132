"""A policy made on a grid, played in the simulator itself.

    player = GridPlayer(oracle.policy, table)
    observation, _ = env.reset(seed=0)
    player.reset(observation)
    for _ in range(horizon):
        observation, _, terminated, _, _ = env.step(player.act(observation))
        if terminated:
            observation, _ = env.reset()
            player.restart(observation)

What is observed is rounded to a state of the table. In the simulator a step may be seen
that no table allows; the agent then goes on as `Agent` says, and `fallbacks` counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.instances import CONTROLS
from simgap.mdp import (
    Discretisation,
    GridOrigin,
    LatentMDP,
    Rounding,
    SimulatorClass,
    seen_states,
)
from simgap.policies.agent import Agent
from simgap.policies.interface import Policy


@final
class GridPlayer:
    """Any policy of a class on a grid, as an agent in a Gymnasium environment.

    `made_on` is what the policy was planned for: a discretisation, its class, the
    latent MDP of a file, or the grid alone. `state_of` turns an observation into the
    coordinates of the grid (classic control has its own; else observations are taken
    as they are), `actions` are what `env.step` takes, in the order of the class (else
    the numbers of classic control, or of the actions themselves).
    """

    def __init__(
        self,
        policy: Policy[Any],
        made_on: Discretisation | SimulatorClass | LatentMDP | GridOrigin,
        *,
        state_of: Callable[[Any], FloatArray] | None = None,
        actions: Sequence[Any] | None = None,
        rounding: Rounding = Rounding.NEAREST,
        seed: int = 0,
    ) -> None:
        self.origin = _origin(made_on)
        self.rounding = rounding
        self.agent: Agent[Any] = Agent(policy, seed=seed, on_outside="flag")
        known = CONTROLS.get(self.origin.simulator)
        self._state_of = state_of or (known.state_of if known else np.asarray)
        self._actions = actions
        if actions is None and known is not None and self.origin.actions:
            self._actions = [known.played(each) for each in self.origin.actions]
        self._random = np.random.default_rng(seed)
        self._waits = False  # for what follows its last action

    @property
    def fallbacks(self) -> int:
        """Steps of this episode in which the policy had no answer of its own."""
        return self.agent.fallbacks

    @property
    def steps(self) -> int:
        """How many steps of this episode are over."""
        return self.agent.steps

    def reset(self, observation: Any) -> None:
        """Begin an episode, and forget the last one."""
        self.agent.reset(self.seen(observation))
        self._waits = False

    def act(self, observation: Any) -> Any:
        """Return what to give to `env.step`, after what was observed last."""
        if self._waits:
            self.agent.observe(self.seen(observation))
        action = self.agent.act()
        self._waits = True
        return self.played(action)

    def restart(self, observation: Any) -> None:
        """Go on after an end in an environment that was reset, with all that is known.

        The table does the same: one step in its state `end`, then a new start, both
        counted as steps. Where an end is kept for ever there is nothing to go on with.
        """
        if self.origin.end is None or not self.origin.restart:
            raise InvalidArgument(
                f"{self.origin.simulator} does not start again in this table",
                hint="begin another episode: reset(observation)",
            )
        if self._waits:
            self.agent.observe(self.origin.end)
            self.agent.act()
            self.agent.observe(self.seen(observation))
        self._waits = False

    def played(self, action: int) -> Any:
        """Return what `env.step` takes for an action of the table."""
        return action if self._actions is None else self._actions[action]

    def seen(self, observation: Any) -> int:
        """Return the state of the table as which an observation is seen."""
        return int(self.all_seen([observation])[0])

    def all_seen(self, observations: Sequence[Any]) -> OffsetArray:
        """Return the states as which several observations are seen."""
        points = np.array([self._point(each) for each in observations])
        return seen_states(self.origin, points, self.rounding, self._random)

    def _point(self, observation: Any) -> FloatArray:
        try:
            point = np.asarray(self._state_of(observation), np.float64).reshape(-1)
        except (TypeError, ValueError) as error:
            raise self._unknown(observation) from error
        if point.size != len(self.origin.grid.axes):
            raise self._unknown(observation)
        return point

    def _unknown(self, observation: Any) -> InvalidArgument:
        axes = ", ".join(axis.name for axis in self.origin.grid.axes)
        return InvalidArgument(
            f"an observation {np.asarray(observation).tolist()!r} of "
            f"{self.origin.simulator}, whose grid has the axes {axes}",
            hint="give GridPlayer(..., state_of=f), which turns what the environment "
            "shows into these numbers; classic control by name takes Gymnasium's own",
        )


def _origin(
    made_on: Discretisation | SimulatorClass | LatentMDP | GridOrigin,
) -> GridOrigin:
    if isinstance(made_on, GridOrigin):
        return made_on
    simulators = made_on if isinstance(made_on, SimulatorClass) else made_on.simulators
    if simulators.grid is None:
        raise InvalidArgument(
            "the class was not made on a grid",
            hint="run_episode plays policies in environments with discrete states",
        )
    return simulators.grid
