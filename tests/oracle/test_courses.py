"""How planning goes on fixed problems: counted work decides, so it goes so everywhere.

Brackets hold whatever the planner does next; this notices if it needs more work for
them, or comes to less. Ends, nodes and memory after every piece of work, and what
simpler policies came to, are kept in `courses.json`. A change that means to plan
otherwise writes them anew, to be read before they are committed:
`python -m tests.oracle.test_courses`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simgap.instances import best_arm, garnet_mixture, riverswim
from simgap.intervals import Certified, Estimate
from simgap.mdp import LatentMDP
from simgap.oracle.baselines.table import baselines
from simgap.oracle.entry import domain_randomization_oracle
from simgap.oracle.loss_form import loss_form
from simgap.oracle.settings import AutoOracle, BoundedOracle, ExactOracle, GridOracle
from tests.policies.cases import random_latent

KEPT = Path(__file__).with_name("courses.json")
PATIENT = 1e4  # seconds: the clock never decides


def _random(seed: int, **shape: int) -> LatentMDP:
    return random_latent(np.random.default_rng(seed), **shape)


def _garnet(members: int) -> LatentMDP:
    return LatentMDP.uniform(garnet_mixture(members=members))


def _river() -> LatentMDP:
    return LatentMDP.uniform(riverswim(states=4, success=[0.3, 0.6, 0.8]))


def _arms() -> LatentMDP:
    return LatentMDP.uniform(best_arm(4, 0.2))


BOUNDED = BoundedOracle(gap_tolerance=0.02, time_limit=PATIENT, episodes=200)
GRID = GridOracle(gap_tolerance=0.02, time_limit=PATIENT, episodes=200)
EXACT = ExactOracle(episodes=200)
AUTO = AutoOracle(time_limit=PATIENT, episodes=200)
Case = tuple[Callable[[], LatentMDP], dict[str, Any], Any]
CASES: dict[str, Case] = {
    "bounded": (partial(_random, 1, members=4), {"horizon": 12}, BOUNDED),
    "discounted": (partial(_random, 2, members=3), {"discount": 0.8}, BOUNDED),
    "without prior": (
        partial(_random, 3, members=4, without_prior=1), {"horizon": 8}, BOUNDED,
    ),
    "garnet": (partial(_garnet, 4), {"horizon": 8}, BOUNDED),
    "river": (_river, {"horizon": 60}, BOUNDED),
    "grid": (_river, {"horizon": 200}, GRID),
    "exact": (partial(_random, 4, members=4), {"horizon": 6}, EXACT),
    "arms": (_arms, {"horizon": 12}, EXACT),
    "auto": (partial(_garnet, 3), {"horizon": 12}, AUTO),
}  # fmt: skip


def course(name: str) -> dict[str, Any]:
    """Return what planning and baselines did, but for the time that it took."""
    made, length, solver = CASES[name]
    latent = made()
    found = domain_randomization_oracle(latent, **length, solver=solver)
    cost, estimated = found.statistics, found.estimated_gap
    assert estimated is not None
    table = baselines(loss_form(latent, **length), effort=0.02)
    return {
        "outcome": found.outcome.value,
        "nodes": [cost.nodes, found.policy.node_state.size],
        "vectors": len(found.belief_policy.vectors),
        "bytes": cost.largest_bytes,
        "trace": [[each.lower, each.upper] for each in cost.trace],
        "prices": [found.pair_prices_lower.tolist(), found.pair_prices_upper.tolist()],
        "gaps": found.gap_intervals.tolist(),
        "estimated": _numbers(estimated),
        "baselines": [
            [each.name, *_numbers(each.average_gap), each.least_gap, each.note]
            for each in table
        ],
    }


def _numbers(average: Certified | Estimate) -> list[float]:
    if isinstance(average, Certified):
        return [*average.ends]
    return [average.estimate, average.lower, average.upper]


def assert_alike(found: Any, kept: Any) -> None:
    """Rounding is not the same on all processors, and may decide what comes next."""
    if isinstance(kept, (int, float)):
        assert found == pytest.approx(kept, rel=5e-3, abs=1e-9)
    elif isinstance(kept, list):
        assert len(found) == len(kept)
        for one, other in zip(found, kept, strict=True):
            assert_alike(one, other)
    else:
        assert found == kept


@pytest.mark.parametrize("name", CASES)
def test_planning_goes_as_it_went(name: str) -> None:
    kept, found = json.loads(KEPT.read_text())[name], course(name)
    assert list(found) == list(kept)
    for part in kept:
        assert_alike(found[part], kept[part])


if __name__ == "__main__":
    lines = (f"{json.dumps(each)}: {json.dumps(course(each))}" for each in CASES)
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")
