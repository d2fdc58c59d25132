"""Steps per CPU second of training, and CPU seconds until a policy is good.

    python -m benchmarks.train [--sb3 PYTHON] [--quick]

The task is the pendulum with mass, length and gravity drawn anew for every episode. The
peers are RecurrentPPO of sb3-contrib and PPO of Stable-Baselines3, in the interpreter
that `--sb3` names (without it: not measured): with simgap's batch, units, epochs and
other numbers, as RL Baselines3 Zoo tuned them for pendulums, and with their defaults.
RecurrentPPO has an LSTM for the critic beside that of the policy, as it comes; simgap
has one memory for both, so RecurrentPPO is measured like that too ("one memory").
Every row is a process of its own with one core and one thread. Seconds are those of the
processor since the process started, so that imports and compiling count; evaluating the
policies does not count.

Before a row is told, untrained policies are compared: the mean return and what each
parameter does to it must agree. A spread is of seeds; a peer has one.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np

from benchmarks.results import Asked, Row, Table, run, spread, started
from benchmarks.train_peers import (
    HORIZON,
    RANGES,
    ROWS,
    UNTRAINED,
    WANTED,
    Act,
    Watch,
    effects,
)
from simgap.continuous import bind, open_simulator, parse_randomization
from simgap.continuous.training.draws import drawn
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, Round, learner_of
from simgap.continuous.training.memory import parse_memory
from simgap.continuous.training.settings import preset
from simgap.continuous.training.trainer import rate_of
from simgap.continuous.training.update import Learnt

FASTER, SOON, COMPILED = 10.0, 25.0, 12.0  # goals: times, CPU seconds, CPU seconds
STEPS = {"gru": 800_000, "lstm": 800_000, "none": 2_400_000}  # until the rate is least
SEEDS = (0, 1, 2)  # of simgap; a peer has the first
CAP = 120.0  # CPU seconds
PEERS = {"lstm": "RecurrentPPO", "none": "PPO"}
CHOICES = {
    "equal": "simgap's",
    "lean": "simgap's, one memory",
    "tuned": "RL Zoo's",
    "defaults": "its defaults",
}
ERRORS = 5.0  # standard errors that are no accident
PENDULUM = " ".join(f"{name}={low}..{high}" for name, (low, high) in RANGES.items())
OTHERS = {
    "heading": "mounting_angle=-3.14159..3.14159",
    "puck": "angle=-3.14159..3.14159",
    "hopper": "body.*.mass*=0.6..1.6 geom.*.friction*=0.5..1.5 "
    "joint.*.damping*=0.5..2 actuator.*.gear*=0.6..1.4",
}
ONE_THREAD = {"NPROC": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def pendulum(options: Namespace) -> Iterator[Row]:
    """Train on the pendulum: simgap with all seeds, and the peers beside it."""
    rows = list(_pendulum(options.sb3, options.quick))
    check_alike([row for row in rows if row["choice"] in ("simgap", "equal", "lean")])
    for who in dict.fromkeys(map(_who, rows)):
        memory, choice = who
        runs, ours = [row for row in rows if _who(row) == who], choice == "simgap"
        rates = spread([row["rate"] for row in runs])
        reached = [row["reached"] for row in runs if row["reached"]]
        seconds = max(row["seconds"] for row in runs)
        late = f"not all in {seconds:.0f}" if reached else f"not in {seconds:.0f}"
        whole = len(reached) == len(runs)
        yield (
            "simgap" if ours else PEERS[memory],
            memory,
            "preset" if ours else CHOICES[choice],
            runs[0]["batch"],
            rates,
            _rate(rows, memory, "simgap") / rates.median,
            spread([row["compiling"] for row in runs]) if ours else None,
            spread([row[1] for row in reached]) if whole else late,
            spread([row[0] for row in reached]) if whole else None,
            spread([row["mean"] for row in runs]),
            spread([row["judging"] for row in runs]),
            *(judged(rows, memory) if ours and not options.quick else (None, None)),
        )


def check_alike(rows: list[Asked]) -> None:
    """Stop unless all trainers had the same task.

    Returns of untrained policies and what each parameter does to them agree, and some
    parameter does a lot: without randomization none would.
    """
    for row in rows:
        found, errors = np.array(row["effects"]), np.array(row["errors"])
        apart = np.abs(found - rows[0]["effects"]) / np.hypot(errors, rows[0]["errors"])
        strongest = np.max(np.abs(found[1:]) / errors[1:])
        if apart.max() > ERRORS or strongest < ERRORS:
            raise AssertionError(f"not the same task: {rows[0]} and {row}")


def judged(rows: list[Asked], memory: str) -> tuple[str, bool | None]:
    """Return the goals of simgap with some memory, and whether they are met.

    None: RecurrentPPO, which part of a goal is about, was not measured.
    """
    ours = [row for row in rows if _who(row) == (memory, "simgap")]
    slowest = max(row["reached"][1] if row["reached"] else inf for row in ours)
    goal, met = f"{SOON:g} s", slowest <= SOON
    if memory == "none":
        return goal, met
    goal = f"{FASTER:g} times RecurrentPPO, {goal}"
    if ("lstm", "equal") not in map(_who, rows):
        return goal, None
    times = _rate(rows, memory, "simgap") / _rate(rows, "lstm", "equal")
    return goal, met and times >= FASTER


def _rate(rows: list[Asked], memory: str, choice: str) -> float:
    who = (memory, choice)
    return float(np.median([row["rate"] for row in rows if _who(row) == who]))


def _who(row: Asked) -> tuple[str, str]:
    return row["memory"], row["choice"]


def _pendulum(sb3: str | None, quick: bool) -> Iterator[Asked]:
    """Measure the pendulum: simgap's seeds, and the peers beside them."""
    for memory, steps in STEPS.items():
        asked = {
            "simulator": "pendulum",
            "randomize": PENDULUM,
            "memory": memory,
            "steps": steps,
            "seconds": 1.0 if quick else CAP,
            "choice": "simgap",
        }
        if quick and memory == "lstm":
            continue
        for seed in SEEDS[:1] if quick else SEEDS:
            yield (row := _row(sys.executable, {**asked, "seed": seed}))
        for choice in CHOICES if memory in PEERS and sb3 is not None else ():
            if (memory, choice) == ("none", "lean"):
                continue
            more = {"choice": choice, "seed": SEEDS[0], "settings": row["settings"]}
            yield _row(str(sb3), {**asked, **more})


def _row(python: str, asked: Asked) -> Asked:
    peer = asked["choice"] != "simgap"
    module = "benchmarks.train_peers" if peer else "benchmarks.train"
    (told,) = started(python, module, asked)
    keys = ("simulator", "memory", "choice", "seed")
    row = {**{key: asked[key] for key in keys}, **told}
    print(row, file=sys.stderr, flush=True)
    return row


def others(options: Namespace) -> Iterator[Row]:
    """Measure what updates cost with other simulators."""
    for simulator, randomize in OTHERS.items():
        for memory in ("gru", "none"):
            if options.quick and (simulator, memory) != ("puck", "none"):
                continue
            asked = {
                "simulator": simulator,
                "randomize": randomize,
                "memory": memory,
                "steps": 10**6,
                "seconds": 1.0 if options.quick else 8.0,
                "choice": "simgap",
            }
            seeds = SEEDS[:1] if options.quick else SEEDS
            runs = [_row(sys.executable, {**asked, "seed": seed}) for seed in seeds]
            size = f"{runs[0]['settings']['rows']} x {runs[0]['settings']['horizon']}"
            compiling = spread([row["compiling"] for row in runs])
            rates = spread([row["rate"] for row in runs])
            met = compiling.greatest <= COMPILED
            yield simulator, memory, size, compiling, rates, COMPILED, met


def trained(asked: Asked) -> Iterator[Asked]:
    """Train with simgap, on one core with one thread, and say how it went."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    os.environ |= ONE_THREAD  # before JAX is imported
    simulator = open_simulator(asked["simulator"])
    randomization = bind(parse_randomization(asked["randomize"]), simulator)
    settings = preset(parse_memory(asked["memory"]), simulator.horizon or HORIZON)
    features, seed = features_of(randomization), asked["seed"]
    learner = learner_of(simulator, settings, features)
    rounds = settings.updates(asked["steps"]) + 1

    def done(learnt: Learnt, number: int, rate: float) -> Round:
        given = (randomization, features, settings, seed, number)
        draws = drawn(*given, simulator.parameters)
        return learner.round(learnt, draws, seed, number, rate)

    learnt = begun = learner.start(seed)
    judge = _without_noise(learner, lambda: learnt)
    watch = Watch(asked, judge if asked["simulator"] == "pendulum" else None)
    before, number, over = watch.spent(), 0, False
    while not over:
        rate = rate_of(settings, min(number, rounds - 1), rounds)
        learnt, number = done(learnt, number, rate).learnt, number + 1
        over = watch.over(number * settings.batch)
    found = watch.figures()
    found |= {
        "compiling": found["first"] - before - settings.batch / found["rate"],
        "batch": settings.batch,
        "settings": {**asdict(settings), "memory": asked["memory"]},
    }
    if asked["simulator"] != "pendulum":
        yield found
        return
    met = [done(begun, each, 0.0).met for each in range(UNTRAINED // ROWS)]
    if any(len(each.returned) * HORIZON != settings.batch for each in met):
        raise AssertionError(f"not all episodes have {HORIZON} steps")
    theta = np.concatenate([each.theta for each in met])
    yield {**found, **effects(theta, np.concatenate([each.returned for each in met]))}


def _without_noise(learner: Learner, learnt: Any) -> Act:
    """Return the policy without noise, for any number of worlds."""
    memory: Any = None
    previous: Any = None

    def act(seen: Any, step: int) -> Any:
        nonlocal memory, previous
        size, outputs = len(seen), learner.network.outputs
        if step == 0:
            memory = learner.network.start(size)
            previous = np.zeros((size, outputs), np.float32)
        memory, _, played, previous = learner.programs.act(
            learnt().weights.actor,
            learnt().statistics,
            memory,
            seen,
            previous,
            np.full(size, step == 0),
            np.zeros((size, 0), np.float32),
            np.zeros((size, outputs), np.float32),
        )
        return played

    return act


TABLES = (
    Table(
        "train",
        "trainer | memory | settings | steps of an update | steps per CPU s | ratio | "
        f"compiling, CPU s | to {WANTED:g}: CPU s | steps | mean return at the end | "
        "evaluating, CPU s | goal | met",
        pendulum,
    ),
    Table(
        "train_others",
        "simulator | memory | rows x steps | compiling, CPU s | steps per CPU s | "
        "goal of compiling | met",
        others,
    ),
)
SB3 = {"--sb3": "an interpreter that has sb3-contrib"}

if __name__ == "__main__":
    sys.exit(run("benchmarks.train", str(__doc__), TABLES, options=SB3, child=trained))
