"""Gaps of any policy by going through its histories: exact, for tiny problems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import OutsideClass
from simgap.oracle.loss_form import LossForm
from simgap.policies import Policy, Step


@final
@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """What can follow each state and action if rewards are seen as well."""

    indptr: OffsetArray  # (S A + 1,)
    next_state: IndexArray  # (E,)
    reward: FloatArray  # (E,)
    likelihood: FloatArray  # (E, M)


def gaps_by_histories(
    form: LossForm,
    policy: Policy[Any],
    *,
    limit: int,
    fallback: Any = None,
    seen: Seen | None = None,
) -> FloatArray | None:
    """Return gap(pi, m) of every model, or None beyond `limit` things to remember.

    gap(pi, m) = E_m[sum_h loss_m(h, s_h, a_h)]. Histories with the same state and the
    same memory are one. After something that the policy deems impossible (a model with
    prior zero may do it) its memory stays as it was (theory 2.3), and an episode that
    begins so has the memory `fallback`; without one that is an error. Horizons only.
    `seen` is for policies that see rewards.
    """
    if form.horizon is None:
        return None
    pattern, simulators = form.pattern, form.latent.simulators
    indptr = pattern.indptr if seen is None else seen.indptr
    following = pattern.indices if seen is None else seen.next_state
    likelihood = form.likelihood if seen is None else seen.likelihood
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    gaps: FloatArray = np.zeros(form.n_models)
    now: dict[tuple[int, Any], FloatArray] = {}
    for first in np.flatnonzero(laws.any(axis=0)).tolist():
        try:
            memory = policy.start(first)
        except OutsideClass:
            if fallback is None:
                raise
            memory = fallback
        now[first, memory] = laws[:, first]
    met = len(now)
    for h in range(form.horizon):
        after: dict[tuple[int, Any], FloatArray] = {}
        for (state, memory), reach in now.items():
            check_time()
            for action, chance in enumerate(policy.act(memory, h, state)):
                if chance == 0.0:
                    continue
                gaps += chance * reach * form.losses[h, state, action]
                row = state * pattern.n_actions + action
                for k in range(indptr[row], indptr[row + 1]):
                    weight = chance * reach * likelihood[k]
                    if not weight.any():
                        continue
                    into = int(following[k])
                    paid = None if seen is None else float(seen.reward[k])
                    step = Step(h, state, action, into, paid)
                    try:
                        then = policy.observe(memory, step)
                    except OutsideClass:
                        then = memory
                    key = into, then
                    after[key] = after[key] + weight if key in after else weight
            if met + len(after) > limit:
                return None
        met += len(after)
        now = after
    found: FloatArray = owned(gaps)
    return found
