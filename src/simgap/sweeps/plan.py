"""A plan: what varies, what is the same everywhere, and the cells that follow.

    question = "gap"
    seeds = 3

    [axes]                      # every combination is a cell
    model = "riverswim?states={states}&success=0.1:0.6:3&left_reward=0.4"
    states = [3, 4, 5]          # for {states} in a text
    horizon = [10, 20, 40]
    policy = ["oracle", "likelihood", "memoryless"]

    [settings]                  # the same in every cell
    half_width = 0.05

    [limits]                    # of a cell
    seconds = 600
    memory = 4                  # GB

A cell is named by a hash of everything that decides its numbers: the question and the
version of its algorithm, the values of all fields, the contents of the files and models
that they name, and its seed. Its random numbers follow from the same, but for fields
whose values are compared, such as the policy: those meet the same luck.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from itertools import product
from math import prod
from typing import Any, final

from simgap.ledger import key_of
from simgap.sweeps.fields import Question
from simgap.sweeps.plan_file import PlanFile

SEED = "seed"
SEED_DIGITS = 7  # hexadecimal: below 2^28
KEY_BYTES = 16
PLACE = re.compile(r"\{([\w-]+)\}")
Texts = tuple[str, ...]  # the values of the fields of a cell that are texts


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """One question with all its values."""

    key: str
    question: str
    axes: dict[str, Any]  # what the table says of it
    asked: dict[str, Any]  # the fields of the question
    inputs: str  # digest of what its texts name
    seed: int  # of its random numbers


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """What a cell may take."""

    seconds: float | None = None
    memory: float | None = None
    tries: int = 2
    cpus: float = 1.0
    gpus: float = 0.0


@final
@dataclass(frozen=True, slots=True)
class Inputs:
    """What decides numbers beside the plan: the algorithm, files and models."""

    version: int  # of the algorithm
    contents: dict[Texts, dict[str, Any]] = field(default_factory=dict)  # hashes


@final
@dataclass(frozen=True)
class Plan:
    """Everything that a sweep does."""

    title: str
    question: Question
    axes: dict[str, tuple[Any, ...]]  # in the order of the file, the seed last
    settings: dict[str, Any]
    limits: Limits
    file: PlanFile
    inputs: Inputs  # those that are not there yet are looked at, and added

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return prod(len(each) for each in self.axes.values())

    def cell_keys(self) -> Iterator[str]:
        """Return the keys of all cells, in their order; quickly from the second time.

        Two cells have the same key if nothing that is asked differs.
        """
        for at in range(0, len(self._keys), KEY_BYTES):
            yield self._keys[at : at + KEY_BYTES].hex()

    @cached_property
    def _keys(self) -> bytes:
        found = bytearray()
        for axes in self._unseeded():
            whole = self._whole(self.asked(axes))
            for seed in self.axes[SEED]:
                found += _seeded_key(whole, seed)
        return bytes(found)

    def cells(self) -> Iterator[Cell]:
        """Return all cells, the last axis fastest."""
        for axes in self._unseeded():
            yield from self._seeded(axes, self.axes[SEED])

    def _unseeded(self) -> Iterator[dict[str, Any]]:
        """Return the values of all axes but the seed, which is the last one."""
        *names, _ = self.axes
        *values, _ = self.axes.values()
        for each in product(*values):
            yield dict(zip(names, each, strict=True))

    def cell(self, index: int) -> Cell:
        """Return the cell at a place in the order of all."""
        axes = self.axes_at(index)
        seed = axes.pop(SEED)
        return next(self._seeded(axes, (seed,)))

    def axes_at(self, index: int) -> dict[str, Any]:
        """Return the values of the axes of a cell."""
        found = {}
        for name, values in reversed(self.axes.items()):
            index, at = divmod(index, len(values))
            found[name] = values[at]
        return {name: found[name] for name in self.axes}

    def kinds(self) -> tuple[dict[str, Any], ...]:
        """Return the fields of one cell for each combination of texts."""
        assert self._keys  # all of them are looked at now
        return tuple(asked for _, asked in self._looked.values())

    def asked(self, axes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a cell, with {names} in texts filled in."""
        given = self.settings | {k: axes[k] for k in self._asked_axes if k in axes}
        return {name: filled(given[name], axes) for name in self._asked}

    @cached_property
    def _asked_axes(self) -> tuple[str, ...]:
        return tuple(e.name for e in self.question.fields if e.name in self.axes)

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        return tuple(sorted({*self.settings, *self._asked_axes}))

    @cached_property
    def _lucky(self) -> tuple[str, ...]:
        """Return the fields that decide the random numbers of a cell."""
        compared = {each.name for each in self.question.fields if each.compared}
        return tuple(name for name in self._asked if name not in compared)

    @cached_property
    def _looked(self) -> dict[Texts, tuple[str, dict[str, Any]]]:
        return {}  # digest of what texts name, and an example of a cell

    def _seeded(self, axes: dict[str, Any], seeds: Iterable[int]) -> Iterator[Cell]:
        """Return the cells of the same values with each of the seeds."""
        asked = self.asked(axes)
        inputs, whole = self._looked_at(asked), self._whole(asked)
        luck = key_of({name: asked[name] for name in self._lucky})
        for seed in seeds:
            key = _seeded_key(whole, seed).hex()
            number = int(
                sha256(f"{luck} {seed}".encode()).hexdigest()[:SEED_DIGITS], 16
            )
            yield Cell(
                key, self.question.name, {**axes, SEED: seed}, asked, inputs, number
            )

    def _whole(self, asked: dict[str, Any]) -> str:
        """Return a digest of everything that decides numbers but the seed."""
        return key_of(
            {
                "question": self.question.name,
                "version": self.inputs.version,
                "asked": asked,
                "inputs": self._looked_at(asked),
            }
        )

    def _looked_at(self, asked: dict[str, Any]) -> str:
        """Return the digest of what the texts of a cell name."""
        texts = texts_of(asked)
        if texts not in self._looked:
            contents = self.inputs.contents
            if texts not in contents:
                contents[texts] = self.question.contents(asked)
            self._looked[texts] = digest_of(asked, contents[texts]), asked
        return self._looked[texts][0]


def _seeded_key(whole: str, seed: int) -> bytes:
    return sha256(f"{whole} {seed}".encode()).digest()[:KEY_BYTES]


def digest_of(asked: Mapping[str, Any], contents: Mapping[str, Any]) -> str:
    """Return a digest of what texts name, the same wherever the files lie."""
    texts = texts_of(asked)

    def bare(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: bare(each) for name, each in value.items()}
        text = next((e for e in texts if str(value).startswith(e)), "")
        return sorted(value[len(text) :].split()) if isinstance(value, str) else value

    return key_of(bare(contents))


def texts_of(asked: Mapping[str, Any]) -> Texts:
    """Return the values that are texts, in the order of their names."""
    return tuple([each for each in asked.values() if type(each) is str])


def filled(value: Any, axes: Mapping[str, Any]) -> Any:
    """Return a text with the values of axes in the place of their names."""
    if type(value) is not str or "{" not in value:
        return value
    return PLACE.sub(lambda found: str(axes[found[1]]), value)
