"""statisticalrl's UCRL2 and PSRL on a model of ours: the peers of the learners.

statisticalrl pins old releases of NumPy and SciPy, so it wants an environment of its
own, with Python 3.10 or 3.11; `benchmarks.simulate` is given its interpreter:

    python3.11 -m venv learners
    learners/bin/pip install statisticalrl==2.2507

The model is ours, handed over edge by edge and played in the peer's own DiscreteMDP;
the loop around it is ours too: theirs keeps lists (about 1 % slower) and has no seeds.
Counted is CPU time from the learner's reset to its last step.

rlberry 0.7.3 and rlberry-scool 0.7.3 have UCBVI, LSVI-UCB, MBQVI, value iteration,
Q-learning and SARSA, for episodes or a discount: no UCRL2, no PSRL, no average reward,
so nothing of theirs is compared.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import io
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from benchmarks.results import Asked, answer, started

if TYPE_CHECKING:  # the peer's interpreter has no simgap
    from simgap.mdp import TabularMDP

ENVIRONMENTS = "statisticalrl_environments.MDPs_discrete.gymWrapper"
LEARNERS = "statisticalrl_learners.MDPs_discrete"
CONFIDENCE = 0.05  # delta of UCRL2 in their template; their PSRL ignores it


def peer_rates(
    python: str, model: TabularMDP, learner: str, *, steps: int, seeds: Sequence[int]
) -> list[float]:
    """Return the steps per CPU second of the peer's learner, for every seed."""
    rows = [
        [model.transitions.row(0, s, a) for a in range(model.n_actions)]
        for s in range(model.n_states)
    ]
    asked = {
        "learner": learner,
        "steps": steps,
        "seeds": list(seeds),
        "start": model.as_class().start_law(0).tolist(),
        "rewards": model.rewards.tolist(),
        "successors": [[after.tolist() for after, _ in row] for row in rows],
        "weights": [[law.tolist() for _, law in row] for row in rows],
    }
    found = started(python, "benchmarks.learning_peers", asked)
    return [steps / each["seconds"] for each in found]


def played(asked: Asked) -> Iterator[Asked]:
    """Return what every seed took; runs in the peer's interpreter."""
    _seconds(asked, seed=0, steps=50)  # first calls are slower
    for seed in asked["seeds"]:
        gc.collect()
        yield {"seconds": _seconds(asked, seed=seed, steps=asked["steps"])}


def _seconds(asked: Asked, *, seed: int, steps: int) -> float:
    import numpy as np

    world, name = _world(asked), asked["learner"]
    np.random.seed(seed)  # noqa: NPY002, their learners draw from the global generator
    state, _ = world.reset(seed=seed)
    made = getattr(importlib.import_module(f"{LEARNERS}.{name}"), name)
    learner = made(world.nS, world.nA, CONFIDENCE)
    with contextlib.redirect_stdout(io.StringIO()):
        begin = time.process_time()
        learner.reset(state)
        for _ in range(steps):
            action = learner.play(state)
            after, paid, *_ = world.step(action)
            learner.update(state, action, paid, after)
            state = after
        return time.process_time() - begin


def _world(asked: Asked) -> Any:
    """Return our model as the peer's environment."""
    theirs = importlib.import_module(ENVIRONMENTS)
    rewards = asked["rewards"]
    moves = {
        s: {
            a: [
                (p, after, False)
                for p, after in zip(law, successors[a], strict=True)
                if p > 0.0
            ]
            for a, law in enumerate(asked["weights"][s])
        }
        for s, successors in enumerate(asked["successors"])
    }
    paid = {s: dict(enumerate(map(theirs.Dirac, row))) for s, row in enumerate(rewards)}
    return theirs.DiscreteMDP(
        len(rewards), len(rewards[0]), moves, paid, asked["start"]
    )


if __name__ == "__main__":
    sys.exit(answer(played))
