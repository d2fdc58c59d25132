"""A look at one environment before it is used: what it shows, takes and returns.

What is wrong with its structure is wrong in every episode, so it is refused at once,
with a code, and not told ten thousand times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.continuous.interfaces import LARGEST
from simgap.continuous.simulators.gym_spaces import Done, Seen, done_of, seen_of
from simgap.continuous.simulators.gym_worlds import started, stepped
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError

NEEDED = ("reset", "step", "observation_space", "action_space")


def probed(env: Any) -> tuple[Seen, Done]:
    """Return how an environment is seen and acted in, after a reset and a step."""
    if missing := [name for name in NEEDED if not hasattr(env, name)]:
        raise InvalidArgument(
            f"{type(env).__name__} is not a Gymnasium environment: "
            f"it has no {missing[0]}",
            hint="return an object of a class derived from gymnasium.Env",
            code="not-an-environment",
        )
    seen, done = seen_of(env.observation_space), done_of(env.action_space)
    try:
        first = started(env, 0, seen)
    except SimgapError:
        raise
    except (Exception, SystemExit) as error:
        raise _failed("reset(seed=0)", error) from error
    _check_finite("observation", first)
    env.action_space.seed(0)
    action = env.action_space.sample()
    try:
        after = stepped(env, action, seen)
    except SimgapError:
        raise
    except (Exception, SystemExit) as error:
        raise _failed(f"step({action})", error) from error
    _check_finite("observation", after.observation)
    _check_finite("reward", after.reward)
    return seen, done


def same_kind(env: Any, seen: Seen, done: Done) -> bool:
    """Return whether an environment has spaces of the sizes that another one had."""
    return all(hasattr(env, name) for name in NEEDED) and (
        seen_of(env.observation_space).space.size == seen.space.size
        and type(env.action_space) is type(done.gym_space)
        and env.action_space.shape == done.gym_space.shape
        and getattr(env.action_space, "n", None) == getattr(done.gym_space, "n", None)
    )


def _check_finite(what: str, value: Any) -> None:
    if not (np.abs(value) <= LARGEST).all():
        raise InvalidArgument(
            f"the {what} of the first step is {value}",
            hint=f"with the nominal parameters it lies within ±{LARGEST:g}",
            code=f"{what}-not-finite",
        )


def _failed(what: str, error: BaseException) -> InvalidArgument:
    seedless = isinstance(error, TypeError) and "seed" in str(error)
    return InvalidArgument(
        f"the environment fails in {what}: {what_happened(error)}",
        hint="write def reset(self, *, seed=None, options=None)"
        if seedless
        else "it must run with its nominal parameters before it can be measured",
        code="reset-without-seed" if seedless else "environment-fails",
    )
