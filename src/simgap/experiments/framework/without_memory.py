"""What an agent without memory must lose on a bandit with one good arm per model.

M models, M arms; in model m arm m wins with probability `other` + g, all others with
`other`. `bounds.memoryless_lower` bounds what is lost without memory (theory 4.19).

The best agent found has at least that gap, and its own gap is exact: a bracket. With
needles (other = 0, g = 1, M = 3) the two ends meet at H/3. With two models the general
bound, two coupled copies of the agent (`oracle.baselines.coupled`), is the better one.
"""

from __future__ import annotations

from simgap.bounds import memoryless_lower
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.instances import bandit
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.oracle import (
    LossForm,
    best_memoryless,
    mean_model_plan,
    single_plans,
)

EFFORT = 0.1  # seconds of work for the search of one policy


def one_good_arm(members: int, other: float, better: float) -> SimulatorClass:
    """Return M bandits, each with one arm that is better by g than the others."""
    means = [
        [other + better * (arm == model) for arm in range(members)]
        for model in range(members)
    ]
    return bandit(means)


def memory_gaps(
    members: int, other: float, better: float, horizon: int, *, seed: int = 0
) -> tuple[Certified, Certified]:
    """Return the average gap of the best agent with and without memory."""
    oracle = exact_oracle(one_good_arm(members, other, better), horizon)
    found = gap_without_memory(oracle.form, seed=seed)
    known = memoryless_lower(horizon=horizon, members=members, better=better)
    proved = known.value * (1.0 - 1e-12)  # it is rounded, too
    low, high = found.ends
    if proved > high + 1e-9 * horizon:
        raise AssertionError("an agent without memory below its bound: a defect")
    return oracle.average_gap, Certified(min(max(low, proved), high), high)


def gap_without_memory(
    form: LossForm, *, effort: float = EFFORT, seed: int = 0
) -> Certified:
    """Return a bracket of the least average gap without memory: bound and search."""
    plan = best_memoryless(
        form, single_plans(form), mean_model_plan(form), effort=effort, seed=seed
    )
    return Certified(plan.least or 0.0, plan.average + plan.rounding)
