"""All pairs of a class, which of them is slowest, and what the notes say."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from simgap.answers.identify.identify import identify
from simgap.answers.identify.posterior_timeline import posterior_timeline
from simgap.answers.identify.telling_apart import telling_apart
from simgap.complexity import separation
from simgap.errors import InvalidArgument
from simgap.instances import riverswim
from simgap.mdp import LatentMDP, class_from_models
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.result import Outcome
from simgap.oracle.settings import ExactOracle
from simgap.records import Identify
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


def test_a_class_of_one_has_nothing_to_tell_apart() -> None:
    found = exactly(rivers(0.4), 3)
    assert found.pairs == ()
    assert found.slowest is None
    assert found.timeline is not None
    assert {e.estimate for e in found.timeline.models[0].posterior} == {1.0}


def test_of_many_pairs_those_nearest_to_one_another_are_compared() -> None:
    latent = rivers(0.1, 0.2, 0.35, 0.55, 0.8)
    found = identify(latent, most_pairs=3)
    exponent = separation(latent.simulators).exponent
    kept = {(each.first, each.second) for each in found.pairs}
    others = set(zip(*np.triu_indices(5, 1), strict=True)) - kept
    assert len(kept) == 3
    assert max(exponent[pair] for pair in kept) <= min(exponent[p] for p in others)
    assert "some-pairs" in codes(found)
    every = identify(latent)
    assert every.slowest is not None
    assert every.pairs[every.slowest] in found.pairs


def test_of_many_models_some_are_spread_evenly_and_the_nearest_are_there() -> None:
    latent = rivers(*np.linspace(0.1, 0.9, 70).tolist())
    found = identify(latent, most_pairs=60)
    kept = {(each.first, each.second) for each in found.pairs}
    assert len(kept) == len(found.pairs) <= 60
    assert list(found.pairs) == sorted(
        found.pairs, key=lambda each: (each.first, each.second)
    )
    exponent = separation(latent.simulators).exponent
    first, second = np.triu_indices(70, 1)
    nearest = np.argsort(exponent[first, second], kind="stable")[:40]
    assert {(int(first[k]), int(second[k])) for k in nearest} <= kept
    assert (0, 69) in kept
    assert "some-pairs" in codes(found)
    for each in found.pairs[::20]:
        alone = telling_apart(latent.simulators, each.first, each.second)
        assert (each.steps.lower, each.steps.upper) == (
            alone.steps.lower, alone.steps.upper,
        )  # fmt: skip


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


def test_notes_say_what_the_timeline_leaves_out() -> None:
    worlds = riverswim(states=3, success=(0.3, 0.5, 0.7))
    latent = LatentMDP(worlds, np.array([0.5, 0.0, 0.5]))
    oracle = domain_randomization_oracle(latent, horizon=4, solver=EXACT)
    stopped = replace(oracle, outcome=Outcome.OUT_OF_TIME)
    found = identify(latent, 4, oracle=stopped)
    assert len(found.pairs) == 3
    assert codes(found)[-2:] == ["without-prior-weight", "planning-cut-short"]
    assert codes(identify(latent, 4, oracle=oracle))[-1] == "without-prior-weight"


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


def test_small_weights_that_grow_by_much_of_themselves_have_been_looked_at() -> None:
    weights = np.array([0.997, 0.003])
    latent = LatentMDP(riverswim(states=3, success=(0.3, 0.6)), weights)
    found = exactly(latent, 3)
    assert found.timeline is not None
    gains = [
        each.posterior[-1].estimate - weight
        for each, weight in zip(found.timeline.models, weights, strict=True)
    ]
    assert 0.0005 < max(gains) < 0.01
    assert "never-looks" not in codes(found)


def test_an_oracle_of_another_horizon_is_refused() -> None:
    latent = rivers(0.3, 0.7)
    oracle = domain_randomization_oracle(latent, horizon=3, solver=EXACT)
    for horizon in (4, None):
        with pytest.raises(InvalidArgument, match="planned for 3 steps"):
            identify(latent, horizon, oracle=oracle)


@pytest.mark.parametrize("most_pairs", [0, -1, True, 2.5])
def test_a_number_of_pairs_that_is_none_is_refused(most_pairs: object) -> None:
    with pytest.raises(InvalidArgument, match="most_pairs"):
        identify(rivers(0.3), most_pairs=most_pairs)  # type: ignore[arg-type]
