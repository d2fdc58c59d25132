"""Adapting to real data: exact Bayes, planning again, and worlds outside the class."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from simgap.answers.adapt.adapt import adapt
from simgap.answers.adapt.evidence import (
    RewardEvidence,
    evidence_of,
    posterior,
)
from simgap.errors import InvalidArgument
from simgap.interop.transition_log import TransitionLog
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    RewardUnits,
    SimulatorClass,
    class_from_arrays,
)
from simgap.oracle import domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from simgap.records.adapt import Adapt
from tests.note_codes import codes
from tests.reference import adapt as slow
from tests.reference.rational import RationalMDP
from tests.strategies import STEADY, as_class, rational_classes

EXACT = ExactOracle(episodes=100)
UNIT = RewardUnits()
Transition = tuple[int, int, int]


def as_log(
    transitions: Sequence[Transition],
    *,
    lengths: Sequence[int] = (),
    reward: Sequence[float] | None = None,
    first: int = 0,
) -> TransitionLog:
    state, action, after = np.array(transitions, np.int32).reshape(-1, 3).T
    sizes = list(lengths) or [len(transitions)]
    return TransitionLog(
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate([np.arange(first, first + n) for n in sizes]),
        state,
        action,
        after,
        reward=None if reward is None else np.array(reward),
    )


def chances(found: Adapt) -> list[float | None]:
    """The posterior alone."""
    return [each.probability for each in found.posterior]


def doors(
    *open_: float,
    start: object = 0,
    rewards: object = None,
    units: RewardUnits = UNIT,
) -> SimulatorClass:
    """State 0 chooses; action 1 leads to state 1 with a chance, and back."""
    kernel = np.zeros((len(open_), 2, 2, 2))
    for m, chance in enumerate(open_):
        kernel[m, 0, 0] = [1.0, 0.0]
        kernel[m, 0, 1] = [1.0 - chance, chance]
        kernel[m, 1, :] = [1.0, 0.0]
    table = [[0.25, 0.0], [1.0, 1.0]] if rewards is None else rewards
    return class_from_arrays(
        kernel,
        table,  # type: ignore[arg-type]
        order=IndexOrder.STATE_ACTION,
        details=Details(start=start, units=units),
    )


@given(models=rational_classes(members=(1, 4), most=(4, 3)), draws=st.data())
@STEADY
def test_the_posterior_is_bayes_in_fractions(
    models: list[RationalMDP], draws: st.DataObject
) -> None:
    S, A = models[0].n_states, models[0].n_actions
    rng = np.random.default_rng(draws.draw(st.integers(0, 10**6)))
    world = models[int(rng.integers(len(models)))]
    log, s = [], 0
    for _ in range(int(rng.integers(1, 60))):
        a = int(rng.integers(A))
        t = int(rng.choice(S, p=[float(p) for p in world.transitions[s][a]]))
        log.append((s, a, t))
        s = t if rng.random() < 0.9 else int(rng.integers(S))
    parts = [int(each) for each in rng.integers(1, 5, len(models))]
    prior = [Fraction(each, sum(parts)) for each in parts]
    weights = np.array([float(each) for each in prior])
    evidence = evidence_of(as_class(models), as_log(log))
    found = posterior(weights, evidence.log_likelihood)
    exact = slow.posterior(models, prior, log)
    assert found is not None and exact is not None
    for mine, true in zip(found, exact, strict=True):
        assert (mine == 0.0) == (true == 0)
        assert mine == pytest.approx(float(true), rel=1e-12)


def test_real_data_end_the_doubt() -> None:
    """Two doors open with 0.1 or 0.9; after four tries one plan is right."""
    latent = LatentMDP.uniform(doors(0.1, 0.9))
    log = as_log([(0, 1, 1), (1, 0, 0)] * 4, lengths=(4, 4))
    found = adapt(latent, 6, log, solver=EXACT)
    assert chances(found)[1] == pytest.approx(9**4 / (9**4 + 1), rel=1e-12)
    again = domain_randomization_oracle(found.adapted, horizon=6, solver=EXACT)
    before, after = found.gap_bound_before, found.gap_bound_after
    assert after is not None and after == again.average_gap
    assert after.upper < before.lower
    assert not found.outside_class and found.misfit == ()
    assert found.best == found.posterior[1].name
    # the new plan is optimal for the posterior, so the old one is no better there
    assert found.gap_of_old_plan is not None
    assert found.gap_of_old_plan >= after.lower - 1e-12
    assert found.adapted.prior == pytest.approx(chances(found), rel=1e-15)
    assert (found.policy, found.belief_policy) != (None, None)
    assert found.notes == ()


def test_lemma_1_bounds_the_gap_in_the_likeliest_model() -> None:
    latent = LatentMDP.uniform(doors(0.2, 0.5, 0.8))
    found = adapt(latent, 5, as_log([(0, 1, 1), (1, 0, 0)] * 3), solver=EXACT)
    likeliest = max(found.posterior, key=lambda each: each.probability or 0.0)
    assert found.lemma_1 is not None and found.gap_bound_after is not None
    assert likeliest.probability is not None and likeliest.gap_after is not None
    assert found.lemma_1.name == likeliest.name
    assert found.lemma_1.bound == pytest.approx(
        found.gap_bound_after.upper / likeliest.probability, rel=1e-12
    )
    assert likeliest.gap_after <= found.lemma_1.bound + 1e-12
    assert found.plausible_gap == max(
        each.gap_after or 0.0 for each in found.posterior if each.plausible
    )


def test_a_transition_that_cannot_happen_excludes_a_model() -> None:
    latent = LatentMDP.uniform(doors(1.0, 0.5))
    found = adapt(latent, 4, as_log([(0, 1, 0)]), solver=EXACT)
    assert chances(found) == [0.0, 1.0]
    assert found.posterior[0].log_likelihood == -np.inf
    assert found.posterior[0].p_value == 0.0
    assert all(each.gap_after is not None for each in found.posterior)


def test_if_all_are_excluded_there_is_no_posterior() -> None:
    latent = LatentMDP.uniform(doors(0.3, 0.5))
    found = adapt(latent, 4, as_log([(0, 1, 1), (1, 1, 1)]), solver=EXACT)
    assert chances(found) == [None, None] and found.gap_bound_after is None
    assert found.adapted is None and found.policy is None
    assert found.gap_of_old_plan is None
    assert found.lemma_1 is None and found.plausible_gap is None
    assert found.outside_class
    assert found.misfit[0].state == 1 and found.misfit[0].action == 1
    assert codes(found)[0] == "impossible-transitions"
    apart = adapt(
        LatentMDP.uniform(doors(1.0, 0.0)),
        4,
        as_log([(0, 1, 1), (1, 0, 0), (0, 1, 0), (0, 1, 0)]),
        solver=EXACT,
    )
    assert chances(apart) == [None, None]
    assert apart.best == apart.posterior[1].name  # one impossible step, not two


def test_a_world_outside_is_told_though_a_posterior_exists() -> None:
    latent = LatentMDP.uniform(doors(0.5, 0.7, 0.9))
    tries = [(0, 1, 1), (1, 0, 0), *[(0, 1, 0)] * 9] * 6
    found = adapt(latent, 5, as_log(tries), solver=EXACT)
    assert found.outside_class and None not in chances(found)
    assert (found.misfit[0].state, found.misfit[0].action) == (0, 1)
    assert codes(found)[0] == "outside-class"
    calm = adapt(latent, 5, as_log(tries), false_alarm=1e-12, solver=EXACT)
    assert not calm.outside_class


def test_models_without_prior_weight_stay_without() -> None:
    latent = LatentMDP(doors(0.9, 0.8, 0.1), np.array([0.5, 0.5, 0.0]))
    tries = [(0, 1, 1), (1, 0, 0), *[(0, 1, 0)] * 9] * 4
    found = adapt(latent, 4, as_log(tries), solver=EXACT)
    assert chances(found)[2] == 0.0
    assert found.outside_class  # of the models with weight none explains it
    assert [each.plausible for each in found.posterior] == [False, False, True]
    assert "no-weight-but-explains" in codes(found)


def test_rewards_are_evidence_only_if_asked() -> None:
    rewards = [[[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.5, 0.5]]]
    latent = LatentMDP.uniform(
        doors(0.5, 0.5, rewards=rewards, units=RewardUnits(-2.0, 10.0))
    )
    log = as_log([(0, 1, 1), (1, 0, 0)], reward=[-2.0, 3.0])  # -2 + 10 * 0.5
    found = adapt(latent, 4, log, solver=EXACT)
    assert chances(found) == [0.5, 0.5]
    assert "rewards-not-used" in codes(found)
    alike = LatentMDP.uniform(doors(0.5, 0.5))
    assert "rewards-not-used" not in codes(adapt(alike, 4, log, solver=EXACT))
    exact = RewardEvidence.EXACT
    told = adapt(latent, 4, log, rewards=exact, solver=EXACT)
    assert chances(told) == [0.0, 1.0]
    assert told.posterior[0].p_value == 0.0 and told.posterior[1].p_value > 0.5
    near = as_log([(1, 0, 0)], reward=[3.0 + 1e-9])
    found_near = evidence_of(latent.simulators, near, rewards=exact)
    assert found_near.contradicted.tolist() == [True, False]
    off = as_log([(1, 0, 0)], reward=[3.0 + 1e-6])
    lost = adapt(latent, 4, off, rewards=exact, solver=EXACT)
    assert chances(lost) == [None, None] and codes(lost)[0] == "excluded-by-rewards"
    for bad in (as_log([(1, 0, 0)]), as_log([(1, 0, 0)], reward=[np.nan])):
        with pytest.raises(InvalidArgument, match="reward"):
            adapt(latent, 4, bad, rewards=exact, solver=EXACT)


def test_first_states_are_evidence_only_if_asked() -> None:
    laws = [[0.75, 0.25], [0.25, 0.75]]
    latent = LatentMDP.uniform(doors(0.5, 0.5, start=laws))
    log = as_log([(0, 0, 0), (0, 0, 0), (1, 0, 0)], lengths=(1, 1, 1), first=1)
    plain = adapt(latent, 3, log, solver=EXACT)
    assert chances(plain) == [0.5, 0.5]
    assert "starts-not-used" in codes(plain)
    told = adapt(latent, 3, log, start_evidence=True, solver=EXACT)
    # 3/4 3/4 1/4 against 1/4 1/4 3/4
    assert chances(told) == pytest.approx([0.75, 0.25], rel=1e-12)
    late = as_log([(0, 0, 0)] * 3, lengths=(1, 2), first=2)
    with pytest.raises(InvalidArgument, match="begins at step 2"):
        adapt(latent, 3, late, start_evidence=True, solver=EXACT)
