"""Networks: a sequence is step after step, and memory ends where an episode begins."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from simgap.continuous import parse_memory
from simgap.continuous.training.network import Network, Weights
from tests.continuous.training.trial import MEMORIES
from tests.reference.recurrent import said_in_a_row

jax = pytest.importorskip("jax")

STEPS, ROWS = 14, 5
REMEMBERING = [each for each in MEMORIES if each != "none"]


class Case(NamedTuple):
    """A network with weights, and rows in which episodes begin anywhere."""

    network: Network
    weights: Weights
    frames: Any  # (STEPS, ROWS, frame)
    shown: Any  # (STEPS, ROWS, 2)
    first: Any  # (STEPS, ROWS)

    def sequence(self, first: Any = None, **changes: Any) -> Any:
        given = self._replace(**changes)
        return compiled(self.network)(
            self.weights.actor,
            given.frames,
            given.shown,
            self.first if first is None else first,
        )

    def stepped(self) -> Any:
        memory, said = self.network.start(ROWS), []
        for given in zip(self.frames, self.shown, self.first, strict=True):
            memory, here = self.network.step(self.weights.actor, memory, *given)
            said.append(here)
        return np.stack(said)


@lru_cache
def compiled(network: Network) -> Any:
    return jax.jit(network.sequence)


def case(memory: str, seed: int = 0) -> Case:
    network = Network(parse_memory(memory), 6, 3, 4, 2, 2, choices=False)
    random = np.random.default_rng(seed)
    leaves, structure = jax.tree.flatten(network.new(random, -0.5))
    # every weight counts: none is 0 or small, as some are at the start
    leaves = [random.normal(0.0, 0.6, each.shape).astype(np.float32) for each in leaves]
    first = random.random((STEPS, ROWS)) < 0.2
    first[0], first[4], first[9, :2] = True, [True, False, True, False, False], True
    return Case(
        network,
        jax.tree.unflatten(structure, leaves),
        random.normal(size=(STEPS, ROWS, network.frame)).astype(np.float32),
        random.normal(size=(STEPS, ROWS, 2)).astype(np.float32),
        first,
    )


def same(one: Any, other: Any) -> bool:
    return bool(np.allclose(one, other, rtol=1e-5, atol=1e-6))


@pytest.mark.parametrize("memory", MEMORIES)
def test_a_sequence_is_step_after_step(memory: str) -> None:
    given = case(memory)
    assert same(given.sequence()[1], given.stepped())


@pytest.mark.parametrize("late", [-1, 1])
@pytest.mark.parametrize("memory", REMEMBERING)
def test_memory_that_ends_a_step_early_or_late_is_found(memory: str, late: int) -> None:
    """The control of the two tests around it."""
    given = case(memory)
    wrong = np.roll(given.first, late, axis=0)
    assert not same(given.sequence(first=wrong)[1], given.stepped())
    assert not forgets(given, late)


@pytest.mark.parametrize("memory", MEMORIES)
def test_nothing_before_the_beginning_of_an_episode_changes_what_follows(
    memory: str,
) -> None:
    given = case(memory)
    assert forgets(given)
    if memory != "none":  # without a beginning it does
        given.first[5:9] = False
        assert not forgets(given, begins=False)


def forgets(given: Case, late: int = 0, *, begins: bool = True) -> bool:
    """Return whether steps from 7 on are the same, whatever was before them."""
    first, other = given.first.copy(), given.first.copy()
    first[7] = other[7] = begins
    other[1:7] = ~other[1:7]
    found = [
        given.sequence(np.roll(each, late, axis=0), frames=frames, shown=shown)
        for each, frames, shown in (
            (first, given.frames, given.shown),
            (
                other,
                np.concatenate([given.frames[7:0:-1] * 3.0, given.frames[7:]]),
                np.concatenate([-given.shown[:7], given.shown[7:]]),
            ),
        )
    ]
    (remembered, said), (remembered_too, said_too) = found
    equal = np.array_equal(said[7:], said_too[7:])
    return equal and np.array_equal(remembered[7:], remembered_too[7:])


@pytest.mark.parametrize("memory", MEMORIES)
def test_steps_are_those_of_the_twin(memory: str) -> None:
    """Cells as PyTorch documents them, one row and one step at a time."""
    given = case(memory)
    kind, said = given.network.memory, given.sequence()[1]
    for row in range(ROWS):
        twin = said_in_a_row(
            given.weights.actor,
            kind.cell.value,
            given.frames[:, row],
            given.shown[:, row],
            given.first[:, row],
            kind.frames,
        )
        assert same(said[:, row], twin)


def test_who_remembers_sees_the_action_before_and_who_does_not_sees_none() -> None:
    seen, previous = np.ones((ROWS, 3)), np.full((ROWS, 2), 7.0)
    for memory in MEMORIES:
        framed = case(memory).network.framed(seen, previous)
        assert framed.shape == (ROWS, case(memory).network.frame)
        assert (framed == 7.0).any() == (memory != "none")
