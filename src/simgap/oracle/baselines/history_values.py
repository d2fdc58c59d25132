"""Gaps of any policy by going through its histories: exact, for tiny problems."""

from __future__ import annotations

from typing import Any

import numpy as np

from simgap.arrays import FloatArray, owned
from simgap.errors import OutsideClass
from simgap.oracle.loss_form import LossForm
from simgap.policies.interface import Policy, Step


def gaps_by_histories(
    form: LossForm, policy: Policy[Any], *, limit: int, fallback: Any = None
) -> FloatArray | None:
    """Return gap(pi, m) of every model, or None beyond `limit` things to remember.

    gap(pi, m) = E_m[sum_h loss_m(h, s_h, a_h)]. Histories with the same state and the
    same memory are one. After something that the policy deems impossible (a model with
    prior zero may do it) its memory stays as it was, and an episode that begins so has
    the memory `fallback`; without one there is no answer. Horizons only.
    """
    if form.horizon is None:
        return None
    pattern, simulators = form.pattern, form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    gaps: FloatArray = np.zeros(form.n_models)
    now: dict[tuple[int, Any], FloatArray] = {}
    for first in np.flatnonzero(laws.any(axis=0)).tolist():
        try:
            memory = policy.start(first)
        except OutsideClass:
            if fallback is None:
                return None
            memory = fallback
        now[first, memory] = laws[:, first]
    met = len(now)
    for h in range(form.horizon):
        after: dict[tuple[int, Any], FloatArray] = {}
        for (state, memory), reach in now.items():
            for action, chance in enumerate(policy.act(memory, h, state)):
                if chance == 0.0:
                    continue
                gaps += chance * reach * form.losses[h, state, action]
                row = state * pattern.n_actions + action
                for k in range(pattern.indptr[row], pattern.indptr[row + 1]):
                    weight = chance * reach * form.likelihood[k]
                    if not weight.any():
                        continue
                    into = int(pattern.indices[k])
                    try:
                        then = policy.observe(memory, Step(h, state, action, into))
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
