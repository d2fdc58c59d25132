"""The true Gymnasium simulator as a tabular agent meets it: states seen on a grid.

    table = classic_control("Pendulum-v1", grid={"mass": (0.7, 1.3)})
    view = SeenOnGrid(table, true_environment(table, 1))
    run_episode(view, Agent(policy, on_outside="flag"), horizon=200, seed=0)

The simulator moves in its own continuous states; only what the agent sees is rounded.
When an episode ends, the view does what the table does: one step in the state `end`
with reward 0, then a new start, or `end` for ever. A step that is likely in the
simulator may be impossible in the table, so agents should flag impossible steps, not
raise an error.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from simgap.errors import InvalidArgument
from simgap.instances.classic_physics import control
from simgap.mdp import Discretisation, Rounding, seen_states


def true_environment(table: Discretisation, member: int) -> Any:
    """Return the Gymnasium environment of one model, without a limit of time."""
    import gymnasium

    known = control(table.physics.name)
    env = gymnasium.make(
        known.gym_id, max_episode_steps=-1, disable_env_checker=True
    )  # -1 leaves the time limit out: episodes are as long as the caller's horizon
    inner: Any = env.unwrapped
    theta = table.thetas[table.simulators.member(member)]
    for name, parameter in known.parameters.items():
        setattr(inner, parameter.attribute, theta[name])
    known.derived(inner)
    return env


@final
class SeenOnGrid:
    """A Gymnasium environment with the states and actions of a table.

    It has what `run_episode` uses of an environment: `reset`, `step` and two discrete
    spaces. `seed` is that of stochastic rounding.
    """

    def __init__(
        self,
        table: Discretisation,
        env: Any,
        *,
        rounding: Rounding = Rounding.NEAREST,
        seed: int = 0,
    ) -> None:
        from gymnasium.spaces import Discrete

        self.table = table
        self.env = env
        self.rounding = rounding
        self.observation_space = Discrete(table.simulators.n_states)
        self.action_space = Discrete(table.simulators.n_actions)
        self._known = control(table.physics.name)
        self._random = np.random.default_rng(seed)
        self._over = False
        self._begun = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Return the first state of an episode, and Gymnasium's information."""
        self._over, self._begun = False, True
        observation, info = self.env.reset(seed=seed, options=options)
        return self._seen(observation), info

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Return next state, reward in original units, and False for terminated."""
        if not self._begun:
            raise InvalidArgument("no episode has begun", hint="call reset() first")
        if not 0 <= action < len(self.table.physics.actions):
            raise InvalidArgument(
                f"there is no action {action!r}",
                hint=f"actions are numbered 0 to {len(self.table.physics.actions) - 1}",
            )
        end = self.table.end
        if self._over:
            assert end is not None
            if not self.table.restart:
                return end, 0.0, False, False, {}
            state, info = self.reset()
            return state, 0.0, False, False, info
        played = self._known.played(float(self.table.physics.actions[action]))
        observation, reward, self._over, truncated, info = self.env.step(played)
        state = end if self._over and end is not None else self._seen(observation)
        return state, float(reward), False, bool(truncated), info

    def close(self) -> None:
        """Close the environment."""
        self.env.close()

    def _seen(self, observation: Any) -> int:
        point = self._known.state_of(observation)[None]
        origin = self.table.origin
        return int(seen_states(origin, point, self.rounding, self._random)[0])
