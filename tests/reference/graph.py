"""Who can reach whom, by sets."""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference.kernel_rows import Stored, entries

Edges = list[set[int]]


def successors(stored: Stored, n_actions: int) -> Edges:
    """Return for each state the states that some action can bring it to."""
    n_states = (stored[0].size - 1) // n_actions
    return [
        {
            after
            for row in range(s * n_actions, (s + 1) * n_actions)
            for after, p in entries(stored, row)
            if p > 0.0
        }
        for s in range(n_states)
    ]


def predecessors(stored: Stored, n_actions: int) -> Edges:
    """Return for each state the states that have it as a successor."""
    out: Edges = [set() for _ in range((stored[0].size - 1) // n_actions)]
    for s, after in enumerate(successors(stored, n_actions)):
        for t in after:
            out[t].add(s)
    return out


def distances(before: Edges, targets: Sequence[int]) -> dict[int, int]:
    """Return the fewest steps to a target from every state that can reach one."""
    found = {int(target): 0 for target in targets}
    layer = set(found)
    while layer:
        layer = {s for t in layer for s in before[t]} - found.keys()
        found.update(dict.fromkeys(layer, max(found.values()) + 1))
    return found


def components(edges: Edges) -> set[frozenset[int]]:
    """Return the sets of states that reach each other."""
    before: Edges = [set() for _ in edges]
    for s, after in enumerate(edges):
        for t in after:
            before[t].add(s)
    ahead = [set(distances(edges, [s])) for s in range(len(edges))]
    behind = [set(distances(before, [s])) for s in range(len(edges))]
    return {frozenset(ahead[s] & behind[s]) for s in range(len(edges))}
