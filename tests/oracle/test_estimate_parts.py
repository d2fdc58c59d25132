"""Parts of an estimate: which episodes, how long, what they can lose at most."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.oracle import estimate, to_run
from simgap.oracle.baselines import posterior_sampling
from simgap.oracle.bounded.points import no_vectors
from simgap.oracle.episode_design import number_of_strata, of_models, of_neighbours
from simgap.oracle.estimate import (
    _check,
    _first_posteriors,
    _slopes,
    _World,
    estimated_gaps_per_model,
)
from simgap.oracle.loss_form import loss_form
from simgap.oracle.to_run import belief_policy
from simgap.statistics import Part
from tests.oracle.forms import coin_form, discounted_form
from tests.policies.cases import greedy_policy, random_latent, vector_policy


def test_a_world_knows_whether_the_policy_is_made_for_it() -> None:
    greedy = greedy_policy(coin_form())
    world = _World.of(coin_form(), greedy)
    assert world.right_posterior and world.own_losses and not world.signed
    assert world.greedy
    assert world.largest == coin_form().losses.max()
    assert world.slopes.tolist() == [world.largest] * 3 and world.spare == 0.0
    other = _World.of(coin_form(), replace(greedy, prior=np.array([0.5, 0.25, 0.25])))
    assert not other.right_posterior and not other.greedy
    assert np.isinf(other.slopes).all()
    copied = _World.of(coin_form(), replace(greedy, losses=coin_form().losses.copy()))
    assert copied.own_losses
    signed = _World.of(coin_form(), replace(greedy, losses=coin_form().losses - 0.25))
    assert signed.signed and not signed.own_losses
    vectors = _World.of(
        coin_form(), vector_policy(np.random.default_rng(0), coin_form())
    )
    assert not vectors.greedy


def test_steps_and_their_worth() -> None:
    finite = _World.of(coin_form(), greedy_policy(coin_form()))
    endless = _World.of(discounted_form(), greedy_policy(discounted_form()))
    assert (finite.steps_worth, endless.steps_worth) == (10.0, 4.0)
    assert finite._length(1e-3) == 10
    whole = endless.largest * 4.0
    for enough in (0.3 * whole, 1e-6 * whole):
        steps = endless._length(enough)
        assert 0.75**steps * whole <= enough < 0.75 ** (steps - 1) * whole
    assert endless._length(whole) == 1


@pytest.mark.parametrize("greedy", [False, True])
def test_no_episode_loses_more_than_the_worst_of_its_steps(greedy: bool) -> None:
    """Of states and actions at every step; of a greedy one the best of the worst."""
    chosen = np.array([True, False, True])
    world = _World.of(coin_form(), greedy_policy(coin_form()))
    total = 0.0
    for h in range(10):
        worst = 0.0
        for s in range(2):
            of_actions = [
                max(float(coin_form().losses[h, s, a, m]) for m in (0, 2))
                for a in range(2)
            ]
            worst = max(worst, min(of_actions) if greedy else max(of_actions))
        total += worst
    found = world.most_per_episode(chosen, greedy=greedy)
    assert found == pytest.approx(total, rel=1e-14)
    nobody = world.most_per_episode(np.zeros(3, np.bool_), greedy=greedy)
    assert nobody == 0.0
    endless = _World.of(discounted_form(), greedy_policy(discounted_form()))
    losses = discounted_form().losses[0][..., chosen].max(axis=2)
    step = losses.min(axis=1).max() if greedy else losses.max()
    assert endless.most_per_episode(chosen, greedy=greedy) == 4.0 * step


def test_a_settled_belief_loses_by_the_vector_that_is_zero_in_its_model() -> None:
    """Three vectors of one state, none of another, two of a third."""
    rows = np.array([[0.0, 5.0], [3.0, 0.0], [1.0, 1.0], [0.0, 2.0], [4.0, 0.0]])
    policy: Any = SimpleNamespace(
        prior=np.ones(2), vectors=rows, vector_offsets=np.array([0, 3, 3, 5])
    )
    slopes, spare = _slopes(policy, 0.5)
    assert slopes.tolist() == [5.5, 4.5]
    assert spare == 5e-13
    policy.vectors = rows + 1e-12 * (rows == 0.0)
    assert np.isinf(_slopes(policy, 0.5)[0]).all()
    policy.vectors = rows[:0]
    assert _slopes(policy, 0.5)[0].tolist() == [0.5, 0.5]


def test_first_states_are_spread_evenly_over_the_episodes_of_a_model() -> None:
    design = of_models(np.array([2, 0, 3]))
    assert design.models.tolist() == design.stratum.tolist() == [0, 0, 2, 2, 2]
    third = 1.0 / 3.0
    wanted = [[0, 0.5], [0.5, 0.5], [0, third], [third, third], [2 * third, third]]
    assert design.quantiles == pytest.approx(np.array(wanted))


def test_strata_of_neighbours_have_their_weights() -> None:
    prior = np.array([0.1, 0.2, 0.0, 0.3, 0.15, 0.25])
    design, weights = of_neighbours(prior, 2, 3, seed=-1)
    assert weights == pytest.approx([0.6, 0.4])
    assert design.stratum.tolist() == [0, 0, 0, 1, 1, 1]
    assert set(design.models[:3].tolist()) <= {0, 1, 3}
    assert set(design.models[3:].tolist()) <= {4, 5}
    assert (design.quantiles == [0.0, 1.0]).all()
    again, _ = of_neighbours(prior, 2, 3, seed=2**64 - 1)
    assert (again.models == design.models).all()
    for members, episodes, strata in (
        (40, 2, None), (41, 2, 8), (41, 327, 40), (41, 328, None), (100, 79, 9),
    ):  # fmt: skip
        form: Any = SimpleNamespace(latent=SimpleNamespace(prior=np.ones(members)))
        assert number_of_strata(form, episodes) == strata


def test_first_posteriors_are_those_of_bayes() -> None:
    rng = np.random.default_rng(4)
    form = loss_form(random_latent(rng, states=4, members=3), horizon=2)
    laws = np.stack([form.latent.simulators.start_law(m) for m in range(3)])
    found = _first_posteriors(greedy_policy(form))
    for state, m in product(range(4), range(3)):
        total = float(form.latent.prior @ laws[:, state])
        wanted = form.latent.prior[m] * laws[m, state] / total if total else 0.0
        assert found[state, m] == pytest.approx(wanted)


def test_every_model_has_its_share_of_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """25 for three models are nine each, and no model has fewer than eight."""
    counted: list[list[int]] = []
    real = _World.sample

    def noted(self: _World, counts: Any, seed: int) -> Any:
        counted.append(counts.tolist())
        return real(self, counts, seed)

    monkeypatch.setattr(_World, "sample", noted)
    policy = greedy_policy(coin_form())
    for episodes in (25, 2):
        found = estimated_gaps_per_model(coin_form(), policy, episodes=episodes, seed=0)
        assert len(found) == 3
    assert counted == [[9] * 3, [8] * 3]


@pytest.mark.parametrize("change", ["horizon", "discount", "prior"])
def test_a_policy_of_another_problem_is_not_estimated(change: str) -> None:
    policy: Any = SimpleNamespace(
        pattern=coin_form().pattern,
        horizon=10,
        discount=1.0,
        prior=coin_form().latent.prior,
    )
    _check(coin_form(), policy, 10, 0, 0.95)
    setattr(policy, change, np.ones(2) / 2 if change == "prior" else 9)
    with pytest.raises(InvalidArgument):
        _check(coin_form(), policy, 10, 0, 0.95)


def test_the_better_policy_is_chosen_by_a_quarter_of_the_episodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Even seeds choose and odd ones judge; the confidence is that of the interval."""
    asked: list[dict[str, Any]] = []

    def estimated(form: object, policy: Any, **how: Any) -> Any:
        asked.append(how)
        return SimpleNamespace(estimate=float(len(policy.vectors)))

    monkeypatch.setattr(to_run, "estimated_gap", estimated)
    plain = belief_policy(coin_form(), no_vectors(coin_form()))
    more: Any = SimpleNamespace(vectors=[1, 2])
    policy, gap = to_run._estimated(coin_form(), [more, plain], 40, 7)
    assert policy is plain and gap.estimate == 0.0
    pilot = {"episodes": 10, "seed": 14}
    judged = {"episodes": 40, "seed": 15, "confidence": 0.95}
    assert asked == [pilot, pilot, judged]
    to_run._estimated(coin_form(), [plain], 3, 0)
    assert asked[3]["episodes"] == 2


def captured(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> list[tuple[list[Part], float, dict[str, Any]]]:
    """Return what the means of a module are asked with, from now on."""
    asked: list[tuple[list[Part], float, dict[str, Any]]] = []

    def mean(parts: list[Part], confidence: float, **more: Any) -> None:
        asked.append((parts, confidence, more))

    monkeypatch.setattr(module, "estimated_mean", mean)
    return asked


def test_episodes_of_sampling_cost_what_is_counted_and_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = captured(posterior_sampling, monkeypatch)
    form = replace(discounted_form(), rounding=0.25)
    costs, weights = np.arange(6.0).reshape(3, 2), np.array([0.5, 0.5, 0.0])
    posterior_sampling._interval(form, costs, weights, 8.0, 0.5, 0.9)
    ((parts, confidence, more),) = asked
    assert confidence == 0.9
    assert more == {"least": 0.0, "greatest": 8.25, "rounding": 0.25}
    assert [each.weight for each in parts] == [0.5, 0.5, 0.0]
    for each, row in zip(parts, costs, strict=True):
        assert (each.values == row).all()
        assert (each.low, each.high) == (-0.25, 8.75)
        assert each.short is not None and each.short.tolist() == [0.5, 0.5]


def test_episodes_of_a_belief_policy_are_one_part_for_every_stratum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rounding of the losses, and what slopes leave out in each of four steps."""
    asked = captured(estimate, monkeypatch)
    world = _World.of(discounted_form(), greedy_policy(discounted_form()))
    form = replace(discounted_form(), rounding=0.25)
    world = replace(world, form=form, spare=0.0625)
    sample: Any = SimpleNamespace(
        stratum=np.array([0, 0, 2, 1]), dropped=np.array([1.0, 2, 3, 4]), enough=0.125
    )
    values, weights = np.array([5.0, 6, 7, 8]), np.array([0.5, 0.0, 0.5])
    estimate._interval(sample, values, weights, 8.0, world, 0.9, guaranteed=True)
    ((parts, confidence, more),) = asked
    assert confidence == 0.9
    assert more["guaranteed"] and (more["least"], more["greatest"]) == (0.0, 8.5)
    assert more["rounding"] == 0.5 and more["method"] == ""
    assert [each.values.tolist() for each in parts] == [[5.0, 6.0], [7.0]]
    assert [each.short.tolist() for each in parts if each.short is not None] == [
        [1.0, 2.0],
        [3.0],
    ]
    assert {(each.low, each.high, each.weight) for each in parts} == {
        (-0.5, 8.625, 0.5)
    }
    assert all(each.one_law for each in parts)  # all coins begin in one state
    other = replace(world, right_posterior=False)
    estimate._interval(sample, values, weights, 8.0, other, 0.9, guaranteed=False)
    assert asked[1][2]["method"] and not asked[1][2]["guaranteed"]
