"""A policy without memory that loses little in every model, not only on average.

All tables of actions by step and state are tried, first step first, in states that some
model can be in. A gap is a sum of losses that are not negative (theory 5.1), so that a
beginning that has lost more than the limit of one model has no acceptable end. A search
that comes to its end proves that no deterministic table is acceptable; a random one may
be, because what is limited is more than one average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, IndexArray
from simgap.oracle.baselines.memoryless import ShortMemoryPlan, evaluated
from simgap.oracle.baselines.windowed import window_nodes
from simgap.oracle.loss_form import LossForm

MOST_TABLES = 20_000  # beginnings of tables that are looked at, about a second
MOST_PAIRS = 200  # of a step and a state: a table of more is not searched


@final
@dataclass(frozen=True, slots=True, eq=False)
class AcceptablePlan:
    """A table within all limits, if one was met, and whether all were tried."""

    plan: ShortMemoryPlan | None
    exhausted: bool  # and no deterministic table is within the limits


def acceptable_in_every_model(
    form: LossForm, limits: FloatArray, first: IndexArray
) -> AcceptablePlan:
    """Return a memoryless policy whose gap is at most `limits` (M,) in every model.

    `limits` are infinite where a model does not count. The actions of the table `first`
    (H, S) are tried first.
    """
    if form.horizon is None or form.steps * form.pattern.n_states > MOST_PAIRS:
        return AcceptablePlan(None, exhausted=False)
    search = _Search(form, limits, first)
    laws = [form.latent.simulators.start_law(m) for m in range(form.n_models)]
    start = np.where(np.isfinite(limits), np.stack(laws, axis=1), 0.0)
    lost = np.zeros(form.n_models)
    if search.goes_on(0, start, lost, 0, np.zeros_like(start)):
        nodes = window_nodes(form.pattern, 0)
        plan = evaluated(form, nodes, np.array(search.actions))
        if (plan.gaps + plan.rounding <= limits).all():
            return AcceptablePlan(plan, exhausted=False)
        return AcceptablePlan(None, exhausted=False)  # at the edge of a limit
    return AcceptablePlan(None, exhausted=search.left >= 0)


@final
class _Search:
    """Depth first over the actions of one step and state after the other."""

    def __init__(self, form: LossForm, limits: FloatArray, first: IndexArray) -> None:
        self.form, self.actions, self.left = form, np.array(first), MOST_TABLES
        self.limits = limits + form.rounding * (1.0 + 1e-9)
        self.limits += form.relative_rounding * np.where(
            np.isfinite(limits), np.abs(limits), 0.0
        )

    def goes_on(
        self, h: int, at: FloatArray, lost: FloatArray, state: int, after: FloatArray
    ) -> bool:
        """Return whether actions from `state` at step `h` on stay within the limits.

        `at` (S, M) are chances of states now, `after` of those that follow what is
        chosen already, and `lost` (M,) is what that loses.
        """
        pattern = self.form.pattern
        while state < pattern.n_states and not at[state].any():
            state += 1
        if state == pattern.n_states:
            if h + 1 == self.form.steps:
                return True
            return self.goes_on(h + 1, after, lost, 0, np.zeros_like(after))
        check_time()
        own = int(self.actions[h, state])
        for action in (own, *(a for a in range(pattern.n_actions) if a != own)):
            self.left -= 1
            if self.left < 0:
                return False
            more = lost + at[state] * self.form.losses[h, state, action]
            if (more > self.limits).any():
                continue
            row = state * pattern.n_actions + action
            entries = slice(pattern.indptr[row], pattern.indptr[row + 1])
            then = np.array(after)
            then[pattern.indices[entries]] += self.form.likelihood[entries] * at[state]
            self.actions[h, state] = action
            if self.goes_on(h, at, more, state + 1, then):
                return True
        self.actions[h, state] = own
        return False
