"""Which Gymnasium environments are offered, with which options, under which names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import final

from simgap.errors import InvalidInstance
from simgap.instances.spelling import suggestion

FLAGS = (True, False)
MAPS = ("4x4", "8x8")


@final
@dataclass(frozen=True, slots=True)
class Environment:
    """One environment: its actions, its options and how its states are called."""

    gym_id: str
    about: str
    actions: tuple[str, ...]
    name: Callable[[int, int], str]  # (state, columns) -> its name
    columns: int
    # number that may vary between models -> the setting it needs
    parameters: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    # shared option -> (default, allowed values)
    settings: Mapping[str, tuple[bool | str, tuple[bool | str, ...]]] = field(
        default_factory=dict
    )
    refused: Mapping[str, str] = field(default_factory=dict)  # option -> why not

    def check_option(self, name: str) -> None:
        """Raise unless the environment has this option and `P` depends on it."""
        if name in self.refused:
            raise InvalidInstance(
                f"{self.gym_id} cannot be read with {name}", hint=self.refused[name]
            )
        offered = (*self.parameters, *self.settings)
        if name not in offered:
            raise InvalidInstance(
                f"{self.gym_id} has no parameter {name!r}",
                hint=suggestion(name, offered),
            )

    def check_setting(self, name: str, given: object) -> None:
        """Raise unless a shared option has one of its values."""
        allowed = self.settings[name][1] if name in self.settings else ()
        if given not in allowed:
            shown = ", ".join(str(value).lower() for value in allowed)
            raise InvalidInstance(
                f"{name} of {self.gym_id} is {given!r}",
                hint=f"it is one of {shown}"
                if shown
                else f"{name} varies between models: give it in the grid",
            )

    def default_setting(self, name: str) -> bool | str:
        return self.settings[name][0]

    def state_name(self, state: int, settings: Mapping[str, bool | str]) -> str:
        wide = 8 if settings.get("map_name") == "8x8" else self.columns
        return self.name(state, wide)


def environment(gym_id: str) -> Environment:
    """Return the description of an environment, or refuse with a suggestion."""
    if gym_id in ENVIRONMENTS:
        return ENVIRONMENTS[gym_id]
    family = gym_id.partition("-")[0].lower()
    if family == "blackjack":
        hint = "it has no transition table P; " + _listed()
    elif same := [
        name for name in ENVIRONMENTS if name.lower().startswith(family + "-")
    ]:
        hint = f"did you mean {same[0]!r}?"
    else:
        hint = suggestion(gym_id, tuple(ENVIRONMENTS))
    raise InvalidInstance(f"there is no environment {gym_id!r} to read", hint=hint)


def _listed() -> str:
    return "there are " + ", ".join(ENVIRONMENTS)


def _cell(state: int, columns: int) -> str:
    return f"r{state // columns}c{state % columns}"


def _taxi(state: int, columns: int) -> str:
    rest, destination = divmod(state, 4)
    rest, passenger = divmod(rest, 5)
    places = ("R", "G", "Y", "B", "taxi")
    return f"{_cell(rest, columns)}-{places[passenger]}-{places[destination]}"


_LAKE_MOVES = ("left", "down", "right", "up")
_CLIFF_MOVES = ("up", "right", "down", "left")
_SLIPPERY: tuple[bool | str, tuple[bool | str, ...]] = (True, FLAGS)
_NOT_IN_P = "the table P does not contain it, so it would be lost silently"

ENVIRONMENTS: Mapping[str, Environment] = {
    "FrozenLake-v1": Environment(
        gym_id="FrozenLake-v1",
        about="a slippery lake with holes; the goal pays 1",
        actions=_LAKE_MOVES,
        name=_cell,
        columns=4,
        parameters={"success_rate": ("is_slippery", True)},
        settings={"is_slippery": _SLIPPERY, "map_name": ("4x4", MAPS)},
    ),
    "FrozenLake8x8-v1": Environment(
        gym_id="FrozenLake8x8-v1",
        about="the lake with 64 cells",
        actions=_LAKE_MOVES,
        name=_cell,
        columns=8,
        parameters={"success_rate": ("is_slippery", True)},
        settings={"is_slippery": _SLIPPERY},
    ),
    "CliffWalking-v1": Environment(
        gym_id="CliffWalking-v1",
        about="a walk along a cliff; -1 per step, -100 for falling",
        actions=_CLIFF_MOVES,
        name=_cell,
        columns=12,
        settings={"is_slippery": (False, FLAGS)},
    ),
    "CliffWalkingSlippery-v1": Environment(
        gym_id="CliffWalkingSlippery-v1",
        about="the same walk on ice",
        actions=_CLIFF_MOVES,
        name=_cell,
        columns=12,
        refused={
            "is_slippery": "it is always slippery; CliffWalking-v1 has the choice"
        },
    ),
    "Taxi-v4": Environment(
        gym_id="Taxi-v4",
        about="pick a passenger up and drop them; 500 states, 300 starts",
        actions=("south", "north", "east", "west", "pickup", "dropoff"),
        name=_taxi,
        columns=5,
        parameters={"rainy_probability": ("is_rainy", True)},
        settings={"is_rainy": (False, FLAGS)},
        refused={"fickle_passenger": _NOT_IN_P, "fickle_probability": _NOT_IN_P},
    ),
}
