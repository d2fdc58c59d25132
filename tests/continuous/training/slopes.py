"""As a program, with `JAX_ENABLE_X64=1`: gradients beside finite differences, in JSON.

A loss of 3 steps and 4 rows; networks of 2 units, of each kind of memory.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous import Box, parse_memory
from simgap.continuous.training.network import Network
from simgap.continuous.training.rows import Actions
from simgap.continuous.training.settings import preset
from simgap.continuous.training.update import Given, Targets, loss
from tests.continuous.training.trial import MEMORIES

STEPS, ROWS, SMALL = 3, 4, 1e-6


def main() -> None:
    """Print what is found for each memory."""
    print(json.dumps({memory: compared(memory) for memory in MEMORIES}))


def compared(memory: str) -> dict[str, float]:
    """Return how far the gradient is from differences of the loss."""
    import jax
    from jax.flatten_util import ravel_pytree

    random = np.random.default_rng(5)
    network = Network(parse_memory(memory), 2, 2, 1, 1, 1, choices=False)
    settings = preset(network.memory, STEPS, rows=ROWS, entropy=0.01, units=2)
    actions = Actions.of(Box(-np.ones(1), np.ones(1)))

    def some(*shape: int) -> FloatArray:
        return random.normal(0.0, 0.8, shape)

    new = jax.tree.map(np.float64, network.new(random, -0.5))
    start, shaped = ravel_pytree(new)
    weights = start + 0.3 * some(start.size)
    first = np.zeros((STEPS + 1, ROWS), np.bool_)
    first[0], first[1, 0], first[2, 1] = True, True, True
    wide = (STEPS + 1, ROWS)
    given = Given(
        some(*wide, network.frame),
        some(*wide, 2),
        some(*wide, 1),
        some(*wide, 1),
        first,
        some(*wide),
        some(STEPS, ROWS, 1),
    )
    _, said = network.sequence(
        shaped(weights).actor, given.frames[:-1], given.shown[:-1], first[:-1]
    )
    chance = actions.log_chance(said, shaped(weights).actor.spread, given.action)
    target = Targets(some(STEPS, ROWS), some(STEPS, ROWS), chance + 0.4 * some(3, ROWS))

    def of(weights: Any, first: Any) -> Any:
        return loss(
            settings,
            network,
            actions,
            shaped(weights),
            given._replace(first=first),
            target,
        )[0]

    both = jax.jit(jax.value_and_grad(of))

    def value(weights: Any) -> float:
        return float(both(weights, first)[0])

    def slope(first: Any) -> FloatArray:
        return np.asarray(both(weights, first)[1])

    differences = np.array(
        [
            (value(weights + step) - value(weights - step)) / (2.0 * SMALL)
            for step in SMALL * np.eye(start.size)
        ]
    )
    ratio = np.exp(chance - target.log_chance)
    return {
        "weights": start.size,
        "largest": float(np.abs(differences).max()),
        "apart": float(np.abs(slope(first) - differences).max()),
        "apart_without_past": float(
            np.abs(slope(np.ones_like(first)) - differences).max()
        ),
        "clipped": float((np.abs(ratio - 1.0) > settings.clip).mean()),
    }


if __name__ == "__main__":
    main()
