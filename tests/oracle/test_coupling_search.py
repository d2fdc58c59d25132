"""The search for pairs of models that prove a bound: pairs, weights and prices."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.instances import bandit
from simgap.mdp import LatentMDP
from simgap.oracle.baselines import coupled
from simgap.oracle.baselines.coupled import _peaks, _promising, _Search
from simgap.oracle.baselines.coupled_pair import (
    _first_states,
    coupled_pair,
    model_table,
)
from simgap.oracle.loss_form import loss_form
from tests.oracle.test_coupled import problems
from tests.reference.coupled import pair_bound

ARMS = [[0.9, 0.1], [0.1, 0.9], [0.8, 0.2], [0.5, 0.5]]


def test_lines_through_known_bounds_meet_at_the_peak() -> None:
    """min(2 w, 1 - w) has its peak 2/3 at 1/3; elsewhere one stays off the ends."""
    known = [(w, min(2.0 * w, 1.0 - w)) for w in (0.0, 0.1, 0.2, 0.6, 0.8, 1.0)]
    found = list(_peaks(known))
    assert [each for each, _ in found] == pytest.approx([0.05, 0.19, 1 / 3, 0.62, 0.9])
    assert [above for _, above in found] == pytest.approx([0.2, 0.38, 2 / 3, 0.38, 0.2])


def test_nothing_is_promised_on_a_line_in_a_narrow_place_or_at_zero() -> None:
    line = [(0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (0.75, 0.75)]
    assert list(_peaks(line)) == [(0.125, 0.25), (0.625, 0.75)]
    ((middle, above),) = _peaks([(0.0, 0.0), (0.0009, 1.0), (1.0, 0.0)])
    assert middle == pytest.approx(0.50045) and above == 1.0
    assert list(_peaks([(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)])) == []
    falling = [(0.0, 0.0), (0.5, 1.0), (1.0, 0.0)]
    assert list(_peaks(falling)) == [(0.25, 1.0), (0.75, 1.0)]


def test_pairs_come_by_what_they_disagree_about_and_every_model_in_turn() -> None:
    """The first two lose 0.8 together, 1 and 2 lose 0.6, and all others nothing."""
    wanted = [(0, 1), (2, 3), (1, 2), (0, 3), (0, 2), (1, 3)]
    form = loss_form(LatentMDP.uniform(bandit(ARMS)), horizon=2)
    assert _promising(form) == wanted
    prior = np.array([0.0, 0.25, 0.25, 0.25, 0.25])
    later = loss_form(LatentMDP(bandit([[0.5, 0.9], *ARMS]), prior), horizon=2)
    assert _promising(later) == [(i + 1, j + 1) for i, j in wanted]
    heavy = LatentMDP(bandit(ARMS), np.array([0.01, 0.33, 0.33, 0.33]))
    assert _promising(loss_form(heavy, horizon=2))[0] == (1, 2)  # weighted by the prior
    many = loss_form(LatentMDP.uniform(bandit(ARMS * 10)), horizon=2)
    assert 256 < len(_promising(many)) <= 256 + 20


def test_many_losses_are_looked_at_in_some_places_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Five of nine steps, the even ones: there models 1 and 2 disagree."""
    losses = np.zeros((9, 1, 2, 3))
    losses[1::2, 0, 0, 0] = losses[1::2, 0, 1, 1] = 9.0
    losses[::2, 0, 0, 1] = losses[::2, 0, 1, 2] = 1.0
    form: Any = SimpleNamespace(
        losses=losses,
        latent=SimpleNamespace(prior=np.full(3, 1.0 / 3.0)),
        pattern=SimpleNamespace(n_actions=2),
    )
    assert _promising(form)[0] == (0, 1)
    monkeypatch.setattr(coupled, "COMPARED", 5 * 3**2 * 2)
    assert _promising(form)[0] == (1, 2)


def searched(
    prior: list[float], found: dict[tuple[int, int], dict[float, float]]
) -> _Search:
    form: Any = SimpleNamespace(latent=SimpleNamespace(prior=np.array(prior)))
    search = _Search(form, 0, 1.0)
    search.found.update(found)
    return search


def test_pairs_share_what_the_prior_has_and_prices_say_where_it_is_short() -> None:
    """1 l + 2 m with l <= .6, l + m <= .8, m <= .6: at most .2 + 1.2 by hand."""
    pairs = {
        (0, 1): {0.0: 0.0, 0.5: 1.0, 1.0: 0.0},
        (1, 2): {0.0: 0.0, 0.5: 2.0, 1.0: 0.0},
    }
    search = searched([0.3, 0.4, 0.3, 0.0], pairs)
    bound, prices = search.combined()
    assert 1.4 * (1.0 - 1e-6) < bound < 1.4
    assert prices == pytest.approx([0.0, 2.0, 2.0, 0.0], abs=1e-6)
    assert search.spent == coupled.WORK_OF_A_PROGRAM
    uneven = searched([0.3, 0.7], {(0, 1): {0.25: 1.0}})  # .7 / .75 is less than 1.2
    assert uneven.combined()[0] == pytest.approx(0.7 / 0.75)
    nothing, prices = searched([0.5, 0.5], {(0, 1): {0.5: 0.0}}).combined()
    assert nothing == 0.0 and not prices.any()


@pytest.mark.parametrize(
    ("prices", "least", "wanted"),
    [
        ((0.0, 0.0), 0.6, [(0, 1, 0.25)]),
        ((0.0, 0.0), 0.67, []),
        ((1.0, 0.0), 0.49, [(0, 1, 0.25)]),
        ((1.0, 0.0), 0.51, []),
        ((0.0, 1.0), 0.49, [(0, 1, 0.75)]),
        ((0.0, 1.0), 0.51, []),
    ],
)
def test_the_weight_is_wanted_that_promises_most_above_its_price(
    prices: tuple[float, float], least: float, wanted: list[tuple[int, int, float]]
) -> None:
    """A quarter or three: 2/3 times of a pair that reaches 1, less 0, 1/4 or 3/4."""
    search = searched([0.5, 0.5], {(0, 1): {0.0: 0.0, 0.5: 1.0, 1.0: 0.0}})
    assert search.wanted(np.array(prices), least) == wanted


def test_the_four_best_pairs_are_wanted_first() -> None:
    points = {
        (0, j): {0.0: 0.0, 0.5: float(value), 1.0: 0.0}
        for j, value in enumerate((3, 1, 5, 2, 4), start=1)
    }
    wanted = searched([1.0 / 6.0] * 6, points).wanted(np.zeros(6), 0.0)
    assert [j for _, j, _ in wanted] == [3, 5, 1, 4]


@pytest.mark.parametrize("window", [0, 1])
def test_a_pair_is_bounded_as_its_twin_in_fractions(window: int) -> None:
    """Laws of two states have one best coupling: only rounding is below the twin."""
    arms = bandit([[0.9, 0.1], [0.3, 0.8]])
    for prior in ([0.5, 0.5], [0.25, 0.75]):
        form = loss_form(LatentMDP(arms, np.array(prior)), horizon=3)
        pair = coupled_pair(
            form, model_table(form, 0), model_table(form, 1), window, 1e7
        )
        twin = pair_bound(form, (0, 1), prior[0], steps=3, window=window)
        found = Fraction(pair.bound(prior[0]))
        assert twin * (1 - Fraction(1, 10**11)) < found <= twin
        assert twin > 0


def test_steps_are_followed_as_far_as_the_work_allows() -> None:
    """A bound over fewer steps is that of the episode cut short, as losses go."""
    form = next(iter(problems(5, 1)))
    one, two = model_table(form, 0), model_table(form, 1)
    whole = coupled_pair(form, one, two, 0, 1e9)
    assert whole.ends.size == form.steps
    assert len(whole.places) == whole.ends[-1]
    each = whole.work / whole.ends.sum()
    for steps in range(1, form.steps + 1):
        work = float(whole.ends[:steps].sum()) * each
        part = coupled_pair(form, one, two, 0, work * (1.0 + 1e-9))
        less = coupled_pair(form, one, two, 0, work * (1.0 - 1e-9))
        assert part.ends.size <= steps
        assert less.ends.size < steps
        assert part.work <= work * (1.0 + 1e-9)
    assert coupled_pair(form, one, two, 0, 0.0).bound(0.5) == 0.0
    discounted = loss_form(form.latent, discount=0.75)
    table = model_table(discounted, 0), model_table(discounted, 1)
    assert coupled_pair(discounted, *table, 0, 1e9).ends.size == 25  # .75^24 > 1e-3


def test_of_too_many_first_states_those_of_both_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = import_module("simgap.oracle.baselines.coupled_pair")
    one: Any = SimpleNamespace(start=np.array([0.5, 0.5, 0.0]))
    two: Any = SimpleNamespace(start=np.array([0.0, 0.5, 0.5]))
    into, onto, free = _first_states(one, two)
    assert (into.tolist(), onto.tolist(), free) == ([0, 1], [1, 2], True)
    monkeypatch.setattr(module, "MOST_STARTS", 4)
    assert _first_states(one, two)[2]
    monkeypatch.setattr(module, "MOST_STARTS", 3)
    into, onto, free = _first_states(one, two)
    assert (into.tolist(), onto.tolist(), free) == ([1], [1], False)


def test_all_pairs_of_first_states_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those that are equal with a window that is full; of too many only the equal."""
    form = loss_form(LatentMDP.uniform(bandit([[0.9, 0.1], [0.3, 0.8]])), horizon=1)
    anywhere = np.full(form.pattern.n_states, 1.0 / form.pattern.n_states)
    one, two = (replace(model_table(form, m), start=anywhere) for m in range(2))
    states = range(form.pattern.n_states)
    pairs = [[3 if s == t else 0, s, t] for s in states for t in states]
    assert coupled_pair(form, one, two, 3, 1e9).places.tolist() == pairs
    module = import_module("simgap.oracle.baselines.coupled_pair")
    monkeypatch.setattr(module, "MOST_STARTS", 1)
    equal = [[3, s, s] for s in states]
    assert coupled_pair(form, one, two, 3, 1e9).places.tolist() == equal


def test_what_a_model_cannot_do_is_not_in_its_table() -> None:
    form = loss_form(LatentMDP.uniform(bandit([[1.0, 0.5], [0.0, 0.5]])), horizon=2)
    table = model_table(form, 0)
    assert table.begin.tolist() == [0, 1, 3, 4, 6]
    assert table.state.tolist() == [1, 0, 1, 1, 0, 1]
    assert table.chance.tolist() == [1.0, 0.5, 0.5, 1.0, 0.5, 0.5]
    assert table.longest == 2
    assert (table.losses == form.losses[..., 0]).all()
    assert table.start.tolist() == form.latent.simulators.start_law(0).tolist()
