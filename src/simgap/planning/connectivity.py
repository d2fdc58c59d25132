"""Can every state be reached from every other? Decided on the graph, before numerics.

The union graph of a model has an edge s -> s' if some action moves there with positive
probability *in that model*; explicit zeros of the shared pattern do not count.
"""

from __future__ import annotations

import numpy as np

from simgap._kernels.solving import strong_components
from simgap.arrays import BoolArray, OffsetArray, digest, owned
from simgap.errors import InvalidArgument, NotCommunicating
from simgap.mdp import SimulatorClass, TabularMDP, Transitions, asked_once

SHOWN = 4  # components, and states of each, that a message prints


def as_class(simulators: SimulatorClass | TabularMDP) -> SimulatorClass:
    """Return a class; one model is a class of one."""
    if isinstance(simulators, SimulatorClass):
        return simulators
    if isinstance(simulators, TabularMDP):
        return simulators.as_class()
    raise InvalidArgument(
        f"a model or a class of models is needed, got {type(simulators).__name__}",
        hint="give a SimulatorClass or a TabularMDP; a LatentMDP has .simulators",
    )


def communicating(simulators: SimulatorClass | TabularMDP) -> BoolArray:
    """Return for each model whether its union graph is strongly connected, (M,)."""
    return _communicating(as_class(simulators).transitions)


@asked_once
def _communicating(kernel: Transitions) -> BoolArray:
    component = np.empty(kernel.n_states, np.int64)
    answers: dict[str, bool] = {}  # models with the same support share an answer
    out = np.empty(kernel.n_models, np.bool_)
    for member, row in enumerate(kernel.values):
        whole = kernel.n_models == 1 or bool(row.all())
        key = "whole" if whole else digest(np.packbits(row > 0.0))
        if key not in answers:
            found = strong_components(
                kernel.indptr, kernel.indices, row, kernel.n_actions, component
            )
            answers[key] = found == 1
        out[member] = answers[key]
    frozen: BoolArray = owned(out)
    return frozen


def components(simulators: SimulatorClass, member: int) -> OffsetArray:
    """Return the strongly connected component of each state of one model, (S,)."""
    kernel = simulators.transitions
    component = np.empty(kernel.n_states, np.int64)
    strong_components(
        kernel.indptr,
        kernel.indices,
        kernel.values[member],
        kernel.n_actions,
        component,
    )
    return component


def communicating_components(
    simulators: SimulatorClass | TabularMDP, member: int = 0
) -> tuple[tuple[int, ...], ...]:
    """Return the strongly connected components of one model, each as its states."""
    every = as_class(simulators)
    component = components(every, every.member(member))
    return tuple(
        tuple(int(s) for s in np.flatnonzero(component == c))
        for c in range(int(component.max()) + 1)
    )


def require_communicating(simulators: SimulatorClass) -> None:
    """Raise, with the components named, if some model is not communicating."""
    answers = communicating(simulators).tolist()
    if not all(answers):
        raise not_communicating(simulators, answers.index(False))


def not_communicating(simulators: SimulatorClass, member: int) -> NotCommunicating:
    """Return the error that names the components of one model."""
    parts = communicating_components(simulators, member)
    label = simulators.labels.state
    shown = []
    for part in parts[:SHOWN]:
        states = ", ".join(label(s) for s in part[:SHOWN])
        more = f", ... {len(part)} states" if len(part) > SHOWN else ""
        shown.append(f"{{{states}{more}}}")
    more = f" and {len(parts) - SHOWN} more" if len(parts) > SHOWN else ""
    return NotCommunicating(
        f"model {simulators.model_names[member]!r} is not communicating: its states "
        f"fall into {len(parts)} components, {', '.join(shown)}{more}, "
        "and not every one can be reached from every other",
        hint="gain, bias and diameter need a way back from everywhere: let terminal "
        "states restart, or drop unreachable states; values for a horizon H need "
        "none of this",
    )
