"""The parts of a small network that can be written as an ONNX file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, read_only
from simgap.continuous.policies.onnx_bytes import Graph
from simgap.errors import InvalidArgument


class Activation(Enum):
    """What is done to each number after a dense layer: an operator of ONNX."""

    NONE = ""
    TANH = "Tanh"
    RELU = "Relu"
    ELU = "Elu"
    SIGMOID = "Sigmoid"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Dense:
    """activation(weight @ x + bias)."""

    weight: FloatArray  # (outputs, inputs)
    bias: FloatArray  # (outputs,)
    activation: Activation = Activation.NONE

    def __post_init__(self) -> None:
        _check_layer(self, {"weight": (-1, -1), "bias": (len(self.weight),)})

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many numbers go in and come out."""
        return self.weight.shape[1], self.weight.shape[0]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gru:
    """A gated recurrent unit; its gates are reset, update and new, as PyTorch's."""

    input_weight: FloatArray  # (3 * hidden, inputs)
    hidden_weight: FloatArray  # (3 * hidden, hidden)
    input_bias: FloatArray  # (3 * hidden,)
    hidden_bias: FloatArray  # (3 * hidden,), that of `new` is inside the reset

    def __post_init__(self) -> None:
        _check_recurrent(self, 3)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many numbers go in and come out."""
        return self.input_weight.shape[1], self.hidden_weight.shape[1]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Lstm:
    """A long short-term memory; its gates are input, forget, cell and output."""

    input_weight: FloatArray  # (4 * hidden, inputs)
    hidden_weight: FloatArray  # (4 * hidden, hidden)
    input_bias: FloatArray  # (4 * hidden,)
    hidden_bias: FloatArray  # (4 * hidden,)

    def __post_init__(self) -> None:
        _check_recurrent(self, 4)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return how many numbers go in and come out."""
        return self.input_weight.shape[1], self.hidden_weight.shape[1]


Layer = Dense | Gru | Lstm


@final
@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """(x - mean) / scale, then cut at `limit` on both sides."""

    mean: FloatArray  # (inputs,)
    scale: FloatArray  # (inputs,), above 0
    limit: float | None = None

    def __post_init__(self) -> None:
        _check_layer(self, {"mean": (-1,), "scale": self.mean.shape})
        if not (self.scale > 0.0).all():
            raise InvalidArgument(
                "a scale of the normaliser is not above 0",
                hint="add a small number to each standard deviation",
            )


@final
@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """The parameters that an informed network is told, and what becomes of them.

    `numbers` adds nodes to the graph: from the name of what holds the parameters,
    (batch, P) of double precision, to the name of what the network takes.
    """

    names: tuple[str, ...]  # (P,)
    size: int  # numbers that the network takes
    numbers: Callable[[Graph, str], str]
    masked: bool = False  # NaN is a parameter that is not told


def _check_recurrent(layer: Any, gates: int) -> None:
    rows = gates * np.shape(layer.hidden_weight)[-1]
    shapes = {"input_weight": (rows, -1), "hidden_weight": (rows, rows // gates)}
    _check_layer(layer, {**shapes, "input_bias": (rows,), "hidden_bias": (rows,)})


def _check_layer(layer: Any, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Freeze the arrays of a layer; raise unless they have their shapes (-1: any)."""
    for name, shape in shapes.items():
        values = read_only(getattr(layer, name))
        object.__setattr__(layer, name, values)
        fits = len(values.shape) == len(shape) and all(
            want in (-1, has) for want, has in zip(shape, values.shape, strict=True)
        )
        if not fits or not np.isfinite(values).all():
            raise InvalidArgument(
                f"{name} of a {type(layer).__name__} has shape {values.shape}"
                + (" and is not finite" if fits else ""),
                hint=f"it is of finite numbers of shape {shape} (-1 is any length)",
            )
