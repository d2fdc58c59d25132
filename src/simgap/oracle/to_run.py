"""The policy to run: it tracks beliefs, and its gap is estimated by simulation.

How many episodes are simulated follows from the work that was counted and the time that
was asked for, not from the clock: the same seed gives the same numbers. Only if they
would not end in time are they fewer, and a note says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import final

import numpy as np

from simgap._kernels.compile_clock import working_seconds
from simgap._kernels.time_limit import time_limited
from simgap.errors import OutOfTime
from simgap.intervals import Estimate
from simgap.oracle.bounded.points import no_vectors
from simgap.oracle.episode_design import FEW, number_of_strata
from simgap.oracle.estimate import estimated_gap, work_of_a_step
from simgap.oracle.loss_form import LossForm
from simgap.oracle.result import VectorSets
from simgap.policies import BeliefPolicy
from simgap.records.note import Note

CONFIDENCE = 0.95
PROBE = 32  # episodes that show how long an episode takes
WORK_PER_SECOND = 2e8  # products of two numbers
UNLIMITED = 60.0  # seconds of a run without a limit, in which episodes are counted
NO_ESTIMATE = Note(
    "no-estimate",
    "the policy to run was not simulated: the time limit came first, and its loss is "
    "not known",
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class PolicyToRun:
    """A policy that tracks beliefs, and what is known of it."""

    policy: BeliefPolicy
    gap: Estimate | None  # None: there was no time to simulate it
    notes: tuple[Note, ...] = ()


def policy_to_run(
    form: LossForm,
    vectors: VectorSets,
    *,
    settled: bool,
    episodes: int,
    seed: int,
    asked: float | None = None,
    seconds: float = inf,
) -> PolicyToRun:
    """Return the better of looking ahead with vectors and without, and its gap.

    The choice and the estimate use different episodes: the interval stays honest. If
    the vectors are `settled` there is no choice. Fewer episodes are simulated if they
    are too many for the time `asked` for, counted; and if they would take longer than
    `seconds`, which are those that are left.
    """
    choices = [belief_policy(form, vectors)]
    if not settled:
        choices.append(belief_policy(form, no_vectors(form)))
    counted = _counted(form, choices[0], episodes, asked)
    try:
        with time_limited(1.5 * seconds):
            fit = counted
            if seconds < inf:
                fit = _affordable(form, choices[0], counted, seed, seconds)
            policy, gap = _estimated(form, choices, fit, seed)
    except OutOfTime:
        return PolicyToRun(choices[0], None, (NO_ESTIMATE,))
    notes = () if fit == counted else (_cut_short(fit, counted),)
    return PolicyToRun(policy, gap, notes)


def _estimated(
    form: LossForm, choices: list[BeliefPolicy], episodes: int, seed: int
) -> tuple[BeliefPolicy, Estimate]:
    """Return the choice that does best in a few episodes, and its gap in others."""
    pilot = max(2, episodes // 4)

    def of_few(policy: BeliefPolicy) -> float:
        return estimated_gap(form, policy, episodes=pilot, seed=2 * seed).estimate

    policy = min(choices, key=of_few) if len(choices) > 1 else choices[0]
    return policy, estimated_gap(
        form,
        policy,
        episodes=episodes,
        seed=2 * seed + 1,
        confidence=CONFIDENCE,
    )


def _counted(
    form: LossForm, policy: BeliefPolicy, episodes: int, asked: float | None
) -> int:
    """Return how many episodes the time asked for is enough for, counted."""
    seconds = UNLIMITED if asked is None else asked
    steps = form.steps if form.horizon is not None else 16.0 / (1.0 - form.discount)
    each = max(steps * work_of_a_step(form, policy), 1.0)
    return int(min(episodes, max(2.0, WORK_PER_SECOND * seconds / each)))


def _cut_short(done: int, counted: int) -> Note:
    return Note(
        "estimate-cut-short",
        f"the loss of the policy to run is estimated from about {done} episodes, not "
        f"{counted}: the time limit came first, and another run may have others",
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
