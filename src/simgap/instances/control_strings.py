"""Strings such as `discretise:Pendulum-v1?mass=0.5:2:5&cells=61x61`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simgap.errors import InvalidInstance
from simgap.instances.classic_control import classic_control
from simgap.instances.classic_physics import Control, control
from simgap.instances.spelling import Kind, read_value, suggestion
from simgap.instances.toy_text import Terminal
from simgap.mdp import Discretisation, Interpolation, NodeSet

CONTROL_CHOICES: Mapping[str, type[Terminal] | type[NodeSet] | type[Interpolation]] = {
    "scheme": Interpolation,
    "terminal": Terminal,
    "states": NodeSet,
}


def control_of(gym_id: str, query: Mapping[str, str]) -> Discretisation:
    """Return the discretisation that a name and its keys describe."""
    known = control(gym_id)
    offered = control_keys(known)
    grid: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for key, text in query.items():
        if key not in offered:
            raise InvalidInstance(
                f"{gym_id} has no parameter {key!r}",
                hint=suggestion(key, tuple(offered)),
            )
        if key in known.parameters:
            grid[key] = read_value(key, text, Kind.POINTS)
        elif key in CONTROL_CHOICES:
            others[key] = _choice(key, text)
        else:
            others[key] = read_value(
                key, text, Kind.CELLS if key == "cells" else Kind.WHOLE
            )
    return classic_control(gym_id, grid=grid, **others)


def control_keys(known: Control) -> dict[str, str]:
    """Return the keys of an environment's strings, each with its meaning."""
    cells = "x".join(str(nodes) for nodes in known.cells)
    numbers = {
        name: f"{each.described}; {Kind.POINTS.value}; default {each.default:g}"
        for name, each in known.parameters.items()
    }
    names = " x ".join(each.name for each in known.coordinates)
    sizes = {"cells": f"{Kind.CELLS.value} ({names}); default {cells}"}
    if not known.actions:
        sizes["actions"] = "evenly spaced torques from -2 to 2; default 5"
    choices = {
        key: f"one of {', '.join(str(each.value) for each in offered)}"
        for key, offered in CONTROL_CHOICES.items()
    }
    if known.ends:
        choices["terminal"] += (
            "; an episode that is over pays 0 and starts again (restart, the default) "
            "or stays over (absorb)"
        )
    else:
        choices["terminal"] += "; its episodes do not end"
    return numbers | sizes | choices


def _choice(key: str, text: str) -> Terminal | NodeSet | Interpolation:
    offered = {member.value: member for member in CONTROL_CHOICES[key]}
    if text not in offered:
        raise InvalidInstance(
            f"{key} is {text!r}", hint=suggestion(text, tuple(offered))
        )
    return offered[text]
