"""Two coupled copies of an agent in Fractions, and all policies of a short memory.

Copies are followed with all that they remember, nothing is merged, and couplings are
the best ones: cycles of any length are cancelled. Numbers are those of a loss form.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import permutations, product

import numpy as np

from simgap.mdp import LatentMDP
from simgap.oracle.baselines.windowed import MemoryNodes
from simgap.oracle.loss_form import LossForm

Memory = tuple[int, tuple[tuple[int, int, int], ...]]  # state, last transitions
Law = list[tuple[Memory, Fraction]]
Rule = Callable[[Memory, Memory], bool]  # whether two copies must act alike


def seen_the_same(one: Memory, two: Memory) -> bool:
    """The rule of every policy: one memory, one action."""
    return one == two


def pair_bound(
    form: LossForm,
    pair: tuple[int, int],
    weight: float,
    *,
    steps: int,
    window: int = 0,
    alike: Rule = seen_the_same,
) -> Fraction:
    """Return what both copies lose in the first steps, as the recursion has it."""
    weights = Fraction(weight), 1 - Fraction(weight)
    pattern, discount = form.pattern, Fraction(form.discount)

    def paid(copy: int, h: int, memory: Memory, action: int) -> Fraction:
        stage = min(h, form.steps - 1)
        loss = form.losses[stage, memory[0], action, pair[copy]]
        return weights[copy] * Fraction(float(loss))

    def moves(copy: int, memory: Memory, action: int) -> Law:
        state, past = memory
        row = state * pattern.n_actions + action
        found: Law = []
        for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
            chance, after = form.likelihood[k, pair[copy]], int(pattern.indices[k])
            longer = (*past, (state, action, after))
            kept = longer[max(0, len(longer) - window) :]
            if chance > 0.0:
                found.append(((after, kept), Fraction(float(chance))))
        return found

    @cache
    def value(h: int, one: Memory, two: Memory) -> Fraction:
        if h == steps:
            return Fraction(0)
        return min(
            paid(0, h, one, a)
            + paid(1, h, two, b)
            + discount * best_coupling(moves(0, one, a), moves(1, two, b), after(h))
            for a, b in product(range(pattern.n_actions), repeat=2)
            if a == b or not alike(one, two)
        )

    def after(h: int) -> Callable[[Memory, Memory], Fraction]:
        return lambda one, two: value(h + 1, one, two)

    laws: list[Law] = []
    for model in pair:
        law = form.latent.simulators.start_law(model)
        laws.append([((s, ()), Fraction(float(p))) for s, p in enumerate(law) if p])
    return best_coupling(laws[0], laws[1], lambda one, two: value(0, one, two))


def best_coupling(
    one: Law, two: Law, worth: Callable[[Memory, Memory], Fraction]
) -> Fraction:
    """Return the most that a coupling of two laws is worth; it may leave mass out."""
    cost = [[worth(u, v) for v, _ in two] for u, _ in one]
    left, right = [p for _, p in one], [p for _, p in two]
    mass = [[Fraction(0)] * len(two) for _ in one]
    for i, j in product(range(len(one)), range(len(two))):
        part = min(left[i], right[j])
        mass[i][j] += part
        left[i] -= part
        right[j] -= part
    while _improved(cost, mass):
        pass
    cells = product(range(len(one)), range(len(two)))
    return sum((mass[i][j] * cost[i][j] for i, j in cells), Fraction(0))


def _improved(cost: list[list[Fraction]], mass: list[list[Fraction]]) -> bool:
    """Move mass around one cycle that gains; return whether there is one."""
    rows, lines = range(len(cost)), range(len(cost[0]))
    for size in range(2, min(len(rows), len(lines)) + 1):
        for some in permutations(rows, size):
            for others in permutations(lines, size):
                now = list(zip(some, others, strict=True))
                then = list(zip(some, (*others[1:], others[0]), strict=True))
                part = min(mass[i][j] for i, j in now)
                gain = sum(cost[i][j] for i, j in then)
                if part > 0 and gain > sum(cost[i][j] for i, j in now):
                    for i, j in now:
                        mass[i][j] -= part
                    for i, j in then:
                        mass[i][j] += part
                    return True
    return False


def least_of_all_tables(
    latent: LatentMDP, horizon: int, nodes: MemoryNodes | None = None
) -> float:
    """Return the least average gap of all tables of actions, by trying all of them.

    Numbers are eighths, so that doubles hold every sum and product exactly. A table is
    one of (step, node) with nodes, of (step, state) without. Actions of the last step
    are chosen one by one, as nothing follows.
    """
    simulators, prior = latent.simulators, latent.prior
    S, A, M = simulators.n_states, simulators.n_actions, len(simulators)
    states = np.arange(S) if nodes is None else np.asarray(nodes.node_state)
    move = np.zeros((M, states.size, A, states.size))
    pattern = simulators.transitions
    for n, a in product(range(states.size), range(A)):
        row = states[n] * A + a
        for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
            if nodes is None:
                move[:, n, a, pattern.indices[k]] += pattern.values[:, k]
            else:
                to = nodes.next_node[nodes.shift[n] + k]
                move[:, n, a, to] += pattern.values[:, k]
    pay = np.broadcast_to(simulators.rewards, (M, S, A))[:, states]
    weights = np.zeros((1, states.size, M))  # of every table so far
    for m in range(M):
        weights[0, :S, m] = prior[m] * simulators.start_law(m)
    told = np.zeros((M, states.size))  # V* of an agent that knows the model
    for _ in range(horizon):
        told = (pay + np.einsum("mnat,mt->mna", move, told)).max(axis=2)
    informed = float((weights[0].T * told).sum())
    reached = np.zeros(1)
    for _ in range(horizon - 1):
        active = np.flatnonzero(weights.any(axis=(0, 2)))
        tables = np.array(list(product(range(A), repeat=active.size)))
        after = np.zeros((reached.size, len(tables), states.size, M))
        gained = np.repeat(reached[:, None], len(tables), axis=1)
        for at, node in enumerate(active):
            action, here = tables[:, at], weights[:, node]
            gained += here @ pay[:, node, action]
            after += np.einsum("xm,mct->xctm", here, move[:, node, action])
        reached, weights = gained.ravel(), after.reshape(-1, states.size, M)
    reached = reached + np.einsum("xnm,mna->xna", weights, pay).max(axis=2).sum(axis=1)
    return informed - float(reached.max())
