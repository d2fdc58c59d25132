"""Policies that are Python: functions, and objects with `reset` and `act` or `predict`.

A function is called `f(observation, memory)` for one world and returns the action and
what it remembers from now on; memory is None when an episode begins. With a third
parameter `theta` it is told the parameters of the world, by name: an informed policy.
With `f.batched = True` it is called once for all worlds, with one row each.

An object with `reset(batch)` and `act(observations, memory)` is a policy already. One
with `predict` is asked as Stable-Baselines3 does it: a batch of observations, the state
of the network, which episodes begin, and no random actions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous.interfaces import Batch, Choices, Simulator, Space
from simgap.continuous.policies.actions import shaped_actions
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError
from simgap.text import shown

CONTRACT = "f(observation, memory) returns (action, memory)"
NO_DEFAULT = inspect.Parameter.empty


def python_policy(
    given: Any, name: str, simulator: Simulator, path: Path | None = None
) -> FunctionPolicy | BatchedFunction | ObjectPolicy | PredictingPolicy:
    """Return a function or an object as a policy; a class is made without arguments."""
    seen, acts = simulator.observation, simulator.action
    if isinstance(given, type):
        try:
            given = given()
        except (Exception, SystemExit) as error:
            raise InvalidArgument(
                f"the policy {name} cannot be made: {what_happened(error, path)}",
                hint="a class is called without arguments; or name a function",
                code="policy-failed",
            ) from error
    if callable(getattr(given, "reset", None)) and callable(
        getattr(given, "act", None)
    ):
        return ObjectPolicy(name, given, acts)
    if callable(getattr(given, "predict", None)):
        _refuse_normaliser(given, name)
        return PredictingPolicy(name, given, seen, acts, _taken(given.predict))
    if not callable(given):
        raise InvalidArgument(
            f"{type(given).__name__} is not a policy",
            hint=f"give a function, where {CONTRACT}, or an object with predict",
            code="not-a-policy",
        )
    informed = _informed(given, name)
    if getattr(given, "batched", False):
        return BatchedFunction(name, given, seen, acts, informed)
    return FunctionPolicy(name, given, seen, acts, informed, path)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Remembered:
    """What a function remembers of each world, and in which worlds it failed."""

    values: tuple[Any, ...]  # (B,)
    theta: tuple[Mapping[str, float], ...]  # (B,), for informed functions
    errors: Mapping[int, SimgapError] = field(default_factory=dict)  # by row

    @property
    def failed(self) -> dict[int, str]:
        """Return what went wrong in which rows, in words."""
        return {row: each.problem for row, each in self.errors.items()}

    @property
    def kept(self) -> bool:
        """Return whether the function returned a memory at all."""
        return any(each is not None for each in self.values)


class Told(NamedTuple):
    """What a function of all worlds remembers, and what it is told of them."""

    value: Any
    theta: Mapping[str, FloatArray]

    @property
    def kept(self) -> bool:
        """Return whether the function returned a memory at all."""
        return self.value is not None


class Predicted(NamedTuple):
    """The state of a network that predicts, and whether episodes begin."""

    state: Any
    begins: bool

    @property
    def kept(self) -> bool:
        """Return whether the network has a state."""
        return self.state is not None


@final
@dataclass(frozen=True, slots=True, eq=False)
class FunctionPolicy:
    """A function that is asked for one world after the other.

    Where it fails, the action is not a number and `failed` of the memory says why: an
    episode is lost, not the measurement.
    """

    name: str
    function: Callable[..., Any]
    observation: Space
    action: Space
    informed: bool
    path: Path | None = None  # of its file

    def reset(self, batch: Batch) -> Remembered:
        """Return None for each world."""
        told = tuple(
            {key: float(each[row]) for key, each in batch.theta.items()}
            for row in range(batch.size if self.informed else 0)
        )
        return Remembered((None,) * batch.size, told)

    def act(
        self, observations: FloatArray, memory: Remembered
    ) -> tuple[FloatArray, Remembered]:
        """Return the actions; a world in which the function failed has none."""
        size = len(observations)
        width = () if isinstance(self.action, Choices) else (self.action.size,)
        actions: FloatArray = np.full((size, *width), np.nan)
        values, errors = list(memory.values), dict(memory.errors)
        for row in range(size):
            if row in errors:
                continue
            seen = one_seen(observations[row], self.observation)
            theta = (memory.theta[row],) if self.informed else ()
            try:
                action, after = _pair(self.function(seen, values[row], *theta))
                actions[row] = shaped_actions(_one_row(action), self.action, 1)[0]
                values[row] = after
            except SimgapError as error:
                errors[row] = error
            except (Exception, SystemExit) as error:  # whatever it is
                told = what_happened(error, self.path)
                errors[row] = InvalidArgument(told, code="policy-failed")
        return actions, Remembered(tuple(values), memory.theta, errors)


@final
@dataclass(frozen=True, slots=True, eq=False)
class BatchedFunction:
    """A function that is asked for all worlds at once; memory is its own value."""

    name: str
    function: Callable[..., Any]
    observation: Space
    action: Space
    informed: bool

    def reset(self, batch: Batch) -> Told:
        """Return None, and what an informed function is told."""
        return Told(None, batch.theta if self.informed else {})

    def act(self, observations: FloatArray, memory: Told) -> tuple[FloatArray, Told]:
        """Return the actions of all worlds."""
        told = (dict(memory.theta),) if self.informed else ()
        seen = all_seen(observations, self.observation)
        actions, after = _pair(self.function(seen, memory.value, *told))
        shaped = shaped_actions(actions, self.action, len(observations))
        return shaped, Told(after, memory.theta)


@final
@dataclass(frozen=True, slots=True, eq=False)
class ObjectPolicy:
    """An object with `reset` and `act`, whose actions are checked."""

    name: str
    inner: Any
    action: Space

    def reset(self, batch: Batch) -> Any:
        """Return what the object remembers when episodes begin."""
        return self.inner.reset(batch)

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        """Return the actions of all worlds."""
        actions, memory = _pair(self.inner.act(observations, memory))
        return shaped_actions(actions, self.action, len(observations)), memory


@final
@dataclass(frozen=True, slots=True, eq=False)
class PredictingPolicy:
    """An object with `predict`, for instance a model of Stable-Baselines3."""

    name: str
    inner: Any
    observation: Space
    action: Space
    taken: frozenset[str]  # which of the usual keywords `predict` takes

    def reset(self, batch: Batch) -> Predicted:
        """Return no state, and that episodes begin."""
        return Predicted(None, True)

    def act(
        self, observations: FloatArray, memory: Predicted
    ) -> tuple[FloatArray, Predicted]:
        """Return the actions that are predicted, and the state of the network."""
        (state, begins), size = memory, len(observations)
        seen = all_seen(observations, self.observation)
        if seen.dtype == np.float64:
            seen = seen.astype(np.float32)  # as Gymnasium shows them
        usual = {
            "state": state,
            "episode_start": np.full(size, begins),
            "deterministic": True,
        }
        answer = self.inner.predict(seen, **{key: usual[key] for key in self.taken})
        actions, state = answer if isinstance(answer, tuple) else (answer, None)
        return shaped_actions(actions, self.action, size), Predicted(state, False)


def one_seen(observation: FloatArray, space: Space) -> Any:
    """Return what one world shows, as its user wrote it: a vector or a number."""
    return int(observation[0]) if isinstance(space, Choices) else observation.copy()


def all_seen(observations: FloatArray, space: Space) -> AnyArray:
    """Return what all worlds show: (B, O), or (B,) whole numbers."""
    if isinstance(space, Choices):
        return observations[:, 0].astype(np.int64)
    return observations.copy()


def _pair(answer: Any) -> tuple[Any, Any]:
    if isinstance(answer, tuple) and len(answer) == 2:
        return answer
    told = f"{len(answer)} values" if isinstance(answer, tuple) else "no memory"
    raise InvalidArgument(
        f"the policy returns {told}: {type(answer).__name__}",
        hint=f"{CONTRACT}; without memory, return action, None",
        code="memory-not-returned",
    )


def _one_row(action: Any) -> AnyArray:
    """Return one action as a row; a number is one of length 1."""
    array = np.asarray(action)
    if array.dtype.kind == "c":  # what a root of a negative number gives
        raise InvalidArgument(
            f"an action is {shown(str(action))}",
            hint="an action is a real number: is a root taken of a negative one?",
            code="action-not-real",
        )
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        return np.asarray([action], object)
    return array[None]


def _informed(function: Callable[..., Any], name: str) -> bool:
    """Return whether a function takes theta, or say that it takes something else."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some builtins have none
        return False
    places = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    if any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in parameters):
        return False
    positional = [each for each in parameters if each.kind in places]
    third = len(positional) > 2 and positional[2].name == "theta"
    needed = [each for each in positional[2 + third :] if each.default is NO_DEFAULT]
    named = [
        each
        for each in parameters
        if each.kind is inspect.Parameter.KEYWORD_ONLY and each.default is NO_DEFAULT
    ]
    if len(positional) < 2 or needed or named:
        told = ", ".join(each.name for each in parameters)
        raise InvalidArgument(
            f"the policy {name} takes ({told})",
            hint=f"{CONTRACT}; a third parameter `theta` is told the parameters",
            code="wrong-parameters",
        )
    return third


def _taken(predict: Callable[..., Any]) -> frozenset[str]:
    usual = frozenset({"state", "episode_start", "deterministic"})
    try:
        parameters = inspect.signature(predict).parameters
    except (TypeError, ValueError):
        return frozenset()
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return usual
    return usual & set(parameters)


def _refuse_normaliser(given: Any, name: str) -> None:
    """Raise if a model was trained behind a normaliser that `predict` leaves out."""
    find = getattr(given, "get_vec_normalize_env", None)
    found = find() if callable(find) else None
    if found is not None and getattr(found, "norm_obs", True):
        raise InvalidArgument(
            f"the policy {name} was trained on normalised observations, which predict "
            "alone does not make",
            hint="give a function: lambda o, m: model.predict(normaliser.normalize_obs("
            "o), m, deterministic=True), and set its normaliser.training = False",
            code="normaliser-missing",
        )
