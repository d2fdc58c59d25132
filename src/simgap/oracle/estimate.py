"""The gap of a belief-tracking policy, estimated by its losses.

For every policy gap(pi, m) = E_m[sum_h loss_m(h, s_h, a_h)], and the average gap is the
mean of sum_h sum_m b_m loss_m(h, s_h, a_h) with b the posterior: the model's own loss
is replaced by its expectation given what was seen. Returns would say the same with
hundreds of times the variance.

Episodes are stratified: each model has its share of them by prior (and never fewer than
FEW), and the first states of a model are spread evenly over its start law. If models
are many and episodes few, neighbours are one stratum, with models drawn by their prior.

The interval is that of `statistics.mean`, with what an episode can cost at most. Models
and first states are strata: episodes are independent, but not of one law.

What is left out. An episode in model m ends when the posterior has settled on m. With
weight b on m the ratio (1 - b) / b is a supermartingale under m, and an action that is
best at the posterior loses at most a multiple of 1 - b; so the rest of the episode is
worth at most a multiple of (1 - b) / b (`_slopes`). With a discount it ends at the
latest when discount^h no longer matters. Both bounds are added to the upper end.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import final

import numpy as np

from simgap._kernels.beliefs.belief_episodes import simulate_belief_policy
from simgap._kernels.time_limit import pieces
from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.oracle.episode_design import (
    FEW,
    EpisodeDesign,
    number_of_strata,
    of_models,
    of_neighbours,
)
from simgap.oracle.loss_form import LossForm
from simgap.policies import BeliefPolicy
from simgap.statistics import Part, estimated_mean

PILOT = 256  # episodes that find the scale of the answer
NEGLIGIBLE = 1e-6  # part of the answer that may be left out
MOST_EPISODES = 10**9


def estimated_gap(
    form: LossForm,
    policy: BeliefPolicy,
    *,
    episodes: int,
    seed: int,
    confidence: float = 0.95,
) -> Estimate:
    """Return the gap of a policy averaged over the prior."""
    _check(form, policy, episodes, seed, confidence)
    world = _World.of(form, policy)
    prior = form.latent.prior
    strata = number_of_strata(form, episodes)
    if strata is None:
        share = np.maximum(FEW, np.ceil(episodes * prior)).astype(np.int64)
        counts = np.where(prior > 0.0, share, 0)
        sample, weights = world.sample(counts, seed), prior
    else:
        sample, weights = world.sample_neighbours(strata, episodes, seed)
    values = sample.posterior_loss if world.right_posterior else sample.model_loss
    worst = world.most_per_episode(prior > 0.0, greedy=world.greedy)
    return _interval(sample, values, weights, worst, world, confidence)


def estimated_gaps_per_model(
    form: LossForm,
    policy: BeliefPolicy,
    *,
    episodes: int,
    seed: int,
    confidence: float = 0.95,
) -> tuple[Estimate, ...]:
    """Return the gap of a policy in every model; each has an equal share of episodes.

    A model with prior zero may do what the policy deems impossible: the policy then
    keeps the posterior it had.
    """
    _check(form, policy, episodes, seed, confidence)
    world = _World.of(form, policy)
    members = form.n_models
    counts = np.full(members, max(FEW, ceil(episodes / members)), np.int64)
    sample = world.sample(counts, seed)
    found = []
    for member in range(members):
        chosen = np.arange(members) == member
        weights = chosen.astype(np.float64)
        worst = world.most_per_episode(chosen, greedy=False)
        found.append(
            _interval(
                sample,
                sample.model_loss,
                weights,
                worst,
                world,
                confidence,
            )
        )
    return tuple(found)


def work_of_a_step(form: LossForm, policy: BeliefPolicy) -> float:
    """Return about how many products of two numbers a step of an episode takes."""
    pattern = form.pattern
    successors = pattern.indices.size / pattern.n_states  # of all actions
    vectors = len(policy.vectors) / max(1, policy.vector_offsets.size - 1)
    return form.n_models * (pattern.n_actions + 2.0 + successors * vectors)


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """What episodes lost, n of them."""

    stratum: IndexArray  # (n,), the model, or the group of neighbours it is drawn from
    posterior_loss: FloatArray  # (n,)
    model_loss: FloatArray  # (n,)
    dropped: FloatArray  # (n,), bounds of what was left out
    outside: BoolArray  # (n,), whether the policy met something impossible
    enough: float  # no episode has more left out


@final
@dataclass(frozen=True, slots=True, eq=False)
class _World:
    """A form and a policy with what the simulation needs to know about the two."""

    form: LossForm
    policy: BeliefPolicy
    right_posterior: bool  # the policy has the prior and the likelihood of the form
    own_losses: bool  # and its losses
    signed: bool  # some loss or vector of the policy is negative
    slopes: FloatArray  # (M,)
    spare: float  # loss per step that the slopes do not account for
    largest: float  # loss of a step

    @staticmethod
    def of(form: LossForm, policy: BeliefPolicy) -> _World:
        own = policy.losses is form.losses or np.array_equal(policy.losses, form.losses)
        right = (
            np.array_equal(policy.prior, form.latent.prior)
            and np.array_equal(policy.start_law, _start_laws(form))
            and np.array_equal(policy.likelihood, form.likelihood)
        )
        signed = bool(
            policy.vectors.min(initial=0.0) < 0.0
            or policy.losses.min(initial=0.0) < 0.0
        )
        largest = float(form.losses.max(initial=0.0))
        slopes, spare = np.full(form.n_models, np.inf), 0.0
        if right and own and not signed:
            slopes, spare = _slopes(policy, largest)
        return _World(form, policy, right, own, signed, slopes, spare, largest)

    @property
    def steps_worth(self) -> float:
        """Return sum_h discount^h."""
        horizon, discount = self.form.horizon, self.form.discount
        return 1.0 / (1.0 - discount) if horizon is None else float(horizon)

    @property
    def greedy(self) -> bool:
        """Whether the action is one of least expected loss at the right posterior."""
        return self.right_posterior and self.own_losses and not self.policy.vectors.size

    def most_per_episode(self, models: BoolArray, *, greedy: bool) -> float:
        """Return what an episode can lose at most in some of the models.

        The posterior mean of a greedy action is at most that of the action whose worst
        loss in any model is least.
        """
        if not models.any():
            return 0.0
        found = []
        for losses in self.form.some_steps():
            largest = losses[..., models].max(axis=3)
            of_state = largest.min(axis=2) if greedy else largest.max(axis=2)
            found.append(of_state.max(axis=1))
        per_step = np.concatenate(found)
        if self.form.horizon is None:
            return float(per_step[0]) / (1.0 - self.form.discount)
        return float(per_step.sum())

    def sample(self, counts: OffsetArray, seed: int) -> _Sample:
        """Simulate counts[m] episodes of every model m."""
        few = np.minimum(counts, ceil(PILOT / max(1, int((counts > 0).sum()))))
        enough = self._enough(of_models(few), seed)
        return self._run(of_models(counts), seed, enough)

    def sample_neighbours(
        self, strata: int, episodes: int, seed: int
    ) -> tuple[_Sample, FloatArray]:
        """Simulate episodes of groups of neighbours; return their weights too, (K,)."""
        prior, each = self.form.latent.prior, max(FEW, ceil(episodes / strata))
        few, _ = of_neighbours(prior, strata, min(each, ceil(PILOT / strata)), ~seed)
        many, weights = of_neighbours(prior, strata, each, seed)
        return self._run(many, seed, self._enough(few, seed)), weights

    def _enough(self, pilot: EpisodeDesign, seed: int) -> float:
        """Return what may be left out of an episode, from a few of them."""
        made = self._run(pilot, ~seed, 1e-4 * self.largest)
        scale = float(made.posterior_loss.mean()) or self.largest
        return NEGLIGIBLE * scale

    def _run(self, design: EpisodeDesign, seed: int, enough: float) -> _Sample:
        form, policy, models = self.form, self.policy, design.models
        posterior_loss, model_loss, dropped = np.empty((3, models.size))
        outside = np.empty(models.size, np.bool_)
        laws, first = _start_laws(form), _first_posteriors(policy)
        columns = np.array(policy.vectors.T, order="C")  # a copy: one kernel for all
        length = self._length(enough)
        for some in pieces(models.size, length * work_of_a_step(form, policy)):
            simulate_belief_policy(
                form.pattern.indptr,
                form.pattern.indices,
                form.latent.simulators.transitions.values,
                form.losses,
                laws,
                policy.likelihood,
                policy.losses,
                first,
                policy.vector_set,
                policy.vector_offsets,
                columns,
                policy.prior,
                not self.signed,
                self.own_losses,
                form.discount,
                length,
                self.slopes,
                self.largest,
                enough,
                np.uint64(int(seed) % 2**64),
                some.start,
                models[some],
                design.quantiles[some],
                posterior_loss[some],
                model_loss[some],
                dropped[some],
                outside[some],
            )
        return _Sample(
            design.stratum, posterior_loss, model_loss, dropped, outside, enough
        )

    def _length(self, enough: float) -> int:
        """Return the steps to simulate so that at most `enough` comes after them."""
        if self.form.horizon is not None:
            return self.form.horizon
        whole = self.largest * self.steps_worth
        if whole <= enough:
            return 1
        return ceil(log(enough / whole) / log(self.form.discount))


def _interval(
    sample: _Sample,
    values: FloatArray,
    weights: FloatArray,
    worst: float,
    world: _World,
    confidence: float,
) -> Estimate:
    """Return the weighted mean over models with its interval."""
    rounding = world.form.rounding + world.spare * world.steps_worth
    one_start = bool(((_start_laws(world.form) > 0.0).sum(axis=1) == 1).all())
    parts = []
    for stratum in np.flatnonzero(weights):
        chosen = sample.stratum == stratum
        lost, left_out = values[chosen], sample.dropped[chosen]
        most = worst + sample.enough + rounding
        parts.append(
            Part(lost, -rounding, most, float(weights[stratum]), one_start, left_out)
        )
    return estimated_mean(
        parts,
        confidence,
        method="" if world.right_posterior else "losses of the drawn model",
        least=0.0,
        greatest=worst + rounding,
        rounding=rounding,
    )


def _slopes(policy: BeliefPolicy, largest: float) -> tuple[FloatArray, float]:
    """Return c_m with: a step at weight b on m loses at most c_m (1 - b) + spare.

    Playing the plan of m costs at most `largest` in each other model now, and later the
    vector that is (almost) zero in m. A model without such vectors has no slope.
    """
    members = policy.prior.size
    if not policy.vectors.size:
        return np.full(members, largest), 0.0
    stored = np.diff(policy.vector_offsets) > 0
    begins = policy.vector_offsets[:-1][stored]
    height = policy.vectors.max(axis=1)
    spare = 1e-13 * float(height.max())
    slopes = np.empty(members)
    for member in range(members):
        usable = np.where(policy.vectors[:, member] <= spare, height, np.inf)
        slopes[member] = largest + np.minimum.reduceat(usable, begins).max()
    return slopes, spare


def _start_laws(form: LossForm) -> FloatArray:
    simulators = form.latent.simulators
    return np.stack([simulators.start_law(m) for m in range(len(simulators))])


def _first_posteriors(policy: BeliefPolicy) -> FloatArray:
    """Return the posterior of every first state, (S, M), zero if it is impossible."""
    joint = (policy.prior[:, None] * policy.start_law).T
    first: FloatArray = np.zeros(joint.shape)
    for state in np.flatnonzero(joint.any(axis=1)):
        first[state] = policy.start(int(state))
    return first


def _check(
    form: LossForm, policy: BeliefPolicy, episodes: int, seed: int, confidence: float
) -> None:
    if not policy.pattern.same(form.pattern):
        raise InvalidArgument(
            "the policy was made for a class with other states or successors",
            hint="estimate it on the class it was planned for",
        )
    if policy.horizon != form.horizon or policy.discount != form.discount:
        raise InvalidArgument(
            f"the policy has horizon {policy.horizon} and discount {policy.discount}, "
            f"the losses {form.horizon} and {form.discount}",
            hint="plan and estimate with the same horizon or discount",
        )
    if policy.prior.size != form.n_models:
        raise InvalidArgument(
            f"the policy knows {policy.prior.size} models, there are {form.n_models}",
            hint="estimate it on the class it was planned for",
        )
    for name, number, low, high in (
        ("episodes", episodes, 1, MOST_EPISODES),
        ("seed", seed, 0, 2**64 - 1),
    ):
        whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
        if not whole or not low <= number <= high:
            raise InvalidArgument(
                f"{name} is {number!r}", hint=f"a whole number from {low} to {high}"
            )
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence!r}", hint="it is between 0 and 1"
        )
