"""How far from the optimum are trained policies, and which part of it is the grid?

    R="mass=0.5..1.5 length=0.6..1.4 g=7..13"
    simgap train pendulum --randomize "$R" --steps 1e6 --seeds 2 --memory none --informed --out RUN
    simgap train pendulum --randomize "$R" --steps 1e6 --seeds 2 --out RUN
    python -m benchmarks.bridge RUN

prints the table of docs/validation.md: three numbers for every policy on finer and
finer grids, mean over the same points.
"""  # noqa: E501 (commands)

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import simgap
from simgap.intervals import Estimate, Interval

NODES = ("41x41", "81x81", "161x161")
HEAD = (
    "| nodes | policy | optimum of the tables | the policy there | it loses | in the "
    "simulator | the grid changes |\n|---|---|---|---|---|---|---|"
)


def main() -> None:
    """Grade the policies of a folder of trainings on every grid."""
    print(HEAD)
    for nodes in NODES:
        with TemporaryDirectory() as folder:
            answer = simgap.transfer(
                sys.argv[1],
                references=f"grid:{nodes}",
                design="sobol:16",
                episodes=32,
                beyond=1.0,
                out=Path(folder),
                progress=lambda text: print(text, file=sys.stderr),
            )
        for policy in answer.policies:
            found = policy.on_grid
            if found is None:
                plan = f"{policy.mean.estimate:.1f}"
                print(f"| {nodes} | plan of the grid | | | | {plan} | |", flush=True)
                continue
            numbers = (found.optimum, found.value, found.lost)
            cells = " | ".join(map(told, numbers))
            here = found.value.middle - found.grid.estimate
            print(
                f"| {nodes} | {policy.name} | {cells} | {here:.1f} | "
                f"{told(found.grid)} |",
                flush=True,
            )


def told(found: Interval) -> str:
    """Return a number, with its reach if it was sampled."""
    if not isinstance(found, Estimate):
        return f"{found.middle:.1f}"
    return f"{found.estimate:.1f} ± {(found.upper - found.lower) / 2.0:.1f}"


if __name__ == "__main__":
    main()
