"""A folder of trainings as policies and references, and what is compared with what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, final

from simgap.continuous import Cube, DrawnPoints, compared
from simgap.errors import InvalidArgument, InvalidFile
from simgap.records.kept import read_unchanged
from simgap.records.train import Train
from simgap.records.transfer import Worth
from simgap.text import listed
from simgap.user_files import plain_name

RECORD = "train.json"
NOMINAL = "nominal"  # a randomization of nothing
ALIKE = ("simulator", "told", "horizon", "noise")  # of all trainings of a run
What = Literal["memory", "information", "randomization"]


@final
@dataclass(frozen=True, slots=True)
class TrainedRun:
    """Trainings of one simulator, over one range, for one horizon."""

    folder: Path | None  # None: trainings in memory, whose policies may be objects
    trainings: tuple[Train, ...]

    @property
    def simulator(self) -> Any:
        """Return the simulator, by name or as it was given to a trainer."""
        first = self.trainings[0]
        return first.simulator if first.made is None else first.made.simulator

    @property
    def policies(self) -> dict[str, list[Any]]:
        """Return the files of those that do not know the parameters, by name."""
        return self._files(informed=False)

    @property
    def references(self) -> dict[str, list[Any]]:
        """Return those that know: told the parameters, or trained for one value."""
        return self._files(informed=True)

    @property
    def pairs(self) -> tuple[tuple[What, str, str], ...]:
        """Return what can be told from these trainings: with it, and without it.

        A pair differs in one thing, and in no draws of one's own. Those for the nominal
        values draw nothing, so that they stand beside any draws.
        """
        nominal = [each for each in self.trainings if each.randomize == NOMINAL]
        found: list[tuple[What, str, str]] = []
        for draws in sorted({each.draws for each in self.trainings}):
            same = [each for each in self.trainings if each.draws == draws]
            found += _pairs_of(same, nominal)
        return tuple(found)

    def worths(self, cube: Cube, points: DrawnPoints, look: int) -> tuple[Worth, ...]:
        """Return what memory, information and randomization are worth."""
        found = []
        for what, one, other in self.pairs:
            each = compared(cube, one, other, points, look=look)
            found.append(
                Worth(
                    what=what,
                    policy=one,
                    against=other,
                    value=each.mean.value,
                    evaluation=each.mean.evaluation,
                    seed_spread=each.mean.spread,
                    trainings=each.seeds,
                    worst=each.worst[0],
                    worst_against=each.worst[1],
                )
            )
        return tuple(found)

    def _files(self, *, informed: bool) -> dict[str, list[Any]]:
        return {
            each.name: self._policies(each)
            for each in self.trainings
            if informed == (each.informed or _knows(each))
        }

    def _policies(self, training: Train) -> list[Any]:
        if training.made is not None:
            return list(training.made.policies)
        files = [Path(each.file) for each in training.policies]
        if self.folder is None:
            return [str(each) for each in files]
        return [str(self.folder / training.name / each.name) for each in files]


def trained_run(given: Any) -> TrainedRun | None:
    """Return the trainings of a folder, or those in a list; None: it is neither."""
    if isinstance(given, str | Path):
        return read_run(given) if is_run(given) else None
    every = given if isinstance(given, list | tuple) else [given]
    if not every or not all(isinstance(each, Train) for each in every):
        return None
    for what in ALIKE:
        _check_one("the list", what, every)
    names = [each.name for each in every]
    if twice := [each for each in names if names.count(each) > 1]:
        raise InvalidArgument(
            f"two trainings are called {twice[0]}",
            hint="give one of them another name: simgap.train(..., name=...)",
            code="name-taken",
        )
    return TrainedRun(None, tuple(every))


def is_run(path: Path | str) -> bool:
    """Return whether a path is a folder of trainings."""
    folder = Path(path)
    return folder.is_dir() and any(folder.glob(f"*/{RECORD}"))


def read_run(path: Path | str) -> TrainedRun:
    """Return the trainings of a folder, which must be about one question."""
    folder = Path(path)
    paths = sorted(folder.glob(f"*/{RECORD}"))
    found = [read_unchanged(each, Train) for each in paths]
    for each in found:
        plain_name(each.name, "a training")
    for what in ALIKE:
        _check_one(str(folder), what, found)
    return TrainedRun(folder, tuple(sorted(found, key=_place)))


def _pairs_of(
    trainings: Sequence[Train], nominal: Sequence[Train]
) -> Iterator[tuple[What, str, str]]:
    """Return what memory, information and randomization can be told from."""
    over = [each for each in trainings if not (each.informed or each.specialist)]
    memory = [each for each in over if each.memory != "none"]
    without = [each for each in over if each.memory == "none"]
    told = [each for each in trainings if each.informed and not each.masked]
    told = told or [each for each in trainings if each.informed]
    for each in memory:
        yield from (("memory", each.name, other.name) for other in without)
    for each in memory or without:
        yield from (("information", one.name, each.name) for one in told)
        same = [one for one in nominal if one.memory == each.memory]
        yield from (("randomization", each.name, one.name) for one in same)


def _place(training: Train) -> tuple[bool, bool, bool, str]:
    """Return a key that puts policies with memory over the whole range first."""
    return (
        training.randomize == NOMINAL,
        training.memory == "none",
        training.draws != "",
        training.name,
    )


def _check_one(folder: str, what: str, found: Sequence[Train]) -> None:
    values = {getattr(each, what): each.name for each in found}
    if len(values) > 1:
        raise InvalidFile(
            f"the trainings of {folder} differ in {what}: "
            f"{listed([f'{name} has {value!r}' for value, name in values.items()])}",
            hint="train them with the same words, or into another folder",
            code="trainings-differ",
        )


def _knows(training: Train) -> bool:
    """Return whether a policy was trained for one value that is not the nominal one."""
    return training.specialist and training.randomize != NOMINAL
