"""A trained policy as an ONNX file: the only form in which it is kept.

The file holds everything between what a simulator shows and what it takes: the
normaliser of the observations, the network, the last action where the policy remembers
it, the ends of the actions, and how the parameters become numbers if it is told them.
Actions are not drawn: each is the middle, or the likeliest one.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi
from pathlib import Path

import numpy as np

from simgap.continuous.interfaces import Choices
from simgap.continuous.policies.onnx_bytes import DOUBLE, FLOAT, Graph
from simgap.continuous.policies.onnx_layers import (
    Activation,
    Dense,
    Gru,
    Layer,
    Lstm,
    Normaliser,
    Told,
)
from simgap.continuous.policies.onnx_writer import write_policy
from simgap.continuous.training import network
from simgap.continuous.training.features import Feature, Features, Scale
from simgap.continuous.training.learner import Learner
from simgap.continuous.training.memory import Cell
from simgap.continuous.training.rows import LIMIT
from simgap.continuous.training.update import Learnt


def write_trained(
    path: str | Path,
    learner: Learner,
    learnt: Learnt,
    metadata: Mapping[str, str] = {},
) -> None:
    """Write the policy that a learner has learnt; an old file is replaced whole."""
    memory, features = learner.network.memory, learner.features
    told = None
    if learner.network.shown:
        shown = Features(features.each, learner.settings.masked)
        told = Told(
            shown.names,
            shown.size,
            lambda graph, theta: _numbers(graph, theta, shown),
            shown.masked,
        )
    write_policy(
        path,
        _layers(learnt.weights.actor, memory.cell),
        learner.simulator.action,
        stretched=True,
        normaliser=_normaliser(learner, learnt),
        frames=memory.frames if memory.remembers else 0,
        told=told,
        metadata={"memory": memory.text, **metadata},
    )


def _layers(actor: network.Actor, cell: Cell) -> list[Layer]:
    encoder, hidden = (
        Dense(each.weight, each.bias, Activation.TANH)
        for each in (actor.encoder, actor.hidden)
    )
    recurrent: list[Layer] = []
    if actor.cell is not None:
        one, two = actor.cell
        kind = Gru if cell is Cell.GRU else Lstm
        recurrent = [kind(one.weight, two.weight, one.bias, two.bias)]
    return [encoder, *recurrent, hidden, Dense(actor.head.weight, actor.head.bias)]


def _normaliser(learner: Learner, learnt: Learnt) -> Normaliser:
    mean = np.asarray(learnt.statistics.mean, np.float64)
    if learner.simulator.observation == Choices(1):
        mean = mean - 1.0  # the only state is 1 to a learner and 0 to a file
    return Normaliser(mean, learnt.statistics.spread, LIMIT)


def _numbers(graph: Graph, theta: str, features: Features) -> str:
    """Add what `Features.numbers` computes, of double precision until the end."""
    each = [_of_one(graph, theta, *one) for one in enumerate(features.each)]
    found = graph.add("Concat", each, axis=1)
    if not features.masked:
        return graph.add("Cast", [found], to=FLOAT)
    owners = np.repeat(np.arange(len(each)), [one.size for one in features.each])
    hidden = graph.add("IsNaN", [theta])
    where = graph.add("Gather", [hidden, graph.constant(owners, np.int64)], axis=1)
    found = graph.add("Where", [where, graph.constant(0.0, np.float64), found])
    known = graph.add("Cast", [graph.add("Not", [hidden])], to=FLOAT)
    return graph.add("Concat", [graph.add("Cast", [found], to=FLOAT), known], axis=1)


def _of_one(graph: Graph, theta: str, at: int, feature: Feature) -> str:
    """Add what `Feature.numbers` computes of a finite value."""

    def double(values: object) -> str:
        return graph.constant(values, np.float64)

    one = graph.add("Gather", [theta, graph.constant([at], np.int64)], axis=1)
    if feature.scale is Scale.ANGLE:
        return graph.add("Sin", [graph.add("Add", [one, double([pi / 2.0, 0.0])])])
    if feature.scale is Scale.CHOICE:
        apart = graph.add("Abs", [graph.add("Sub", [one, double(feature.choices)])])
        nearest, first = f"nearest_{at}", graph.constant([1], np.int64)
        graph.add("TopK", [apart, first], [nearest, f"which_{at}"], largest=0)
        return graph.add("Cast", [graph.add("Equal", [apart, nearest])], to=DOUBLE)
    if feature.scale is Scale.LOG:
        one = graph.add("Log", [one])
    middle, half = feature.line
    return graph.add("Div", [graph.add("Sub", [one, double(middle)]), double(half)])
