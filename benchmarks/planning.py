"""Planning against its peers: ratios of CPU time, one thread each, one process.

    python -m benchmarks.planning [--quick]

Needs the `peers` extra. Every task is done by simgap and by a peer in turn, five times;
the figure is the median ratio. All hitting times of Storm are a sample of targets
scaled to all of them: it has no such query. A peer's answer is compared with ours: a
wrong one is reported as wrong, not as slow.
"""

from __future__ import annotations

import sys
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import dense, garnet
from benchmarks.results import Row, Table, measured, run, timed
from benchmarks.speed import TIGHT, Pair, compared, gains, hitting_times, values
from simgap import instances
from simgap.errors import NotSolved
from simgap.instances.catalogue import build_instance, closed_forms
from simgap.mdp import SimulatorClass
from simgap.planning import (
    all_travel_times,
    diameter,
    optimal_values,
    solve_average_reward,
)

MEMBERS = 48  # of a class
Case = tuple[str, Pair, float | None]  # and how many times as fast it is meant to be


def against_peers(options: Namespace) -> Iterator[Row]:
    for task, pair, goal in _cases(options.quick):
        ours, theirs, times, agreed = compared(pair)
        peer = pair.against if agreed else f"{pair.against}: wrong"
        met = times.median >= goal if agreed and goal is not None else None
        yield task, peer, ours, theirs, times, goal, met


def _cases(quick: bool) -> Iterator[Case]:
    slip = partial(instances.slip_grid, slip=0.2)
    travel: list[tuple[str, SimulatorClass, int, int | None, int | None]] = [
        ("Garnet S=300", garnet(300), 30, None, None),
        ("Garnet S=1000", garnet(1000), 12, 25, 80),
        ("dense S=200", dense(200), 6, 150, None),
        ("slip grid 30x30", slip(30), 30, 10, None),
        ("RiverSwim-200", instances.riverswim(200), 40, 20, None),
        ("Garnet S=3000", garnet(3000), 4, 25, 80),
    ]
    for name, model, sample, goal, goal_alone in travel[: 2 if quick else None]:
        yield f"all hitting times, {name}", hitting_times(model, sample), goal
        alone = hitting_times(model, sample, alone=True)
        yield f"diameter alone, {name}", alone, goal_alone
    cases: list[tuple[str, Callable[[], SimulatorClass], int | None]] = [
        ("Garnet S=300", lambda: garnet(300), None),
        ("Garnet S=1000", lambda: garnet(1000), 4),
        ("class of 48, Garnet S=1000", lambda: garnet(1000, members=MEMBERS), 5),
        ("slip grid 30x30", lambda: slip(30), None),
        ("RiverSwim-200", lambda: instances.riverswim(200), None),
        ("Garnet S=10000", lambda: garnet(10_000), None),
        ("slip grid 100x100", lambda: slip(100), 4),
    ]
    for name, make, goal in cases[: 2 if quick else None]:
        # pymdptoolbox did not end in three minutes with 10 000 states
        large = name in ("Garnet S=10000", "slip grid 100x100")
        for peer in ("Storm",) if large else ("Storm", "pymdptoolbox"):
            yield f"gain and bias, {name}", gains(make(), peer), goal
    for states in (1000,) if quick else (300, 1000):
        for name, members in (("", 1), (f"class of {MEMBERS}, ", MEMBERS)):
            for peer in ("Storm", "quantecon"):
                least = {"Storm": 2 if name else 1.5}.get(peer)
                task = f"V* for H=1000, {name}Garnet S={states}"
                yield task, values(garnet(states, members=members), peer), least


def growth(options: Namespace) -> Iterator[Row]:
    """Measure how our own cost grows with S, M and H."""
    sizes = (300, 1000) if options.quick else (300, 1000, 3000)
    tasks: dict[str, Callable[[SimulatorClass], Any]] = {
        "all hitting times": partial(all_travel_times, tolerance=TIGHT),
        "diameter alone": partial(diameter, tolerance=TIGHT),
        "gain and bias": partial(solve_average_reward, tolerance=TIGHT),
        "V* for H=1000": partial(optimal_values, horizon=1000),
    }
    for task, call in tasks.items():
        yield _growth(task, "S", sizes, [partial(call, garnet(s)) for s in sizes])
    members = (1, 4, 16, MEMBERS)
    for task in ("gain and bias", "V* for H=1000"):
        families = [garnet(300, members=m) for m in members]
        calls = [partial(tasks[task], each) for each in families]
        yield _growth(f"{task}, S=300", "M", members, calls)
    horizons, family = (100, 1000, 10_000), garnet(300, members=16)
    calls = [partial(optimal_values, family, each) for each in horizons]
    yield _growth("V*, S=300, M=16", "H", horizons, calls)


def _growth(
    task: str, what: str, sizes: Sequence[int], calls: Sequence[Callable[[], Any]]
) -> Row:
    _, seconds = measured(*(partial(timed, call) for call in calls), repeats=3)
    taken = np.median(seconds, axis=1)
    slope = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
    every = ", ".join(f"{1e3 * each:.3g}" for each in taken)
    return task, f"{what} = {', '.join(map(str, sizes))}", every, float(slope)


def traps(_: Namespace) -> Iterator[Row]:
    """Solve models on which some other program is wrong or gives no answer."""
    cycle = solve_average_reward(instances.cycle(20))
    yield _trap("20-cycle, gain", cycle.gain[0], 1.0 / 20)
    yield _trap("20-cycle, span of the bias", cycle.bias_span[0], 19.0 / 20)
    names = ["trap_door", "near_multichain", "two_optima", "switch"]
    names += ["adverse?states=30", "adverse?states=40", "nodrift?states=200"]
    for name in names:
        known, model = closed_forms(name), build_instance(name)
        if known.gain is not None and "?" not in name:
            gain = solve_average_reward(model).gain[0]
            yield _trap(f"{name}, gain", gain, float(known.gain[0]))
        if known.diameter is not None:
            ours = diameter(model).lower
            yield _trap(f"{name}, diameter", ours, float(known.diameter[0]))
    for name in (f"adverse?states={states}" for states in count(45, 5)):
        exact = closed_forms(name).diameter
        assert exact is not None
        try:
            diameter(build_instance(name))
        except NotSolved:
            yield f"{name}, diameter", f"{exact[0]:.4g}", "refused", None
            return


def _trap(task: str, ours: float, exact: float) -> Row:
    error = float(abs(ours / exact - 1.0))
    return task, f"{exact:.4g}", f"{error:.0e}", error <= 1e-10


TABLES = (
    Table(
        "planning",
        "task | peer | simgap, ms | peer, ms | times as fast | goal | met",
        against_peers,
    ),
    Table("planning_growth", "task | sizes | ms | exponent", growth),
    Table("planning_traps", "model | exact | we are off by | met", traps),
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    sys.exit(run("benchmarks.planning", str(__doc__), TABLES))
