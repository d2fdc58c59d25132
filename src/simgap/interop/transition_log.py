"""Real transitions from a CSV file: `episode,step,state,action,next_state[,reward]`.

Columns come in any order and others are ignored with a note; states and actions are
indices or names. A name wins over an index, so that states called "1", "2", "3" mean
what their owner means. Rows come in any order: episode and step sort them. A log
without both is one episode in the order of its lines, with a note. The file is read as
a stream, and every refusal names the line.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Protocol, final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, OffsetArray, digest, read_only
from simgap.errors import InvalidArgument, InvalidFile
from simgap.interop.log_text import LogText, opened_log, quoted, whole_number
from simgap.mdp import Labels
from simgap.records.note import Note
from simgap.text import nearest

LARGEST_TABLE = 2 * 10**8  # entries of a table of counts


class Space(Protocol):
    """What a log is read against: a class, a model, or a `StateSpace`."""

    @property
    def n_states(self) -> int: ...
    @property
    def n_actions(self) -> int: ...
    @property
    def labels(self) -> Labels: ...


@final
@dataclass(frozen=True, slots=True)
class StateSpace:
    """Sizes and names for a log of which no model exists yet."""

    n_states: int
    n_actions: int
    labels: Labels = field(default_factory=Labels)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TransitionLog:
    """N transitions, sorted by episode and step."""

    episode: OffsetArray  # (N,), numbered in order of appearance
    step: OffsetArray  # (N,), increasing within an episode
    state: IndexArray  # (N,)
    action: IndexArray  # (N,)
    next_state: IndexArray  # (N,)
    reward: FloatArray | None = None  # (N,), NaN where none was logged
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        for name in ("episode", "step"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.int64))
        for name in ("state", "action", "next_state"):
            object.__setattr__(self, name, read_only(getattr(self, name), np.int32))
        if self.reward is not None:
            object.__setattr__(self, "reward", read_only(self.reward))
        shapes = [self.episode.shape, self.step.shape, self.state.shape]
        shapes += [self.action.shape, self.next_state.shape]
        shapes += [] if self.reward is None else [self.reward.shape]
        if set(shapes) != {(self.episode.size,)}:
            raise InvalidArgument(
                f"columns of a log have shapes {shapes}",
                hint="give one number per transition in each",
            )
        same = np.diff(self.episode) == 0
        if (np.diff(self.episode) < 0).any() or (np.diff(self.step)[same] <= 0).any():
            raise InvalidArgument(
                "a log is not sorted by episode and step, or has a step twice",
                hint="sort its rows first: numpy.lexsort((step, episode))",
            )

    def __len__(self) -> int:
        return int(self.episode.size)

    @property
    def n_episodes(self) -> int:
        return int(np.unique(self.episode).size)

    @property
    def hash(self) -> str:
        """Return a digest of what was seen; notes do not enter it."""
        columns = (self.episode, self.step, self.state, self.action, self.next_state)
        rewards = () if self.reward is None else (self.reward,)
        return digest(*columns, *rewards)

    def first_rows(self) -> OffsetArray:
        """Return the index of the first transition of every episode."""
        found: OffsetArray = np.flatnonzero(
            np.diff(self.episode, prepend=self.episode[:1] - 1)
        )
        return found

    def breaks(self) -> OffsetArray:
        """Return rows whose next state is not where the following step begins."""
        follows = (np.diff(self.episode) == 0) & (np.diff(self.step) == 1)
        jumps = self.next_state[:-1] != self.state[1:]
        found: OffsetArray = np.flatnonzero(follows & jumps)
        return found

    def missing_steps(self) -> int:
        """Return how many steps are left out between the steps of an episode."""
        same = np.diff(self.episode) == 0
        return int((np.diff(self.step)[same] - 1).sum())


def read_transition_log(source: str | Path | BinaryIO, space: Space) -> TransitionLog:
    """Return the transitions of a CSV file, or of a stream that is open already.

    `space` has the sizes and names: a `SimulatorClass`, a `TabularMDP` or a
    `StateSpace`.
    """
    with opened_log(source) as text:
        return _read(text, space)


def counts_of_log(log: TransitionLog, n_states: int, n_actions: int) -> FloatArray:
    """Return N[s, a, s'], for `mdp_from_counts`."""
    if n_states * n_actions * n_states > LARGEST_TABLE:
        raise InvalidArgument(
            f"a table of counts for {n_states} states and {n_actions} actions has "
            f"more than {LARGEST_TABLE:g} entries",
            hint="build the model with mdp_from_edges from the pairs that occur",
        )
    check_log_range(log, n_states, n_actions)
    counts: FloatArray = np.zeros((n_states, n_actions, n_states))
    np.add.at(counts, (log.state, log.action, log.next_state), 1.0)
    return counts


def check_log_range(log: TransitionLog, n_states: int, n_actions: int) -> None:
    """Raise unless every state and action of a log exists."""
    columns = {
        "state": (log.state, n_states),
        "action": (log.action, n_actions),
        "next_state": (log.next_state, n_states),
    }
    for name, (column, count) in columns.items():
        bad = np.flatnonzero((column < 0) | (column >= count))
        if bad.size:
            raise InvalidArgument(
                f"{name} of transition {bad[0]} of the log is {column[bad[0]]}",
                hint=f"it is an index from 0 to {count - 1}; is it the log of "
                "another class?",
            )


def _read(text: LogText, space: Space) -> TransitionLog:
    states = _Finder(text, "state", space.labels.states, space.n_states)
    actions = _Finder(text, "action", space.labels.actions, space.n_actions)
    columns = {
        "episode": array("q"),
        "step": array("q"),
        "state": array("i"),
        "action": array("i"),
        "next_state": array("i"),
    }
    add = [column.append for column in columns.values()]
    lines, rewards = array("q"), array("d")
    episodes: dict[str, int] = {}
    for line, (episode, step, state, action, after, reward) in text.rows():
        add[0](episodes.setdefault(_episode(text, episode), len(episodes)))
        add[1](text.whole(step, "step"))
        add[2](states.index(state, "state"))
        add[3](actions.index(action, "action"))
        add[4](states.index(after, "next_state"))
        lines.append(line)
        if text.has_reward:
            rewards.append(text.reward(reward))
    if not lines:
        raise InvalidFile(
            f"{text.name} has a header but no transitions",
            hint="write one line per step below the header",
        )
    found = {name: np.asarray(column) for name, column in columns.items()}
    order = np.lexsort((found["step"], found["episode"]))
    _check_twice(text, found["episode"][order], found["step"][order], lines, order)
    return TransitionLog(
        **{name: column[order] for name, column in found.items()},
        reward=np.asarray(rewards)[order] if text.has_reward else None,
        notes=(*text.notes, *states.notes(), *actions.notes()),
    )


def _check_twice(
    text: LogText,
    episode: OffsetArray,
    step: OffsetArray,
    lines: array[int],
    order: OffsetArray,
) -> None:
    again = np.flatnonzero((np.diff(episode) == 0) & (np.diff(step) == 0))
    if again.size:
        first, second = sorted(lines[int(order[again[0] + k])] for k in (0, 1))
        raise InvalidFile(
            f"lines {first} and {second} of {text.name} are the same episode and step "
            f"({int(step[again[0]])})",
            hint="give each episode its own number or name, each step its own number",
        )


def _episode(text: LogText, given: str) -> str:
    """Return what an episode is called; 3 and 3.0 are the same one."""
    if not given:
        raise text.wrong("episode", given, "every row needs the episode it is from")
    number = whole_number(given)
    return given if number is None else str(number)


@final
class _Finder:
    """Finds states or actions by name or index; remembers what it has found."""

    def __init__(
        self, text: LogText, what: str, names: tuple[str, ...], count: int
    ) -> None:
        self._text, self._what, self._count = text, what, count
        self._named = {name.strip(): at for at, name in enumerate(names)}
        self._known: dict[str, int] = dict(self._named)

    def index(self, given: str, column: str) -> int:
        """Return the index that a text means, or raise."""
        at = self._known.get(given)
        return self._look_up(given, column) if at is None else at

    def notes(self) -> Iterator[Note]:
        """Yield a warning if names are numbers that differ from indices."""
        numbers = {name: whole_number(name) for name in self._named}
        odd = [
            name for name, at in self._named.items() if numbers[name] not in (None, at)
        ]
        if odd:
            yield Note(
                "names-are-numbers",
                f"{self._what}s have numbers for names: {odd[0]} in the log is the "
                f"{self._what} of that name, which has index {self._named[odd[0]]}",
            )

    def _look_up(self, given: str, column: str) -> int:
        number = whole_number(given)
        if number is not None and number < self._count:
            self._known[given] = number
            return number
        if number is not None:
            raise self._text.wrong(
                column, given, f"{self._what}s are 0 to {self._count - 1}"
            )
        if not self._named:
            raise self._text.wrong(
                column,
                given,
                f"this model has no {self._what} names; write an index, 0 to "
                f"{self._count - 1}",
            )
        raise self._text.wrong(column, given, self._suggestion(given))

    def _suggestion(self, given: str) -> str:
        near = nearest(given, self._named, most=3)
        if near:
            return f"did you mean {' or '.join(map(quoted, near))}?"
        few = ", ".join(quoted(name) for name in list(self._named)[:5])
        return f"{self._what}s are called {few}, or 0 to {self._count - 1}"
