"""Can every mistake be undone? Assumption 1, and what exactly breaks it.

A model is communicating if every state can be reached from every other. If one is not,
there are two reasons. From some states there is no way back to the others: a wrong
move costs the rest of the episode, however long it is (Proposition 1). Or some states
are never reached from the start: then the assumption fails on paper only, and holds
once they are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, OffsetArray, digest
from simgap.mdp import SimulatorClass
from simgap.planning import communicating
from simgap.records.audit import Finding, Status
from simgap.text import counted, listed, model_named

RESTARTS, ABSORBS = "terminal=restart", "terminal=absorb"  # codes of notes


@final
@dataclass(frozen=True, slots=True)
class WaysBack:
    """Whether models are communicating, and the first one that is not."""

    communicating: bool
    broken: int  # models that are not
    member: int | None  # the first of them, one with a trap if there is any
    closed: tuple[tuple[int, ...], ...]  # sets of its states, reached, never left
    missed: tuple[int, ...]  # states that no model reaches from its start
    only_missed: bool  # without them every model is communicating

    @property
    def sound(self) -> bool:
        """Whether every state that is ever seen can be reached from every other."""
        return self.communicating or self.only_missed


def ways_back(simulators: SimulatorClass) -> WaysBack:
    """Return whether every state can be reached from every other, and if not why."""
    answers = communicating(simulators)
    if answers.all():
        return WaysBack(True, 0, None, (), (), False)
    reached = np.zeros(simulators.n_states, np.bool_)
    graphs: dict[str, Any] = {}  # models with the same support share one
    worst: tuple[int, tuple[tuple[int, ...], ...]] = (int(np.argmin(answers)), ())
    done: set[str] = set()
    for at, row in enumerate(simulators.transitions.values):
        key, first = digest(np.packbits(row > 0.0)), simulators.start_law(at) > 0.0
        if (both := digest(key.encode(), np.packbits(first))) in done:
            continue
        done.add(both)
        if key not in graphs:
            graphs[key] = _graph(simulators, at)
        seen = _reached(graphs[key], first)[0]
        reached |= seen
        if not worst[1] and not answers[at]:  # a trap says more than a missed state
            closed = _closed(graphs[key], seen)
            worst = (at, closed) if closed else worst
    missed = np.flatnonzero(~reached)
    only = missed.size > 0 and all(_whole(graph, reached) for graph in graphs.values())
    return WaysBack(
        communicating=False,
        broken=int((~answers).sum()),
        member=worst[0],
        closed=worst[1],
        missed=tuple(missed.tolist()),
        only_missed=only,
    )


def ways_back_finding(
    simulators: SimulatorClass, found: WaysBack, *, horizon: int | None
) -> Finding:
    """Return the finding about Assumption 1; with a horizon it is at most a warning.

    The oracle's certificate at a horizon needs no assumption.
    """
    check, labels = "communicating", simulators.labels
    notes = {note.partition(":")[0] for note in simulators.notes}  # their codes
    if found.communicating:
        text = (
            "every state can be reached from every other in "
            f"{_every(len(simulators))}: no mistake is final"
        )
        if RESTARTS not in notes:
            return Finding(check, "communicating", "ok", text)
        text += (
            ". That is so only because terminal states restart; if the real episode "
            "ends in them, a mistake is final"
        )
        return Finding(check, "communicating-by-restart", "ok", text)
    missed = listed([labels.state(s) for s in found.missed])
    if found.only_missed:
        text = (
            f"{counted(len(found.missed), 'state')} ({missed}) cannot be reached from "
            "the start in any model; all others can be reached from each other, so "
            "this is harmless. Leave them out (gym: states=reachable) and theorems "
            "apply"
        )
        count = float(len(found.missed))
        return Finding(check, "unreached-states", "warning", text, count)
    assert found.member is not None
    name = model_named(simulators.model_names[found.member])
    more = f" (and {found.broken - 1} more)" if found.broken > 1 else ""
    stuck = [labels.state(s) for part in found.closed for s in part]
    if len(found.closed) == 1 and len(stuck) > 1:
        what = f"an agent that enters {listed(stuck)} stays in these states for ever"
    elif stuck:
        what = f"there is no way back from {listed(stuck)}"
    else:
        what = "some states that other models reach are never reached"
    text = f"in {name}{more} {what}: one wrong move can cost all that follows"
    text += (
        ". terminal=restart lets episodes begin again"
        if ABSORBS in notes
        else ". Let such states lead back to the start if episodes repeat"
    )
    if horizon is not None:
        text += (
            f". Theorems do not apply; the certified loss in {horizon} steps holds "
            "without them"
        )
    code = "no-way-back" if stuck else "states-of-other-models"
    status: Status = "fail" if horizon is None else "warning"
    return Finding(check, code, status, text, float(found.broken))


def farthest_hops(simulators: SimulatorClass) -> int:
    """Return how many moves some state is away from every start, at the very least.

    No trip takes fewer steps than moves, so the diameter is at least as large.
    """
    most = 0
    seen: set[str] = set()
    for at, row in enumerate(simulators.transitions.values):
        first = simulators.start_law(at) > 0.0
        key = digest(np.packbits(row > 0.0), np.packbits(first))
        if key not in seen:
            seen.add(key)
            most = max(most, _reached(_graph(simulators, at), first)[1])
    return most


def _every(count: int) -> str:
    return "the model" if count == 1 else f"all {count} models"


def _graph(simulators: SimulatorClass, member: int) -> Any:
    """Return which state can follow which in one model, a sparse (S, S) matrix."""
    from scipy.sparse import csr_array

    kernel = simulators.transitions
    used = kernel.values[member] > 0.0
    rows = np.repeat(np.arange(kernel.indptr.size - 1), np.diff(kernel.indptr))
    source, target = (rows // kernel.n_actions)[used], kernel.indices[used]
    ones = np.ones(source.size)
    shape = (kernel.n_states, kernel.n_states)
    return csr_array((ones, (source, target)), shape=shape)


def _reached(graph: Any, first: BoolArray) -> tuple[BoolArray, int]:
    """Return the states that can be reached from `first`, and the moves it takes."""
    seen = np.array(first)
    edge = np.flatnonzero(first)
    moves = -1
    while edge.size:
        after = np.unique(graph[edge].indices)
        edge, moves = after[~seen[after]], moves + 1
        seen[edge] = True
    return seen, moves


def _components(graph: Any) -> tuple[int, OffsetArray]:
    from scipy.sparse.csgraph import connected_components

    count, component = connected_components(graph, connection="strong")
    return int(count), component.astype(np.int64)


def _whole(graph: Any, kept: BoolArray) -> bool:
    """Return whether the kept states never lead out and are strongly connected."""
    inside = graph[np.flatnonzero(kept)]
    if not kept[inside.indices].all():
        return False
    return _components(inside[:, np.flatnonzero(kept)])[0] == 1


def _closed(graph: Any, reached: BoolArray) -> tuple[tuple[int, ...], ...]:
    """Return the sets of states that are reached and never left.

    None if everything that is reached is one such set.
    """
    count, component = _components(graph)
    source, target = graph.nonzero()
    leaves = np.zeros(count, np.bool_)
    leaves[component[source][component[source] != component[target]]] = True
    found = []
    for part in np.unique(component[reached]):
        states = np.flatnonzero(component == part)
        if not leaves[part] and states.size < reached.sum():
            found.append(tuple(states.tolist()))
    return tuple(found)
