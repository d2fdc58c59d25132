"""Where the chosen policy goes in the tree of beliefs.

A tree of sorted beliefs is unfolded along the policy: a copy is a node of the tree and
the names its members have in the real order, so that actions and models of a copy are
those that the agent sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.beliefs.belief_tree_gaps import reach
from simgap.arrays import AnyArray, BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.oracle.exact.tree import BeliefTree, DoesNotFit, TreeValues
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import Outcome


@final
@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """What a graph is made from: a tree with actions, maybe empty, and plans."""

    layers: OffsetArray  # (T + 1,)
    state: IndexArray  # (N,)
    action: IndexArray  # (N,)
    on_path: BoolArray  # (N,), whether the policy can get there
    first_link: OffsetArray  # (N,)
    links: IndexArray
    starts: IndexArray  # (S,), a link for every first state, -1 if there is none


@final
@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Nodes of an unfolded policy, in the order of its skeleton."""

    node: OffsetArray  # (N,), of the tree
    order: AnyArray  # (N, K), member i of the node is called order[i]
    chance: FloatArray  # (N,)

    def moved(self, own: slice, vectors: FloatArray, begin: int) -> FloatArray:
        """Return vectors of nodes from `begin` on as those of some copies."""
        out: FloatArray = np.empty((own.stop - own.start, vectors.shape[1]))
        found = vectors[self.node[own] - begin]
        np.put_along_axis(out, self.order[own], found, axis=1)
        return out


@final
@dataclass(frozen=True, slots=True, eq=False)
class Followed:
    """The chosen policy, from the first step on."""

    skeleton: Skeleton
    chance: FloatArray  # (nodes of the tree,), how likely the policy is there
    copies: Copies | None  # if the tree was unfolded


def follow(tree: BeliefTree, values: TreeValues) -> Followed:
    """Return where the policy goes; raise `DoesNotFit` if that is too large."""
    chance, on_path = _chances(tree, values)
    starts = starts_of(tree.form, tree.roots)
    if tree.supports.symmetry.found and tree.size:
        skeleton, copies = _unfold(tree, values, starts)
        return Followed(skeleton, chance, copies)
    skeleton = Skeleton(
        layers=np.array(tree.layers, np.int64),
        state=tree.state,
        action=values.action,
        on_path=on_path,
        first_link=tree.first_link,
        links=tree.links,
        starts=starts,
    )
    return Followed(skeleton, chance, None)


def single_plan(form: LossForm, model: int) -> Skeleton:
    """Return the skeleton of "take it for granted that this is the model"."""
    starts = starts_of(form, np.full(form.root_states.size, -2 - model, np.int32))
    nothing = np.empty(0, np.int32)
    return Skeleton(
        layers=np.zeros(form.steps + 1, np.int64),
        state=nothing,
        action=nothing,
        on_path=np.empty(0, np.bool_),
        first_link=np.empty(0, np.int64),
        links=nothing,
        starts=starts,
    )


def starts_of(form: LossForm, roots: IndexArray) -> IndexArray:
    """Return the link of each first state; the likeliest model where none is given."""
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    starts = np.where(laws.any(axis=0), -2 - laws.argmax(axis=0), -1).astype(np.int32)
    starts[form.root_states] = roots
    return starts


def _chances(tree: BeliefTree, values: TreeValues) -> tuple[FloatArray, BoolArray]:
    """Return how likely the policy is at each node, and whether it can be there."""
    form, members = tree.form, tree.supports.members
    chance = np.zeros(tree.size)
    on_path = np.zeros(tree.size, np.bool_)
    planted = tree.roots >= 0
    chance[tree.roots[planted]] = members.roots.sum(axis=1)[planted]
    on_path[tree.roots[planted]] = True
    for h in range(form.steps - 1):
        reach(
            form.pattern.indptr, members.likelihood, form.pattern.n_actions,
            tree.layers[h], tree.layers[h + 1], tree.state, tree.belief, values.action,
            tree.first_link, tree.links, chance, on_path,
        )  # fmt: skip
    return chance, on_path


def _unfold(
    tree: BeliefTree, values: TreeValues, starts: IndexArray
) -> tuple[Skeleton, Copies]:
    """Return the policy with its nodes copied for every order of their members."""
    form, pattern = tree.form, tree.form.pattern
    planted = np.flatnonzero(tree.roots >= 0)
    node = tree.roots[planted].astype(np.int64)
    order = np.tile(np.arange(tree.belief.shape[1]), (node.size, 1))
    chance = tree.supports.members.roots.sum(axis=1)[planted]
    starts = starts.copy()
    starts[form.root_states[planted]] = np.arange(node.size)
    widths = pattern.indptr[pattern.n_actions :: pattern.n_actions]
    widths = widths - pattern.indptr[: -1 : pattern.n_actions]
    nodes, orders, chances, actions, links = [node], [order], [chance], [], []
    layers = [0]
    for h in range(form.steps):
        layers.append(layers[-1] + node.size)
        if layers[-1] > tree.limits.nodes:
            raise DoesNotFit(Outcome.OUT_OF_NODES)
        if tree.limits.late():
            raise DoesNotFit(Outcome.OUT_OF_TIME)
        state = tree.state[node]
        actions.append(_images(tree, state, values.action[node], order))
        begins = np.cumsum(widths[state]) - widths[state]
        flat = np.full(int(widths[state].sum()), -1, np.int32)
        links.append(flat)
        if h + 1 == form.steps:
            break
        step = _Step(tree, values.action[node], actions[-1], node, order, chance)
        node, order, chance = step.take(begins, flat, layers[-1])
        nodes.append(node)
        orders.append(order)
        chances.append(chance)
    every = np.concatenate(nodes)
    state = tree.state[every]
    skeleton = Skeleton(
        layers=np.array(layers, np.int64),
        state=state,
        action=np.concatenate(actions),
        on_path=np.ones(every.size, np.bool_),
        first_link=np.cumsum(widths[state]) - widths[state],
        links=np.concatenate(links),
        starts=starts,
    )
    return skeleton, Copies(every, np.concatenate(orders), np.concatenate(chances))


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """Copies of one step, and the step they take."""

    tree: BeliefTree
    played: IndexArray  # (n,), the action of the node
    action: IndexArray  # (n,), its image: the action of the copy
    node: OffsetArray  # (n,)
    order: AnyArray  # (n, K)
    chance: FloatArray  # (n,)

    def take(
        self, begins: OffsetArray, links: IndexArray, first: int
    ) -> tuple[OffsetArray, AnyArray, FloatArray]:
        """Write the links of the copies; return the copies that follow, from `first`.

        `begins` is where the links of each copy begin in `links`.
        """
        tree, pattern = self.tree, self.tree.form.pattern
        row = tree.state[self.node].astype(np.int64) * pattern.n_actions
        from_column = pattern.indptr[row + self.played]
        width = pattern.indptr[row + self.played + 1] - from_column
        who = np.repeat(np.arange(self.node.size), width)  # one entry per column
        inner = np.arange(who.size) - np.repeat(np.cumsum(width) - width, width)
        base = pattern.indptr[row]
        column = from_column[who] + inner
        at = tree.first_link[self.node[who]] + column - base[who]
        to = begins[who] + pattern.indptr[row + self.action][who] - base[who] + inner
        found = tree.links[at]
        plans = found <= -2
        links[to[plans]] = -2 - self._moved_plans(-2 - found[plans], who[plans])
        kept = found >= 0
        who, at, column = who[kept], at[kept], column[kept]
        order = np.empty((who.size, self.order.shape[1]), np.int64)
        np.put_along_axis(
            order, tree.place[at].astype(np.int64), self.order[who], axis=1
        )
        likelihood = tree.supports.members.likelihood
        mass = np.einsum("nk,nk->n", tree.belief[self.node[who]], likelihood[column])
        keys = np.column_stack([found[kept], order])
        distinct, copy = np.unique(keys, axis=0, return_inverse=True)
        copy = copy.reshape(-1)
        links[to[kept]] = first + copy
        chance: FloatArray = np.zeros(len(distinct))
        np.add.at(chance, copy, self.chance[who] * mass)
        return distinct[:, 0].copy(), distinct[:, 1:].copy(), chance

    def _moved_plans(self, entries: IndexArray, who: OffsetArray) -> IndexArray:
        """Return the supports of plans in the order of their copies."""
        keys = np.column_stack([entries, self.order[who]])
        distinct, which = np.unique(keys, axis=0, return_inverse=True)
        supports = self.tree.supports
        moved = [supports.moved(int(key[0]), key[1:]) for key in distinct]
        return np.array(moved, np.int32)[which.reshape(-1)]


def _images(
    tree: BeliefTree, state: IndexArray, played: IndexArray, order: AnyArray
) -> IndexArray:
    """Return the actions of copies whose nodes play `played`."""
    keys = np.column_stack([state, played, order])
    distinct, which = np.unique(keys, axis=0, return_inverse=True)
    image = tree.supports.symmetry.image
    found = [image(int(key[0]), int(key[1]), key[2:]) for key in distinct]
    return np.array(found, np.int32)[which.reshape(-1)]
