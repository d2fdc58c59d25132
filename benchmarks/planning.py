"""Planning against its peers: ratios of CPU time, one thread each, one process.

    python -m benchmarks.planning [--quick] [--json FILE]

Needs the `peers` extra. Every task is run by simgap and by each peer in turn, several
times, interleaved; the figure is the ratio of the medians. All hitting times of Storm
are a sample of targets scaled to all of them (it has no such query). A peer's answer is
compared with ours first: a wrong one is reported as wrong, not as slow.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.peers import Answer, Storm, Toolbox, dense, garnet, timed
from simgap import instances
from simgap.instances.catalogue import build_instance, closed_forms
from simgap.mdp import SimulatorClass
from simgap.planning import (
    all_travel_times,
    diameter,
    optimal_values,
    solve_average_reward,
)


def main() -> int:
    """Run all comparisons, print a table, exit 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes only")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    rows: list[dict[str, Any]] = []
    for compare in (travel_tasks, gain_tasks, horizon_tasks, growth):
        for row in compare(options.quick):
            rows.append(row)
            _print(row)
    for row in traps():
        rows.append(row)
        _print(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    missed = [row for row in rows if row.get("met") is False]
    print(f"\n{len(rows)} figures, {len(missed)} targets missed")
    return 1 if missed else 0


def travel_tasks(quick: bool) -> list[dict[str, Any]]:
    """Compare all minimal hitting times, and the diameter alone, certified 1e-8."""
    cases: list[tuple[str, SimulatorClass, int, float | None, float | None]] = [
        ("garnet-300", garnet(300), 30, None, None),
        ("garnet-1000", garnet(1000), 12, 25.0, 80.0),
        ("dense-200", dense(200), 6, 150.0, None),
        ("grid-30", instances.slip_grid(30, slip=0.2), 30, 10.0, None),
        ("riverswim-200", instances.riverswim(200), 40, 20.0, None),
    ]
    if not quick:
        cases.append(("garnet-3000", garnet(3000), 4, 25.0, 80.0))
    rows = []
    for name, model, sample, goal, prune_goal in cases:
        storm = Storm(model[0])
        targets = np.linspace(0, model.n_states - 1, sample).astype(int)
        found = all_travel_times(model, tolerance=1e-8)
        diameter(model, tolerance=1e-8)
        seconds: dict[str, list[float]] = {"simgap": [], "alone": [], "storm": []}
        worst = 0.0
        for _ in range(3):
            spent, found = timed(all_travel_times, model, tolerance=1e-8)
            seconds["simgap"].append(spent)
            spent, short = timed(diameter, model, tolerance=1e-8)
            seconds["alone"].append(spent)
            spent, peer = timed(storm.travel, targets)
            seconds["storm"].append(spent * model.n_states / sample)
            ours = found.times[0, targets]
            worst = float(np.max(np.abs(peer - ours) / np.maximum(ours, 1.0)))
        mine, theirs = median(seconds["simgap"]), median(seconds["storm"])
        assert abs(short.lower / (found.times.max()) - 1.0) < 1e-7
        rows.append(
            row(f"all hitting times, {name}", "Storm OVI", mine, theirs, goal, worst)
        )
        alone = median(seconds["alone"])
        rows.append(
            row(
                f"diameter alone, {name}",
                "Storm OVI, all targets",
                alone,
                theirs,
                prune_goal,
                worst,
            )
        )
    return rows


def gain_tasks(quick: bool) -> list[dict[str, Any]]:
    """Compare gain and bias with certificate against the fastest correct peer."""
    cases: list[tuple[str, SimulatorClass, float | None, float | None]] = [
        ("garnet-300", garnet(300), None, None),
        ("garnet-1000", garnet(1000), 3.0, None),
        ("grid-30", instances.slip_grid(30, slip=0.2), None, None),
        ("riverswim-200", instances.riverswim(200), None, None),
    ]
    if not quick:
        cases.append(("garnet-10000", garnet(10_000), None, None))
        cases.append(("grid-100", instances.slip_grid(100, slip=0.2), None, 4.0))
    rows = []
    for name, model, goal_all, goal_storm in cases:
        peers: dict[str, Callable[[], Answer]] = {"Storm LRA": Storm(model[0]).gain}
        peers["pymdptoolbox RVI"] = Toolbox(model[0]).gain
        rows += _gain_rows(name, model, peers, goal_all, goal_storm, 1)
    members = 48
    family = garnet(1000, members=members)
    peers = {
        "pymdptoolbox RVI": Toolbox(family[0]).gain,
        "Storm LRA": Storm(family[0]).gain,
    }
    rows += _gain_rows("garnet-1000, class of 48", family, peers, 5.0, None, members)
    return rows


def _gain_rows(
    name: str,
    model: SimulatorClass,
    peers: dict[str, Callable[[], Answer]],
    goal_all: float | None,
    goal_storm: float | None,
    members: int,
) -> list[dict[str, Any]]:
    plan = solve_average_reward(model, tolerance=1e-8)
    truth = float(plan.gain[0])
    mine: list[float] = []
    theirs: dict[str, list[float]] = {peer: [] for peer in peers}
    errors: dict[str, float] = {}
    for _ in range(3 if model.n_states * members > 5000 else 7):
        mine.append(timed(solve_average_reward, model, tolerance=1e-8)[0])
        for peer, run in peers.items():
            spent, gain = run()
            theirs[peer].append(spent)
            errors[peer] = abs(gain - truth) / abs(truth)
    right = [peer for peer in peers if errors[peer] < 1e-5]
    fastest = min(right, key=lambda peer: median(theirs[peer]), default="none is right")
    rows = []
    for peer in peers:
        goal = goal_all if peer == fastest else None
        if peer == "Storm LRA" and goal_storm is not None:
            goal = goal_storm
        label = peer + (" (fastest correct peer)" if peer == fastest else "")
        per_model = median(mine) / members
        rows.append(
            row(
                f"gain and bias, {name}",
                label,
                per_model,
                median(theirs[peer]),
                goal,
                errors[peer],
            )
        )
    return rows


def horizon_tasks(quick: bool) -> list[dict[str, Any]]:
    """Compare V*_1 for H = 1000, one model and a class of 48."""
    import quantecon

    rows = []
    horizon = 1000
    for states in (300, 1000):
        family = garnet(states, members=48)
        storm = Storm(family[0])
        toolbox = Toolbox(family[0])
        optimal_values(family, horizon), optimal_values(family[0], horizon)
        pairs = np.divmod(np.arange(states * family.n_actions), family.n_actions)
        chain = quantecon.markov.DiscreteDP(
            family.rewards[0].reshape(-1), toolbox.stacked, 1.0, pairs[0], pairs[1]
        )
        quantecon.markov.ddp.backward_induction(chain, 3)
        seconds: dict[str, list[float]] = {
            "class": [],
            "one": [],
            "storm": [],
            "qe": [],
        }
        for _ in range(3):
            spent, many = timed(optimal_values, family, horizon)
            seconds["class"].append(spent / len(family))
            spent, _one = timed(optimal_values, family[0], horizon)
            seconds["one"].append(spent)
            spent, peer = storm.horizon(horizon)
            seconds["storm"].append(spent)
            spent, _ = timed(quantecon.markov.ddp.backward_induction, chain, horizon)
            seconds["qe"].append(spent)
        error = float(np.max(np.abs(peer - many.values[0])) / horizon)
        storm_time, name = median(seconds["storm"]), f"H=1000, garnet-{states}"
        rows.append(
            row(
                f"{name}, class of 48",
                "Storm",
                median(seconds["class"]),
                storm_time,
                2.0,
                error,
            )
        )
        rows.append(
            row(
                f"{name}, one model",
                "Storm",
                median(seconds["one"]),
                storm_time,
                None,
                error,
            )
        )
        rows.append(
            row(
                f"{name}, class of 48",
                "quantecon",
                median(seconds["class"]),
                median(seconds["qe"]),
                None,
                error,
            )
        )
    return rows


def growth(quick: bool) -> list[dict[str, Any]]:
    """Measure how our own cost grows with S, M and H."""
    sizes = (300, 1000) if quick else (300, 1000, 3000)
    rows = []
    for task, run in (
        ("all hitting times", lambda m: all_travel_times(m, tolerance=1e-8)),
        ("diameter alone", lambda m: diameter(m, tolerance=1e-8)),
        ("gain and bias", lambda m: solve_average_reward(m, tolerance=1e-8)),
        ("V* for H=1000", lambda m: optimal_values(m, 1000)),
    ):
        times = [_best(run, garnet(size)) for size in sizes]
        rows.append(_growth_row(f"{task}, S = {sizes}", sizes, times))
    members = (1, 4, 16, 48)
    for task, run in (
        ("gain and bias", lambda m: solve_average_reward(m, tolerance=1e-8)),
        ("V* for H=200", lambda m: optimal_values(m, 200)),
    ):
        times = [_best(run, garnet(300, members=count)) for count in members]
        rows.append(_growth_row(f"{task}, S=300, M = {members}", members, times))
    horizons = (100, 1000, 10_000)
    model = garnet(300, members=16)
    times = [_best(partial(optimal_values, horizon=h), model) for h in horizons]
    rows.append(_growth_row(f"V*, S=300, M=16, H = {horizons}", horizons, times))
    return rows


def traps() -> list[dict[str, Any]]:
    """Check the models on which at least one peer is wrong or does not answer."""
    rows = []
    cycle = solve_average_reward(instances.cycle(20))
    rows.append(_trap("20-cycle, gain 1/20", cycle.gain[0], 1.0 / 20.0))
    rows.append(_trap("20-cycle, span 19/20", cycle.bias_span[0], 19.0 / 20.0))
    for name in ("trap_door", "near_multichain", "two_optima", "switch"):
        known = closed_forms(name)
        plan = solve_average_reward(build_instance(name))
        if known.gain is not None:
            rows.append(_trap(f"{name}, gain", plan.gain[0], float(known.gain[0])))
        if known.diameter is not None:
            ours = diameter(build_instance(name))
            rows.append(
                _trap(f"{name}, diameter", ours.lower, float(known.diameter[0]))
            )
    for states in (30, 40):
        known = closed_forms(f"adverse?states={states}")
        assert known.diameter is not None
        ours = diameter(instances.adverse(states))
        rows.append(
            _trap(
                f"adverse chain {states}, diameter",
                ours.lower,
                float(known.diameter[0]),
            )
        )
    known = closed_forms("nodrift?states=200")
    assert known.diameter is not None
    ours = diameter(instances.nodrift(200))
    rows.append(_trap("no drift 200, diameter", ours.lower, float(known.diameter[0])))
    return rows


def median(seconds: list[float]) -> float:
    """Return the median."""
    return statistics.median(seconds)


def row(
    task: str, peer: str, mine: float, theirs: float, goal: float | None, error: float
) -> dict[str, Any]:
    """Return one comparison; `met` says whether the ratio reaches its goal."""
    ratio = theirs / mine
    return {
        "task": task,
        "peer": peer,
        "simgap_ms": mine * 1e3,
        "peer_ms": theirs * 1e3,
        "ratio": ratio,
        "goal": goal,
        "met": None if goal is None else bool(ratio >= goal),
        "peer_relative_error": error,
    }


def _best(run: Callable[[Any], Any], model: SimulatorClass) -> float:
    run(model)
    return min(timed(run, model)[0] for _ in range(3))


def _growth_row(
    task: str, sizes: tuple[int, ...], times: list[float]
) -> dict[str, Any]:
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    return {"task": task, "ms": [t * 1e3 for t in times], "exponent": slope}


def _trap(task: str, ours: float, exact: float) -> dict[str, Any]:
    error = float(abs(ours / exact - 1.0))
    return {
        "task": f"trap: {task}",
        "relative_error": error,
        "met": bool(error <= 1e-10),
    }


def _print(row: dict[str, Any]) -> None:
    if "ratio" in row:
        mark = {None: " ", True: "*", False: "!"}[row["met"]]
        goal = "" if row["goal"] is None else f" (goal {row['goal']:g})"
        print(
            f"{mark} {row['task']:42s} {row['peer']:38s} {row['simgap_ms']:10.2f} ms "
            f"{row['peer_ms']:10.2f} ms {row['ratio']:8.1f}x{goal}"
            f"  peer off by {row['peer_relative_error']:.0e}"
        )
    elif "exponent" in row:
        shown = ", ".join(f"{ms:.2f}" for ms in row["ms"])
        print(f"  growth: {row['task']:45s} {shown} ms, exponent {row['exponent']:.2f}")
    else:
        mark = "*" if row["met"] else "!"
        print(f"{mark} {row['task']:45s} relative error {row['relative_error']:.1e}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
