"""Gain and bias for whoever squares the bias: bounds, agents, sampled regrets."""

from __future__ import annotations

from simgap.errors import NotSolved
from simgap.mdp import SimulatorClass, TabularMDP
from simgap.planning.average_reward import AverageRewardPlan, solve_average_reward

LARGEST_SPAN = 1e100  # its square, times a horizon and a number of models, is a float


def solve_for_bias(
    simulators: SimulatorClass | TabularMDP, *, tolerance: float = 1e-9
) -> AverageRewardPlan:
    """Return `solve_average_reward`, or raise where a bias is beyond all squares.

    That takes probabilities below 1e-100: no horizon is long enough to see them.
    """
    plan = solve_average_reward(simulators, tolerance=tolerance)
    widest = int(plan.bias_span.argmax())
    span = float(plan.bias_span[widest])
    if not span <= LARGEST_SPAN:
        raise NotSolved(
            f"the bias of model {plan.simulators.model_names[widest]!r} spans "
            f"{span:g}, whose square is not a float",
            hint="write 0 for probabilities so small that you mean never",
            result=plan,
        )
    return plan
