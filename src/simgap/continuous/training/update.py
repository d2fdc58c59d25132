"""One update of proximal policy optimisation, from rows of steps.

Minibatches are whole rows: what is remembered is computed anew from the beginning of
its episode in every epoch, so that no stored memory grows stale. Advantages and old
chances come from one pass with the weights that collected the rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from simgap.continuous.training.network import Network, Weights
from simgap.continuous.training.rows import Actions, Draws, Rows, Statistics
from simgap.continuous.training.settings import Settings


class Learnt(NamedTuple):
    """Everything that an update changes."""

    weights: Weights
    moments: Any  # of the optimiser
    statistics: Statistics


class Given(NamedTuple):
    """What networks are given, and what is learnt from it: T steps of some rows."""

    frames: Any  # (T + 1, E, frame)
    seen: Any  # (T + 1, E, O), of order one
    shown: Any  # (T + 1, E, G)
    told: Any  # (T + 1, E, F)
    first: Any  # (T + 1, E)
    time: Any  # (T + 1, E)
    action: Any  # (T, E, ...)


class Targets(NamedTuple):
    """What the policy did better than expected, and what the critic should expect."""

    advantage: Any  # (T, E)
    value: Any  # (T, E)
    log_chance: Any  # (T, E)


def optimiser(settings: Settings) -> Any:
    """Return what turns gradients into steps, of length one learning rate."""
    import optax

    return optax.chain(
        optax.clip_by_global_norm(settings.gradient), optax.scale_by_adam(eps=1e-5)
    )


def updated(
    settings: Settings,
    network: Network,
    actions: Actions,
    learnt: Learnt,
    rows: Rows,
    draws: Draws,
    key: Any,
    rate: Any,
) -> tuple[Learnt, dict[str, Any]]:
    """Return what is learnt from some rows, and how it went."""
    import jax
    import jax.numpy as jnp

    weights, moments, statistics = learnt
    given = prepared(network, actions, statistics, rows, draws)
    scale = 1.0 / jnp.maximum(jnp.sqrt(statistics.returned), 1e-8)
    target = targets(settings, network, actions, weights, given, rows, scale)
    steps = optimiser(settings)

    def minibatch(carried: Any, chosen: Any) -> tuple[Any, Any]:
        weights, moments = carried
        here = jax.tree.map(lambda each: each[:, chosen], (given, target))
        wanted = jax.value_and_grad(loss, argnums=3, has_aux=True)
        (_, told), slope = wanted(settings, network, actions, weights, *here)
        change, moments = steps.update(slope, moments, weights)
        weights = jax.tree.map(lambda w, c: w - rate * c, weights, change)
        return (weights, moments), told

    orders = jax.vmap(lambda each: jax.random.permutation(each, settings.rows))(
        jax.random.split(key, settings.epochs)
    )
    batches = orders.reshape(settings.epochs * settings.minibatches, -1)
    (weights, moments), told = jax.lax.scan(minibatch, (weights, moments), batches)
    later = discounted(rows.reward, rows.ended, settings.discount)
    statistics = statistics.merged(rows.observation[:-1], later)
    told = {name: each[-1] for name, each in told.items()}
    return Learnt(weights, moments, statistics), told


def prepared(
    network: Network, actions: Actions, statistics: Statistics, rows: Rows, draws: Draws
) -> Given:
    """Return rows as networks take them."""
    import jax.numpy as jnp

    seen = statistics.shown(rows.observation)
    acted = actions.remembered(rows.action)
    before = jnp.concatenate([jnp.zeros_like(acted[:1]), acted])
    before = jnp.where(rows.first[..., None], 0.0, before)
    every = jnp.arange(rows.draw.shape[1])
    return Given(
        network.framed(seen, before),
        seen,
        draws.shown[every, rows.draw],
        draws.told[every, rows.draw],
        rows.first,
        rows.time,
        rows.action,
    )


def targets(
    settings: Settings,
    network: Network,
    actions: Actions,
    weights: Weights,
    given: Given,
    rows: Rows,
    scale: Any,
) -> Targets:
    """Return generalised advantages, values and chances under the weights so far."""
    remembered, said = network.sequence(
        weights.actor, given.frames, given.shown, given.first
    )
    value = network.value(
        weights.critic, remembered, given.seen, given.told, given.time
    )
    gained = advantages(
        rows.reward * scale, value, rows.ended, settings.discount, settings.trace
    )
    chance = actions.log_chance(said[:-1], weights.actor.spread, rows.action)
    return Targets(gained, gained + value[:-1], chance)


def loss(
    settings: Settings,
    network: Network,
    actions: Actions,
    weights: Weights,
    given: Given,
    target: Targets,
) -> tuple[Any, dict[str, Any]]:
    """Return the loss of some rows, and its parts."""
    import jax.numpy as jnp

    actor, critic = weights
    given = Given(*(each[: given.action.shape[0]] for each in given))
    remembered, said = network.sequence(actor, given.frames, given.shown, given.first)
    value = network.value(critic, remembered, given.seen, given.told, given.time)
    chance = actions.log_chance(said, actor.spread, given.action)
    change = chance - target.log_chance
    ratio = jnp.exp(change)
    gained = target.advantage - target.advantage.mean()
    gained = gained / (gained.std() + 1e-8)
    cut = jnp.clip(ratio, 1.0 - settings.clip, 1.0 + settings.clip)
    of_policy = -jnp.minimum(ratio * gained, cut * gained).mean()
    of_value = 0.5 * ((value - target.value) ** 2).mean()
    entropy = actions.entropy(said, actor.spread)
    every = of_policy + settings.value_weight * of_value - settings.entropy * entropy
    told = {
        "value_loss": of_value,
        "entropy": entropy,
        "ratio": jnp.abs(ratio - 1.0).max(),
        "divergence": (ratio - 1.0 - change).mean(),
    }
    return every, told


def advantages(
    reward: Any, value: Any, ended: Any, discount: float, trace: float
) -> Any:
    """Return generalised advantages, (T, E); nothing follows after the end."""
    import jax
    import jax.numpy as jnp

    going = 1.0 - ended.astype(reward.dtype)
    surprise = reward + discount * value[1:] * going - value[:-1]

    def back(later: Any, given: Any) -> tuple[Any, Any]:
        here, goes = given
        later = here + discount * trace * goes * later
        return later, later

    nothing = jnp.zeros_like(reward[0])
    _, found = jax.lax.scan(back, nothing, (surprise, going), reverse=True)
    return found


def discounted(reward: Any, ended: Any, discount: float) -> Any:
    """Return what follows from each step on, (T, E), discounted, to its row's end."""
    import jax.numpy as jnp

    nothing = jnp.zeros((reward.shape[0] + 1, reward.shape[1]), reward.dtype)
    return advantages(reward, nothing, ended, discount, 1.0)
