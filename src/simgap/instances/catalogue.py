"""The one table of instances by name, and strings such as `riverswim?states=6`.

    name?key=value&key=value        an instance of this table
    gym:ID?key=value&key=value      a Gymnasium environment (see `toy_text`)
    discretise:ID?key=value&...     a Gymnasium simulator on a grid (`classic_control`)

A value is a number (0.35, 1e-3, 1/3), a word or true/false. A parameter that varies
between models may also be a range `a:b:n` (n points from a to b inclusive) or a list
`a,b,c`; several such parameters form a product grid. A table of bandit means has its
rows, one per model, separated by `;`. `a..b`, every number between, is read by
`continuum`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from simgap.errors import InvalidInstance
from simgap.instances.absorbing import absorbing_doors, absorbing_doors_known
from simgap.instances.bandit import (
    bandit,
    bandit_known,
    best_arm,
    best_arm_known,
    needle,
    needle_known,
)
from simgap.instances.chain import (
    adverse,
    adverse_known,
    chain,
    chain_known,
    nodrift,
    nodrift_known,
)
from simgap.instances.classic_physics import CONTROLS, control
from simgap.instances.control_strings import control_of
from simgap.instances.cycle import cycle, cycle_known
from simgap.instances.grid import slip_grid, slip_grid_known
from simgap.instances.gym_tables import environment
from simgap.instances.known import Known
from simgap.instances.linear_bandit import linear_bandit, linear_bandit_known
from simgap.instances.random import garnet, garnet_known
from simgap.instances.random_mixture import garnet_mixture, garnet_mixture_known
from simgap.instances.riverswim import riverswim, riverswim_known
from simgap.instances.spelling import Kind, read_value, split_query, suggestion
from simgap.instances.switch import switch, switch_known
from simgap.instances.switch_tree import switch_tree, switch_tree_known
from simgap.instances.toy_text import RewardScale, StateSet, Terminal, gym_ids, toy_text
from simgap.instances.traps import (
    near_multichain,
    near_multichain_known,
    trap_door,
    trap_door_known,
    two_optima,
    two_optima_known,
)
from simgap.instances.windy import windy_grid, windy_grid_known
from simgap.mdp import SimulatorClass

GYM = "gym:"
DISCRETISE = "discretise:"
LONGEST_STRING = 10_000
_LOOKS_LIKE_ONE = re.compile(
    r"(gym|discreti[sz]e):.*|[A-Za-z][A-Za-z0-9_-]*(\?.*)?", re.DOTALL
)


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of an instance string; `default` is spelt as it would be in one."""

    kind: Kind
    default: str  # "" if the instance decides
    meaning: str


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """An instance: how to build it, what is known of it, what can be chosen."""

    build: Callable[..., SimulatorClass]
    known: Callable[..., Known]
    about: str
    parameters: Mapping[str, Parameter]


def build_instance(spec: str) -> SimulatorClass:
    """Return the class that an instance string names."""
    name, query = _split(spec)
    if name.startswith(GYM):
        return _build_gym(name.removeprefix(GYM), query)
    if name.startswith(DISCRETISE):
        return control_of(name.removeprefix(DISCRETISE), query).simulators
    entry = _entry(name)
    return entry.build(**_arguments(name, entry, query))


def closed_forms(spec: str) -> Known:
    """Return the closed forms of the class that `build_instance(spec)` returns."""
    name, query = _split(spec)
    if name.startswith(GYM):
        environment(name.removeprefix(GYM))
        return Known()
    if name.startswith(DISCRETISE):
        control(name.removeprefix(DISCRETISE))
        return Known()
    entry = _entry(name)
    return entry.known(**_arguments(name, entry, query))


def is_instance_string(text: str) -> bool:
    """Return whether a text is spelt like an instance string rather than a file.

    A bare word counts, known or not, so that a misspelt name is answered with the name
    that was meant; look for a file of that name first.
    """
    return _LOOKS_LIKE_ONE.fullmatch(text) is not None


def names() -> tuple[str, ...]:
    """Return every name that may stand before the question mark."""
    return (
        *CATALOGUE,
        *(GYM + gym_id for gym_id in gym_ids()),
        *(DISCRETISE + gym_id for gym_id in CONTROLS),
    )


def _split(spec: str) -> tuple[str, dict[str, str]]:
    if not isinstance(spec, str) or not spec.strip() or len(spec) > LONGEST_STRING:
        shown = repr(spec) if not isinstance(spec, str) or len(spec) < 80 else "it"
        raise InvalidInstance(
            f"{shown} is not an instance string",
            hint="write a name, or name?key=value&key=value",
        )
    name, mark, query = spec.strip().partition("?")
    if mark and not query:
        raise InvalidInstance(
            f"nothing follows the question mark of {spec!r}",
            hint="leave the question mark out, or add key=value",
        )
    return name, split_query(query) if mark else {}


def _entry(name: str) -> Entry:
    if name in CATALOGUE:
        return CATALOGUE[name]
    if name in gym_ids():
        hint = f"did you mean {GYM + name!r}?"
    elif name in CONTROLS:
        hint = f"did you mean {DISCRETISE + name!r}?"
    else:
        hint = suggestion(name, names())
    raise InvalidInstance(f"there is no instance {name!r}", hint=hint)


def _arguments(name: str, entry: Entry, query: Mapping[str, str]) -> dict[str, Any]:
    arguments = {}
    for key, text in query.items():
        if key not in entry.parameters:
            raise InvalidInstance(
                f"{name} has no parameter {key!r}",
                hint=suggestion(key, tuple(entry.parameters)),
            )
        arguments[key] = read_value(key, text, entry.parameters[key].kind)
    return arguments


def _build_gym(gym_id: str, query: Mapping[str, str]) -> SimulatorClass:
    if gym_id in CONTROLS:
        raise InvalidInstance(
            f"there is no environment {gym_id!r} to read: its states are continuous",
            hint=f"try {DISCRETISE + gym_id!r}; there are {', '.join(gym_ids())}",
        )
    described = environment(gym_id)
    grid: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    choices: dict[str, Any] = {}
    for key, text in query.items():
        if key in GYM_CHOICES:
            choices[key] = _choice(key, text)
        elif key in described.parameters:
            grid[key] = read_value(key, text, Kind.POINTS)
        elif key in described.settings:
            flag = isinstance(described.settings[key][0], bool)
            settings[key] = read_value(key, text, Kind.FLAG if flag else Kind.WORD)
        else:
            if key not in described.refused:
                offered = (*described.parameters, *described.settings, *GYM_CHOICES)
                raise InvalidInstance(
                    f"{gym_id} has no parameter {key!r}", hint=suggestion(key, offered)
                )
            described.check_option(key)
    choices.pop("reward", None)
    return toy_text(gym_id, grid=grid, settings=settings, **choices)


def _choice(key: str, text: str) -> Terminal | RewardScale | StateSet:
    offered = {member.value: member for member in GYM_CHOICES[key]}
    if text not in offered:
        raise InvalidInstance(
            f"{key} is {text!r}", hint=suggestion(text, tuple(offered))
        )
    return offered[text]


GYM_CHOICES: Mapping[str, type[Terminal] | type[RewardScale] | type[StateSet]] = {
    "terminal": Terminal,
    "reward": RewardScale,
    "states": StateSet,
}

CATALOGUE: Mapping[str, Entry] = {
    "absorbing_doors": Entry(
        absorbing_doors,
        absorbing_doors_known,
        "Proposition 1: one wrong door costs the horizon; infinite diameter",
        {"members": Parameter(Kind.WHOLE, "2", "doors, and models")},
    ),
    "adverse": Entry(
        adverse,
        adverse_known,
        "chain with up 1/5, down 2/5; exponential diameter",
        {"states": Parameter(Kind.WHOLE, "10", "length of the chain")},
    ),
    "bandit": Entry(
        bandit,
        bandit_known,
        "arms that lead to a winning state; one row of means per model",
        {"means": Parameter(Kind.TABLE, "0.5,0.6", "a row of means per model")},
    ),
    "best_arm": Entry(
        best_arm,
        best_arm_known,
        "bandit lower bound: M arms, model m has the better arm m",
        {
            "members": Parameter(Kind.WHOLE, "2", "arms, and models"),
            "e": Parameter(Kind.NUMBER, "0.1", "how much better, above 1/2"),
        },
    ),
    "chain": Entry(
        chain,
        chain_known,
        "one-action birth-death chain; the last state pays",
        {
            "states": Parameter(Kind.WHOLE, "6", "length of the chain"),
            "up": Parameter(Kind.POINTS, "0.2", "probability up"),
            "down": Parameter(Kind.POINTS, "0.4", "probability down"),
        },
    ),
    "cycle": Entry(
        cycle,
        cycle_known,
        "one-action cycle; the last state pays",
        {"states": Parameter(Kind.WHOLE, "3", "length of the cycle")},
    ),
    "garnet": Entry(
        garnet,
        garnet_known,
        "random communicating class of exact separation",
        {
            "states": Parameter(Kind.WHOLE, "8", "states"),
            "actions": Parameter(Kind.WHOLE, "2", "actions"),
            "branching": Parameter(Kind.WHOLE, "3", "successors of a row"),
            "members": Parameter(Kind.WHOLE, "3", "models"),
            "separation": Parameter(Kind.NUMBER, "0.5", "separation, in (0, 2]"),
            "seed": Parameter(Kind.WHOLE, "0", "seed of the generator"),
        },
    ),
    "garnet_mixture": Entry(
        garnet_mixture,
        garnet_mixture_known,
        "random class in which no single step tells the models apart",
        {
            "states": Parameter(Kind.WHOLE, "20", "states"),
            "actions": Parameter(Kind.WHOLE, "4", "actions"),
            "branching": Parameter(Kind.WHOLE, "3", "successors of a row"),
            "members": Parameter(Kind.WHOLE, "10", "models"),
            "mix": Parameter(Kind.NUMBER, "0.7", "part of a row that varies"),
            "density": Parameter(Kind.NUMBER, "0.3", "part of the rows that pay"),
            "seed": Parameter(Kind.WHOLE, "0", "seed of the generator"),
        },
    ),
    "linear_bandit": Entry(
        linear_bandit,
        linear_bandit_known,
        "Proposition 2: a large class on which the oracle does not explore",
        {
            "members": Parameter(Kind.WHOLE, "", "models; 25 unless p is given"),
            "p": Parameter(Kind.POINTS, "", "one per bad model, in (1/4, 1/2)"),
            "bonus": Parameter(
                Kind.NUMBER, "0.5", "of the winner's arm; 1/4 suits M >= H"
            ),
        },
    ),
    "near_multichain": Entry(
        near_multichain,
        near_multichain_known,
        "two cyclic rooms joined by a small probability",
        {
            "room": Parameter(Kind.WHOLE, "2", "states of a room"),
            "coupling": Parameter(Kind.POINTS, "0.001", "probability to change room"),
        },
    ),
    "needle": Entry(
        needle,
        needle_known,
        "M certain arms of which one wins, another in each model",
        {"members": Parameter(Kind.WHOLE, "4", "arms, and models")},
    ),
    "nodrift": Entry(
        nodrift,
        nodrift_known,
        "chain with up = down = 1/2; quadratic diameter",
        {"states": Parameter(Kind.WHOLE, "10", "length of the chain")},
    ),
    "riverswim": Entry(
        riverswim,
        riverswim_known,
        "swim against the current to the only large reward",
        {
            "states": Parameter(Kind.WHOLE, "6", "length of the river"),
            "success": Parameter(Kind.POINTS, "0.35", "probability up, inner states"),
            "down": Parameter(Kind.POINTS, "0.05", "probability down, inner states"),
            "left_reward": Parameter(Kind.NUMBER, "0.005", "reward on the left"),
            "uniform": Parameter(Kind.FLAG, "false", "the ends drift like the rest"),
        },
    ),
    "slip_grid": Entry(
        slip_grid,
        slip_grid_known,
        "gridworld whose floor is slippery; the goal restarts",
        {
            "rows": Parameter(Kind.WHOLE, "4", "rows"),
            "cols": Parameter(Kind.WHOLE, "", "columns; as many as rows"),
            "slip": Parameter(Kind.POINTS, "0.1", "probability to go to a side"),
        },
    ),
    "switch": Entry(
        switch,
        switch_known,
        "two-state switch of Jaksch, Ortner and Auer",
        {
            "delta": Parameter(Kind.POINTS, "0.1", "probability to flip"),
            "e": Parameter(Kind.POINTS, "0.05", "what the good action adds"),
        },
    ),
    "switch_tree": Entry(
        switch_tree,
        switch_tree_known,
        "Theorem 3: switches in a tree, one better pull per model",
        {
            "k": Parameter(Kind.WHOLE, "4", "switches"),
            "arms": Parameter(Kind.WHOLE, "2", "pulls per switch, A'"),
            "e": Parameter(Kind.NUMBER, "0.05", "what the better pull adds"),
            "members": Parameter(Kind.WHOLE, "2", "models, at most k * arms"),
            "delta": Parameter(Kind.NUMBER, "", "probability of a pull; 0.1"),
            "diameter": Parameter(Kind.NUMBER, "", "derive delta from it"),
            "null": Parameter(Kind.FLAG, "false", "add the model without better pull"),
        },
    ),
    "trap_door": Entry(
        trap_door,
        trap_door_known,
        "work that rarely falls into a pit",
        {
            "leak": Parameter(Kind.POINTS, "0.0001", "probability to fall"),
            "climb": Parameter(Kind.POINTS, "0.001", "probability to climb out"),
        },
    ),
    "two_optima": Entry(
        two_optima,
        two_optima_known,
        "a line with two optimal ends; the bias is not unique",
        {"states": Parameter(Kind.WHOLE, "5", "length of the line")},
    ),
    "windy_grid": Entry(
        windy_grid,
        windy_grid_known,
        "gridworld beside a cliff, wind of unknown direction and strength",
        {
            "size": Parameter(Kind.WHOLE, "10", "rows, and columns"),
            "strength": Parameter(Kind.POINTS, "", "of the wind; 0.15 and 0.45"),
        },
    ),
}
