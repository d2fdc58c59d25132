"""What is learnt from: rows of steps, and how one step of a simulator makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import AnyArray
from simgap.continuous.interfaces import Choices, Space

LIMIT = 10.0  # observations are cut there, in standard deviations
LEAST_SPREAD = 1e-4  # of an observation that does not move


class Rows(NamedTuple):
    """T steps of E rows; of what is seen one step more, for the value of the rest."""

    observation: Any  # (T + 1, E, O), as the simulator shows it
    first: Any  # (T + 1, E), an episode begins here
    time: Any  # (T + 1, E), share of the horizon that is over
    draw: Any  # (T + 1, E), which of the row's draws of the parameters holds
    action: Any  # (T, E, A) before it is cut, or (T, E) choices
    reward: Any  # (T, E)
    ended: Any  # (T, E), the episode is over after this step


class Draws(NamedTuple):
    """Parameters of the episodes of each row: J of them, used one after the other."""

    theta: Any  # by name, (E, J)
    told: Any  # (E, J, F), numbers for the critic
    shown: Any  # (E, J, G), numbers for the policy
    words: Any  # (E, J, 2), of the episodes' seeds


class Statistics(NamedTuple):
    """What numbers looked like so far: sums that only grow."""

    count: Any  # steps
    mean: Any  # (O,) of observations
    square: Any  # (O,) mean squared distance from it
    returned: Any  # mean square of discounted returns

    def shown(self, seen: Any) -> Any:
        """Return observations of order one."""
        import jax.numpy as jnp

        scaled = (seen - self.mean) / self.spread
        return jnp.clip(scaled, -LIMIT, LIMIT)

    @property
    def spread(self) -> Any:
        """Return what observations are divided by, (O,)."""
        import jax.numpy as jnp

        return jnp.maximum(jnp.sqrt(self.square), LEAST_SPREAD)

    def merged(self, seen: Any, returned: Any) -> Statistics:
        """Return the statistics with more steps, (T, E, O) and (T, E)."""
        import jax.numpy as jnp

        more = float(returned.size)
        every = self.count + more
        mean = seen.mean(axis=(0, 1))
        square = seen.var(axis=(0, 1))
        apart, share = mean - self.mean, more / every
        return Statistics(
            every,
            self.mean + share * apart,
            (1 - share) * self.square + share * square + share * (1 - share) * apart**2,
            (1 - share) * self.returned + share * jnp.mean(returned**2),
        )


def no_statistics(size: int) -> Statistics:
    """Return statistics of nothing: observations and rewards stay as they are."""
    return Statistics(
        np.zeros((), np.float32),
        np.zeros(size, np.float32),
        np.ones(size, np.float32),
        np.ones((), np.float32),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Actions:
    """Between what a network says and what a simulator takes.

    A network's numbers are between -1 and 1 where the simulator's have two ends.
    """

    middle: AnyArray  # (A,)
    half: AnyArray  # (A,)
    limit: AnyArray  # (A,), 1 or infinity: of the network's numbers
    choices: int = 0  # above 0: one of so many

    @classmethod
    def of(cls, space: Space) -> Actions:
        """Return the actions of a space."""
        if isinstance(space, Choices):
            nothing = np.zeros(0, np.float32)
            return cls(nothing, nothing, nothing, space.n)
        ends = np.isfinite(space.low) & np.isfinite(space.high)
        low, high = (np.where(ends, each, 0.0) for each in (space.low, space.high))
        return cls(
            ((low + high) / 2.0).astype(np.float32),
            np.where(ends, (high - low) / 2.0, 1.0).astype(np.float32),
            np.where(ends, 1.0, np.inf).astype(np.float32),
        )

    def chosen(self, said: Any, spread: Any, noise: Any) -> Any:
        """Return an action that is drawn, from what the network says."""
        import jax.numpy as jnp

        if self.choices:
            return jnp.argmax(said + noise, axis=-1).astype(jnp.int32)
        return said + jnp.exp(spread) * noise

    def noise(self, key: Any, shape: tuple[int, ...]) -> Any:
        """Return what makes actions random, for steps and rows of a shape."""
        import jax

        if self.choices:
            return jax.random.gumbel(key, (*shape, self.choices))
        return jax.random.normal(key, (*shape, self.half.size))

    def played(self, action: Any) -> Any:
        """Return what the simulator gets."""
        import jax.numpy as jnp

        if self.choices:
            return action
        return self.middle + self.half * jnp.clip(action, -self.limit, self.limit)

    def remembered(self, action: Any) -> Any:
        """Return an action as the next step is shown it, (..., A) or (..., n)."""
        import jax
        import jax.numpy as jnp

        if self.choices:
            return jax.nn.one_hot(action, self.choices)
        return jnp.clip(action, -self.limit, self.limit)

    def log_chance(self, said: Any, spread: Any, action: Any) -> Any:
        """Return the logarithm of how likely actions were, (...)."""
        import jax
        import jax.numpy as jnp

        if self.choices:
            every = jax.nn.log_softmax(said)
            return jnp.take_along_axis(every, action[..., None], axis=-1)[..., 0]
        apart = (action - said) * jnp.exp(-spread)
        constant = 0.5 * np.log(2.0 * np.pi).astype(np.float32)
        return -(0.5 * apart**2 + spread + constant).sum(axis=-1)

    def entropy(self, said: Any, spread: Any) -> Any:
        """Return the mean entropy of what is chosen."""
        import jax
        import jax.numpy as jnp

        if self.choices:
            every = jax.nn.log_softmax(said)
            return -(jnp.exp(every) * every).sum(axis=-1).mean()
        constant = np.float32(0.5 * np.log(2.0 * np.pi * np.e))
        return (spread + constant).sum()
