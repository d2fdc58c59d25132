"""Start laws by convolution: both ways against Fractions, and where they end."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from simgap.arrays import FloatArray
from simgap.gap import start_times
from simgap.gap.start_times import Passages, StartTimes, next_starts

HORIZON = 60


def random_laws(seed: int) -> tuple[StartTimes, dict[int, Passages]]:
    """Starts at 5..24 in three states, passages of different lengths and targets."""
    rng = np.random.default_rng(seed)
    starts = StartTimes(5, rng.random((3, 20)) ** 8 / 60.0)
    passages = {}
    for state, (earliest, length) in enumerate([(1, 30), (4, 50), (9, 3)]):
        targets = np.flatnonzero(rng.random(3) < 0.8)
        chances = rng.random((targets.size, length)) ** 8 / (3.0 * length)
        passages[state] = Passages(targets, earliest, chances)
    return starts, passages


def exact(starts: StartTimes, passages: dict[int, Passages]) -> list[list[Fraction]]:
    """The sum over all pairs of times, (S, H + 1)."""
    out = [[Fraction(0)] * (HORIZON + 1) for _ in range(3)]
    for state, law in passages.items():
        for i, f in enumerate(starts.chances[state]):
            for row, target in enumerate(law.states):
                for j, g in enumerate(law.chances[row]):
                    t = starts.earliest + i + law.earliest + j
                    if t <= HORIZON:
                        out[target][t] += Fraction(float(f)) * Fraction(float(g))
    return out


def laid_out(starts: StartTimes) -> FloatArray:
    table = np.zeros((3, HORIZON + 1))
    end = starts.earliest + starts.chances.shape[1]
    table[:, starts.earliest : end] = starts.chances
    return table


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("direct", [0, 2**40])
def test_the_next_start_is_the_sum_over_all_pairs_of_times(
    seed: int, direct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start_times, "DIRECT", direct)
    starts, passages = random_laws(seed)
    wanted = exact(starts, passages)
    found = next_starts(starts, passages, HORIZON, prune=1e-300)
    table = laid_out(found.starts)
    off = sum(
        abs(Fraction(float(table[s, t])) - wanted[s][t])
        for s in range(3)
        for t in range(HORIZON + 1)
    )
    if direct == 0:
        assert 0 < off <= found.error <= 1e-12
        assert found.terms == 0
    else:
        total = sum(sum(row) for row in wanted)
        assert off <= found.terms * Fraction(2.0**-52) * total
        assert found.error == 0.0
    assert found.dropped <= 1e-290


def test_unlikely_ends_are_cut_off_and_counted() -> None:
    starts, passages = random_laws(9)
    whole = next_starts(starts, passages, HORIZON, prune=1e-300)
    cut = next_starts(starts, passages, HORIZON, prune=1e-4)
    assert 0.0 < cut.dropped < 1e-2
    assert cut.starts.chances.shape[1] < whole.starts.chances.shape[1]
    assert cut.starts.total + cut.dropped == pytest.approx(
        whole.starts.total, abs=1e-15
    )
    nothing = next_starts(starts, passages, HORIZON, prune=0.5)
    assert nothing.starts.chances.size == 0
    assert nothing.dropped == pytest.approx(whole.starts.total, abs=1e-15)


def test_passages_beyond_the_horizon_start_nothing() -> None:
    starts, passages = random_laws(3)
    late = StartTimes(HORIZON, starts.chances[:, :1])
    assert next_starts(late, passages, HORIZON, prune=1e-30).starts.chances.size == 0
    assert next_starts(starts, {}, HORIZON, prune=1e-30).starts.chances.size == 0
