"""Two thousand problems in Fractions, all solvers: no certified number may miss."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.enclosure import misses, misses_in_the_long_run, random_problem

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seed", range(20))
def test_no_certified_number_misses_the_truth(seed: int) -> None:
    rng = np.random.default_rng([seed, 1300])
    for _ in range(100):
        latent, horizon = random_problem(rng, most_histories=200)
        assert list(misses(latent, horizon)) == []
        assert list(misses_in_the_long_run(latent.simulators)) == []
