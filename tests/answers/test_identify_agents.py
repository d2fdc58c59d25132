"""What agents know, which pairs are compared, and trained policies, by hand.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from math import inf, log, sqrt
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers import identify
from simgap.answers.identify import (
    posterior_histories,
    posterior_timeline as timelines,
)
from simgap.errors import InvalidArgument
from simgap.intervals import Certified
from simgap.oracle import domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from tests.answers.audit_cases import coins

asking: Any = import_module("simgap.answers.identify.identify")
running: Any = import_module("simgap.answers.identify.identify_run")


def test_steps_and_models_that_are_told_go_from_end_to_end() -> None:
    assert timelines._spaced(40).tolist() == list(range(41))
    many = timelines._spaced(41)
    assert (many[0], many[1], many[-1]) == (0, 1, 41) and many.size < 42
    far = timelines._spaced(10**6)
    assert (far[0], far[1], far[-1]) == (0, 1, 10**6)
    assert np.diff(far).argmax() == far.size - 2 and 30 < far.size <= 41
    assert timelines._spread(5, 5).tolist() == [0, 1, 2, 3, 4]
    assert timelines._spread(9, 3).tolist() == [0, 4, 8]


def test_a_computed_mean_is_off_by_little_at_every_step() -> None:
    found = timelines._computed(0.5, 9, 0.95)
    wrong = 4.0 * posterior_histories.SAME * 10
    assert (found.estimate, found.lower, found.upper) == (0.5, 0.5 - wrong, 0.5 + wrong)
    above = timelines._computed(1.0 + 1e-9, 0, 0.95)
    assert (above.estimate, above.upper) == (1.0, 1.0) and above.lower < 1.0
    below = timelines._computed(-1e-9, 0, 0.95)
    assert (below.estimate, below.lower) == (0.0, 0.0) and below.upper > 0.0


def test_a_sampled_mean_has_the_interval_of_its_variance_above_what_is_known() -> None:
    sample = np.tile([0.25, 0.75], 500)
    wide = log(4.0 / 0.05)
    variance = 0.0625 * 1000 / 999
    half = sqrt(2.0 * variance * wide / 1000) + 7.0 * wide / (3.0 * 999)
    found = timelines._estimate(sample, 0.0, 0.95)
    assert found.ends == pytest.approx((0.5 - half, 0.5 + half))
    assert timelines._estimate(sample, 0.49, 0.95).lower == 0.49
    sure = timelines._estimate(sample, 0.9, 0.95)
    assert (sure.lower, sure.estimate, sure.upper) == (0.9, 0.9, 0.9)
    assert timelines._estimate(np.ones(1000), 0.0, 0.95).upper == 1.0


def test_what_is_sampled_shrinks_with_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models, real and believed: 44 numbers a step, of 2 (2 + 20)."""
    latent = coins(0.2, 0.9)
    solver = ExactOracle(episodes=2)
    policy = domain_randomization_oracle(latent, horizon=4, solver=solver).policy
    asked = []

    def sampled(*given: Any) -> Any:
        asked.append(given[4])
        return np.full((given[4], given[3].size), 0.5)

    monkeypatch.setattr(timelines, "_sampled", sampled)

    def told(work: int, **more: Any) -> Any:
        monkeypatch.setattr(timelines, "MOST_WORK", work)
        asked.clear()
        found = timelines.posterior_timeline(latent, policy, **more)
        assert asked == ([found.episodes] * 2 if found.episodes else [])
        return found.steps[-1], found.computed, found.episodes

    assert told(10**9) == (4, 5, None)  # all is computed
    assert told(10**9, most_numbers=0) == (4, 1, 5000)
    assert told(44 * 4 * 900, most_numbers=0) == (4, 1, 900)
    assert told(44 * 4 * 900, most_numbers=0, episodes=300) == (4, 1, 300)
    assert told(44 * 4 * 100, most_numbers=0) == (4, 1, 100)
    assert told(44 * 4 * 100 - 1, most_numbers=0) == (3, 1, 133)
    assert told(1, most_numbers=0) == (1, 1, 100)
    for seed, good in ((2**63 - 1, True), (2**63, False), (-1, False)):
        if good:
            assert told(1, seed=seed)[0] == 1
        else:
            with pytest.raises(InvalidArgument):
                told(1, seed=seed)
    for bad in ({"episodes": 1}, {"episodes": 10**6 + 1}, {"confidence": 1.0}):
        with pytest.raises(InvalidArgument):
            told(1, **bad)


def test_histories_with_the_same_posterior_are_added_up() -> None:
    nodes = np.array([1, 0, 1, 1])
    weights = np.array([[0.2, 0.4], [0.2, 0.4], [0.3, 0.6], [0.3, 0.1]])
    found, added = posterior_histories._added_up(nodes, weights)
    assert found.tolist() == [0, 1, 1]
    np.testing.assert_allclose(added[0], [0.2, 0.4])
    both = sorted(added[1:].tolist())
    np.testing.assert_allclose(both, [[0.3, 0.1], [0.5, 1.0]])


# which pairs, and notes


def test_nearby_pairs_and_spread_models_are_compared_up_to_a_number() -> None:
    chances = np.linspace(0.05, 0.95, 70) ** 2
    every = coins(*chances.tolist()).simulators
    notes = asking.Notes()
    chosen = asking._chosen(every, 2_000, notes)
    assert [each.code for each in notes] == ["some-pairs"]
    spread = sorted({pair[0] for pair in chosen} | {pair[1] for pair in chosen})
    assert (spread[0], spread[-1]) == (0, 69)
    near = {(at, at + 1) for at in range(40)}  # chances lie closest at first
    assert len(near & set(chosen)) >= 20
    assert chosen == sorted(set(chosen)) and 780 <= len(chosen) <= 820
    few = asking._chosen(every, 50, asking.Notes())
    assert len(few) <= 50
    all_pairs = asking._chosen(every, 70 * 69 // 2, asking.Notes())
    assert all_pairs == list(combinations(range(70), 2))


def test_the_slowest_pair_has_the_greatest_upper_end_then_the_lower() -> None:
    def slowest(*ends: tuple[float, float]) -> Any:
        return asking._slowest(tuple(Stand(steps=Certified(*each)) for each in ends))

    assert slowest() is None
    assert slowest((1, 9), (5, 7), (2, 9), (2, 9)) == 2


@pytest.mark.parametrize(
    ("grown", "last", "state", "never"),
    [
        ((0.0, 0.009), 9, 0, True),
        ((0.0, 0.010001), 9, 0, False),
        ((0.0, 0.0), 8, 0, False),  # the timeline ends before the episode
        ((0.0, 0.0), 9, None, False),  # nothing within reach tells them apart
    ],
)
def test_an_oracle_never_looks_if_no_belief_grows(
    grown: tuple[float, float], last: int, state: int | None, never: bool
) -> None:
    def asked(prior: tuple[float, ...], gains: tuple[float, ...]) -> bool:
        models = [
            Stand(model=at, posterior=[Stand(estimate=p + gain)])
            for at, (p, gain) in enumerate(zip(prior, gains, strict=False))
        ]
        pair = Stand(state=state, first=0, second=1)
        latent = Stand(prior=np.array(prior))
        timeline = Stand(steps=[0, last], models=models)
        return bool(asking._never_looks(latent, timeline, (pair,), 9))

    assert asked((0.5, 0.5), grown) == never
    assert not asked((0.5, 0.0, 0.5), (0.0, 0.0, 0.0))  # one of the pair is not real
    assert not asked((1.0,), (0.0,))
    small = (0.001, 0.999)  # a tenth of a small weight is much
    assert asked(small, (0.00009, 0.0)) == (never or grown[1] > 0.01)
    assert not asked(small, (0.00011, 0.0))


def test_pairs_are_followed_for_as_long_as_all_of_them_allow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    every = coins(0.2, 0.5, 0.9).simulators
    entries = every.transitions.nonzeros
    asked = []

    def told(*_: Any, error: float, most_steps: int) -> Any:
        asked.append(most_steps)
        return Stand(steps=Certified(3, inf if len(asked) == 1 else 5))

    monkeypatch.setattr(asking, "telling_apart", told)

    def limit(work: int) -> int:
        monkeypatch.setattr(asking, "MOST_WORK", work)
        asked.clear()
        notes = asking.Notes()
        found = asking._pairs(every, 0.05, 100, notes, lambda word: None)
        assert len(found) == len(asked) == 3 and len(set(asked)) == 1
        assert [each.code for each in notes] == ["maybe-never-told-apart"]
        return int(asked[0])

    assert limit(3 * entries * 5_000) == 5_000
    assert limit(1) == 1_000
    assert limit(10**12) == 10**6


def test_pairs_too_late_for_the_horizon_are_counted() -> None:
    for horizon, codes in ((4, ["not-within-horizon"]), (5, [])):
        notes = asking.Notes()
        pairs = (Stand(steps=Certified(5, 9)), Stand(steps=Certified(1, 9)))
        asking._note_horizon(pairs, horizon, 0.05, notes)
        assert [each.code for each in notes] == codes
    assert identify(coins(0.2, 0.9)).provenance.seed == 0
    assert identify(coins(0.2, 0.9), seed=7).provenance.seed == 7


# trained policies


def training(name: str, **changes: Any) -> Any:
    usual = {"memory": "gru", "informed": False, "specialist": False, "masked": False}
    return Stand(name=name, **{**usual, "draws": "", **changes})


def test_the_reference_is_told_and_trained_as_the_policy_is() -> None:
    mine = training("mine")
    told = [
        training("masked", informed=True, masked=True),
        training("plain", informed=True, memory="none"),
        training("ends", informed=True, draws="ends"),
        training("same", informed=True),
    ]

    def chosen(*every: Any, policy: Any = None, reference: Any = None) -> Any:
        found = running._trainings(Stand(trainings=every), policy, reference)
        return tuple(None if each is None else each.name for each in found)

    assert chosen(mine) == ("mine", None)
    assert chosen(*told, mine) == ("mine", "same")
    assert chosen(*told[:3], mine) == ("mine", "ends")
    assert chosen(*told[:2], mine) == ("mine", "plain")
    assert chosen(told[0], mine) == ("mine", "masked")
    assert chosen(*told, mine, reference="plain") == ("mine", "plain")
    special = training("special", specialist=True)
    plain = training("forgets", memory="none")
    assert chosen(special, plain, mine) == ("mine", None)
    for bad in ((special,), (plain,), (told[3],)):
        with pytest.raises(InvalidArgument):
            chosen(*bad)


def test_memory_is_read_at_steps_that_are_close_at_first() -> None:
    assert running._probed(1) == (1,)
    assert running._probed(4) == (1, 2, 3, 4)
    far = running._probed(1000)
    assert (far[0], far[-1], len(far)) == (1, 1000, 12)
    assert (np.diff(far, 2) >= 0).all()


def test_losses_are_told_step_by_step() -> None:
    def band(offset: float) -> Any:
        mean = np.array([1.0, 2.0]) + offset
        return Stand(mean=mean, lower=mean - 0.5, upper=mean + 0.25)

    lost = Stand(value=band(0.0), evaluation=band(10.0))
    first, second = running._losses(lost, 0.9)
    assert (first.step, second.step) == (1, 2)
    assert (second.loss.estimate, *second.loss.ends) == (2.0, 1.5, 2.25)
    assert (first.evaluation.estimate, first.evaluation.confidence) == (11.0, 0.9)


@pytest.mark.parametrize(
    ("settled", "here", "words"),
    [
        (None, None, ["last of 9 steps"]),
        (1, 1, ["at any step"]),
        (4, 4, ["from step 4 of 9"]),
        (4, 6, ["from step 4 of 9", "until step 5"]),
        (4, None, ["from step 4 of 9", "until the last step"]),
    ],
)
def test_when_nothing_is_lost_any_more(settled: Any, here: Any, words: Any) -> None:
    value = Stand(settled=settled, mean=np.zeros(9))
    said = running._when(
        Stand(value=value, evaluation=Stand(settled=here)), "gru", "informed"
    )
    assert all(each in said for each in words)
    assert ("until step" in said) == (here == 6)
