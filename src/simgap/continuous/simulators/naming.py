"""From a text or an object to a simulator: the one place that knows all doors.

A door is imported when it is opened, so that naming one simulator does not load the
libraries of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from simgap.continuous.interfaces import Simulator
from simgap.continuous.simulators.delay import with_delay
from simgap.continuous.simulators.jax_task import FUNCTIONS
from simgap.continuous.simulators.tasks.catalogue import TASKS
from simgap.continuous.user_code import names_user_code, user_code
from simgap.errors import InvalidArgument
from simgap.interrupts import time_limit
from simgap.mdp import LatentMDP, SimulatorClass, TabularMDP
from simgap.text import nearest, shown

_HERE = "simgap.continuous.simulators"
GYM = "gym:"
MUJOCO = "mujoco:"
MODEL = "model:"
_DOORS: Mapping[str, tuple[str, str]] = {  # kind -> module, function of a text
    GYM: (f"{_HERE}.gym_door", "open_gym"),
    MUJOCO: (f"{_HERE}.mujoco_door", "open_mujoco"),
    MODEL: (f"{_HERE}.tabular_door", "open_model"),
    "table": (f"{_HERE}.tabular_door", "tabular_simulator"),
    "file": (f"{_HERE}.factory", "open_factory"),
    "task": (f"{_HERE}.jax_door", "open_jax"),
}
BUILT_IN: Mapping[str, str] = {  # name -> what it is
    "pendulum": "Pendulum-v1: swing up with too little torque, and hold",
    "cartpole": "CartPole-v1: balance a pole, push left or right",
    "cart-pole-force": "balance a pole with a motor of hidden gain and polarity",
    "acrobot": "Acrobot-v1: swing two links up by the joint between them",
    "mountain-car": "MountainCar-v0: a weak car that needs a run-up",
    "mountain-car-continuous": "MountainCarContinuous-v0: the same with a throttle",
    "heading": "reach goals with a drive whose mounting angle is hidden",
    "servo": "follow a position with a motor of hidden gain and polarity",
    "point-mass": "reach a goal in a hidden wind",
    "puck": "MuJoCo: reach goals with thrusters whose mounting angle is hidden",
    "hopper": "MuJoCo, Hopper-v5: one leg, hop forward",
    "half-cheetah": "MuJoCo, HalfCheetah-v5: two legs, run",
    "walker2d": "MuJoCo, Walker2d-v5: two legs, walk",
    "ant": "MuJoCo, Ant-v5: four legs, walk",
    "swimmer": "MuJoCo, Swimmer-v5: three links in a fluid",
    "reacher": "MuJoCo, Reacher-v5: an arm of two links, touch a target",
    "inverted-pendulum": "MuJoCo, InvertedPendulum-v5: balance a pole",
    "inverted-double-pendulum": "MuJoCo, InvertedDoublePendulum-v5: balance two",
}
FORMS = (
    "gym:ENV_ID, mujoco:model.xml, model:INSTANCE, file.py:make, or one of "
    + ", ".join(BUILT_IN)
)


def open_simulator(given: Any) -> Simulator:
    """Return the simulator of a text, of a factory, or one that is ready, with `delay`.

    A text is a built-in name, `gym:ENV_ID`, `mujoco:model.xml`, `file.py:make`, or
    `model:` before an instance or a model file of the tabular half. An object is a
    simulator, a function `make(**theta)` that returns an environment, a task of
    equations for JAX, or a class of tables.
    """
    with time_limit():
        found = _of_text(given.strip()) if isinstance(given, str) else _of_object(given)
    return with_delay(found)


def _of_object(given: Any) -> Simulator:
    has = () if isinstance(given, type) else dir(given)  # a class is a factory
    if "instantiate" in has:
        ready: Simulator = given
        return ready
    if isinstance(given, LatentMDP | SimulatorClass | TabularMDP):
        return _opened("table", given)
    if all(name in has for name in FUNCTIONS):
        return _opened("task", given)
    if "step" in has:
        raise InvalidArgument(
            f"{type(given).__name__} is one environment, with one set of parameters",
            hint="give a function make(mass=1.0, ...) that returns an environment",
            code="one-environment",
        )
    if callable(given):
        from simgap.continuous.simulators.factory import simulator_from_factory

        return simulator_from_factory(given)
    raise InvalidArgument(
        f"{type(given).__name__} is not a simulator",
        hint=f"give a text ({FORMS}) or a function make(**theta)",
        code="not-a-simulator",
    )


def _of_text(text: str) -> Simulator:
    if text in BUILT_IN:
        return _opened("task" if text in TASKS else MUJOCO, text)
    if text.startswith(GYM):
        gym_id = text.removeprefix(GYM)
        return _opened(MUJOCO if _is_mujoco(gym_id) else GYM, gym_id)
    if text.startswith(MUJOCO):
        return _opened(MUJOCO, text.removeprefix(MUJOCO))
    if text.startswith(MODEL):
        return _opened(MODEL, text.removeprefix(MODEL))
    if names_user_code(text):
        return _of_file(text)
    raise InvalidArgument(
        f"there is no simulator {shown(text)!r}", hint=_meant(text), code="no-simulator"
    )


def _of_file(text: str) -> Simulator:
    """Return the simulator that a file makes, or that stands in it."""
    found = user_code(text, example="make", fits=lambda value: value is not None).value
    function = callable(found) and not hasattr(found, "instantiate")
    return _opened("file", text) if function else _of_object(found)


def _opened(kind: str, given: Any) -> Simulator:
    module, function = _DOORS[kind]
    door: Callable[[Any], Simulator] = getattr(import_module(module), function)
    return door(given)


def _is_mujoco(gym_id: str) -> bool:
    """Return whether an id is one of Gymnasium's own MuJoCo environments."""
    from gymnasium import registry

    spec = registry.get(gym_id.partition("?")[0])
    return spec is not None and str(spec.entry_point).startswith(
        "gymnasium.envs.mujoco"
    )


def _meant(text: str) -> str:
    """Return what a text that names nothing may stand for."""
    if text.endswith(".xml"):
        return f"did you mean {MUJOCO}{text}?"
    if ".py" in text:
        return f"did you mean {text.partition('.py')[0]}.py:make?"
    plain = text.lower().replace("_", "-").replace(" ", "-")
    ids: list[str] = []
    if text[:1].isalpha() and "-v" in text:
        from gymnasium import registry

        ids = [f"{GYM}{each}" for each in registry]
    near = nearest(f"{GYM}{text}", ids, cutoff=0.8) or nearest(plain, BUILT_IN)
    first = [f"did you mean {near[0]}?"] if near else []
    return " ".join([*first, f"simulators are {FORMS}"])
