"""The parts of blaming a trained policy: who stands beside it, and its headline."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace as Stand
from typing import Any

import pytest

from simgap.answers.blame.blame_run import headline
from simgap.answers.blame.told_shares import _widened
from simgap.errors import InvalidArgument
from simgap.intervals import Estimate

running: Any = import_module("simgap.answers.blame.blame_run")


def between(low: float, high: float) -> Estimate:
    return Estimate(0.5 * (low + high), low, high, 0.95)


def said(total: Any, *parts: Any, leader: str | None = None) -> str:
    shares: Any = Stand(
        total=Stand(value=between(*total)),
        leader=leader,
        parameters=[
            Stand(name=name, share=between(*ends), part=between(*ends))
            for name, ends in zip("uvwxyz", parts, strict=False)
        ],
    )
    return headline(shares)


def test_the_headline_names_what_to_measure_first() -> None:
    one, two, rest = (0.5, 0.75), (0.25, 0.5), (0.0, 0.25)
    for nothing in ((0.0, 2.0), (-1.0, 0.0)):
        assert "no difference" in said(nothing, one)
    assert "gets less" in said((-2.0, -1.0), one)
    assert "Measure u: nothing else" in said((1.0, 2.0), one)
    led = said((1.0, 2.0), one, two, leader="u")
    assert "Measure u first: it has 62 % (50 to 75)" in led and "1.5 (" in led
    assert "Measure u or v first" in said((1.0, 2.0), one, two, rest)
    assert "Measure u first" in said((1.0, 2.0), one, rest, rest)
    many = said((1.0, 2.0), *[one] * 6)
    assert "Measure u or v or w or x first" in many


def test_trainings_of_the_same_kind_stand_beside_the_masked_one() -> None:
    def training(name: str, **changes: Any) -> Any:
        usual = {"memory": "gru", "draws": "", "informed": False}
        return Stand(
            name=name, **{**usual, "masked": False, "specialist": False, **changes}
        )

    mine = training("mine", masked=True)
    every = [
        mine,
        training("told", informed=True),
        training("plain"),
        training("lstm", memory="lstm"),
        training("ends", draws="ends"),
        training("one", specialist=True),
    ]
    found = running._beside(Stand(trainings=every), mine)
    assert [(each.name, case) for each, case in found] == [
        ("told", "everything"),
        ("plain", "nothing"),
    ]


@pytest.mark.parametrize(("episodes", "orders"), [(0, 4), (1, 3)])
def test_too_few_episodes_or_orders_are_refused(episodes: int, orders: int) -> None:
    with pytest.raises(InvalidArgument, match="episodes and"):
        running.blame_run("no folder", episodes=episodes, orders=orders)


def test_a_set_is_named_by_what_is_told() -> None:
    assert running._set_name(("a", "b")) == "told a, b"
    assert running._set_name(()) == "told nothing"


def test_errors_of_orders_and_of_episodes_add_up_as_squares_do() -> None:
    found = _widened(Estimate(1.0, 0.4, 2.5, 0.95, method="runs"), 0.8, "orders")
    assert found.ends == pytest.approx((0.0, 1.0 + (1.5**2 + 0.8**2) ** 0.5))
    assert (found.estimate, found.label) == (1.0, "approximate")
    assert found.method == "runs, orders"


def test_shares_are_those_of_the_first_policies_of_a_cube(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = Stand(policy="a"), Stand(policy="b")
    cube = Stand(policies=("a", "b"), returns="xy", success=1, failures=(one, two))
    monkeypatch.setattr(
        running, "replace", lambda given, **new: Stand(**{**vars(given), **new})
    )
    found = running._only(cube, 1)
    assert (found.policies, found.returns) == (("a",), "x")
    assert (found.success, found.failures) == (None, (one,))
