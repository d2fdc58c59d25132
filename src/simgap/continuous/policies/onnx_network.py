"""An ONNX network that is asked step by step: observations and memory in and out.

onnxruntime keeps nothing between calls, so memory is a value here as everywhere. Files
that were exported for one world (or for any fixed number of them) are called several
times, each time with the memory of those worlds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous.extras import needed
from simgap.continuous.interfaces import Choices, Space
from simgap.continuous.policies.actions import wanted
from simgap.continuous.policies.onnx_signature import ACTION, Signature, Tensor
from simgap.errors import InvalidFile

NUMBERS = ("float16", "float32", "float64", "int32", "int64", "bool")


class Carried(NamedTuple):
    """What a network remembers: its states, for each call, and whether all begins."""

    states: tuple[tuple[AnyArray, ...], ...]  # by call, then as roles.memory
    begins: bool
    theta: FloatArray  # (B, P), what an informed network is told; P is 0 for others

    @property
    def kept(self) -> bool:
        """Return whether the network has a state."""
        return any(self.states)


def open_session(model: bytes) -> Any:
    """Return a session of onnxruntime on one thread, or say what is missing."""
    onnxruntime = needed("onnxruntime", what="a policy in ONNX")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4  # what is wrong is raised, once
    return onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"]
    )


def tensors_of(found: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return inputs or outputs of a session as records."""
    names = {"float": "float32", "double": "float64"}
    kinds = [each.type.removeprefix("tensor(").removesuffix(")") for each in found]
    return tuple(
        Tensor(each.name, tuple(each.shape), names.get(kind, kind))
        for each, kind in zip(found, kinds, strict=True)
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A session with its roles, between the spaces of a simulator."""

    session: Any
    signature: Signature
    observation: Space
    action: Space

    def __post_init__(self) -> None:
        seen = self._seen
        for each in map(self.signature.tensor, self._numbers_in):
            if each.type not in NUMBERS:
                raise InvalidFile(
                    f"the input {each.words} does not take numbers",
                    hint=f"it takes {', '.join(NUMBERS)}",
                    code="onnx-of-wrong-type",
                )
        width, want = self._width, self.observation.size
        fits: tuple[int | None, ...] = (None, want)
        if isinstance(self.observation, Choices):
            fits, want = (None, 1, self.observation.n), self.observation.n
        if width not in fits or len(seen.shape) > 3:
            raise InvalidFile(
                f"the network wants an observation {seen.words}",
                hint=f"the simulator shows {want} numbers: was it trained on another, "
                "or with stacked or extra observations?",
                code="observation-of-wrong-width",
            )

    def start(self, theta: FloatArray) -> Carried:
        """Return zeros, for as many calls as the worlds take; (B, P) is told."""
        size = len(theta)
        rows = self._rows(size)
        zeros = tuple(
            np.zeros(self._shape(each, rows), _type(each))
            for each in map(self.signature.tensor, self._memory_in)
        )
        return Carried((zeros,) * -(-size // rows), True, theta)

    def step(
        self, observations: FloatArray, carried: Carried
    ) -> tuple[FloatArray, Carried]:
        """Return what the network says for each world, (B, width), and its memory."""
        roles, size = self.signature.roles, len(observations)
        rows = self._rows(size)
        asked = [roles.action, *(two for _, two in roles.memory)]
        said, states = [], []
        for at, kept in enumerate(carried.states):
            here = slice(at * rows, (at + 1) * rows)
            feeds = {roles.observation: self._fed(_filled(observations[here], rows))}
            feeds |= dict(zip(self._memory_in, kept, strict=True))
            if roles.theta:
                given = _filled(carried.theta[here], rows)
                feeds[roles.theta] = self._shaped(given, roles.theta)
            if roles.begins:
                flag = self.signature.tensor(roles.begins)
                shape = self._shape(flag, rows)
                feeds[roles.begins] = np.full(shape, carried.begins, _type(flag))
            found = self.session.run(asked, feeds)
            said.append(self._rows_of(found[0], rows))
            states.append(tuple(found[1:]))
        return np.concatenate(said)[:size], carried._replace(
            states=tuple(states), begins=False
        )

    def remembered(self, carried: Carried) -> FloatArray:
        """Return what the network remembers of each world, (B, numbers).

        The states of recurrent layers one after the other, or the frames of a window;
        not the last action, which is no more than what was done.
        """
        size = len(carried.theta)
        rows = self._rows(size)
        parts = [
            np.concatenate(
                [self._by_world(each[at], name, rows) for each in carried.states]
            )
            for at, name in enumerate(self._memory_in)
            if name != f"{ACTION}_in"
        ]
        return np.concatenate([np.zeros((size, 0)), *(p[:size] for p in parts)], axis=1)

    def handled(self, said: AnyArray) -> FloatArray:
        """Return actions from what the network says, (B, width).

        The greatest number of several choices wins, and a whole number is a choice.
        """
        space, width = self.action, said.shape[1]
        if not isinstance(space, Choices):
            if width != space.size:
                raise self._wrong_width(width, wanted(space))
            return said.astype(np.float64)
        if width == space.n and width > 1:
            best: FloatArray = said.argmax(axis=1).astype(np.float64)
            best[~np.isfinite(said.astype(np.float64)).all(axis=1)] = np.nan
            return best
        if width == 1 and said.dtype.kind in "iub":
            return said[:, 0].astype(np.float64)
        raise self._wrong_width(width, f"{space.n} numbers, or one whole number")

    @property
    def batch_axes_fit(self) -> bool:
        """Whether every input has an axis for the worlds."""
        flags = [self.signature.roles.begins] if self.signature.roles.begins else []
        return all(
            _batch_axis(self.signature.tensor(name), self._symbol) is not None
            for name in (*self._numbers_in, *flags)
        )

    @property
    def _seen(self) -> Tensor:
        return self.signature.tensor(self.signature.roles.observation)

    @property
    def _memory_in(self) -> tuple[str, ...]:
        return tuple(one for one, _ in self.signature.roles.memory)

    @property
    def _numbers_in(self) -> tuple[str, ...]:
        """Return the inputs but for the flag."""
        roles = self.signature.roles
        theta = (roles.theta,) if roles.theta else ()
        return (roles.observation, *self._memory_in, *theta)

    @property
    def _flat(self) -> bool:
        """Whether the network takes the numbers of states, not vectors."""
        shape = self._seen.shape
        return (
            isinstance(self.observation, Choices)
            and len(shape) < 2
            and (not shape or shape[-1] == 1 or not isinstance(shape[-1], int))
        )

    @property
    def _width(self) -> int | None:
        if self._flat:
            return 1
        last = self._seen.shape[-1] if self._seen.shape else None
        return last if isinstance(last, int) else None

    @property
    def _symbol(self) -> str | None:
        """Return what the file calls the axis of the worlds, if it has a name."""
        axes = self._seen.shape if self._flat else self._seen.shape[:-1]
        named = [each for each in axes if isinstance(each, str)]
        batch = [each for each in named if "batch" in each.lower()]
        return next(iter(batch or named), None)

    def _rows(self, size: int) -> int:
        """Return how many worlds go into one call."""
        if self.signature.batched:
            return size
        axes = self._seen.shape if self._flat else self._seen.shape[:-1]
        return int(np.prod([each if isinstance(each, int) else 1 for each in axes]))

    def _shape(self, tensor: Tensor, rows: int) -> tuple[int, ...]:
        """Return the axes of an input in a call for so many worlds."""
        at = _batch_axis(tensor, self._symbol) if self.signature.batched else None
        return tuple(
            each if isinstance(each, int) else rows if place == at else 1
            for place, each in enumerate(tensor.shape)
        )

    def _fed(self, rows: FloatArray) -> AnyArray:
        """Return observations as the network takes them."""
        space, tensor = self.observation, self._seen
        values: AnyArray = rows
        if isinstance(space, Choices):
            values = rows[:, 0]
            if not self._flat and self._width == space.n and space.n > 1:
                values = np.eye(space.n)[values.astype(np.int64)]
        if not self._flat:
            return self._shaped(values, tensor.name)
        return values.astype(_type(tensor)).reshape(self._shape(tensor, len(rows)))

    def _shaped(self, values: AnyArray, name: str) -> AnyArray:
        """Return numbers of worlds, one row each, with the axes of an input."""
        tensor, size = self.signature.tensor(name), len(values)
        shape = (*self._shape(tensor, size)[:-1], values.size // max(1, size))
        return values.astype(_type(tensor)).reshape(shape)

    def _by_world(self, state: AnyArray, name: str, rows: int) -> AnyArray:
        """Return a state with one row for each world of a call."""
        at = state.shape.index(rows) if rows in state.shape else 0
        if self.signature.batched:
            at = _batch_axis(self.signature.tensor(name), self._symbol) or 0
        return np.moveaxis(state, at, 0).reshape(rows, -1)

    def _rows_of(self, found: AnyArray, rows: int) -> AnyArray:
        if found.size % rows or not found.size:
            raise self._wrong_width(found.size, f"actions of {rows} worlds")
        return found.reshape(rows, -1)

    def _wrong_width(self, width: int, want: str) -> InvalidFile:
        out = self.signature.tensor(self.signature.roles.action)
        return InvalidFile(
            f"the network gives an action of {width} numbers: {out.words}",
            hint=f"the simulator takes {want}",
            code="action-of-wrong-width",
        )


def _filled(given: FloatArray, rows: int) -> FloatArray:
    """Return so many rows; the last one again where some are missing."""
    return np.concatenate([given, np.repeat(given[-1:], rows - len(given), 0)])


def _type(tensor: Tensor) -> Any:
    return np.dtype(tensor.type)


def _batch_axis(tensor: Tensor, symbol: str | None) -> int | None:
    """Return the axis of the worlds: the one of that name, or the only free one."""
    free = [at for at, each in enumerate(tensor.shape) if not isinstance(each, int)]
    same = [at for at in free if symbol is not None and tensor.shape[at] == symbol]
    if same:
        return same[0]
    return free[0] if free else None
