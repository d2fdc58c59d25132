"""How long measures of a class take, and what the kernels save over NumPy.

    OMP_NUM_THREADS=1 python -m benchmarks.complexity [--quick]

Seconds are CPU time. Goals: separation of 500 models within a minute; function class,
eluder dimension and covering number of 200 models with 1000 pairs (s, a) within one.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.results import Row, Table, measured, ratio, run, spread, timed
from benchmarks.twins import greatest_l1
from simgap.complexity import (
    FunctionClass,
    covering_number,
    eluder_dimension,
    function_class,
    separation,
)
from simgap.instances import garnet, garnet_mixture, riverswim
from simgap.mdp import SimulatorClass, class_from_arrays

MINUTE, SCALE, REPEATS = 60.0, 0.01, 3


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
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.complexity", str(__doc__), TABLES))
