"""The oracle's bracket over time, against Storm's belief exploration.

    python -m benchmarks.oracle [--quick]

Needs the `peers` extra. Every case and time runs in a process of its own: kernels are
warmed up on tiny models, then planning gets that many seconds of CPU time on one thread
as its limit, and what it has reached by then (a tenth more at most) counts. Told: the
ratio upper / lower of the average gap, the width of the bracket relative to W*, what
the peak of memory rose by, and how many times wider Storm's bracket is when each of its
two sides gets the same time (building its model apart). Short runs are repeated.
"""

from __future__ import annotations

import math
import resource
import statistics
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from benchmarks.belief_peers import best_bracket, storm_bounds
from benchmarks.results import Asked, Row, Table, run, spread, started

RIVER = "riverswim?success=0.1:0.6:5&left_reward=0.4&uniform=true"
LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
PEER_GOAL = 5.0  # Storm's bracket is at least this many times wider
GIGABYTE = 1e9  # on top of Python with the kernels loaded
REPEATS, SHORT = 3, 5  # of runs of that many seconds or less


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A latent MDP, and which ratio upper / lower is wanted after which seconds."""

    label: str
    model: str
    goals: tuple[tuple[float, float | None], ...]  # (seconds, ratio wanted)
    horizon: int | None = None
    discount: float | None = None
    memory: float | None = None  # bytes allowed
    peer: bool = True
    quick: bool = False


CASES = (
    Case("RiverSwim M=5", RIVER, ((2, 1.02), (10, None)), horizon=200, quick=True),
    Case("RiverSwim M=5", RIVER, ((5, None), (20, None)), discount=0.95),
    Case("RiverSwim M=5", RIVER, ((5, None), (20, 1.02)), discount=0.99),
    Case("RiverSwim M=5", RIVER, ((5, None), (20, None)), horizon=1000, peer=False),
    Case("RiverSwim M=5", RIVER, ((20, None), (60, None)), horizon=10_000, peer=False),
    Case(
        "Garnet M=10",
        "garnet_mixture",
        ((15, 3.2), (60, 2.5)),
        horizon=200,
        memory=GIGABYTE,
    ),
    Case("Garnet M=10", "garnet_mixture", ((5, None), (20, 2.0)), discount=0.95),
    Case("Garnet M=10", "garnet_mixture", ((5, None), (20, 3.0)), discount=0.99),
    Case(
        "Garnet M=20",
        "garnet_mixture?members=20",
        ((15, None), (60, None)),
        horizon=200,
        peer=False,
    ),
    Case("windy 10x10 M=8", "windy_grid", ((2, 1.13), (10, None)), horizon=50),
    Case("windy 10x10 M=8", "windy_grid", ((5, 1.2), (20, None)), horizon=200),
    Case("windy 10x10 M=8", "windy_grid", ((3, 1.15), (10, None)), discount=0.99),
    Case(
        "doors M=10",
        "absorbing_doors?members=10",
        ((1, 1.02),),
        horizon=20,
        quick=True,
    ),
    Case("frozen lakes M=4", LAKES, ((5, 1.12), (20, None)), horizon=200, quick=True),
)


def against_storm(options: Namespace) -> Iterator[Row]:
    """Return what is reached after so many seconds of every case."""
    for case in CASES:
        if options.quick and not case.quick:
            continue
        length = {"horizon": case.horizon, "discount": case.discount}
        longest = max(seconds for seconds, _ in case.goals)
        bounds = storm_bounds(case.model, **length, budget=longest) if case.peer else []
        for seconds, goal in case.goals:
            asked = {"model": case.model, **length, "seconds": seconds}
            many = REPEATS if seconds <= SHORT and not options.quick else 1
            runs = [_run(asked) for _ in range(many)]
            yield _row(case, seconds, goal, runs, best_bracket(bounds, seconds))


def _run(asked: Asked) -> Asked:
    (found,) = started(sys.executable, "benchmarks.oracle", asked)
    return found


def _row(
    case: Case,
    seconds: float,
    goal: float | None,
    runs: list[Asked],
    storm: tuple[float, float],
) -> Row:
    length = f"H={case.horizon}" if case.horizon is not None else f"{case.discount}"
    ends = [_at(each["trace"], 1.1 * seconds) for each in runs]
    ratios = spread([_ratio(*each) for each in ends])
    lower, upper = sorted(ends, key=lambda each: _ratio(*each))[len(ends) // 2]
    peak = max(each["bytes"] for each in runs)
    wider, width = storm[1] - storm[0], max(upper - lower, 0.0)
    exact = width <= 1e-9 * upper  # nothing can be narrower than that
    times = None if not case.peer or exact else wider / width
    wanted = [(goal, goal is None or ratios.median <= goal)]
    wanted.append((case.memory, case.memory is None or peak <= case.memory))
    wanted.append((times, times is None or times >= PEER_GOAL))
    judged = any(goal is not None for goal, _ in wanted)
    return (
        f"{case.label} {length}",
        seconds,
        lower,
        upper,
        ratios if len(runs) > 1 else ratios.median,
        goal,
        all(met for _, met in wanted) if judged else None,
        f"{(upper - lower) / max(runs[0]['informed'] - lower, 1e-300):.1e}",
        round(peak / 1e6),
        "both exact" if case.peer and exact and wider <= 1e-9 else times,
    )


def _at(trace: list[list[float]], seconds: float) -> tuple[float, float]:
    """Return the bracket reached after so many seconds."""
    ready = [moment for moment in trace if moment[0] <= seconds] or [[0.0, 0.0, 1e9]]
    return max(lower for _, lower, _ in ready), min(upper for _, _, upper in ready)


def _ratio(lower: float, upper: float) -> float:
    return upper / lower if lower > 0.0 else 1.0 if upper <= 1e-9 else math.inf


def growth(options: Namespace) -> Iterator[Row]:
    """Return how the time to a bracket of 10 % grows with M, S and H."""
    families = {
        "M": [(m, RIVER.replace("0.6:5", f"0.6:{m}"), 100) for m in (3, 5, 8, 12, 18)],
        "S": [(s, f"{RIVER}&states={s}", 100) for s in (4, 6, 9, 14, 20)],
        "H": [(h, RIVER, h) for h in (50, 100, 200, 400, 800)],
    }
    for what, members in families.items():
        sizes, taken = [], []
        for size, model, horizon in members[: 2 if options.quick else None]:
            asked = {"model": model, "horizon": horizon, "discount": None}
            more = {"seconds": 30.0, "gap_tolerance": 0.1}
            runs = [_run(asked | more) for _ in range(REPEATS)]
            sizes.append(size)
            taken.append(statistics.median(max(run["cpu"], 1e-3) for run in runs))
        slope = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
        every = ", ".join(f"{spent:.2f}" for spent in taken)
        yield f"{what} = {', '.join(map(str, sizes))}", every, float(slope)


def bracket(asked: Asked) -> Iterator[Asked]:
    """Return the trace of one run, with its CPU time and memory."""
    from threadpoolctl import threadpool_limits

    from simgap.instances.catalogue import build_instance
    from simgap.mdp import LatentMDP
    from simgap.oracle import (
        AutoOracle,
        BoundedOracle,
        domain_randomization_oracle,
        watch,
    )

    threadpool_limits(1)
    length: dict[str, Any] = (
        {"horizon": 3} if asked["horizon"] is not None else {"discount": 0.5}
    )
    tiny = LatentMDP.uniform(
        build_instance("riverswim?states=3&success=0.2,0.4,0.5,0.6")
    )
    for solver in (AutoOracle(time_limit=5.0), BoundedOracle(time_limit=5.0)):
        domain_randomization_oracle(tiny, **length, solver=solver)
    latent = LatentMDP.uniform(build_instance(asked["model"]))
    settings = AutoOracle(
        gap_tolerance=asked.get("gap_tolerance", 1e-6),
        time_limit=asked["seconds"],
        negligible=0.0,
    )
    vars(watch)["clock"] = time.process_time  # others use this machine as well
    moments: list[list[float]] = []
    before, begin = _peak(), time.process_time()

    def follow(now: Any) -> None:
        """Keep the bracket by CPU time."""
        moments.append([time.process_time() - begin, now.lower, now.upper])

    result = domain_randomization_oracle(
        latent,
        horizon=asked["horizon"],
        discount=asked["discount"],
        solver=settings,
        progress=follow,
    )
    spent = time.process_time() - begin
    low, high = result.average_gap.lower, result.average_gap.upper
    if spent <= 1.1 * asked["seconds"] and low is not None and high is not None:
        moments.append([spent, low, high])
    yield {
        "informed": float(latent.prior @ result.optimal),
        "trace": moments,
        "cpu": spent,
        "bytes": _peak() - before,
    }


def _peak() -> float:
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024.0


TABLES = (
    Table(
        "oracle",
        "case | CPU s | gap, lower | gap, upper | upper / lower | goal | met | "
        "width of W* | memory, MB | Storm's, times wider",
        against_storm,
        {"gap, lower": 4, "gap, upper": 4, "upper / lower": 4},
    ),
    Table("oracle_growth", "sizes | CPU s to a bracket of 10 % | exponent", growth),
)

if __name__ == "__main__":
    sys.exit(run("benchmarks.oracle", str(__doc__), TABLES, child=bracket))
