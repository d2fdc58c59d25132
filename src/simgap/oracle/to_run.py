"""The policy to run: it tracks beliefs, and its gap is estimated by simulation."""

from __future__ import annotations

from math import inf

import numpy as np

from simgap._kernels.compile_clock import working_seconds
from simgap.intervals import Estimate
from simgap.oracle.bounded.points import no_vectors
from simgap.oracle.episode_design import FEW, number_of_strata
from simgap.oracle.estimate import estimated_gap
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets
from simgap.policies import BeliefPolicy

CONFIDENCE = 0.95
PROBE = 32  # episodes that show how long an episode takes


def policy_to_run(
    form: LossForm,
    vectors: VectorSets,
    *,
    settled: bool,
    episodes: int,
    seed: int,
    seconds: float = inf,
) -> tuple[BeliefPolicy, Estimate]:
    """Return the better of looking ahead with vectors and without, and its gap.

    The choice and the estimate use different episodes: the interval stays honest. If
    the vectors are `settled` there is no choice. Fewer episodes than asked are
    simulated if they would take longer than `seconds`.
    """
    choices = [belief_policy(form, vectors)]
    if not settled:
        choices.append(belief_policy(form, no_vectors(form)))
    if seconds < inf:
        episodes = _affordable(form, choices[0], episodes, seed, seconds)
    pilot = max(2, episodes // 4)
    first = [
        estimated_gap(form, each, episodes=pilot, seed=2 * seed).estimate
        for each in choices
    ]
    policy = choices[int(np.argmin(first))]
    return policy, estimated_gap(
        form,
        policy,
        episodes=episodes,
        seed=2 * seed + 1,
        confidence=CONFIDENCE,
    )


def _affordable(
    form: LossForm, policy: BeliefPolicy, episodes: int, seed: int, seconds: float
) -> int:
    """Return how many episodes fit, from 2 to as many as were asked for."""
    begin = working_seconds()
    estimated_gap(form, policy, episodes=PROBE, seed=2 * seed)
    taken = working_seconds() - begin
    strata = number_of_strata(form, PROBE) or int((form.latent.prior > 0.0).sum())
    most = 2 * (PROBE + FEW * strata)  # what was simulated, pilots included
    fit = (seconds - taken) / max(taken / most, 1e-9) / 1.5  # the choice: half as many
    return int(min(episodes, max(2.0, fit)))


def belief_policy(form: LossForm, sets: VectorSets) -> BeliefPolicy:
    """Return the policy that tracks the posterior and looks ahead with vectors."""
    simulators = form.latent.simulators
    laws = np.stack([simulators.start_law(m) for m in range(form.n_models)])
    return BeliefPolicy(
        name="oracle, tracking beliefs",
        pattern=form.pattern,
        horizon=form.horizon,
        discount=form.discount,
        prior=form.latent.prior,
        start_law=laws,
        likelihood=form.likelihood,
        losses=form.losses,
        vector_set=sets.vector_set,
        vector_offsets=sets.vector_offsets,
        vectors=sets.vectors,
    )
