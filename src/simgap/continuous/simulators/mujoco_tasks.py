"""What makes a MuJoCo model a task: how it starts, what is seen, what is rewarded.

An XML file says how bodies move and nothing about a task. The rest is a Python file
beside it (`robot.py` for `robot.xml`) or named with it (`robot.xml?task=reach.py`, or
`?task=tasks.py:Reach` for a class). It defines functions of many worlds at once:

    import numpy as np

    frame_skip = 5  # steps of MuJoCo for one action
    horizon = 200  # steps of an episode

    def reset(rng, model):  # one world; if missing, the model's own pose at rest
        return model.qpos0 + rng.uniform(-0.1, 0.1, model.nq), np.zeros(model.nv)

    def observe(seen):  # (B, O); if missing, positions and velocities
        return np.concatenate([seen.qpos[:, 1:], seen.qvel], axis=1)

    def reward(before, action, after):  # (B,): needed
        return after.qpos[:, 0] - before.qpos[:, 0] - 0.1 * (action**2).sum(axis=1)

    def ended(seen):  # (B,) of bool; if missing, episodes do not end early
        return seen.qpos[:, 2] < 0.3

`seen` has `qpos`, `qvel`, `ctrl` and `time` of all worlds, and other fields of `MjData`
if the file asks for them: `fields = ("xpos", "sensordata")`. What a file may define
are the fields of `MuJoCoTask`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.simulators.declared import declared_parameters
from simgap.continuous.user_code import user_code, user_module
from simgap.errors import InvalidArgument
from simgap.text import shown

Start = tuple[
    FloatArray, ...
]  # qpos (nq,), qvel (nv,) and, if there are any, notes (K,)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What a task sees of B worlds after a step; derived fields are read by name."""

    model: Any  # of the nominal world: numbers of joints, names of bodies
    qpos: FloatArray  # (B, nq)
    qvel: FloatArray  # (B, nv)
    ctrl: FloatArray  # (B, nu)
    time: FloatArray  # (B,), seconds
    notes: FloatArray  # (B, K), what `reset` noted of the episode: a goal, for instance
    derived: Mapping[str, Any] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name in self.derived:
            return self.derived[name]
        raise InvalidArgument(
            f"the task reads {shown(name)}, which it did not ask for",
            hint=f'write fields = ("{shown(name)}",) beside its functions',
            code="task-field",
        )


def resting(rng: np.random.Generator, model: Any) -> Start:
    """Return the pose of the model itself, at rest."""
    return model.qpos0.copy(), np.zeros(model.nv)


def positions_and_velocities(seen: Seen) -> FloatArray:
    """Return everything that moves, (B, nq + nv)."""
    return np.concatenate([seen.qpos, seen.qvel], axis=1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class MuJoCoTask:
    """A task of a MuJoCo model, as functions of many worlds at once."""

    reward: Callable[[Seen, FloatArray, Seen], FloatArray]
    reset: Callable[[np.random.Generator, Any], Start] = resting
    observe: Callable[[Seen], FloatArray] = positions_and_velocities
    ended: Callable[[Seen], BoolArray] | None = None
    success: Callable[[Seen], BoolArray] | None = None
    unobserve: Callable[[FloatArray], Start] | None = None  # (B, O) -> (B, nq), ...
    fields: tuple[str, ...] = ()  # of MjData, beyond those that `Seen` has
    frame_skip: int = 1
    horizon: int | None = None
    reward_bounds: tuple[float, float] | None = None  # of one step
    parameters: tuple[Parameter, ...] = ()  # beyond those of the model
    apply: Callable[[Any, Mapping[str, float]], None] | None = None  # writes them


TASK_NAMES = tuple(each.name for each in fields(MuJoCoTask))


def user_task(path: Path, named: str) -> MuJoCoTask:
    """Return the task of a model: of the file that is named, or the one beside it."""
    beside = path.with_suffix(".py")
    if (
        named
        and not Path(named.partition(".py:")[0].removesuffix(".py") + ".py").exists()
    ):
        named = str(
            path.parent / named
        )  # of the folder of the model, if not of this one
    if not named and not beside.is_file():
        raise InvalidArgument(
            f"{path} says how bodies move, and nothing says what is rewarded",
            hint=f"write {beside.name} beside it, or name another file with "
            f"{path}?task=FILE.py; in it def reward(before, action, after): return "
            "after.qpos[:, 0] - before.qpos[:, 0] for instance, one number for each "
            "world; def reset(rng, model), observe(seen) and ended(seen) may follow",
            code="no-task",
        )
    if ".py:" in named:
        made = user_code(named, example="Task").value
        holder = made() if isinstance(made, type) else made
    else:
        holder = user_module(Path(named) if named else beside)
    return task_of(holder, named or str(beside))


def task_of(holder: Any, where: str) -> MuJoCoTask:
    """Return the task that a module or an object describes by its names."""
    found = {
        name: value
        for name in TASK_NAMES
        if (value := getattr(holder, name, None)) is not None
    }
    functions = {"reward", "reset", "observe", "ended", "success", "unobserve", "apply"}
    for name in sorted(functions & set(found)):
        if not callable(found[name]):
            raise InvalidArgument(
                f"{name} in {where} is {type(found[name]).__name__}, not a function",
                hint=f"define {name} as a function of many worlds at once",
                code="task-function",
            )
    if "reward" not in found:
        raise InvalidArgument(
            f"{where} defines no reward",
            hint="def reward(before, action, after): return an array with one number "
            "for each world",
            code="no-reward",
        )
    for name, least in (("frame_skip", 1), ("horizon", 1)):
        value = found.get(name, least)
        if not isinstance(value, int) or value < least:
            raise InvalidArgument(
                f"{name} in {where} is {value!r}",
                hint="it is a whole number of steps, at least 1",
                code="task-number",
            )
    if isinstance(found.get("fields"), str):
        found["fields"] = (found["fields"],)
    found["fields"] = tuple(found.get("fields", ()))
    found["parameters"] = declared_parameters(
        where, found.get("parameters"), {}, lambda name: True
    )
    if found["parameters"] and "apply" not in found:
        raise InvalidArgument(
            f"{where} has parameters, and nothing writes them to a model",
            hint="def apply(model, values): model.actuator_gear[0] *= values['gain'], "
            "for instance",
            code="no-apply",
        )
    low, high = found.get("reward_bounds", (0.0, 1.0))
    if not low < high:
        raise InvalidArgument(
            f"reward_bounds in {where} are {low} and {high}",
            hint="give two numbers, the lower one first: reward_bounds = (0.0, 1.0)",
            code="task-number",
        )
    return MuJoCoTask(**found)
