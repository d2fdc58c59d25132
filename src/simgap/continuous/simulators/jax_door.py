"""The JAX door: a task's equations as a simulator, vectorised and compiled.

`JaxSimulator` offers the same episodes in two ways. `instantiate` gives worlds like
every simulator. `begin` and `advance` are pure functions of ONE world, to be mapped and
compiled inside a larger program:

    simulator = open_jax("heading")
    keys = episode_keys(seeds)
    state, seen = jax.vmap(simulator.begin)(theta, keys)
    step = jax.vmap(simulator.advance, in_axes=(0, 0, 0, 0, None))
    after = step(state, actions, theta, keys, 1)  # the first step has number 1

Random numbers of an episode come from its seed and the number of the step, and nothing
is carried. Numbers are float32; float64 where JAX is allowed it (`jax_enable_x64`). A
program is compiled once for each number of worlds: nothing is padded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt

from simgap.arrays import AnyArray, BoolArray, FloatArray, OffsetArray
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Choices, Parameter, Space, Stepped
from simgap.continuous.simulators.jax_task import JaxTask, as_task
from simgap.continuous.simulators.tasks.catalogue import built_in
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError

ROWS = 1024  # ten times as many steps a second as with 64
KEYS = "threefry2x32"  # the same random numbers whatever JAX's default is

Precision = np.dtype[Any]
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)


class Advanced(NamedTuple):
    """What one step of one world leads to."""

    state: Any
    observation: Any  # (O,)
    reward: Any
    ended: Any  # by the task itself, not by the horizon
    success: Any = None  # where the task says so


@final
@dataclass(frozen=True, slots=True, eq=False)
class JaxSimulator:
    """A task behind the interface of all simulators."""

    task: JaxTask
    precision: Precision = SINGLE

    @property
    def name(self) -> str:
        return self.task.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return self.task.parameters

    @property
    def observation(self) -> Space:
        return self.task.observation

    @property
    def action(self) -> Space:
        return self.task.action

    @property
    def horizon(self) -> int | None:
        return self.task.horizon

    @property
    def seconds(self) -> float | None:
        """Return how long a step is, if the task says so."""
        return self.task.seconds

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return what the sum of `horizon` rewards certainly lies between, if known."""
        if self.task.return_bounds is None:
            return None
        return self.task.return_bounds(min(horizon, self.task.horizon or horizon))

    def begin(self, theta: Mapping[str, Any], key: Any) -> tuple[Any, Any]:
        """Return the state and the observation an episode starts with: one world."""
        for_start, for_observing = _two_keys(key, 0)
        state = _real(self.task.start(theta, for_start), self.precision)
        seen = self.task.observe(state, theta, for_observing)
        return state, _real(seen, self.precision)

    def advance(
        self, state: Any, action: Any, theta: Mapping[str, Any], key: Any, number: Any
    ) -> Advanced:
        """Return what step `number` (from 1) leads to: one world, one action."""
        for_step, for_observing = _two_keys(key, number)
        after, reward, ended = self.task.step(state, action, theta, for_step)
        after = _real(after, self.precision)
        return Advanced(
            after,
            _real(self.task.observe(after, theta, for_observing), self.precision),
            _real(reward, self.precision),
            ended,
            self.task.success and self.task.success(after, theta),
        )

    @property
    def rows(self) -> int:
        """Return how many worlds are best stepped together."""
        return ROWS

    def instantiate(
        self, values: Mapping[str, FloatArray]
    ) -> JaxWorlds | PlaceableJaxWorlds:
        """Return B worlds, compiled when B of them first start and first step."""
        size, every = checked_values(self, values)
        theta = {name: each.astype(self.precision) for name, each in every.items()}
        compiled = _compiled(self.task, self.precision)
        worlds = JaxWorlds(compiled, theta, size, self.task.horizon)
        return PlaceableJaxWorlds(worlds) if self.task.place else worlds


@final
class JaxWorlds:
    """B worlds of one task."""

    def __init__(
        self,
        compiled: _Compiled,
        theta: Mapping[str, AnyArray],
        size: int,
        horizon: int | None,
    ) -> None:
        self._compiled, self._theta, self._horizon = compiled, theta, horizon
        self._keys: AnyArray = np.zeros((size, 2), np.uint32)
        self._state: Any = None
        self._steps = 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world."""
        self._keys, self._steps = _words(seeds), 0
        self._state, seen = self._compiled.begin(self._theta, self._keys)
        return _table(seen)

    def begin_at(self, observations: FloatArray) -> None:
        """Begin where observations are shown: only for tasks that can."""
        self._steps = 0
        self._state = self._compiled.place(observations, self._theta)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step in every world."""
        self._steps += 1
        after = self._compiled.advance(
            self._state, actions, self._theta, self._keys, np.uint32(self._steps)
        )
        self._state = after.state
        over = self._horizon is not None and self._steps >= self._horizon
        return Stepped(
            _table(after.observation),
            np.asarray(after.reward, np.float64),
            np.asarray(after.ended) | over,
            None if after.success is None else np.asarray(after.success),
        )

    def close(self) -> None:
        """Nothing is held."""


@final
class PlaceableJaxWorlds:
    """The same worlds, of a task whose observations say the state."""

    def __init__(self, inner: JaxWorlds) -> None:
        self.reset, self.step, self.close = inner.reset, inner.step, inner.close
        self.place = inner.begin_at


def open_jax(thing: Any, *, precision: npt.DTypeLike = SINGLE) -> JaxSimulator:
    """Return the simulator of a built-in task by name, or of a task of one's own.

    The functions are traced once, without numbers, so that what does not fit is told
    here and not in the middle of a measurement.
    """
    jax = needed("jax", what="a simulator of equations")
    task = built_in(thing) if isinstance(thing, str) else as_task(thing)
    if precision == DOUBLE and not jax.config.jax_enable_x64:
        raise InvalidArgument(
            f"{task.name} in float64, and JAX works in float32",
            hint="jax.config.update('jax_enable_x64', True) first, or the environment "
            "variable JAX_ENABLE_X64=1",
        )
    simulator = JaxSimulator(task, np.dtype(precision))
    _try_out(simulator)
    return simulator


def episode_keys(seeds: OffsetArray) -> Any:
    """Return the keys of episodes with these seeds, (B,): one each."""
    jax = needed("jax", what="a simulator of equations")
    return jax.random.wrap_key_data(_words(seeds), impl=KEYS)


class _Compiled(NamedTuple):
    begin: Any
    advance: Any
    place: Any


@lru_cache(maxsize=64)
def _compiled(task: JaxTask, precision: Precision) -> _Compiled:
    """Return a task's functions for many worlds; JAX compiles them for each number."""
    import jax

    simulator = JaxSimulator(task, precision)
    kind = np.dtype(np.int32) if isinstance(task.action, Choices) else precision

    def begin(theta: Any, words: Any) -> Any:
        keys = jax.random.wrap_key_data(words, impl=KEYS)
        return jax.vmap(simulator.begin)(theta, keys)

    def advance(state: Any, actions: Any, theta: Any, words: Any, number: Any) -> Any:
        keys = jax.random.wrap_key_data(words, impl=KEYS)
        every = jax.vmap(simulator.advance, in_axes=(0, 0, 0, 0, None))
        return every(state, actions.astype(kind), theta, keys, number)

    def place(observations: Any, theta: Any) -> Any:
        assert task.place is not None
        state = jax.vmap(task.place)(observations.astype(precision), theta)
        return _real(state, precision)

    return _Compiled(
        jax.jit(begin), jax.jit(advance), jax.jit(place) if task.place else None
    )


def _try_out(simulator: JaxSimulator) -> None:
    """Trace a task, and refuse what the door cannot carry from step to step."""
    import jax

    task, name = simulator.task, simulator.name
    number = jax.ShapeDtypeStruct((), simulator.precision)
    theta = {each.name: number for each in task.parameters}
    key = jax.eval_shape(lambda: jax.random.key(0, impl=KEYS))
    if isinstance(task.action, Choices):
        action = jax.ShapeDtypeStruct((), np.int32)
    else:
        action = jax.ShapeDtypeStruct((task.action.size,), simulator.precision)
    count = jax.ShapeDtypeStruct((), np.uint32)

    def moved(state: Any, action: Any, theta: Any, key: Any) -> Any:
        return _real(task.step(state, action, theta, key)[0], simulator.precision)

    try:
        state, seen = jax.eval_shape(simulator.begin, theta, key)
        _check_same(name, state, jax.eval_shape(moved, state, action, theta, key))
        after = jax.eval_shape(simulator.advance, state, action, theta, key, count)
    except SimgapError:
        raise
    except Exception as error:  # of the user's functions, whatever it is
        raise InvalidArgument(
            f"{name} cannot be traced: {what_happened(error)}",
            hint="start(theta, key), observe(state, theta, key) and step(state, "
            "action, theta, key) are written with jax.numpy, without `if` on numbers",
            code="cannot-be-traced",
        ) from error
    shape = () if isinstance(task.observation, Choices) else (task.observation.size,)
    for what, found, wanted in (
        ("observe returns", seen.shape, shape),
        ("a reward is", after.reward.shape, ()),
        ("an end is", np.shape(after.ended), ()),
    ):
        if found != wanted:
            raise InvalidArgument(
                f"{name}: {what} of shape {found}, not {wanted}",
                hint="the functions of a task are about one world",
                code="wrong-shape",
            )


def _check_same(name: str, before: Any, after: Any) -> None:
    """Refuse states whose shapes or types a step changes."""
    import jax

    kinds = [
        jax.tree.map(lambda each: f"{each.shape} {each.dtype}", each)
        for each in (before, after)
    ]
    if kinds[0] != kinds[1]:
        raise InvalidArgument(
            f"{name}: a state is {kinds[0]} at the start and {kinds[1]} after a step",
            hint="keep the shapes and the types (whole or not) the same",
            code="wrong-shape",
        )


def _two_keys(key: Any, number: Any) -> Any:
    """Return a key for what happens in a step, and one for what is seen after it."""
    import jax

    return jax.random.split(jax.random.fold_in(key, number))


def _real(tree: Any, precision: Precision) -> Any:
    """Return arrays of which those that are not whole have the precision asked for."""
    import jax
    import jax.numpy as jnp

    def one(leaf: Any) -> Any:
        array = jnp.asarray(leaf)
        real = jnp.issubdtype(array.dtype, jnp.floating)
        return array.astype(precision) if real else array

    return jax.tree.map(one, tree)


def _words(seeds: OffsetArray) -> AnyArray:
    """Return seeds as two words each, the high one first."""
    whole = np.asarray(seeds).astype(np.uint64)
    return np.stack([whole >> np.uint64(32), whole], axis=-1).astype(np.uint32)


def _table(seen: Any) -> FloatArray:
    """Return observations as (B, O) numbers."""
    table = np.asarray(seen, np.float64)
    return table.reshape(len(table), -1)
