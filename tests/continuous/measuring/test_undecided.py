"""A question that is open has a price, and rounds go on until it is answered."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.continuous import Cube, Drawn, DrawnPoints, Rounds, graded, next_round
from simgap.continuous.measuring.means import Level
from simgap.continuous.measuring.stopping import undecided

POINTS = 64
DRAWN = DrawnPoints(Drawn.INDEPENDENT)


def cube(episodes: int, *, noise: float, spread: float, seed: int = 0) -> Cube:
    """Return a policy that loses 1 on average, with noise of pairs of episodes."""
    rng = np.random.default_rng(seed)
    loss = 1.0 + spread * rng.standard_normal((POINTS, 1))
    mine = np.zeros((POINTS, episodes))
    best = loss + noise * rng.standard_normal((POINTS, 1000))[:, :episodes]
    return Cube(
        policies=("mine", "best"),
        parameters=("mass",),
        theta=np.linspace(0.0, 1.0, POINTS)[:, None],
        inside=np.ones(POINTS, np.bool_),
        returns=np.stack([mine, best])[:, None],
        references=("best",),
    )


def test_episodes_that_are_promised_to_decide_do() -> None:
    """Noise of 8 and a distance of 0.3: 64 points need about 40 episodes each."""
    decided = 0
    for seed in range(40):
        few = cube(8, noise=8.0, spread=0.1, seed=seed)
        for each in undecided(few, DRAWN, 0.7, Level()):
            assert each.policy == "mine"
            if each.episodes is None or each.episodes > 900:
                continue
            more = cube(each.episodes, noise=8.0, spread=0.1, seed=seed)
            decided += not undecided(more, DRAWN, 0.7, Level())
    assert decided >= 8  # a promise is an estimate: it comes true about half the time


def test_where_points_differ_more_episodes_are_no_help() -> None:
    (found,) = undecided(cube(64, noise=0.1, spread=4.0), DRAWN, 1.0, Level())
    assert found.episodes is None
    assert found.points > POINTS
    rounds = Rounds(threshold=1.0)
    why = next_round(
        rounds, cube(64, noise=0.1, spread=4.0), look=1, steps=1, points=DRAWN
    ).why
    assert why == "points-limit"


def test_rounds_end_when_it_is_decided_and_not_before() -> None:
    rounds, looks = Rounds(threshold=0.85, most=1000), []
    for seed in range(10):
        episodes, look = 16, 1
        while True:
            now = cube(episodes, noise=8.0, spread=0.1, seed=seed)
            found = next_round(rounds, now, look=look, steps=1, points=DRAWN)
            if found.episodes is None:
                break
            assert undecided(now, DRAWN, 0.85, Level(look=look))
            episodes, look = found.episodes, look + 1
        assert found.why in ("decided", "most-episodes")
        looks.append(look)
    assert sorted(looks)[2] > 1


def test_wrong_decisions_are_as_rare_as_the_level_says_although_it_looks() -> None:
    """The loss is the threshold: every decision is wrong. Control: a level for all."""
    wrong = naive = 0
    for seed in range(100):
        every = {
            k: cube(k, noise=8.0, spread=0.0, seed=seed) for k in (8, 32, 128, 512)
        }
        looks = enumerate(every.values(), start=1)
        wrong += any(not undecided(e, DRAWN, 1.0, Level(look=j)) for j, e in looks)
        naive += any(not undecided(e, DRAWN, 1.0, Level(0.8)) for e in every.values())
    assert wrong <= 12  # 5 expected at most
    assert naive > 25


@pytest.mark.parametrize(("threshold", "code"), [(0.99, "undecided"), (None, "")])
def test_a_note_names_the_price(threshold: float | None, code: str) -> None:
    found = graded(cube(16, noise=8.0, spread=0.1), DRAWN, threshold=threshold)
    codes = [each.code for each in found.notes]
    assert ("undecided" in codes) == (code == "undecided")


def test_how_fast_episodes_are_changes_no_number() -> None:
    given = cube(16, noise=8.0, spread=0.1)
    slow, unknown = (
        graded(given, DRAWN, threshold=0.99, pace=pace) for pace in (10.0, None)
    )
    assert slow.policies == unknown.policies
    texts = [
        next(note.text for note in each.notes if note.code == "undecided")
        for each in (slow, unknown)
    ]
    assert texts[0] != texts[1]
