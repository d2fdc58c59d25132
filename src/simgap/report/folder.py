"""The records in a folder: those that can be drawn, and why the others cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, final

from simgap.errors import InvalidFile
from simgap.records.files import read_object, read_record
from simgap.records.kept import changed_records
from simgap.records.provenance import for_this_grid
from simgap.records.train import Train
from simgap.report.heat_plots import HeatPlot
from simgap.report.part import Part
from simgap.report.parts import CLAIM, CLAIMS, MAKERS
from simgap.report.parts.train import trainings_part
from simgap.report.plots import Plot
from simgap.text import shown

ENDING = ".json"
BESIDE = ("timings", "plan")  # what belongs to other records
TRAININGS = "*/train.json"
SAFE = re.compile(r"[a-z0-9_]+(?:-[a-z0-9_]+)*")

Make = Callable[[Mapping[str, Any], str], Part]


@final
@dataclass(frozen=True, slots=True)
class Trouble:
    """A record that is there and cannot be drawn."""

    name: str
    problem: str


@final
@dataclass(frozen=True, slots=True)
class Folder:
    """What a folder holds."""

    name: str
    parts: tuple[Part, ...]
    troubles: tuple[Trouble, ...]
    unknown: tuple[str, ...]  # records of a kind that this page does not draw
    changed: tuple[str, ...] = ()  # records that are not what simgap wrote
    unsealed: str = ""  # why nobody can tell which were changed


def read_folder(folder: Path) -> Folder:
    """Return the parts of a page; a damaged record becomes a sentence.

    `oracle.json` and `oracle-lake.json` are records of the oracle, and so on for every
    word in MAKERS; every file in the folder `claims` is a claim, and the trainings of a
    run, each in a folder of its own, are one part together.
    """
    files = _files(folder)
    named = [(path, _maker(path.stem)) for path in files]
    kinds = list(MAKERS.values())
    known = sorted(
        ((path, make) for path, make in named if make is not None),
        key=lambda pair: kinds.index(pair[1]),
    )
    claims = folder / CLAIMS
    if claims.is_dir():
        known += [(path, CLAIM) for path in _files(claims)]
    parts, troubles = [], []
    for at, (path, make) in enumerate(known, start=1):
        try:
            record = _with_table(read_object(path), path.parent)
            parts.append(_made(make, record, _anchor(path, at)))
        except InvalidFile as error:
            problem = error.problem.replace(str(path), "it")
            troubles.append(Trouble(_name(path, folder), shown(problem, 300)))
    trainings = []
    for path in sorted(folder.glob(TRAININGS)):
        try:
            trainings.append(read_record(path, Train))
        except InvalidFile as error:
            problem = error.problem.replace(str(path), "it")
            troubles.append(Trouble(_name(path, folder), shown(problem, 300)))
    if trainings:
        parts.append(trainings_part(trainings, f"record-{len(known) + 1}-train"))
    changed, unsealed = _changed(folder)
    return Folder(
        name=shown(folder.resolve().name or str(folder)),
        parts=tuple(_drawn_once(parts)),
        troubles=tuple(troubles),
        unknown=tuple(
            _name(path, folder)
            for path, make in named
            if make is None and path.stem not in BESIDE
        ),
        changed=changed,
        unsealed=unsealed,
    )


def _changed(folder: Path) -> tuple[tuple[str, ...], str]:
    """Return the records that the ledgers know otherwise, or why they do not say."""
    trainings = sorted(path.parent for path in folder.glob(TRAININGS))
    found, problem = list[str](), ""
    for place in (folder, folder / CLAIMS, *trainings):
        try:
            names = changed_records(place)
        except InvalidFile as error:
            problem = problem or shown(error.problem, 300)
            continue
        found += [_name(place / name, folder) for name in names]
    return tuple(found), problem


def _made(make: Make, record: Mapping[str, Any], anchor: str) -> Part:
    """Return the part of a record; one about a table on a grid says so everywhere."""
    part = make(record, anchor)
    source = record.get("provenance")
    on_grid = isinstance(source, Mapping) and source.get("grid")
    return cast("Part", for_this_grid(part)) if on_grid else part


def _with_table(record: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return a record whose table is the one beside it, whatever it says of folders."""
    name = record.get("table")
    if not isinstance(name, str):
        return record
    return {**record, "table": str(folder / Path(name).name)}


def _drawn_once(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield parts without the maps that a part before has of the same class.

    Several verbs say what it costs not to know one model from another.
    """
    drawn: list[tuple[str, str, HeatPlot]] = []
    for part in parts:
        about, plots = part.origin, list[Plot]()
        for plot in part.plots:
            if isinstance(plot, HeatPlot):
                same = about.model, about.horizon, replace(plot, key="")
                if same in drawn:
                    continue
                drawn.append(same)
            plots.append(plot)
        yield replace(part, plots=tuple(plots))


def _files(folder: Path) -> list[Path]:
    try:
        found = [path for path in folder.iterdir() if path.suffix == ENDING]
    except OSError as error:
        raise InvalidFile(
            f"cannot read the folder {folder}: {error.strerror or error}",
            hint="name a folder that simgap reproduce or simgap run --out wrote",
        ) from error
    return sorted(found, key=lambda path: _natural(path.stem))


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key by which theorem-2 comes before theorem-10."""
    return [
        (0, int(word), "") if word.isdecimal() and word.isascii() else (1, 0, word)
        for word in re.split(r"([0-9]{1,18})", name)
        if word
    ]


def _maker(stem: str) -> Make | None:
    for word, make in MAKERS.items():
        if stem == word or stem.startswith(f"{word}-"):
            return make
    return None


def _anchor(path: Path, at: int) -> str:
    """Return the name of a section in links: the file's own if it is harmless."""
    stem = path.stem if SAFE.fullmatch(path.stem) and len(path.stem) <= 60 else ""
    return f"record-{at}-{stem}" if stem else f"record-{at}"


def _name(path: Path, folder: Path) -> str:
    return shown(path.relative_to(folder).as_posix(), 120)
