"""Your own Gymnasium environment as the equations that `discretise` needs.

An environment makes one step from one state. Here it is put into each state, steps with
each action, and its next state is read. This is a loop in Python, about ten thousand
steps a second, enough for grids of some thousand nodes. An environment with randomness
of its own needs `discretise(..., samples=n)`, which makes n steps from every state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.errors import InvalidArgument, InvalidModel
from simgap.mdp import Moved, Physics, Theta


def environment_physics(
    name: str,
    make: Callable[[Theta], Any],
    *,
    put: Callable[[Any, FloatArray], None],
    read: Callable[[Any], FloatArray],
    actions: Mapping[str, Any],
    start: tuple[tuple[float, float], ...],
    reward_range: tuple[float, float],
    ends: bool = False,
) -> Physics:
    """Return the physics of a Gymnasium environment with parameters.

    `make(theta)` builds it, `put(env, state)` puts it into a state (d,), `read(env)`
    says which state it is in, `actions` has what `env.step` takes, by name. Episodes
    start evenly in the box `start`. Limits of time are not part of a state, so `make`
    returns the environment without wrappers (`.unwrapped`).

    `ends` says that some steps end the episode (`terminated`). The table then has one
    more state, `end`, which pays 0 and leads to the start of a new episode, or with
    `discretise(..., restart=False)` nowhere: H steps may hold many episodes, or one.
    """
    if not actions:
        raise InvalidArgument("no actions", hint="give at least one, by name")
    played = list(actions.values())
    made: dict[tuple[tuple[str, float], ...], Any] = {}

    def environment(theta: Theta) -> Any:
        key = tuple(sorted(theta.items()))
        if key not in made:
            made[key] = make(theta)
            made[key].reset(seed=0)
        return made[key]

    def step(theta: Theta, states: FloatArray, levels: FloatArray) -> Moved:
        env = environment(theta)
        after, paid = np.empty_like(states), np.empty(len(states))
        ended: BoolArray = np.zeros(len(states), bool)
        for at, (state, level) in enumerate(zip(states, levels, strict=True)):
            action = played[int(level)]
            found = _one(env, put, read, state, action)
            after[at], paid[at], ended[at] = found
        return Moved(after, paid, ended)

    return Physics(
        name=name,
        step=step,
        actions=np.arange(len(played), dtype=np.float64),
        action_names=tuple(actions),
        start=start,
        reward_range=reward_range,
        ends=ends,
    )


def _one(
    env: Any,
    put: Callable[[Any, FloatArray], None],
    read: Callable[[Any], FloatArray],
    state: FloatArray,
    action: Any,
) -> tuple[FloatArray, float, bool]:
    put(env, np.array(state))
    _, reward, terminated, _, _ = env.step(action)
    after: FloatArray = np.array(read(env), np.float64)
    if after.shape != state.shape:
        raise InvalidModel(
            f"a state is read with shape {after.shape}, and put with {state.shape}",
            hint="put and read have the same coordinates",
        )
    return after, float(reward), bool(terminated)
