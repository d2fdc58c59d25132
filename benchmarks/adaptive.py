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
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.stats import t as student

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous import Sobol, bind, open_jax
from simgap.continuous.training.adaptive import parse_sampling
from simgap.continuous.training.adr import AdrSampler
from simgap.continuous.training.beforehand import Needed, Reference
from simgap.continuous.training.checkpoint import Checkpoints
from simgap.continuous.training.doraemon import DoraemonSampler, entropy
from simgap.continuous.training.features import features_of
from simgap.continuous.training.gap_aware import GapSampler, cells_of
from simgap.continuous.training.learner import Learner, finished, learner_of
from simgap.continuous.training.memory import parse_memory
from simgap.continuous.training.samplers import Nu, drawn, draws_in_a_row
from simgap.continuous.training.scanned import collected
from simgap.continuous.training.settings import preset
from simgap.continuous.training.trainer import Trained, Training, trained
from simgap.continuous.training.update import Learnt

ONE_THREAD = {"NPROC": "1", "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false"}
TASKS = {  # randomization, and the steps that each way of drawing may use
    "heading": ("mounting_angle=-3.14159..3.14159 speed=0.5..2.5", 1_200_000),
    "cart-pole-force": ("gain=0.3..2 sign={-1, 1}", 800_000),
}
SHARE = {Needed.NOTHING: 0.0, Needed.NOMINAL: 1 / 12, Needed.INFORMED: 1 / 3}
WAYS = ("uniform", "adr", "doraemon", "gap", "gap, told before")
SEEDS = range(5)
POINTS, EPISODES, GRADING = 64, 64, 977  # grading: its seed
IN_A_CELL = 4  # episodes of the informed policy
STILL = -30.0  # logarithm of a standard deviation of actions: no exploration

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
    """A learner that is compiled, what that took, and how its policies are graded."""

    learner: Learner
    nu: Any
    seconds: float
    play: Callable[..., Any]

    @classmethod
    def of(cls, learner: Learner, nu: Any) -> Program:
        import jax

        first = trained([Training(learner, nu, Nu(nu), learner.settings.batch, 0)])
        play = partial(
            collected,
            learner.simulator,  # type: ignore[arg-type]
            learner.settings.horizon,
            learner.network,
            learner.actions,
        )
        return cls(learner, nu, first[0].seconds, jax.jit(play))

    def trained(self, sampler: Any, steps: int, seed: int) -> tuple[Trained, Any]:
        """Return what a training led to, and the sampler at its end."""
        with TemporaryDirectory() as folder:
            kept = Checkpoints(Path(folder), "last", None)
            done = trained(
                [Training(self.learner, self.nu, sampler, steps, seed, kept)]
            )
            last = kept.latest(done[0].learnt)
        assert last is not None
        return done[0], sampler.restored(last.sampler)

    def returns(self, learnt: Learnt, theta: FloatArray, each: int) -> FloatArray:
        """Return what a policy returns at points without exploring, (points, each)."""
        import jax

        settings = replace(self.learner.settings, rows=len(theta) * each)
        draws = drawn(
            AtPoints(np.repeat(theta, each, axis=0), draws_in_a_row(settings)),  # type: ignore[arg-type]
            self.nu,
            self.learner.features,
            settings,
            GRADING,
            0,
            self.learner.simulator.parameters,
        )
        actor = learnt.weights.actor
        actor = actor._replace(spread=np.full_like(actor.spread, STILL))
        key = jax.random.key(0)
        rows = self.play(actor, learnt.statistics, draws.draws, key)
        met = finished(np.asarray(rows.reward), np.asarray(rows.ended), draws)
        return met.returned.reshape(len(theta), each)


@dataclass(frozen=True)
class AtPoints:
    """The parameters of rows, whatever the seed."""

    theta: FloatArray
    in_a_row: int

    def draw(self, seed: int, episodes: OffsetArray) -> FloatArray:
        return self.theta[episodes // self.in_a_row]


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
    points = Sobol(POINTS).points(task.nu, GRADING).theta
    runs = []
    for way in WAYS:
        sampling = parse_sampling(way.partition(",")[0])
        reference, steps, seconds = told.get(sampling.needs, (None, 0, 0.0))
        if way == WAYS[-1]:
            steps, seconds = 0, 0.0
        sampler = sampling.start(task.nu, reference)  # type: ignore[arg-type]
        done, last = program.trained(sampler, task.steps - steps, seed)
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
                "drawn": share_of_nu(last),
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
    done, _ = program.trained(Nu(program.nu), int(SHARE[needed] * task.steps), seed)
    reference = Reference(float(done.returns[0]), done.final_return)
    steps = done.steps
    if needed is Needed.INFORMED:
        theta = cells_of(task.nu).points(IN_A_CELL, seed)
        found = program.returns(done.learnt, theta, 1).reshape(-1, IN_A_CELL)
        reference = replace(reference, cells=found.mean(axis=1))
        steps += len(theta) * program.learner.settings.horizon
    return reference, steps, program.seconds + done.seconds


def share_of_nu(sampler: Any) -> float:
    """Return how much of nu is drawn: e to the entropy of the draws, 1: all of it."""
    match sampler:
        case AdrSampler():
            return float(np.exp(sampler.ends.shape[0] * sampler.mean_log_width))
        case DoraemonSampler():
            return float(np.exp(entropy(sampler.shape)))
        case GapSampler():
            chances = sampler.chances
            return float(np.exp(-(chances * np.log(chances)).sum()) / chances.size)
    return 1.0


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
