"""The parts of an audit that measure something, against closed forms and by hand.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.audit import grading, large_oracle, memoryless, separation
from simgap.answers.audit.facts import _in_part
from simgap.answers.audit.separation import Apart, models_apart, separation_finding
from simgap.answers.audit.ways_back import (
    WaysBack,
    farthest_hops,
    ways_back,
    ways_back_finding as way_finding,
)
from simgap.answers.class_facts import measured_class
from simgap.answers.weighted_models import weighted_models
from simgap.intervals import Certified, Estimate
from simgap.mdp import LEAST_REWARD, Details
from simgap.oracle import Outcome
from simgap.planning import diameter
from tests.answers.audit_cases import apart_of, coin, coins, latent_of, signs
from tests.answers.test_class_numbers import WIDTH, tosses

losing: Any = import_module("simgap.answers.audit.losses")
facts_of_audits: Any = import_module("simgap.answers.audit.facts")
growing: Any = import_module("simgap.answers.over_horizons")


# how models differ


def test_rewards_that_cancel_have_a_gain_between_themselves() -> None:
    kernel = signs().simulators.transitions.model(0)
    tiny = np.array([[0.0, 0.0], [0.5 * LEAST_REWARD] * 2])
    assert separation._gain(kernel, tiny).tolist() == [
        -0.5 * LEAST_REWARD,
        0.5 * LEAST_REWARD,
    ]
    least = np.array([[0.0, 0.0], [LEAST_REWARD] * 2])
    exact = pytest.approx([LEAST_REWARD] * 2, rel=1e-6, abs=0.0)
    assert separation._gain(kernel, least) == exact


def test_first_states_that_say_the_same_are_one() -> None:
    """Three states: two of them say 3 to 1, the third says it is the second model."""
    start = np.array([[0.6, 0.4, 0.0, 0.0], [0.3, 0.2, 0.5, 0.0]])
    kernel = np.full((4, 2, 4), 0.25)
    latent = latent_of(
        [kernel] * 2, np.zeros((4, 2)), prior=(0.6, 0.4), details=Details(start=start)
    )
    found = separation._weights_by_first_state(weighted_models(latent), (0, 1))
    assert sorted(each.tolist() for each in found) == [
        pytest.approx([0.0, 0.2]),
        pytest.approx([0.6, 0.2]),
    ]


def test_work_that_is_too_much_is_left_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    latent = signs()
    models, every = weighted_models(latent), latent.simulators
    entries = every.transitions.nonzeros
    # two models and one mean, in two states
    monkeypatch.setattr(separation, "MOST_GAIN_WORK", 3 * 2 * entries)
    known = separation._lost(models, ((0, 1),), ways_back=True)
    assert known is not None and known.lower == pytest.approx(0.5)
    assert known.upper == pytest.approx(0.5)
    assert separation._lost(models, ((0, 1),), ways_back=False) is None
    assert separation._lost(models, (), ways_back=False) == Certified(0.0, 0.0)
    monkeypatch.setattr(separation, "MOST_GAIN_WORK", 3 * 2 * entries - 1)
    assert separation._lost(models, ((0, 1),), ways_back=True) is None
    three = coins(0.1, 0.5, 0.9).simulators
    pairs = 3 * three.transitions.nonzeros
    monkeypatch.setattr(separation, "MOST_COMPARISONS", pairs)
    assert separation._nearest(three) is not None
    monkeypatch.setattr(separation, "MOST_COMPARISONS", pairs - 1)
    assert separation._nearest(three) is None
    monkeypatch.undo()
    assert separation._nearest(coins(0.1).simulators) is None
    monkeypatch.setattr(separation, "MOST_MODELS", 3)
    assert separation._nearest(three) is not None
    monkeypatch.setattr(separation, "MOST_MODELS", 2)
    assert separation._nearest(three) is None


def test_the_hardest_pair_is_named_as_the_whole_class_names_it() -> None:
    latent = coins(0.1, 0.5, 0.2, 0.9, prior=(0.25, 0.0, 0.5, 0.25))
    models, apart = weighted_models(latent), apart_of(latent)
    found = apart.hardest(models)
    assert (found.pair, found.pair_names) == ((0, 2), ("model 0", "model 2"))
    assert (found.state, found.action) == (0, 0)
    assert (found.state_name, found.action_name) == ("0", "0")
    assert found.value == pytest.approx(0.2)
    assert apart.experiment is not None
    assert (found.visits, found.steps) == (
        apart.experiment.visits,
        apart.experiment.steps,
    )
    assert apart.different == 3 and apart.loss_per_step == Certified(0.0, 0.0)
    one = apart_of(coins(0.3))
    assert one.value == 2.0 and one.hardest(weighted_models(coins(0.3))).pair is None
    many = Apart(None, None, (), (), 2, None)
    assert many.value is None
    assert Apart(None, None, ((0, 1),), (), 1, None).value is None
    found_many = separation_finding(models, many, 5)
    assert found_many.code == "not-measured"


def test_models_that_move_alike_within_reach_are_warned_about() -> None:
    both = signs()
    assert separation_finding(weighted_models(both), apart_of(both), 5).code == (
        "move-alike"
    )
    kernels = []
    for chance in (0.2, 0.9):  # they differ in a state that nothing leads to
        P = np.zeros((3, 2, 3))
        P[:2, :, :2] = coin(0.5)
        P[2, :, 0], P[2, :, 1] = chance, 1.0 - chance
        kernels.append(P)
    far = latent_of(kernels, np.zeros((3, 2)))
    models = weighted_models(far)
    found = models_apart(models, ways_back(models.simulators))
    assert found.alike == ((0, 1),) and found.different == 1
    assert separation_finding(models, found, 5).code == "move-alike-within-reach"


# ways back


def chain(length: int, *, back: bool = True) -> Any:
    """States in a row: action 0 moves on, action 1 goes back to the first or stays."""
    P = np.zeros((length, 2, length))
    for s in range(length):
        P[s, 0, min(s + 1, length - 1)] = 1.0
        P[s, 1, 0 if back else s] = 1.0
    return P


def test_the_farthest_state_is_as_many_moves_away_as_it_takes() -> None:
    slow, quick = chain(4), chain(4)
    quick[0, 0] = [0.0, 0.25, 0.25, 0.5]
    assert farthest_hops(latent_of([slow], np.zeros((4, 2))).simulators) == 3
    assert farthest_hops(latent_of([quick], np.zeros((4, 2))).simulators) == 1
    assert farthest_hops(latent_of([quick, slow], np.zeros((4, 2))).simulators) == 3
    late = Details(start=[[0.0, 0.0, 1.0, 0.0]] * 2)
    both = latent_of([quick, slow], np.zeros((4, 2)), details=late)
    assert farthest_hops(both.simulators) == 2  # from 2 to 0 or 3, then to 1
    one = latent_of([np.ones((1, 2, 1))], np.zeros((1, 2)))
    assert farthest_hops(one.simulators) == 0


def test_what_is_stuck_is_counted_and_named_at_its_status() -> None:
    latent = latent_of([chain(3), chain(3, back=False)], np.zeros((3, 2)))
    found = ways_back(latent.simulators)
    assert (found.broken, found.member, found.closed) == (1, 1, ((2,),))
    assert (found.missed, found.only_missed, found.sound) == ((), False, False)
    for horizon, status in ((None, "fail"), (5, "warning")):
        told = way_finding(latent.simulators, found, horizon=horizon)
        assert (told.code, told.status, told.value) == ("no-way-back", status, 1.0)
    other = WaysBack(False, 2, 0, (), (1,), False)
    told = way_finding(latent.simulators, other, horizon=5)
    assert (told.code, told.value) == ("states-of-other-models", 2.0)
    missed = WaysBack(False, 2, 0, (), (1, 2), True)
    told = way_finding(latent.simulators, missed, horizon=5)
    assert (told.code, told.value) == ("unreached-states", 2.0)
    assert missed.sound


# facts, plans and grades


def test_facts_in_part_are_those_of_the_whole_class() -> None:
    latent = tosses((0.2, 0.5), (0.9, 0.25))
    models, apart = weighted_models(latent), apart_of(latent)
    part = _in_part(models, diameter(latent.simulators), apart)
    whole = measured_class(latent, 100).facts
    assert (part.states, part.actions, part.members) == (2, 2, 2)
    assert (part.diameter, part.diameter_lower) == (
        whole.diameter,
        whole.diameter_lower,
    )
    assert part.spans is not None and whole.spans is not None
    assert part.gains is not None and whole.gains is not None
    np.testing.assert_allclose(part.spans, whole.spans)
    np.testing.assert_allclose(part.gains, whole.gains)
    assert part.residual == pytest.approx(whole.residual, abs=1e-12)
    assert part.separation == whole.separation
    assert part.reward_width == WIDTH and part.shared_rewards
    assert (part.eluder, part.covering) == (None, None)
    equal = latent_of([np.full((2, 2, 2), 0.5)] * 2, np.full((2, 2), 7.0))
    unknown: Any = Stand(nearest=None)
    flat = _in_part(weighted_models(equal), diameter(equal.simulators), unknown)
    assert (flat.separation, flat.reward_width) == (None, 0.0)
    assert flat.spans is not None and flat.spans.tolist() == [0.0, 0.0]
    own = _in_part(weighted_models(signs()), diameter(signs().simulators), apart)
    assert not own.shared_rewards


def test_facts_in_part_allow_for_what_equations_are_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = Stand(
        gain_lower=np.array([-3.0, 1.0]),
        gain_upper=np.array([-2.75, 1.5]),
        bias_span=np.array([10.0, 2.5]),
        residual=np.array([0.125, 0.0625]),
        tolerance=10.0,
    )
    monkeypatch.setattr(facts_of_audits, "solve_for_bias", lambda every: plan)
    latent = tosses((0.2, 0.5), (0.9, 0.25))  # rewards from -3 to 2
    models = weighted_models(latent)
    found = _in_part(models, diameter(latent.simulators), apart_of(latent))
    assert found.residual == pytest.approx((0.125 + 0.5 + 1.0) / WIDTH)
    assert found.spans is not None and found.spans.tolist() == [2.0, 0.5]
    assert found.gains is not None and found.gains.tolist() == [0.0, 0.8]
    assert found.separation is not None
    assert 1.4 * (1.0 - 1e-9) < found.separation < 1.4


def test_a_bracket_without_memory_is_no_less_than_with_it() -> None:
    def bracket(least: float | None, low: float) -> tuple[float, float]:
        plan: Any = Stand(average_ends=Certified(0.5, 1.0), least=least)
        return memoryless.memoryless_bracket(plan, Certified(low, 9.0)).ends

    assert bracket(0.25, 0.125) == (0.25, 1.0)
    assert bracket(0.125, 0.25) == (0.25, 1.0)
    assert bracket(None, 0.0) == (0.0, 1.0)
    assert bracket(2.0, 0.0) == (1.0, 1.0)


def test_the_value_of_known_gaps_is_what_informed_play_earns_less_them() -> None:
    form: Any = Stand(
        latent=Stand(prior=np.array([0.25, 0.75, 0.0])), informed=10.0, rounding=0.125
    )
    found = grading._value(form, np.array([2.0, 4.0, np.nan]))
    assert found.ends == pytest.approx((6.375, 6.625))


def test_three_policies_are_graded_with_what_they_earn_in_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Informed play earns 10; two of three models have weight."""
    asked: list[Any] = []

    def estimated(form: Any, policy: Any, *, episodes: int, seed: int) -> Estimate:
        assert (policy, episodes, seed) == ("belief", 100, 7)
        return Estimate(1.0, 0.5, 2.0, 0.95)

    def simulated(*given: Any, **more: Any) -> Any:
        table, _, policy, steps, known = given
        assert (table, steps, more) == ("table", 9, {"episodes": 50, "seed": 7})
        asked.append((policy, known.ends))
        return Stand(ends=known.ends)

    fakes: dict[str, Any] = {
        "simulator_of": lambda simulators: simulators,
        "episodes_to_run": lambda steps, likely: 50 if (steps, likely) == (9, 2) else 0,
        "belief_policy": lambda form, vectors: "belief",
        "estimated_gap": estimated,
        "in_simulator": simulated,
        "MarkovPolicy": lambda name, actions, rules: ("table of", actions, rules),
        "replace": lambda given, **changes: Stand(**{**vars(given), **changes}),
    }
    for name, fake in fakes.items():
        monkeypatch.setattr(grading, name, fake)
    form: Any = Stand(
        latent=Stand(prior=np.array([0.25, 0.75, 0.0]), simulators="table"),
        steps=9,
        informed=10.0,
        rounding=0.0,
        pattern=Stand(n_actions=3),
    )
    plan: Any = Stand(actions="rules", gaps=np.array([4.0, 8.0, 0.0]))
    found: Any = Stand(gaps=np.array([2.0, 4.0, 0.0]), vectors=0, policy=Stand(graph=1))
    told: Any = grading.graded(form, plan, found, 7)
    assert [each.policy for each in told] == [
        grading.GRAPH,
        grading.BELIEF,
        grading.WITHOUT,
    ]
    assert [each.ends for each in told] == [
        pytest.approx((6.5, 6.5)),
        (8.0, 9.5),
        pytest.approx((3.0, 3.0)),
    ]
    assert vars(asked[0][0]) == {"graph": 1, "fallback": "belief"}
    assert [each[0] for each in asked[1:]] == ["belief", ("table of", 3, "rules")]
    found.gaps = None
    assert grading.graded(form, plan, found, 7) == ()
    found.gaps, form.latent.simulators = plan.gaps, None
    assert grading.graded(form, plan, found, 7) == ()
    form.latent.simulators = "table"
    monkeypatch.setattr(grading, "episodes_to_run", lambda *_: None)
    assert grading.graded(form, plan, found, 7) == ()


def test_a_large_class_is_planned_on_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    planned: Any = Stand(
        lower=1.0, upper=2.0, gaps=None, outcome=Outcome.SOLVED, policy=0, vectors=0
    )
    asked: list[Any] = []

    def plan(form: Any, solver: Any, count: int = 0, **_: Any) -> Any:
        asked.append(count)
        return planned

    monkeypatch.setattr(large_oracle, "planned_policy", plan)
    monkeypatch.setattr(large_oracle, "planned_in_part", plan)

    def count(models: int, part: int | None, *, thorough: bool = False) -> Any:
        form: Any = Stand(latent=Stand(prior=np.full(models, 1.0 / models)))
        monkeypatch.setattr(large_oracle, "part_to_plan", lambda *_: part)
        asked.clear()
        solver: Any = Stand(time_limit=5.0)
        found = large_oracle.planned_oracle(form, solver, thorough=thorough)
        assert found.average_gap == Certified(1.0, 2.0)
        return found.planned, asked[0]

    assert count(40, 7) == (40, 0)  # all of them at once
    assert count(41, 7) == (7, 7)
    assert count(41, None) == (40, 40)
    assert count(41, 7, thorough=True) == (41, 0)


def test_a_bracket_that_does_not_decide_is_made_finer_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The acceptable loss is 1 of 10; only models that were all planned for count."""
    asked: list[Any] = []

    def tell(word: str) -> None:
        raise AssertionError(word)

    def planned(low: float, high: float, outcome: Outcome, **more: Any) -> list[Any]:
        def plan(form: Any, solver: Any, *, thorough: bool, progress: Any) -> Any:
            assert (thorough, progress) == (True, tell)
            asked.append(solver)
            gap = Certified(low, high) if len(asked) == 1 else Certified(1.25, 1.5)
            return Stand(
                average_gap=gap, outcome=outcome, planned=more.get("planned", 2)
            )

        asked.clear()
        clock = iter([0.0, more.get("spent", 3.0)])
        monkeypatch.setattr(losing, "planned_oracle", plan)
        monkeypatch.setattr(losing, "monotonic", lambda: next(clock))
        form: Any = Stand(latent=coins(0.2, 0.9), informed=10.0, steps=5)
        best: Any = Stand(
            average_ends=Certified(0.0, more.get("memoryless", 9.0)), least=None
        )
        known: Any = Stand(average=Certified(10.0, 10.0))
        settings = losing.Settings(0.1, 8.0, 4, thorough=True)
        _, average = losing._planned(form, best, known, settings, tell)
        return [average.ends, *asked]

    first, one, two = planned(0.5, 2.0, Outcome.SOLVED)
    assert first == (1.25, 1.5)
    assert (one.gap_tolerance, one.time_limit, one.seed) == (0.1, 8.0, 4)
    assert one.negligible == pytest.approx(0.2 * 0.1 * 10.0 / 10.0)
    assert two.gap_tolerance == pytest.approx(0.01)
    assert two.negligible == pytest.approx(0.002)
    assert two.time_limit == pytest.approx(5.0)
    assert planned(0.5, 2.0, Outcome.SOLVED, spent=7.5)[2].time_limit == 1.0
    assert len(planned(1.5, 2.0, Outcome.SOLVED)) == 2  # that is "no"
    assert len(planned(0.5, 2.0, Outcome.OUT_OF_TIME)) == 2
    assert len(planned(0.5, 2.0, Outcome.SOLVED, planned=1)) == 2
    assert planned(0.5, 2.0, Outcome.STALLED, memoryless=1.75)[0] == (0.5, 1.75)
    assert planned(0.5, 2.0, Outcome.STALLED, memoryless=0.25)[0] == (0.5, 0.5)
    assert planned(0.5, 2.0, Outcome.EXACT, memoryless=1.75)[0] == (0.5, 2.0)
