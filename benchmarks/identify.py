"""How long it takes to compare models in pairs, and what the kernel saves over NumPy.

    OMP_NUM_THREADS=1 python -m benchmarks.identify

Seconds are CPU time. Goal: 2000 pairs within a minute.
"""

from __future__ import annotations

import sys
from time import process_time

import numpy as np

from simgap._kernels.solving.affinity import least_affinity
from simgap.answers.identify.identify import identify
from simgap.answers.identify.shared_paths import SharedPaths, shared_paths
from simgap.arrays import FloatArray
from simgap.instances import catalogue, garnet
from simgap.mdp import LatentMDP

MINUTE = 60.0
SWEEPS = 2_000


def main() -> int:
    """Print a line per task, exit 1 if a goal is missed."""
    for states in (6, 100, 2_000):
        paths = shared_paths(garnet(states=states, actions=4, members=2), 0, 1)
        _with_kernel(paths, 1)  # compiled, or read from the cache
        begin = process_time()
        ours = _with_kernel(paths, SWEEPS)
        middle = process_time()
        plain = _with_numpy(paths, SWEEPS)
        end = process_time()
        assert np.allclose(ours, plain, rtol=1e-9)
        print(f"{SWEEPS} sweeps over {states} states: {middle - begin:.3f} s; "
              f"NumPy: {end - middle:.3f} s")  # fmt: skip
    missed = 0
    for text in (
        "gym:FrozenLake-v1?success_rate=0.3:0.9:63&terminal=restart",
        "gym:FrozenLake8x8-v1?success_rate=0.3:0.9:60&terminal=absorb",
        "garnet?states=500&actions=4&branching=5&members=60&separation=0.1",
    ):
        latent = LatentMDP.uniform(catalogue.build_instance(text))
        begin = process_time()
        found = identify(latent)
        seconds = process_time() - begin
        missed += seconds > MINUTE
        assert found.slowest is not None
        slowest = found.pairs[found.slowest].steps
        print(f"{text}: {len(found.pairs)} pairs in {seconds:.1f} s, the slowest "
              f"takes {slowest.lower} to {slowest.upper} steps")  # fmt: skip
    print(f"{missed} goals missed")
    return 1 if missed else 0


def _with_kernel(paths: SharedPaths, sweeps: int) -> FloatArray:
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    least_affinity(
        paths.groups,
        paths.indptr,
        paths.indices,
        paths.shared,
        paths.start,
        -1.0,
        values,
        series,
    )
    return series


def _with_numpy(paths: SharedPaths, sweeps: int) -> FloatArray:
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    for n in range(sweeps):
        rows = np.add.reduceat(paths.shared * values[paths.indices], paths.indptr[:-1])
        values = np.minimum.reduceat(rows, paths.groups[:-1])
        series[n] = paths.start @ values
    return series


if __name__ == "__main__":
    sys.exit(main())
