"""What a log is worth: boundaries of evidence, rounding, targets and options."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.answers import adapt
from simgap.answers.adapt.evidence import (
    RewardEvidence,
    differing_starts,
    evidence_of,
    observed_rows,
    posterior,
)
from simgap.answers.adapt.goodness_of_fit import goodness_of_fit
from simgap.answers.adapt.judged import judge
from simgap.answers.adapt.misfit import best_model, impossible_transitions, misfits
from simgap.errors import InvalidFile
from simgap.interop import load_model
from simgap.intervals import EPS
from simgap.mdp import LatentMDP, RewardUnits
from simgap.oracle import domain_randomization_oracle
from simgap.policies import load_policy
from tests.answers.test_adapt import EXACT, as_log, doors

CLASS: Any = import_module("simgap.answers.adapt.adapt_class")
MISFIT: Any = import_module("simgap.answers.adapt.misfit")
TILTS: Any = import_module("simgap.answers.adapt.tilts")
TRIES = [(0, 1, 1), (1, 0, 0)] * 3


def test_a_reward_is_another_one_beyond_a_billionth_of_the_largest() -> None:
    simulators = doors(0.5, 0.5, rewards=[[[0, 0], [1, 1]], [[0, 0], [0, 0.5]]])

    def contradicted(*seen: tuple[tuple[int, int, int], float]) -> list[bool]:
        log = as_log([each for each, _ in seen], reward=[paid for _, paid in seen])
        found = evidence_of(simulators, log, rewards=RewardEvidence.EXACT)
        assert (found.log_likelihood == -np.inf).tolist() == found.contradicted.tolist()
        return list(found.contradicted)

    assert contradicted(((0, 1, 1), 1e-9)) == [False, False]
    assert contradicted(((0, 1, 1), 1.001e-9)) == [True, True]
    assert contradicted(((1, 0, 0), 1.0)) == [False, True]
    assert contradicted(((1, 0, 0), np.nan), ((1, 1, 0), 0.5)) == [True, False]


def test_a_posterior_below_the_least_float_that_counts_is_none() -> None:
    likely = np.log([1.0, 1.0])
    likely[1] = np.log(1e-200) - 1e-9
    assert posterior(np.full(2, 0.5), likely) is not None
    found = posterior(np.full(2, 0.5), likely)
    assert found is not None and found.tolist() == [1.0, 0.0]
    likely[1] += 2e-9
    found = posterior(np.full(2, 0.5), likely)
    assert found is not None and found[1] == pytest.approx(1e-200, rel=1e-6)
    assert posterior(np.array([1.0, 0.0]), np.array([-np.inf, 0.0])) is None


def test_first_states_are_one_more_row() -> None:
    simulators = doors(0.5, 0.5, start=[[1.0, 0.0], [0.25, 0.75]])
    log = as_log([(0, 0, 0), (1, 0, 0), (1, 0, 0)], lengths=(1, 1, 1))
    rows = observed_rows(simulators, log, start=True)
    assert rows.pairs == 5
    assert rows.state.tolist() == [0, 1, -1] and rows.action.tolist() == [0, 0, -1]
    assert rows.counts.tolist()[-2:] == [1.0, 2.0]
    assert rows.chances[:, -2:].tolist() == [[1.0, 0.0], [0.25, 0.75]]
    assert observed_rows(simulators, log).pairs == 4


def test_starts_differ_between_likely_models_alone() -> None:
    same = doors(0.1, 0.9, start=[[0.5, 0.5], [0.5, 0.5]])
    apart = doors(0.1, 0.5, 0.9, start=[[1.0, 0.0], [1.0, 0.0], [0.5, 0.5]])
    assert not differing_starts(LatentMDP.uniform(doors(0.1, 0.9)))
    assert not differing_starts(LatentMDP.uniform(same))
    assert differing_starts(LatentMDP.uniform(apart))
    assert not differing_starts(LatentMDP(apart, np.array([0.5, 0.5, 0.0])))


def test_probabilities_are_as_near_as_rounding_says() -> None:
    latent = LatentMDP.uniform(doors(0.1, 0.3, 0.7))
    tries = [(0, 1, 1), (1, 0, 0), (0, 1, 0)] * 40
    found = judge(
        latent,
        as_log(tries),
        rewards=RewardEvidence.IGNORED,
        start_evidence=False,
        false_alarm=0.01,
        max_bytes=None,
    )
    chances = [Fraction(each) for each in (0.1, 0.3, 0.7)]
    likely = [(p * Fraction(1.0 - float(p))) ** 40 for p in chances]
    assert found.weights is not None
    for mine, true in zip(found.weights.tolist(), likely, strict=True):
        assert abs(Fraction(mine) - true / sum(likely)) <= found.rounding < 1e-10
    most = float(np.abs(found.log_likelihood).max())
    assert found.rounding == 2.0 * 128 * EPS * most + 11 * EPS


def test_without_a_model_that_is_left_there_is_nothing_but_refusal() -> None:
    evidence = evidence_of(doors(0.3, 0.5), as_log([(1, 1, 1), (0, 1, 1)]))
    fit = goodness_of_fit(evidence, np.full(2, 0.5))
    assert fit.p_values.tolist() == [0.0, 0.0]
    assert fit.log_e.tolist() == [np.inf, np.inf]
    found = adapt(
        LatentMDP.uniform(doors(0.3, 0.5)), 2, as_log([(1, 1, 1)]), solver=EXACT
    )
    assert found.rounding == 10 * EPS


def test_of_models_that_are_ruled_out_the_rest_of_the_log_decides() -> None:
    """Each forbids one of the steps; the others are likeliest to the second."""
    seen = [(1, 1, 1), *[(0, 1, 1)] * 3, (0, 1, 0)]
    evidence = evidence_of(doors(0.5, 0.75, 0.1), as_log(seen))
    assert best_model(evidence) == 1
    assert impossible_transitions(evidence) == 1
    fewer = evidence_of(doors(1.0, 0.001), as_log(seen))
    assert best_model(fewer) == 1  # one step that it forbids, not two


def test_a_model_that_rewards_rule_out_is_not_the_best() -> None:
    """The first one is nearer to the transitions, but pays something else."""
    simulators = doors(0.9, 0.5, rewards=[[[0, 0], [1, 1]], [[0, 0], [0.5, 0.5]]])
    log = as_log([(0, 1, 1), (1, 0, 0)] * 5, reward=[0.0, 0.5] * 5)
    assert best_model(evidence_of(simulators, log)) == 0
    seen = evidence_of(simulators, log, rewards=RewardEvidence.EXACT)
    assert best_model(seen) == 1


def test_a_row_is_named_from_a_whole_unit_of_evidence_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulators = doors(0.5, 0.5)
    evidence = evidence_of(simulators, as_log([(0, 1, 1), (1, 0, 0)]))
    for strongest, named in ((1.0, 1), (0.999, 2)):  # faint ones are named together
        against = np.array([0.5, strongest])
        monkeypatch.setattr(MISFIT, "evidence_by_row", lambda *_, a=against: a)
        assert len(misfits(simulators, evidence, 0)) == named


def test_partners_of_a_model_are_all_others_or_sixteen_evenly() -> None:
    assert TILTS._partners(3, 1).tolist() == [0, 2]
    assert TILTS._partners(17, 3).tolist() == [at for at in range(17) if at != 3]
    for members in (18, 40, 200):
        found = TILTS._partners(members, 7).tolist()
        assert len(set(found)) == 16 and 7 not in found
        assert (found[0], found[-1]) == (0, members - 1)
        steps = np.diff([at - (at > 7) for at in found])
        assert steps.max() - steps.min() <= 1


def test_evidence_between_many_models_is_that_of_the_sixteen() -> None:
    """The average over partners: of 40 equal ones it is that of one."""
    rows = observed_rows(doors(0.3, *[0.6] * 39), as_log(TRIES))
    two = observed_rows(doors(0.3, 0.6), as_log(TRIES))
    many = TILTS.tilted_evidence(rows, 0)
    assert many == pytest.approx(TILTS.tilted_evidence(two, 0), rel=1e-12)
    odds = [3 / 7 * (3 / 7 / 1.5) ** tilt for tilt in (-0.5, 0.5, 1.0, 2.0)]
    exact = np.mean([(each / (1 + each) / 0.3) ** 3 for each in odds])
    assert many == pytest.approx(np.log(exact), rel=1e-12)
    assert TILTS.tilted_evidence(observed_rows(doors(0.3), as_log(TRIES)), 0) == 0.0


# the answer


def test_moments_of_parameters_are_those_of_prior_and_posterior() -> None:
    name = "riverswim?states=3&success=0.2,0.8"
    found = adapt(name, 4, as_log([(1, 1, 2)]), solver=EXACT, seed=5)
    (success,) = found.parameters
    assert success.before.mean == pytest.approx(0.5)
    assert success.before.sd == pytest.approx(0.3)
    low, high = (each.probability or 0.0 for each in found.posterior)
    mean = 0.2 * low + 0.8 * high
    assert success.after is not None and success.after.mean == pytest.approx(mean)
    spread = sqrt(low * (0.2 - mean) ** 2 + high * (0.8 - mean) ** 2)
    assert success.after.sd == pytest.approx(spread)
    assert found.provenance.model == name
    assert found.provenance.seed == EXACT.seed
    assert (found.horizon, found.transitions, found.episodes) == (4, 1, 1)
    assert found.false_alarm == 0.01


def test_lemma_1_counts_in_the_unit_of_rewards_and_says_nothing_in_vain() -> None:
    def bound(units: RewardUnits, horizon: int, tries: int = 3) -> Any:
        latent = LatentMDP.uniform(doors(0.2, 0.5, 0.8, units=units))
        log = as_log(TRIES[:2] * tries)
        return adapt(latent, horizon, log, solver=EXACT).lemma_1

    plain, large = bound(RewardUnits(), 5), bound(RewardUnits(-3.0, 8.0), 5)
    assert large.bound == pytest.approx(8.0 * plain.bound, rel=1e-9)
    assert large.probability == plain.probability
    flat = LatentMDP.uniform(doors(0.2, 0.8, rewards=[[0.5, 0.5], [0.5, 0.5]]))
    assert adapt(flat, 3, as_log(TRIES), solver=EXACT).lemma_1 is None


def planned(**given: Any) -> list[Any]:
    """Return the solvers of the plans that an answer makes."""
    solvers: list[Any] = []
    right = CLASS.planned_oracle

    def noted(latent: Any, horizon: int, *, solver: Any, progress: Any) -> Any:
        solvers.append(solver)
        return right(latent, horizon, solver=EXACT, progress=progress)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CLASS, "planned_oracle", noted)
        adapt(LatentMDP.uniform(doors(0.1, 0.9)), 3, as_log(TRIES), **given)
    return solvers


def test_two_plans_share_the_time_and_one_has_all_of_it() -> None:
    latent = LatentMDP.uniform(doors(0.1, 0.9))
    oracle = domain_randomization_oracle(latent, horizon=3, solver=EXACT)
    both = planned(time_limit=8.0, seed=3)
    assert [(each.time_limit, each.seed) for each in both] == [(4.0, 3)] * 2
    assert {each.negligible for each in both} == {1e-4}
    (alone,) = planned(time_limit=8.0, oracle=oracle)
    assert alone.time_limit == 8.0
    exact = planned(gap_tolerance=0.25)[0]
    assert (exact.gap_tolerance, exact.negligible) == (0.25, 0.0)
    assert planned(solver=EXACT) == [EXACT, EXACT]


def test_policies_and_the_class_are_kept_where_it_was_asked(tmp_path: Path) -> None:
    latent = LatentMDP.uniform(doors(0.1, 0.9))
    policy, model = tmp_path / "new.simgap", tmp_path / "class.simgap"
    more: dict[str, Any] = {"solver": EXACT, "save": policy}
    found = adapt(latent, 3, as_log(TRIES), save_model=model, **more)
    beside = tmp_path / "new.belief.simgap"
    assert found.files.policy == str(policy) and found.files.belief_policy == str(
        beside
    )
    assert found.files.model == str(model)
    assert load_model(model).prior.tolist() == found.adapted.prior.tolist()
    assert type(load_policy(policy)) is type(found.policy)
    assert beside.exists()
    for target in (policy, beside):
        with pytest.raises(InvalidFile):
            adapt(latent, 3, as_log(TRIES), save_model=target, **more)
    model.unlink()
    alone = adapt(latent, 3, as_log(TRIES), save_model=model, solver=EXACT)
    assert alone.files.policy is None and model.exists()
    policy.unlink()
    lost = adapt(latent, 3, as_log([(1, 1, 1)]), **more)
    assert lost.files.policy is None and not policy.exists()
