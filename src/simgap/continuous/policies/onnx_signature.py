"""What goes into an ONNX policy and what comes out, and which of it is what.

A network file has inputs and outputs with names of its framework's choice. One input is
the observation, one output the action; memory comes in pairs, an input and the output
that is given back to it at the next step. Names of Isaac Lab, rsl_rl, mjlab, rl_games,
TorchRL and RLlib are known; other pairs are named after the file, `net.onnx?h=25&c=26`.
A network with one more input, `theta`, is told the parameters of its world; the
metadata of the file says which.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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

    def tensor(self, name: str) -> Tensor:
        """Return an input or an output by name."""
        return next(t for t in (*self.inputs, *self.outputs) if t.name == name)


def find_roles(
    inputs: Iterable[Tensor],
    outputs: Iterable[Tensor],
    metadata: Mapping[str, str] = {},
    fed_back: Mapping[str, str] = {},
) -> Roles:
    """Return the roles of all inputs; `fed_back` names the memory if nobody knows it.

    It maps inputs to the outputs that are their values at the next step.
    """
    went = {each.name: each for each in inputs}
    came = {each.name: each for each in outputs}
    for name, known in (
        *((each, went) for each in fed_back),
        *((each, came) for each in fed_back.values()),
    ):
        if name not in known:
            kind = "input" if known is went else "output"
            raise InvalidFile(
                f"there is no {kind} {name[:60]!r}",
                hint=suggestion(name, known) or f"there are {listed(list(known))}",
                code="onnx-name-missing",
            )
    begins = next((name for name in went if name in BEGINS), "")
    after = {
        name: fed_back.get(name) or _given_back(name, came)
        for name in went
        if name != begins
    }
    pairs = tuple((name, other) for name, other in after.items() if other)
    rest = [name for name, other in after.items() if not other]
    theta = THETA if THETA in rest and len(rest) > 1 else ""
    rest = [name for name in rest if name != theta]
    left = [name for name in came if name not in dict(pairs).values()]
    action = next((name for name in ACTIONS if name in left), None)
    if action is None and len(left) == 1:
        action = left[0]
    if len(rest) != 1 or action is None:
        raise InvalidFile(
            f"the inputs {listed(rest)} are not all known"
            if len(rest) != 1
            else f"which of the outputs {listed(left)} is the action is not known",
            hint="name the memory behind the file, inputs and the outputs that are "
            f"given back to them: FILE.onnx?{(rest or ['h'])[-1]}="
            f"{(left or ['h_out'])[-1]}; anything else in a function that runs the "
            "file: FILE.py:function",
            code="onnx-names-unknown",
        )
    for one, other in pairs:
        _check_pair(went[one], came[other])
    told = _told(metadata, went[theta]) if theta else ()
    masked = bool(theta) and metadata.get(MASKED) == "true"
    return Roles(rest[0], action, pairs, begins, theta, told, masked)


def _told(metadata: Mapping[str, str], theta: Tensor) -> tuple[str, ...]:
    """Return the parameters that a file says it is told."""
    try:
        found = json.loads(metadata.get(THETA, ""))
    except ValueError:
        found = None
    fits = isinstance(found, list) and all(isinstance(e, str) and e for e in found)
    if not found or not fits or len(set(found)) < len(found):
        raise InvalidFile(
            f"the file does not say which parameters its input {THETA!r} is told",
            hint=f"its metadata name them under {THETA!r}, in the order of the input: "
            '["mass", "length"]',
            code="onnx-names-unknown",
        )
    last = (theta.shape or (None,))[-1]
    if isinstance(last, int) and last != len(found):
        raise InvalidFile(
            f"what the network is told is {theta.words}, and the parameters are "
            f"{listed(found)}",
            hint="name every parameter that it is told, in the order of the input",
            code="theta-of-wrong-width",
        )
    return tuple(found)


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


def _given_back(name: str, outputs: Iterable[str]) -> str | None:
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
