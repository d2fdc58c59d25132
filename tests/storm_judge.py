"""Storm as an exact judge: rational models in, Fractions out.

Storm's exact environment on a *float* model gives wrong long-run averages without a
word, so the models are built in rationals from the start. Many models are put side by
side into one Storm model: a query costs Storm more in overhead than in arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, final

import stormpy

from tests.reference.rational import RationalMDP

Exact = Fraction | float  # a float only where the answer is infinite


@final
class StormJudge:
    """Answers of Storm for every state of every model of a batch."""

    def __init__(self, models: Sequence[RationalMDP]) -> None:
        self._sizes = [model.n_states for model in models]
        self._model = _side_by_side(models)

    def gains(self) -> list[list[Exact]]:
        """Return the greatest long-run average reward, per model and state."""
        return self._ask('R{"reward"}max=? [ LRA ]')

    def hitting_times(self, target: int) -> list[list[Exact]]:
        """Return the least expected number of steps to `target` (0 in the target).

        A model with fewer states has no such target; its row is full of infinities.
        """
        return self._ask(f'R{{"steps"}}min=? [ F "state_{target}" ]')

    def values(self, horizon: int) -> list[list[Exact]]:
        """Return the greatest expected sum of `horizon` rewards."""
        return self._ask(f'R{{"reward"}}max=? [ C<={horizon} ]')

    def _ask(self, question: str) -> list[list[Exact]]:
        (wanted,) = stormpy.parse_properties(question)
        result = stormpy.model_checking(self._model, wanted)
        answers, at = [], 0
        for size in self._sizes:
            answers.append([_exact(result.get_value(at + s)) for s in range(size)])
            at += size
        return answers


def _side_by_side(models: Sequence[RationalMDP]) -> Any:
    rational = stormpy.Rational
    builder = stormpy.datastructures.SparseMatrixBuilder[rational](
        0, 0, 0, force_dimensions=False, has_custom_row_grouping=True
    )
    states = sum(model.n_states for model in models)
    labels = stormpy.models.StateLabeling(states)
    labels.add_label("init")
    most = max(model.n_states for model in models)
    for state in range(most):
        labels.add_label(f"state_{state}")
    rewards, row, first = [], 0, 0
    for model in models:
        labels.add_label_to_state("init", first)
        for s in range(model.n_states):
            labels.add_label_to_state(f"state_{s}", first + s)
            builder.new_row_group(row)
            for a in range(model.n_actions):
                for t, p in enumerate(model.transitions[s][a]):
                    if p:
                        builder.add_next_value(row, first + t, rational(p))
                rewards.append(rational(model.rewards[s][a]))
                row += 1
        first += model.n_states
    reward_model = stormpy.models.SparseRewardModel[rational]
    parts = stormpy.models.SparseModelComponents[rational](
        transition_matrix=builder.build(),
        state_labeling=labels,
        reward_models={
            "reward": reward_model(optional_state_action_reward_vector=rewards),
            "steps": reward_model(
                optional_state_action_reward_vector=[rational(1)] * row
            ),
        },
    )
    return stormpy.models.SparseMdp[rational](parts)


def _exact(answer: Any) -> Exact:
    if stormpy.numbers.is_infinity(answer):
        return float("inf")
    return Fraction(int(str(answer.numerator)), int(str(answer.denominator)))
