"""Some trainings of a run, opened at points where they are to be measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from simgap.answers.transfer.setup import (
    Brought,
    Recipe,
    Where,
    brought,
    digest,
    identity,
    opened_policies,
    opened_simulator,
    points_of,
)
from simgap.answers.transfer.trained_run import TrainedRun, trained_run
from simgap.continuous import (
    ENOUGH_SEEDS,
    BoundRandomization,
    Entry,
    Simulator,
    Work,
    bind,
    parse_randomization,
)
from simgap.errors import InvalidArgument
from simgap.records.note import Note
from simgap.records.train import Train
from simgap.text import listed, shown

MANY_SEEDS = 5  # with fewer a note says how far intervals go
FEW_SEEDS = (
    f"with fewer than {ENOUGH_SEEDS} intervals are about these very policies, with "
    f"fewer than {MANY_SEEDS} those over trainings are wide"
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class OpenedRun:
    """Policies in the order of their names, all seeds of each, and where they are."""

    ready: OpenedWork
    where: Where


def given_run(given: Any) -> TrainedRun:
    """Return the trainings of a folder, or those in a list, or refuse."""
    found = trained_run(given)
    if found is None:
        raise InvalidArgument(
            f"{shown(str(given))} is no folder of trainings",
            hint="simgap train SIMULATOR --randomize ... --out RUN makes one; or give "
            "a list of what simgap.train returned",
            code="no-run",
        )
    return found


def opened_run(
    run: TrainedRun, names: Sequence[str], *, design: str, seed: int
) -> OpenedRun:
    """Return trainings of a run at the points of a design."""
    about, every = run.trainings[0], {**run.policies, **run.references}
    simulator = opened_simulator(run.simulator, about.noise)
    randomization = bind(parse_randomization(about.told), simulator)
    where = points_of(randomization, design, 1.0, seed)
    ready = opened_work(
        run.simulator,
        simulator,
        randomization,
        brought({name: every[name] for name in names}),
        where,
        horizon=about.horizon,
        noise=about.noise,
        seed=seed,
    )
    return OpenedRun(ready, where)


def chosen_training(
    found: Sequence[Train], name: str | None, *, what: str, hint: str, code: str
) -> Train:
    """Return the training of a name, or the first one that remembers; else refuse."""
    remembering = [each for each in found if each.memory != "none"]
    fitting = [each for each in found if name in (None, each.name)]
    if fitting:
        return next((each for each in fitting if each in remembering), fitting[0])
    if name is not None and found:
        hint = f"there is {listed([each.name for each in found])}"
    wanted = what if name is None else f"{what} called {shown(name)}"
    raise InvalidArgument(f"there is no {wanted}", hint=hint, code=code)


def training_notes(trainings: Sequence[Train]) -> tuple[Note, ...]:
    """Return what a reader must know of the trainings behind a number."""
    found = []
    few = [each for each in trainings if len(each.policies) < MANY_SEEDS]
    if few:
        count = listed([f"{len(each.policies)} of {each.name}" for each in few])
        found.append(Note("few-seeds", f"training seeds: {count}; {FEW_SEEDS}"))
    rough = [each.name for each in trainings if each.converged is False]
    if rough:
        found.append(
            Note(
                "not-converged",
                f"{listed(rough)}: not every training converged; a longer one may "
                "change what is told here",
            )
        )
    return tuple(found)


@final
@dataclass(frozen=True, slots=True, eq=False)
class OpenedWork:
    """What is measured, in the order of the policies.

    The same in another process is made by `recipe`, and `identity` says what it is.
    """

    work: Work
    entries: tuple[Entry, ...]
    recipe: Recipe | None  # None: something is a Python object
    identity: dict[str, str]


def opened_work(
    given: Any,
    simulator: Simulator,
    randomization: BoundRandomization,
    policies: Sequence[Brought],
    where: Where,
    *,
    horizon: int,
    noise: str,
    seed: int,
    bounds: tuple[float, float] | None = None,
) -> OpenedWork:
    """Return policies that are fitted to a simulator, which was `given` and opened."""
    points = where.points
    opened, entries = opened_policies(policies, simulator)
    work = Work(simulator, randomization, opened, points, horizon, seed, bounds)
    texts = [each.given for each in policies]
    by_name = all(isinstance(each, str) for each in (given, *texts))
    return OpenedWork(
        work,
        entries,
        Recipe(
            given,
            tuple(texts),
            randomization.spec,
            noise,
            horizon,
            seed,
            points.theta,
            points.inside,
        )
        if by_name
        else None,
        identity(
            simulator.name,
            {
                f"{each.name} {each.training_seed}": str(one)
                for each, one in zip(entries, texts, strict=True)
            },
            {
                "randomization": randomization.to_string(),
                "points": digest(points.theta),
                "horizon": horizon,
                "noise": noise,
                "bounds": work.bounds,
                "seed": seed,
            },
        ),
    )
