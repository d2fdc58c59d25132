"""The network of a trained policy: encoder, memory, a hidden layer, the action.

The critic is told more than the policy: the parameters and the time. It also sees what
the policy remembers, since the value of a state alone is not the value of a history.

Weights are named tuples of arrays, which JAX and safetensors take as they are. A
`Network` holds no weights: it says how they are used.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple, final

import numpy as np

from simgap.continuous.interfaces import Choices, Space
from simgap.continuous.training.memory import Cell, Memory

KEEP = 1.0  # bias of the gate that keeps: memory is long at first


class Layer(NamedTuple):
    """weight @ x + bias."""

    weight: Any  # (outputs, inputs)
    bias: Any  # (outputs,)

    def __call__(self, given: Any) -> Any:
        return given @ self.weight.T + self.bias


class Gates(NamedTuple):
    """The gates of a cell, in the order of PyTorch: of the input and of the memory."""

    of_input: Layer
    of_hidden: Layer


class Actor(NamedTuple):
    """The weights of a policy."""

    encoder: Layer
    cell: Gates | None
    hidden: Layer
    head: Layer
    spread: Any | None  # logarithm of the standard deviation of actions; None: choices


class Critic(NamedTuple):
    """The weights of what estimates returns, while a policy is trained."""

    first: Layer
    second: Layer
    head: Layer


class Weights(NamedTuple):
    """All that is learnt."""

    actor: Actor
    critic: Critic


@final
@dataclass(frozen=True, slots=True)
class Network:
    """How weights are used: sizes and the kind of memory."""

    memory: Memory
    units: int
    seen: int  # numbers of an observation
    told: int  # numbers that describe the parameters to the critic
    shown: int  # and to the policy: 0 unless it is informed
    outputs: int  # numbers of an action, or how many choices
    choices: bool

    @property
    def frame(self) -> int:
        """Return the numbers of a step: an observation, and the action before it."""
        return self.seen + (self.outputs if self.memory.remembers else 0)

    def new(self, random: np.random.Generator, spread: float) -> Weights:
        """Return weights to begin with; a program of JAX would compile for seconds."""
        units = self.units
        frames = self.memory.frames * self.frame + self.shown
        cell = None
        if self.memory.recurrent:
            gates = 3 if self.memory.cell is Cell.GRU else 4
            cell = Gates(
                _layer(random, units, gates * units, 1.0),
                _layer(random, units, gates * units, 1.0),
            )
            cell.of_input.bias[units : 2 * units] = KEEP
        remembered = units if cell is not None else frames - self.shown
        actor = Actor(
            _layer(random, frames, units, sqrt(2.0)),
            cell,
            _layer(random, units, units, sqrt(2.0)),
            _layer(random, units, self.outputs, 0.01),
            None if self.choices else np.full(self.outputs, spread, np.float32),
        )
        critic = Critic(
            _layer(random, remembered + self.seen + self.told + 1, units, sqrt(2.0)),
            _layer(random, units, units, sqrt(2.0)),
            _layer(random, units, 1, 1.0),
        )
        return Weights(actor, critic)

    def start(self, size: int) -> Any:
        """Return what is remembered before the first step: nothing, as zeros."""
        import jax.numpy as jnp

        if self.memory.cell is Cell.WINDOW:
            return jnp.zeros((size, (self.memory.frames - 1) * self.frame))
        states = {Cell.GRU: 1, Cell.LSTM: 2}.get(self.memory.cell, 0)
        return tuple(jnp.zeros((size, self.units)) for _ in range(states))

    def framed(self, seen: Any, previous: Any) -> Any:
        """Return what one step shows, (..., frame)."""
        import jax.numpy as jnp

        if not self.memory.remembers:
            return seen
        return jnp.concatenate([seen, previous], axis=-1)

    def step(
        self, actor: Actor, memory: Any, frame: Any, shown: Any, first: Any
    ) -> tuple[Any, Any]:
        """Return the next memory and what the policy says, for rows (E, ...).

        Where an episode begins, memory is emptied before it is used.
        """
        import jax.numpy as jnp

        memory = _where_not(first, memory)
        if self.memory.cell is Cell.WINDOW:
            frames = jnp.concatenate([memory, frame], axis=-1)
            memory, frame = frames[:, self.frame :], frames
        encoded = self._encoded(actor, frame, shown)
        if actor.cell is not None:
            memory = self._cell(actor.cell, actor.cell.of_input(encoded), memory)
            encoded = memory[0]
        return memory, self._said(actor, encoded)

    def sequence(
        self, actor: Actor, frames: Any, shown: Any, first: Any
    ) -> tuple[Any, Any]:
        """Return what is remembered and what the policy says, for (T, E, ...) at once.

        The same numbers as `step` after `step`, from an empty memory on.
        """
        import jax

        remembered = frames
        if self.memory.cell is Cell.WINDOW:
            remembered = frames = self._windows(frames, first)
        encoded = self._encoded(actor, frames, shown)
        if actor.cell is not None:
            cell = actor.cell
            gates = cell.of_input(encoded)  # of all steps in one product

            def one(memory: Any, given: Any) -> tuple[Any, Any]:
                here, begins = given
                memory = self._cell(cell, here, _where_not(begins, memory))
                return memory, memory[0]

            _, encoded = jax.lax.scan(one, self.start(frames.shape[1]), (gates, first))
            remembered = encoded
        return remembered, self._said(actor, encoded)

    def value(
        self, critic: Critic, remembered: Any, seen: Any, told: Any, time: Any
    ) -> Any:
        """Return what the critic expects of the rest of an episode, (...)."""
        import jax.numpy as jnp

        given = jnp.concatenate([remembered, seen, told, time[..., None]], axis=-1)
        inner = jnp.tanh(critic.second(jnp.tanh(critic.first(given))))
        return critic.head(inner)[..., 0]

    def _encoded(self, actor: Actor, frames: Any, shown: Any) -> Any:
        import jax.numpy as jnp

        given = jnp.concatenate([frames, shown], axis=-1) if self.shown else frames
        return jnp.tanh(actor.encoder(given))

    def _said(self, actor: Actor, encoded: Any) -> Any:
        import jax.numpy as jnp

        return actor.head(jnp.tanh(actor.hidden(encoded)))

    def _cell(self, cell: Gates, of_input: Any, memory: Any) -> Any:
        """Return the next memory; gates as PyTorch has them."""
        import jax
        import jax.numpy as jnp

        sigmoid, of_hidden = jax.nn.sigmoid, cell.of_hidden(memory[0])
        if self.memory.cell is Cell.GRU:
            reset, keep, new = jnp.split(of_input, 3, axis=-1)
            reset_h, keep_h, new_h = jnp.split(of_hidden, 3, axis=-1)
            kept = sigmoid(keep + keep_h)
            fresh = jnp.tanh(new + sigmoid(reset + reset_h) * new_h)
            return ((1.0 - kept) * fresh + kept * memory[0],)
        enter, keep, new, out = jnp.split(of_input + of_hidden, 4, axis=-1)
        inner = sigmoid(keep) * memory[1] + sigmoid(enter) * jnp.tanh(new)
        return sigmoid(out) * jnp.tanh(inner), inner

    def _windows(self, frames: Any, first: Any) -> Any:
        """Return the last frames at every step, (T, E, frames * frame), oldest first.

        What lies before the beginning of an episode is zero.
        """
        import jax.numpy as jnp

        stacked, shifted, within = [frames], frames, ~first[..., None]
        for _ in range(self.memory.frames - 1):
            before = jnp.concatenate([jnp.zeros_like(shifted[:1]), shifted[:-1]])
            shifted = jnp.where(within, before, 0.0)
            stacked.insert(0, shifted)
        return jnp.concatenate(stacked, axis=-1)


def network_of(
    memory: Memory, units: int, seen: Space, action: Space, told: int, shown: int
) -> Network:
    """Return the network between the spaces of a simulator."""
    return Network(
        memory,
        units,
        seen.n if isinstance(seen, Choices) else seen.size,
        told,
        shown,
        action.n if isinstance(action, Choices) else action.size,
        isinstance(action, Choices),
    )


def _layer(
    random: np.random.Generator, inputs: int, outputs: int, gain: float
) -> Layer:
    """Return a layer whose weights turn, and stretch by `gain`."""
    shape = (max(inputs, outputs), min(inputs, outputs))
    turn, upper = np.linalg.qr(random.normal(size=shape))
    turn *= gain * np.sign(np.diag(upper))  # each rotation as likely as any other
    weight = turn if outputs > inputs else turn.T
    return Layer(weight.astype(np.float32), np.zeros(outputs, np.float32))


def _where_not(first: Any, memory: Any) -> Any:
    """Return memory, emptied in the rows where an episode begins."""
    import jax
    import jax.numpy as jnp

    return jax.tree.map(lambda each: jnp.where(first[:, None], 0.0, each), memory)
