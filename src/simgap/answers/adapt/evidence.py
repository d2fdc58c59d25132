"""What a log says about each model: counts per row of the kernel, and likelihoods.

All that Bayes' rule and the tests of fit need are, for every pair (s, a) that was
visited, how often each successor followed and what each model expected. If first states
are evidence as well, they are one more row of that table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.interop import TransitionLog, check_log_range
from simgap.mdp import LEAST_CHANCE, LatentMDP, SimulatorClass

START = -1  # state and action of the row of first states
SAME_REWARD = 1e-9  # as a part of the largest reward


class RewardEvidence(Enum):
    """What rewards in a log say."""

    IGNORED = "nothing: rewards of a model are means"
    EXACT = "a model whose reward is another one is excluded"


@final
@dataclass(frozen=True, slots=True, eq=False)
class ObservedRows:
    """R visited rows with K successors that some model allows or that were seen."""

    pairs: int  # rows there could have been: S * A, and one of first states if used
    state: IndexArray  # (R,), START for the row of first states
    action: IndexArray  # (R,)
    offsets: OffsetArray  # (R + 1,)
    successor: IndexArray  # (K,)
    counts: FloatArray  # (K,), whole numbers
    chances: FloatArray  # (M, K), what each model expects

    @property
    def visits(self) -> FloatArray:
        """Return how often each row was visited, (R,)."""
        return per_row(self.counts, self.offsets)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """A log as evidence about the models of a class."""

    rows: ObservedRows
    contradicted: BoolArray  # (M,), by a reward
    log_likelihood: FloatArray  # (M,), -inf where the model rules the log out


def evidence_of(
    simulators: SimulatorClass,
    log: TransitionLog,
    *,
    rewards: RewardEvidence = RewardEvidence.IGNORED,
    start: bool = False,
) -> Evidence:
    """Return the log-likelihood of a log in every model, and what it is made of."""
    check_log_range(log, simulators.n_states, simulators.n_actions)
    rows = observed_rows(simulators, log, start=start)
    seen = rows.counts > 0.0
    chances = rows.chances[:, seen]
    with np.errstate(divide="ignore"):
        likely = (rows.counts[seen] * np.log(chances)).sum(axis=1)
    contradicted = np.zeros(len(simulators), bool)
    if rewards is RewardEvidence.EXACT:
        contradicted = _contradicted(simulators, log)
    likely = np.where(contradicted, -np.inf, likely)
    return Evidence(rows, owned(contradicted), owned(likely))


def posterior(prior: FloatArray, log_likelihood: FloatArray) -> FloatArray | None:
    """Return prior times likelihood, normalised; None if every product is 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(prior) + log_likelihood
    best = float(logs.max())
    if best == -np.inf:
        return None
    weights = np.exp(logs - best)
    weights[weights < LEAST_CHANCE * weights.sum()] = 0.0
    out: FloatArray = weights / weights.sum()
    return out


def observed_rows(
    simulators: SimulatorClass, log: TransitionLog, *, start: bool = False
) -> ObservedRows:
    """Return counts and chances of the rows that a log visits."""
    S, A = simulators.n_states, simulators.n_actions
    rows = log.state.astype(np.int64) * A + log.action
    keys, counts = np.unique(rows * S + log.next_state, return_counts=True)
    known, chances = _known_entries(simulators, np.unique(rows))
    if start:
        begun, times = np.unique(_first_states(log), return_counts=True)
        keys = np.concatenate([keys, S * A * S + begun])
        counts = np.concatenate([counts, times])
        laws = np.stack([simulators.start_law(m) for m in range(len(simulators))])
        possible = np.flatnonzero((laws > 0.0).any(axis=0))
        known = np.concatenate([known, S * A * S + possible])
        chances = np.concatenate([chances, laws[:, possible]], axis=1)
    both = np.union1d(known, keys)
    all_counts, all_chances = (
        np.zeros(both.size),
        np.zeros((len(simulators), both.size)),
    )
    all_counts[np.searchsorted(both, keys)] = counts
    all_chances[:, np.searchsorted(both, known)] = chances
    visited, begins = np.unique(both // S, return_index=True)
    state, action = np.divmod(visited, A)
    first = visited == S * A
    return ObservedRows(
        pairs=S * A + int(start),
        state=owned(np.where(first, START, state).astype(np.int32)),
        action=owned(np.where(first, START, action).astype(np.int32)),
        offsets=owned(np.append(begins, both.size).astype(np.int64)),
        successor=owned((both % S).astype(np.int32)),
        counts=owned(all_counts),
        chances=owned(all_chances),
    )


def per_row(values: FloatArray, offsets: OffsetArray) -> FloatArray:
    """Return sums over the entries of each row, along the last axis."""
    if offsets.size == 1:
        return np.zeros((*values.shape[:-1], 0))
    out: FloatArray = np.add.reduceat(values, offsets[:-1], axis=-1)
    return out


def _known_entries(
    simulators: SimulatorClass, visited: OffsetArray
) -> tuple[OffsetArray, FloatArray]:
    """Return keys row * S + successor of what some model allows, and the chances."""
    kernel = simulators.transitions
    begins, ends = kernel.indptr[visited], kernel.indptr[visited + 1]
    lengths = ends - begins
    owner = np.repeat(np.arange(visited.size), lengths)
    inside = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    entries = begins[owner] + inside
    chances = kernel.values[:, entries]
    used = (chances > 0.0).any(axis=0)
    keys = visited[owner] * kernel.n_states + kernel.indices[entries]
    return keys[used], chances[:, used]


def _first_states(log: TransitionLog) -> IndexArray:
    """Return the first state of every episode, or raise if one is cut off."""
    first = log.first_rows()
    steps = log.step[first]
    if first.size and (steps.max() > 1 or steps.min() != steps.max()):
        odd = int(np.argmax(steps))
        raise InvalidArgument(
            f"episode number {odd + 1} of the log begins at step {int(steps[odd])}",
            hint="first states are evidence only if all episodes begin at step 0, or "
            "all at step 1",
        )
    found: IndexArray = log.state[first]
    return found


def _contradicted(simulators: SimulatorClass, log: TransitionLog) -> BoolArray:
    """Return which models have another reward than the log somewhere, (M,)."""
    if log.reward is None:
        raise InvalidArgument(
            "rewards are to be used as evidence, but the log has no column reward",
            hint="add the column, or leave rewards out (--rewards ignored)",
        )
    given = np.isfinite(log.reward)
    if not given.any():
        raise InvalidArgument(
            "rewards are to be used as evidence, but the column reward is empty",
            hint="fill it, or leave rewards out (--rewards ignored)",
        )
    found = log.reward[given]
    told = np.broadcast_to(
        simulators.rewards, (len(simulators), *simulators.rewards.shape[1:])
    )
    scale = max(float(np.abs(told).max()), float(np.abs(found).max()))
    out = np.zeros(len(simulators), bool)
    for m, table in enumerate(told):
        apart = np.abs(table[log.state[given], log.action[given]] - found)
        out[m] = bool((apart > SAME_REWARD * scale).any())
    return out


def differing_starts(latent: LatentMDP) -> bool:
    """Return whether likely models begin differently, so that a first state tells."""
    worlds = latent.simulators
    if len(worlds.start) == 1:
        return False
    likely = np.flatnonzero(latent.prior > 0.0)
    laws = [worlds.start_law(int(m)) for m in likely]
    return any((law != laws[0]).any() for law in laws)
