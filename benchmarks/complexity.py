"""How long measures and comparisons of models take, and what kernels save over NumPy.

    OMP_NUM_THREADS=1 python -m benchmarks.complexity [--quick]

Seconds are CPU time. Goals, a minute each: separation of 500 models; function class,
eluder dimension and covering number of 200 models with 1000 pairs (s, a); experiments
that tell 2000 pairs of models apart.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.results import Row, Table, measured, ratio, run, scaled, spread, timed
from benchmarks.twins import affinities, greatest_l1
from simgap._kernels.solving.affinity import least_affinity
from simgap.answers.identify.identify import identify
from simgap.answers.identify.shared_paths import SharedPaths, shared_paths
from simgap.arrays import FloatArray
from simgap.complexity import (
    FunctionClass,
    covering_number,
    eluder_dimension,
    function_class,
    separation,
)
from simgap.instances import build_instance, garnet, garnet_mixture, riverswim
from simgap.mdp import LatentMDP, SimulatorClass, class_from_arrays

MINUTE, SCALE, REPEATS, SWEEPS = 60.0, 0.01, 3, 2_000
IN_PAIRS = (
    "gym:FrozenLake-v1?success_rate=0.3:0.9:63&terminal=restart",
    "gym:FrozenLake8x8-v1?success_rate=0.3:0.9:60&terminal=absorb",
    "garnet?states=500&actions=4&branching=5&members=60&separation=0.1",
)


def separations(options: Namespace) -> Iterator[Row]:
    members = 50 if options.quick else 500
    for name, some in (
        ("sparse, S=250, A=4, b=5", garnet(250, 4, 5, members, seed=1)),
        ("dense, S=30, A=10", dense(members, 30, 10)),
    ):
        ours, plain = (
            partial(timed, separation, some),
            partial(timed, greatest_l1, some),
        )
        (found, wanted), seconds = measured(ours, plain, repeats=REPEATS)
        assert np.allclose(wanted, found.distance, atol=1e-12)
        times, taken = ratio(seconds[1], seconds[0]), spread(seconds[0])
        met = taken.median <= MINUTE
        yield f"{members} models, {name}", taken, spread(seconds[1]), times, met


def eluder(options: Namespace) -> Iterator[Row]:
    members = 20 if options.quick else 200
    for name, some in (
        ("Garnet", garnet(250, 4, 5, members, seed=1)),
        ("Garnet mixture", garnet_mixture(250, 4, 5, members)),
        ("RiverSwim", riverswim(500, tuple(np.linspace(0.6, 0.8, members)))),
    ):
        (functions,), (built,) = measured(
            partial(timed, function_class, some), repeats=REPEATS
        )
        (ends,), (taken,) = measured(partial(timed, _ends, functions), repeats=REPEATS)
        met = float(np.median(built) + np.median(taken)) <= MINUTE
        case = f"{name}, {members} models, S A = 1000"
        yield case, functions.n_points, spread(built), spread(taken), *ends, met


def _ends(functions: FunctionClass) -> list[str]:
    """Return the ends of the eluder dimension and of the covering number."""
    found = (eluder_dimension(functions, SCALE), covering_number(functions, SCALE))
    return [f"{each.lower} to {each.upper}" for each in found]


def dense(members: int, states: int, actions: int) -> SimulatorClass:
    """Every pair leads everywhere, in each model with chances of its own."""
    rng = np.random.default_rng(0)
    kernel = rng.random((members, states, actions, states))
    kernel /= kernel.sum(axis=3, keepdims=True)
    return class_from_arrays(kernel, rng.random((states, actions)))


def sweeps(_: Namespace) -> Iterator[Row]:
    for states in (6, 100, 2_000):
        work = shared_paths(garnet(states=states, actions=4, members=2), 0, 1), SWEEPS
        (ours, plain), seconds = measured(
            partial(timed, compiled_affinities, *work),
            partial(timed, affinities, *work),
        )
        assert np.allclose(ours, plain, rtol=1e-9)
        ends = scaled(seconds[0], 1e3), scaled(seconds[1], 1e3)
        yield f"S={states}", *ends, ratio(seconds[1], seconds[0])


def compiled_affinities(paths: SharedPaths, sweeps: int) -> FloatArray:
    """Return the least affinity after so many sweeps, by the kernel."""
    values, series = np.ones(paths.n_places), np.empty(sweeps)
    graph = (paths.groups, paths.indptr, paths.indices, paths.shared, paths.start)
    least_affinity(*graph, -1.0, values, series)
    return series


def pairs(options: Namespace) -> Iterator[Row]:
    for text in IN_PAIRS[:1] if options.quick else IN_PAIRS:
        latent = LatentMDP.uniform(build_instance(text))
        (found,), (seconds,) = measured(
            partial(timed, identify, latent), repeats=REPEATS
        )
        assert found.slowest is not None
        slowest = found.pairs[found.slowest].steps
        steps, taken = f"{slowest.lower} to {slowest.upper}", spread(seconds)
        yield f"`{text}`", len(found.pairs), taken, steps, taken.median <= MINUTE


TABLES = (
    Table(
        "separation",
        "class | separation, s | NumPy, L1 alone, s | times as fast | met",
        separations,
    ),
    Table(
        "eluder",
        "class | points | function class, s | dimension and number, s | "
        "eluder dimension | covering number | met",
        eluder,
    ),
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
    sys.exit(run("benchmarks.complexity", str(__doc__), TABLES))
