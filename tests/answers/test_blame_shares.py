"""Shares, requests and words of blame, each where it changes its mind.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from itertools import combinations, product
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.blame import hidden_parts, hidden_shares
from simgap.answers.blame.hidden_parts import ModelsLeft
from simgap.answers.blame.hidden_shares import HiddenShares
from simgap.answers.blame.sentences import headline, notes_of
from simgap.answers.blame.told_sets import all_sets, sets_of_orders
from simgap.errors import InvalidArgument
from simgap.intervals import Certified, Estimate
from tests.answers.hidden_cases import mixed_class

asking: Any = import_module("simgap.answers.blame.blame")
ignoring: Any = import_module("simgap.answers.blame.ignored_losses")
telling: Any = import_module("simgap.answers.blame.blame_run")

LEFT = ModelsLeft(0.5, (0, 2), (0.25, 0.75))


def test_what_knowing_one_part_saves_is_never_negative() -> None:
    values = {0: Certified(0.0, 0.0), 1: Certified(0.5, 2.0), 2: Certified(0.25, 0.5),
              3: Certified(1.0, 1.5)}  # fmt: skip
    shares = HiddenShares(values, (values[0], values[0]), None, None)
    assert shares.worth_of_knowing(0).ends == pytest.approx((0.5, 1.25))
    assert shares.worth_of_knowing(1).ends == pytest.approx((0.0, 1.0))


def test_an_estimated_share_is_a_part_of_the_whole() -> None:
    share = Estimate(1.0, 0.5, 3.0, 0.95)
    found = hidden_shares._over(share, Certified(4.0, 6.0))
    assert (found.lower, found.estimate, found.upper) == (0.5 / 6.0, 0.2, 0.75)
    found = hidden_shares._over(share, Certified(0.5, 1.0))
    assert (found.lower, found.estimate, found.upper) == (0.5, 1.0, 1.0)
    found = hidden_shares._over(share, Certified(0.0, 1.0))
    assert (found.lower, found.upper) == (0.5, 1.0)


def test_an_estimated_leader_is_above_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[set[int]] = []

    def shares(*ends: tuple[float, float], whole: float = 4.0) -> HiddenShares:
        def values(losses: Any, sets: Any) -> dict[int, Certified]:
            asked.append(set(sets))
            return {each: Certified(whole, whole) for each in asked[-1]}

        def sampled(orders: Any, values: Any, *, confidence: float) -> Any:
            assert (orders.players, len(orders.orders), confidence) == (3, 10, 0.9)
            assert {each for order in orders.prefixes for each in order} <= set(values)
            return tuple(Estimate(0.5 * (a + b), a, b, confidence) for a, b in ends)

        monkeypatch.setattr(hidden_shares, "losses_of_sets", values)
        monkeypatch.setattr(hidden_shares, "sampled_shares", sampled)
        given: Any = Stand(
            parts=Stand(relevant=(0, 1, 2)), effort=Stand(seed=5), rounding=0.0
        )
        return hidden_shares.estimated_shares(given, pairs=5, confidence=0.9)

    found = shares((0.5, 1.0), (1.25, 2.0), (0.0, 1.125))
    assert found.leader == 1
    assert found.parts is not None
    assert [each.ends for each in found.parts] == [
        (0.125, 0.25), (0.3125, 0.5), (0.0, 0.28125),
    ]  # fmt: skip
    assert shares((0.5, 1.0), (1.25, 2.0), (0.0, 1.25)).leader is None
    assert shares((2.5, 3.0), (1.25, 2.0), (0.0, 1.25)).leader == 0
    nothing = shares((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), whole=0.0)
    assert (nothing.parts, nothing.leader) == (None, None)
    assert all({0, 7, 1, 2, 4, 6, 5, 3} <= each for each in asked)


def test_a_whole_within_ten_roundings_is_nothing() -> None:
    given: Any = Stand(rounding=0.125)
    nothing = hidden_shares._nothing
    assert nothing(Certified(0.0, 1.25), given)
    assert not nothing(Certified(0.0, 1.26), given)
    assert not nothing(Certified(0.1, 1.0), given)


@pytest.mark.parametrize("told", [all_sets(3), sets_of_orders(4, 3, 7)])
def test_weights_of_told_sets_add_up_to_all_less_none(told: Any) -> None:
    """Whatever the game, shares sum to v(all) - v(none), order by order."""
    every = 2**told.players - 1
    difference = told.difference(every, 0)
    for draw in told.shares:
        np.testing.assert_allclose(draw.sum(axis=0), difference, atol=1e-12)
        np.testing.assert_allclose(draw.sum(axis=1), 0.0, atol=1e-12)
    assert not told.shares.flags.writeable
    for player in range(told.players):  # what a player adds is 1 in a game of its own
        game = np.array([each >> player & 1 for each in told.sets], float)
        for draw in told.shares:
            np.testing.assert_allclose(draw @ game, np.eye(told.players)[player])
    assert {1 << at for at in range(told.players)} <= set(told.sets)
    assert {every ^ 1 << at for at in range(told.players)} <= set(told.sets)


# what is asked for, and words


def test_requests_are_checked_at_their_limits() -> None:
    asking._check(0, 4)
    for bad in ((-1, 4), (0, 3)):
        with pytest.raises(InvalidArgument):
            asking._check(*bad)
    assert telling._sets(telling.MOST_EXACT, 24, 0).shares.shape[0] == 1
    sampled = telling._sets(telling.MOST_EXACT + 1, 25, 0)
    assert sampled.shares.shape[0] == 12  # half as many, each with its reverse
    assert telling._sets(60, 4, 0).players == 60
    with pytest.raises(InvalidArgument):
        telling._sets(61, 4, 0)


def test_a_table_of_sets_is_exact_for_few_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = []

    def few(parts: Any, most: int) -> bool:
        asked.append(most)
        return most > 5

    monkeypatch.setattr(asking, "at_most_so_many_plans", few)
    assert asking._exact(Stand(relevant=range(1)), 0)
    assert not asked
    assert asking._exact(Stand(relevant=range(12)), 6)
    assert not asking._exact(Stand(relevant=range(12)), 5)
    assert not asking._exact(Stand(relevant=range(13)), 6)
    assert not asking._exact(Stand(relevant=range(60)), 6)
    with pytest.raises(InvalidArgument):
        asking._exact(Stand(relevant=range(61)), 6)


def test_a_nominal_model_has_a_name_or_a_number_below_the_count() -> None:
    parts: Any = Stand(latent=mixed_class(np.random.default_rng(0), {"a": 2, "b": 2}))
    assert [asking._member(parts, str(at)) for at in range(4)] == [0, 1, 2, 3]
    for bad in ("4", "-1", "1.0", "9" * 10):
        with pytest.raises(InvalidArgument):
            asking._member(parts, bad)


def test_notes_about_shares_follow_from_what_was_found() -> None:
    def codes(**changes: Any) -> list[str]:
        size = changes.pop("size", 2)
        parts = Stand(
            names=("a", "b"),
            relevant=changes.pop("relevant", (0, 1)),
            codes=np.array([[0, 0], [0, 1]], np.int32),
            first_equal=np.array([0, 1]),
            possible=np.arange(2),
            latent=Stand(simulators=range(size)),
            values_of=lambda part: (0,) if part == 0 else (0, 1),
        )
        oracle = Stand(compared=changes.pop("compared", None))
        given: Any = Stand(
            parts=parts, oracle=oracle, unfinished=changes.pop("unfinished", set())
        )
        usual: dict[str, Any] = {"pairs": None, "mixed": True, "confidence": 0.95}
        return [each.code for each in notes_of(given, **{**usual, **changes})]

    usual = ["tells-everything"]  # no two models have the same b
    assert codes() == usual
    assert codes(relevant=(1,)) == ["no-effect"]
    assert codes(unfinished={1}) == ["time-limit", *usual]
    assert codes(pairs=5) == ["sampled-orders", *usual]
    assert codes(mixed=False) == ["no-nominal-shares", *usual]
    assert codes(compared=np.arange(2)) == [*usual, "some-pairs"]
    assert codes(size=3) == [*usual, "without-prior-weight"]


def test_weights_of_codes_make_every_row_another_number() -> None:
    def radix(*counts: int) -> Any:
        return ignoring._radix(Stand(labels=[range(count) for count in counts]))

    weights = radix(2, 3, 4)
    rows = np.array([*product(range(2), range(3), range(4))])
    assert sorted((rows @ weights).tolist()) == list(range(24))
    assert radix(2**31, 2**30) is not None
    assert radix(2**31, 2**31) is None


def test_the_headline_names_all_that_may_be_largest() -> None:
    def said(*ends: tuple[float, float], noise: float = 0.0) -> str:
        none = Certified(0.0, 0.0)
        every: Any = [
            Stand(name=name, share=Certified(*each), part=none)
            for name, each in zip("uvwxyz", ends, strict=False)
        ]
        return headline(every, Certified(1.0, 1.0), None, noise=noise)

    assert "u or v first" in said((0.5, 0.8), (0.1, 0.5), (0.1, 0.49))
    assert "u or v or w first" in said((0.5, 0.8), (0.1, 0.5), (0.1, 0.49), noise=0.01)
    assert "u and v:" in said((0.5, 0.5), (0.49, 0.5), (0.1, 0.2))
    assert "u or v first" in said((0.5, 0.5), (0.48, 0.5), (0.1, 0.2))
    assert "Measure u:" in said((0.5, 0.5), (0.0, 0.0))


def test_pairs_of_sets_are_all_there() -> None:
    told = all_sets(3)
    assert told.sets == tuple(range(8))
    assert told.names(("a", "b", "c"))[5] == ("a", "c")
    for one, other in combinations(range(8), 2):
        weights = told.difference(one, other)
        assert weights[one] == 1.0 and weights[other] == -1.0 and weights.sum() == 0.0


def test_shares_of_a_nominal_plan_have_a_largest_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two parts, four models: 16 numbers. Gaps of the plan are 0, 1, 2 and 4."""
    parts = hidden_parts.hidden_parts(
        mixed_class(np.random.default_rng(0), {"a": 2, "b": 2})
    )
    gaps = np.array([0.0, 1.0, 2.0, 4.0])
    plan = ignoring.NominalPlan(0, np.zeros((1, 3), np.int32), gaps, 0.125)
    monkeypatch.setattr(ignoring, "LARGEST_TABLE", 16)
    found = ignoring.ignored_shares(parts, plan)
    # a alone: (0 + 0 + 2 + 2) / 4, b alone: 2 / 4, both: 7 / 4
    exact = (0.5 * (1.0 + 1.75 - 0.5), 0.5 * (0.5 + 1.75 - 1.0))
    for each, truth in zip(found, exact, strict=True):
        assert each.ends == pytest.approx((truth - 0.25, truth + 0.25))
    monkeypatch.setattr(ignoring, "LARGEST_TABLE", 15)
    assert ignoring.ignored_shares(parts, plan) is None
    monkeypatch.setattr(ignoring, "LARGEST_TABLE", 16)
    monkeypatch.setattr(ignoring, "MOST_PLAYERS", 1)
    assert ignoring.ignored_shares(parts, plan) is None


def test_the_middle_is_of_possible_models_and_ranges_count_alike() -> None:
    def middle(values: Any, prior: list[float]) -> int:
        theta = Stand(values=np.array(values, float).reshape(len(values), -1))
        weights = np.array(prior)
        parts: Any = Stand(
            possible=np.flatnonzero(weights > 0.0),
            latent=Stand(prior=weights, simulators=Stand(theta=theta)),
        )
        return int(ignoring.middle_model(parts))

    assert middle([(0.0,), (1.0,), (2.0,), (9.0,)], [0.3, 0.4, 0.3, 0.0]) == 1
    # 40 of 100 and 0.5 of 1 are nearer the middle than 50 of 100 and 0.3 of 1
    wide = [(0.0, 0.0), (100.0, 1.0), (50.0, 0.3), (40.0, 0.5)]
    assert middle(wide, [0.25] * 4) == 3
    assert middle([(0.0,), (1.0,)], [0.25, 0.75]) == 1
    assert middle([(0.0,), (1.0,)], [0.5, 0.5]) == 0
    assert middle([(), (), ()], [0.25, 0.5, 0.25]) == 1
    same = [(1.0, 0.0), (1.0, 1.0), (1.0, 2.0)]  # one value has no range
    assert middle(same, [0.3, 0.4, 0.3]) == 1
