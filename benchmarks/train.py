"""Steps per CPU second of training, and CPU seconds until a policy is good.

    python -m benchmarks.train [--sb3 PYTHON] [--quick] [--json FILE]

The task is the pendulum with mass, length and gravity drawn anew for every episode. The
peers are RecurrentPPO of sb3-contrib and PPO of Stable-Baselines3, in the interpreter
that `--sb3` names (without it: not measured): with simgap's batch, units, epochs and
other numbers, as RL Baselines3 Zoo tuned them for pendulums, and with their defaults.
RecurrentPPO has an LSTM for the critic beside that of the policy, as it comes; simgap
has one memory for both, so RecurrentPPO is measured like that too ("one memory").
Every row is a process of its own with one core and one thread. Seconds are those of the
processor since the process started, so that imports and compiling count; evaluating the
policies does not count.

Before anything is printed, untrained policies are compared: the mean return and what
each parameter does to it must agree. Exits with 1 if a goal is missed; a quick run
judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.train_peers import (
    HORIZON,
    RANGES,
    ROWS,
    UNTRAINED,
    WANTED,
    Act,
    Asked,
    Watch,
    effects,
)
from benchmarks.transfer_peers import started
from simgap.continuous import bind, open_simulator, parse_randomization
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, Round, learner_of
from simgap.continuous.training.memory import parse_memory
from simgap.continuous.training.samplers import Nu, drawn
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
WORDS = {True: "met", False: "missed", None: "not measured"}
ONE_THREAD = {"NPROC": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}


def main() -> int:
    """Run all comparisons, print two tables and the goals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sb3", help="an interpreter that has sb3-contrib")
    parser.add_argument("--quick", action="store_true", help="a few updates")
    parser.add_argument("--json", type=Path, help="write the figures there as well")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(_trained(json.load(sys.stdin))))
        return 0
    rows = list(_pendulum(options.sb3, options.quick))
    check_alike(
        [each for each in rows if each["choice"] in ("simgap", "equal", "lean")]
    )
    _print_pendulum(rows)
    others = list(_others(options.quick))
    goals = judged(rows, others)
    print("\n| goal | found | |\n|---|---|---|")
    for each in goals:
        value = "" if each["found"] is None else f"{each['found']:.3g}"
        print(f"| {each['goal']} | {value} | {WORDS[each['met']]} |")
    if options.json:
        found = {"pendulum": rows, "others": others, "goals": goals}
        options.json.write_text(json.dumps(found, indent=1))
    return int(not options.quick and any(each["met"] is False for each in goals))


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


def judged(rows: list[Asked], others: list[Asked]) -> list[Asked]:
    """Return what was found for each goal and whether it is met; None: not measured."""
    found: list[tuple[str, float | None, bool]] = []
    peer = _rates(rows, "lstm", "equal")
    for memory in STEPS:
        ours = [each for each in rows if _who(each) == (memory, "simgap")]
        if not ours:
            continue
        if memory != "none":
            text = f"times the steps per CPU s of RecurrentPPO, at least {FASTER:g}"
            ratio = _median(rows, memory) / peer[0] if peer else None
            found.append((f"{memory}: {text}", ratio, (ratio or 0.0) >= FASTER))
        text = (
            f"CPU s to a return of {WANTED:g} with the slowest seed, at most {SOON:g}"
        )
        slowest = max(each["reached"][1] if each["reached"] else inf for each in ours)
        found.append((f"{memory}: {text}", slowest, slowest <= SOON))
    text = f"CPU s of compiling an update, the longest, at most {COMPILED:g}"
    longest = max(each["compiling"] for each in [*rows, *others] if "compiling" in each)
    found.append((text, longest, longest <= COMPILED))
    return [
        {"goal": goal, "found": value, "met": None if value is None else met}
        for goal, value, met in found
    ]


def _rates(rows: list[Asked], memory: str, choice: str) -> list[float]:
    return [each["rate"] for each in rows if _who(each) == (memory, choice)]


def _median(rows: list[Asked], memory: str) -> float:
    return float(np.median(_rates(rows, memory, "simgap")))


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
            row = _row(sys.executable, {**asked, "seed": seed})
            yield row
        for choice in CHOICES if memory in PEERS and sb3 is not None else ():
            if (memory, choice) == ("none", "lean"):
                continue
            more = {"choice": choice, "seed": SEEDS[0], "settings": row["settings"]}
            yield _row(str(sb3), {**asked, **more})


def _row(python: str, asked: Asked) -> Asked:
    peer = asked["choice"] != "simgap"
    module = "benchmarks.train_peers" if peer else "benchmarks.train"
    (told,) = started(python, asked, module)
    keys = ("simulator", "memory", "choice", "seed")
    row = {**{key: asked[key] for key in keys}, **told}
    print(row, file=sys.stderr, flush=True)
    return row


def _print_pendulum(rows: list[Asked]) -> None:
    """Print a line for each row; ratios are of simgap's median, same memory."""
    head = (
        "trainer",
        "memory",
        "settings",
        "seed",
        "steps of an update",
        "steps per CPU s",
        "ratio",
        "compiling, CPU s",
        f"to {WANTED:g}: CPU s",
        "steps",
        "mean return at the end",
        "evaluating, CPU s",
    )
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for row in rows:
        memory, choice = _who(row)
        ours = choice == "simgap"
        reached = row["reached"]
        cells = (
            "simgap" if ours else PEERS[memory],
            memory,
            "preset" if ours else CHOICES[choice],
            str(row["seed"]),
            str(row["batch"]),
            f"{row['rate']:.3g}",
            f"{_median(rows, memory) / row['rate']:.2g}",
            f"{row['compiling']:.1f}" if ours else "-",
            f"{reached[1]:.1f}" if reached else f"not in {row['seconds']:.0f}",
            f"{reached[0] if reached else row['steps']:.3g}",
            f"{row['mean']:.0f}",
            f"{row['judging']:.1f}",
        )
        print(f"| {' | '.join(cells)} |", flush=True)


def _others(quick: bool) -> Iterator[Asked]:
    """Measure and print what updates cost with other simulators."""
    head = (
        "simulator",
        "memory",
        "rows x steps",
        "compiling, CPU s",
        "steps per CPU s",
    )
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for simulator, randomize in OTHERS.items():
        for memory in ("gru", "none"):
            if quick and (simulator, memory) != ("puck", "none"):
                continue
            asked = {
                "simulator": simulator,
                "randomize": randomize,
                "memory": memory,
                "steps": 10**6,
                "seconds": 1.0 if quick else 25.0,
                "choice": "simgap",
                "seed": SEEDS[0],
            }
            row = _row(sys.executable, asked)
            size = f"{row['settings']['rows']} x {row['settings']['horizon']}"
            speed = f"{row['compiling']:.1f} | {row['rate']:.3g}"
            print(f"| {simulator} | {memory} | {size} | {speed} |", flush=True)
            yield row


def _trained(asked: Asked) -> Asked:
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
        given = (Nu(randomization), randomization, features, settings, seed, number)
        draws = drawn(*given, simulator.parameters)
        return learner.round(learnt, draws, seed, number, rate)

    learnt = begun = learner.start(seed)
    pendulum = asked["simulator"] == "pendulum"
    watch = Watch(asked, _without_noise(learner, lambda: learnt) if pendulum else None)
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
    if not pendulum:
        return found
    met = [done(begun, each, 0.0).met for each in range(UNTRAINED // ROWS)]
    if any(len(each.returned) * HORIZON != settings.batch for each in met):
        raise AssertionError(f"not all episodes have {HORIZON} steps")
    theta = np.concatenate([each.theta for each in met])
    return {**found, **effects(theta, np.concatenate([each.returned for each in met]))}


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


if __name__ == "__main__":
    sys.exit(main())
