"""Policies that are brought to a class of tables: files and functions of the user.

The same texts as for simulators mean the same: `file.py:function`, `file.onnx`, a
policy file of simgap, `zero`. What is observed is the number of the state. Tables and
policy graphs have certified gaps; everything else is a black box, and is run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.continuous import (
    Batch,
    BroughtPolicy,
    Choices,
    Parameter,
    Stepped,
    is_informed,
    open_policy,
    read_policy_text,
    what_failed,
)
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.policies import MarkovPolicy, Policy, Step, load_policy, surely

ENDINGS = (".simgap", ".onnx", ".py")


class Asked(NamedTuple):
    """A policy that somebody asks for: what the table calls it, and what it is."""

    name: str
    what: Any  # a name that simgap knows, a text that names a file, or an object


def asked_policy(given: Any) -> Asked:
    """Return what is asked for; `NAME=` before a text is what the table calls it."""
    if isinstance(given, str | os.PathLike):
        return Asked(*read_policy_text(os.fspath(given)))
    named = getattr(given, "name", None) or getattr(given, "__name__", None)
    return Asked(named if isinstance(named, str) else type(given).__name__, given)


def names_a_file(text: str) -> bool:
    """Return whether a text names a policy that somebody brings."""
    path = text.rpartition(":")[0] if ".py:" in text else text.partition("?")[0]
    return text == "zero" or Path(path).suffix in ENDINGS


def brought_to_class(given: Any, latent: LatentMDP) -> Policy[Any]:
    """Return a policy of the class: the states and actions it knows must be these."""
    worlds = latent.simulators
    if isinstance(given, str) and given == "zero":
        nothing = np.zeros(worlds.n_states, np.int32)
        return MarkovPolicy(given, worlds.n_actions, nothing)
    saved = isinstance(given, str) and Path(given).suffix == ".simgap"
    own: Any = load_policy(Path(given)) if saved else given
    brought = open_policy(own, _Table(worlds))  # refuses what does not fit
    if all(callable(getattr(own, each, None)) for each in ("start", "observe")):
        policy: Policy[Any] = own
        return policy
    return BlackBox(brought.name, brought, worlds.n_actions)


def parameters_of(worlds: SimulatorClass, member: int) -> dict[str, float]:
    """Return the parameters of one model by name."""
    known = worlds.parameters
    return {} if known is None else known.of(member)


class Answered(NamedTuple):
    """What a black box does next, and what it remembers."""

    action: int
    memory: Any


@final
@dataclass(frozen=True, slots=True, eq=False)
class BlackBox:
    """A brought policy of one world: it says an action, and what it remembers."""

    name: str
    inner: BroughtPolicy
    n_actions: int
    key: int = 0  # of its random numbers
    theta: Mapping[str, float] | None = None  # what an informed policy is told

    @property
    def informed(self) -> bool:
        """Return whether it is told which model is real."""
        return is_informed(self.inner)

    def with_stream(self, key: int) -> BlackBox:
        """Return the policy with other random numbers."""
        return replace(self, key=key)

    def told(self, theta: Mapping[str, float]) -> BlackBox:
        """Return the policy in a model whose parameters it is told."""
        return replace(self, theta=theta)

    def start(self, state: int) -> Answered:
        """Return the first action."""
        theta = {key: np.array([each]) for key, each in (self.theta or {}).items()}
        seeds = np.array([self.key % 2**63], np.int64)
        return self._asked(state, self.inner.reset(Batch(seeds, theta)))

    def act(self, memory: Answered, h: int, state: int) -> FloatArray:
        """Return the probabilities of the actions, (A,): one of them is certain."""
        return surely(memory.action, self.n_actions)

    def observe(self, memory: Answered, step: Step) -> Answered:
        """Return the next action."""
        return self._asked(step.next_state, memory.memory)

    def _asked(self, state: int, memory: Any) -> Answered:
        actions, after = self.inner.act(np.array([[float(state)]]), memory)
        for told in what_failed(after).values():
            raise InvalidArgument(
                f"the policy {self.name} fails in state {state}: {told}",
                hint="it is asked with the number of the state",
                code="policy-failed",
            )
        if not np.isfinite(actions[0]):
            raise InvalidArgument(
                f"the policy {self.name} gives an action {actions[0]} in state {state}",
                hint=f"it is a whole number from 0 to {self.n_actions - 1}",
                code="action-not-finite",
            )
        return Answered(int(actions[0]), after)


@final
class _Table:
    """A class of tables as a simulator shows itself: numbered states and actions."""

    name = "the class"
    horizon = None

    def __init__(self, worlds: SimulatorClass) -> None:
        self.observation = Choices(worlds.n_states)
        self.action = Choices(worlds.n_actions)
        self.parameters = tuple(
            Parameter(name, value) for name, value in parameters_of(worlds, 0).items()
        )
        self._first = float(worlds.start_law(0).argmax())

    def return_bounds(self, horizon: int) -> None:
        return None

    def instantiate(self, values: Mapping[str, FloatArray]) -> _Table:
        return self

    def reset(self, seeds: OffsetArray) -> FloatArray:
        return np.full((len(seeds), 1), self._first)

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        raise InvalidArgument(
            "a class of tables does not step here", hint="its own worlds are compiled"
        )

    def close(self) -> None:
        pass
