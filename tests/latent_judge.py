"""Storm as an exact judge of latent MDPs.

The latent MDP is unrolled into the tree of its histories: one Storm state per history,
nothing merged. Probabilities and rewards of a history are averages over the models it
allows, in rationals. All trees of a batch are one Storm model.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import stormpy

from tests.reference.latent import Belief, RationalLatent


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
            transition_matrix=builder.build(row, len(self.choices), len(self.choices)),
            state_labeling=labels,
            reward_models={
                "reward": reward_model(optional_state_action_reward_vector=rewards)
            },
        )
        return stormpy.models.SparseMdp[rational](parts)
