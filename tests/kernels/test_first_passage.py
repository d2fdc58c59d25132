"""The forward recursion of an episode against dictionaries of Fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap._kernels.agents.first_passage import passage_steps
from simgap.arrays import FloatArray
from tests.reference.first_passage import Walk, passage

STEPS = 14


def random_walk(rng: np.random.Generator, S: int, two_sided: bool) -> Walk:
    """Some chain with jumps up to 3 and a threshold that lets part of it through."""
    rows = rng.integers(0, 4, (S, S)) + np.eye(S, dtype=np.int64)
    chances = [[Fraction(int(x), int(row.sum())) for x in row] for row in rows]
    size = rng.uniform(0.3, 1.5)
    thresholds = [Fraction(float(size * np.sqrt(n))) for n in range(STEPS + 1)]
    return Walk(
        chances=chances,
        jumps=[int(x) for x in rng.permutation([0, *rng.integers(0, 4, S - 1)])],
        rise=[Fraction(float(x)) for x in rng.normal(size=S)],
        drift=Fraction(float(rng.uniform(0.0, 1.5))),
        unit=Fraction(float(rng.uniform(0.3, 1.0))),
        thresholds=thresholds,
        two_sided=two_sided,
    )


def run(
    walk: Walk, *, columns: int, prune: float, stops: tuple[int, ...]
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The kernel from state 0, in as many calls as there are stops."""
    S = len(walk.chances)
    pairs = [(t, s) for t in range(S) for s in range(S) if walk.chances[s][t] > 0]
    counts = np.bincount([t for t, _ in pairs], minlength=S)
    alive, passed = np.zeros((2, STEPS + 1, S))
    alive[0, 0] = 1.0
    now, spare = np.zeros((2, S, columns))
    now[0, 0] = 1.0
    place, lost = np.array([0, 0, 1, 0]), np.zeros(2)
    for stop in stops:
        passage_steps(
            np.concatenate([[0], np.cumsum(counts)]),
            np.array([s for _, s in pairs], np.int32),
            np.array([float(walk.chances[s][t]) for t, s in pairs]),
            np.array(walk.jumps),
            np.array([float(x) for x in walk.rise]),
            float(walk.drift),
            float(walk.unit),
            np.array([float(x) for x in walk.thresholds]),
            np.full(STEPS + 1, 1e-12),
            walk.two_sided,
            prune,
            stop,
            place,
            now,
            spare,
            alive,
            passed,
            lost,
        )
    assert place[0] == STEPS or place[2] == 0
    return alive, passed, lost


@pytest.mark.parametrize("two_sided", [True, False])
@pytest.mark.parametrize("S", [1, 2, 3, 5])
def test_the_recursion_is_that_of_the_dictionaries(S: int, two_sided: bool) -> None:
    rng = np.random.default_rng(500 + S)
    passages = 0.0
    for _ in range(6):
        walk = random_walk(rng, S, two_sided)
        wanted = passage(walk, 0)
        alive, passed, lost = run(walk, columns=64, prune=1e-200, stops=(STEPS,))
        assert lost.sum() <= 1e-190
        for found, exact in zip((alive, passed), wanted, strict=True):
            floats = np.array([[float(x) for x in row] for row in exact])
            # every number is a sum of products of positive ones: a relative error
            assert found == pytest.approx(floats, rel=STEPS * (S + 2) * 2.0**-52, abs=0)
        passages += passed.sum()
    assert passages > 0.5  # the test of the band did fire


@pytest.mark.parametrize("prune", [1e-3, 1e-2, 0.1])
def test_no_chance_vanishes_without_being_counted(prune: float) -> None:
    rng = np.random.default_rng(511)
    lost_at_all = 0.0
    for _ in range(5):
        walk = random_walk(rng, 3, True)
        alive, passed, lost = run(walk, columns=64, prune=prune, stops=(STEPS,))
        whole = float(alive[-1].sum() + passed.sum() + lost.sum())
        assert whole == pytest.approx(1.0, abs=1e-13)
        lost_at_all += float(lost[0])
    assert lost_at_all > 0.0
