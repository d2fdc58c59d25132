"""Simulation against its peers and its own limits: ratios of CPU time, one thread.

    python -m benchmarks.simulate [--peer-python PATH] [--quick] [--json FILE]

The peer is statisticalrl in an environment of its own (`benchmarks.learning_peers` says
how to make it); without it those rows are skipped with a sentence. Everything else is
measured in this process: agents against our own walk of a stationary policy, lazy
checks against a look at every step, the exact tail against drawing all steps, returns
against losses, and the exact evaluation of Algorithm 3 against sampling it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.learning_peers import (
    Learner,
    PeerMissing,
    find_peer,
    peer_runs,
)
from simgap.base_policies.fixed import fixed_policy
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.improved.posterior_sampling import posterior_sampling
from simgap.base_policies.outsiders.psrl import psrl
from simgap.base_policies.outsiders.ucrl import ucrl2
from simgap.base_policies.paper.general_optimistic import general_optimistic
from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.gap.control_variate import Sample, combined
from simgap.gap.exact import elimination_tests
from simgap.gap.first_passage import first_passage_gap
from simgap.gap.sampled import measured
from simgap.instances import riverswim, switch_tree
from simgap.mdp import SimulatorClass
from simgap.planning import solve_average_reward
from simgap.policies.markov import MarkovPolicy
from simgap.simulation.runs import Program, run_program
from simgap.simulation.worlds import RealModels, real_models

Row = dict[str, Any]
REPEATS = 5


def main() -> int:
    """Run all comparisons, print a table, exit 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", help="an interpreter that has statisticalrl")
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    options = parser.parse_args()
    parts: tuple[Callable[[bool], Iterator[Row]], ...] = (
        agents, laziness, tails, variance, exactness, cores,
    )  # fmt: skip
    rows: list[Row] = []
    for part in parts:
        for row in part(options.quick):
            rows.append(row)
            _print(row)
    for row in peers(options.quick, options.peer_python, rows):
        rows.append(row)
        _print(row)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    missed = [row for row in rows if row.get("met") is False]
    print(f"\n{len(rows)} figures, {len(missed)} targets missed")
    return 1 if missed else 0


def rivers(members: int, states: int = 6) -> SimulatorClass:
    """RS-M: the river whose left bank pays .7, success from .1 to .6."""
    rates = tuple(np.linspace(0.1, 0.6, members))
    return riverswim(states, rates, left_reward=0.7, uniform=True)


def plain_river(states: int) -> SimulatorClass:
    """RS-std: one river."""
    return riverswim(states, 0.4, 0.05, left_reward=0.005, uniform=True)


def agents(quick: bool) -> Iterator[Row]:
    """Steps per second of each agent, as a part of a stationary policy's."""
    horizon = 10**5 if quick else 10**6
    worlds = rivers(20)
    plan = solve_average_reward(worlds)
    always = MarkovPolicy("stationary", 2, plan.policy[-1])
    limit = speed(fixed_policy(always, worlds), worlds, horizon)
    yield row("stationary policy, the limit", limit, "steps/s")
    made: dict[str, Callable[[], Any]] = {
        "Algorithm 3": lambda: optimistic_exploration(worlds, horizon),
        "Algorithm 3, variance": lambda: optimistic_exploration(
            worlds, horizon, threshold=Threshold.VARIANCE
        ),
        "Algorithm 4": lambda: general_optimistic(worlds, horizon),
        "likelihood": lambda: likelihood_optimism(worlds, horizon),
        "posterior sampling": lambda: posterior_sampling(worlds, horizon),
        "UCRL2": lambda: ucrl2(worlds, horizon),
        "PSRL": lambda: psrl(worlds, horizon),
    }
    for name, make in made.items():
        found = speed(make(), worlds, horizon)
        yield row(name, found, "steps/s")
        target = 0.8 if name in ("Algorithm 3", "Algorithm 4") else None
        yield row(f"{name} / stationary policy", found / limit, "ratio", target)


def laziness(quick: bool) -> Iterator[Row]:
    """Lazy checks of Algorithm 4 against a look at every step, the same runs."""
    for members, target in ((20, 5.0), (100, 30.0)):
        worlds = rivers(members)
        horizon = 2 * 10**4 if quick else 10**5
        agent = general_optimistic(worlds, horizon)
        real = real_models(agent.observed, worlds, horizon)
        every = _Always(agent)
        grid = np.array([horizon])
        truths = [0, members - 1]
        one = run_program(agent, real, runs=1, seed=0, models=truths, grid=grid)
        other = run_program(every, real, runs=1, seed=0, models=truths, grid=grid)
        for a, b in zip(one, other, strict=True):
            if a.reward[0] != b.reward[0] or a.switches[0] != b.switches[0]:
                raise AssertionError("lazy checks changed a run")
        fast = _rate(agent, real, truths, grid)
        slow = _rate(every, real, truths, grid)
        name = f"Algorithm 4, M={members}: lazy / every step"
        yield row(name, fast / slow, "ratio", target)


def tails(quick: bool) -> Iterator[Row]:
    """The exact tail of the likelihood agent against drawing every step."""
    horizon = 10**5 if quick else 10**6
    tree = switch_tree(4, 2, e=0.1, members=8, delta=0.2)
    for name, worlds, target in (("RS-5", rivers(5), 30.0), ("JAO-8", tree, 15.0)):
        agent = likelihood_optimism(worlds, horizon)
        real = real_models(agent.observed, worlds, horizon)
        end = np.array([horizon])
        count = 4 if quick else 20
        left = _cpu(lambda: run_program(agent, real, runs=count, seed=0))  # noqa: B023
        drawn = _cpu(
            lambda: run_program(agent, real, runs=count, seed=0, grid=end)  # noqa: B023
        )
        goal = None if quick else target
        yield row(f"exact tail, {name}, H={horizon:.0e}", drawn / left, "ratio", goal)


def variance(quick: bool) -> Iterator[Row]:
    """Variance of returns over that of losses, and of the combination."""
    horizon = 10**5
    count = 100 if quick else 400
    worlds = rivers(20)
    made: dict[str, Any] = {
        "near-optimal": likelihood_optimism(worlds, horizon),
        "posterior sampling": posterior_sampling(worlds, horizon),
        "Algorithm 3, variance": optimistic_exploration(
            worlds, horizon, threshold=Threshold.VARIANCE
        ),
        "UCRL2": ucrl2(worlds, horizon),
    }
    least = np.inf
    for name, agent in made.items():
        real = real_models(agent.observed, worlds, horizon)
        truths = [19] if name == "near-optimal" else [0, 10, 19]
        end = np.array([horizon])
        for runs in run_program(
            agent, real, runs=count, seed=1, models=truths, grid=end
        ):
            raw = real.optimal[runs.model] - runs.reward
            whole = (-np.inf, np.inf)
            found = combined(Sample(raw, runs.gap, whole, whole, -np.inf, np.inf, 0.0))
            if np.isfinite(found.variance_ratio) and raw.var() > 0.0:
                least = min(least, found.variance_ratio)
            goal = 1e4 if name == "near-optimal" else None
            label = f"variance of returns / of estimate: {name}, {runs.name}"
            yield row(label, found.variance_ratio, "ratio", goal)
    noise = 1.0 - 4.0 / np.sqrt(count)
    yield row("the same, least of all", least, "ratio", noise)


def exactness(quick: bool) -> Iterator[Row]:
    """First passages of Algorithm 3 at H = 2e4: seconds, and z against sampling."""
    horizon = 2 * 10**3 if quick else 2 * 10**4
    worlds = rivers(5)
    agent = optimistic_exploration(worlds, horizon)
    tests = elimination_tests(agent)
    real = real_models(agent.observed, worlds, horizon)
    for member in (0, 2):
        begin = time.process_time()
        exact = first_passage_gap(
            worlds[member], agent.known.average, tests, horizon, order=agent.known.order
        )
        seconds = time.process_time() - begin
        name = f"exact gap of Algorithm 3, H={horizon}, {worlds.model_names[member]}"
        yield row(name, seconds, "seconds", 30.0, below=True)
        (runs,) = run_program(agent, real, runs=2000, seed=3, models=[member])
        told = measured(real, runs, 0.95).gap
        assert exact.gap.lower is not None and exact.gap.upper is not None
        middle = 0.5 * (exact.gap.lower + exact.gap.upper)
        score = abs(told.estimate - middle) / max(told.standard_error or 0.0, 1e-9)
        yield row(f"{name}: |z| of sampling", score, "z", 4.0, below=True)


def cores(quick: bool) -> Iterator[Row]:
    """Wall time of one thread over that of two, the same bytes."""
    horizon = 10**6
    worlds = rivers(20)
    agent = optimistic_exploration(worlds, horizon)
    real = real_models(agent.observed, worlds, horizon)
    count = 4 if quick else 20
    taken = []
    for threads in (1, 2):
        walls = []
        for _ in range(3):
            begin = time.perf_counter()
            run_program(agent, real, runs=count, seed=0, threads=threads)
            walls.append(time.perf_counter() - begin)
        taken.append(min(walls))
    yield row("two threads over one, wall time", taken[0] / taken[1], "ratio")


def peers(quick: bool, python: str | None, ours: list[Row]) -> Iterator[Row]:
    """UCRL2 and PSRL of statisticalrl on the same river, the same number of steps."""
    try:
        peer = find_peer(python)
    except PeerMissing as missing:
        print(f"skipped: {missing}")
        return
    steps = 2 * 10**4 if quick else 10**5
    by_name = {each["name"]: each["value"] for each in ours}
    for states, target in ((6, 1000.0), (50, 200.0)):
        worlds = plain_river(states)
        for learner, agent in (
            (Learner.UCRL2, ucrl2(worlds, steps)),
            (Learner.PSRL, psrl(worlds, steps)),
        ):
            if quick and states == 50 and learner is Learner.PSRL:
                continue
            theirs = peer_runs(peer, worlds[0], learner, steps=steps)
            rate = statistics.median(each.speed for each in theirs)
            own = speed(agent, worlds, steps)
            name = f"{learner.value}, S={states}"
            yield row(f"{name}, statisticalrl", rate, "steps/s")
            yield row(f"{name}, simgap", own, "steps/s")
            yield row(f"{name}, simgap / statisticalrl", own / rate, "ratio", target)
            if learner is Learner.UCRL2 and states == 6:
                for each in ("Algorithm 3", "Algorithm 4"):
                    label = f"{each} / statisticalrl's UCRL2"
                    yield row(label, by_name[each] / rate, "ratio", 1500.0)


class _Always:
    """Algorithm 4 that looks at every step."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.observed = agent.observed

    def run(self, *arguments: Any) -> None:
        """Run without lazy checks."""
        self.agent.run(*arguments, lazy=False)


def speed(program: Program, worlds: SimulatorClass, horizon: int) -> float:
    """Return steps per CPU second, all steps drawn, the median of a few repeats."""
    real = real_models(program.observed, worlds, horizon)
    members = len(worlds)
    truths = sorted({0, members // 2, members - 1})
    return _rate(program, real, truths, np.array([horizon]))


def _rate(
    program: Program, real: RealModels, truths: list[int], grid: np.ndarray
) -> float:
    count = max(1, min(200, 4 * 10**6 // real.horizon))
    run_program(program, real, runs=1, seed=0, models=truths, grid=grid)
    rates = []
    for repeat in range(REPEATS):
        begin = time.process_time()
        found = run_program(
            program, real, runs=count, seed=repeat, models=truths, grid=grid
        )
        seconds = time.process_time() - begin
        rates.append(sum(int(each.simulated.sum()) for each in found) / seconds)
    return statistics.median(rates)


def _cpu(work: Callable[[], object]) -> float:
    work()
    taken = []
    for _ in range(3):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return statistics.median(taken)


def row(
    name: str,
    value: float,
    unit: str,
    target: float | None = None,
    *,
    below: bool = False,
) -> Row:
    """Return one figure; with a target, whether it is met."""
    found: Row = {"name": name, "value": float(value), "unit": unit}
    if target is not None:
        found["target"] = target
        found["met"] = bool(value <= target if below else value >= target)
    return found


def _print(found: Row) -> None:
    goal = ""
    if "target" in found:
        goal = f"  target {found['target']:g}: {'met' if found['met'] else 'MISSED'}"
    print(
        f"{found['name']:66s} {found['value']:12.4g} {found['unit']}{goal}", flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
