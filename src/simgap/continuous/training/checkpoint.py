"""Checkpoints of a training: sealed files from which it goes on, bit for bit.

A round depends on nothing but what was learnt so far and on its number, so that little
has to be kept: weights, moments of the optimiser, statistics, what draws of one's own
are told, and the returns of the rounds. A file is written whole beside the old one; the
one before it is kept too, for the case that the newest is damaged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import AnyArray, FloatArray
from simgap.continuous.training.draws import Returns
from simgap.continuous.training.update import Learnt
from simgap.errors import InvalidFile
from simgap.interop import FileKind, SizeLimit, read_sealed, write_sealed
from simgap.ledger import holds_another
from simgap.user_files import opened, replacing

KIND = FileKind(
    name="checkpoint of a training",
    content="checkpoint",
    verb="make",
    texts="what was trained",
    stranger="it is no checkpoint of simgap",
)
FORMAT = 2
ENDING, BEFORE = ".checkpoint", ".checkpoint-before"
LEARNT, RETURNS = "learnt/", "returns"
PAST = "past/theta", "past/returned"
TYPES = {PAST[0]: "float64 x 2", PAST[1]: "float64 x 1", RETURNS: "float64 x 1"}
MACHINE = ("versions", "threads")  # parts of an identity that a machine decides


@final
@dataclass(frozen=True, slots=True)
class About:
    """What a checkpoint says of itself."""

    format: int
    rounds: int  # that are done, the first one, which only measures, among them
    identity: dict[str, str]  # what is trained, part by part


@final
@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Where a training was."""

    rounds: int
    learnt: Learnt
    past: Returns  # of all episodes so far; empty: nothing is drawn by it
    returns: FloatArray  # (rounds,), mean of the episodes that ended, NaN: none did


@final
@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of one training: `seed-0` in a folder."""

    folder: Path
    name: str
    identity: Mapping[str, str] | None  # what is trained; None: whatever it is
    other_machine: bool = False  # go on where versions or threads differ

    def save(self, kept: Kept) -> None:
        """Write a checkpoint; when this returns, it is there for good."""
        path, before = self._paths
        leaves = _leaves(kept.learnt)
        arrays = {f"{LEARNT}{at:03}": each for at, each in enumerate(leaves)}
        arrays |= dict(zip(PAST, kept.past, strict=True))
        arrays[RETURNS] = np.asarray(kept.returns, np.float64)
        about = About(FORMAT, kept.rounds, dict(self.identity or {}))
        with replacing(path) as draft:
            write_sealed(KIND, about, arrays, draft)
            if path.exists():
                path.replace(before)

    def latest(self, template: Learnt) -> Kept | None:
        """Return where the training was, or None: it begins.

        A damaged file is passed over, if the one before it is whole. What was trained
        in another way is refused.
        """
        problems: list[InvalidFile] = []
        for path in self._paths:
            if not path.exists():
                continue
            try:
                return self._read(path, template)
            except InvalidFile as error:
                if error.code in ("another-training", "another-machine"):
                    raise
                problems.append(error)
        if problems:
            raise problems[0]
        return None

    @property
    def _paths(self) -> tuple[Path, Path]:
        return tuple(self.folder / (self.name + end) for end in (ENDING, BEFORE))  # type: ignore[return-value]

    def _read(self, path: Path, template: Learnt) -> Kept:
        import jax

        with opened(path, KIND.name, endings=(ENDING,)) as stream:
            sealed = read_sealed(
                KIND, stream, path, SizeLimit.of(None), About, _check_format
            )
        if self.identity is not None:
            self._check_same(self.identity, sealed.description.identity, path)
        wanted = _leaves(template)
        kinds = {
            f"{LEARNT}{at:03}": f"{each.dtype.name} x {each.ndim}"
            for at, each in enumerate(wanted)
        } | TYPES
        arrays = sealed.arrays({name: (kinds.get(name, ""),) for name in sealed.names})
        names = [f"{LEARNT}{at:03}" for at in range(len(wanted))]
        leaves = [arrays[name] for name in names if name in arrays]
        if [each.shape for each in leaves] != [each.shape for each in wanted]:
            raise InvalidFile(
                f"{path} holds weights of other shapes",
                hint="it was trained with other settings: choose another folder",
                code="another-training",
            )
        return Kept(
            sealed.description.rounds,
            jax.tree.unflatten(jax.tree.structure(template), _shaped(leaves, template)),
            Returns(*(arrays[name] for name in PAST)),
            arrays[RETURNS],
        )

    def _check_same(
        self, mine: Mapping[str, str], found: Mapping[str, str], path: Path
    ) -> None:
        keys = sorted({*mine, *found})
        other = [key for key in keys if mine.get(key) != found.get(key)]
        if hard := [each for each in other if each not in MACHINE]:
            raise holds_another(path.parent, "training", hard)
        if other and not self.other_machine:
            told = "; ".join(
                f"{each} was {found.get(each)}, is {mine.get(each)}" for each in other
            )
            raise InvalidFile(
                f"{path} was written on another machine: {told}",
                hint="go on there, or accept other digits with "
                "--allow-different-machine",
                code="another-machine",
            )


def _leaves(learnt: Learnt) -> list[AnyArray]:
    """Return all arrays; a single number is an array of one, as files have it."""
    import jax

    return [np.atleast_1d(np.asarray(each)) for each in jax.tree.leaves(learnt)]


def _shaped(leaves: list[AnyArray], template: Learnt) -> list[AnyArray]:
    import jax

    wanted = jax.tree.leaves(template)
    pairs = zip(leaves, wanted, strict=True)
    return [each.reshape(np.shape(like)) for each, like in pairs]


def _check_format(description: Any, path: Path) -> None:
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise InvalidFile(
            f"{path} is a checkpoint of another version",
            hint="finish it with the simgap that began it, or train anew",
            code="another-training",
        )
