"""A simulator, what is drawn, and the policies, opened and fitted to each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.continuous import (
    REPLICATES,
    BoundRandomization,
    BroughtPolicy,
    DrawnPoints,
    Entry,
    Points,
    Randomization,
    Simulator,
    Work,
    bind,
    open_policy,
    open_simulator,
    parse_design,
    read_policy_text,
    with_noise,
)
from simgap.errors import InvalidArgument
from simgap.records.note import Note
from simgap.user_files import with_assets, with_imports

Policies = Any  # a policy, a text, a list of them, or a mapping of names to them
LIBRARIES = (
    "simgap",
    "numpy",
    "gymnasium",
    "mujoco",
    "jax",
    "jaxlib",
    "optax",
    "onnxruntime",
)
MODELS = (".xml", ".mjcf", ".urdf")
BEYOND = 4  # one point beyond the range for so many inside


@final
@dataclass(frozen=True, slots=True)
class Brought:
    """A policy as it was given, and under which name."""

    given: Any  # a text or an object
    name: str | None = None  # as the user said
    training_seed: int = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Recipe:
    """A measurement by names only: another process can build it again."""

    simulator: str
    policies: tuple[str, ...]
    randomize: Randomization
    noise: str
    horizon: int
    seed: int
    theta: FloatArray
    inside: BoolArray

    def __call__(self) -> Work:
        simulator = opened_simulator(self.simulator, self.noise)
        return Work(
            simulator=simulator,
            randomization=bind(self.randomize, simulator),
            policies=tuple(open_policy(text, simulator) for text in self.policies),
            points=Points(self.theta, self.inside),
            horizon=self.horizon,
            seed=self.seed,
        )


def opened_simulator(given: Any, noise: str) -> Simulator:
    """Return the simulator of a text or object, with noise at every step if asked."""
    simulator = open_simulator(given)
    return with_noise(simulator, noise) if noise else simulator


def steps_of(simulator: Simulator, horizon: int | None) -> int:
    """Return the number of steps of an episode."""
    if horizon is None and simulator.horizon is None:
        raise InvalidArgument(
            f"{simulator.name} does not say how long an episode is",
            hint="give a horizon: -H 200",
        )
    if horizon is not None and horizon < 1:
        raise InvalidArgument(f"a horizon of {horizon}", hint="it is 1 or more")
    return int(simulator.horizon or 0) if horizon is None else horizon


def brought(policies: Policies, what: str = "policy") -> list[Brought]:
    """Return the policies one by one, names and training seeds sorted out.

    A name that is given to several policies makes them training seeds of one.
    """
    found = [Brought(each, name) for name, each in _named(policies)]
    if not found:
        raise InvalidArgument(f"no {what} is given", hint="give at least one: random")
    count: dict[str, int] = {}
    seeded = []
    for each in found:
        at = count.get(each.name, 0) if each.name is not None else 0
        if each.name is not None:
            count[each.name] = at + 1
        seeded.append(replace(each, training_seed=at))
    return seeded


def refuse_one_name_for_two(mine: Sequence[Brought], others: Sequence[Brought]) -> None:
    """Refuse a policy that is named as a reference is: one would hide the other."""
    taken = {each.name for each in others if each.name is not None}
    for each in mine:
        if each.name in taken:
            raise InvalidArgument(
                f"{each.name} is the name of a policy and of a reference",
                hint="give one of them another name",
                code="name-taken",
            )


def opened_policies(
    every: Sequence[Brought], simulator: Simulator
) -> tuple[tuple[BroughtPolicy, ...], tuple[Entry, ...]]:
    """Return the policies, and what tables call them: no two have the same name."""
    policies = tuple(open_policy(each.given, simulator) for each in every)
    entries: list[Entry] = []
    taken = {each.name for each in every if each.name is not None}
    for each, policy in zip(every, policies, strict=True):
        name = each.name
        if name is None:
            name, again = policy.name, 2
            while name in taken:
                name, again = f"{policy.name} ({again})", again + 1
            taken.add(name)
        entries.append(Entry(name, each.training_seed))
    return policies, tuple(entries)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Where:
    """Where is measured: the points, what they are of nu, and remarks."""

    points: Points
    drawn: DrawnPoints
    notes: tuple[Note, ...]


def points_of(
    randomization: BoundRandomization, design: str, beyond: float, seed: int
) -> Where:
    """Return where to measure: a design inside the range, and some points beyond it."""
    found = parse_design(design).points(randomization, seed)
    notes = [*randomization.notes, *found.notes]
    theta, drawn = found.theta, found.drawn
    outside = _beyond(randomization, beyond, seed, -(-len(theta) // BEYOND))
    inside = np.arange(len(theta) + len(outside)) < len(theta)
    if len(outside):
        notes += randomization.widened(beyond).notes
        drawn = replace(
            drawn,
            weights=None
            if drawn.weights is None
            else np.append(drawn.weights, np.ones(len(outside))),
            uniforms=None
            if drawn.uniforms is None
            else np.concatenate([drawn.uniforms, np.full(outside.shape, 0.5)]),
            replicates=None
            if drawn.replicates is None
            else np.append(  # those beyond are drawn one by one
                drawn.replicates, REPLICATES + np.arange(len(outside))
            ),
        )
    elif beyond > 1.0:
        notes.append("nothing lies beyond the range: all that is drawn is a choice")
    return Where(
        Points(np.concatenate([theta, outside]), inside),
        drawn,
        tuple(Note("design", each) for each in dict.fromkeys(notes)),
    )


def _beyond(
    randomization: BoundRandomization, factor: float, seed: int, count: int
) -> FloatArray:
    """Return points of the wider range that lie outside the range, (n, P)."""
    if factor <= 1.0 or not randomization.names:
        return np.empty((0, len(randomization.names)))
    drawn = randomization.widened(factor).sample(seed, np.arange(64 * count))
    return drawn[~randomization.inside(drawn)][:count]


def identity(
    simulator: str, policies: Mapping[str, str], settings: Mapping[str, Any]
) -> dict[str, str]:
    """Return what is measured, part by part, with the contents of the files named."""
    found = {"simulator": _with_contents(simulator)}
    found |= {f"policy {k}": _with_contents(text) for k, text in policies.items()}
    found |= {key: str(value) for key, value in settings.items()}
    found["versions"] = " ".join(f"{name} {_version(name)}" for name in LIBRARIES)
    return found


def digest(array: FloatArray) -> str:
    """Return a short name for the contents of an array."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def _named(policies: Policies) -> Iterator[tuple[str | None, Any]]:
    if isinstance(policies, Mapping):
        for name, given in policies.items():
            many = given if isinstance(given, list | tuple) else [given]
            yield from ((str(name), each) for each in many)
        return
    for each in policies if isinstance(policies, list | tuple) else [policies]:
        asked = read_policy_text(each) if isinstance(each, str) else None
        said = asked is not None and asked.name != asked.text
        yield (asked.name if asked is not None and said else None), each


def files_named(text: str) -> tuple[Path, ...]:
    """Return every file that a text names, and those that belong to one.

    To a network belong its weights, to a MuJoCo model its task and the files that it
    names, to a Python file what it imports from its folder.
    """
    parts = sorted({text, *text.replace("?", ":").replace("=", ":").split(":")} - {""})
    files = [_path(part + end) for part in parts for end in ("", ".data")]
    models = [each for each in map(_path, parts) if each.suffix in MODELS]
    files += [model.with_suffix(".py") for model in models]
    files += [model.parent / part for model in models for part in parts]
    files += [file for model in models for file in with_assets(model)]
    codes = [each for each in files if each.suffix == ".py"]
    files += [file for each in codes for file in with_imports(each)]
    return tuple(each for each in dict.fromkeys(files) if _is_file(each))


def _with_contents(text: str) -> str:
    """Return a text with a hash of every file that it names, or that belongs to one."""
    found = text
    for each in files_named(text):
        with suppress(OSError):
            found += f" {hashlib.sha256(each.read_bytes()).hexdigest()[:16]}"
    return found


def _path(text: str) -> Path:
    """Return a path without the `~` that no shell has seen behind mujoco: or NAME=."""
    try:
        return Path(text).expanduser()
    except RuntimeError:  # there is no such user
        return Path(text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@cache
def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "-"
