"""Episodes of posterior sampling: at every step the plan of a model that is drawn."""

from __future__ import annotations

import numpy as np

from simgap._kernels.compiled import kernel
from simgap._kernels.walking.streams import FIRST_DRAW, mixed, uniform
from simgap.arrays import FloatArray, IndexArray, Integer, OffsetArray

TINY = 1e-300  # least weight of a model that is still possible (simgap.policies)


@kernel(allocates=True)
def simulate_sampling(
    indptr: OffsetArray,
    indices: IndexArray,
    likelihood: FloatArray,
    losses: FloatArray,
    plans: IndexArray,
    prior: FloatArray,
    start_law: FloatArray,
    discount: float,
    length: int,
    seed: Integer,
    earlier: int,
    models: IndexArray,
    posterior_loss: FloatArray,
    model_loss: FloatArray,
) -> None:
    """Write the expected losses along one episode each, given what it has seen.

    Episode e runs in models[e], and draws what episode `earlier` + e of the seed draws.
    `plans` (T, S, M) holds the action of every model. The loss of a step is averaged
    over the model that may be drawn, and in `posterior_loss` over the model that the
    world may be. After something that no model with a positive prior allows, the
    posterior stays.
    """
    members = prior.size
    n_states, n_actions = losses.shape[1], losses.shape[2]
    weights = np.empty(members)
    joint = np.empty(members)
    chance = np.empty(n_actions)
    root = mixed(seed, FIRST_DRAW)
    for episode in range(models.size):
        model = models[episode]
        key = mixed(root, earlier + episode)
        draw = uniform(key, FIRST_DRAW)
        state = 0
        total = 0.0
        for s in range(n_states):
            if start_law[model, s] > 0.0:
                total += start_law[model, s]
                state = s
                if draw < total:
                    break
        evidence = 0.0
        for m in range(members):
            weights[m] = prior[m] * start_law[m, state]
            evidence += weights[m]
        for m in range(members):
            weights[m] = weights[m] / evidence if evidence > 0.0 else prior[m]
        lost, believed, factor = 0.0, 0.0, 1.0
        for h in range(length):
            at = h if discount == 1.0 else 0
            for action in range(n_actions):
                chance[action] = 0.0
            for m in range(members):
                chance[plans[at, state, m]] += weights[m]
            draw = uniform(key, 2 * h + 1)
            taken, total = -1, 0.0
            for action in range(n_actions):
                if chance[action] == 0.0:
                    continue
                total += chance[action]
                if taken < 0 or not draw < total - chance[action]:
                    taken = action
                cost = 0.0
                for m in range(members):
                    cost += weights[m] * losses[at, state, action, m]
                believed += factor * chance[action] * cost
                lost += factor * chance[action] * losses[at, state, action, model]
            row = state * n_actions + taken
            draw = uniform(key, 2 * h + 2)
            total = 0.0
            chosen = indptr[row]
            for k in range(indptr[row], indptr[row + 1]):
                if likelihood[k, model] > 0.0:
                    total += likelihood[k, model]
                    chosen = k
                    if draw < total:
                        break
            state = indices[chosen]
            evidence = 0.0
            for m in range(members):
                joint[m] = weights[m] * likelihood[chosen, m]
                evidence += joint[m]
            if evidence > 0.0:
                for m in range(members):
                    if joint[m] > 0.0:
                        weights[m] = max(joint[m] / evidence, TINY)
                    elif likelihood[chosen, m] == 0.0:
                        weights[m] = 0.0
            factor *= discount
        posterior_loss[episode] = believed
        model_loss[episode] = lost
