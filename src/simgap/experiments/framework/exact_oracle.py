"""The oracle of a small class, exactly, with what rounding can do to each number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.errors import NotSolved
from simgap.gap import gaps
from simgap.intervals import Certified
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import (
    ExactOracle,
    LossForm,
    Outcome,
    exact_rounding,
    loss_form,
    solve_exact,
)
from simgap.policies import GraphPolicy


@final
@dataclass(frozen=True, slots=True, eq=False)
class SolvedOracle:
    """pi_DR over H steps: every reachable belief was looked at."""

    form: LossForm
    policy: GraphPolicy  # one optimal policy
    value: Certified  # W*
    average_gap: Certified
    gaps: tuple[Certified, ...]  # (M,), of `policy`
    least_gaps: tuple[Certified, ...]  # (M,), over all optimal policies (errata E4)
    greatest_gaps: tuple[Certified, ...]  # (M,)
    nodes: int


def exact_oracle(problem: LatentMDP | SimulatorClass, horizon: int) -> SolvedOracle:
    """Return the oracle of (U, nu), nu uniform if it is not given (Definition 1)."""
    latent = problem if isinstance(problem, LatentMDP) else LatentMDP.uniform(problem)
    form = loss_form(latent, horizon=horizon)
    planned = solve_exact(form, ExactOracle())
    if planned.outcome is not Outcome.EXACT or planned.gap_intervals is None:
        raise NotSolved(
            f"the oracle over {horizon} steps: {planned.outcome.value}",
            hint="take a shorter horizon",
            result=planned,
        )
    gap = 0.5 * (planned.lower + planned.upper)
    low, high = planned.gap_intervals.T
    return SolvedOracle(
        form=form,
        policy=planned.policy,
        value=Certified.around(form.informed - gap, exact_rounding(form, gap)),
        average_gap=Certified(planned.lower, planned.upper),
        gaps=gaps(latent.simulators, planned.policy, horizon),
        least_gaps=tuple(_off(form, float(gap)) for gap in low),
        greatest_gaps=tuple(_off(form, float(gap)) for gap in high),
        nodes=planned.nodes,
    )


def _off(form: LossForm, gap: float) -> Certified:
    """Return a gap with its rounding on both sides."""
    return Certified.around(gap, exact_rounding(form, gap))
