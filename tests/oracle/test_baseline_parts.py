"""Parts of the baselines: how much is searched, and what a mean model is."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, cast

import numpy as np
import pytest

from simgap._kernels import time_limit
from simgap.errors import InvalidArgument, NotSolved, OutOfTime
from simgap.intervals import EPS, Certified, Estimate
from simgap.mdp import LEAST_REWARD, IndexOrder, LatentMDP, class_from_arrays
from simgap.oracle import large_class, watch as watching
from simgap.oracle.baselines import (
    memoryless,
    single_model,
    stationary,
    table,
    tracking,
)
from simgap.oracle.baselines.baseline import absent
from simgap.oracle.baselines.history_values import Seen, gaps_by_histories
from simgap.oracle.baselines.memoryless import (
    best_plan,
    enumerated,
    evaluated,
    guided_plan,
)
from simgap.oracle.baselines.single_model import mean_model
from simgap.oracle.baselines.windowed import MemoryNodes, window_nodes
from simgap.oracle.loss_form import LossForm, loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import BoundedOracle
from tests.oracle.forms import discounted_form
from tests.oracle.test_large_class import coins
from tests.policies.cases import greedy_policy, random_graph, random_latent

NOTHING = np.zeros((6, 2), np.int32)


@cache
def coin_form() -> LossForm:
    return loss_form(coins(members=3), horizon=6)


@cache
def two_states() -> MemoryNodes:
    return window_nodes(coin_form().pattern, 0)


def test_all_stationary_policies_are_tried_if_the_work_allows() -> None:
    """Four of them, each of 3 * 2^3 and a thousand multiplications."""
    every = [
        evaluated(discounted_form(), two_states(), np.array([[a, b]], np.int32))
        for a in (0, 1)
        for b in (0, 1)
    ]
    for start in every:
        best, least = enumerated(discounted_form(), two_states(), start, 4 * 1024.0)
        assert best.average == least == min(each.average for each in every)
    assert len({each.average for each in every}) > 1
    assert enumerated(discounted_form(), two_states(), start, 4 * 1024.0 - 1.0) == (
        start,
        0.0,
    )


def test_an_ascent_counts_its_sweeps_and_ends_with_its_budget() -> None:
    sweep = memoryless._work(coin_form(), two_states())
    _, work = memoryless._ascended(
        coin_form(), two_states(), NOTHING.copy(), budget=0.0
    )
    assert work == sweep
    plan, work = memoryless._ascended(coin_form(), two_states(), NOTHING.copy())
    more = (work - sweep) / (sweep / 2.0)
    assert more == int(more) >= 0.0
    assert plan.average <= evaluated(coin_form(), two_states(), NOTHING).average
    settled = 0.1 * 2 * 12.0 + 1e5  # two nodes, three models
    _, work = memoryless._ascended(
        discounted_form(), two_states(), NOTHING[:1].copy(), budget=0.0
    )
    assert work == settled
    _, work = memoryless._ascended(discounted_form(), two_states(), NOTHING[:1].copy())
    rest = (work - settled) % (2.0 * settled)  # one of 12 for every change
    assert work > settled and rest % 12.0 == pytest.approx(0.0, abs=1e-6)


def test_a_search_begins_with_what_it_is_given_and_two_that_explore() -> None:
    found = best_plan(
        coin_form(), two_states(), [NOTHING, NOTHING], effort=1e-12, prove=False
    )
    assert found.starts == 4 and found.least is None
    found = best_plan(
        discounted_form(), two_states(), [NOTHING[:1]], effort=1e-12, prove=False
    )
    assert found.starts == 2
    proved = best_plan(coin_form(), two_states(), [], effort=0.01)
    assert proved.starts == 2  # proved to be the best: nothing is perturbed
    assert proved.least == pytest.approx(proved.average, abs=1e-11)


def test_a_guide_that_does_not_fit_is_followed_step_by_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Within the slack of the guide, the action of least average loss at each step."""
    monkeypatch.setattr(memoryless, "fits", lambda *_: False)
    guide = np.ascontiguousarray(coin_form().losses[..., 0])
    found = guided_plan(coin_form(), two_states(), guide, 0.25)
    average = coin_form().losses @ coin_form().latent.prior
    for h in range(6):
        for s in range(2):
            allowed = [a for a in (0, 1) if guide[h, s, a] <= guide[h, s].min() + 0.25]
            assert found.actions[h, s] == min(allowed, key=lambda a: average[h, s, a])


def test_histories_are_counted_up_to_a_limit() -> None:
    form = loss_form(random_latent(np.random.default_rng(1)), horizon=3)
    policy = greedy_policy(form)
    most = next(
        limit
        for limit in range(200)
        if gaps_by_histories(form, policy, limit=limit) is not None
    )
    now = {(s, policy.start(int(s))) for s in form.root_states.tolist()}
    assert len(now) < most < 200
    endless = loss_form(form.latent, discount=0.5)
    assert gaps_by_histories(endless, policy, limit=9) is None


def test_the_clock_is_looked_at_for_every_history(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each history takes a second: of three in the first step, two begin in 1.5."""
    form = loss_form(random_latent(np.random.default_rng(1)), horizon=2)
    assert form.root_states.size == 3
    policy, asked = greedy_policy(form), list[int]()

    class Slow:
        start, observe = policy.start, policy.observe

        def act(self, memory: Any, h: int, state: int) -> Any:
            asked.append(h)
            return policy.act(memory, h, state)

    monkeypatch.setattr(time_limit, "working_seconds", lambda: float(len(asked)))
    with time_limit.time_limited(1.5), pytest.raises(OutOfTime):
        gaps_by_histories(form, cast(Any, Slow()), limit=10**5)
    assert len(asked) == 2


def test_rewards_that_say_nothing_change_no_gap() -> None:
    """Every step is paid one of two rewards by chance, in all models alike."""
    rng = np.random.default_rng(3)
    form = loss_form(random_latent(rng), horizon=4)
    policy, pattern = random_graph(rng, form), form.pattern
    twice = Seen(
        indptr=2 * pattern.indptr,
        next_state=np.repeat(pattern.indices, 2),
        reward=np.tile([0.0, 1.0], pattern.indices.size),
        likelihood=np.repeat(form.likelihood, 2, axis=0) * [[0.5]],
    )
    plain = gaps_by_histories(form, policy, limit=10**5)
    seen = gaps_by_histories(form, policy, limit=10**5, seen=twice)
    assert plain is not None
    assert seen == pytest.approx(plain, abs=1e-14)


def test_the_mean_model_is_the_mean_of_everything() -> None:
    latent = random_latent(np.random.default_rng(5), states=3, members=3)
    mean, every, prior = mean_model(latent), latent.simulators, latent.prior
    kernels = np.stack([every.transitions.array(m) for m in range(3)])
    wanted = np.einsum("m,msat->sat", prior, kernels)
    assert mean.transitions.array(0) == pytest.approx(wanted)
    rewards = np.broadcast_to(every.rewards, (3, 3, 2))
    assert mean.rewards[0] == pytest.approx(np.einsum("m,msa->sa", prior, rewards))
    laws = np.stack([every.start_law(m) for m in range(3)])
    assert mean.start_law(0) == pytest.approx(prior @ laws)


@pytest.mark.parametrize(("left", "kept"), [(0.5, False), (2.0, True)])
def test_rewards_that_cancel_leave_nothing(left: float, kept: bool) -> None:
    tiny = left * LEAST_REWARD
    rewards = np.array([[[1.0, 0.0]], [[-1.0, 2.0 * tiny]]])
    worlds = class_from_arrays(
        np.ones((2, 1, 2, 1)), rewards, order=IndexOrder.STATE_ACTION
    )
    assert mean_model(LatentMDP.uniform(worlds)).rewards.any() == kept


@pytest.mark.parametrize(
    ("effort", "limit", "nodes"), [(0.5, 1250, 10_000), (9.0, 2500, 20_000)]
)
def test_effort_limits_histories_and_beliefs(
    effort: float, limit: int, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def histories(*_: object, limit: int, fallback: object) -> Any:
        asked.append(limit)
        return np.zeros(3)

    def game(form: object, *, max_nodes: int, max_rounds: int) -> Any:
        asked.extend((max_nodes, max_rounds))
        raise NotSolved("it is too large", hint="")

    monkeypatch.setattr(tracking, "gaps_by_histories", histories)
    monkeypatch.setattr(table, "solve_minimax", game)
    found = tracking.greedy_baseline(coin_form(), effort=effort, seed=0)
    assert found.certainty == "certified" and found.average_gap.ends[0] == 0.0
    assert table._minimax(coin_form(), effort=effort).policy is None
    assert asked == [limit, nodes, 100]


def test_what_a_sampled_baseline_earns_is_what_it_does_not_lose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tracking, "gaps_by_histories", lambda *_, **__: None)
    form = coin_form()
    for made in (tracking.greedy_baseline, tracking.sampling_baseline):
        found = made(form, effort=0.01, seed=0)
        assert found.certainty == "estimated"
        told = [(found.value, found.average_gap, form.informed)]
        told += zip(found.values, found.gaps, form.optimal, strict=True)
        for value, gap, best in told:
            assert isinstance(value, Estimate) and isinstance(gap, Estimate)
            assert value.estimate == pytest.approx(best - gap.estimate)
            assert value.lower == pytest.approx(best - gap.upper)
            assert value.upper == pytest.approx(best - gap.lower)


@pytest.mark.parametrize(
    ("name", "most", "left"),
    [
        ("LARGEST_TABLE", 9, False),
        ("LARGEST_TABLE", 10, True),
        ("LARGEST_WINDOW_POLICY", 59, False),
        ("LARGEST_WINDOW_POLICY", 60, True),
    ],
)
def test_windows_that_are_too_large_are_not_searched(
    name: str, most: int, left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step of a window of one has 5 pasts in 2 states, 10 entries; of two, 42."""
    monkeypatch.setattr(table, name, most)
    start = evaluated(coin_form(), two_states(), NOTHING)
    found = table._windows(coin_form(), start, effort=1e-9, seed=0)
    assert [each.policy is not None for each in found] == [left, False]


@pytest.mark.parametrize("late", [False, True])
def test_a_limit_that_comes_before_ties_is_told(
    late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tried(*_: Any) -> Any:
        if late:
            raise OutOfTime("over", hint="")
        return single_model.single_plans(coin_form())

    monkeypatch.setattr(table, "ties_exhausted", tried)
    found = {each.name: each for each in table.baselines(coin_form(), effort=1e-3)}
    assert bool(found["single-simulator"].limit) == late
    assert not found["mean-model"].limit


@pytest.mark.parametrize("long", [False, True])
def test_ties_are_tried_if_the_work_is_enough_for_the_losses(
    long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """6 * 2 * 2 * 3 losses for each of three models."""
    plans = single_model.single_plans(coin_form())
    monkeypatch.setattr(single_model, "best_of_ties", lambda *_: "tried")
    enough = 72 * 3 / memoryless.WORK_PER_SECOND
    just = enough * (1.0 + 1e-12) if long else enough * (1.0 - 1e-9)
    found: Any = single_model.ties_exhausted(coin_form(), plans, just)
    assert (found == ("tried",) * 3) == long
    assert len(single_model.single_plans(coin_form(), [2])) == 1


def test_a_part_that_was_solved_leaves_the_class_unsolved() -> None:
    assert large_class._not_solved(Outcome.EXACT) is Outcome.STALLED
    assert large_class._not_solved(Outcome.SOLVED) is Outcome.STALLED
    assert large_class._not_solved(Outcome.OUT_OF_TIME) is Outcome.OUT_OF_TIME


def test_groups_that_come_late_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four groups of three models each, of which two begin within three quarters."""
    form = loss_form(coins(members=12), horizon=3)
    now = [0.0]

    def below(form: object, chosen: Any, share: float, *_: object) -> float:
        now[0] += 4.0
        assert np.diff(chosen).tolist() == [4, 4] and share == pytest.approx(0.25)
        return 1.0

    monkeypatch.setattr(large_class, "_grouping", lambda *_: (3, 8))
    monkeypatch.setattr(large_class, "_group_below", below)
    monkeypatch.setattr(watching, "clock", lambda: now[0])
    for limit, wanted in ((10.0, 0.5), (None, 1.0)):
        now[0] = 0.0
        watch = watching.Watch(BoundedOracle(time_limit=limit), 1.0, 1.0, 0.0)
        found, complete = large_class._groups_below(form, watch)
        assert found == pytest.approx(wanted, rel=1e-12)
        assert complete == (limit is None)


def test_a_value_below_that_of_a_baseline_is_another_problem() -> None:
    """Two of the rounding and a billionth of the value is no difference."""
    form = replace(coin_form(), rounding=0.25)
    room = 0.5 + 1e-9 * abs(form.informed)
    within = table._difference(form, Certified(-1.0, -room * (1.0 - 1e-12)))
    assert within.ends == (0.0, 0.0)
    with pytest.raises(InvalidArgument):
        table._difference(form, Certified(-1.0, -room * (1.0 + 1e-9)))


def test_nothing_is_known_of_an_absent_baseline() -> None:
    nothing = absent("a", "b", "c")
    assert nothing.worst_gap == 0.0 and nothing.policy is None
    told = replace(nothing, gaps=np.array([1.0, 3.0]), prior=np.array([1.0, 0.0]))
    assert told.worst_gap == 1.0
    assert replace(told, prior=None).worst_gap == 3.0


def test_gaps_by_sweeps_and_by_inverse_agree_for_every_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for actions in ([[0, 1]], [[1, 0]]):
        policy = np.array(actions, np.int32)[0]
        direct, off = stationary.stationary_gaps(
            discounted_form(), two_states(), policy
        )
        swept, change = stationary._by_sweeps(discounted_form(), two_states(), policy)
        assert swept == pytest.approx(direct, rel=1e-14, abs=1e-15)
        assert change <= 2.3e-16 * swept.max()
        least = 4.0 * EPS * (1.0 + direct.max()) / 0.25
        assert least <= off <= 2.0 * least
        kernel = stationary.policy_kernel(discounted_form(), two_states(), policy)
        for m in range(3):
            world = discounted_form().latent.simulators.transitions.array(m)
            assert (kernel[m] == world[np.arange(2), policy]).all()


@pytest.mark.parametrize(("above", "best"), [(0.0, True), (3.9, True), (4.1, False)])
def test_a_plan_is_called_the_best_up_to_its_rounding(above: float, best: bool) -> None:
    rounding = 2.0**-20
    plan = evaluated(coin_form(), two_states(), NOTHING)
    plan = replace(
        plan,
        least=plan.average - above * rounding,
        rounding=rounding,
        starts=7,
    )
    told = table._how_good(coin_form(), plan)
    assert told.startswith("no policy") is best
    assert told.endswith("in 7 searches") is not best
