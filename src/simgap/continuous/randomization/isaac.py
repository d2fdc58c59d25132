"""Isaac Lab's `params/env.yaml` as a randomization, and what of it was ignored.

Terms that set mass, friction, gains, joints or gravity become items under the names
that the MuJoCo door has. Isaac Lab draws anew for every body or joint that matches,
hence the brackets. Whatever is left out is said, with the reason: starts, pushes and
noise are not parameters, and some parameters have no like here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

from simgap.continuous.randomization.distributions import (
    Distribution,
    Fixed,
    LogUniform,
    TruncatedNormal,
    Uniform,
)
from simgap.continuous.randomization.isaac_yaml import read_yaml
from simgap.continuous.randomization.spec import Item, Operation, Randomization
from simgap.errors import InvalidArgument
from simgap.text import counted, shown


class Target(NamedTuple):
    """What a range of a term sets: `kind.NAME.what`, NAME from a list of names."""

    kind: str
    what: str
    names: str


OPERATIONS = {
    "abs": Operation.ABSOLUTE,
    "scale": Operation.SCALE,
    "add": Operation.OFFSET,
}
TARGETS = {
    "randomize_rigid_body_mass": {
        "mass_distribution_params": Target("body", "mass", "body_names")
    },
    "randomize_rigid_body_material": {
        "static_friction_range": Target("geom", "friction", "body_names")
    },
    "randomize_actuator_gains": {
        "stiffness_distribution_params": Target("actuator", "kp", "joint_names"),
        "damping_distribution_params": Target("actuator", "kv", "joint_names"),
    },
    "randomize_joint_parameters": {
        "friction_distribution_params": Target("joint", "frictionloss", "joint_names"),
        "armature_distribution_params": Target("joint", "armature", "joint_names"),
    },
}
GRAVITY = "randomize_physics_scene_gravity", "gravity_distribution_params"
UNDERSTOOD = ("asset_cfg", "operation", "distribution", "num_buckets")
REASONS = (  # beginnings of the names of functions
    ("reset_", "it sets where an episode starts, which is not a parameter"),
    ("push_", "a push is a disturbance, not a parameter"),
    ("apply_external", "a force is a disturbance, not a parameter"),
    ("randomize_visual", "what is seen is not physics"),
)
PLAIN = re.compile(r"(?:[\w/-]|\.\*)+")
ALTERNATIVES = re.compile(r"\[(\w+)\]|\(([\w/.*-]+(?:\|[\w/.*-]+)+)\)")
MOST_NAMES = 64


def read_isaac(path: Path) -> tuple[Randomization, tuple[str, ...]]:
    """Return the randomization of an env.yaml, and what of it was ignored, and why.

    The list is among the notes of the randomization too.
    """
    document = read_yaml(path)
    items: dict[str, Item] = {}
    ignored: list[str] = []
    events = document.get("events")
    for name, term in (events if isinstance(events, dict) else {}).items():
        if not isinstance(term, dict):
            continue  # a term that is switched off is null
        try:
            for found in _read_term(term):
                if isinstance(found, str):
                    ignored.append(f"{name}: {found}")
                elif found.name in items:
                    ignored.append(f"{name}: {found.name} is set by another term too")
                else:
                    items[found.name] = found
        except InvalidArgument as error:
            ignored.append(f"{name}: {error.problem}")
    ignored += _elsewhere(document)
    if not items:
        raise InvalidArgument(
            f"{path} randomizes nothing that simgap knows; ignored: "
            f"{shown('; '.join(ignored) or 'it has no events', 300)}",
            hint="write the parameters yourself: body[*].mass*=0.8..1.2",
            code="randomize-file",
        )
    notes = tuple(f"{path.name}, ignored: {shown(each, 200)}" for each in ignored)
    return Randomization(tuple(items.values()), notes=notes), tuple(ignored)


def _read_term(term: dict[str, Any]) -> Iterator[Item | str]:
    """Yield the items of one term of the events, and what of it is left out."""
    function = str(term.get("func")).replace(":", ".").rpartition(".")[2]
    params = term.get("params")
    params = params if isinstance(params, dict) else {}
    if function not in TARGETS and function != GRAVITY[0]:
        yield next(
            (reason for start, reason in REASONS if function.startswith(start)),
            f"simgap does not know the function {shown(function)}",
        )
        return
    if term.get("mode") == "interval":
        yield "it changes a parameter during an episode"
        return
    operation = OPERATIONS.get(str(params.get("operation") or "abs"))
    law = str(params.get("distribution") or "uniform")
    if operation is None:
        yield f"its operation {shown(str(params['operation']))} is not known"
        return
    if function == GRAVITY[0]:
        yield from _gravity(params.get(GRAVITY[1]), law, operation)
        return
    targets = TARGETS[function]
    for key, target in targets.items():
        if params.get(key) is not None:
            drawn = _law(params[key], law, key)
            for pattern in _patterns(params.get("asset_cfg"), target.names):
                if isinstance(pattern, Refused):
                    yield pattern.text
                else:
                    name = f"{target.kind}{pattern}.{target.what}"
                    yield Item(name, drawn, operation)
    for key, value in params.items():
        if key not in targets and key not in UNDERSTOOD and not _is_neutral(key, value):
            yield f"{key} has no parameter here"


class Refused(NamedTuple):
    """A list of names that cannot be written as a pattern."""

    text: str


def _patterns(asset: object, key: str) -> Iterator[str | Refused]:
    """Yield `.torso` for a name, `[*_foot]` for those that match: one draw for each."""
    asset = asset if isinstance(asset, dict) else {}
    owner = str(asset.get("name") or "robot")
    given = asset.get(key)
    if given is None:  # all of a robot; an object has one body, called like itself
        given = ".*" if owner == "robot" else owner
    for text in given if isinstance(given, list | tuple) else [given]:
        names = _alternatives(str(text))
        if not names or not all(PLAIN.fullmatch(name) for name in names):
            yield Refused(f"{key} '{shown(str(text))}' is more than names and .*")
            continue
        for name in names:
            glob = name.replace(".*", "*")
            yield f"[{glob}]" if "*" in glob else f".{glob}"


def _alternatives(text: str) -> list[str]:
    """Return what `f[lr]_hip` or `(left|right)_hip` stands for, one by one."""
    names = [text]
    while len(names) <= MOST_NAMES:
        found = next(
            (hit for each in names if (hit := ALTERNATIVES.search(each))), None
        )
        if found is None:
            return names
        parts = found[1] or found[2].split("|")
        names = [
            each.replace(found[0], part, 1)
            for each in names
            for part in (parts if found[0] in each else parts[:1])
        ]
    return []


def _gravity(given: object, law: str, operation: Operation) -> Iterator[Item | str]:
    """Yield an item for each axis that is changed at all."""
    ends = given if isinstance(given, list | tuple) and len(given) == 2 else ((), ())
    if not all(isinstance(end, list | tuple) and len(end) == 3 for end in ends):
        yield "its range is not two vectors"
        return
    neutral = {Operation.OFFSET: 0.0, Operation.SCALE: 1.0}.get(operation)
    for axis, pair in zip("xyz", zip(*ends, strict=True), strict=True):
        drawn = _law(pair, law, f"gravity.{axis}")
        if drawn != Fixed(neutral) if neutral is not None else True:
            yield Item(f"gravity.{axis}", drawn, operation)


def _law(given: object, law: str, key: str) -> Distribution:
    pair = given if isinstance(given, list | tuple) else ()
    try:
        first, second = (float(each) for each in pair)
    except (TypeError, ValueError):
        raise InvalidArgument(
            f"{key} is {shown(str(given))}, not two numbers"
        ) from None
    if not (isfinite(first) and isfinite(second)):
        raise InvalidArgument(f"{key} is {shown(str(given))}, not finite")
    if law == "gaussian":
        return TruncatedNormal(first, second) if second else Fixed(first)
    if first == second:
        return Fixed(first)
    if law not in {"uniform", "log_uniform"}:
        raise InvalidArgument(f"its distribution {shown(law)} is not known")
    return (Uniform if law == "uniform" else LogUniform)(first, second)


def _is_neutral(key: str, value: object) -> bool:
    """Return whether a setting changes nothing here."""
    if key == "recompute_inertia":  # here the inertia always goes with the mass
        return value is not False
    nothing = isinstance(value, list | tuple) and all(each == 0 for each in value)
    return value is None or nothing or key == "make_consistent"


def _elsewhere(document: dict[str, Any]) -> Iterator[str]:
    """Yield what is random outside the events: noise, delays, the ground."""
    for group, terms in _tables(document.get("observations")):
        if terms.get("enable_corruption"):
            noisy = [name for name, term in _tables(terms) if term.get("noise")]
            if noisy:
                yield (
                    f"observations.{group}: noise of {counted(len(noisy), 'term')} is "
                    "not a parameter; --noise has it"
                )
    for asset, settings in _tables(document.get("scene")):
        if settings.get("terrain_type") == "generator":
            yield f"scene.{asset}: ground that is generated is not a parameter"
        delays = [
            (part.get("min_delay"), part["max_delay"])
            for _, part in _tables(settings.get("actuators"))
            if part.get("max_delay")
        ]
        if delays:
            least, most = delays[0]
            yield (
                f"scene.{asset}.actuators: a delay of {least} to {most} steps of the "
                "physics; delay={0,1} counts steps of the policy, of which each has "
                f"{document.get('decimation')}"
            )


def _tables(given: object) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in (given if isinstance(given, dict) else {}).items():
        if isinstance(value, dict):
            yield str(name), value
