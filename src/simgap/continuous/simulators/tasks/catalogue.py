"""The built-in tasks by name; a task is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from simgap.continuous.simulators.jax_task import JaxTask
from simgap.errors import InvalidArgument
from simgap.text import listed, suggestion

TASKS: Mapping[str, tuple[str, str]] = {  # name -> module here, name there
    "pendulum": ("pendulum", "PENDULUM"),
    "cartpole": ("cart_pole", "CART_POLE"),
    "cart-pole-force": ("cart_pole", "CART_POLE_FORCE"),
    "acrobot": ("acrobot", "ACROBOT"),
    "mountain-car": ("mountain_car", "MOUNTAIN_CAR"),
    "mountain-car-continuous": ("mountain_car", "MOUNTAIN_CAR_CONTINUOUS"),
    "heading": ("heading", "HEADING"),
    "servo": ("servo", "SERVO"),
    "point-mass": ("point_mass", "POINT_MASS"),
}


def built_in(name: str) -> JaxTask:
    """Return a built-in task, or refuse with a suggestion."""
    if name not in TASKS:
        raise InvalidArgument(
            f"there is no built-in task {name!r}",
            hint=suggestion(name, TASKS) or f"there are {listed(list(TASKS))}",
            code="no-such-task",
        )
    module, attribute = TASKS[name]
    task: JaxTask = getattr(
        import_module(f"simgap.continuous.simulators.tasks.{module}"), attribute
    )
    return task
