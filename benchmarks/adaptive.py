"""Adaptive randomization at equal cost: uniform, ADR, DORAEMON, gap-aware draws.

    python -m benchmarks.adaptive [--quick] [--json FILE]

Every way of drawing trains the same policy with memory and may use the same number of
steps of the simulator. What it needs to know beforehand is paid from them: ADR and
DORAEMON train a policy at the nominal values; the gap-aware sampler trains an informed
one over all of nu, which is then measured in every cell. Episodes at the ends of ranges
are steps like others. `gap, told before` is the same sampler where the informed policy
is there already, since somebody who measures the gap has trained it.

CPU seconds count all of that too, and compiling each program once. All policies are
graded at the same points of nu (a Sobol sequence), from the same starts, without
exploration; that is not counted. The worst point is chosen on one half of the episodes
and told on the other. Intervals are of the five seeds (Student's t, 95 %), and
differences from uniform draws are taken seed by seed. With --json, runs that the file
has already are not repeated.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from simgap.arrays import FloatArray
from simgap.continuous import Sobol, bind, open_jax
from simgap.continuous.training.adaptive import parse_sampling
from simgap.continuous.training.beforehand import Needed, Reference
from simgap.continuous.training.features import features_of
from simgap.continuous.training.learner import Learner, learner_of
from simgap.continuous.training.memory import parse_memory
from simgap.continuous.training.references import (
    STARTS,
    budget_of,
    reference_of,
    returns_at,
)
from simgap.continuous.training.samplers import Nu
from simgap.continuous.training.settings import preset
from simgap.continuous.training.trainer import Trained, Training, trained
from simgap.continuous.training.update import Learnt

ONE_THREAD = {"NPROC": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
TASKS = {  # randomization, and the steps that each way of drawing may use
    "heading": ("mounting_angle=-3.14159..3.14159 speed=0.5..2.5", 1_200_000),
    "cart-pole-force": ("gain=0.3..2 sign={-1, 1}", 800_000),
}
WAYS = ("uniform", "adr", "doraemon", "gap", "gap, told before")
SEEDS = range(5)
POINTS, EPISODES = 64, 64

Run = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A simulator, what is randomized, and one compiled program for each use."""

    name: str

    @property
    def steps(self) -> int:
        return TASKS[self.name][1]

    @cached_property
    def simulator(self) -> Any:
        return open_jax(self.name)

    @cached_property
    def nu(self) -> Any:
        return bind(TASKS[self.name][0], self.simulator)

    @cached_property
    def nominal(self) -> Any:
        return bind("nominal", self.simulator)

    @cached_property
    def learners(self) -> dict[Needed, Program]:
        horizon = self.simulator.horizon
        plain = preset(parse_memory("none"), horizon)
        settings = {
            Needed.NOTHING: (preset(parse_memory("gru"), horizon), self.nu),
            Needed.NOMINAL: (plain, self.nominal),
            Needed.INFORMED: (replace(plain, informed=True), self.nu),
        }
        return {
            needed: Program.of(learner_of(self.simulator, each, features_of(nu)), nu)
            for needed, (each, nu) in settings.items()
        }


@dataclass(frozen=True)
class Program:
    """A learner that is compiled, and what that took."""

    learner: Learner
    nu: Any
    seconds: float

    @classmethod
    def of(cls, learner: Learner, nu: Any) -> Program:
        first = trained([Training(learner, nu, Nu(nu), learner.settings.batch, 0)])
        return cls(learner, nu, first[0].seconds)

    def trained(self, sampler: Any, steps: int, seed: int) -> Trained:
        """Return what a training led to."""
        return trained([Training(self.learner, self.nu, sampler, steps, seed)])[0]

    def returns(self, learnt: Learnt, theta: FloatArray, each: int) -> FloatArray:
        """Return what a policy returns at points without exploring, (points, each)."""
        many = np.repeat(theta, each, axis=0)
        found = returns_at(self.learner, learnt, self.nu, many, STARTS)
        return found.reshape(len(theta), each)


def main() -> None:
    """Run everything that the file does not have, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--json", type=Path, help="keep the runs there")
    options = parser.parse_args()
    os.environ.update(ONE_THREAD)
    seeds = SEEDS[:2] if options.quick else SEEDS
    runs: list[Run] = []
    if options.json and options.json.exists():
        runs = json.loads(options.json.read_text())
    known = {(run["task"], run["seed"]) for run in runs}
    for name in TASKS:
        missing = [seed for seed in seeds if (name, seed) not in known]
        task = Task(name)
        for seed in missing:
            runs += all_ways(task, seed)
            if options.json:
                options.json.write_text(json.dumps(runs, indent=1) + "\n")
        print(table([run for run in runs if run["task"] == name]), flush=True)


def all_ways(task: Task, seed: int) -> list[Run]:
    """Return what every way of drawing leads to, with one seed."""
    told = {needed: before(task, needed, seed) for needed in list(Needed)[1:]}
    program = task.learners[Needed.NOTHING]
    points = Sobol(POINTS).points(task.nu, STARTS).theta
    runs = []
    for way in WAYS:
        sampling = parse_sampling(way.partition(",")[0])
        reference, steps, seconds = told.get(sampling.needs, (None, 0, 0.0))
        if way == WAYS[-1]:
            steps, seconds = 0, 0.0
        sampler = sampling.start(task.nu, reference)  # type: ignore[arg-type]
        done = program.trained(sampler, task.steps - steps, seed)
        returns = program.returns(done.learnt, points, EPISODES)
        half = EPISODES // 2
        worst = returns[returns[:, :half].mean(axis=1).argmin(), half:].mean()
        runs.append(
            {
                "task": task.name,
                "way": way,
                "seed": seed,
                "steps_before": steps,
                "steps": steps + done.steps,
                "seconds": seconds + program.seconds + done.seconds,
                "mean": float(returns.mean()),
                "worst": float(worst),
                "drawn": done.sampler.share,
                "outcome": done.outcome.value,
                "returns": returns.mean(axis=1).round(3).tolist(),
            }
        )
        shown = {key: runs[-1][key] for key in ("task", "way", "seed", "mean", "worst")}
        print(shown, f"{done.seconds:.0f} s", flush=True)
    return runs


def before(task: Task, needed: Needed, seed: int) -> tuple[Reference, int, float]:
    """Return what must be known beforehand, the steps and the CPU seconds it took."""
    program = task.learners[needed]
    split = budget_of(needed, task.steps, program.learner.settings, task.nu)
    done = program.trained(Nu(program.nu), split.reference, seed)
    reference = reference_of(needed, program.learner, task.nu, done)
    return reference, split.before, program.seconds + done.seconds


def table(runs: list[Run]) -> str:
    """Return the rows of one task."""
    lines = [
        f"\n{runs[0]['task']}: {TASKS[runs[0]['task']][0]}\n",
        "| draws | steps, of them before | CPU s | of nu drawn at the end | "
        "mean over nu | worst point | mean, less uniform | worst, less uniform |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for way in WAYS:
        here = [run for run in runs if run["way"] == way]
        even = [run for run in runs if run["way"] == WAYS[0]]
        cells = [
            way,
            f"{here[0]['steps']:.3g}, {here[0]['steps_before']:.3g}",
            f"{np.mean([run['seconds'] for run in here]):.0f}",
            interval([run["drawn"] for run in here], 2),
            *(interval([run[key] for run in here]) for key in ("mean", "worst")),
            *(
                interval([a[key] - b[key] for a, b in zip(here, even, strict=True)])
                if way != WAYS[0]
                else "-"
                for key in ("mean", "worst")
            ),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def interval(values: list[float], digits: int = 1) -> str:
    """Return the mean over the seeds and its interval."""
    middle, many = np.mean(values), len(values)
    half = student.ppf(0.975, many - 1) * np.std(values, ddof=1) / np.sqrt(many)
    low, high = middle - half, middle + half
    return f"{middle:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


if __name__ == "__main__":
    main()
