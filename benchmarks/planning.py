"""Planning against its peers: ratios of CPU time, one thread each, one process.

    python -m benchmarks.planning [--quick]

Needs the `peers` extra. Every task is done by simgap and by each peer in turn, five
times; the figure is the median ratio. All hitting times of Storm are a sample of
targets scaled to all of them: it has no such query. A peer's answer is compared with
ours: a wrong one is reported as wrong, not as slow.
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

from benchmarks.peers import Storm, Toolbox, dense, garnet
from benchmarks.results import Row, Table, Timed, measured, ratio, run, scaled, timed
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

TOLERANCE = 1e-8
MEMBERS = 48  # of a class
gains = partial(solve_average_reward, tolerance=TOLERANCE)
all_times = partial(all_travel_times, tolerance=TOLERANCE)
longest = partial(diameter, tolerance=TOLERANCE)


def main() -> int:
    """Write the tables; exit with 1 if a goal is missed."""
    warnings.simplefilter("ignore")
    threadpool_limits(1)
    return run("benchmarks.planning", str(__doc__), TABLES)


def against_peers(options: Namespace) -> Iterator[Row]:
    for part in (_travel, _gain, _horizon):
        yield from part(options.quick)


def _travel(quick: bool) -> Iterator[Row]:
    """Compare all minimal hitting times, and the diameter alone."""
    slip = instances.slip_grid(30, slip=0.2)
    cases: list[tuple[str, SimulatorClass, int, float | None, float | None]] = [
        ("Garnet S=300", garnet(300), 30, None, None),
        ("Garnet S=1000", garnet(1000), 12, 25, 80),
        ("dense S=200", dense(200), 6, 150, None),
        ("slip grid 30x30", slip, 30, 10, None),
        ("RiverSwim-200", instances.riverswim(200), 40, 20, None),
        ("Garnet S=3000", garnet(3000), 4, 25, 80),
    ]
    for name, model, sample, goal, goal_alone in cases[: 2 if quick else None]:
        storm = Storm(model[0])
        targets = np.linspace(0, model.n_states - 1, sample).astype(int).tolist()

        def peer(storm: Storm = storm, targets: list[int] = targets) -> Timed:
            every = [storm.travel(target) for target in targets]
            return sum(spent for spent, _ in every), np.array([t for _, t in every])

        answers, seconds = measured(
            partial(timed, all_times, model), partial(timed, longest, model), peer
        )
        times, alone = answers[0].times[0], answers[1]
        assert abs(alone.lower / times.max() - 1.0) < 1e-7
        off = np.abs(answers[2] - times[targets]) / np.maximum(times[targets], 1.0)
        theirs = [each * model.n_states / sample for each in seconds[2]]
        storm_is = ("Storm, optimistic value iteration", theirs, float(off.max()))
        yield _row(f"all hitting times, {name}", seconds[0], *storm_is, goal)
        yield _row(f"diameter alone, {name}", seconds[1], *storm_is, goal_alone)


def _gain(quick: bool) -> Iterator[Row]:
    """Compare gain and bias with certificate; goals are against the fastest peer."""
    slip = partial(instances.slip_grid, slip=0.2)
    cases: list[tuple[str, Callable[[], SimulatorClass], float | None]] = [
        ("Garnet S=300", lambda: garnet(300), None),
        ("Garnet S=1000", lambda: garnet(1000), 4),
        ("Garnet S=1000, of a class of 48", lambda: garnet(1000, members=MEMBERS), 5),
        ("slip grid 30x30", lambda: slip(30), None),
        ("RiverSwim-200", lambda: instances.riverswim(200), None),
        ("Garnet S=10000", lambda: garnet(10_000), None),
        ("slip grid 100x100", lambda: slip(100), 4),
    ]
    for name, make, goal in cases[: 2 if quick else None]:
        model = make()
        peers = {"Storm": Storm(model[0]).gain, "pymdptoolbox": Toolbox(model[0]).gain}
        answers, seconds = measured(partial(timed, gains, model), *peers.values())
        truth = float(answers[0].gain[0])
        ours = [each / len(model) for each in seconds[0]]
        found = [
            (peer, theirs, abs(answer - truth) / abs(truth))
            for peer, theirs, answer in zip(
                peers, seconds[1:], answers[1:], strict=True
            )
        ]
        right = [each for each in found if each[2] < 1e-5]
        fastest = min(right, key=lambda each: np.median(each[1]), default=None)
        for each in found:
            asked = goal if each is fastest else None
            yield _row(f"gain and bias, {name}", ours, *each, asked)


def _horizon(quick: bool) -> Iterator[Row]:
    """Compare V*_1 for H = 1000, one model and a class of 48."""
    import quantecon

    horizon = 1000
    for states in (1000,) if quick else (300, 1000):
        family = garnet(states, members=MEMBERS)
        pairs = np.divmod(np.arange(states * family.n_actions), family.n_actions)
        chain = quantecon.markov.DiscreteDP(
            family.rewards[0].reshape(-1), Toolbox(family[0]).stacked, 1.0, *pairs
        )
        induction = quantecon.markov.ddp.backward_induction
        answers, seconds = measured(
            partial(timed, optimal_values, family[0], horizon),
            partial(timed, optimal_values, family, horizon),
            partial(Storm(family[0]).horizon, horizon),
            partial(timed, induction, chain, horizon),
        )
        truth = answers[0].values[0]
        found = {"Storm": answers[2], "quantecon": answers[3][0][0]}
        kinds = {
            "": seconds[0],
            ", of a class of 48": [s / MEMBERS for s in seconds[1]],
        }
        for kind, ours in kinds.items():
            for theirs, (peer, values) in zip(seconds[2:], found.items(), strict=True):
                off = float(np.max(np.abs(values - truth)) / horizon)
                goal = (2 if kind else 1.5) if peer == "Storm" else None
                task = f"V* for H={horizon}, Garnet S={states}{kind}"
                yield _row(task, ours, peer, theirs, off, goal)


def _row(
    task: str,
    ours: Sequence[float],
    peer: str,
    theirs: Sequence[float],
    off: float,
    goal: float | None,
) -> Row:
    times = ratio(theirs, ours)
    met = None if goal is None else times.median >= goal
    ends = scaled(ours, 1e3), scaled(theirs, 1e3)
    return task, peer, *ends, times, goal, met, f"{off:.0e}"


def growth(options: Namespace) -> Iterator[Row]:
    """Measure how our own cost grows with S, M and H."""
    sizes = (300, 1000) if options.quick else (300, 1000, 3000)
    tasks: dict[str, Callable[[SimulatorClass], Any]] = {
        "all hitting times": all_times,
        "diameter alone": longest,
        "gain and bias": gains,
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
        "task | peer | simgap, ms | peer, ms | times as fast | goal | met | "
        "peer is off by",
        against_peers,
    ),
    Table("planning_growth", "task | sizes | ms | exponent", growth),
    Table("planning_traps", "model | exact | we are off by | met", traps),
)

if __name__ == "__main__":
    sys.exit(main())
