"""Networks with memory, one step of one row at a time, in plain NumPy.

The cells are written down as PyTorch documents them (`torch.nn.GRUCell`, `LSTMCell`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.arrays import FloatArray


def sigmoid(x: FloatArray) -> FloatArray:
    return 1.0 / (1.0 + np.exp(-x))


def gru(cell: Any, x: FloatArray, h: FloatArray) -> FloatArray:
    """Return the next memory of a gated recurrent unit."""
    given = np.split(cell.of_input.weight @ x + cell.of_input.bias, 3)
    kept = np.split(cell.of_hidden.weight @ h + cell.of_hidden.bias, 3)
    r, z = sigmoid(given[0] + kept[0]), sigmoid(given[1] + kept[1])
    n: FloatArray = np.tanh(given[2] + r * kept[2])
    return (1.0 - z) * n + z * h


def lstm(
    cell: Any, x: FloatArray, h: FloatArray, c: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the next memory of a cell of long and short memory, and its inside."""
    given = cell.of_input.weight @ x + cell.of_input.bias
    i, f, g, o = np.split(given + cell.of_hidden.weight @ h + cell.of_hidden.bias, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def said_in_a_row(
    actor: Any,
    kind: str,
    frames: FloatArray,
    shown: FloatArray,
    first: Any,
    width: int = 1,
) -> FloatArray:
    """Return what a policy says at every step of one row, (T, A).

    `width` is how many frames a window shows. Memory is emptied where `first` is set.
    """
    units, said = actor.hidden.weight.shape[0], []
    past: list[FloatArray] = []
    h = c = np.zeros(units)
    for frame, told, begins in zip(frames, shown, first, strict=True):
        if begins:
            past, h, c = [], np.zeros(units), np.zeros(units)
        past.append(frame)
        missing = [np.zeros_like(frame)] * (width - len(past))
        given = np.concatenate([*missing, *past[-width:], told])
        inner = np.tanh(actor.encoder.weight @ given + actor.encoder.bias)
        if kind == "gru":
            inner = h = gru(actor.cell, inner, h)
        elif kind == "lstm":
            h, c = lstm(actor.cell, inner, h, c)
            inner = h
        hidden = np.tanh(actor.hidden.weight @ inner + actor.hidden.bias)
        said.append(actor.head.weight @ hidden + actor.head.bias)
    return np.array(said)
