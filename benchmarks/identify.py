"""How long it takes to compare models in pairs, and what the kernel saves over NumPy.

    OMP_NUM_THREADS=1 python -m benchmarks.identify [--quick]

Seconds are CPU time. Goal: 2000 pairs within a minute.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.results import Row, Table, measured, ratio, run, scaled, spread, timed
from benchmarks.twins import affinities
from simgap._kernels.solving.affinity import least_affinity
from simgap.answers.identify.identify import identify
from simgap.answers.identify.shared_paths import SharedPaths, shared_paths
from simgap.arrays import FloatArray
from simgap.instances import catalogue, garnet
from simgap.mdp import LatentMDP

MINUTE = 60.0
SWEEPS = 2_000
CLASSES = (
    "gym:FrozenLake-v1?success_rate=0.3:0.9:63&terminal=restart",
    "gym:FrozenLake8x8-v1?success_rate=0.3:0.9:60&terminal=absorb",
    "garnet?states=500&actions=4&branching=5&members=60&separation=0.1",
)


def sweeps(_: Namespace) -> Iterator[Row]:
    for states in (6, 100, 2_000):
        paths = shared_paths(garnet(states=states, actions=4, members=2), 0, 1)
        (ours, plain), seconds = measured(
            partial(timed, compiled, paths, SWEEPS),
            partial(timed, affinities, paths, SWEEPS),
        )
        assert np.allclose(ours, plain, rtol=1e-9)
        ends = scaled(seconds[0], 1e3), scaled(seconds[1], 1e3)
        yield f"S={states}", *ends, ratio(seconds[1], seconds[0])


def pairs(options: Namespace) -> Iterator[Row]:
    for text in CLASSES[:1] if options.quick else CLASSES:
        latent = LatentMDP.uniform(catalogue.build_instance(text))
        (found,), (seconds,) = measured(partial(timed, identify, latent), repeats=3)
        assert found.slowest is not None
        slowest = found.pairs[found.slowest].steps
        taken = spread(seconds)
        steps = f"{slowest.lower} to {slowest.upper}"
        yield f"`{text}`", len(found.pairs), taken, steps, taken.median <= MINUTE


def compiled(paths: SharedPaths, sweeps: int) -> FloatArray:
    """Return the affinities after so many sweeps, by the kernel."""
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    graph = (paths.groups, paths.indptr, paths.indices, paths.shared, paths.start)
    least_affinity(*graph, -1.0, values, series)
    return series


TABLES = (
    Table(
        "identify_sweeps",
        f"{SWEEPS} sweeps over a pair, Garnet | kernel, ms | NumPy, ms | times as fast",
        sweeps,
    ),
    Table(
        "identify",
        "class | pairs | CPU s | steps that the slowest pair needs | met",
        pairs,
    ),
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.identify", str(__doc__), TABLES))
