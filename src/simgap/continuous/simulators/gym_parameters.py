"""The numbers of a Gymnasium environment that can be set, found by looking at it.

An argument of its constructor is set by making the environment with it. Any other
number is an attribute, set on the innermost environment. Offered are floats which
neither an episode changes nor another attribute was computed from: whoever sets a
pole's mass must set everything that `__init__` computed from it, and only a table of
known environments or the user's own factory knows what that is.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite
from typing import Any, final

from simgap.continuous.interfaces import Parameter
from simgap.errors import InvalidArgument

DRAWING = ("render", "screen", "window", "viewer", "camera", "fps")


@final
@dataclass(frozen=True, slots=True)
class Argument:
    """A number that is given to the constructor."""

    name: str
    kind: type  # of the default: bool, int or float

    def value(self, given: float) -> bool | int | float:
        """Return what the constructor is given."""
        if self.kind is bool or (self.kind is int and float(given).is_integer()):
            return self.kind(given)
        return float(given)


@final
@dataclass(frozen=True, slots=True)
class Attribute:
    """A number that is set on the innermost environment."""

    name: str


Way = Argument | Attribute  # how a parameter is set


def arguments(
    function: Callable[..., Any], fixed: Mapping[str, Any]
) -> dict[str, tuple[Parameter, Argument]]:
    """Return the numbers and flags that a function takes, with their defaults.

    `fixed` are arguments that are given anyway, and so what they nominally are.
    """
    found: dict[str, tuple[Parameter, Argument]] = {}
    for name, each in signature_of(function).items():
        nominal = fixed.get(name, each.default)
        if _is_drawing(name):
            continue
        if isinstance(nominal, bool):
            parameter = Parameter(name, float(nominal), 0.0, 1.0, whole=True)
        elif isinstance(nominal, (int, float)) and isfinite(nominal):
            parameter = Parameter(name, float(nominal))
        else:
            continue
        found[name] = (parameter, Argument(name, type(nominal)))
    return found


def signature_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a function by name, or refuse one that hides them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"{function!r} does not say what its arguments are",
            hint="wrap it: def make(mass=1.0): return ...",
            code="no-signature",
        ) from error


def attributes(env: Any) -> dict[str, tuple[Parameter, Attribute]]:
    """Return the floats of an environment that can be set by themselves.

    The environment is fresh: it is run a little to see which of them are its state.
    """
    before = _floats(env)
    env.reset(seed=0)
    env.action_space.seed(0)
    with suppress(Exception):  # what steps do wrong is told where they are measured
        for _ in range(3):
            if any(env.step(env.action_space.sample())[2:4]):
                break
    after = _floats(env)
    bound = computed_from(type(env))
    return {
        name: (Parameter(name, value), Attribute(name))
        for name, value in before.items()
        if after.get(name) == value and name not in bound and name not in bound.values()
    }


def computed_from(kind: type) -> dict[str, str]:
    """Return which attributes `__init__` computes others from: name -> a follower.

    This reads the source. `high = [self.limit]; self.space = Box(high)` makes `space` a
    follower of `limit`, through whatever local names.
    """
    found: dict[str, str] = {}
    for each in kind.__mro__:
        if "__init__" in vars(each):
            found |= _followers(each)
    return found


def _followers(kind: type) -> dict[str, str]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind.__init__)))  # type: ignore[misc]
    except (OSError, TypeError, SyntaxError):  # compiled, or made while running
        return {}
    names: dict[str, set[str]] = {}  # local name -> attributes it was computed from
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            continue
        if node.value is None:
            continue
        used = _used(node.value, names)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in (inner for each in targets for inner in ast.walk(each)):
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                names[target.id] = names.get(target.id, set()) | used
            elif _of_self(target) and isinstance(target, ast.Attribute):
                found |= {name: target.attr for name in used if name != target.attr}
    return found


def _used(value: ast.expr, names: Mapping[str, set[str]]) -> set[str]:
    """Return the attributes that an expression depends on."""
    found: set[str] = set()
    for node in ast.walk(value):
        if _of_self(node) and isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Name):
            found |= names.get(node.id, set())
    return found


def _of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def _floats(env: Any) -> dict[str, float]:
    """Return the public numbers of an environment with a decimal point."""
    found: dict[str, float] = {}
    for name in dir(env):
        if name.startswith("_") or _is_drawing(name):
            continue
        if isinstance(inspect.getattr_static(env, name, None), property):
            continue
        value = getattr(env, name, None)
        if isinstance(value, float):  # np.float64 is one too
            found[name] = float(value)
    return found


def _is_drawing(name: str) -> bool:
    return any(word in name.lower() for word in DRAWING)
