"""Simulation against its peers and its own limits: ratios of CPU time, one thread.

    python -m benchmarks.simulate [--peer-python PYTHON] [--quick]

The peer is statisticalrl in an environment of its own (`benchmarks.learning_peers` says
how to make it); without it that table is not measured. Everything else is measured in
this process: agents against our own walk of a stationary policy, lazy checks against a
look at every step, the exact tail against drawing all steps, returns against losses,
and the exact evaluation of Algorithm 3 against sampling it. RS-M is RiverSwim with six
states and M success rates from .1 to .6 whose left bank pays .7; JAO-8 a tree of eight.
"""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.learning_peers import peer_rates
from benchmarks.results import (
    REPEATS,
    Row,
    Spread,
    Table,
    measured,
    ratio,
    run,
    spread,
    timed,
)  # fmt: skip
from simgap.base_policies.fixed import fixed_policy
from simgap.base_policies.improved.likelihood_optimism import likelihood_optimism
from simgap.base_policies.improved.posterior_sampling import posterior_sampling
from simgap.base_policies.outsiders.psrl import psrl
from simgap.base_policies.outsiders.ucrl import ucrl2
from simgap.base_policies.paper.general_optimistic import general_optimistic
from simgap.base_policies.paper.optimistic import Threshold, optimistic_exploration
from simgap.gap.exact import elimination_tests
from simgap.gap.first_passage import first_passage_gap
from simgap.gap.sampled import Sample, combined, measured as measured_gap
from simgap.instances import riverswim, switch_tree
from simgap.mdp import SimulatorClass
from simgap.planning import solve_average_reward
from simgap.policies.markov import MarkovPolicy
from simgap.simulation.runs import Program, run_program
from simgap.simulation.worlds import real_models

Agent = Callable[[SimulatorClass, int], Program]
AGENTS: dict[str, tuple[Agent, float | None]] = {  # and the part of the limit wanted
    "Algorithm 3": (optimistic_exploration, 0.8),
    "Algorithm 4": (general_optimistic, 0.8),
    "Algorithm 3, variance": (
        partial(optimistic_exploration, threshold=Threshold.VARIANCE), None,
    ),
    "likelihood": (likelihood_optimism, None),
    "posterior sampling": (posterior_sampling, None),
    "UCRL2": (ucrl2, None),
    "PSRL": (psrl, None),
}  # fmt: skip


def rivers(members: int, states: int = 6) -> SimulatorClass:
    """RS-M."""
    rates = tuple(np.linspace(0.1, 0.6, members))
    return riverswim(states, rates, left_reward=0.7, uniform=True)


def agents(options: Namespace) -> Iterator[Row]:
    """Steps per second of each agent, and as a part of a stationary policy's."""
    horizon, worlds = 10**5 if options.quick else 10**6, rivers(20)
    plan = solve_average_reward(worlds)
    always = MarkovPolicy("stationary", 2, plan.policy[-1])
    limit = _rates(fixed_policy(always, worlds), worlds, horizon)
    yield "a stationary policy: the limit", spread(limit), None, None, None
    for name, (make, goal) in AGENTS.items():
        rates = _rates(make(worlds, horizon), worlds, horizon)
        part = ratio(rates, limit)
        met = None if goal is None else part.median >= goal
        yield name, spread(rates), part, goal, met


def simulate(options: Namespace) -> Iterator[Row]:
    for part in (_laziness, _tails, _variance, _exactness, _cores):
        yield from part(options.quick)


def _laziness(quick: bool) -> Iterator[Row]:
    """Lazy checks of Algorithm 4 against a look at every step, the same runs."""
    horizon = 2 * 10**4 if quick else 10**5
    for members, goal in ((20, 5), (100, 30)):
        worlds = rivers(members)
        agent = general_optimistic(worlds, horizon)
        programs = (agent, _Always(agent))
        tasks = [
            _drawn(each, worlds, horizon, [0, members - 1], 1) for each in programs
        ]
        answers, seconds = measured(*tasks)
        for one, other in zip(*answers, strict=True):
            if one.reward[0] != other.reward[0] or one.switches[0] != other.switches[0]:
                raise AssertionError("lazy checks changed a run")
        times = ratio(seconds[1], seconds[0])
        yield _row(
            f"Algorithm 4, M={members}: looking late, times as fast", times, goal
        )


def _tails(quick: bool) -> Iterator[Row]:
    """The exact tail of the likelihood agent against drawing every step."""
    horizon, count = (10**5, 4) if quick else (10**6, 20)
    tree = switch_tree(4, 2, e=0.1, members=8, delta=0.2)
    for name, worlds, goal in (("RS-5", rivers(5), 30), ("JAO-8", tree, 15)):
        agent = likelihood_optimism(worlds, horizon)
        real = real_models(agent.observed, worlds, horizon)
        left = partial(timed, run_program, agent, real, runs=count, seed=0)
        drawn = partial(left, grid=np.array([horizon]))
        _, seconds = measured(left, drawn)
        times = ratio(seconds[1], seconds[0])
        text = f"likelihood, {name}, H={horizon:.0e}: exact tail, times as fast"
        yield _row(text, times, None if quick else goal)


def _variance(quick: bool) -> Iterator[Row]:
    """Variance of returns over that of losses, and of the combination."""
    horizon, count, worlds = 10**5, 100 if quick else 400, rivers(20)
    least = np.inf
    for name in ("likelihood", "posterior sampling", "Algorithm 3, variance", "UCRL2"):
        agent = AGENTS[name][0](worlds, horizon)
        real = real_models(agent.observed, worlds, horizon)
        truths = [19] if name == "likelihood" else [0, 10, 19]
        whole, end = (-np.inf, np.inf), np.array([horizon])
        for runs in run_program(
            agent, real, runs=count, seed=1, models=truths, grid=end
        ):
            raw = real.optimal[runs.model] - runs.reward
            found = combined(Sample(raw, runs.gap, whole, whole, -np.inf, np.inf, 0.0))
            if np.isfinite(found.variance_ratio) and raw.var() > 0.0:
                least = min(least, found.variance_ratio)
            text = f"{name}, {runs.name}: variance of returns over that of the estimate"
            goal = 1e4 if name == "likelihood" else None
            yield _row(text, found.variance_ratio, goal)
    yield _row("the same, the least of all", least, 1.0 - 4.0 / np.sqrt(count))


def _exactness(quick: bool) -> Iterator[Row]:
    """First passages of Algorithm 3: CPU seconds, and z against sampling."""
    horizon, worlds = 2 * 10**3 if quick else 2 * 10**4, rivers(5)
    agent = optimistic_exploration(worlds, horizon)
    known, tests = agent.known, elimination_tests(agent)
    real = real_models(agent.observed, worlds, horizon)
    for member in (0, 2):
        law = (worlds[member], known.average, tests, horizon)
        exactly = partial(timed, first_passage_gap, *law, order=known.order)
        (exact,), (seconds,) = measured(exactly, repeats=1 if quick else 3)
        name = f"Algorithm 3, H={horizon}, {worlds.model_names[member]}: exact gap"
        yield _row(f"{name}, CPU s", spread(seconds), 30.0, most=True)
        (runs,) = run_program(agent, real, runs=2000, seed=3, models=[member])
        told = measured_gap(real, runs, 0.95).gap
        assert exact.gap.lower is not None and exact.gap.upper is not None
        middle = 0.5 * (exact.gap.lower + exact.gap.upper)
        score = abs(told.estimate - middle) / max(told.standard_error or 0.0, 1e-9)
        yield _row(f"{name}, z of sampling", score, 4.0, most=True)


def _cores(quick: bool) -> Iterator[Row]:
    """Wall time of one thread over that of two, the same bytes."""
    worlds, horizon = rivers(20), 10**6
    agent = optimistic_exploration(worlds, horizon)
    real = real_models(agent.observed, worlds, horizon)
    walls: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(REPEATS):
        for threads, found in walls.items():
            begin = time.perf_counter()
            run_program(agent, real, runs=4 if quick else 20, seed=0, threads=threads)
            found.append(time.perf_counter() - begin)
    yield _row("two threads, wall time: times as fast as one", ratio(*walls.values()))


def _row(
    what: str, value: float | Spread, goal: float | None = None, *, most: bool = False
) -> Row:
    if goal is None:
        return what, value, None, None
    number = value.median if isinstance(value, Spread) else float(value)
    met = number <= goal if most else number >= goal
    return what, value, f"at {'most' if most else 'least'} {goal:g}", bool(met)


def peers(options: Namespace) -> Iterator[Row]:
    """UCRL2 and PSRL of statisticalrl on the usual river, the same number of steps."""
    if options.peer_python is None:
        return
    steps = 2 * 10**4 if options.quick else 10**5
    for states, goal in ((6, 1000), (50, 200))[: 1 if options.quick else None]:
        worlds = riverswim(states, 0.4, 0.05, left_reward=0.005, uniform=True)
        for learner, make in (("UCRL2", ucrl2), ("PSRL", psrl)):
            theirs = peer_rates(
                options.peer_python, worlds[0], learner, steps=steps, seeds=range(3)
            )
            mine = {
                f"{learner}, S={states}": (
                    _rates(make(worlds, steps), worlds, steps),
                    goal,
                )
            }
            if learner == "UCRL2" and states == 6:
                long, many = 10**5 if options.quick else 10**6, rivers(20)
                for name in ("Algorithm 3", "Algorithm 4"):
                    agent = AGENTS[name][0](many, long)
                    mine[f"{name} on RS-20, over UCRL2"] = (
                        _rates(agent, many, long),
                        1500,
                    )
            for name, (ours, wanted) in mine.items():
                times = spread([each / np.median(theirs) for each in ours])
                met = times.median >= wanted
                yield name, spread(ours), spread(theirs), times, wanted, met


class _Always:
    """Algorithm 4 that looks at every step."""

    def __init__(self, agent: Any) -> None:
        self.agent = agent
        self.observed = agent.observed

    def run(self, *arguments: Any) -> None:
        """Run without lazy checks."""
        self.agent.run(*arguments, lazy=False)


def _drawn(
    program: Program, worlds: SimulatorClass, horizon: int, truths: list[int], runs: int
) -> Callable[[], Any]:
    """Return what runs a program with every step drawn."""
    real, end = real_models(program.observed, worlds, horizon), np.array([horizon])
    more = {"runs": runs, "seed": 0, "models": truths, "grid": end}
    return partial(timed, run_program, program, real, **more)


def _rates(program: Program, worlds: SimulatorClass, horizon: int) -> list[float]:
    """Return steps per CPU second, all steps drawn."""
    truths = sorted({0, len(worlds) // 2, len(worlds) - 1})
    count = max(1, min(200, 4 * 10**6 // horizon))
    (found,), (seconds,) = measured(_drawn(program, worlds, horizon, truths, count))
    steps = sum(int(each.simulated.sum()) for each in found)
    return [steps / each for each in seconds]


TABLES = (
    Table("agents", "agent | steps/s | part of the limit | goal | met", agents),
    Table("simulate", "what | figure | goal | met", simulate),
    Table(
        "agents_peers",
        "learner | simgap, steps/s | statisticalrl, steps/s | times | goal | met",
        peers,
    ),
)
PEER = {"--peer-python": "an interpreter that has statisticalrl"}

if __name__ == "__main__":
    sys.exit(run("benchmarks.simulate", str(__doc__), TABLES, options=PEER))
