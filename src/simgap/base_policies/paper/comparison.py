"""Telling two models apart: where to look, how often, and when to decide (theory 4.3).

If n steps are drawn at a pair (s0, a0) where the real law p and a rival's law q have
Bhattacharyya coefficient BC = sum sqrt(p q), the rival looks at least as likely with
chance at most BC^n <= exp(-n delta^2 / 8), delta = |p - q|_1: Markov's inequality for
the square root of the likelihood ratio. Chernoff's sample size follows. The lemmas of
the paper need log^3 / delta^4 samples and their proof does not hold (errata E23-E25).

Every comparison that involves the real model errs with chance at most 1 / odds, odds =
M / failure, so that it survives all M - 1 of them with chance 1 - failure or more.
`failure` is 1/H unless one asks for another.

Impossible steps (chance 0) count before anything else: of two models the one that has
lived through fewer of them is the likelier; logarithms decide between equals. A step
that is impossible in both says nothing about the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import ceil, inf, isfinite, log
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.base_policies.improved.evidence import Evidence
from simgap.complexity import Separation, separation_of_laws
from simgap.errors import InvalidArgument
from simgap.simulation import ObservedClass, RewardSignal

NEVER = 2**62  # samples: more than any horizon
PAPER_CONSTANT = 67.0  # c0 with which the paper's n0 is never below Chernoff's


class Comparison(Enum):
    """When a round that compares two models ends, and who is dropped (theory 3.1)."""

    CHERNOFF = "after 8 log(odds) / delta^2 samples, by the sign"
    BHATTACHARYYA = "after log(odds) / -log BC samples of the pair's own, by the sign"
    PAPER = "after c0 log(S odds)^2 log(odds) / delta^4 samples, by the sign"
    TRUNCATED_SPRT = "as soon as the ratio passes 2 odds, at the latest like CHERNOFF"
    ANYTIME = "all steps, all candidates: a ratio of odds drops the lesser one"


class Pairing(Enum):
    """Which two candidates are compared next; the guarantee holds for any rule."""

    LOWEST = "the two of the lowest numbers"
    FARTHEST = "the two that are easiest to tell apart: fewest samples, if they differ"
    RANDOM = "any two in any order, all equally likely, as printed"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rounds:
    """How every two models of a class are compared."""

    kind: Comparison
    odds: float  # M / failure, M H by default
    row: IndexArray  # (M, M), s0 A + a0
    samples: OffsetArray  # (M, M), after so many a round ends in any case
    threshold: float  # of a log-ratio that ends it before; inf if none does
    separation: Separation  # of the laws of what is seen

    @property
    def guarantee(self) -> float:
        """The chance that the real model is ever dropped is at most this."""
        return (self.separation.n_models - 1) / self.odds

    @property
    def mean_samples(self) -> float:
        """Bounds the expected samples of a round while the real model is alive.

        It takes the place of n0 in theory 4.4 and 4.5. Rounds of TRUNCATED_SPRT with
        the real model in the pair need less: (4 log(2 odds) + 8) / delta^2 + 2.
        """
        if self.separation.n_models == 1:
            return 0.0
        if self.kind is Comparison.ANYTIME:
            return 32.0 * (log(self.odds) + 1.0) / self.separation.value**2 + 2.0
        apart = ~np.eye(self.separation.n_models, dtype=np.bool_)
        return float(self.samples[apart].max())


def comparison_rounds(
    observed: ObservedClass,
    kind: Comparison,
    *,
    failure: float,
    paper_constant: float = PAPER_CONSTANT,
    literal: bool = False,
) -> Rounds:
    """Return where, how often and when two models are compared (theory 3.1).

    `literal` takes one sample more, as print does (errata E12).
    """
    if not 0.0 < failure <= 1.0:
        raise InvalidArgument(
            f"failure is {failure!r}",
            hint="the chance of losing the real model, above 0 and at most 1",
        )
    if not isfinite(paper_constant) or paper_constant <= 0.0:
        raise InvalidArgument(
            f"paper_constant is {paper_constant!r}", hint="c0 is a positive number"
        )
    found = edge_separation(observed)
    _require_separated(observed, found)
    members = found.n_models
    odds = members / failure
    row, threshold = found.distance_row, inf
    exponent = np.full((members, members), found.value**2 / 8.0)
    wanted = log(odds)
    if kind is Comparison.BHATTACHARYYA:
        row, exponent = found.hellinger_row, found.exponent
    elif kind is Comparison.PAPER:
        wanted *= paper_constant * log(observed.simulators.n_states * odds) ** 2
        exponent = np.full((members, members), found.value**4)
    elif kind is Comparison.TRUNCATED_SPRT:
        wanted = threshold = log(2.0 * odds)
    elif kind is Comparison.ANYTIME:
        threshold = log(odds)
        exponent = np.zeros((members, members))
    return Rounds(
        kind=kind,
        odds=odds,
        row=owned(np.maximum(row, 0).astype(np.int32)),
        samples=owned(_whole_samples(wanted, exponent) + int(literal)),
        threshold=threshold if members > 1 else inf,  # one model beats itself by 0
        separation=found,
    )


def edge_separation(observed: ObservedClass) -> Separation:
    """Return distances between the laws of what is seen: next states, or with rewards.

    With rewards that are seen these are the joint laws of (r, s') (theory 7.2).
    """
    n_actions = observed.simulators.n_actions
    return separation_of_laws(observed.indptr, observed.chances, n_actions)


def log_ratio(
    evidence: Evidence, one: int, other: int, edges: range, counts: tuple[int, ...]
) -> float:
    """Return the log-likelihood ratio of two models after counted edges."""
    against_one, against_other, total = 0, 0, 0.0
    for e, n in zip(edges, counts, strict=True):
        at = int(evidence.place[e])
        if n == 0 or at < 0:
            continue
        weight, other_weight = (float(evidence.weight[at, m]) for m in (one, other))
        against_one += n if weight == -inf else 0
        against_other += n if other_weight == -inf else 0
        if weight > -inf and other_weight > -inf:
            total += n * (weight - other_weight)
    if against_one != against_other:
        return -inf if against_one > against_other else inf
    return total


def log_likelihood(
    evidence: Evidence, member: int, first: int, counts: tuple[int, ...]
) -> tuple[int, float]:
    """Return how many steps were impossible in a model, and the log of the others.

    The first state counts as one; `counts` are those of `evidence.edges`.
    """
    weight = float(evidence.at_start[first, member])
    against, total = (1, 0.0) if weight == -inf else (0, weight)
    for at, n in enumerate(counts):
        weight = float(evidence.weight[at, member])
        if n > 0 and weight == -inf:
            against += n
        elif n > 0:
            total += n * weight
    return against, total


def _whole_samples(wanted: float, exponent: FloatArray) -> OffsetArray:
    """Return max(1, ceil(wanted / exponent)); zero exponents ask for more than any."""
    numbers = np.full(exponent.shape, inf)
    np.divide(wanted, exponent, out=numbers, where=exponent > 0.0)
    return np.array(
        [[NEVER if n >= NEVER else max(1, ceil(n)) for n in line] for line in numbers],
        np.int64,
    )


def _require_separated(observed: ObservedClass, found: Separation) -> None:
    nearest = found.nearest
    if nearest is None or nearest.value > 0.0:
        return
    names = observed.simulators.model_names
    unseen = observed.signal is RewardSignal.UNSEEN
    apart = unseen and not observed.simulators.shared_rewards
    raise InvalidArgument(
        f"models {names[nearest.first]!r} and {names[nearest.second]!r} have equal "
        "kernels: delta is 0, and no step tells them apart (Assumption 2)",
        hint="their rewards may differ: build the agent with signal=RewardSignal.SEEN"
        if apart
        else "keep one of the two: class_from_models makes a part of a class",
    )
