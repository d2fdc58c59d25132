"""The oracle's bracket over time, against Storm's belief exploration.

    python -m benchmarks.oracle [--quick] [--no-peer] [--json FILE]

Every case and time runs in a process of its own: kernels are warmed up on tiny models,
then planning gets that many seconds of CPU time on one thread as its limit, and what it
has reached by then (a tenth more at most) counts. Printed: the ratio upper / lower of
the average gap, the width of the bracket relative to W*, what the peak of memory rose
by, and how many times wider Storm's bracket is when each of its two sides gets the same
time (building its model apart). A goal that is missed ends the run with 1.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from benchmarks.belief_peers import PeerBound, best_bracket, storm_bounds

RIVER = "riverswim?success=0.1:0.6:5&left_reward=0.4&uniform=true"
LAKES = "gym:FrozenLake-v1?success_rate=0.3333333333333333,0.5,0.7,0.9&terminal=restart"
PEER_GOAL = 5.0  # Storm's bracket is at least this many times wider
GIGABYTE = 1e9  # on top of Python with the kernels loaded


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


def main() -> int:
    """Run all cases, print a table, exit 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the short cases only")
    parser.add_argument("--no-peer", action="store_true", help="without Storm")
    parser.add_argument("--only", default="", help="cases whose title contains this")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child is not None:
        print(json.dumps(_measure(json.loads(options.child))))
        return 0
    print(HEADER)
    rows: list[dict[str, Any]] = []
    for case in CASES:
        wanted = options.only.lower() in _title(case).lower()
        if wanted and (case.quick or not options.quick):
            rows += _run(case, peer=case.peer and not options.no_peer)
    if not options.quick and not options.only:
        rows += growth()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    missed = [row for row in rows if row["met"] is False]
    print(f"\n{len(rows)} figures, {len(missed)} goals missed")
    return 1 if missed else 0


HEADER = (
    f"{'case':34} {'s':>5} {'gap lower':>10} {'upper':>10} {'ratio':>7} {'goal':>5} "
    f"{'of W*':>8} {'peak':>7} {'Storm, wider':>13}  met"
)


def _run(case: Case, *, peer: bool) -> list[dict[str, Any]]:
    longest = max(seconds for seconds, _ in case.goals)
    bounds: list[PeerBound] = []
    if peer:
        bounds, _ = storm_bounds(
            case.model, horizon=case.horizon, discount=case.discount, budget=longest
        )
    rows = []
    for seconds, goal in case.goals:
        found = _child(
            {
                "model": case.model,
                "horizon": case.horizon,
                "discount": case.discount,
                "seconds": seconds,
            }
        )
        if "failed" in found:
            print(f"{_title(case):34} failed: {found['failed']}", flush=True)
            rows.append({"case": _title(case), "met": False, **found})
            continue
        lower, upper = _at(found["trace"], 1.1 * seconds)
        row = _row(case, found, seconds, goal, (lower, upper))
        if peer:
            under, over = best_bracket(bounds, seconds)
            row["storm"] = [found["informed"] - over, found["informed"] - under]
            width = max(upper - lower, 0.0)
            exact = width <= 1e-9 * upper  # nothing can be narrower than that
            row["wider"] = math.inf if exact else (over - under) / width
            if row["wider"] < PEER_GOAL:
                row["met"] = False
        rows.append(row)
        _print(row)
    return rows


def _row(
    case: Case,
    found: dict[str, Any],
    seconds: float,
    goal: float | None,
    bracket: tuple[float, float],
) -> dict[str, Any]:
    lower, upper = bracket
    ratio = upper / lower if lower > 0.0 else (1.0 if upper <= 1e-9 else math.inf)
    met = None if goal is None else bool(ratio <= goal)
    if case.memory is not None and found["bytes"] > case.memory:
        met = False
    return {
        "case": _title(case),
        "seconds": seconds,
        "lower": lower,
        "upper": upper,
        "ratio": ratio,
        "goal": goal,
        "of_value": (upper - lower) / max(found["informed"] - lower, 1e-300),
        "bytes": found["bytes"],
        "cpu": found["cpu"],
        "met": met,
    }


def growth() -> list[dict[str, Any]]:
    """Return how the time to a bracket of 10 % grows with M, S and H."""
    families = {
        "M": [(m, RIVER.replace("0.6:5", f"0.6:{m}"), 100) for m in (3, 5, 8, 12, 18)],
        "S": [(s, f"{RIVER}&states={s}", 100) for s in (4, 6, 9, 14, 20)],
        "H": [(h, RIVER, h) for h in (50, 100, 200, 400, 800)],
    }
    rows = []
    for what, members in families.items():
        points = []
        for size, model, horizon in members:
            asked = {"model": model, "horizon": horizon, "discount": None}
            found = _child({**asked, "seconds": 30.0, "gap_tolerance": 0.1})
            if "failed" not in found:
                points.append((float(size), max(found["cpu"], 1e-3)))
        slope = _slope(points)
        told = ", ".join(f"{size:.0f}: {spent:.2f} s" for size, spent in points)
        print(f"growth with {what}: exponent {slope:.2f} ({told})")
        rows.append({"case": f"growth {what}", "points": points, "met": None})
    return rows


def _child(asked: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.oracle", "--child", json.dumps(asked)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1][:200]}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _measure(asked: dict[str, Any]) -> dict[str, Any]:
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
    return {
        "informed": float(latent.prior @ result.optimal),
        "trace": moments,
        "cpu": spent,
        "bytes": _peak() - before,
        "outcome": result.outcome.value,
        "solver": result.solver,
    }


def _peak() -> float:
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024.0


def _at(trace: list[list[float]], seconds: float) -> tuple[float, float]:
    """Return the bracket reached after so many seconds."""
    ready = [moment for moment in trace if moment[0] <= seconds] or [[0.0, 0.0, 1e9]]
    return max(lower for _, lower, _ in ready), min(upper for _, _, upper in ready)


def _slope(points: list[tuple[float, float]]) -> float:
    logs = [(math.log(x), math.log(y)) for x, y in points]
    middle_x = sum(x for x, _ in logs) / len(logs)
    middle_y = sum(y for _, y in logs) / len(logs)
    top = sum((x - middle_x) * (y - middle_y) for x, y in logs)
    return top / sum((x - middle_x) ** 2 for x, _ in logs)


def _title(case: Case) -> str:
    length = f"H={case.horizon}" if case.horizon is not None else f"{case.discount}"
    return f"{case.label} {length}"


def _print(row: dict[str, Any]) -> None:
    goal = "-" if row["goal"] is None else f"{row['goal']:.2f}"
    wider = f"{row['wider']:.3g} x" if "wider" in row else "-"
    met = {None: "-", True: "yes", False: "NO"}[row["met"]]
    print(
        f"{row['case']:34} {row['seconds']:5.0f} {row['lower']:10.5g} "
        f"{row['upper']:10.5g} {row['ratio']:7.3f} {goal:>5} {row['of_value']:8.1e} "
        f"{row['bytes'] / 1e6:4.0f} MB {wider:>13}  {met}",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
