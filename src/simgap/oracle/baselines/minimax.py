"""The policy whose worst gap is least: a game between the agent and nature.

Nature picks a model, the agent a policy, and the agent pays gap(pi, m). Mixtures of
history-dependent policies are as good as any policy, so the game has a value (von
Neumann): min over mixtures of the largest gap = max over priors of the least average
gap. The second problem is the oracle of a prior.

Double oracle: keep the gap vectors of some policies. A linear program finds the best
mixture of them and the prior nu that makes it bad; the exact oracle of nu answers with
a new policy. Any prior bounds the value from below by its oracle's average gap and any
mixture from above by its largest gap, so the bracket is certified whatever the linear
program says. nu is mixed with a little of the uniform prior, so that every answer is
defined, and reasonable, in every model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from simgap._kernels.time_limit import check_time
from simgap.arrays import FloatArray, owned
from simgap.errors import NotSolved
from simgap.intervals import Certified, defect
from simgap.mdp import LEAST_CHANCE, LatentMDP
from simgap.oracle.exact import count_nodes, looks_hopeless, solve_exact
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import Outcome
from simgap.oracle.settings import ExactOracle
from simgap.policies import GraphPolicy

UNIFORM_PART = 1e-7  # of nature's prior
TOLERANCE = 1e-6  # width of the bracket at which it stops, of its upper end


@final
@dataclass(frozen=True, slots=True, eq=False)
class Minimax:
    """A mixture of policies, drawn before the episode, and nature's answer to it."""

    worst_gap: Certified  # of the best policy there is
    policies: tuple[GraphPolicy, ...]
    weights: FloatArray  # (K,), of the policies
    gaps: FloatArray  # (M,), of the mixture, exact up to rounding
    prior: FloatArray  # (M,), the worst prior found: its oracle loses `worst_gap.lower`
    rounds: int  # oracles solved


def solve_minimax(
    form: LossForm,
    *,
    max_nodes: int = 20_000,
    max_rounds: int = 200,
) -> Minimax:
    """Return the least worst gap over all models, the prior of the form forgotten.

    It stops when the bracket is narrow enough, or after `max_rounds`. Raises
    `NotSolved` if one exact oracle has more than `max_nodes` beliefs, or with a
    discount.
    """
    members = form.n_models
    uniform = np.full(members, 1.0 / members)
    first = with_prior(form, uniform)
    _check_size(first, max_nodes)
    policies: list[GraphPolicy] = []
    vectors: list[FloatArray] = []
    prior, worst = uniform, uniform
    lower, upper, weights = 0.0, np.inf, np.ones(1)
    rounds = 0
    while rounds < max_rounds:
        check_time()
        asked = (1.0 - UNIFORM_PART) * prior + UNIFORM_PART * uniform
        asked = asked / asked.sum()
        answer = solve_exact(with_prior(form, asked), ExactOracle(max_nodes=max_nodes))
        rounds += 1
        if answer.outcome is not Outcome.EXACT:
            break
        if answer.lower > lower:
            lower, worst = answer.lower, asked
        repeated = any(np.array_equal(answer.gaps, known) for known in vectors)
        if not repeated:
            policies.append(answer.policy)
            vectors.append(answer.gaps)
        found, prior = _mixture(np.array(vectors))
        mixed_gap = float((found @ np.array(vectors)).max())
        if mixed_gap < upper:
            upper, weights = mixed_gap, found
        if repeated or upper - lower <= TOLERANCE * upper + 2.0 * form.rounding:
            break
    used = np.flatnonzero(weights > 0.0)
    share = weights[used] / weights[used].sum()
    gaps = share @ np.array(vectors)[used]
    top = form.around(float(gaps.max())).ends[1]
    return Minimax(
        worst_gap=Certified(max(0.0, min(lower, top)), top),
        policies=tuple(policies[i] for i in used),
        weights=owned(share),
        gaps=owned(gaps),
        prior=owned(np.array(worst)),
        rounds=rounds,
    )


def with_prior(form: LossForm, prior: FloatArray) -> LossForm:
    """Return the same models and losses under another prior."""
    prior = np.where(prior < LEAST_CHANCE, 0.0, prior)
    latent = LatentMDP(form.latent.simulators, prior)
    simulators = latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    weights = (latent.prior[:, None] * laws).T
    roots = np.flatnonzero(weights.any(axis=1))
    return replace(
        form,
        latent=latent,
        root_states=owned(roots.astype(np.int32)),
        root_weights=owned(np.ascontiguousarray(weights[roots])),
        defect=max(form.defect, defect(latent.prior)),
    )


def _mixture(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mixture of rows (K, M) with the least largest entry, and its dual."""
    from scipy.optimize import linprog

    count, members = vectors.shape
    scale = float(vectors.max()) or 1.0
    solved = linprog(
        np.append(np.zeros(count), 1.0),
        A_ub=np.column_stack([vectors.T / scale, -np.ones(members)]),
        b_ub=np.zeros(members),
        A_eq=np.append(np.ones(count), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * count + [(None, None)],
        method="highs",
    )
    if not solved.success or solved.x is None:  # any mixture and any prior will do
        return np.eye(count)[int(vectors.max(axis=1).argmin())], np.full(
            members, 1.0 / members
        )
    mixture = np.maximum(solved.x[:count], 0.0)
    dual = np.maximum(-np.asarray(solved.ineqlin.marginals), 0.0)
    total = float(dual.sum())
    prior = dual / total if total > 0.0 else np.full(members, 1.0 / members)
    return mixture / mixture.sum(), prior


def _check_size(form: LossForm, max_nodes: int) -> None:
    if form.horizon is None:
        raise NotSolved(
            "the minimax policy needs a horizon, this problem has a discount",
            hint="give a horizon",
        )
    if looks_hopeless(form, max_nodes) or count_nodes(form, max_nodes) is None:
        raise NotSolved(
            f"the minimax policy needs exact oracles of at most {max_nodes} beliefs, "
            "this problem has more",
            hint="shorten the horizon or raise max_nodes",
        )
