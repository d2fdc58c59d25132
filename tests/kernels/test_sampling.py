"""Episodes of posterior sampling: the losses that the policy has step by step."""

from __future__ import annotations

import numpy as np
import pytest

from simgap._kernels.beliefs.sampling_episodes import simulate_sampling
from simgap._kernels.walking.streams import mixed, uniform
from simgap.arrays import AnyArray, FloatArray, read_only
from simgap.errors import OutsideClass
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.policies import Step
from tests.policies.cases import random_latent, start_laws, thompson_policy

STEPS = 12


def simulated(
    form: LossForm, models: AnyArray, *, seed: int, earlier: int = 0, part: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return both losses of every episode; only a `part` of each law is there."""
    believed, lost = np.empty((2, models.size))
    plans = np.ascontiguousarray(form.losses.argmin(axis=2).astype(np.int32))
    simulate_sampling(
        form.pattern.indptr, form.pattern.indices, read_only(part * form.likelihood),
        form.losses, plans, form.latent.prior, part * start_laws(form), form.discount,
        STEPS, np.uint64(seed), earlier, models, believed, lost,
    )  # fmt: skip
    return believed, lost


def played(
    form: LossForm, model: int, seed: int, episode: int, part: float
) -> tuple[float, float, bool]:
    """Return the same by asking the policy at every step, and if it was surprised."""
    policy, pattern = thompson_policy(form), form.pattern
    key = np.uint64(mixed(np.uint64(mixed(np.uint64(seed), 0)), episode))
    state = quantile(part * start_laws(form)[model], uniform(key, 0))
    surprised, believed, lost, factor = False, 0.0, 0.0, 1.0
    try:
        memory = policy.start(state)
    except OutsideClass:
        memory, surprised = tuple(form.latent.prior.tolist()), True
    for h in range(STEPS):
        chances = policy.act(memory, h, state)
        losses = form.losses[0 if form.horizon is None else h, state]
        believed += factor * float(chances @ losses @ memory)
        lost += factor * float(chances @ losses[:, model])
        factor *= form.discount
        action = quantile(chances, uniform(key, 2 * h + 1))
        row = state * pattern.n_actions + action
        edges = slice(pattern.indptr[row], pattern.indptr[row + 1])
        chances = part * form.likelihood[edges, model]
        chosen = quantile(chances, uniform(key, 2 * h + 2))
        after = int(pattern.indices[edges][chosen])
        try:
            memory = policy.observe(memory, Step(h, state, action, after))
        except OutsideClass:
            surprised = True
        state = after
    return believed, lost, surprised


def quantile(law: FloatArray, draw: float) -> int:
    """Return the first entry at which the sum exceeds a draw, of positive chance."""
    reached = np.flatnonzero((np.cumsum(law) > draw) & (law > 0.0))
    return int(reached[0]) if reached.size else int(np.flatnonzero(law)[-1])


@pytest.mark.parametrize(
    ("infinite", "part"), [(False, 1.0), (True, 1.0), (False, 0.75)]
)
def test_an_episode_has_the_losses_of_the_policy_step_by_step(
    infinite: bool, part: float
) -> None:
    """Models without a prior do what no other allows: the posterior stays then.

    What a law that sums to less than one leaves over is for its last possible entry.
    """
    surprises = 0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        latent = random_latent(rng, actions=3, members=4, without_prior=seed % 2)
        form = loss_form(
            latent,
            horizon=None if infinite else STEPS,
            discount=0.9 if infinite else None,
        )
        models = np.arange(form.n_models, dtype=np.int32).repeat(6)
        believed, lost = simulated(form, models, seed=seed, part=part)
        for episode, model in enumerate(models):
            wanted = played(form, int(model), seed, episode, part)
            surprises += wanted[2]
            assert believed[episode] == pytest.approx(wanted[0], rel=1e-12, abs=1e-14)
            assert lost[episode] == pytest.approx(wanted[1], rel=1e-12, abs=1e-14)
    assert surprises > 3
