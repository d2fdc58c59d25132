"""Many MuJoCo worlds at once, each with its own model, with any MuJoCo since 3.3.

One `MjData` steps all of them. A row holds the whole state of the integrator, the warm
start of its solver among it: what a row does depends on no other row, and is what one
`MjData` of its own, or `mujoco.batch`, would do, bit for bit. A row that MuJoCo warns
about (positions that are not finite, contacts that do not fit in memory) is broken:
MuJoCo would put it back to its start and go on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from numbers import Number
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, BoolArray, FloatArray, OffsetArray
from simgap.continuous.interfaces import Stepped
from simgap.continuous.simulators.mujoco_models import quiet
from simgap.continuous.simulators.mujoco_tasks import MuJoCoTask, Seen, Start
from simgap.continuous.user_code import what_happened
from simgap.errors import InvalidArgument, SimgapError
from simgap.text import listed, shown

ARENA = re.compile(  # arrays whose size changes from step to step
    "efc_|efm_|iefc_|iacc|ifrc_|map_|island_|dof_island|tree_island|tendon_efcadr"
)
ON_DEMAND = ("cacc", "cfrc_int", "cfrc_ext")  # computed only if somebody asks
PROBLEMS = {
    "mjWARN_INERTIA": "the inertia matrix is singular",
    "mjWARN_CONTACTFULL": "there are more contacts than fit in memory",
    "mjWARN_CNSTRFULL": "there are more constraints than fit in memory",
    "mjWARN_BADQPOS": "a position is not finite or huge: the physics is unstable",
    "mjWARN_BADQVEL": "a velocity is not finite or huge: the physics is unstable",
    "mjWARN_BADQACC": "an acceleration is not finite or huge: the physics is unstable",
    "mjWARN_BADCTRL": "an action is not finite or huge",
}


@final
class MuJoCoWorlds:
    """B worlds of one task; model i may be the same object in several rows."""

    def __init__(self, mujoco: Any, models: Sequence[Any], task: MuJoCoTask) -> None:
        self._mujoco, self._models, self._task = mujoco, models, task
        data = mujoco.MjData(models[0])
        self._derived: dict[str, AnyArray] = {}
        for name in task.fields:
            value = getattr(data, name, None)
            if ARENA.match(name) or not isinstance(value, Number | np.ndarray):
                raise InvalidArgument(
                    f"the task asks for {shown(name)}, which is no array of MjData",
                    hint=f"fields are for instance {listed(['xpos', 'sensordata'])}",
                    code="task-field",
                )
            self._derived[name] = np.array([value] * len(models))
        self._on_demand = not set(ON_DEMAND).isdisjoint(task.fields)
        self._whole = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        size = partial(mujoco.mj_stateSize, models[0])
        self._states: FloatArray = np.zeros((len(models), size(self._whole)))
        self._parts = {}  # which columns of a state
        for name in ("qpos", "qvel", "ctrl"):
            bit = int(getattr(mujoco.mjtState, f"mjSTATE_{name.upper()}"))
            ends = (size(self._whole & (each - 1)) for each in (bit, 2 * bit))
            self._parts[name] = slice(*ends)
        sleep = int(getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
        hidden = models[0].nplugin or models[0].opt.enableflags & sleep  # state besides
        every = [mujoco.MjData(each) if hidden else data for each in models]
        self._warnings = np.zeros((len(models), len(data.warning.number)), np.int64)
        self._rows = [
            (model, data, state, data.warning.number)
            for model, data, state in zip(models, every, self._states, strict=True)
        ]
        self._notes: FloatArray = np.zeros((len(models), 0))
        self._seen: Seen | None = None
        self._steps = 0

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start an episode in each world, from what the task draws with its seed."""
        starts = [
            self._ask("reset", np.random.default_rng(int(seed) % (1 << 64)), model)
            for seed, model in zip(seeds, self._models, strict=True)
        ]
        parts = [np.array(part, np.float64) for part in zip(*starts, strict=True)]
        return self._begin(tuple(parts))

    def put(self, observations: FloatArray) -> None:
        """Put the worlds where the task's `unobserve` says that observations are."""
        self._begin(self._ask("unobserve", np.asarray(observations, np.float64)))

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step of every world that is alive."""
        mujoco, before, broken = self._mujoco, self._now(), dict[int, str]()
        actions = np.asarray(actions, np.float64)
        self._states[alive, self._parts["ctrl"]] = actions[alive]
        self._warnings[:] = 0
        self._steps += 1
        with quiet(mujoco):
            for row in np.flatnonzero(alive).tolist():
                model, data, state, warnings = self._rows[row]
                mujoco.mj_setState(model, data, state, self._whole)
                warnings[:] = 0
                try:
                    mujoco.mj_step(model, data, nstep=self._task.frame_skip)
                    if self._on_demand:
                        mujoco.mj_rnePostConstraint(model, data)
                except mujoco.FatalError as error:  # the row stays as it was before
                    broken[row] = _line(error)
                    mujoco.mj_resetData(model, data)
                    continue
                self._save(row)
        for row, kind in np.argwhere(self._warnings).tolist():
            name = mujoco.mjtWarning(kind).name
            broken.setdefault(row, PROBLEMS.get(name, name))
        after = self._seen = self._look()
        return self._told(before, actions, after, broken)

    def close(self) -> None:
        """Let go of the models."""
        self._models, self._rows, self._seen = (), [], None

    def _begin(self, parts: Start) -> FloatArray:
        size, model = len(self._models), self._models[0]
        wanted = (model.nq, model.nv)
        shapes = [part.shape for part in parts]
        if [*shapes[:2]] != [(size, each) for each in wanted] or len(shapes) > 3:
            raise InvalidArgument(
                f"the task starts with arrays of shapes {[s[1:] for s in shapes]}",
                hint=f"return positions ({wanted[0]},), velocities ({wanted[1]},) and, "
                "if there are any, notes of the episode, an array",
                code="task-shape",
            )
        self._notes = (
            parts[2].reshape(size, -1) if len(parts) > 2 else np.zeros((size, 0))
        )
        self._steps = 0
        with quiet(self._mujoco):
            for row, (model, data, *_) in enumerate(self._rows):
                self._mujoco.mj_resetData(model, data)
                data.qpos[:], data.qvel[:] = parts[0][row], parts[1][row]
                try:
                    self._mujoco.mj_forward(model, data)
                except self._mujoco.FatalError as error:
                    raise InvalidArgument(
                        f"MuJoCo cannot start world {row}: {_line(error)}",
                        hint="its message says what to change in the XML",
                        code="model-refused",
                    ) from error
                self._save(row)
        self._seen = self._look()
        return self._observation(self._seen)

    def _save(self, row: int) -> None:
        """Keep the state of a row, and what is seen of it."""
        model, data, state, warnings = self._rows[row]
        self._mujoco.mj_getState(model, data, state, self._whole)
        for name, values in self._derived.items():
            values[row] = getattr(data, name)
        self._warnings[row] = warnings

    def _now(self) -> Seen:
        if self._seen is None:
            raise InvalidArgument(
                "a step before the first reset", hint="call reset(seeds) first"
            )
        return self._seen

    def _look(self) -> Seen:
        states = self._states.copy()
        qpos, qvel, ctrl = (states[:, part] for part in self._parts.values())
        derived = {name: array.copy() for name, array in self._derived.items()}
        time = states[:, 0]
        return Seen(self._models[0], qpos, qvel, ctrl, time, self._notes, derived)

    def _told(
        self, before: Seen, actions: FloatArray, after: Seen, broken: dict[int, str]
    ) -> Stepped:
        size = len(self._models)
        reward = self._per_world("reward", np.float64, before, actions, after)
        late = self._task.horizon is not None and self._steps >= self._task.horizon
        ended = np.full(size, late, np.bool_)
        if self._task.ended is not None:
            ended |= self._per_world("ended", np.bool_, after)
        success = None
        if self._task.success is not None:
            success = self._per_world("success", np.bool_, after)
        ended[list(broken)] = True
        return Stepped(self._observation(after), reward, ended, success, broken)

    def _observation(self, seen: Seen) -> FloatArray:
        found: FloatArray = np.asarray(self._ask("observe", seen), np.float64)
        if found.ndim != 2 or found.shape[0] != len(self._models):
            raise self._shape("observe", found.shape, f"({len(self._models)}, numbers)")
        return found

    def _per_world(self, name: str, dtype: Any, *given: Any) -> Any:
        found = np.array(self._ask(name, *given), dtype)
        if found.shape != (len(self._models),):
            raise self._shape(name, found.shape, f"({len(self._models)},)")
        return found

    def _ask(self, name: str, *given: Any) -> Any:
        function = getattr(self._task, name)
        try:
            return function(*given)
        except SimgapError:
            raise
        except Exception as error:
            code = getattr(function, "__code__", None)
            where = Path(code.co_filename) if code else None
            raise InvalidArgument(
                f"{name} of the task failed: {what_happened(error, where)}",
                hint="it takes and returns arrays of many worlds at once",
                code="task-failed",
            ) from error

    def _shape(self, name: str, found: tuple[int, ...], wanted: str) -> InvalidArgument:
        return InvalidArgument(
            f"{name} of the task returns an array of shape {found}, not {wanted}",
            hint="functions of a task are of many worlds at once: axis 0 is the world",
            code="task-shape",
        )


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
