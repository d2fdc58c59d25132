"""The parts of what is hidden, and which models are left when some parts are known.

The agent does not know which model is real. A *part* of that is a parameter, or a group
of parameters that count as one. A class whose models have no parameters has one part,
`model`. If parameters do not determine the model, what they leave open is a part of its
own.

Parts that cannot matter are found here, by structure and not by numbers. A set D of
parts is irrelevant if the other parts determine the model and do not depend on D under
the prior: whatever the agent knows of D, the models left and their probabilities are
the same, so no part of D costs anything. (A label without effect that goes along with a
parameter that has one is relevant: an agent that knows the label knows the parameter.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, owned
from simgap.errors import InvalidArgument
from simgap.intervals import EPS
from simgap.mdp import LatentMDP, SimulatorClass, class_from_models
from simgap.text import suggestion

UNNAMED = "model"  # the part of a class without parameters
LEFT_OPEN = "what no parameter says"


@final
@dataclass(frozen=True, slots=True, eq=False)
class HiddenParts:
    """The parts of a class, and which value of each part every model has."""

    latent: LatentMDP
    names: tuple[str, ...]  # (P,)
    labels: tuple[tuple[float | str, ...], ...]  # (P, values), what values are called
    codes: IndexArray  # (M, P), which value
    first_equal: IndexArray  # (M,), the first model that is the same one
    relevant: tuple[int, ...]  # parts that may matter

    @property
    def possible(self) -> OffsetArray:
        """Return the models with a positive prior."""
        return np.flatnonzero(self.latent.prior > 0.0)

    def values_of(self, part: int) -> tuple[int, ...]:
        """Return the codes of the values of a part that may be real."""
        return tuple(int(code) for code in np.unique(self.codes[self.possible, part]))


@final
@dataclass(frozen=True, slots=True)
class ModelsLeft:
    """Models that may still be real when some parts are known, equal ones merged."""

    probability: float  # of the values that are known
    members: tuple[int, ...]  # models, the first of equal ones
    weights: tuple[float, ...]  # their probabilities given what is known


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
    irrelevant = _irrelevant_parts(table, first_equal, latent.prior)
    return HiddenParts(
        latent=latent,
        names=tuple(names),
        labels=tuple(labels),
        codes=owned(table),
        first_equal=owned(first_equal),
        relevant=tuple(part for part in range(len(names)) if part not in irrelevant),
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


def models_left(
    parts: HiddenParts, hidden: int, *, several: bool = False
) -> tuple[ModelsLeft, ...]:
    """Return which models may be left when only the parts in the set `hidden` are not.

    Bit k of the set is the part `parts.relevant[k]`. There is one entry for each
    combination of values of the other parts; probabilities sum to 1, unless only
    entries with `several` different models are asked for.
    """
    known = [part for k, part in enumerate(parts.relevant) if not hidden >> k & 1]
    possible, prior = parts.possible, parts.latent.prior
    group = _grouped(parts.codes[possible], known)
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    begins = np.concatenate([[0], ends[:-1]])
    if several:
        large = ends - begins > 1
        begins, ends = begins[large], ends[large]
    chosen = [
        possible[order[a:b]]
        for a, b in zip(begins.tolist(), ends.tolist(), strict=True)
    ]
    found = tuple(_merged(parts.first_equal[each], prior[each]) for each in chosen)
    if not several:
        return found
    return tuple(left for left in found if len(left.members) > 1)


def latent_of(parts: HiddenParts, left: ModelsLeft) -> LatentMDP:
    """Return the latent MDP of the models that are left."""
    simulators = parts.latent.simulators
    return LatentMDP(
        class_from_models([simulators[member] for member in left.members]),
        np.array(left.weights),
    )


def _merged(equal: IndexArray, prior: FloatArray) -> ModelsLeft:
    members, where = np.unique(equal, return_inverse=True)
    weights = np.bincount(where.reshape(-1), weights=prior)
    probability = float(prior.sum())
    return ModelsLeft(
        probability=probability,
        members=tuple(int(member) for member in members),
        weights=tuple(float(weight) for weight in weights / probability),
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
    raise InvalidArgument(
        f"there is no parameter {name[:60]!r}",
        hint=suggestion(name, names) or f"they are {', '.join(names)}",
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


def _irrelevant_parts(
    codes: IndexArray, first_equal: IndexArray, prior: FloatArray
) -> frozenset[int]:
    """Return a set of parts, as large as is found, that cannot matter."""
    possible = prior > 0.0
    table, equal, weight = codes[possible], first_equal[possible], prior[possible]
    alone = [
        part for part in range(codes.shape[1]) if _determined(table, equal, {part})
    ]
    irrelevant: set[int] = set()
    for more in [set(alone), *({part} for part in alone)]:
        if _determined(table, equal, irrelevant | more) and _independent(
            table, weight, irrelevant | more
        ):
            irrelevant |= more
    return frozenset(irrelevant)


def _determined(table: IndexArray, equal: IndexArray, without: set[int]) -> bool:
    """Return whether the other parts determine the model."""
    group = _grouped(table, [p for p in range(table.shape[1]) if p not in without])
    pairs = np.unique(np.stack([group, equal], axis=1), axis=0)
    return len(pairs) == int(group.max()) + 1


def _independent(table: IndexArray, weight: FloatArray, irrelevant: set[int]) -> bool:
    """Return whether some parts are independent of the others, up to rounding."""
    one = _grouped(table, sorted(irrelevant))
    two = _grouped(table, [p for p in range(table.shape[1]) if p not in irrelevant])
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
