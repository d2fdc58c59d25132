"""What is tried, for how long and how far: choices of the entry and of baselines."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simgap.errors import InvalidArgument
from simgap.instances import best_arm
from simgap.mdp import LatentMDP
from simgap.oracle import entry
from simgap.oracle.baselines import memoryless, table
from simgap.oracle.baselines.memoryless import ShortMemoryPlan, evaluated
from simgap.oracle.baselines.windowed import MemoryNodes, window_nodes
from simgap.oracle.bounded.lower_nodes import lower_structure
from simgap.oracle.bounded.lower_side import lower_pass
from simgap.oracle.bounded.points import no_points
from simgap.oracle.bounded.relinking import remembered_steps
from simgap.oracle.exact import outlook
from simgap.oracle.exact.evidence import Supports
from simgap.oracle.exact.solver import _supports
from simgap.oracle.exact.tree import BeliefTree, DoesNotFit, Limits, _multipliers
from simgap.oracle.loss_form import bytes_of_losses, loss_form
from simgap.oracle.result import Outcome
from simgap.oracle.settings import AutoOracle, BoundedOracle, ExactOracle, GridOracle
from tests.oracle.forms import coin_form
from tests.oracle.test_large_class import coins


@cache
def two_states() -> MemoryNodes:
    return window_nodes(coin_form().pattern, 0)


@cache
def first_actions() -> ShortMemoryPlan:
    return evaluated(coin_form(), two_states(), np.zeros((10, 2), np.int32))


@pytest.mark.parametrize(
    ("limit", "passed", "left"),
    [(10.0, 1.0, 9.0), (10.0, 20.0, 1.0), (0.5, 20.0, 0.1), (None, 20.0, np.inf)],
)
def test_small_things_have_the_rest_of_the_time_or_a_tenth_of_it(
    limit: float | None, passed: float, left: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, asked = [100.0], list[float]()

    def planned(*_: object) -> Any:
        clock[0] += passed
        return SimpleNamespace(outcome=Outcome.EXACT), "a plan"

    def prices(form: object, found: object, seconds: float, memory: object) -> None:
        asked.append(seconds)

    def to_run(form: object, found: object, solver: object, seconds: float) -> None:
        asked.append(seconds)
        raise InterruptedError

    monkeypatch.setattr(entry, "working_seconds", lambda: clock[0])
    monkeypatch.setattr(entry, "_plan", planned)
    monkeypatch.setattr(entry, "_prices", prices)
    monkeypatch.setattr(entry, "_to_run", to_run)
    with pytest.raises(InterruptedError):
        entry.domain_randomization_oracle(
            coin_form().latent, horizon=3, solver=AutoOracle(time_limit=limit)
        )
    assert asked == pytest.approx([left, left])


@pytest.mark.parametrize(
    ("likely", "horizon", "grid"),
    [(2, 5, True), (3, 1999, False), (3, 2000, True), (4, 2000, False), (1, 5, False)],
)
def test_a_grid_is_for_two_models_or_for_three_over_a_long_time(
    likely: int, horizon: int, grid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry, "looks_hopeless", lambda *_: True)
    monkeypatch.setattr(entry, "solve_grid", lambda *_, **__: "grid")
    monkeypatch.setattr(entry, "_bounded", lambda *_: ("bounded", ""))
    prior = np.zeros(5)
    prior[:likely] = 1.0 / likely
    form: Any = SimpleNamespace(latent=SimpleNamespace(prior=prior), horizon=horizon)
    found: Any = entry._plan(form, AutoOracle(), None)
    assert found[0] == ("grid" if grid else "bounded")


@pytest.mark.parametrize(
    ("change", "good"),
    [
        ({"negligible": 0.0}, True),
        ({"negligible": 1.0}, False),
        ({"negligible": -1e-9}, False),
        ({"negligible": np.nan}, False),
        ({"gap_tolerance": 1.0}, False),
        ({"gap_tolerance": 0.0}, False),
        ({"gap_tolerance": 1e-12}, True),
        ({"gap_tolerance": None, "tolerance": None}, True),
        ({"tolerance": 1.0 - 1e-12}, True),
        ({"time_limit": 0.0}, False),
        ({"time_limit": None, "max_memory": None}, True),
        ({"max_memory": np.inf}, False),
        ({"episodes": 2, "seed": 2**62}, True),
        ({"episodes": np.int64(5), "seed": 0}, True),
        ({"episodes": 1}, False),
        ({"episodes": True}, False),
        ({"seed": True}, False),
        ({"seed": 2**62 + 1}, False),
    ],
)
@pytest.mark.parametrize("kind", [BoundedOracle, GridOracle])
def test_settings_are_checked_at_their_ends(
    kind: Any, change: dict[str, Any], good: bool
) -> None:
    if good:
        entry._check(kind(**change))
    else:
        with pytest.raises(InvalidArgument):
            entry._check(kind(**change))


def test_losses_must_fit_into_the_memory_that_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    need = bytes_of_losses(coin_form().latent, 10)
    monkeypatch.setattr(entry, "resident_bytes", lambda: 1000)
    entry._check_memory(coin_form().latent, 10, ExactOracle(max_memory=need + 1000))
    entry._check_memory(coin_form().latent, 10**6, ExactOracle())
    entry._check_memory(coin_form().latent, None, ExactOracle(max_memory=need + 999))
    with pytest.raises(InvalidArgument):
        entry._check_memory(coin_form().latent, 10, ExactOracle(max_memory=need + 999))


def test_pairs_that_there_is_no_time_for_have_wide_prices() -> None:
    gaps = np.array([0.5, 0.25, 1.0])
    planned: Any = SimpleNamespace(pair_prices=None, gaps=gaps)
    found = entry._prices(coin_form(), planned, 0.0, None)
    assert [note.code for note in found.notes] == ["pairs-not-compared"]
    assert found.compared is not None and found.compared.size == 0
    assert not found.lower.any() and found.lower.shape == (3, 3)
    assert found.upper[0, 1] == pytest.approx(0.375) and found.upper[1, 1] == 0.0
    whole = entry._prices(coin_form(), planned, 60.0, None)
    assert whole.compared is None and whole.notes == ()
    known: Any = SimpleNamespace(pair_prices=(gaps, 2.0 * gaps))
    told = entry._prices(coin_form(), known, 0.0, None)
    assert told.lower is gaps and told.compared is None


@pytest.mark.parametrize(("limit", "hopeless"), [(210, True), (212, False)])
def test_the_growth_of_beliefs_is_carried_on_to_the_horizon(
    limit: int, hopeless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Layers of 1, 2, 3, ...: 21 of six, 55 of ten, so 55 * 10^1.885 of a hundred."""
    monkeypatch.setattr(outlook, "LOOKED_AT", 54)
    monkeypatch.setattr(
        outlook, "_next_layer", lambda form, layer: dict.fromkeys(range(len(layer) + 1))
    )
    form = replace(coin_form(), horizon=100)
    assert outlook.looks_hopeless(form, limit) == hopeless
    assert not outlook.looks_hopeless(replace(coin_form(), horizon=9), 0)
    assert not outlook.looks_hopeless(replace(coin_form(), horizon=0), 0)
    assert outlook.looks_hopeless(replace(form, horizon=None), 10**9)


def plan(average: float, least: float | None) -> ShortMemoryPlan:
    gaps = np.full(3, average)
    return replace(
        first_actions(), gaps=gaps, average=average, least=least, rounding=1e-12
    )


@pytest.mark.parametrize(
    ("leasts", "floor", "wanted"),
    [
        ((0.25, 0.5), None, 0.25),
        ((0.25, 0.5), 0.125, 0.25),
        ((0.25, 0.5), 0.375, 0.375),
        ((0.25, 0.5), 0.75, 0.5),
        ((0.25, None), 0.125, 0.125),
        ((0.25, None), None, None),
    ],
)
def test_the_best_plan_of_one_model_is_bounded_by_all_of_them(
    leasts: tuple[float | None, ...], floor: float | None, wanted: float | None
) -> None:
    plans = tuple(plan(0.75 - 0.25 * at, each) for at, each in enumerate(leasts))
    found = table._single(coin_form(), plans, floor)
    assert found.least_gap == wanted
    assert found.average_gap.ends[1] == pytest.approx(0.5)
    assert found.cross_gaps is not None
    assert found.cross_gaps[:, 0].tolist() == [0.75, 0.5]
    if wanted is None:
        assert found.bound is None
    else:
        assert found.bound == pytest.approx(coin_form().informed - wanted)
    assert ("no optimal plan" in found.note) == (wanted == 0.5)


@pytest.mark.parametrize(
    ("least", "coupled", "wanted"),
    [
        (0.5, 9.0, 0.5 - 2.0**-10),  # closed: nothing else is asked
        (0.25, 0.375, 0.375 - 2.0**-10),
        (0.375, 0.25, 0.375 - 2.0**-10),
        (0.0, 0.0, None),
        (0.0, 2.0**-11, None),
    ],
)
def test_the_better_of_two_bounds_is_kept(
    least: float, coupled: float, wanted: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = list[float]()

    def by_coupling(form: object, window: int, given: float) -> float:
        work.append(given)
        return coupled

    def by_branching(form: object, nodes: object, best: Any, given: float) -> Any:
        work.append(given)
        return best, least

    monkeypatch.setattr(memoryless, "branched", by_branching)
    monkeypatch.setattr(memoryless, "least_by_coupling", by_coupling)
    best = replace(plan(0.5, None), rounding=2.0**-10)
    found = memoryless._bounded(coin_form(), two_states(), best, 10.0)
    assert found.least == wanted
    assert work == ([3.0] if least == 0.5 else [3.0, 20.0])
    longer: Any = SimpleNamespace(window=3)
    memoryless._bounded(coin_form(), longer, best, 10.0)
    assert work[-1] == (3.0 if least == 0.5 else 5.0)
    wrong = replace(best, average=0.125)
    if coupled > 0.13 and least < 0.12:
        with pytest.raises(AssertionError):
            memoryless._bounded(coin_form(), two_states(), wrong, 10.0)


def test_a_plan_without_a_loss_needs_no_other_bound() -> None:
    nothing = replace(plan(0.0, None), rounding=2.0**-10)
    found = memoryless._bounded(coin_form(), two_states(), nothing, 0.0)
    assert found.least == 0.0


def test_branching_goes_deeper_by_a_quarter(monkeypatch: pytest.MonkeyPatch) -> None:
    depths, limits = list[int](), list[int]()

    def bounded(*given: Any) -> tuple[float, float, int]:
        depths.append(given[-4])
        limits.append(given[-2])
        return 0.01 * given[-4], 9.0, 7

    monkeypatch.setattr(memoryless, "least_gap", bounded)
    form = replace(coin_form(), losses=np.zeros((30, 2, 2, 3)))
    best, least = memoryless.branched(form, two_states(), first_actions(), 24.0 * 1000)
    assert depths == [0, 1, 2, 3, 4, 6, 8, 11, 14, 18, 23, 29, 30]
    assert limits == [1000 - 7 * at for at in range(13)]
    assert best is first_actions() and least == 0.3
    depths.clear()
    assert memoryless.branched(
        form, two_states(), first_actions(), 1.0, bits=4001.0
    ) == (first_actions(), 0.0)
    long = replace(coin_form(), losses=np.zeros((2001, 2, 2, 3)))  # 4002 bits
    assert memoryless.branched(long, two_states(), first_actions(), 1.0)[1] == 0.0
    assert not depths


def test_values_below_are_kept_for_steps_near_the_end() -> None:
    """Step h uses the values of as many steps to go as were kept, and no more."""
    form = loss_form(coins(members=3), horizon=12)
    nobody = no_points(form)
    made = lower_structure(form, nobody.states, nobody.beliefs, cells=4)
    last, kept = lower_pass(form, made, lambda: None)
    known = sorted(each - 1 for each in remembered_steps(12))
    wanted = [
        max(at for at, each in enumerate(known) if each <= 12 - h) for h in range(13)
    ]
    assert kept.value_set.tolist() == wanted
    assert kept.values.shape == (len(known), made.node_state.size)
    assert not kept.values[0].any() and (np.diff(kept.values, axis=0) >= -1e-12).all()
    assert (last >= kept.values[-1] - 1e-12).all() and last.max() > 0.0
    endless = loss_form(coins(members=3), discount=0.75)
    last, kept = lower_pass(endless, made, lambda: None)
    assert kept.value_set.tolist() == [0, 0] and (kept.values[0] == last).all()


def test_a_tree_counts_its_lessons_and_links(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = loss_form(LatentMDP.uniform(best_arm(3, 0.2)), horizon=6)

    def grown(lessons: float, links: int) -> BeliefTree:
        limits = Limits(10**6, links, lessons, np.inf, np.inf, lambda: 0.0, 0.0)
        tree = BeliefTree(form, _supports(form), limits)
        tree.grow()
        return tree

    taught: list[int] = []
    for name in ("learn", "learn_swap"):
        real = getattr(Supports, name)

        def counted(self: Any, *given: int, real: Any = real) -> None:
            taught.append(1)
            real(self, *given)

        monkeypatch.setattr(Supports, name, counted)
    free = grown(np.inf, 2**31)
    assert free._lessons == len(taught) > 0
    assert grown(free._lessons, 2**31).size == free.size
    for lessons, links in ((free._lessons - 1, 2**31), (np.inf, 5)):
        with pytest.raises(DoesNotFit) as reason:
            grown(lessons, links)
        assert reason.value.outcome is Outcome.OUT_OF_NODES
    for steps, kind in ((127, np.int8), (128, np.int16), (2**15, np.int32)):
        some: Any = SimpleNamespace(steps=steps)
        supports: Any = SimpleNamespace(
            classes=2, members=SimpleNamespace(models=[0, 1, 2])
        )
        assert BeliefTree(some, supports, free.limits).counts.dtype == kind
    assert (_multipliers(3) == _multipliers(5)[:3]).all()
