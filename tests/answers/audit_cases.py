"""Small classes that trip one check of the audit each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simgap.answers.audit.separation import Apart, models_apart
from simgap.answers.audit.theory import Theory, theory
from simgap.answers.audit.ways_back import ways_back
from simgap.answers.weighted_models import weighted_models
from simgap.arrays import FloatArray
from simgap.mdp import Details, IndexOrder, LatentMDP, Parameters, class_from_arrays


def latent_of(
    kernels: Sequence[FloatArray],
    rewards: object,
    *,
    prior: Sequence[float] = (),
    details: Details | None = None,
) -> LatentMDP:
    """Return a class of kernels (S, A, S) with a prior, uniform unless given."""
    simulators = class_from_arrays(
        np.stack(kernels),
        rewards,  # type: ignore[arg-type]
        order=IndexOrder.STATE_ACTION,
        details=details or Details(),
    )
    if not prior:
        return LatentMDP.uniform(simulators)
    return LatentMDP(simulators, np.array(prior))


def coin(chance: float) -> FloatArray:
    """Two states; action 0 tosses a coin for state 1, action 1 a fair one."""
    P = np.zeros((2, 2, 2))
    P[:, 0, 1], P[:, 0, 0] = chance, 1.0 - chance
    P[:, 1, :] = 0.5
    return P


def coins(
    *chances: float, prior: Sequence[float] = (), named: bool = False
) -> LatentMDP:
    """State 1 pays 1, state 0 nothing; the better coin depends on the model."""
    theta = Parameters(("chance",), np.array(chances)[:, None]) if named else None
    return latent_of(
        [coin(chance) for chance in chances],
        [[0.0, 0.0], [1.0, 1.0]],
        prior=prior,
        details=Details(parameters=theta),
    )


def signs(*, equal_rewards: bool = False, mirrored: bool = True) -> LatentMDP:
    """Two models that move alike: each action leads to its own state.

    Mirrored, one pays for state 0 and the other for state 1; else both pay for state
    1, differently.
    """
    P = np.zeros((2, 2, 2))
    P[:, 0, 0] = P[:, 1, 1] = 1.0
    first = np.array([[0.0, 0.0], [1.0, 1.0]])
    second = first[::-1] if mirrored else 0.5 * first
    rewards = np.stack([first, first if equal_rewards else second])
    return latent_of([P, P], rewards)


def with_an_island() -> LatentMDP:
    """Coins with a third state that nothing leads to."""
    kernels = []
    for chance in (0.2, 0.9):
        P = np.zeros((3, 2, 3))
        P[:2, :, :2] = coin(chance)
        P[2, :, 0] = 1.0
        kernels.append(P)
    rewards = [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    return latent_of(kernels, rewards, details=Details(state_names=("a", "b", "isle")))


def apart_of(latent: LatentMDP) -> Apart:
    """Return how the models of a class differ in what is seen."""
    models = weighted_models(latent)
    return models_apart(models, ways_back(models.simulators))


def theory_of(latent: LatentMDP, horizon: int) -> Theory:
    """Return what is known of a class from the theory alone."""
    models = weighted_models(latent)
    back, apart = ways_back(models.simulators), apart_of(latent)
    return theory(latent, models, back, apart, horizon=horizon)
