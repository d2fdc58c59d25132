"""What is lost in H steps, with memory and without: the evidence behind a verdict.

The oracle is planned until its bracket decides the verdict or a limit is reached. A
policy without memory is searched from the plans of a few models and of their mean. What
cannot be planned is bounded: no best policy loses more than one that acts at random, or
than a theorem allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import monotonic
from typing import final

import numpy as np

from simgap.answers.audit.large_oracle import (
    PlannedOracle,
    given_oracle,
    graded,
    planned_oracle,
)
from simgap.answers.audit.verdict import NOT_KNOWN, WorstCases, verdict_in_steps
from simgap.answers.planned_class import PlannedClass, Tell, checked_oracle
from simgap.answers.stakes import Stakes, stakes
from simgap.arrays import BoolArray, FloatArray
from simgap.base_policies.without_memory import memoryless_policy
from simgap.errors import NotCommunicating, NotSolved
from simgap.gap import Exact, average_certified, exact_gaps
from simgap.intervals import Certified
from simgap.mdp import LatentMDP
from simgap.oracle import (
    AutoOracle,
    LossForm,
    Outcome,
    ShortMemoryPlan,
    acceptable_in_every_model,
    best_plan,
    bytes_of_losses,
    fits,
    loss_form,
    mean_model_plan,
    memory_proofs,
    window_nodes,
)
from simgap.records.audit import InSimulator, Verdict, WorstModel
from simgap.records.memory import Memory

LARGEST_LOSSES = 1e8  # bytes of the losses of all steps; beyond, nothing is planned
LARGEST_THOROUGH = 2e9
MOST_BACKUPS = 1e9  # horizon x entries of all kernels: some seconds
MOST_THOROUGH = 5e10  # the same with --thorough: minutes
GAP_TOLERANCE = 0.1  # of the oracle's loss: how wide the first bracket may be
EFFORT = 0.5  # seconds of a usual machine, for policies without memory
EPISODES = 2  # the estimate of the policy to run is not used here
FINER = 0.1  # of the tolerance, if the first bracket does not decide
NARROW = 0.2  # of the acceptable loss: a bracket of this width is good enough
LEAST_SECONDS = 1.0
NOISES = 10.0  # roundings of a gap: a smaller difference is none
NEGLIGIBLE = 1e-9  # of the sum of the largest rewards: what rounding makes
MOST_STARTS = 8  # models whose plans the search starts from


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How far to plan, and how much may be lost."""

    acceptable: float = 0.1  # of what is at stake
    time_limit: float = 20.0  # seconds, for the oracle
    seed: int = 0
    thorough: bool = False  # go on where it takes minutes


@final
@dataclass(frozen=True, slots=True, eq=False)
class Losses:
    """What is lost in H steps, in the class's own units; nothing without a horizon."""

    horizon: int | None = None
    verdict: Verdict = "undecided"  # of the table; an audit's is about its simulator
    stakes: Stakes | None = None  # None: too long to compute
    average_gap: Certified | None = None  # of the best policy with memory
    memoryless_gap: Certified | None = None  # of the best policy without
    without_memory: Certified | None = None  # of the one that the verdict is about
    all_tables_fail: bool = False  # in some model: every deterministic one was tried
    worst: WorstModel | None = None  # of the certified policy; None: nothing at stake
    memoryless_worst: WorstModel | None = None  # of the one that the verdict is about
    gaps: FloatArray | None = None  # (M,), of the certified policy, NaN: it has no rule
    outcome: Outcome | None = None  # of planning; None: not planned
    planned: int = 0  # models that were planned for
    rounding: float | None = None  # of a gap; None: not planned
    searched: int | None = None  # policies without memory that the best is of
    worth: Certified | None = None  # of memory, if it is known already
    in_simulator: tuple[InSimulator, ...] = ()  # of a class on a grid

    def part(self, gap: Certified | None) -> Certified | None:
        """Return an average gap as a part of what is at stake."""
        if gap is None or self.stakes is None:
            return None
        return self.stakes.part(gap)

    @property
    def value_of_memory(self) -> Certified | None:
        """Return what remembering is worth on average."""
        if self.average_gap is None or self.memoryless_gap is None:
            return None
        if self.worth is not None:
            return self.worth
        return (self.memoryless_gap - self.average_gap).not_negative()

    def memory(self, acceptable: float) -> Memory | None:
        """Return what is proved: memory is enough for what is acceptable, or needed."""
        if self.average_gap is None or self.memoryless_gap is None:
            return None
        if self.stakes is None:
            return None
        return memory_proofs(
            self.average_gap,
            self.memoryless_gap,
            searched=self.searched,
            noise=NOISES * (self.rounding or 0.0),
            acceptable=Certified(
                *(acceptable * end for end in self.stakes.average.ends)
            ),
        )

    def everywhere(self, verdict: Verdict, acceptable: float) -> bool | None:
        """Return whether the policy of a verdict is acceptable in every model.

        That is the policy found without memory for "yes", the one with memory for
        "with memory"; other verdicts name no policy.
        """
        found = None
        if verdict == "yes":
            found = self.memoryless_worst
        elif verdict == "with memory":
            found = self.worst
        return None if found is None else found.relative <= acceptable


def losses_in_steps(
    latent: LatentMDP,
    horizon: int,
    settings: Settings,
    *,
    promised: float | None = None,
    planned: PlannedClass | None = None,
    progress: Tell | None = None,
) -> Losses:
    """Return what the best policies with and without memory lose in H steps.

    `promised` bounds the average gap by a theorem, in the same units. What is `planned`
    already is taken as it is.
    """
    if planned is not None:
        checked_oracle(planned.oracle, latent, horizon)
    entries = latent.simulators.transitions.values.size
    if horizon * entries > (MOST_THOROUGH if settings.thorough else MOST_BACKUPS):
        most = None if promised is None else Certified(0.0, promised)
        return Losses(horizon, average_gap=most)
    known = stakes(latent, horizon)
    room = LARGEST_THOROUGH if settings.thorough else LARGEST_LOSSES
    if bytes_of_losses(latent, horizon) > room:
        return _not_planned(latent, horizon, settings, known, promised)
    form = loss_form(latent, horizon=horizon)
    if planned is None:
        effort = min(EFFORT, settings.time_limit)
        plan = search_without_memory(form, effort, settings.seed)
        result, average = _planned(form, plan, known, settings, progress)
    else:
        plan, result = planned.memoryless, given_oracle(planned.oracle)
        average = result.average_gap
    memoryless = memoryless_bracket(plan, average)
    worst = None if result.gaps is None else _worst(latent, known, result.gaps)
    with_memory = np.inf if worst is None else worst.relative
    chosen = _chosen(form, plan, known, settings, (average, memoryless), with_memory)
    return Losses(
        horizon=horizon,
        verdict=chosen.verdict,
        stakes=known,
        average_gap=average,
        memoryless_gap=memoryless,
        without_memory=chosen.plan.average_ends,
        all_tables_fail=chosen.all_tables_fail,
        worst=worst,
        memoryless_worst=_worst(latent, known, chosen.plan.gaps),
        gaps=result.gaps,
        outcome=result.outcome,
        planned=result.planned,
        rounding=form.rounding_of(plan.gaps),
        searched=plan.starts,
        worth=None if planned is None else planned.value_of_memory,
        in_simulator=graded(form, chosen.plan, result, settings.seed),
    )


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Chosen:
    """A verdict, and the policy without memory that it is about."""

    verdict: Verdict
    plan: ShortMemoryPlan
    all_tables_fail: bool = False


def _chosen(
    form: LossForm,
    plan: ShortMemoryPlan,
    known: Stakes,
    settings: Settings,
    losses: tuple[Certified, Certified],
    with_memory: float,
) -> _Chosen:
    """Return the verdict; one model is real, so the average alone does not make it.

    `losses` are the brackets with memory and without, on average, and `with_memory` the
    part lost in the worst model. Where the best plan on average is not acceptable in
    every model and memory would help, a plan is searched that is.
    """
    latent, (average, memoryless) = form.latent, losses
    both = latent, known, average, memoryless, form.steps, settings
    worst = _worst(latent, known, plan.gaps)
    if _verdict(*both) != "yes" or worst is None:
        return _Chosen(_verdict(*both), plan)
    proofs = memory_proofs(
        average,
        memoryless,
        searched=plan.starts,
        noise=NOISES * form.rounding_of(plan.gaps),
    )
    cases = WorstCases(worst.relative, with_memory)
    if not cases.memory_helps(settings.acceptable):
        return _Chosen("yes", plan)
    searched = acceptable_in_every_model(
        form, _limits(latent, known, settings), plan.actions
    )
    if searched.plan is not None:
        return _Chosen("yes", searched.plan)
    cases = replace(cases, saves_nothing=proofs.needed == "no")
    return _Chosen(_verdict(*both, cases), plan, searched.exhausted)


def _limits(latent: LatentMDP, known: Stakes, settings: Settings) -> FloatArray:
    """Return what may be lost in each model, infinite where nothing counts."""
    least = np.array([gap.lower for gap in known.models])
    counts = _counts(latent, least)
    return np.where(counts, settings.acceptable * least, np.inf)


def _planned(
    form: LossForm,
    plan: ShortMemoryPlan,
    known: Stakes,
    settings: Settings,
    progress: Tell | None,
) -> tuple[PlannedOracle, Certified]:
    """Return the oracle and a bracket of its gap, finer if the first is undecided."""
    begin, latent = monotonic(), form.latent
    solver = AutoOracle(
        gap_tolerance=GAP_TOLERANCE,
        time_limit=settings.time_limit,
        negligible=_negligible(form, known, settings),
        episodes=EPISODES,
        seed=settings.seed,
    )
    for _ in range(2):
        result = planned_oracle(
            form, solver, thorough=settings.thorough, progress=progress
        )
        # a policy without memory is a policy, too
        low, high = result.average_gap.ends
        if result.outcome is not Outcome.EXACT:  # else they differ by rounding only
            high = max(low, min(high, plan.average_ends.ends[1]))
        average = Certified(low, high)
        memoryless = memoryless_bracket(plan, average)
        found = _verdict(latent, known, average, memoryless, form.steps, settings)
        thin = result.planned < int((latent.prior > 0.0).sum())
        if found != "undecided" or result.outcome is not Outcome.SOLVED:
            break
        if thin:  # a finer plan for a part of the class says no more about all of it
            break
        left = settings.time_limit - (monotonic() - begin)
        solver = replace(
            solver,
            gap_tolerance=FINER * GAP_TOLERANCE,
            negligible=FINER * solver.negligible,
            time_limit=max(LEAST_SECONDS, left),
        )
    return result, average


def _negligible(form: LossForm, known: Stakes, settings: Settings) -> float:
    """Return which part of the value is a small part of the acceptable loss.

    The oracle's loss is between 0 and the stake, and its value that much below the
    informed one.
    """
    least, most = known.average.ends
    whole = max(abs(form.informed), abs(form.informed - most))
    if whole <= 0.0:
        return 0.0
    return min(0.5, NARROW * settings.acceptable * max(least, 0.0) / whole)


def _not_planned(
    latent: LatentMDP,
    horizon: int,
    settings: Settings,
    known: Stakes,
    promised: float | None,
) -> Losses:
    least, worst = known.average.ends[1], None
    found = stationary_gaps(latent, horizon, settings.seed)
    if found is not None:
        gaps = np.array([gap.upper for gap in found])
        least = min(least, average_certified(found, latent.prior).ends[1])
        worst = _worst(latent, known, gaps)
    average = Certified(0.0, least if promised is None else min(promised, least))
    memoryless = Certified(0.0, least)
    return Losses(
        horizon=horizon,
        verdict=_verdict(latent, known, average, memoryless, horizon, settings),
        stakes=known,
        average_gap=average,
        memoryless_gap=memoryless,
        memoryless_worst=worst,
    )


def _verdict(
    latent: LatentMDP,
    known: Stakes,
    average: Certified,
    memoryless: Certified,
    horizon: int,
    settings: Settings,
    worst: WorstCases = NOT_KNOWN,
) -> Verdict:
    largest = float(np.abs(latent.simulators.rewards).max())
    return verdict_in_steps(
        average,
        memoryless,
        known.average,
        acceptable=settings.acceptable,
        noise=NEGLIGIBLE * horizon * largest,
        worst=worst,
    )


def _worst(latent: LatentMDP, known: Stakes, gaps: FloatArray) -> WorstModel | None:
    """Return the worst model of those with weight in which something is at stake.

    A model without weight cannot be real, and nothing was planned for it.
    """
    least = np.array([gap.lower for gap in known.models])
    counts = _counts(latent, least)
    if not counts.any():
        return None
    if np.isnan(gaps[counts]).any():
        raise AssertionError("a model with weight has no gap: a defect of the planner")
    part = np.divide(gaps, least, where=counts, out=np.full(gaps.size, -1.0))
    at = int(np.argmax(part))
    name = latent.simulators.model_names[at]
    return WorstModel(name, float(gaps[at]), float(part[at]))


def search_without_memory(form: LossForm, effort: float, seed: int) -> ShortMemoryPlan:
    """Return the best policy found that sees the state and the step alone.

    The search starts from the plans of the mean model and of the likeliest models.
    """
    mean, nodes = mean_model_plan(form), window_nodes(form.pattern, 0)
    if not fits(form, nodes.size):
        return mean
    likely = np.argsort(-form.latent.prior, kind="stable")
    spread = np.linspace(0, likely.size - 1, min(MOST_STARTS, likely.size))
    starts = [mean.actions]
    for at in np.unique(spread.round().astype(np.int64)):
        own = form.losses[..., int(likely[at])]
        starts.append(own.argmin(axis=2).astype(np.int32))
    return best_plan(form, nodes, starts, effort=effort, seed=seed)


def memoryless_bracket(plan: ShortMemoryPlan, average: Certified) -> Certified:
    """Return a bracket of the least average gap without memory.

    It is no less than with memory.
    """
    high = plan.average_ends.ends[1]
    return Certified(min(high, max(plan.least or 0.0, average.lower)), high)


def stationary_gaps(
    latent: LatentMDP, horizon: int, seed: int
) -> tuple[Certified, ...] | None:
    """Return the gaps of the best of the models' own stationary policies."""
    try:
        policy = memoryless_policy(latent, horizon, seed=seed)
    except (NotCommunicating, NotSolved):
        return None
    return exact_gaps(latent.simulators, policy, horizon, Exact())


def _counts(latent: LatentMDP, stakes: FloatArray) -> BoolArray:
    """Return the models with weight in which something is at stake."""
    largest = float(stakes.max(initial=0.0))
    return (stakes > NEGLIGIBLE * largest) & (latent.prior > 0.0)
