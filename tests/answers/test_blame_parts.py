"""The parts of blame one by one: brute force, exact fractions, and clocks of our own.

Stand-ins have what a function reads and no more.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf
from types import SimpleNamespace as Stand
from typing import Any

import numpy as np
import pytest

from simgap.answers.blame import hidden_losses, hidden_parts
from simgap.answers.blame.hidden_losses import Effort, HiddenLosses
from simgap.answers.blame.hidden_parts import ModelsLeft, models_left
from simgap.errors import OutOfTime
from simgap.intervals import EPS, Certified
from simgap.mdp import LatentMDP
from simgap.oracle import Outcome, domain_randomization_oracle
from simgap.oracle.settings import ExactOracle
from tests.answers.hidden_cases import mixed_class

LEFT = ModelsLeft(0.5, (0, 2), (0.25, 0.75))


# parts of what is hidden


def irrelevant(codes: Any, equal: Any, prior: list[Fraction], some: set[int]) -> bool:
    """Return whether other parts determine the model, whatever these are, exactly."""
    rows = [at for at, weight in enumerate(prior) if weight > 0]
    others = [part for part in range(codes.shape[1]) if part not in some]
    one = {at: tuple(codes[at, sorted(some)]) for at in rows}
    two = {at: tuple(codes[at, others]) for at in rows}
    if len({(two[at], equal[at]) for at in rows}) > len(set(two.values())):
        return False
    joint: dict[Any, Fraction] = {}
    for at in rows:
        key = one[at], two[at]
        joint[key] = joint.get(key, Fraction(0)) + prior[at]
    return all(
        joint.get((a, b), Fraction(0))
        == sum((w for (x, _), w in joint.items() if x == a), Fraction(0))
        * sum((w for (_, y), w in joint.items() if y == b), Fraction(0))
        for a, b in product(set(one.values()), set(two.values()))
    )


def test_parts_that_cannot_matter_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(5)
    table = np.array([*product(range(2), range(2), range(2))], np.int32)
    found_some = 0
    for _ in range(60):
        keys = rng.permutation(3)[: rng.integers(1, 4)]
        seen: dict[Any, int] = {}
        equal = np.array(
            [seen.setdefault(tuple(row[keys]), at) for at, row in enumerate(table)],
            np.int32,
        )
        sides = [rng.integers(0, 4, 2) + np.arange(2) for _ in range(3)]
        weights = [int(np.prod([s[v] for s, v in zip(sides, row, strict=True)]))
                   for row in table]  # fmt: skip
        if rng.random() < 0.5:
            weights[rng.integers(8)] += 1
        if not sum(weights):
            continue
        exact = [Fraction(each, sum(weights)) for each in weights]
        prior = np.array([float(each) for each in exact])
        equal[prior == 0.0] += 8  # what cannot be real may be any model
        found = set(hidden_parts._irrelevant_parts(table, equal, prior))
        assert irrelevant(table, equal, exact, found)
        alone = [part for part in range(3) if part not in found]
        for part in alone:  # none of the others goes with them
            assert not irrelevant(table, equal, exact, found | {part})
        found_some += bool(found)
    assert 10 < found_some < 60


def test_parts_are_independent_up_to_rounding_and_not_beyond() -> None:
    table = np.array([*product(range(2), range(3))], np.int32)
    weight = np.outer([0.25, 0.75], [0.5, 0.25, 0.25]).ravel()
    assert hidden_parts._independent(table, weight, {0})
    room = 8.0 * EPS * 10
    for part, expected in ((1.0, True), (4.0, False), (-1.0, True), (-4.0, False)):
        moved = weight.copy()
        moved[1] *= 1.0 + part * room
        assert hidden_parts._independent(table, moved, {1}) == expected
    assert not hidden_parts._independent(table[:-1], weight[:-1], {0})
    same = np.array([[0, 0], [1, 1]], np.int32)
    assert not hidden_parts._independent(same, np.array([0.5, 0.5]), {0})


def test_models_left_are_those_with_the_known_values() -> None:
    prior = np.array([3.0, 1.0, 0.0, 2.0, 4.0, 6.0]) / 16.0
    parts: Any = Stand(
        latent=Stand(prior=prior),
        codes=np.array([*product(range(2), range(3))], np.int32),
        first_equal=np.array([0, 0, 2, 3, 4, 4], np.int32),
        relevant=(0, 1),
        possible=np.flatnonzero(prior > 0.0),
    )
    assert models_left(parts, 0b11) == (
        ModelsLeft(1.0, (0, 3, 4), (0.25, 0.125, 0.625)),
    )
    a = models_left(parts, 0b10)  # the second part is hidden
    assert a == (
        ModelsLeft(0.25, (0,), (1.0,)),
        ModelsLeft(0.75, (3, 4), pytest.approx((1 / 6, 5 / 6))),  # type: ignore[arg-type]
    )
    assert models_left(parts, 0b10, several=True) == a[1:]
    b = models_left(parts, 0b01)
    assert [each.members for each in b] == [(0, 3), (0, 4), (4,)]
    assert [each.probability for each in b] == pytest.approx([5 / 16, 5 / 16, 6 / 16])
    assert models_left(parts, 0b01, several=True) == b[:2]
    assert [each.members for each in models_left(parts, 0)] == [
        (0,), (0,), (3,), (4,), (4,),
    ]  # fmt: skip
    for most, few in ((4, True), (3, False)):  # 1 + 1 + 2 classes of several models
        assert hidden_losses.at_most_so_many_plans(parts, most) == few


# what is known before planning, and how long to plan


def losses(**changes: Any) -> HiddenLosses:
    oracle: Any = Stand(
        statistics=Stand(rounding=changes.pop("rounding", 0.0)),
        pair_prices_lower=np.array([[0.0, 0.1, 0.1], [0.1, 0.0, 0.1], [0.1] * 3]),
        pair_prices_upper=np.array([[0.0, 0.2, 0.2], [0.2, 0.0, 0.2], [0.2] * 3]),
        outcome=changes.pop("outcome", Outcome.SOLVED),
    )
    whole = ModelsLeft(1.0, (0, 1, 2), (0.125, 0.5, 0.375))
    usual: dict[str, Any] = {
        "parts": None,
        "horizon": 3,
        "effort": Effort(0.25, changes.pop("time_limit", 10.0), 0),
        "progress": lambda word: None,
        "everything": whole,
        "oracle": oracle,
        "gaps": np.array([0.1, 0.7, 0.3]),
        "begin": 0.0,
        "known": {(whole.members, whole.weights): Certified(1.0, 2.0)},
    }
    return HiddenLosses(**{**usual, **changes})


def test_before_planning_the_whole_plan_and_pair_prices_bound_a_class() -> None:
    three = ModelsLeft(0.5, (0, 1, 2), (0.3, 0.3, 0.4))
    exact = sum(
        Fraction(w) * Fraction(g)
        for w, g in zip(three.weights, (0.1, 0.7, 0.3), strict=True)
    )
    found = losses()._before_planning(three)
    assert found.lower == 0.0
    assert exact < Fraction(found.upper) < exact * (1 + Fraction(1, 10**12))
    wide = losses(rounding=0.125)._before_planning(three)
    assert wide.upper == pytest.approx(float(exact) + 1.0)
    pair = losses()._before_planning(LEFT)  # 1 : 3, as in the whole class
    assert pair.lower < 0.1 < pair.lower + 1e-12
    assert 0.2 < pair.upper < 0.2 + 1e-12
    wide = losses(rounding=0.01)._before_planning(LEFT)
    assert wide.ends == pytest.approx((0.02, 0.28))
    less = losses(gaps=np.array([0.0, 0.0, 0.2]))._before_planning(LEFT)
    assert less.upper == pytest.approx(0.15)
    other = losses()._before_planning(ModelsLeft(0.5, (0, 2), (0.5, 0.5)))
    assert other.ends == pytest.approx((0.0, 0.2))  # merged models: 0.5 (0.1 + 0.3)
    almost = ModelsLeft(0.5, (0, 2), (0.25 + 80.0 * EPS, 0.75))
    assert losses()._before_planning(almost).lower == 0.0
    almost = ModelsLeft(0.5, (0, 2), (0.25 + 48.0 * EPS, 0.75))
    assert losses()._before_planning(almost).lower > 0.0
    for nothing in (losses(oracle=None), losses()):
        alone = ModelsLeft(0.5, (1,), (1.0,))
        assert nothing._before_planning(alone) == Certified(0.0, 0.0)
    assert losses(oracle=None)._before_planning(LEFT) == Certified(0.0, 0.0)
    assert (losses(oracle=None).rounding, losses().whole) == (0.0, Certified(1.0, 2.0))


@pytest.mark.parametrize(
    ("low", "high", "outcome", "needed"),
    [
        (0.75, 1.0, Outcome.SOLVED, False),  # a quarter of it is wide enough
        (0.74, 1.0, Outcome.SOLVED, True),
        (0.0, 0.02, Outcome.SOLVED, False),  # a hundredth of the whole
        (0.0, 0.021, Outcome.SOLVED, True),
        (0.75, 1.0, Outcome.EXACT, True),
        (1.0, 1.0, Outcome.EXACT, False),
    ],
)
def test_a_class_is_planned_if_its_bracket_is_wide(
    low: float, high: float, outcome: Outcome, needed: bool
) -> None:
    given = losses(outcome=outcome)
    given.known[LEFT.members, LEFT.weights] = Certified(low, high)
    assert hidden_losses._needs_planning(given, LEFT) == needed
    assert not hidden_losses._needs_planning(given, given.everything)
    assert not hidden_losses._needs_planning(given, ModelsLeft(1.0, (1,), (1.0,)))
    given.oracle = None
    assert not hidden_losses._needs_planning(given, LEFT)


def test_two_brackets_of_one_gap_meet_up_to_rounding() -> None:
    def meet(one: tuple[float, float], two: tuple[float, float]) -> tuple[float, float]:
        return hidden_losses._meet(Certified(*one), Certified(*two), 0.125).ends

    assert meet((1.0, 3.0), (2.0, 4.0)) == (2.0, 3.0)
    assert meet((1.0, 2.0), (2.125, 4.0)) == (2.0, 2.125)
    with pytest.raises(AssertionError):
        meet((1.0, 2.0), (2.126, 4.0))


def test_a_mean_over_classes_is_rounded_outwards() -> None:
    given = losses()
    some = tuple(ModelsLeft(p, (0, m), (0.5, 0.5)) for p, m in ((0.3, 1), (0.1, 2)))
    for left, bracket in zip(some, ((0.1, 0.7), (0.2, 0.3)), strict=True):
        given.known[left.members, left.weights] = Certified(*bracket)
    low, high = (
        Fraction(0.3) * Fraction(one) + Fraction(0.1) * Fraction(two)
        for one, two in ((0.1, 0.2), (0.7, 0.3))
    )
    found = hidden_losses._mean(given, some)
    slack = Fraction(16 * EPS) * high
    assert Fraction(found.lower) <= low - slack
    assert Fraction(found.upper) >= high + slack
    assert found.ends == pytest.approx((float(low), float(high)))
    assert hidden_losses._mean(given, ()).ends == (0.0, 0.0)


def planned_for(
    given: HiddenLosses, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> list[tuple[int, float | None]]:
    """Plan three classes; the clock says how many seconds are left before each."""
    asked: list[tuple[int, float | None]] = []

    def plan(losses: HiddenLosses, left: ModelsLeft, limit: float | None) -> None:
        asked.append((left.members[1], limit))
        losses.unfinished.add((left.members, left.weights))

    monkeypatch.setattr(hidden_losses, "_plan", plan)
    monkeypatch.setattr(hidden_losses, "_seconds_left", lambda _: clock.pop(0))
    todo = []
    for member, chance, high in ((1, 0.5, 1.0), (2, 0.25, 4.0), (3, 0.25, 2.5)):
        left = ModelsLeft(chance, (0, member), (0.5, 0.5))
        given.known[left.members, left.weights] = Certified(0.0, high)
        todo.append(left)
    hidden_losses._plan_all(given, todo)
    return asked


def test_classes_share_the_time_and_the_widest_ones_get_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 10 seconds, 4 are for the whole class and 2 for each of three."""
    each: Any = pytest.approx(2.0)
    found = planned_for(losses(), [6.0, 4.0, 2.0, 0.9], monkeypatch)
    assert found == [(1, each), (2, each), (3, each)]  # no second is left
    found = planned_for(losses(), [6.0, 4.0, 2.0, 6.0, 5.0, 4.0], monkeypatch)
    # 6 seconds for three: twice a third; then 5 for two; then 4 for the last
    assert found[3:] == [(2, 4.0), (3, 5.0), (1, 4.0)]
    found = planned_for(losses(), [6.0, 4.0, 2.0, 5.9], monkeypatch)
    assert len(found) == 3  # less than twice as long as before says little more
    last = losses(time_limit=1.0)  # a whole second is worth another try
    found = planned_for(last, [0.6, 0.4, 0.2, 1.0, 0.9], monkeypatch)
    third: Any = pytest.approx(2.0 / 3.0)
    assert found[3:] == [(2, third)]
    late = losses()
    assert planned_for(late, [1.0, 0.0, 0.0, 0.0], monkeypatch) == [(1, each)]
    assert len(late.unfinished) == 3
    short = losses(time_limit=0.1)
    found = planned_for(short, [6.0, 4.0, 2.0, 0.0], monkeypatch)
    assert [limit for _, limit in found] == [0.05] * 3
    endless = losses(time_limit=None)
    found = planned_for(endless, [inf] * 4, monkeypatch)
    assert found == [(1, None), (2, None), (3, None)]


def test_time_is_counted_from_the_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden_losses, "working_seconds", lambda: 12.0)
    assert hidden_losses._seconds_left(losses(begin=5.0)) == 3.0
    assert hidden_losses._seconds_left(losses(time_limit=None)) == inf


def test_a_class_is_planned_to_a_small_part_of_the_whole_loss(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A hundredth of 2, of what whoever knows the model earns: 0.25 * 1 + 0.75 * 3."""
    asked: list[Any] = []
    ends = [Outcome.SOLVED, Certified(0.5, 0.625)]

    def planned(parts: Any, left: Any, horizon: int, solver: Any) -> Any:
        asked.append(solver)
        return Stand(outcome=ends[0], average_gap=ends[1])

    monkeypatch.setattr(hidden_losses, "_planned", planned)
    given, key = losses(), (LEFT.members, LEFT.weights)
    oracle: Any = given.oracle
    oracle.optimal = np.array([1.0, 9.0, 3.0])
    given.known[key] = Certified(0.0, 1.0)
    hidden_losses._plan(given, LEFT, 3.0)
    (solver,) = asked
    assert (solver.gap_tolerance, solver.time_limit) == (0.25, 3.0)
    assert solver.negligible == pytest.approx(0.02 / 2.5)
    assert solver.episodes == 2
    assert (given.known[key], given.planned) == (Certified(0.5, 0.625), 1)
    assert not given.unfinished
    for optimal, part in ((-0.02, 0.5), (-8.0, 0.0025), (0.0, 0.0)):
        oracle.optimal = np.full(3, optimal)
        hidden_losses._plan(given, LEFT, 3.0)
        assert asked[-1].negligible == pytest.approx(part)
    ends[0] = Outcome.OUT_OF_TIME  # but the bracket is narrow enough
    hidden_losses._plan(given, LEFT, 3.0)
    assert not given.unfinished
    given.known[key], ends[1] = Certified(0.0, 1.0), Certified(0.0, 1.0)
    hidden_losses._plan(given, LEFT, 3.0)
    assert given.unfinished == {key} and given.planned == 6


def test_a_class_whose_planning_a_limit_ends_is_unfinished(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def late(*_: object) -> None:
        raise OutOfTime("late", hint="")

    monkeypatch.setattr(hidden_losses, "_planned", late)
    given = losses()
    oracle: Any = given.oracle
    oracle.optimal = np.ones(3)
    with pytest.raises(OutOfTime):
        hidden_losses._plan(given, LEFT, 3.0)
    assert given.unfinished == {(LEFT.members, LEFT.weights)} and given.planned == 0


@pytest.mark.parametrize(
    ("limit", "alone", "seconds"), [(10.0, True, 10.0), (10.0, False, 4.0), (None,) * 3]
)
def test_the_whole_class_has_a_part_of_the_time(
    limit: float | None,
    alone: bool | None,
    seconds: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parts = hidden_parts.hidden_parts(
        mixed_class(np.random.default_rng(0), {"a": 2, "b": 2})
    )
    asked: list[Any] = []

    def planned(parts: Any, left: Any, horizon: int, solver: Any) -> Any:
        asked.append((left.members, solver.time_limit, solver.seed))
        return Stand(
            average_gap=Certified(1.0, 2.0),
            outcome=Outcome.OUT_OF_TIME,
            gaps=np.array([1.0, 2.0, 3.0, 4.0]),
        )

    monkeypatch.setattr(hidden_losses, "_planned", planned)
    effort = Effort(0.25, limit, 7)
    found = hidden_losses.whole_class_planned(
        parts, 3, effort, lambda word: None, alone=bool(alone)
    )
    assert asked == [((0, 1, 2, 3), seconds, 7)]
    assert found.gaps.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert (found.whole, found.planned) == (Certified(1.0, 2.0), 1)
    assert len(found.unfinished) == 1


def test_an_oracle_that_is_planned_already_is_taken_for_the_models_that_count() -> None:
    """Equal models are merged, and what their pairs cost is then not known."""
    rng = np.random.default_rng(3)
    latent = mixed_class(rng, {"a": 2, "label": 2}, idle=("label",))
    prior = np.array([0.25, 0.25, 0.5, 0.0])
    given = LatentMDP(latent.simulators, prior)
    solver = ExactOracle(episodes=2)
    oracle = domain_randomization_oracle(given, horizon=3, solver=solver)
    whole = ModelsLeft(1.0, (0, 2), (0.5, 0.5))
    found = hidden_losses._of_members(oracle, whole)
    assert found.prior.tolist() == [0.25, 0.5]
    assert found.gaps.tolist() == oracle.gaps[[0, 2]].tolist()
    assert found.optimal.tolist() == oracle.optimal[[0, 2]].tolist()
    assert found.values.tolist() == oracle.values[[0, 2]].tolist()
    assert found.gap_intervals.tolist() == oracle.gap_intervals[[0, 2]].tolist()
    assert (found.pair_prices_lower == 0.0).all()
    assert (found.pair_prices_upper == np.inf).all()
    kept = hidden_losses._of_members(oracle, ModelsLeft(1.0, (0, 2), (0.25, 0.5)))
    block = np.ix_([0, 2], [0, 2])
    assert (kept.pair_prices_lower == oracle.pair_prices_lower[block]).all()
    assert (kept.pair_prices_upper == oracle.pair_prices_upper[block]).all()
