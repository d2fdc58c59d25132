"""Collecting from a simulator of equations: one compiled loop over the steps.

Where an episode ends, the next one begins in the same row, with its own parameters and
random numbers. Nothing is kept between two collections.
"""

from __future__ import annotations

from typing import Any

from simgap.continuous.interfaces import Choices
from simgap.continuous.simulators.jax_door import KEYS, JaxSimulator
from simgap.continuous.training.network import Actor, Network
from simgap.continuous.training.rows import Actions, Draws, Rows, Statistics


def collected(
    simulator: JaxSimulator,
    horizon: int,
    network: Network,
    actions: Actions,
    actor: Actor,
    statistics: Statistics,
    draws: Draws,
    noise: Any,
) -> Rows:
    """Return `horizon` steps of each row; to be compiled inside a larger program.

    `noise` makes actions random, (horizon, rows, A): zeros for a policy that does not
    try out others.
    """
    import jax
    import jax.numpy as jnp

    size, most = draws.words.shape[:2]
    every = jnp.arange(size)
    keys = jax.random.wrap_key_data(draws.words, impl=KEYS)
    begin = jax.vmap(simulator.begin)
    advance = jax.vmap(simulator.advance)

    def theta_at(draw: Any) -> Any:
        return {name: each[every, draw] for name, each in draws.theta.items()}

    def vector(seen: Any) -> Any:
        if isinstance(simulator.observation, Choices):
            return jax.nn.one_hot(seen.reshape(size), simulator.observation.n)
        return seen

    def step(carried: Any, noise: Any) -> tuple[Any, Any]:
        state, seen, memory, previous, first, number, draw = carried
        frame = network.framed(statistics.shown(seen), previous)
        shown = draws.shown[every, draw]
        memory, said = network.step(actor, memory, frame, shown, first)
        action = actions.chosen(said, actor.spread, noise)
        theta, here = theta_at(draw), keys[every, draw]
        after = advance(state, actions.played(action), theta, here, number + 1)
        ended = after.ended | (number + 1 >= horizon)
        following = jnp.minimum(draw + ended, most - 1)

        def again() -> Any:
            fresh = begin(theta_at(following), keys[every, following])
            return _chosen(ended, fresh, (after.state, after.observation))

        going = (after.state, after.observation)
        state, later = jax.lax.cond(ended.any(), again, lambda: going)
        kept = (
            state,
            vector(later),
            memory,
            jnp.where(ended[:, None], 0.0, actions.remembered(action)),
            ended,
            jnp.where(ended, 0, number + 1),
            following,
        )
        told = (seen, first, number / horizon, draw, action, after.reward, ended)
        return kept, told

    none = jnp.zeros(size, jnp.int32)
    state, seen = begin(theta_at(none), keys[:, 0])
    carried = (
        state,
        vector(seen),
        network.start(size),
        jnp.zeros((size, network.outputs)),
        jnp.ones(size, bool),
        none,
        none,
    )
    last, told = jax.lax.scan(step, carried, noise)
    _, seen, _, _, first, number, draw = last
    ends = (seen, first, number / horizon, draw)
    wide = [jnp.concatenate([a, b[None]]) for a, b in zip(told[:4], ends, strict=True)]
    return Rows(*wide, *told[4:])


def _chosen(which: Any, one: Any, other: Any) -> Any:
    """Return a tree whose rows come from one tree or from another."""
    import jax
    import jax.numpy as jnp

    def each(a: Any, b: Any) -> Any:
        return jnp.where(which.reshape((-1,) + (1,) * (a.ndim - 1)), a, b)

    return jax.tree.map(each, one, other)
