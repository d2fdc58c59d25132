"""The importance score of Algorithm 4 (theory 2.13)."""

from __future__ import annotations

import numpy as np
import pytest

from simgap.complexity import importance
from simgap.errors import InvalidArgument


def test_the_score_is_the_greatest_ratio() -> None:
    rng = np.random.default_rng(51)
    for _ in range(50):
        count = int(rng.integers(1, 6))
        fresh, kept = rng.random((2, count, count))
        fresh, kept = fresh + fresh.T, kept + kept.T
        np.fill_diagonal(fresh, 0.0)
        np.fill_diagonal(kept, 0.0)
        found = importance(fresh, kept, alpha=1.5)
        ratios = [
            fresh[i, j] / (kept[i, j] + 1.5) for i in range(count) for j in range(count)
        ]
        assert found.score == max(ratios)
        assert fresh[found.first, found.second] == pytest.approx(
            found.score * (kept[found.first, found.second] + 1.5)
        )


@pytest.mark.parametrize(
    ("fresh", "kept", "alpha", "says"),
    [
        ([[0.0, 1.0]], [[0.0, 1.0]], 1.0, "square"),
        (np.zeros((2, 2)), np.zeros((3, 3)), 1.0, "shapes"),
        (np.zeros((2, 2)), np.zeros((2, 2)), 0.0, "alpha"),
        ([[-1.0]], [[0.0]], 1.0, "negative"),
        ([[np.nan]], [[0.0]], 1.0, "not finite"),
    ],
)
def test_bad_matrices_are_refused(
    fresh: object, kept: object, alpha: float, says: str
) -> None:
    with pytest.raises(InvalidArgument, match=says):
        importance(fresh, kept, alpha=alpha)  # type: ignore[arg-type]
