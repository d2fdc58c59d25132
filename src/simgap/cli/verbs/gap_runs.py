"""How often agents are run in each model: less often where models are many."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simgap.gap import MonteCarlo
    from simgap.mdp import LatentMDP
    from simgap.oracle import OracleResult

MANY = 60  # models, from which on fewer episodes than asked may be run in each
FEWEST_RUNS = 10  # of an agent in each of many models
MOST_WORK = 2e9  # products in the episodes of the policy that acts on the posterior


def fewer_runs(
    latent: LatentMDP, evaluator: MonteCarlo
) -> tuple[MonteCarlo, tuple[str, ...]]:
    """Return an evaluator that runs agents less often in each of many models."""
    members, asked = len(latent.simulators), evaluator.episodes
    runs = max(FEWEST_RUNS, asked * MANY // (2 * members))
    if members <= MANY or evaluator.half_width is not None or runs >= asked:
        return evaluator, ()
    note = (
        f"agents are run {runs} times in each of {members} models, not {asked}: naming "
        "them with --policy runs them as often as asked"
    )
    return replace(evaluator, episodes=runs), (note,)


def tracked_runs(latent: LatentMDP, result: OracleResult, asked: int) -> int:
    """Return how many episodes to run in each model, counted: fewer if many models."""
    from simgap.errors import InvalidArgument
    from simgap.oracle import FEW

    members, policy = len(latent.simulators), result.belief_policy
    if members <= MANY:
        return asked
    kernel = latent.simulators.transitions
    vectors = 1 + len(policy.vectors) // max(1, policy.vector_offsets.size - 1)
    each = (result.horizon or 1) * kernel.nonzeros / kernel.n_states * vectors * members
    fit = int(MOST_WORK / (each * members))
    if fit < FEW:
        raise InvalidArgument(
            f"to run it in each of {members} models would take long",
            hint="simgap oracle estimates its average gap; or take fewer models",
        )
    return min(asked, fit)
