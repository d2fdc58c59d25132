"""As a program: what small trainings lead to, as hashes of all that was learnt."""

from __future__ import annotations

import json
from hashlib import sha256

import numpy as np

from simgap.continuous import open_jax
from tests.continuous.training.trial import trial

UPDATES = 5


def main() -> None:
    """Print hashes by what was trained."""
    import jax

    simulator = open_jax("pendulum")
    plain = trial(simulator, "nominal", "none", horizon=20)
    fixed = trial(simulator, "mass=1..1 g*=1", "none", horizon=20)
    assert plain.learner.network == fixed.learner.network  # one program serves both
    cases = {
        "nothing randomized": (plain, 0),
        "again": (plain, 0),
        "another seed": (plain, 1),
        "width zero": (plain.drawing("mass=1..1 g*=1"), 0),
        "a range": (plain.drawing("mass=1..1.1"), 0),
    }
    hashes = {}
    for name, (given, seed) in cases.items():
        leaves = jax.tree.leaves(given.trained(seed, UPDATES))
        every = b"".join(np.asarray(each).tobytes() for each in leaves)
        hashes[name] = sha256(every).hexdigest()
    print(json.dumps(hashes))


if __name__ == "__main__":
    main()
