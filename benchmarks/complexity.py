"""How long measures of a class take, and what the kernels save over NumPy.

    OMP_NUM_THREADS=1 python -m benchmarks.complexity

Seconds are CPU time. Goals: separation of 500 models within a minute; function class,
eluder dimension and covering number of 200 models with 1000 pairs (s, a) within one.
"""

from __future__ import annotations

import sys
from resource import RUSAGE_SELF, getrusage
from time import process_time

import numpy as np

from simgap.arrays import FloatArray
from simgap.complexity import (
    covering_number,
    eluder_dimension,
    function_class,
    separation,
)
from simgap.instances import garnet, garnet_mixture, riverswim
from simgap.mdp import SimulatorClass, class_from_arrays

MINUTE = 60.0


def main() -> int:
    """Print a line per task, exit 1 if a goal is missed."""
    small = garnet(states=6, actions=2, members=4)
    separation(small)  # compiled, or read from the cache
    eluder_dimension(function_class(small), 0.01)
    missed = 0
    for name, some in (
        ("sparse, S=250, A=4, b=5", garnet(250, 4, 5, 500, seed=1)),
        ("dense, S=30, A=10", dense(500, 30, 10)),
    ):
        begin = process_time()
        found = separation(some)
        ours = process_time() - begin
        begin = process_time()
        plain = distances_with_numpy(some)
        theirs = process_time() - begin
        assert np.allclose(plain, found.distance, atol=1e-12)
        missed += ours > MINUTE
        print(f"separation of 500 models, {name}: {ours:.1f} s; NumPy, L1 alone: "
              f"{theirs:.1f} s")  # fmt: skip
    for name, some in (
        ("Garnet", garnet(250, 4, 5, 200, seed=1)),
        ("Garnet mixture", garnet_mixture(250, 4, 5, 200)),
        ("RiverSwim", riverswim(500, tuple(np.linspace(0.6, 0.8, 200)))),
    ):
        begin = process_time()
        functions = function_class(some)
        built = process_time() - begin
        begin = process_time()
        eluder = eluder_dimension(functions, 0.01)
        cover = covering_number(functions, 0.01)
        measured = process_time() - begin
        missed += built + measured > MINUTE
        peak = getrusage(RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name}, 200 models, S A = 1000: class {built:.1f} s, "
              f"measures {measured:.1f} s, {functions.n_points} points, "
              f"eluder [{eluder.lower}, {eluder.upper}], "
              f"cover [{cover.lower}, {cover.upper}]; peak {peak:.0f} MB")  # fmt: skip
    print(f"{missed} goals missed")
    return 1 if missed else 0


def dense(members: int, states: int, actions: int) -> SimulatorClass:
    """Every pair leads everywhere, in each model with chances of its own."""
    rng = np.random.default_rng(0)
    kernel = rng.random((members, states, actions, states))
    kernel /= kernel.sum(axis=3, keepdims=True)
    return class_from_arrays(kernel, rng.random((states, actions)))


def distances_with_numpy(simulators: SimulatorClass) -> FloatArray:
    """Return the greatest L1 distances, one (s, a) at a time."""
    kernel, members = simulators.transitions, len(simulators)
    best = np.zeros((members, members))
    for begin, end in zip(kernel.indptr[:-1], kernel.indptr[1:], strict=True):
        rows = kernel.values[:, begin:end]
        for i in range(members):
            apart = np.abs(rows - rows[i]).sum(axis=1)
            np.maximum(best[i], apart, out=best[i])
    return best


if __name__ == "__main__":
    sys.exit(main())
