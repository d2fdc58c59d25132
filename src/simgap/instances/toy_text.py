"""Gymnasium's toy-text environments as classes over a grid of their parameters.

The tables come from `env.unwrapped.P`, with these choices, all stated in `notes`:

* duplicate successors are added up, and the reward of (s, a) is the mean over its
  successors, so it may depend on the model;
* Gymnasium does not check `success_rate`; values outside [0, 1] are refused here;
* a state entered with `terminated` is terminal. Its own rows are ignored (Taxi ships
  moves there). It stays a state; with `Terminal.RESTART` every action in it leads to
  the start distribution with reward 0. This convention, not the direct redirect to the
  start, gives the published diameters of FrozenLake (633/11 at success 1/3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray, OffsetArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import PROBABILITY, Points, checked_grid, checked_points
from simgap.instances.gym_tables import ENVIRONMENTS, Environment, environment
from simgap.mdp import (
    Details,
    Parameters,
    SimulatorClass,
    class_from_edges,
    name_of,
)

Setting = bool | str
NOTHING: Mapping[str, Any] = {}


class Terminal(Enum):
    """What follows the end of an episode, which an MDP with a horizon does not have."""

    RESTART = "restart"
    ABSORB = "absorb"
    ERROR = "error"


class RewardScale(Enum):
    """Both keep the environment's own rewards; solvers need no scale, old texts do."""

    ORIGINAL = "original"
    UNIT = "unit"


class StateSet(Enum):
    """Which states are kept; `ALL` keeps the numbering of Gymnasium."""

    ALL = "all"
    REACHABLE = "reachable"


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """P of one environment: edges (n, 3), probabilities, mean rewards, terminals."""

    edges: OffsetArray
    probabilities: FloatArray
    rewards: FloatArray  # (S, A)
    terminal: BoolArray  # (S,)
    start: FloatArray  # (S,)


def toy_text(
    gym_id: str,
    *,
    grid: Mapping[str, Points] = NOTHING,
    settings: Mapping[str, Setting] = NOTHING,
    terminal: Terminal = Terminal.RESTART,
    states: StateSet = StateSet.ALL,
) -> SimulatorClass:
    """Return the class of a Gymnasium environment over a grid of its parameters.

    `grid` holds numbers that vary between models (success_rate), `settings` what all
    models share (map_name, is_slippery).
    """
    known = environment(gym_id)
    axes = _checked_axes(known, grid, settings)
    thetas = [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]
    tables = [_read(known, {**settings, **theta}) for theta in thetas]
    notes = [f"{gym_id} of gymnasium {_version()}"]
    tables = [_ended(table, known, terminal, notes) for table in tables]
    rewards = _shared(np.stack([t.rewards for t in tables]), notes)
    kept = _kept_states(tables, states, notes)
    names = [name_of(theta) or gym_id for theta in thetas]
    return _class(
        tables,
        rewards,
        kept,
        Details(
            start=_start(tables[0].start[kept]),
            model_names=names if len(set(names)) == len(names) else (),
            state_names=[known.state_name(int(s), settings) for s in kept],
            action_names=known.actions,
            parameters=Parameters(tuple(axes), _theta(thetas, axes)),
            notes=tuple(dict.fromkeys(notes)),
        ),
    )


def _checked_axes(
    known: Environment, grid: Mapping[str, Points], settings: Mapping[str, Setting]
) -> dict[str, tuple[float, ...]]:
    for name in (*grid, *settings):
        known.check_option(name)
    for name in settings:
        known.check_setting(name, settings[name])
    axes = {}
    for name, points in grid.items():
        switch, needed = known.parameters[name]
        default = known.default_setting(switch)
        if settings.get(switch, default) is not needed:
            raise InvalidInstance(
                f"{name} has no effect in {known.gym_id} unless {switch} is "
                f"{str(needed).lower()}",
                hint=f"add {switch}={str(needed).lower()}, or leave {name} out",
            )
        axes[name] = checked_points(name, points, PROBABILITY)
    return checked_grid(axes)


def _version() -> str:
    import gymnasium

    return str(gymnasium.__version__)


def _read(known: Environment, options: Mapping[str, Any]) -> _Table:
    import gymnasium

    env = gymnasium.make(known.gym_id, disable_env_checker=True, **options)
    try:
        inner: Any = env.unwrapped
        table: Mapping[int, Mapping[int, Any]] = inner.P
        n_states, n_actions = len(table), len(known.actions)
        edges, weights = [], []
        rewards = np.zeros((n_states, n_actions))
        terminal = np.zeros(n_states, np.bool_)
        for s, rows in table.items():
            for a, successors in rows.items():
                for probability, after, payment, done in successors:
                    edges.append((int(s), int(a), int(after)))
                    weights.append(float(probability))
                    rewards[s, a] += float(probability) * float(payment)
                    terminal[int(after)] |= bool(done)
        start = _start_law(inner, n_states)
    finally:
        env.close()
    return _Table(
        np.array(edges, np.int64), np.array(weights), rewards, terminal, start
    )


def _start_law(inner: Any, n_states: int) -> FloatArray:
    given = getattr(inner, "initial_state_distrib", None)
    if given is not None:
        return np.asarray(given, np.float64)
    law: FloatArray = np.zeros(n_states)
    law[int(inner.reset(seed=0)[0])] = 1.0
    return law


def _ended(
    table: _Table, known: Environment, terminal: Terminal, notes: list[str]
) -> _Table:
    """Replace the rows of terminal states, as `terminal` says."""
    ends = np.flatnonzero(table.terminal)
    if ends.size == 0:
        return table
    if terminal is Terminal.ERROR:
        raise InvalidInstance(
            f"{known.gym_id} ends in {ends.size} terminal states ({ends[:5].tolist()}"
            f"{'...' if ends.size > 5 else ''})",
            hint="choose terminal=restart (back to the start) or terminal=absorb",
        )
    n_actions = len(known.actions)
    states = np.repeat(ends, n_actions)
    actions = np.tile(np.arange(n_actions), ends.size)
    if terminal is Terminal.RESTART:
        first = np.flatnonzero(table.start)
        after, share = np.tile(first, states.size), table.start[first]
        states, actions = np.repeat(states, first.size), np.repeat(actions, first.size)
        weights = np.tile(share, ends.size * n_actions)
        told = "a terminal state leads to the start with reward 0, in one step"
    else:
        after, weights = states, np.ones(states.size)
        told = "a terminal state is kept for ever with reward 0"
    notes.append(f"terminal={terminal.value}: {told}")
    stays = ~table.terminal[table.edges[:, 0]]
    rewards = np.where(table.terminal[:, None], 0.0, table.rewards)
    return _Table(
        np.concatenate([table.edges[stays], np.column_stack([states, actions, after])]),
        np.concatenate([table.probabilities[stays], weights]),
        rewards,
        table.terminal,
        table.start,
    )


def _shared(rewards: FloatArray, notes: list[str]) -> FloatArray:
    if (rewards == rewards[:1]).all():
        return rewards[:1]
    notes.append("rewards depend on the model: they are means over successors")
    return rewards


def _kept_states(
    tables: list[_Table], states: StateSet, notes: list[str]
) -> OffsetArray:
    """Return the states kept; a state counts as reached if some model reaches it."""
    reached = tables[0].start > 0.0
    for table in tables:
        reached |= table.start > 0.0
    used = [table.edges[table.probabilities > 0.0] for table in tables]
    edges = np.unique(np.concatenate(used)[:, [0, 2]], axis=0)
    while True:
        wider = reached.copy()
        wider[edges[reached[edges[:, 0]], 1]] = True
        if (wider == reached).all():
            break
        reached = wider
    missed = int((~reached).sum())
    if missed and states is StateSet.ALL:
        notes.append(
            f"{missed} states cannot be reached from the start, so the diameter is "
            "infinite; states=reachable leaves them out"
        )
    if missed and states is StateSet.REACHABLE:
        notes.append(f"states=reachable: {missed} states left out")
    everything = np.ones_like(reached)
    return np.flatnonzero(reached if states is StateSet.REACHABLE else everything)


def _class(
    tables: list[_Table], rewards: FloatArray, kept: OffsetArray, details: Details
) -> SimulatorClass:
    n_states, n_actions = rewards.shape[1:]
    number = np.full(n_states, -1)
    number[kept] = np.arange(kept.size)
    blocks, weights = [], []
    for model, table in enumerate(tables):
        inside = number[table.edges[:, 0]] >= 0
        s, a, after = table.edges[inside].T
        used = table.probabilities[inside] > 0.0
        columns = [np.full(s.size, model), number[s], a, number[after]]
        blocks.append(np.column_stack(columns)[used])
        weights.append(table.probabilities[inside][used])
    return class_from_edges(
        np.concatenate(blocks),
        np.concatenate(weights),
        rewards[:, kept],
        shape=(len(tables), kept.size, n_actions),
        details=details,
    )


def _start(law: FloatArray) -> FloatArray | int:
    sure = np.flatnonzero(law == 1.0)
    return int(sure[0]) if sure.size else law


def _theta(
    thetas: list[dict[str, float]], axes: Mapping[str, tuple[float, ...]]
) -> FloatArray:
    rows = [[theta[name] for name in axes] for theta in thetas]
    return np.array(rows, np.float64).reshape(len(thetas), len(axes))


def gym_ids() -> tuple[str, ...]:
    """Return the environments that can be named after `gym:`."""
    return tuple(ENVIRONMENTS)
