"""Models that are each other's image when actions are renamed.

Two members are exchangeable if swapping them, and renaming the actions of each state,
leaves all transitions, losses and first weights as they are, to the last bit. Swaps of
exchangeable members generate all permutations within groups of them, the *orbits*, and
none of these changes the least loss: G_h(s, b) is the same for b in any order within an
orbit (theory 5.2). So beliefs are sorted within orbits before they are looked up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations
from typing import final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, read_only
from simgap.oracle.loss_form import LossForm

LARGEST_TABLE = 10**7  # entries of `column_swap`


@final
@dataclass(frozen=True, slots=True, eq=False)
class Symmetry:
    """Orbits of members, and what a swap of two of them does to columns."""

    orbit: IndexArray  # (K,), a number for each orbit
    pair: IndexArray  # (K, K), the number of a swap, -1 if there is none
    column_swap: IndexArray  # (pairs, nnz), the image of each column
    contents: IndexArray  # (S, A, K), equal where a row is equal in two members

    @property
    def found(self) -> bool:
        return len(self.column_swap) > 0

    def image(self, state: int, action: int, order: IndexArray) -> int:
        """Return the action that is `action` after member i is called order[i]."""
        wanted = np.empty_like(order)
        wanted[order] = self.contents[state, action]
        same = (self.contents[state] == wanted).all(axis=1)
        return int(same.argmax())


def no_symmetry(form: LossForm, members: Members) -> Symmetry:
    """Return what is always true: every member is exchangeable with itself."""
    alone = np.arange(len(members.models), dtype=np.int32)
    return Symmetry(
        orbit=alone,
        pair=np.full((alone.size, alone.size), -1, np.int32),
        column_swap=np.empty((0, form.pattern.indices.size), np.int32),
        contents=np.empty((form.pattern.n_states, 0, alone.size), np.int32),
    )


def find_symmetry(form: LossForm, members: Members) -> Symmetry:
    """Return the orbits of exchangeable members.

    Nothing is looked for if some models are no members of their own: their gaps are
    asked for too, and are not moved by a permutation of members.
    """
    count = len(members.models)
    if count < form.n_models or not _candidates(form, members):
        return no_symmetry(form, members)
    contents = _contents(form, members)
    groups: dict[bytes, list[list[int]]] = defaultdict(list)
    swaps: dict[tuple[int, int], IndexArray] = {}
    for m in range(count):
        profile = np.sort(contents[..., m], axis=1).tobytes()
        for orbit in groups[profile + members.roots[:, m].tobytes()]:
            if _swap(form, contents, orbit[0], m) is not None:
                orbit.append(m)
                break
        else:
            groups[profile + members.roots[:, m].tobytes()].append([m])
    orbits = [orbit for some in groups.values() for orbit in some]
    pairs = sum(len(orbit) * (len(orbit) - 1) // 2 for orbit in orbits)
    if not 0 < pairs * form.pattern.indices.size <= LARGEST_TABLE:
        return no_symmetry(form, members)
    for orbit in orbits:
        for i, j in combinations(orbit, 2):
            swap = _swap(form, contents, i, j)
            assert swap is not None  # (i j) is made of swaps with the first of them
            swaps[i, j] = swap
    label = np.empty(count, np.int32)
    for number, orbit in enumerate(orbits):
        label[orbit] = number
    pair = np.full((count, count), -1, np.int32)
    for number, (i, j) in enumerate(swaps):
        pair[i, j] = pair[j, i] = number
    return Symmetry(label, pair, np.stack(list(swaps.values())), contents)


def _candidates(form: LossForm, members: Members) -> bool:
    """Return whether two members look alike: values, first weights, some losses."""
    some = members.losses[:: max(1, len(members.losses) // 2)]  # two or three steps
    losses = np.sort(some, axis=2)  # whatever actions are called
    seen = [
        (
            float(form.optimal[m]),
            members.roots[:, m].tobytes(),
            sha256(losses[..., m].tobytes()).digest(),
        )
        for m in range(len(members.models))
    ]
    return len(set(seen)) < len(seen)


def _contents(form: LossForm, members: Members) -> IndexArray:
    """Return a number for what a member does in each (s, a): equal only if equal."""
    pattern, known = form.pattern, dict[bytes, int]()
    shape = (pattern.n_states, pattern.n_actions, len(members.models))
    contents = np.empty(shape, np.int32)
    for s, a, m in np.ndindex(*shape):
        if a == m == 0:
            check_time()
        row = s * pattern.n_actions + a
        columns = slice(pattern.indptr[row], pattern.indptr[row + 1])
        what = (
            pattern.indices[columns].tobytes()
            + members.likelihood[columns, m].tobytes()
            + members.losses[:, s, a, m].tobytes()
        )
        contents[s, a, m] = known.setdefault(sha256(what).digest(), len(known))
    return contents


def _swap(form: LossForm, contents: IndexArray, i: int, j: int) -> IndexArray | None:
    """Return the image of each column when members i and j are swapped, if any."""
    pattern = form.pattern
    order = np.arange(contents.shape[2])
    order[[i, j]] = j, i
    image = np.empty(pattern.indices.size, np.int32)
    for s in range(pattern.n_states):
        free: dict[bytes, list[int]] = defaultdict(list)
        for a in range(pattern.n_actions - 1, -1, -1):
            free[contents[s, a].tobytes()].append(a)
        for a in range(pattern.n_actions):
            same = free[contents[s, a][order].tobytes()]
            if not same:
                return None
            row = s * pattern.n_actions
            here, there = pattern.indptr[row + a], pattern.indptr[row + same.pop()]
            width = pattern.indptr[row + a + 1] - here
            image[here : here + width] = np.arange(there, there + width)
    return image


@final
@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The models that planning tells apart."""

    models: IndexArray  # (K,), one model for each member
    member_of: IndexArray  # (M,), -1 for models of zero prior
    likelihood: FloatArray  # (nnz, K)
    losses: FloatArray  # (T, S, A, K)
    roots: FloatArray  # (R, K), weights of the first states


def members_of(form: LossForm) -> Members:
    """Return the models of positive prior, duplicates merged."""
    prior = form.latent.prior
    member_of = np.full(form.n_models, -1, np.int32)
    chosen: list[int] = []
    by_content: dict[bytes, int] = {}
    for m in map(int, np.flatnonzero(prior > 0.0)):
        content = sha256()
        for part in _parts(form, m):
            content.update((np.ascontiguousarray(part) + 0.0).tobytes())  # -0 is 0
        member_of[m] = by_content.setdefault(content.digest(), len(chosen))
        if member_of[m] == len(chosen):
            chosen.append(m)
    everyone = chosen == list(range(form.n_models))
    roots = np.zeros((form.root_states.size, len(chosen)))
    for m in map(int, np.flatnonzero(member_of >= 0)):
        roots[:, member_of[m]] += form.root_weights[:, m]
    return Members(
        models=np.array(chosen, np.int32),
        member_of=member_of,
        likelihood=(
            form.likelihood if everyone else read_only(form.likelihood[:, chosen])
        ),
        losses=form.losses if everyone else read_only(form.losses[..., chosen]),
        roots=roots,
    )


def _parts(form: LossForm, m: int) -> Iterator[FloatArray]:
    """Yield what makes a model what it is, its losses a few megabytes at a time."""
    yield form.likelihood[:, m]
    yield form.latent.simulators.start_law(m)
    yield from (some[..., m] for some in form.some_steps())
