"""Policies that learn nothing, compiled: tables of actions or chances, and graphs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.streams import uniform
from simgap._kernels.walking.walk import (
    LOW,
    S32,
    STATE,
    STEPS,
    Record,
    Run,
    World,
    begin,
    drawn_cell,
    finish,
    new_course,
    new_run,
    next_mark,
    play,
    set_course,
    step_with,
)
from simgap.arrays import AnyArray, FloatArray, IndexArray, Integer, OffsetArray

WORTH_A_COURSE = 32  # steps of one rule
NOWHERE = -1


class Table(NamedTuple):
    """Rules by step: rule r holds from step since[r] to since[r + 1] - 1."""

    since: OffsetArray  # (R + 1,), the last one at least the horizon
    actions: IndexArray  # (R, S), or (0, S) if actions are drawn
    chances: FloatArray  # (R, S, A), or (0, S, A)


class Graph(NamedTuple):
    """A policy graph; `column` is where an edge stands in its row of the pattern."""

    start_node: IndexArray  # (S,)
    rule_offsets: OffsetArray  # (N + 1,)
    rule_since: IndexArray  # (R,)
    rule_until: IndexArray  # (R,)
    rule_action: IndexArray  # (R,)
    next_offsets: OffsetArray  # (R + 1,)
    next_node: IndexArray
    column: OffsetArray  # (E,), or -1
    horizon: int  # -1: the last rule of a node holds for ever


@kernel(allocates=True)
def run_table(
    world: World, keys: AnyArray, table: Table, grid: OffsetArray, record: Record
) -> None:
    """Run one episode of a Markov policy for every key."""
    run, course = new_run(world), new_course(world)
    certain = table.actions.shape[0] > 0
    for i in range(keys.size):
        begin(world, keys[i], run)
        trace = record.trace[i]
        r = 0
        while run.clock[STEPS] < world.horizon:
            if certain and _lasts(table, r):
                left = min(table.since[r + 1], world.horizon) - run.clock[STEPS]
                set_course(world, table.actions[r], course)
                play(world, run, course, left, grid, trace)
                r += 1
                continue
            first = r
            while r < table.since.size - 1 and not (certain and _lasts(table, r)):
                r += 1
            until = min(table.since[r], world.horizon)
            follow_rules(world, run, table, first, until, grid, trace)
        finish(world, run, record, i)


@kernel
def _lasts(table: Table, r: Integer) -> bool:
    return table.since[r + 1] - table.since[r] >= WORTH_A_COURSE  # type: ignore[no-any-return]


@kernel
def follow_rules(
    world: World, run: Run, table: Table, first: Integer, until: int, grid: OffsetArray,
    trace: FloatArray,
) -> None:  # fmt: skip
    """Follow the rules of a table up to a step, from rule `first` on."""
    n_actions = table.chances.shape[2]
    r = first
    while run.clock[STEPS] < until:
        done = run.clock[STEPS]
        # steps at which more than counting is due are taken one by one
        plain = min(world.early, next_mark(run.clock, grid)) - 1
        stretch = min(until, plain) - done
        if stretch > 0:
            r = _walk_rules(
                world.cuts, world.cells, world.shift, run.stream, run.clock,
                run.counts, stretch, table.since, table.actions, table.chances, r,
            )  # fmt: skip
        else:
            while table.since[r + 1] <= done:
                r += 1
            state = run.clock[STATE]
            action = _action(table.actions, table.chances, r, state, run.stream, done)
            step_with(world, run, state * n_actions + action, grid, trace)


@kernel
def _walk_rules(
    cuts: AnyArray, cells: AnyArray, shift: int, stream: AnyArray, clock: OffsetArray,
    counts: OffsetArray, steps: int, since: OffsetArray, actions: IndexArray,
    chances: FloatArray, r: Integer,
) -> Integer:  # fmt: skip
    up = uint64(shift)
    stride = stream[1]
    done = clock[STEPS]
    bits = stream[0] + stride * uint64(done)
    state = clock[STATE]
    n_actions = chances.shape[2]
    for h in range(done, done + steps):
        while since[r + 1] <= h:
            r += 1
        action = _action(actions, chances, r, state, stream, h)
        row = uint64(state * n_actions + action)
        bits += stride
        cell = drawn_cell(cuts, cells, up, bits, row)
        counts[cell >> S32] += 1
        state = np.int64(cell & LOW)
    clock[STATE] = state
    clock[STEPS] = done + steps
    return r


@kernel
def _action(
    actions: IndexArray, chances: FloatArray, r: Integer, state: int, stream: AnyArray,
    h: int,
) -> int:  # fmt: skip
    """Return the action of rule r at step h; only rules that mix use random numbers."""
    if actions.shape[0] > 0:
        return np.int64(actions[r, state])  # type: ignore[return-value]
    quantile = uniform(stream[2], h)
    total, last = 0.0, np.int64(-1)
    for a in range(chances.shape[2]):
        if chances[r, state, a] != 0.0:
            total += chances[r, state, a]
            last = np.int64(a)
            if quantile < total:
                break
    return last  # type: ignore[return-value]


@kernel(allocates=True)
def run_graph(
    world: World, keys: AnyArray, graph: Graph, grid: OffsetArray, record: Record
) -> int:
    """Run one episode of a policy graph for every key.

    Returns the number of an episode in which the graph had no rule or no next node, or
    -1 if there is none.
    """
    n_states = graph.start_node.size
    n_actions = (world.indptr.size - 1) // n_states
    run = new_run(world)
    for i in range(keys.size):
        begin(world, keys[i], run)
        node = np.int64(graph.start_node[run.clock[STATE]])
        for h in range(world.horizon):
            rule = _rule(graph, node, h)
            if rule == NOWHERE:
                return i
            row = run.clock[STATE] * n_actions + graph.rule_action[rule]
            edge = step_with(world, run, row, grid, record.trace[i])
            column = graph.column[edge]
            node = np.int64(NOWHERE)
            if column >= 0:
                node = np.int64(graph.next_node[graph.next_offsets[rule] + column])
            over = h == graph.horizon - 1
            if column < 0 or (node == NOWHERE and not over):
                return i
        finish(world, run, record, i)
    return -1


@kernel
def _rule(graph: Graph, node: Integer, h: int) -> int:
    """Return the rule of a node at a step, or NOWHERE."""
    if node < 0:
        return NOWHERE
    begin_, end = graph.rule_offsets[node], graph.rule_offsets[node + 1]
    forever = graph.horizon < 0
    low = begin_
    high = max(begin_, end - 1) if forever else end
    while low < high:  # the first rule that lasts until h or longer
        middle = (low + high) // 2
        if graph.rule_until[middle] < h:
            low = middle + 1
        else:
            high = middle
    alone = forever and end - begin_ == 1
    if low == end or (graph.rule_since[low] > h and not alone):
        return NOWHERE
    return low  # type: ignore[no-any-return]
