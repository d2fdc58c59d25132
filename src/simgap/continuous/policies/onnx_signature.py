"""What goes into an ONNX policy and what comes out, and which of it is what.

A network file has inputs and outputs with names of its framework's choice. One input is
the observation, one output the action; memory comes in pairs, an input and the output
that is given back to it at the next step. Names of Isaac Lab, rsl_rl, mjlab, rl_games,
TorchRL and RLlib are known; where a name is not, a file `policy.onnx.toml` beside the
network says it (`onnx_sidecar`). A network with one more input, `theta`, is told the
parameters of its world; the file itself says which, or the sidecar.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import final

from simgap.errors import InvalidFile
from simgap.text import listed, suggestion

ACTIONS = (
    "actions",
    "action",
    "deterministic_continuous_actions",
    "deterministic_discrete_actions",
    "continuous_actions",
    "discrete_actions",
    "mu",
    "mean",
    "mean_actions",
    "logits",
    "output",
)
ACTION = "action"  # of the pair that carries the last action in files of simgap
THETA = "theta"  # an input, and the key of the metadata that names its parameters
MASKED = "masked"  # key of the metadata: "true" if NaN is a parameter that is not told
BEGINS = ("is_init", "episode_start", "episode_starts")


class Handling(Enum):
    """What is done to the numbers of the action before they are played."""

    CLIP = "clip"  # beyond the ends of the action space: moved to the end
    SCALE = "scale"  # -1 to 1 is stretched from end to end
    ARGMAX = "argmax"  # one number per choice, the greatest wins
    AS_IS = "as-is"  # given to the simulator as they are


@final
@dataclass(frozen=True, slots=True)
class Tensor:
    """An input or an output: its name, its axes and the type of its numbers."""

    name: str
    shape: tuple[int | str | None, ...]  # a name or None: as long as one likes
    type: str  # "float32", "int64", ...

    @property
    def words(self) -> str:
        """Return `obs (batch, 3) float32`."""
        axes = ", ".join("?" if each is None else str(each) for each in self.shape)
        return f"{self.name} ({axes}) {self.type}"


@final
@dataclass(frozen=True, slots=True)
class Roles:
    """Which input and output is what."""

    observation: str
    action: str
    memory: tuple[tuple[str, str], ...] = ()  # input, output
    begins: str = ""  # an input that is true at the first step of an episode
    handling: Handling | None = None  # None: as the action space asks
    normaliser: str = ""  # "none": observations are meant to go in as they are
    theta: str = ""  # an input that is told the parameters
    told: tuple[str, ...] = ()  # which parameters, in order
    masked: bool = False  # NaN is a parameter that is not told


@final
@dataclass(frozen=True, slots=True)
class Signature:
    """What an ONNX file says of itself."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    roles: Roles
    batched: bool  # one call for many worlds; else a call for each
    metadata: Mapping[str, str] = field(default_factory=dict)

    def tensor(self, name: str) -> Tensor:
        """Return an input or an output by name."""
        return next(t for t in (*self.inputs, *self.outputs) if t.name == name)

    @property
    def words(self) -> str:
        """Return what goes in and out, for a person."""
        went = ", ".join(each.words for each in self.inputs)
        came = ", ".join(each.words for each in self.outputs)
        kept = ", ".join(f"{one} <- {other}" for one, other in self.roles.memory)
        return f"{went} -> {came}; memory: {kept or 'none'}"


def find_roles(
    inputs: Iterable[Tensor],
    outputs: Iterable[Tensor],
    metadata: Mapping[str, str] = {},
) -> Roles:
    """Return the roles of known names, or say what a sidecar has to tell."""
    went = [each.name for each in inputs]
    came = [each.name for each in outputs]
    begins = next((name for name in went if name in BEGINS), "")
    rest = [name for name in went if name != begins]
    pairs: list[tuple[str, str]] = []
    for name in list(rest):
        after = _given_back(name, came)
        if after is not None:
            pairs.append((name, after))
            rest.remove(name)
    theta = THETA if THETA in rest and len(rest) > 1 else ""
    rest = [name for name in rest if name != theta]
    left = [name for name in came if name not in {after for _, after in pairs}]
    action = next((name for name in ACTIONS if name in left), None)
    if action is None and len(left) == 1:
        action = left[0]
    if len(rest) != 1 or action is None:
        what = (
            f"the inputs {listed(rest)} are not all known"
            if len(rest) != 1
            else f"which of the outputs {listed(left)} is the action is not known"
        )
        raise InvalidFile(
            f"{what}",
            hint="write FILE.onnx.toml beside it: observation, action, and memory as "
            f'pairs, for instance observation = "{(rest or went or ["obs"])[0]}", '
            f'action = "{(left or ["actions"])[0]}", memory = [["h_in", "h_out"]]',
            code="onnx-names-unknown",
        )
    return Roles(
        rest[0],
        action,
        tuple(pairs),
        begins,
        theta=theta,
        told=_told(metadata) if theta else (),
        masked=bool(theta) and metadata.get(MASKED) == "true",
    )


def checked_roles(
    roles: Roles, inputs: Iterable[Tensor], outputs: Iterable[Tensor]
) -> Roles:
    """Return the roles; raise unless every name is one of the file, and no input left.

    Where a sidecar names parameters, the input that nothing else names is theirs.
    """
    went, came = {t.name: t for t in inputs}, {t.name: t for t in outputs}
    named = [roles.observation, *(one for one, _ in roles.memory)]
    named += [roles.begins] if roles.begins else []
    if roles.told:
        free = [name for name in went if name not in named]
        roles = replace(roles, theta=roles.theta or (free or [THETA])[0])
        named.append(roles.theta)
    for name, known in (
        *((name, went) for name in named),
        *((name, came) for name in (roles.action, *(two for _, two in roles.memory))),
    ):
        if name not in known:
            kind = "input" if known is went else "output"
            raise InvalidFile(
                f"there is no {kind} {name[:60]!r}",
                hint=suggestion(name, known) or f"there are {listed(list(known))}",
                code="onnx-name-missing",
            )
    if missing := sorted(set(went) - set(named)):
        raise InvalidFile(
            f"nothing is known of the input {missing[0][:60]!r}",
            hint="the sidecar names every input: the observation, the first of each "
            "pair of memory, or `begins`; and the parameters that a last one is told: "
            'theta = ["mass"]',
            code="onnx-names-unknown",
        )
    for one, other in roles.memory:
        _check_pair(went[one], came[other])
    if roles.told:
        _check_told(went[roles.theta], roles.told)
    return roles


def _told(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """Return the parameters that a file says it is told."""
    try:
        found = json.loads(metadata.get(THETA, ""))
    except ValueError:
        found = None
    if names_parameters(found):
        return tuple(found)
    raise InvalidFile(
        f"the file does not say which parameters its input {THETA!r} is told",
        hint="write FILE.onnx.toml beside it: observation, action, memory, and for "
        'instance theta = ["mass", "length"], in the order of the input',
        code="onnx-names-unknown",
    )


def names_parameters(found: object) -> bool:
    """Return whether something is a list of different names."""
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(each, str) and each for each in found)
        and len(set(found)) == len(found)
    )


def _check_pair(before: Tensor, after: Tensor) -> None:
    fits = len(before.shape) == len(after.shape) and all(
        a == b or not (isinstance(a, int) and isinstance(b, int))
        for a, b in zip(before.shape, after.shape, strict=True)
    )
    if not fits or before.type != after.type:
        raise InvalidFile(
            f"memory goes in as {before.words} and comes out as {after.words}",
            hint="what comes out is what goes in at the next step: name other pairs",
            code="onnx-memory-of-wrong-shape",
        )


def _check_told(theta: Tensor, names: tuple[str, ...]) -> None:
    last = (theta.shape or (None,))[-1]
    if isinstance(last, int) and last != len(names):
        raise InvalidFile(
            f"what the network is told is {theta.words}, and the parameters are "
            f"{listed(names)}",
            hint="name every parameter that it is told, in the order of the input",
            code="theta-of-wrong-width",
        )


def _given_back(name: str, outputs: list[str]) -> str | None:
    """Return the output that is an input's next value, by the names people use."""
    stem, dot, number = name.rpartition(".")
    candidates = (
        name.replace("_in", "_out") if "_in" in name else "",  # h_in, state_in_0
        name.replace("in_", "out_", 1) if name.startswith("in_") else "",
        f"next_{name}",  # recurrent_state_h of TorchRL
        f"{name}_out",
        f"{name}_next",
        f"{name}_new",
        f"new_{name}",
        stem if dot and number.isdigit() else "",  # hidden_state.1 of rl_games
        f"{name[:-1]}n" if name.endswith("0") else "",  # h0, c0
    )
    return next((each for each in candidates if each and each in outputs), None)
