"""The models that planning tells apart: of positive prior, duplicates merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, read_only
from simgap.oracle.loss_form import LossForm


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
