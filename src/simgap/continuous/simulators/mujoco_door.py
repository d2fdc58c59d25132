"""The MuJoCo door: an XML file with a task, or a Gymnasium environment by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Box, Parameter
from simgap.continuous.simulators.mujoco_contacts import check_frictions
from simgap.continuous.simulators.mujoco_fields import model_fields, written
from simgap.continuous.simulators.mujoco_gymnasium import KNOWN, gymnasium_file
from simgap.continuous.simulators.mujoco_models import load_model, mujoco_library
from simgap.continuous.simulators.mujoco_tasks import MuJoCoTask, task_of, user_task
from simgap.continuous.simulators.mujoco_worlds import MuJoCoWorlds
from simgap.continuous.simulators.values import checked_values
from simgap.continuous.simulators.wrapped import PlaceableWorlds
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument
from simgap.text import shown

PUCK = "puck"
BY_ID = {known.gym_id: name for name, known in KNOWN.items()}
COMPILED = ("size", "pos", "quat", "axis", "range", "ipos", "inertia", "type")
MOST_KEPT, FEWEST_KEPT = 1 << 26, 128  # bytes and number of models that are kept


def open_mujoco(text: str) -> MuJoCoSimulator:
    """Return the simulator of a name, a Gymnasium id or `FILE.xml?task=FILE.py`."""
    if text == PUCK:
        task = task_of(import_module("simgap.continuous.simulators.puck"), PUCK)
        return MuJoCoSimulator(
            text, load_model(Path(__file__).with_name("puck.xml")), task
        )
    if text in KNOWN or text in BY_ID:
        known = KNOWN[BY_ID.get(text, text)]
        model = load_model(gymnasium_file(known.file))
        name = text if text in KNOWN else f"gym:{text}"
        return MuJoCoSimulator(name, model, known.task)
    path, _, options = text.partition("?")
    if "-v" in path and not Path(path).suffix:
        raise InvalidArgument(
            f"there is no MuJoCo task {shown(path)} here",
            hint=f"there are {', '.join(BY_ID)}; others open as file.py:make",
            code="no-mujoco-task",
        )
    key, _, named = options.partition("=")
    if options and (key != "task" or not named):
        raise InvalidArgument(
            f"{shown(options)} is no option of a MuJoCo model",
            hint=f"write mujoco:{shown(path)}?task=FILE.py or ?task=FILE.py:CLASS",
            code="mujoco-option",
        )
    file = Path(path).expanduser()  # the shell sees no ~ behind mujoco:
    return MuJoCoSimulator(f"mujoco:{text}", load_model(file), user_task(file, named))


@final
class MuJoCoSimulator:
    """A MuJoCo model with a task; its named fields are the parameters."""

    rows = 64  # worlds that are stepped together

    def __init__(self, name: str, model: Any, task: MuJoCoTask) -> None:
        self.name, self.model, self.task = name, model, task
        self._mujoco = mujoco_library()
        self._scratch = self._mujoco.MjData(model)
        kept = max(FEWEST_KEPT, MOST_KEPT // (1 + model.nbuffer))
        self._made = lru_cache(maxsize=kept)(self._model)  # many episodes of one theta
        self._fields = {each.parameter.name: each for each in model_fields(model)}
        if twice := [e.name for e in task.parameters if e.name in self._fields]:
            raise InvalidArgument(
                f"the task's parameter {twice[0]} is one of the model already",
                hint="give it another name",
                code="task-parameter",
            )
        limited = model.actuator_ctrllimited.astype(bool)
        low, high = model.actuator_ctrlrange.T
        self.action = Box(
            np.where(limited, low, -np.inf), np.where(limited, high, np.inf)
        )
        size = self._tried()
        self.observation = Box(np.full(size, -np.inf), np.full(size, np.inf))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every number of the model and of the task that can be set."""
        return (*(f.parameter for f in self._fields.values()), *self.task.parameters)

    @property
    def horizon(self) -> int | None:
        """Steps of an episode, if the task says so."""
        return self.task.horizon

    @property
    def seconds(self) -> float:
        """How long a step is: those of MuJoCo for one action, together."""
        return float(self.model.opt.timestep) * self.task.frame_skip

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return the task's bounds of one reward, added up; episodes may end early."""
        if self.task.reward_bounds is None:
            return None
        low, high = self.task.reward_bounds
        steps = min(horizon, self.task.horizon or horizon)
        return min(low, low * steps), max(high, high * steps)

    def instantiate(
        self, values: Mapping[str, FloatArray]
    ) -> MuJoCoWorlds | PlaceableWorlds:
        """Return B worlds; rows with the same values share a model."""
        for name in values:
            self.check_name(name)
        size, every = checked_values(self, values)
        given = {name: every[name] for name in values}
        self._check_effect(given, size)
        rows = zip(*(each.tolist() for each in given.values()), strict=True)
        models = [self._made(tuple(given), row) for row in rows] or [self._made((), ())]
        worlds = MuJoCoWorlds(self._mujoco, models, self.task)
        can_place = self.task.unobserve is not None
        return PlaceableWorlds(worlds, worlds.put) if can_place else worlds

    def _model(self, names: tuple[str, ...], row: tuple[float, ...]) -> Any:
        values = dict(zip(names, row, strict=True))
        own = {each.name: each.nominal for each in self.task.parameters}
        fields = {self._fields[n]: v for n, v in values.items() if n not in own}
        own |= {name: value for name, value in values.items() if name in own}
        apply = self.task.apply and partial(self._applied, own)
        return written(self.model, self._mujoco, self._scratch, fields, apply)

    def _applied(self, own: Mapping[str, float], model: Any) -> None:
        try:
            (self.task.apply or (lambda *_: None))(model, own)
        except Exception as error:
            raise InvalidArgument(
                f"apply of the task failed: {what_happened(error)}",
                hint="apply(model, values) writes the task's own parameters",
                code="task-failed",
            ) from error

    def check_name(self, name: str) -> None:
        """Raise if a name means what only compiling the model again can change."""
        kind, _, rest = name.replace("[", ".").partition(".")
        what = rest.rpartition(".")[2].partition("_")[0]
        if kind in ("body", "geom", "site", "joint") and what in COMPILED:
            raise InvalidArgument(
                f"{shown(name)} cannot be changed in a compiled model: the volumes "
                "that MuJoCo looks for contacts with would stay as they are",
                hint="write file.py with make(**theta), which edits the XML (MjSpec) "
                "and returns a gymnasium.Env",
                code="compiled-field",
            )
        if what == "com" and "*" not in name and name not in self._fields:
            raise InvalidArgument(
                f"{shown(name)} cannot be changed: there is no such body, or MuJoCo "
                "compiled it as a simple one, whose centre of mass is its origin",
                hint='write <body name="..." simple="false"> in the XML (since MuJoCo '
                "3.11); coordinates are com_x, com_y and com_z",
                code="compiled-field",
            )

    def _check_effect(self, given: Mapping[str, FloatArray], size: int) -> None:
        """Refuse values that would change nothing, or two that are one."""
        parts = [name for name in given if name.startswith("gravity.")]
        if "gravity" in given and parts:
            raise InvalidArgument(
                f"gravity and {parts[0]} set the same vector",
                hint="set its strength or its coordinates",
                code="set-twice",
            )
        wind = [
            name
            for name, values in given.items()
            if name[:5] == "wind." and values.any()
        ]
        medium = sum(
            given.get(n, np.full(size, getattr(self.model.opt, n)))
            for n in ("density", "viscosity")
        )
        if wind and not np.all(medium):
            raise InvalidArgument(
                f"{wind[0]} changes nothing: the model is in a vacuum",
                hint="set density=1.2 too, the density of air in kg/m^3",
                code="wind-in-vacuum",
            )
        check_frictions(self.model, given)

    def _tried(self) -> int:
        """Return how many numbers are seen, after one step of two worlds."""
        models = [self._made((), ())] * 2
        worlds = MuJoCoWorlds(self._mujoco, models, self.task)
        seen = worlds.reset(np.zeros(2, np.int64))
        idle = np.clip(
            np.zeros((2, self.action.size)), self.action.low, self.action.high
        )
        worlds.step(idle, np.ones(2, np.bool_))
        return int(seen.shape[1])
