"""What the planner's constants are worth that matter: each halved and doubled.

    python -m benchmarks.planner_constants [--quick]

No bracket depends on them for being right, only for how soon it is narrow. For three
classes the bracket of the average gap is closed for two seconds of CPU time, three
times: the ratio of its ends. Differences within the spread of a row are noise.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from importlib import import_module

from benchmarks.results import Row, Spread, Table, run, spread
from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle import BoundedOracle, domain_randomization_oracle, watch

SECONDS, REPEATS = 2.0, 3
CLASSES = {
    "lakes, H=200": (
        "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart",
        200,
    ),
    "Garnet, H=100": ("garnet_mixture?states=20&actions=4&members=10", 100),
    "windy, H=50": ("windy_grid?size=5&strength=0.15,0.45", 50),
}
CONSTANTS = (
    ("points", "FAR_APART"),
    ("upper_side", "PART_FOR_NODES"),
    ("lower_side", "PRUNE"),
)


def constants(options: Namespace) -> Iterator[Row]:
    vars(watch)["clock"] = time.process_time  # others use this machine as well
    list(_ratios(SECONDS))  # compile
    yield "", "as it is", *_ratios(SECONDS)
    for home, name in CONSTANTS[: 1 if options.quick else None]:
        module = import_module(f"simgap.oracle.bounded.{home}")
        was = getattr(module, name)
        for factor in (0.5, 2.0):
            setattr(module, name, was * factor)
            yield f"`{home}.{name}` = {was:g}", f"x {factor:g}", *_ratios(SECONDS)
        setattr(module, name, was)


def _ratios(seconds: float) -> Iterator[Spread]:
    """Return the upper end of the average gap over its lower end, a class at a time."""
    solver = BoundedOracle(gap_tolerance=1e-3, time_limit=seconds, episodes=2)
    for model, horizon in CLASSES.values():
        latent = LatentMDP.uniform(build_instance(model))
        runs = [
            domain_randomization_oracle(latent, horizon=horizon, solver=solver)
            for _ in range(REPEATS)
        ]
        ends = [each.average_gap for each in runs]
        yield spread([each.upper / max(each.lower, 1e-300) for each in ends])


TABLES = (
    Table(
        "planner_constants",
        " | ".join(("constant", "change", *CLASSES)),
        constants,
        dict.fromkeys(CLASSES, 4),
    ),
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.planner_constants", str(__doc__), TABLES))
