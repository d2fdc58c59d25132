"""Train, grade and answer: every question about a simulator, one folder of records.

The folder has a plan, the trainings, and a record of every answer; its ledger has them
too, and is the truth. A study that was stopped, however, goes on where it was: what is
finished is in the ledgers, and trainings have checkpoints.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar, final

from simgap.answers.blame.blame_run import blame_run
from simgap.answers.identify.identify_run import identify_run
from simgap.answers.planned_class import Tell
from simgap.answers.study.kinds import MEMORY, MEMORYLESS, WINDOW, Kind
from simgap.answers.study.plan import Asked, Plan, planned
from simgap.answers.study.speeds import PLAN, WIDTH, Clock, forget, measured_speeds
from simgap.answers.study.verdicts import (
    Answered,
    answers_of,
    further_answer,
    only_parameter,
    unconverged,
    words_of,
)
from simgap.answers.train.asked import AskedTraining, asked_training
from simgap.answers.train.train import (
    kept_record,
    learner_settings,
    seeds_from,
    training_recipe,
)
from simgap.answers.transfer.setup import identity
from simgap.answers.transfer.transfer import RETURNS, transfer
from simgap.answers.width.width_run import width_run
from simgap.continuous import TrainedSeed, TrainingRecipe, finished_trainings
from simgap.errors import InvalidArgument, InvalidFile, SimgapError
from simgap.ledger import opened_ledger
from simgap.records.blame_run import BlamedRun
from simgap.records.identify_run import IdentifiedRun
from simgap.records.kept import kept_or_made, write_record
from simgap.records.note import Note
from simgap.records.provenance import provenance, versions
from simgap.records.record import Record, with_command
from simgap.records.study_run import StudyRun
from simgap.records.train import Train
from simgap.records.transfer import Transfer
from simgap.records.width_run import WidthRun
from simgap.text import counted, duration, listed
from simgap.user_files import made_folder

PART = "study"  # of the folder's ledger
RECORD, PAGE = "study_run.json", "report.html"
LONG = 600.0  # seconds of a budget: there may be time for one more kind
Draw = Callable[[Path, Path], object]
Kept = TypeVar("Kept", bound=Record)


def study_simulator(
    simulator: Any,
    *,
    randomize: Any,
    horizon: int | None = None,
    noise: str = "",
    seeds: int | None = None,
    time_budget: float | None = None,
    fresh: bool = False,
    seed: int = 0,
    workers: int = 1,
    out: Path | str = "simgap-study",
    command: str = "",
    draw: Draw | None = None,
    announce: Tell | None = None,
    progress: Tell | None = None,
) -> StudyRun:
    """Return what memory, knowledge and randomization are worth in a simulator.

    Policies are trained with memory, without, told the parameters, for the nominal
    values and, if several parameters vary, told some of them: `seeds` of each, 5 unless
    a budget is too small for that. All are graded; then blame, identify and width are
    answered. With a `time_budget` in seconds, the steps of the trainings are chosen so
    that the whole of it takes about that long. The plan is kept, and what was stopped
    goes on with it, unless it shall be `fresh`. `announce` hears what is planned,
    `draw` is called with the folder and the file of a page at the end, and if the study
    is interrupted.
    """
    begin, folder = monotonic(), Path(out)
    if not isinstance(simulator, str):
        raise InvalidArgument(
            f"a study of a {type(simulator).__name__}",
            hint="name the simulator, file.py:make: other processes open it too",
            code="simulator-by-name",
        )
    asked = asked_training(
        simulator,
        randomize=randomize,
        memory=MEMORY.memory,
        informed=True,  # something must vary
        nominal=False,
        at=None,
        horizon=horizon,
        noise=noise,
        checked=True,
    )
    what = _identity(asked, noise, seeds, time_budget, seed)
    made_folder(folder)
    if fresh:
        forget(folder)
    tell = progress or (lambda _: None)
    study = _Study(simulator, asked, noise, folder, seed, workers, tell, what)
    with opened_ledger(folder, PART, what):
        plan, _ = kept_or_made(
            folder / PLAN,
            {"answer": "plan", **what},
            Plan,
            lambda: study.planned(seeds, time_budget, begin),
        )
        if announce is not None:
            announce(
                f"{counted(len(plan.kinds) * plan.seeds, 'training')} of {plan.steps} "
                f"steps each; the study takes about {duration(plan.expected)} in all"
            )
        try:
            answer = study.answered(plan, command)
            answer = replace(
                answer,
                time_budget=time_budget,
                total_seconds=monotonic() - begin,
                report=None if draw is None else str(folder / PAGE),
            )
            write_record(answer, folder / RECORD)
        finally:
            if draw is not None:
                draw(folder, folder / PAGE)
    return answer


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Study:
    """What is studied, and where it goes."""

    simulator: str
    asked: AskedTraining
    noise: str
    folder: Path
    seed: int
    workers: int
    tell: Tell
    identity: dict[str, str]  # what is studied, part by part

    def recipe(self, kind: Kind, folder: Path, steps: int) -> TrainingRecipe:
        """Return a training of a kind."""
        return training_recipe(
            self.simulator,
            randomize=self.asked.told.spec,
            horizon=self.asked.horizon,
            noise=self.noise,
            steps=steps,
            checked=False,  # it was
            out=folder,
            **kind.options,
        )

    def planned(self, seeds: int | None, budget: float | None, begin: float) -> Plan:
        """Measure how fast this machine is, and plan."""
        batch = learner_settings(
            self.asked.memory, self.asked.horizon, None, informed=False, masked=False
        ).batch
        kinds = [MEMORY, MEMORYLESS]
        if budget is None or budget >= LONG:
            kinds.append(WINDOW)
        speeds = measured_speeds(
            kinds,
            lambda kind, folder, rounds: self.recipe(kind, folder, rounds * batch),
            workers=self.workers,
            progress=self.tell,
        )
        return planned(
            Asked(
                len(self.parameters),
                self.asked.horizon,
                batch,
                seeds,
                budget,
                self.workers,
            ),
            speeds,
            monotonic() - begin,
        )

    def answered(self, plan: Plan, command: str) -> StudyRun:
        """Return the answers, each kept in the folder as soon as it is there."""
        clock = Clock(plan, self.tell)
        trainings = self.trained(plan, clock)
        parts = {
            "study": self.identity,
            "versions": versions(),
            "plan": plan,
            "policies": [
                hashlib.sha256(Path(one.file).read_bytes()).hexdigest()
                for each in trainings
                for one in each.policies
            ],
        }

        def kept(
            name: str, kind: type[Kept], make: Callable[[], Kept], *, again: bool
        ) -> Kept:
            found, _ = kept_or_made(
                self.folder / f"{name}.json",
                {"answer": name, **parts},
                kind,
                lambda: with_command(make(), command),
                again=again,
            )
            return found

        graded = kept(
            "transfer",
            Transfer,
            partial(
                transfer,
                self.folder,
                design=plan.transfer.design,
                episodes=plan.transfer.episodes,
                checked=False,
                seed=self.seed,
                workers=self.workers,
                progress=clock.part("transfer"),
            ),
            again=not (self.folder / RETURNS).exists(),
        )
        records = {"transfer": str(self.folder / "transfer.json")}
        answers = list(answers_of(trainings, graded, "transfer.json"))
        if plan.blame is None:
            answers.append(only_parameter(self.parameters[0], "transfer.json"))
        notes = list(plan.notes)
        for name, kind, make in self._further(plan, clock, trainings):
            try:
                found = kept(f"{name}_run", kind, make, again=False)
            except InvalidFile:
                raise
            except SimgapError as error:
                notes.append(Note("not-answered", f"{name}: {error.problem}"))
                continue
            records[name] = str(self.folder / f"{name}_run.json")
            answers.append(further_answer(found, trainings, f"{name}_run.json"))
        clock.part("page")("drawing the page")
        verdict, headline, reason = words_of(answers, plan.seeds)
        return StudyRun(
            simulator=self.simulator,
            randomize=self.asked.told.to_string(),
            parameters=self.parameters,
            horizon=self.asked.horizon,
            verdict=verdict,
            headline=headline,
            reason=reason,
            answers=tuple(answers),
            kinds=tuple(each.name for each in plan.kinds),
            seeds=plan.seeds,
            steps=plan.steps,
            time_budget=None,
            planned_seconds=plan.expected,
            total_seconds=0.0,
            report=None,
            records=records,
            notes=(*notes, *_rough(trainings)),
            certainty={"answers": "estimated", "verdict": "estimated"},
            provenance=provenance(
                command=command, model=self.simulator, latent=None, seed=self.seed
            ),
        )

    def trained(self, plan: Plan, clock: Clock) -> list[Train]:
        """Return the records of all trainings; finished ones are not repeated."""
        seeds = seeds_from(self.seed, plan.seeds)
        recipes = [self.recipe(each, self.folder, plan.steps) for each in plan.kinds]
        jobs = [(each, seed) for each in recipes for seed in seeds]
        done: dict[TrainingRecipe, list[TrainedSeed]] = {each: [] for each in recipes}
        costs = {each.name: plan.speeds.of(each) for each in plan.kinds}
        whole = len(seeds) * sum(costs.values())
        tell = clock.part("training")
        records: dict[TrainingRecipe, Train] = {}

        def met(one: TrainedSeed, fresh: bool) -> None:
            clock.passed(costs[one.recipe.folder.name] / whole, fresh=fresh)
            done[one.recipe].append(one)
            if len(done[one.recipe]) == len(seeds):
                records[one.recipe] = kept_record(one.recipe, done[one.recipe])

        finished_trainings(jobs, workers=self.workers, tell=tell, met=met)
        return [records[each] for each in recipes]

    def _further(
        self, plan: Plan, clock: Clock, trainings: Sequence[Train]
    ) -> Iterator[tuple[str, type[Answered], Callable[[], Answered]]]:
        """Yield the questions beside transfer that the plan has time for."""
        if plan.blame is not None:
            yield (
                "blame",
                BlamedRun,
                partial(
                    blame_run,
                    self.folder,
                    design=plan.blame.design,
                    episodes=plan.blame.episodes,
                    seed=self.seed,
                    workers=self.workers,
                    progress=clock.part("blame"),
                ),
            )
        yield (
            "identify",
            IdentifiedRun,
            partial(
                identify_run,
                self.folder,
                worlds=plan.worlds,
                seed=self.seed,
                progress=clock.part("identify"),
            ),
        )
        if plan.width is not None:
            whole = (
                each
                for each in trainings
                if each.memory == MEMORY.memory
                and each.randomize == each.told
                and not (each.informed or each.draws)
            )
            yield (
                "width",
                WidthRun,
                partial(
                    width_run,
                    self.simulator,
                    randomize=self.asked.told.spec,
                    horizon=self.asked.horizon,
                    noise=self.noise,
                    seeds=plan.width.seeds,
                    steps=plan.width.steps,
                    longer=next(whole, None),
                    design=plan.width.episodes.design,
                    episodes=plan.width.episodes.episodes,
                    checked=False,
                    seed=self.seed,
                    workers=self.workers,
                    out=self.folder / WIDTH,
                    progress=clock.part("width"),
                ),
            )

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the names of what varies."""
        told = self.asked.told
        return tuple(told.names[at] for at in told.varying)


def _identity(
    asked: AskedTraining,
    noise: str,
    seeds: int | None,
    time_budget: float | None,
    seed: int,
) -> dict[str, str]:
    """Return what is studied, part by part."""
    parts = {
        "randomization": asked.told.to_string(),
        "horizon": asked.horizon,
        "noise": noise,
        "seeds": seeds or "as many as there is time for",
        "time budget": time_budget or "none",
        "seed": seed,
    }
    return identity(asked.simulator.name, {}, parts)


def _rough(trainings: Sequence[Train]) -> Iterator[Note]:
    found = unconverged(trainings, [each.name for each in trainings])
    if found:
        yield Note(
            "not-converged",
            f"trainings that had not converged: {listed(found)}; longer ones may "
            "change what is told here",
        )
