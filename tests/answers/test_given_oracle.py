"""An oracle that is known already, and models of prior zero that a policy meets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import simgap
from simgap.errors import InvalidArgument, OutsideClass
from simgap.gap import MonteCarlo, gaps
from simgap.mdp import Details, IndexOrder, LatentMDP, Parameters, class_from_arrays
from simgap.records.oracle import Oracle

HORIZON = 5


def arms(start: np.ndarray | int = 0) -> LatentMDP:
    """Return two arms, one of which wins, and a model of prior 0 where none does."""
    means = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.25]])
    kernel = np.stack([1.0 - means, means], axis=-1)[:, None].repeat(2, axis=1)
    names = Parameters(("arm",), np.array([[0.0], [1.0], [2.0]]))
    simulators = class_from_arrays(
        kernel,
        np.array([[0.0, 0.0], [1.0, 1.0]]),
        order=IndexOrder.STATE_ACTION,
        details=Details(parameters=names, start=start),
    )
    return LatentMDP(simulators, np.array([0.5, 0.5, 0.0]))


@pytest.fixture(scope="module")
def answer() -> Oracle:
    return simgap.oracle(arms(), HORIZON)


def test_answers_take_the_answer_of_oracle(answer: Oracle, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("episode,step,state,action,next_state\n0,0,0,0,0\n0,1,0,1,1\n")
    result = answer.result
    for one, two in (
        (simgap.identify(arms(), HORIZON, oracle=known) for known in (answer, result)),
        (simgap.blame(arms(), HORIZON, oracle=known) for known in (answer, result)),
        (simgap.width(arms(), HORIZON, oracle=known) for known in (answer, result)),
        (
            simgap.adapt(arms(), HORIZON, log=log, oracle=known)
            for known in (answer, result)
        ),
    ):
        assert replace(one, provenance=two.provenance) == two


def test_an_answer_without_a_plan_is_refused(answer: Oracle) -> None:
    with pytest.raises(InvalidArgument):
        simgap.identify(arms(), HORIZON, oracle=replace(answer, result=None))
    with pytest.raises(InvalidArgument):  # of another horizon
        simgap.identify(arms(), HORIZON + 1, oracle=answer)


def test_a_model_of_prior_zero_has_one_gap_however_it_is_measured(
    answer: Oracle,
) -> None:
    """Both arms lose there, which no model of positive prior allows."""
    simulators, policy = arms().simulators, answer.belief_policy
    exact = gaps(simulators, policy, HORIZON)[2]
    sampled = gaps(
        simulators, policy, HORIZON, evaluator=MonteCarlo(episodes=400, seed=5)
    )[2]
    sure = sampled.guaranteed
    assert sure and sure.lower <= exact.lower and exact.upper <= sure.upper
    told = simgap.compare(
        arms(), HORIZON, policies=[policy], agents=False, oracle=answer
    )
    assert told.policies[0].models[2].gap.lower == pytest.approx(exact.lower)


def test_a_first_state_that_no_model_allows_is_a_named_error() -> None:
    begins = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    latent = arms(begins)
    policy = simgap.oracle(latent, HORIZON).belief_policy
    for evaluator in (None, MonteCarlo(episodes=5)):
        with pytest.raises(OutsideClass):
            if evaluator is None:
                gaps(latent.simulators, policy, HORIZON)
            else:
                gaps(latent.simulators, policy, HORIZON, evaluator=evaluator)
