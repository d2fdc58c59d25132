"""Shares of games whose Shapley values are known, from returns that were sampled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from simgap.answers.blame.told_shares import (
    ToldSets,
    ToldShares,
    all_sets,
    sets_of_orders,
    told_shares,
)
from simgap.arrays import FloatArray
from simgap.continuous import Cube, Drawn, DrawnPoints

Game = Callable[[int], float]  # from a set, as bits
DRAWS = DrawnPoints(Drawn.INDEPENDENT)
POINTS, EPISODES = 40, 4
NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")


def additive(told: int) -> float:
    """Return 3 for a, 1 for b, nothing for c, -1 for d."""
    return sum(w for at, w in enumerate((3.0, 1.0, 0.0, -1.0)) if told >> at & 1)


def gloves(told: int) -> float:
    """Return 6 for a left glove and at least one of two right ones (Shapley 1953)."""
    return 6.0 * (bool(told & 1) and bool(told & 0b110))


def cube_of(
    told: ToldSets,
    game: Game,
    *,
    seeds: int = 1,
    shared: float = 0.0,
    own: float = 0.0,
    training: float = 0.0,
    seed: int = 0,
) -> Cube:
    """Return returns of a game with noise.

    `shared` noise is that of an episode with any set told, `own` that of one set, and
    `training` changes what a training makes of the game.
    """
    rng = np.random.default_rng(seed)
    values = np.array([game(each) for each in told.sets])
    trained = values[:, None] * (1.0 + training * rng.standard_normal(seeds))
    noise = shared * rng.standard_normal((1, 1, POINTS, EPISODES))
    alone = own * rng.standard_normal((len(values), seeds, POINTS, EPISODES))
    return Cube(
        policies=tuple(map(str, told.sets)),
        parameters=("mass",),
        theta=np.linspace(0.0, 1.0, POINTS)[:, None],
        inside=np.ones(POINTS, np.bool_),
        returns=trained[:, :, None, None] + noise + alone,
    )


def shares_of(found: ToldShares) -> dict[str, float]:
    return {each.name: each.share.estimate for each in found.parameters}


def solved(players: int, game: Game, **noise: float) -> ToldShares:
    told = all_sets(players)
    cube = cube_of(told, game, **noise)  # type: ignore[arg-type]
    return told_shares(cube, told, NAMES[:players], DRAWS)


@pytest.mark.parametrize(
    ("players", "game", "shares"),
    [
        (4, additive, {"a": 3.0, "b": 1.0, "c": 0.0, "d": -1.0}),
        (3, gloves, {"a": 4.0, "b": 1.0, "c": 1.0}),
        (5, lambda told: 5.0 * (told == 31), dict.fromkeys("abcde", 1.0)),
        (1, lambda told: 7.0 * told, {"a": 7.0}),
    ],
)
def test_shares_are_those_of_closed_forms(
    players: int, game: Game, shares: dict[str, float]
) -> None:
    assert shares_of(solved(players, game)) == pytest.approx(shares)


def test_told_first_and_told_last_stand_beside_the_share() -> None:
    found = {each.name: each for each in solved(3, gloves).parameters}
    ends = {k: (e.first.estimate, e.last.estimate) for k, e in found.items()}
    for name, found_ends in {"a": (0.0, 6.0), "b": (0.0, 0.0), "c": (0.0, 0.0)}.items():
        assert ends[name] == pytest.approx(found_ends)
    parts = {k: e.part and e.part.estimate for k, e in found.items()}
    assert parts == pytest.approx({"a": 2 / 3, "b": 1 / 6, "c": 1 / 6})


@pytest.mark.parametrize("told", [all_sets(3), sets_of_orders(8, 5, 0)])
def test_shares_add_up_to_the_total_whatever_the_noise(told: ToldSets) -> None:
    cube = cube_of(told, gloves, seeds=3, own=20.0, training=0.5)
    found = told_shares(cube, told, NAMES[: told.players], DRAWS)
    total = found.total.value.estimate
    assert sum(shares_of(found).values()) == pytest.approx(total, rel=1e-12)


def test_luck_that_all_sets_share_cancels_and_other_luck_does_not() -> None:
    def width(found: ToldShares) -> float:
        share = found.parameters[0].share
        return share.upper - share.lower

    assert width(solved(3, gloves, shared=50.0)) < 1e-9
    assert width(solved(3, gloves, own=50.0)) > 1.0


def covered(seeds: int, training: float, *, of: str) -> float:
    """Return how often the interval of the first share of a game holds its value."""
    hits = 0
    for at in range(200):
        told = all_sets(3)
        cube = cube_of(told, gloves, seeds=seeds, own=8.0, training=training, seed=at)
        found = told_shares(cube, told, NAMES[:3], DRAWS)
        first = next(each for each in found.parameters if each.name == "a")
        hits += getattr(first, of).lower <= 4.0 <= getattr(first, of).upper
    return hits / 200


@pytest.mark.slow
def test_intervals_hold_with_the_spread_of_trainings_and_not_without() -> None:
    assert covered(1, 0.0, of="share") >= 0.9
    assert covered(5, 0.5, of="share") >= 0.9
    assert covered(5, 0.5, of="evaluation") < 0.8  # of these very policies alone


def sampled(pairs: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the share of a in 8 players' gloves, and of one other."""
    told = sets_of_orders(8, pairs, seed)
    cube = cube_of(told, gloves, own=0.01, seed=seed)
    found = {e.name: e for e in told_shares(cube, told, NAMES, DRAWS).parameters}
    ends = [[found[k].share.lower, found[k].share.upper] for k in "ab"]
    return np.array(ends), np.array([found[k].share.estimate for k in "ab"])


@pytest.mark.slow
def test_shares_from_orders_have_the_error_of_the_orders() -> None:
    """Six dummies change nothing: a has 4 of 6, b has 1, whoever else plays."""
    hits, wrong = 0, 0.0
    for seed in range(40):
        ends, estimate = sampled(12, seed)
        hits += int(np.all((ends[:, 0] <= [4.0, 1.0]) & (ends[:, 1] >= [4.0, 1.0])))
        wrong = max(wrong, float(np.abs(estimate - [4.0, 1.0]).max()))
    assert hits >= 34
    assert wrong > 0.2  # without the error of the orders, intervals would be 0.01 wide
