"""What the planner's tuned constants are worth: each halved and doubled.

No bracket depends on them for being right, only for how soon it is narrow. For three
classes the bracket of the average gap is closed for some seconds, and the ratio of its
ends is compared with that of the constants as they are. Run it on a quiet machine:

    python -m benchmarks.planner_constants --seconds 5
"""

from __future__ import annotations

import argparse
from importlib import import_module

from simgap.instances import build_instance
from simgap.mdp import LatentMDP
from simgap.oracle import BoundedOracle, domain_randomization_oracle

CLASSES = {
    "lakes, H = 200": (
        "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart",
        200,
    ),
    "garnet, H = 100": ("garnet_mixture?states=20&actions=4&members=10", 100),
    "windy, H = 50": ("windy_grid?size=5&strength=0.15,0.45", 50),
}
CONSTANTS = (
    ("planner", "FIRST_EFFORT"),
    ("planner", "STALLED"),
    ("planner", "HOPE"),
    ("points", "FAR_APART"),
    ("points", "WANDER"),
    ("first_points", "PART_FOR_NODES"),
    ("lower_side", "PRUNE"),
    ("upper_side", "PRUNE"),
    ("upper_side", "MUCH"),
    ("upper_nodes", "HEDGE"),
)


def ratio(model: str, horizon: int, seconds: float) -> float:
    """Return the upper end of the average gap over its lower end."""
    latent = LatentMDP.uniform(build_instance(model))
    solver = BoundedOracle(gap_tolerance=1e-3, time_limit=seconds, episodes=2)
    found = domain_randomization_oracle(latent, horizon=horizon, solver=solver)
    return found.average_gap.upper / found.average_gap.lower


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    for model, horizon in CLASSES.values():
        ratio(model, horizon, 1.0)  # compile
    print("| constant | change | " + " | ".join(CLASSES) + " |")
    print("|---|---|" + "---|" * len(CLASSES))
    for _ in range(2):  # how much two runs differ that should not
        row(" ", "as it is", seconds)
    for home, name in CONSTANTS:
        module = import_module(f"simgap.oracle.bounded.{home}")
        was = getattr(module, name)
        for factor in (0.5, 2.0):
            setattr(module, name, was * factor)
            row(f"`{home}.{name}` = {was:g}", f"x {factor:g}", seconds)
        setattr(module, name, was)


def row(name: str, change: str, seconds: float) -> None:
    found = [ratio(model, horizon, seconds) for model, horizon in CLASSES.values()]
    cells = " | ".join(f"{each:.3f}" for each in found)
    print(f"| {name} | {change} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
