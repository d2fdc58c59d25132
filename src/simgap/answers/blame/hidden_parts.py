"""What is hidden, in parts: parameters or groups of them, and what telling some leaves.

A class whose models have no parameters has one part, `model`. If parameters do not
determine the model, what they leave open is a part of its own.

Parts that cannot matter are found here, by structure and not by numbers. A set D of
parts is idle if the other parts determine the model and do not depend on D under the
prior: whatever is told of D, the models left and their chances are the same, so every
part of D adds nothing to any set. (A label without effect that goes along with
a parameter that has one is not idle: who is told the label knows the parameter.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP, SimulatorClass, class_from_models

UNNAMED = "model"  # the part of a class without parameters
LEFT_OPEN = "what no parameter says"
EPS = 2.0**-52


@final
@dataclass(frozen=True, slots=True, eq=False)
class HiddenParts:
    """The parts of theta, and which value of each part every model has."""

    latent: LatentMDP
    names: tuple[str, ...]  # (P,)
    labels: tuple[tuple[float | str, ...], ...]  # (P, values), what values are called
    codes: IndexArray  # (M, P), which value
    first_equal: IndexArray  # (M,), the first model that is the same one
    active: tuple[int, ...]  # parts that may matter

    @property
    def likely(self) -> OffsetArray:
        """Return the models with a positive prior."""
        return np.flatnonzero(self.latent.prior > 0.0)

    def values_of(self, part: int) -> tuple[int, ...]:
        """Return the codes of the values of a part that may be real."""
        return tuple(int(code) for code in np.unique(self.codes[self.likely, part]))


@final
@dataclass(frozen=True, slots=True)
class Case:
    """Models that are left when some parts are told, equal ones merged."""

    chance: float  # that this is told
    members: tuple[int, ...]  # models, the first of equal ones
    weights: tuple[float, ...]  # their chances given what is told


def hidden_parts(
    latent: LatentMDP, groups: Sequence[Sequence[str]] = ()
) -> HiddenParts:
    """Return the parts of a class: the groups, then every parameter that is in none."""
    theta = latent.simulators.theta
    columns = _columns(theta.names, groups)
    first_equal = equal_models(latent.simulators)
    names: list[str] = []
    labels: list[tuple[float | str, ...]] = []
    codes: list[IndexArray] = []
    for chosen in columns:
        values, code = np.unique(theta.values[:, chosen], axis=0, return_inverse=True)
        own = [theta.names[at] for at in chosen]
        names.append("+".join(own))
        labels.append(tuple(_label(own, row) for row in values))
        codes.append(code.reshape(-1).astype(np.int32))
    rest = _left_open(codes, first_equal)
    if not columns:
        names.append(UNNAMED)
        labels.append(latent.simulators.model_names)
        codes.append(np.arange(len(latent.simulators), dtype=np.int32))
    elif rest.any():
        names.append(LEFT_OPEN)
        labels.append(tuple(float(at) for at in range(int(rest.max()) + 1)))
        codes.append(rest)
    table: IndexArray = np.ascontiguousarray(np.stack(codes, axis=1))
    idle = _idle_parts(table, first_equal, latent.prior)
    return HiddenParts(
        latent=latent,
        names=tuple(names),
        labels=tuple(labels),
        codes=owned(table),
        first_equal=owned(first_equal),
        active=tuple(part for part in range(len(names)) if part not in idle),
    )


def equal_models(simulators: SimulatorClass) -> IndexArray:
    """Return for every model the first one with its kernel, rewards and start, (M,)."""
    kernel, rewards = simulators.transitions.values, simulators.rewards
    seen: dict[bytes, int] = {}
    found = np.empty(len(simulators), np.int32)
    for m in range(len(simulators)):
        numbers = (
            kernel[m],
            rewards[m if len(rewards) > 1 else 0],
            simulators.start_law(m),
        )
        content = b"".join((np.asarray(each) + 0.0).tobytes() for each in numbers)
        found[m] = seen.setdefault(content, m)
    return found


def cases(
    parts: HiddenParts, hidden: int, *, several: bool = False
) -> tuple[Case, ...]:
    """Return what may be left when the active parts outside the set `hidden` are told.

    Bit k of the set is the part `parts.active[k]`. Chances sum to 1, unless only cases
    with `several` different models are asked for.
    """
    told = [part for k, part in enumerate(parts.active) if not hidden >> k & 1]
    likely, prior = parts.likely, parts.latent.prior
    group = _grouped(parts.codes[likely], told)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    begins = np.concatenate([[0], ends[:-1]])
    if several:
        open_ones = ends - begins > 1
        begins, ends = begins[open_ones], ends[open_ones]
    chosen = [
        likely[order[a:b]] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    found = tuple(_case(parts.first_equal[each], prior[each]) for each in chosen)
    if not several:
        return found
    return tuple(case for case in found if len(case.members) > 1)


def latent_of(parts: HiddenParts, case: Case) -> LatentMDP:
    """Return the latent MDP of a case."""
    worlds = parts.latent.simulators
    return LatentMDP(
        class_from_models([worlds[member] for member in case.members]),
        np.array(case.weights),
    )


def _case(equal: IndexArray, prior: FloatArray) -> Case:
    members, where = np.unique(equal, return_inverse=True)
    weights = np.bincount(where.reshape(-1), weights=prior)
    chance = float(prior.sum())
    return Case(
        chance=chance,
        members=tuple(int(member) for member in members),
        weights=tuple(float(weight) for weight in weights / chance),
    )


def _columns(
    names: tuple[str, ...], groups: Sequence[Sequence[str]]
) -> list[list[int]]:
    """Return the columns of theta that each part has."""
    if groups and not names:
        raise InvalidArgument(
            "a group is given, but the models have no parameters",
            hint="leave --group out: there is one part, which model is real",
        )
    taken: set[int] = set()
    columns = []
    for group in groups:
        chosen = [_column(names, name) for name in group]
        if not chosen:
            raise InvalidArgument("a group is empty", hint="write --group mass,length")
        for at in chosen:
            if at in taken:
                raise InvalidArgument(
                    f"parameter {names[at]!r} is in a group twice",
                    hint="a parameter is in one group at most",
                )
            taken.add(at)
        columns.append(chosen)
    return columns + [[at] for at in range(len(names)) if at not in taken]


def _column(names: tuple[str, ...], name: str) -> int:
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, n=1)
    raise InvalidArgument(
        f"there is no parameter {name[:60]!r}",
        hint=f"did you mean {near[0]}?" if near else f"they are {', '.join(names)}",
    )


def _label(names: list[str], row: FloatArray) -> float | str:
    if len(names) == 1:
        return float(row[0])
    return ", ".join(f"{name}={x:.9g}" for name, x in zip(names, row, strict=True))


def _left_open(codes: list[IndexArray], first_equal: IndexArray) -> IndexArray:
    """Return which of the different models with the same parameters each one is."""
    rank: IndexArray = np.zeros(first_equal.size, np.int32)
    if not codes:
        return rank
    seen: dict[tuple[int, ...], list[int]] = {}
    for m, theta in enumerate(np.stack(codes, axis=1).tolist()):
        known = seen.setdefault(tuple(theta), [])
        if int(first_equal[m]) not in known:
            known.append(int(first_equal[m]))
        rank[m] = known.index(int(first_equal[m]))
    return rank


def _idle_parts(
    codes: IndexArray, first_equal: IndexArray, prior: FloatArray
) -> frozenset[int]:
    """Return a set of parts, as large as is found, that is idle."""
    likely = prior > 0.0
    table, equal, weight = codes[likely], first_equal[likely], prior[likely]
    alone = [
        part for part in range(codes.shape[1]) if _determined(table, equal, {part})
    ]
    idle: set[int] = set()
    for more in [set(alone), *({part} for part in alone)]:
        if _determined(table, equal, idle | more) and _independent(
            table, weight, idle | more
        ):
            idle |= more
    return frozenset(idle)


def _determined(table: IndexArray, equal: IndexArray, without: set[int]) -> bool:
    """Return whether the other parts determine the model."""
    group = _grouped(table, [p for p in range(table.shape[1]) if p not in without])
    pairs = np.unique(np.stack([group, equal], axis=1), axis=0)
    return len(pairs) == int(group.max()) + 1


def _independent(table: IndexArray, weight: FloatArray, idle: set[int]) -> bool:
    """Return whether some parts are independent of the others, up to rounding."""
    one = _grouped(table, sorted(idle))
    two = _grouped(table, [p for p in range(table.shape[1]) if p not in idle])
    shape = int(one.max()) + 1, int(two.max()) + 1
    if shape[0] * shape[1] > len(table):  # some combinations never happen
        return False
    joint = np.zeros(shape)
    np.add.at(joint, (one, two), weight)
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    room = 8.0 * EPS * (len(weight) + 4)
    return bool((np.abs(joint - product) <= room * product).all())


def _grouped(table: IndexArray, columns: list[int]) -> OffsetArray:
    """Return a number for every row: the same for rows that agree in the columns."""
    if not columns:
        return np.zeros(len(table), np.int64)
    _, group = np.unique(table[:, columns], axis=0, return_inverse=True)
    return np.asarray(group.reshape(-1), np.int64)
