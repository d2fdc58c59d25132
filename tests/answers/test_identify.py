"""All pairs of a class, which of them is slowest, and when the oracle infers it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from simgap.answers.identify.identify import identify
from simgap.answers.identify.posterior_timeline import posterior_timeline
from simgap.answers.identify.telling_apart import telling_apart
from simgap.instances import riverswim
from simgap.mdp import LatentMDP, class_from_models
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from simgap.records.identify import Identify
from tests.note_codes import codes

EXACT = ExactOracle(episodes=2)


def exactly(latent: LatentMDP, horizon: int) -> Identify:
    """Return the answer with the exact oracle."""
    oracle = domain_randomization_oracle(latent, horizon=horizon, solver=EXACT)
    return identify(latent, horizon, oracle=oracle)


def rivers(*success: float) -> LatentMDP:
    return LatentMDP.uniform(riverswim(states=3, success=success))


def test_every_pair_is_there_and_the_slowest_is_the_nearest() -> None:
    latent = rivers(0.2, 0.3, 0.8, 0.9)
    found = identify(latent)
    assert [(each.first, each.second) for each in found.pairs] == [
        (0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3),
    ]  # fmt: skip
    for each in found.pairs:
        alone = telling_apart(latent.simulators, each.first, each.second)
        for key in ("steps", "state", "action", "distance", "affinity", "visits"):
            assert getattr(each, key) == getattr(alone, key)
    assert found.slowest is not None
    slowest = found.pairs[found.slowest]
    assert slowest.steps.upper == max(each.steps.upper for each in found.pairs)
    assert (slowest.first, slowest.second) == (0, 1)
    assert found.timeline is None
    assert codes(found) == ["rewards-unseen"]


def test_models_with_equal_kernels_are_never_told_apart() -> None:
    one, other = riverswim(states=3, success=(0.3, 0.6))
    twice = class_from_models([one, other, replace(one, name="again")])
    found = identify(LatentMDP.uniform(twice))
    assert found.slowest == 1
    never = found.pairs[1]
    assert (never.first, never.second) == (0, 2)
    assert (never.steps.lower, never.steps.upper) == (inf, inf)
    assert (never.state, never.visits, never.affinity) == (None, None, 1.0)


def test_a_horizon_adds_the_timeline_of_the_oracle() -> None:
    latent, horizon = rivers(0.3, 0.7), 6
    found = exactly(latent, horizon)
    oracle = domain_randomization_oracle(latent, horizon=horizon, solver=EXACT)
    told = posterior_timeline(latent, oracle.policy)
    assert found.timeline is not None
    assert found.timeline.steps == told.steps
    assert [each.posterior for each in found.timeline.models] == [
        each.posterior for each in told.models
    ]
    planned = identify(latent, horizon)
    assert planned.timeline is not None
    assert planned.timeline.average_gap.upper >= oracle.average_gap.lower


def test_pairs_that_no_policy_tells_apart_in_time_are_counted() -> None:
    latent = rivers(0.3, 0.35, 0.9)
    found = exactly(latent, 10)
    late = [each for each in found.pairs if each.steps.lower > 10]
    assert 0 < len(late) < 3
    wanted = "one pair is" if len(late) == 1 else f"{len(late)} pairs are"
    (note,) = (each for each in found.notes if each.code == "not-within-horizon")
    assert note.text.startswith(wanted)


def test_an_oracle_that_never_looks_is_told() -> None:
    """A sure reward on the left is worth more than what swimming may find out."""
    lazy = LatentMDP.uniform(
        riverswim(states=3, success=(0.1, 0.15, 0.2), left_reward=0.9)
    )
    found = exactly(lazy, 8)
    assert found.timeline is not None
    for each in found.timeline.models:
        assert each.posterior[-1].estimate == pytest.approx(1 / 3, abs=1e-9)
    assert "never-looks" in codes(found)
    once = exactly(lazy, 1)
    assert codes(once)[1:] == ["not-within-horizon", "never-looks"]
    eager = exactly(rivers(0.2, 0.5, 0.8), 8)
    assert "never-looks" not in codes(eager)


def test_what_cannot_be_found_out_is_not_called_a_lack_of_interest() -> None:
    (one,) = riverswim(states=3, success=(0.3,))
    twins = class_from_models([one, replace(one, name="again")])
    found = exactly(LatentMDP.uniform(twins), 5)
    assert "never-looks" not in codes(found)
    alone = LatentMDP(riverswim(states=3, success=(0.1, 0.2)), np.array([1.0, 0.0]))
    found = exactly(alone, 5)
    assert "never-looks" not in codes(found)
