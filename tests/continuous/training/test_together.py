"""Seeds trained in one program, as on an accelerator, are those of one each."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from simgap.continuous import bind, open_simulator, parse_memory, preset
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import learner_of
from simgap.continuous.training.trainer import Training, trained

SETTINGS = {"rows": 8, "minibatches": 2, "epochs": 1, "units": 8}


@pytest.mark.slow
def test_seeds_side_by_side_learn_what_each_learns_alone() -> None:
    simulator = open_simulator("servo")
    randomization = bind("gain=0.5..1.5 sign={-1,1}", simulator)
    settings = preset(parse_memory("none"), 20, **SETTINGS)
    learner = learner_of(simulator, settings, features_of(randomization))
    trainings = [
        Training(learner, randomization, 5 * settings.batch, seed) for seed in (3, 4)
    ]
    both = trained(trainings)
    alone = [trained([each])[0] for each in trainings]
    for one, other in zip(both, alone, strict=True):
        pairs = zip(
            jax.tree.leaves(one.learnt), jax.tree.leaves(other.learnt), strict=True
        )
        for a, b in pairs:
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(one.returns, other.returns, rtol=1e-4)
    assert not np.allclose(both[0].returns, both[1].returns)
