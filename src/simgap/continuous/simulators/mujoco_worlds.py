"""Many MuJoCo worlds at once, each with its own model, on MuJoCo's own threads.

The worlds step through `mujoco.batch`, whose rows hold the whole state of the
integrator, the warm start of its solver among it: what a row does depends neither on
the other rows nor on the number of threads, and is what one `MjData` of its own would
do, bit for bit. A row that MuJoCo warns about (positions that are not finite, contacts
that do not fit in memory) is broken: MuJoCo would put it back to its start and go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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

    def __init__(
        self, mujoco: Any, models: Sequence[Any], task: MuJoCoTask, *, threads: int
    ) -> None:
        from mujoco.batch import DATA_FIELDS, Batch

        self._mujoco, self._models, self._task = mujoco, models, task
        if unknown := [each for each in task.fields if each not in DATA_FIELDS]:
            raise InvalidArgument(
                f"the task asks for {shown(unknown[0])}, which is no array of MjData",
                hint=f"fields are for instance {listed(['xpos', 'sensordata'])}",
                code="task-field",
            )
        self._asked = [each for each in task.fields if each in ON_DEMAND]
        make = partial(Batch, models[0], len(models), threads)
        try:
            self._batch = make(persistent=bool(self._asked))
        except ValueError:  # of a model whose bodies may sleep, for instance
            self._batch = make(persistent=True)
        self._batch.set_models(models)
        self._outputs = {
            name: self._batch.bind(name)
            for name in task.fields
            if name not in self._asked
        }
        self._demanded: dict[str, FloatArray] = {}
        self._scratch = mujoco.MjData(models[0]) if self._asked else None
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
        batch, before = self._batch, self._now()
        self._steps += 1
        warned = batch.warning[:, :, 1].copy()
        batch.ctrl[alive] = actions[alive]
        broken: dict[int, str] = {}
        with quiet(self._mujoco):
            try:
                batch.step(alive, nstep=self._task.frame_skip)
            except RuntimeError:  # of MuJoCo itself; those rows are as they were before
                rows = np.flatnonzero(alive & (batch.status != 0))
                broken = {int(row): batch.error(int(row)) for row in rows}
            self._demand(alive & (batch.status == 0))
        for row, kind in np.argwhere(batch.warning[:, :, 1] > warned).tolist():
            name = self._mujoco.mjtWarning(kind).name
            broken.setdefault(row, PROBLEMS.get(name, name))
        after = self._seen = self._look()
        return self._told(before, np.asarray(actions, np.float64), after, broken)

    def close(self) -> None:
        """Let go of the models."""
        self._models, self._seen = (), None

    def _begin(self, parts: Start) -> FloatArray:
        batch, size = self._batch, len(self._models)
        wanted = (batch.model.nq, batch.model.nv)
        shapes = [part.shape for part in parts]
        if [*shapes[:2]] != [(size, each) for each in wanted] or len(shapes) > 3:
            raise InvalidArgument(
                f"the task starts with arrays of shapes {[s[1:] for s in shapes]}",
                hint=f"return positions ({wanted[0]},), velocities ({wanted[1]},) and, "
                "if there are any, notes of the episode, an array",
                code="task-shape",
            )
        none = self._mujoco.mjtStage.mjSTAGE_NONE.value
        batch.reset(stage=none)
        batch.qpos, batch.qvel = parts[0], parts[1]
        self._notes = (
            parts[2].reshape(size, -1) if len(parts) > 2 else np.zeros((size, 0))
        )
        batch.warning[...] = 0
        self._steps = 0
        with quiet(self._mujoco):
            batch.forward()
        self._demanded = {
            name: np.zeros((size, *getattr(self._scratch, name).shape))
            for name in self._asked
        }
        self._seen = self._look()
        return self._observation(self._seen)

    def _now(self) -> Seen:
        if self._seen is None:
            raise InvalidArgument(
                "a step before the first reset", hint="call reset(seeds) first"
            )
        return self._seen

    def _look(self) -> Seen:
        batch = self._batch
        derived: dict[str, AnyArray] = {
            name: array.copy() for name, array in self._outputs.items()
        }
        derived |= {name: array.copy() for name, array in self._demanded.items()}
        return Seen(
            batch.model,
            batch.qpos.copy(),
            batch.qvel.copy(),
            batch.ctrl.copy(),
            batch.time.copy(),
            self._notes,
            derived,
        )

    def _demand(self, rows: BoolArray) -> None:
        """Compute forces between bodies, which a step of MuJoCo leaves out."""
        for row in np.flatnonzero(rows).tolist() if self._asked else ():
            self._batch.get_data(row, self._scratch)
            self._mujoco.mj_rnePostConstraint(self._models[row], self._scratch)
            for name in self._asked:
                self._demanded[name][row] = getattr(self._scratch, name)

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
