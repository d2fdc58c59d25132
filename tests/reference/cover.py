"""Cells and data by the book: one sample after the other, one cell after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt

from simgap.arrays import BoolArray, FloatArray
from simgap.base_policies.infinite.cover import Cell
from simgap.policies import Step


@dataclass(frozen=True)
class Sample:
    """A step and the bias that was played."""

    step: Step
    bias: FloatArray  # (S,)


def prediction(kernel: FloatArray, sample: Sample, support: BoolArray) -> float:
    """Return P l / w in the pair of a sample."""
    s, a = sample.step.state, sample.step.action
    total = sum(
        float(p) * float(v) for p, v in zip(kernel[s, a], sample.bias, strict=True)
    )
    return (total - _least(sample, support)) / _width(sample, support)


def answer(sample: Sample, support: BoolArray) -> float:
    """Return l(s') / w of a sample."""
    seen = float(sample.bias[sample.step.next_state])
    return (seen - _least(sample, support)) / _width(sample, support)


def losses(
    cells: Sequence[Cell], samples: Sequence[Sample], support: BoolArray
) -> list[float]:
    """Return sum (f_b - y)^2 of every cell."""
    return [
        sum(
            (prediction(cell.kernel, each, support) - answer(each, support)) ** 2
            for each in samples
        )
        for cell in cells
    ]


def square_distance(
    one: FloatArray, other: FloatArray, samples: Sequence[Sample], support: BoolArray
) -> float:
    """Return sum (f_1 - f_2)^2 of two kernels."""
    return sum(
        (prediction(one, each, support) - prediction(other, each, support)) ** 2
        for each in samples
    )


def limits(
    cell: Cell, fit: Cell, samples: int, horizon: int, roots: int
) -> tuple[float, float]:
    """Return beta and the greatest L(b) - L(fit) of a cell (`cover_confidence`)."""
    price = log(2 * horizon * roots * 2**fit.depth) + _shares(fit.depth)
    own = log(2 * horizon) + _shares(cell.depth)
    off = samples * cell.radius**2 / 4.0
    beta = (sqrt(off) + sqrt(6.0 * off + own / 2.0 + 2.0 * price)) ** 2
    return beta, 3.0 * off + own / 4.0 + price


def alive(
    cells: Sequence[Cell],
    samples: Sequence[Sample],
    support: BoolArray,
    horizon: int,
    roots: int,
) -> list[bool]:
    """Return which cells pass both tests."""
    loss = losses(cells, samples, support)
    fit = loss.index(min(loss))
    out = []
    for b, cell in enumerate(cells):
        beta, most = limits(cell, cells[fit], len(samples), horizon, roots)
        near = square_distance(cell.kernel, cells[fit].kernel, samples, support) <= beta
        out.append(near and loss[b] - loss[fit] <= most)
    return out


def _shares(depth: int) -> float:
    return log((depth + 1) * (depth + 2))


def _seen(sample: Sample, support: BoolArray) -> list[float]:
    row = support[sample.step.state, sample.step.action]
    return [float(v) for v, used in zip(sample.bias, row, strict=True) if used]


def _least(sample: Sample, support: BoolArray) -> float:
    return min(_seen(sample, support))


def _width(sample: Sample, support: BoolArray) -> float:
    return max(_seen(sample, support)) - min(_seen(sample, support))
