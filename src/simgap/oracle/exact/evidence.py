"""What a step can teach: which models are left, and which of them gained.

Planning is over *members*: models of positive prior, those that agree on everything
taken together. The *support* of a belief is the set of members that the history allows,
with their weights at the first step, which depend on the first state if its law does.
Among the members of a support a column of the transitions is evidence by its direction,
the likelihoods up to a factor. Columns of one direction are one class, columns of the
opposite direction count as minus one, and a column that favours no member is none. So
the belief is a function of the support and of the counts of its classes.

Two directions are taken as equal if they are equal to the last bit after division by
their largest entry: a relative error of at most one unit of rounding per step, which
`relative_rounding` includes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from simgap._kernels.beliefs.belief_tree_gaps import settle
from simgap.arrays import AnyArray, BoolArray, FloatArray, IndexArray
from simgap.intervals import EPS
from simgap.oracle.exact.symmetry import Members, Symmetry
from simgap.oracle.loss_form import LossForm

UNKNOWN, EMPTY = -2, -1
TABLES = (  # of `Supports`, one row per entry, with what stands in a new row
    ("share", 0.0),
    ("next_support", UNKNOWN),
    ("swap_support", UNKNOWN),
    ("code", 0),
    ("example", 0),
    ("settled", -1),
    ("plan_next", EMPTY),
)


def relative_rounding(form: LossForm) -> float:
    """Return what a backup, its belief and its class of evidence round, relatively."""
    longest = int(np.diff(form.pattern.indptr).max())
    return (form.n_models + longest + 8) * EPS


def tie_slack(form: LossForm) -> float:
    """Return how far apart equal sums of stored losses can be."""
    return 2.0 * form.rounding


def step_slack(form: LossForm) -> float:
    """Return a loss that can be overlooked at every step: `tie_slack` all together.

    It is above what storing the loss of a best action can make of zero.
    """
    return tie_slack(form) / max(1, form.steps)


@final
@dataclass(slots=True, eq=False)
class Supports:
    """The supports met so far, with their classes of evidence and their plans.

    The first M entries are the corners: entry m is the plan of model m on its own, also
    for models of zero prior. Entries are added as beliefs meet them.
    """

    form: LossForm
    members: Members
    symmetry: Symmetry
    count: int = 0
    classes: int = 0  # the most that a support has
    pattern_of: IndexArray = field(init=False)  # (nnz,), by who allows the column
    patterns: BoolArray = field(init=False)  # (U, K)
    corner: IndexArray = field(init=False)  # (nnz,), entry of the likeliest model
    share: FloatArray = field(init=False)  # (entries, K), of the first weights
    next_support: IndexArray = field(init=False)  # (entries, U)
    swap_support: IndexArray = field(init=False)  # (entries, pairs), after a swap
    code: IndexArray = field(init=False)  # (entries, nnz): 0, or +- (class + 1)
    example: IndexArray = field(init=False)  # (entries, classes), a column of each
    settled: AnyArray = field(init=False)  # (entries, T, S), action or -1
    plan_next: IndexArray = field(init=False)  # (entries, nnz), EMPTY if none
    _known: dict[bytes, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        form = self.form
        nnz, n_models = form.likelihood.shape
        steps, n_states = form.losses.shape[:2]
        allowed = self.members.likelihood > 0.0
        self.patterns, inverse = np.unique(allowed, axis=0, return_inverse=True)
        self.pattern_of = inverse.reshape(-1).astype(np.int32)
        likeliest = form.likelihood.argmax(axis=1).astype(np.int32)
        self.corner = np.where(form.likelihood.any(axis=1), likeliest, EMPTY).astype(
            np.int32
        )
        self.share = np.empty((0, len(self.members.models)))
        self.next_support = np.empty((0, len(self.patterns)), np.int32)
        pairs = len(self.symmetry.column_swap)
        self.swap_support = np.empty((0, pairs), np.int32)
        self.code = np.empty((0, nnz), np.int32)
        self.example = np.empty((0, 0), np.int32)
        self.settled = np.empty((0, steps, n_states), np.int16)
        self.plan_next = np.empty((0, nnz), np.int32)
        for model in range(n_models):
            self._add_corner(model)

    @property
    def nbytes(self) -> int:
        return int(sum(getattr(self, name).nbytes for name, _ in TABLES))

    def of(self, weights: FloatArray) -> int:
        """Return the entry of first weights (K,), made if it is new; EMPTY for zeros.

        First weights say who is left and how the first state has divided the prior
        among them: where it starts in one state or by one law, always in the same way.
        """
        if not weights.any():
            return EMPTY
        share = weights / weights.max()
        known = self._known.get(share.tobytes())
        return self._add(share) if known is None else known

    def learn(self, entry: int, pattern: int) -> None:
        """Fill in which support follows after a pattern of columns."""
        after = self.of(self.share[entry] * self.patterns[pattern])
        self.next_support[entry, pattern] = after

    def learn_swap(self, entry: int, number: int) -> None:
        """Fill in which support it is when two members are swapped."""
        i, j = np.argwhere(self.symmetry.pair == number)[0]
        share = self.share[entry].copy()
        share[[i, j]] = share[[j, i]]
        self.swap_support[entry, number] = self.of(share)

    def moved(self, entry: int, order: IndexArray) -> int:
        """Return the entry when member i is called order[i]; corners move along."""
        if entry < self.form.n_models:
            return int(order[entry])
        share = np.empty_like(self.share[entry])
        share[order] = self.share[entry]
        return self.of(share)

    def _add_corner(self, model: int) -> None:
        member = int(self.members.member_of[model])
        entry = self._grow()
        form = self.form
        self.next_support[entry] = EMPTY
        self._settle(entry, form.losses, np.array([model]), np.zeros_like(self.corner))
        stays = form.likelihood[:, model] > 0.0
        self.plan_next[entry] = np.where(stays, entry, self.corner)
        if member >= 0:
            self.share[entry, member] = 1.0
            self._known.setdefault(self.share[entry].tobytes(), entry)

    def _add(self, share: FloatArray) -> int:
        entry = self._grow()
        self.share[entry] = share
        self._known[share.tobytes()] = entry
        inside = np.flatnonzero(share)
        left = self.patterns[:, inside].sum(axis=1)[self.pattern_of].astype(np.int32)
        self._settle(entry, self.members.losses, inside, left)
        last = self.patterns[:, inside].argmax(axis=1)[self.pattern_of]
        alone = self.members.models[inside[last]]
        self.plan_next[entry] = np.where(
            left > 1, entry, np.where(left == 1, alone, self.corner)
        )
        self._classify(entry, inside, left == inside.size)
        return entry

    def _settle(
        self, entry: int, losses: FloatArray, members: AnyArray, left: IndexArray
    ) -> None:
        pattern = self.form.pattern
        settle(
            pattern.indptr, pattern.indices, losses, members.astype(np.int32), left,
            step_slack(self.form), self.settled[entry],
        )  # fmt: skip

    def _classify(self, entry: int, inside: AnyArray, seen_by_all: BoolArray) -> None:
        """Number the directions of the columns that everybody inside allows."""
        columns = np.flatnonzero(seen_by_all)
        chances = self.members.likelihood[np.ix_(columns, inside)]
        if not columns.size:
            return
        directions = chances / chances.max(axis=1, keepdims=True)
        distinct, first, which = np.unique(
            directions, axis=0, return_index=True, return_inverse=True
        )
        numbers = np.zeros(len(distinct), np.int32)
        known: dict[bytes, int] = {}
        examples = []
        for i, direction in enumerate(distinct):
            if (direction == 1.0).all():
                continue
            opposite = (direction.min() / direction).tobytes()
            if opposite in known:
                numbers[i] = -known[opposite]
            else:
                examples.append(columns[first[i]])
                numbers[i] = known[direction.tobytes()] = len(examples)
        self.code[entry, columns] = numbers[which.reshape(-1)]
        if len(examples) > self.classes:
            self.classes = len(examples)
            wider = np.zeros((len(self.example), self.classes), np.int32)
            wider[:, : self.example.shape[1]] = self.example
            self.example = wider
        self.example[entry, : len(examples)] = examples

    def _grow(self) -> int:
        """Return the number of a new row of all tables."""
        entry = self.count
        if entry == len(self.code):
            room = max(4, 2 * entry)
            for name, fill in TABLES:
                old: Any = getattr(self, name)
                new = np.full((room, *old.shape[1:]), fill, old.dtype)
                new[:entry] = old
                setattr(self, name, new)
        self.count += 1
        return entry
