"""How sure an agent becomes: the posterior of the real model over time.

For a policy and a real model m, E_m[b_t(m)] is the mean probability that the posterior
gives to m after t steps, if the agent sees states and not rewards. It never falls with
t: b_t(m) is a submartingale under m. Early steps have few histories and are computed
exactly, history by history; later ones are sampled.

Sampled posteriors lie in [0, 1] and have the interval of Maurer and Pontil (2009,
Theorem 4), which holds for every number of episodes: with V the sample variance and
L = log(4 / (1 - confidence)) the mean is within sqrt(2 V L / n) + 7 L / (3 (n - 1)).
Each interval holds alone, not all at once; a mean that rises lets each of them be cut
by the exact values before it.

A history has a weight w_m in each model, the product of the chances of what was seen;
its posterior is nu_m w_m over their sum, and

    E_m[posterior of m] = sum over histories of w_m * posterior of m.

Histories at the same node of the policy graph with proportional weights have the same
posterior and the same future, so they are added up. Proportional means that logarithms
of weights agree to SAME: that moves a posterior by less than this at each step.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import final

import numpy as np

from simgap._kernels.beliefs.posterior_paths import Rules, follow_posteriors
from simgap._kernels.time_limit import check_time
from simgap._kernels.walking.streams import episode_keys
from simgap.arrays import FloatArray, OffsetArray
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate
from simgap.mdp import LatentMDP, checked_latent
from simgap.policies import GraphPolicy

POINTS = 40  # steps at which the posterior is told, about
MOST_MODELS = 50  # real models that are followed
MOST_NUMBERS = 2_000_000  # of exact histories, about a second
MOST_WORK = 3 * 10**8  # numbers of sampled posteriors, a few seconds
FEWEST = 100  # episodes of a model; then fewer steps
MOST_EPISODES = 10**6
LARGEST_SEED = 2**63 - 1
SAME = 1e-11
DIGITS = 11


@final
@dataclass(frozen=True, slots=True)
class ModelTimeline:
    """What one real model comes to."""

    model: int
    posterior: tuple[Estimate, ...]  # of this model, one for each step


@final
@dataclass(frozen=True, slots=True)
class PosteriorTimeline:
    """Mean posterior of the real model after some numbers of steps."""

    steps: tuple[int, ...]
    models: tuple[ModelTimeline, ...]
    computed: int  # the first so many steps are exact up to rounding
    episodes: int | None  # of each model, for the other steps; None: there are none


def posterior_timeline(
    latent: LatentMDP,
    policy: GraphPolicy,
    *,
    episodes: int = 5_000,
    seed: int = 0,
    confidence: float = 0.95,
    most_numbers: int = MOST_NUMBERS,
) -> PosteriorTimeline:
    """Return E_m[posterior of m] over an episode of a policy graph.

    Classes of more than MOST_MODELS have some of their models as real ones. Long
    episodes of large classes have fewer episodes sampled, down to FEWEST, or end early.
    """
    checked_latent(latent)
    horizon = _checked(latent, policy, episodes, seed, confidence)
    kept = np.flatnonzero(latent.prior > 0.0)
    real = _spread(kept.size, MOST_MODELS)
    per_step = real.size * (kept.size + 20)
    steps = _spaced(min(horizon, max(1, MOST_WORK // (per_step * FEWEST))))
    exact = exact_posteriors(latent, policy, steps, most_numbers=most_numbers)
    later = steps[len(exact) :]
    count = 0
    if later.size:
        fit = MOST_WORK // (per_step * int(steps[-1]))
        count = min(episodes, max(FEWEST, fit))
    told = []
    for at in real.tolist():
        check_time()
        known = [
            _computed(float(x), int(t), confidence)
            for x, t in zip(exact[:, at], steps, strict=False)
        ]
        least = known[-1].lower
        if count:
            sample = _sampled(latent, policy, at, later, count, seed)
            known += [_estimate(column, least, confidence) for column in sample.T]
        told.append(ModelTimeline(int(kept[at]), tuple(known)))
    return PosteriorTimeline(
        steps=tuple(steps.tolist()),
        models=tuple(told),
        computed=len(exact),
        episodes=count or None,
    )


def _sampled(
    latent: LatentMDP,
    policy: GraphPolicy,
    real: int,
    steps: OffsetArray,
    episodes: int,
    seed: int,
) -> FloatArray:
    """Return posteriors of a real model after some steps, (episodes, K)."""
    simulators, kept = latent.simulators, np.flatnonzero(latent.prior > 0.0)
    laws = np.stack([simulators.start_law(int(m)) for m in kept], axis=1)
    out: FloatArray = np.empty((episodes, steps.size))
    rules = Rules(
        policy.node_state,
        policy.start_node,
        policy.rule_offsets,
        policy.rule_until,
        policy.rule_action,
        policy.next_offsets,
        policy.next_node,
    )
    keys = episode_keys(np.uint64(seed), real * episodes, episodes)
    lost = follow_posteriors(
        simulators.transitions.indptr,
        np.ascontiguousarray(simulators.transitions.values[kept].T),
        latent.prior[kept],
        np.ascontiguousarray(laws),
        rules,
        real,
        keys,
        steps,
        out,
    )
    if lost >= 0:
        raise incomplete(policy)
    return out


def _estimate(sample: FloatArray, least: float, confidence: float) -> Estimate:
    """Return a mean in [least, 1] with the interval of Maurer and Pontil."""
    n, mean = sample.size, float(sample.mean())
    wide = log(4.0 / (1.0 - confidence))
    half = sqrt(2.0 * float(sample.var(ddof=1)) * wide / n) + 7 * wide / (3 * (n - 1))
    lower, upper = max(least, mean - half), max(least, min(1.0, mean + half))
    middle = min(max(mean, lower), upper)
    how = f"empirical Bernstein, {n} episodes"
    return Estimate.proved(middle, lower, upper, confidence, how)


def _computed(mean: float, step: int, confidence: float) -> Estimate:
    """Return a mean over all histories, with what rounding may have done to it."""
    mean, wrong = min(max(mean, 0.0), 1.0), 4.0 * SAME * (step + 1)
    ends = max(0.0, mean - wrong), min(1.0, mean + wrong)
    how = "all histories, exact up to rounding"
    return Estimate.proved(mean, *ends, confidence, how)


def _spaced(last: int) -> OffsetArray:
    """Return 0 to `last`, all of it if short, otherwise closest at the beginning."""
    if last <= POINTS:
        return np.arange(last + 1)
    spaced = np.round(np.geomspace(1.0, last, POINTS)).astype(np.int64)
    return np.unique(np.concatenate([[0], spaced]))


def _spread(count: int, most: int) -> OffsetArray:
    """Return numbers below `count`: all, or `most` of them from end to end."""
    if count <= most:
        return np.arange(count)
    return np.round(np.linspace(0, count - 1, most)).astype(np.int64)


def _checked(
    latent: LatentMDP, policy: GraphPolicy, episodes: int, seed: int, confidence: float
) -> int:
    """Return the horizon of a policy that fits the class, or say what does not fit."""
    kernel, pattern = latent.simulators.transitions, policy.pattern
    fits = (
        pattern.n_actions == kernel.n_actions
        and np.array_equal(pattern.indptr, kernel.indptr)
        and np.array_equal(pattern.indices, kernel.indices)
    )
    if not fits:
        raise InvalidArgument(
            f"the policy graph {policy.name!r} belongs to another class",
            hint="plan it for this one with domain_randomization_oracle",
        )
    if policy.horizon is None or policy.horizon < 1:
        raise InvalidArgument(
            f"the policy graph {policy.name!r} has horizon {policy.horizon}",
            hint="plan it with a horizon of one step or more",
        )
    if not 2 <= episodes <= MOST_EPISODES:
        raise InvalidArgument(
            f"{episodes} episodes", hint=f"a number from 2 to {MOST_EPISODES}"
        )
    if not 0 <= seed <= LARGEST_SEED:
        raise InvalidArgument(f"the seed is {seed}", hint=f"0 to {LARGEST_SEED}")
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(
            f"a confidence of {confidence}", hint="it is between 0 and 1"
        )
    return policy.horizon


def exact_posteriors(
    latent: LatentMDP, policy: GraphPolicy, steps: OffsetArray, *, most_numbers: int
) -> FloatArray:
    """Return E_m[posterior of m] after each of the first steps, (K, models).

    Models are those with prior weight. K counts the steps that were reached before
    `most_numbers` weights were computed, and is at least 1: step 0 is always there.
    """
    kernel, kept = latent.simulators.transitions, np.flatnonzero(latent.prior > 0.0)
    prior, likelihood = latent.prior[kept], kernel.values[kept].T
    laws = np.stack([latent.simulators.start_law(int(m)) for m in kept], axis=1)
    first = np.flatnonzero(laws.any(axis=1))
    nodes, weights = policy.start_node[first].astype(np.int64), laws[first]
    found: list[FloatArray] = []
    done, computed = 0, 0
    for step in steps.tolist():
        while done < step:
            rules = _rules(policy, nodes, done)
            rows = policy.node_state[nodes].astype(np.int64) * kernel.n_actions
            rows += policy.rule_action[rules]
            begins, lengths = kernel.indptr[rows], np.diff(kernel.indptr)[rows]
            computed += int(lengths.sum()) * prior.size
            if computed > most_numbers:
                return np.array(found)
            parent = np.repeat(np.arange(nodes.size), lengths)
            column = np.arange(parent.size) - np.repeat(
                np.cumsum(lengths) - lengths, lengths
            )
            weights = weights[parent] * likelihood[begins[parent] + column]
            nodes = policy.next_node[policy.next_offsets[rules][parent] + column]
            seen = weights.any(axis=1)
            done += 1
            nodes, weights = _added_up(nodes[seen].astype(np.int64), weights[seen])
        weighted = weights / weights.max(axis=1, keepdims=True) * prior  # never all 0
        posterior = weighted / weighted.sum(axis=1, keepdims=True)
        found.append((weights * posterior).sum(axis=0))
    return np.array(found)


def incomplete(policy: GraphPolicy) -> InvalidArgument:
    """Return the error of a graph that has no node where a model can come."""
    return InvalidArgument(
        f"the policy graph {policy.name!r} has no node for something that a model "
        "with prior weight can do",
        hint="it was planned for another prior or class, or it is incomplete",
    )


def _added_up(
    nodes: OffsetArray, weights: FloatArray
) -> tuple[OffsetArray, FloatArray]:
    """Add up weights that are proportional at the same node."""
    with np.errstate(divide="ignore"):
        logs = np.log(weights)
    logs -= logs.max(axis=1, keepdims=True)
    key = np.column_stack([nodes.astype(np.float64), np.round(logs, DIGITS) + 0.0])
    order = np.lexsort(key.T[::-1])
    new = np.ones(order.size, np.bool_)
    ranked = key[order]
    new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    begins = np.flatnonzero(new)
    return nodes[order][begins], np.add.reduceat(weights[order], begins)


def _rules(policy: GraphPolicy, nodes: OffsetArray, step: int) -> OffsetArray:
    """Return the rule that each node follows at a step."""
    if (nodes < 0).any():
        raise incomplete(policy)
    horizon = policy.horizon
    assert horizon is not None
    owner = np.repeat(np.arange(policy.n_nodes), np.diff(policy.rule_offsets))
    ends = owner * horizon + policy.rule_until  # rising: rules of a node are in order
    found: OffsetArray = np.searchsorted(ends, nodes * horizon + step)
    return found
