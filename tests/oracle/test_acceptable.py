"""A table within a limit in every model: against trying all tables, in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from simgap import audit
from simgap.mdp import IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle import (
    acceptable_in_every_model,
    loss_form,
    mean_model_plan,
)
from tests.reference.episodic import deterministic, policy_values
from tests.reference.latent import RationalLatent, random_latent, rational

HORIZON, ACCEPTABLE = 3, 0.1


def three_models() -> LatentMDP:
    """Return a class whose best tables on average differ in what they lose where."""
    up = np.array(
        [
            [[0.0, 0.25], [0.25, 0.0]],
            [[0.25, 0.5], [0.0, 0.75]],
            [[0.75, 0.25], [1.0, 0.0]],
        ]
    )
    simulators = class_from_arrays(
        np.stack([1.0 - up, up], axis=-1),
        np.array([[-1.0, 2.0], [1.0, 1.0]]),
        order=IndexOrder.STATE_ACTION,
    )
    return LatentMDP(simulators, np.array([6.0, 5.0, 6.0]) / 17.0)


def gap_vectors(exact: RationalLatent, horizon: int) -> list[tuple[Fraction, ...]]:
    """Return the gaps of all deterministic tables in every model."""
    S, A = exact.n_states, exact.n_actions
    best = exact.optimal(horizon)
    vectors = []
    for actions in product(product(range(A), repeat=S), repeat=horizon):
        policy = deterministic(actions, A)
        gaps = []
        for model, law, most in zip(exact.models, exact.start, best, strict=True):
            first = policy_values(model.transitions, model.rewards, policy)[0]
            own = sum((p * v for p, v in zip(law, first, strict=True)), Fraction(0))
            gaps.append(most - own)
        vectors.append(tuple(gaps))
    return vectors


def test_a_table_is_met_exactly_where_one_exists() -> None:
    rng = np.random.default_rng(33)
    met = missed = 0
    for _ in range(60):
        latent, horizon = random_latent(rng, denominator=16, most_histories=60)
        exact = rational(latent)
        if exact.n_actions ** (exact.n_states * horizon) > 600:
            continue
        vectors = gap_vectors(exact, horizon)
        limits = np.array([float(max(column)) for column in zip(*vectors, strict=True)])
        limits = np.where(latent.prior > 0.0, 0.3 * limits + 1e-6, np.inf)
        form = loss_form(latent, horizon=horizon)
        found = acceptable_in_every_model(form, limits, mean_model_plan(form).actions)
        fits = [
            all(g <= limit for g, limit in zip(gaps, limits.tolist(), strict=True))
            for gaps in vectors
        ]
        assert (found.plan is not None) == any(fits)
        assert found.exhausted == (not any(fits))
        if found.plan is None:
            missed += 1
            continue
        met += 1
        assert (found.plan.gaps <= limits).all()
    assert met > 5 and missed > 5


def test_a_verdict_looks_for_a_table_that_is_acceptable_everywhere() -> None:
    """The best tables on average lose up to 11 % in a model, another one 7 %."""
    latent = three_models()
    vectors = gap_vectors(rational(latent), HORIZON)
    answer = audit(latent, HORIZON, acceptable=ACCEPTABLE)
    assert answer.verdict == "yes" and answer.everywhere is True
    assert answer.memory is not None and answer.memory.needed == "no"
    assert answer.memoryless_worst is not None
    assert answer.memoryless_worst.relative <= ACCEPTABLE
    model = int(answer.memoryless_worst.name.split()[-1])
    nearest = min(
        abs(gaps[model] - Fraction(answer.memoryless_worst.gap)) for gaps in vectors
    )
    assert nearest < 1e-9  # it is the gap of a table


def test_no_record_says_with_memory_where_memory_saves_nothing() -> None:
    rng = np.random.default_rng(1)
    verdicts = set()
    right, wrong = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    right[:, 0, 0] = right[:, 1, 1] = wrong[:, 0, 1] = wrong[:, 1, 0] = 1.0
    mirrored = class_from_arrays(
        np.stack([right, wrong]),
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        order=IndexOrder.STATE_ACTION,
    )
    problems = [(LatentMDP.uniform(mirrored), 20)]  # memory saves half of all
    problems += [
        random_latent(rng, denominator=16, most_histories=60) for _ in range(30)
    ]
    for latent, horizon in problems:
        for acceptable in (0.05, 0.3):
            answer = audit(latent, horizon, acceptable=acceptable)
            saved = answer.memory is None or answer.memory.needed != "no"
            assert answer.verdict != "with memory" or saved
            verdicts.add(answer.verdict)
    assert {"yes", "with memory", "no"} <= verdicts
