"""What would make a measurement wrong, looked for in a few episodes beforehand.

Every check can fail: parameters that change nothing, seeds that are ignored, bounds
that do not hold, a memory that is never used, actions beyond their ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray, OffsetArray
from simgap.continuous.interfaces import Batch, Box, BroughtPolicy, Simulator
from simgap.continuous.measuring.episodes import Episodes, run_episodes
from simgap.continuous.measuring.jobs import Work, episode_seeds, told_to_informed
from simgap.continuous.policies.actions import clips_actions
from simgap.continuous.policies.remembering import holds_memory
from simgap.continuous.randomization.binding import BoundRandomization
from simgap.continuous.simulators.effect import REPEATS, episodes_differ
from simgap.records.audit import Finding
from simgap.text import counted, number

PROBE = 8  # episodes at each of a few points
WITHOUT_EFFECT = "parameter-without-effect"  # code
LARGE = 10.0  # an observation beyond it is probably not normalised
REPETITIONS = {
    REPEATS: "the same seed and actions give the same episode",
    "seed-ignored": "the same seed and actions give another episode: the simulator "
    "ignores its seed, so that policies cannot be compared on the same luck",
    "global-random-state": "the simulator draws from the global generators of Python "
    "or numpy instead of self.np_random, so that an episode depends on those before it",
    "episodes-share-state": "something is left of an episode when the next one starts: "
    "reset() must begin anew",
    "worlds-share-state": "a world behaves otherwise beside one with other parameters: "
    "make() writes something that all worlds share, a global or an attribute of a "
    "class, so that returns are those of other parameters",
}
OFTEN = 0.05  # share of clipped actions that is worth a warning


def all_checks(work: Work, repeated: str) -> tuple[Finding, ...]:
    """Return every check of a simulator and its policies, in the order to read them.

    `repeated` is what `repetition` says of its episodes.
    """
    recorded = [_Recorded(policy) for policy in work.policies]
    probes = [_probe(work, each) for each in recorded]
    found = [*_parameters_act(work, repeated), *_seeds_repeat(repeated)]
    for recording, episodes in zip(recorded, probes, strict=True):
        found += [
            *_broken(recording, episodes),
            *_bounds(work, recording, episodes),
            *_memory(work, recording),
            *_repeats(recording),
            *_clipped(work, recording, episodes),
            *_scale(recording, episodes),
        ]
    return tuple(found)


def without_effect(
    simulator: Simulator, randomization: BoundRandomization
) -> tuple[str, ...]:
    """Return what is randomized and changes nothing between the ends of its range.

    The others are in the middle of theirs.
    """
    found = []
    for at, column in enumerate(randomization.columns):
        if column.varies:
            middle = np.full((2, len(randomization.columns)), 0.5)
            theta = randomization.quantile(middle)
            theta[:, at] = column.distribution.support  # a u of rows moves all of them
            values = randomization.values(theta)
            low, high = ({k: v[end] for k, v in values.items()} for end in (0, 1))
            if not episodes_differ(simulator, low, high):
                found.append(column.name)
    return tuple(found)


@final
@dataclass(slots=True, eq=False)
class _Recorded:
    """A policy, and what it saw and answered in the probe."""

    policy: BroughtPolicy
    seen: list[FloatArray]
    memories: list[Any]

    def __init__(self, policy: BroughtPolicy) -> None:
        self.policy, self.seen, self.memories = policy, [], []

    @property
    def name(self) -> str:
        return self.policy.name

    @property
    def clips(self) -> bool:
        return clips_actions(self.policy)

    def reset(self, batch: Batch) -> Any:
        return self.policy.reset(batch)

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        self.seen.append(observations.copy())
        self.memories.append(memory)
        return self.policy.act(observations, memory)


def _probe(work: Work, policy: _Recorded) -> Episodes:
    theta, seeds = _probe_points(work)
    worlds = work.simulator.instantiate(work.randomization.values(theta))
    batch = Batch(seeds, told_to_informed(work.randomization, theta))
    try:
        space = work.simulator.action
        return run_episodes(worlds, policy, space, work.horizon, batch)
    finally:
        worlds.close()


def _probe_points(work: Work) -> tuple[FloatArray, OffsetArray]:
    # nothing is randomized: there is one world
    points = np.arange(PROBE if work.randomization.names else 1)
    theta = work.randomization.sample(work.seed, points)
    return theta, episode_seeds(work.seed, points, np.arange(1))[:, 0]


def _parameters_act(work: Work, repeated: str) -> Iterator[Finding]:
    idle = without_effect(work.simulator, work.randomization)
    for column in work.randomization.columns:
        if not column.varies:
            text = f"{column.name} is not randomized"
            yield Finding("parameter acts", "fixed", "info", text)
            continue
        low, high = map(number, column.distribution.support)
        where = f"between {column.name}={low} and {column.name}={high}"
        same = column.name in idle
        if not same and repeated != REPEATS:
            text = f"episodes differ {where}, but so do those of the same values"
            yield Finding("parameter acts", "cannot-tell", "warning", text)
            continue
        yield Finding(
            "parameter acts",
            WITHOUT_EFFECT if same else "acts",
            "fail" if same else "ok",
            f"nothing changes {where}: is the parameter written where the simulator "
            "reads it, and do episodes come to where it matters?"
            if same
            else f"episodes differ {where}",
        )


def ends_of(randomization: BoundRandomization) -> list[dict[str, float]]:
    """Return two sets of values, near both ends of what is randomized."""
    theta = randomization.quantile(
        np.repeat([[0.05], [0.95]], len(randomization.names), axis=1)
    )
    values = randomization.values(theta)
    return [{name: float(each[at]) for name, each in values.items()} for at in (0, 1)]


def _seeds_repeat(repeated: str) -> Iterator[Finding]:
    same = repeated == REPEATS
    text = REPETITIONS[repeated]
    yield Finding("seeds repeat", repeated, "ok" if same else "fail", text)


def _broken(policy: _Recorded, episodes: Episodes) -> Iterator[Finding]:
    if episodes.broken:
        first = episodes.broken[0]
        yield Finding(
            "episodes",
            first.code,
            "fail",
            f"{policy.name}: {len(episodes.broken)} of {len(episodes.returns)} "
            f"episodes broke, the first one at step {first.step}: {first.text}",
            float(len(episodes.broken)),
        )
    else:
        mean = number(float(episodes.returns.mean()))
        ran = counted(len(episodes.returns), "episode")
        text = f"{policy.name}: {ran} ran, mean return {mean}"
        yield Finding("episodes", "run", "ok", text)


def _bounds(work: Work, policy: _Recorded, episodes: Episodes) -> Iterator[Finding]:
    bounds = work.bounds
    if bounds is None:
        yield Finding(
            "return bounds",
            "unknown",
            "info",
            "nothing is known about how large a return may be: intervals are "
            "approximate; declare bounds to get guaranteed ones",
        )
        return
    fine = episodes.returns[np.isfinite(episodes.returns)]
    outside = fine[(fine < bounds[0]) | (fine > bounds[1])]
    said = f"[{number(bounds[0])}, {number(bounds[1])}]"
    yield Finding(
        "return bounds",
        "broken" if outside.size else "kept",
        "fail" if outside.size else "ok",
        f"{policy.name} returned {number(float(outside[0]))}, declared are {said}"
        if outside.size
        else f"{policy.name} kept {said}",
    )


def _memory(work: Work, policy: _Recorded) -> Iterator[Finding]:
    """Look whether another past changes what is done now."""
    if not any(map(holds_memory, policy.memories[1:])):
        forgets = bool(getattr(policy.policy, "forgets", False))
        yield Finding(
            "memory",
            "state-not-fed-back" if forgets else "memoryless",
            "warning" if forgets else "info",
            f"{policy.name} has a recurrent layer without inputs and outputs for its "
            "state, so that it forgets everything at every step: export it again"
            if forgets
            else f"{policy.name} has no memory",
        )
        return
    changed = any(
        not np.array_equal(_answer(policy, seen, old), _answer(policy, seen, new))
        for seen, old, new in zip(
            policy.seen[1:], policy.memories, policy.memories[1:], strict=False
        )
    )
    yield Finding(
        "memory",
        "used" if changed else "unused",
        "ok" if changed else "warning",
        f"{policy.name}: what it remembers changes what it does"
        if changed
        else f"{policy.name} carries a memory that never changed an action: a state "
        "that is not fed back makes a recurrent policy memoryless",
    )


def _repeats(policy: _Recorded) -> Iterator[Finding]:
    if not policy.seen:
        return
    seen, memory = policy.seen[0], policy.memories[0]
    one, two = (_answer(policy, seen, memory) for _ in range(2))
    same = np.array_equal(one, two, equal_nan=True)
    yield Finding(
        "policy repeats",
        "repeats" if same else "draws-by-itself",
        "ok" if same else "warning",
        f"{policy.name}: the same input gives the same action"
        if same
        else f"{policy.name}: the same input gives another action: it draws random "
        "numbers of its own, so that runs do not repeat",
    )


def _clipped(work: Work, policy: _Recorded, episodes: Episodes) -> Iterator[Finding]:
    if not isinstance(work.simulator.action, Box):
        return
    share = episodes.clipped
    often = share > OFTEN
    yield Finding(
        "actions clipped",
        "often" if often else "seldom",
        "warning" if often else "ok",
        f"{policy.name}: {number(100 * share, 3)} % of its actions lie beyond the "
        "ends and are clipped"
        + (": is the scale of the actions the one it was trained with?" * often),
        share,
    )


def _scale(policy: _Recorded, episodes: Episodes) -> Iterator[Finding]:
    if not policy.seen:
        return
    seen = np.abs(np.concatenate(policy.seen))
    large = float((seen > LARGE).mean())
    doubtful = large > OFTEN and episodes.clipped > OFTEN
    yield Finding(
        "observations",
        "not-normalised" if doubtful else "scale",
        "warning" if doubtful else "info",
        f"{policy.name} saw numbers up to {number(float(seen.max()), 3)}, "
        f"{number(100 * large, 2)} % of them beyond {number(LARGE)}"
        + (
            "; with this many clipped actions a normaliser is probably missing"
            if doubtful
            else ""
        ),
        large,
    )


def _answer(policy: _Recorded, seen: FloatArray, memory: Any) -> FloatArray:
    raw, _ = policy.policy.act(seen, memory)
    return np.asarray(raw, np.float64)
