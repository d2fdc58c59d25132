"""A simulator as equations: pure functions of arrays that JAX traces, and no more.

A task describes ONE world; the door vectorises it. Its functions are pure: what they
return depends on their arguments alone, so that they can be mapped, compiled and used
inside a larger program, such as training. `theta` is the parameters by name, a number
each, `key` a key of `jax.random` that is used once, and `state` whatever the task
likes: an array, or a dictionary or tuple of arrays, of the same shapes at every step.

    task = JaxTask(
        name="drift",
        parameters=(Parameter("push", nominal=1.0, unit="m/s"),),
        observation=Box([-inf], [inf]),
        action=Box([-1.0], [1.0]),
        horizon=50,
        start=lambda theta, key: jax.random.normal(key, (1,)),
        observe=lambda state, theta, key: state,
        step=lambda state, action, theta, key: (
            state + 0.1 * theta["push"] * action, -abs(state[0]), False
        ),
    )

Any other object with these names is read as a task too, a module for instance.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, final

from simgap.continuous.interfaces import Box, Choices, Parameter, Space
from simgap.errors import InvalidArgument
from simgap.text import listed

FUNCTIONS = ("start", "observe", "step")


@final
@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JaxTask:
    """The equations of one world with hidden parameters."""

    parameters: tuple[Parameter, ...]
    observation: Space
    action: Space  # a step gets (size,) numbers, of Choices one whole number
    start: Callable[..., Any]  # (theta, key) -> state
    observe: Callable[..., Any]  # (state, theta, key) -> (size,)
    step: Callable[..., Any]  # (state, action, theta, key) -> (state, reward, ended)
    name: str = "task"
    horizon: int | None = None  # steps after which an episode is over anyway
    seconds: float | None = None  # that a step takes
    place: Callable[..., Any] | None = None  # (observation, theta) -> state
    success: Callable[..., Any] | None = None  # (state, theta) -> bool
    return_bounds: Callable[[int], tuple[float, float]] | None = (
        None  # of so many steps
    )

    def __post_init__(self) -> None:
        for space in (self.observation, self.action):
            if not isinstance(space, Box | Choices):
                raise InvalidArgument(
                    f"{self.name}: {space!r} is neither a Box nor Choices",
                    hint="observation and action are simgap.continuous.Box(low, high) "
                    "or Choices(n)",
                )
        wrong = [each for each in self.parameters if not isinstance(each, Parameter)]
        names = [each.name for each in self.parameters if isinstance(each, Parameter)]
        if wrong or len(set(names)) < len(names):
            raise InvalidArgument(
                f"{self.name}: the parameters are not different Parameters: "
                f"{listed([str(each) for each in wrong] or names)}",
                hint="give simgap.continuous.Parameter(name, nominal), one for each",
            )


def as_task(thing: Any) -> JaxTask:
    """Return a task, also from another object that has its names."""
    if isinstance(thing, JaxTask):
        return thing
    required = [each.name for each in fields(JaxTask) if each.default is MISSING]
    missing = [name for name in required if not hasattr(thing, name)]
    if missing:
        raise InvalidArgument(
            f"{type(thing).__name__} is no task: it has no {listed(missing)}",
            hint=f"a task has {listed(required)}",
            code="not-a-task",
        )
    given = {"name": type(thing).__name__} | {
        each.name: getattr(thing, each.name)
        for each in fields(JaxTask)
        if hasattr(thing, each.name)
    }
    if isinstance(given["parameters"], Mapping):  # {"mass": 1.0}
        given["parameters"] = [Parameter(*each) for each in given["parameters"].items()]
    return JaxTask(**given | {"parameters": tuple(given["parameters"])})
