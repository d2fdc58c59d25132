"""What a real machine did: observations, commands, what was observed next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray, digest, read_only
from simgap.errors import InvalidArgument


@final
@dataclass(frozen=True, slots=True, eq=False)
class RealLog:
    """N steps of a real machine; steps of an episode stand together, in order.

    `action` is what was commanded when `observation` was seen. A gap in the recording
    ends an episode: give what follows another number.
    """

    episode: OffsetArray  # (N,)
    observation: FloatArray  # (N, O)
    action: FloatArray  # (N, A)
    next_observation: FloatArray  # (N, O)
    dt: float | None = None  # seconds between two steps, if the log says so
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "episode", read_only(self.episode, np.int64))
        for name in ("observation", "action", "next_observation"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        seen, after = self.observation.shape, self.next_observation.shape
        if (
            seen != after
            or len(seen) != 2
            or self.action.ndim != 2
            or self.episode.shape != seen[:1]
            or self.action.shape[:1] != seen[:1]
        ):
            raise InvalidArgument(
                f"a log with {self.episode.shape} episodes, {seen} observations, "
                f"{self.action.shape} actions and {after} next observations",
                hint="one row per step: (N,), (N, O), (N, A), (N, O)",
            )
        for name in ("observation", "action", "next_observation"):
            rows = np.flatnonzero(~np.isfinite(getattr(self, name)).all(axis=1))
            if rows.size:
                raise InvalidArgument(
                    f"{name} of step {rows[0]} is {getattr(self, name)[rows[0]]}",
                    hint="leave that step out and begin a new episode after it",
                    code="not-finite",
                )
        begins = np.flatnonzero(np.diff(self.episode, prepend=-1))
        if len(set(self.episode[begins].tolist())) < begins.size:
            raise InvalidArgument(
                "steps of an episode do not stand together",
                hint="sort the steps by episode",
                code="not-in-order",
            )

    def __len__(self) -> int:
        return self.episode.size

    @property
    def n_episodes(self) -> int:
        """Return the number of episodes."""
        return np.unique(self.episode).size

    @property
    def hash(self) -> str:
        """Return what identifies the steps."""
        return digest(
            self.episode, self.observation, self.action, self.next_observation
        )

    def starts(self, steps: int, *, before: int, apart: int) -> OffsetArray:
        """Return rows with `steps` steps from there and `before` ones in front of it.

        All in one episode; two starts in one episode are at least `apart` rows apart.
        """
        begin = np.flatnonzero(np.diff(self.episode, prepend=self.episode[:1] - 1))
        end = np.append(begin[1:], len(self))
        rows = [
            np.arange(first + before, last - steps + 1, apart)
            for first, last in zip(begin.tolist(), end.tolist(), strict=True)
        ]
        return np.concatenate(rows).astype(np.int64)
