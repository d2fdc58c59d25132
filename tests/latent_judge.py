"""Storm as an exact judge of latent MDPs, and random latent MDPs for it.

The latent MDP is unrolled into the tree of its histories: one Storm state per history,
nothing merged. Probabilities and rewards of a history are averages over the models it
allows, in rationals. All trees of a batch are one Storm model.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
import stormpy

from simgap.arrays import AnyArray, FloatArray
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    class_from_models,
    mdp_from_arrays,
)
from tests.reference.latent import Belief, RationalLatent

MOST_HISTORIES = 1_500  # of one tree
LARGEST = (4, 4, 3)  # models, states, actions


@final
class LatentJudge:
    """Answers of Storm for a batch of latent MDPs with their horizons."""

    def __init__(self, cases: Sequence[tuple[RationalLatent, int]]) -> None:
        self._forest = _Forest()
        self._roots = [self._forest.plant(latent, horizon) for latent, horizon in cases]
        self._longest = max(horizon for _, horizon in cases)

    def oracle_values(self) -> list[Fraction]:
        """Return W* of every latent MDP of the batch."""
        question = f'R{{"reward"}}max=? [ C<={self._longest} ]'
        (wanted,) = stormpy.parse_properties(question)
        result = stormpy.model_checking(self._forest.model(), wanted)
        answers = []
        for roots in self._roots:
            total = Fraction(0)
            for state, mass in roots:
                answer = result.get_value(state)
                exact = Fraction(
                    int(str(answer.numerator)), int(str(answer.denominator))
                )
                total += mass * exact
            answers.append(total)
        return answers


@final
class _Forest:
    """Histories as states; state 0 is the end of every episode."""

    def __init__(self) -> None:
        # For each state its actions: a reward, and successors with probabilities.
        self.choices: list[list[tuple[Fraction, dict[int, Fraction]]]] = [
            [(Fraction(0), {0: Fraction(1)})]
        ]

    def plant(self, latent: RationalLatent, horizon: int) -> list[tuple[int, Fraction]]:
        """Return the first states of a new tree with their probabilities."""
        return [
            (self._history(latent, s, weight, horizon), sum(weight, Fraction(0)))
            for s, weight in latent.roots()
        ]

    def _history(
        self, latent: RationalLatent, s: int, weight: Belief, remaining: int
    ) -> int:
        if remaining == 0:
            return 0
        state = len(self.choices)
        self.choices.append([])
        mass = sum(weight, Fraction(0))
        for a in range(latent.n_actions):
            pairs = zip(weight, latent.models, strict=True)
            reward = sum((w * m.rewards[s][a] for w, m in pairs), Fraction(0))
            law: dict[int, Fraction] = {}
            for t in range(latent.n_states):
                after = latent.after(weight, s, a, t)
                if any(after):
                    child = self._history(latent, t, after, remaining - 1)
                    chance = sum(after, Fraction(0)) / mass
                    law[child] = law.get(child, Fraction(0)) + chance
            self.choices[state].append((reward / mass, law))
        return state

    def model(self) -> Any:
        rational = stormpy.Rational
        builder = stormpy.datastructures.SparseMatrixBuilder[rational](
            0, 0, 0, force_dimensions=False, has_custom_row_grouping=True
        )
        rewards, row = [], 0
        for choices in self.choices:
            builder.new_row_group(row)
            for reward, law in choices:
                for child in sorted(law):
                    builder.add_next_value(row, child, rational(law[child]))
                rewards.append(rational(reward))
                row += 1
        labels = stormpy.models.StateLabeling(len(self.choices))
        labels.add_label("init")
        labels.add_label_to_state("init", 0)
        reward_model = stormpy.models.SparseRewardModel[rational]
        parts = stormpy.models.SparseModelComponents[rational](
            transition_matrix=builder.build(),
            state_labeling=labels,
            reward_models={
                "reward": reward_model(optional_state_action_reward_vector=rewards)
            },
        )
        return stormpy.models.SparseMdp[rational](parts)


def random_latent(
    rng: np.random.Generator, *, denominator: int, most_histories: int = MOST_HISTORIES
) -> tuple[LatentMDP, int]:
    """Return a latent MDP of at most 4 models, 4 states and 3 actions, and H <= 5.

    Models share most rows, so that evidence is scarce. Some cases have duplicates,
    zero prior, rewards or first states that depend on the model, or tied actions.
    """
    least = 2 if rng.random() < 0.9 else 1
    M, S, A = (int(rng.integers(least, most + 1)) for most in LARGEST)
    branching = min(S, int(rng.integers(least, 4)))
    horizon = int(rng.integers(1, 6))
    while (A * branching) ** horizon > most_histories:
        horizon -= 1
    shared = rng.random() < 0.6  # the same supports: nobody is ever ruled out
    supports = _supports(rng, S, A, branching)
    base = _rows(rng, supports, denominator)
    kernels = []
    for _ in range(M):
        own = supports if shared else _supports(rng, S, A, branching)
        changed = rng.random((S, A, 1)) < 0.8
        kernels.append(np.where(changed, _rows(rng, own, denominator), base))
    rewards = rng.integers(0, 5, (M, S, A)) / 4.0
    if rng.random() < 0.6:  # only where one gets to is paid
        rewards[:] = rewards[:, :, :1]
    if rng.random() < 0.6:
        rewards[:] = rewards[0]
    if rng.random() < 0.2:  # an action twice
        for kernel in kernels:
            kernel[:, -1] = kernel[:, 0]
        rewards[:, :, -1] = rewards[:, :, 0]
    if rng.random() < 0.2:  # a model twice
        kernels[-1], rewards[-1] = kernels[0], rewards[0]
    starts = rng.multinomial(4, [1.0 / S] * S, size=M) / 4.0
    if rng.random() < 0.6:
        starts[:] = np.eye(S)[0]
    parts = 1 + rng.multinomial(8 - M, [1.0 / M] * M)
    if M > 1 and rng.random() < 0.2:  # a model that training never saw
        parts[0], parts[1] = 0, parts[0] + parts[1]
    prior = parts / 8.0
    models = [
        mdp_from_arrays(
            kernel, reward, order=IndexOrder.STATE_ACTION, details=Details(start=start)
        )
        for kernel, reward, start in zip(kernels, rewards, starts, strict=True)
    ]
    return LatentMDP(class_from_models(models), prior), max(1, horizon)


def _supports(rng: np.random.Generator, S: int, A: int, branching: int) -> AnyArray:
    """Return `branching` successors for every pair, (S, A, branching)."""
    return np.argsort(rng.random((S, A, S)), axis=2)[:, :, :branching]


def _rows(rng: np.random.Generator, supports: AnyArray, denominator: int) -> FloatArray:
    """Return laws k / denominator on the supports, (S, A, S), zeros allowed."""
    S, A, branching = supports.shape
    shares = rng.multinomial(denominator, [1.0 / branching] * branching, size=(S, A))
    rows = np.zeros((S, A, S))
    np.put_along_axis(rows, supports, shares / denominator, axis=2)
    return rows
