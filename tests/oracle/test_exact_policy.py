"""The policies of the exact oracle, judged by sums over all histories."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from simgap.oracle.exact import solve_exact
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Planned
from simgap.oracle.settings import ExactOracle
from simgap.policies.belief import BeliefPolicy
from simgap.policies.graph import GraphPolicy
from simgap.policies.interface import Step
from tests.reference.latent import (
    History,
    gap_intervals,
    random_latent,
    rational,
    values_by_histories,
)

CASES = 90
CLOSE = 1e-11


@cache
def cases() -> list[tuple[LossForm, Planned]]:
    rng = np.random.default_rng(44)
    forms = []
    for _ in range(CASES):
        latent, horizon = random_latent(rng, denominator=8, most_histories=250)
        forms.append(loss_form(latent, horizon=horizon))
    return [(form, solve_exact(form, ExactOracle())) for form in forms]


def belief_policy(form: LossForm, planned: Planned) -> BeliefPolicy:
    simulators = form.latent.simulators
    return BeliefPolicy(
        name="belief",
        pattern=form.pattern,
        horizon=form.horizon,
        discount=1.0,
        prior=form.latent.prior,
        start_law=np.stack([simulators.start_law(m) for m in range(form.n_models)]),
        likelihood=form.likelihood,
        losses=form.losses,
        vector_set=planned.vectors.vector_set,
        vector_offsets=planned.vectors.vector_offsets,
        vectors=planned.vectors.vectors,
    )


def gaps_by_histories(
    form: LossForm, policy: GraphPolicy | BeliefPolicy
) -> list[float]:
    """Return the gap in every model of a policy that is run step by step."""
    assert form.horizon is not None
    exact = rational(form.latent)

    def plan(state: int, past: History) -> int:
        first = past[0][0] if past else state
        if isinstance(policy, GraphPolicy):
            node = policy.start(first)
            for h, (s, a, t) in enumerate(past):
                node = policy.observe(node, Step(h, s, a, t))
            return int(policy.act(node, len(past), state).argmax())
        posterior = policy.start(first)
        for h, (s, a, t) in enumerate(past):
            posterior = policy.observe(posterior, Step(h, s, a, t))
        return int(policy.act(posterior, len(past), state).argmax())

    values = values_by_histories(exact, plan, form.horizon)
    best = exact.optimal(form.horizon)
    return [float(v - w) for v, w in zip(best, values, strict=True)]


def test_the_gaps_of_the_graph_are_those_of_all_histories() -> None:
    """Also in models of zero prior, which may leave what was planned for."""
    for form, planned in cases():
        judged = gaps_by_histories(form, planned.policy)
        assert planned.gaps == pytest.approx(judged, abs=CLOSE)
        assert form.latent.prior @ planned.gaps == pytest.approx(
            planned.upper, abs=CLOSE
        )
    zero = [(form.latent.prior == 0.0).any() for form, _ in cases()]
    assert sum(zero) > CASES / 10


def test_intervals_are_those_of_exact_ties() -> None:
    """Numbers k / 8 are exact as floats, so ties of the twin are true ties.

    For models of zero prior the interval may be wider than it need be.
    """
    wide = 0
    for form, planned in cases():
        assert form.horizon is not None
        assert planned.gap_intervals is not None
        judged = np.array(
            [
                [float(low), float(high)]
                for low, high in gap_intervals(rational(form.latent), form.horizon)
            ]
        )
        inside = form.latent.prior > 0.0
        found = planned.gap_intervals
        assert found[inside] == pytest.approx(judged[inside], abs=CLOSE)
        assert (found[:, 0] <= judged[:, 0] + CLOSE).all()
        assert (found[:, 1] >= judged[:, 1] - CLOSE).all()
        wide += bool((judged[inside, 1] > judged[inside, 0]).any())
    assert wide > 5


def test_the_least_worst_gap_is_between_the_average_and_every_worst() -> None:
    mixed = 0
    for form, planned in cases():
        inside = form.latent.prior > 0.0
        least = planned.least_worst_gap
        assert least is not None
        assert planned.gap_intervals is not None
        low, high = planned.gap_intervals[inside].T
        assert max(planned.upper, low.max()) <= least + 1e-9
        assert least <= min(planned.gaps[inside].max(), high.max()) + 1e-9
        mixed += least < planned.gaps[inside].max() - 1e-6
    assert mixed > 0


def test_a_belief_policy_with_the_vectors_is_optimal() -> None:
    for form, planned in cases():
        if (form.latent.prior == 0.0).any():  # outside the class: beliefs may be empty
            continue
        judged = gaps_by_histories(form, belief_policy(form, planned))
        average = float(form.latent.prior @ np.array(judged))
        assert average == pytest.approx(planned.upper, abs=1e-9)
