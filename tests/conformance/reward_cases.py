"""Classes whose rewards are negative, shifted, scaled or paid after an end.

Instances and files, each by the name that the command line knows it by.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.cli.app.main import main
from simgap.cli.app.models import read_model
from simgap.interop import save_model
from simgap.mdp import (
    Details,
    IndexOrder,
    LatentMDP,
    Parameters,
    RewardUnits,
    class_from_arrays,
)

PLAIN = RewardUnits()
INSTANCES = (
    "riverswim?states=3&success=0.2,0.6&left_reward=0.4",
    "gym:FrozenLake-v1?success_rate=0.5,0.9",
    "gym:FrozenLake-v1?success_rate=0.5,0.9&terminal=absorb&reward=unit",
    "gym:CliffWalking-v1?reward=unit",
    "gym:CliffWalking-v1?terminal=absorb",
    "gym:CliffWalkingSlippery-v1?reward=unit",
    "gym:Taxi-v4?rainy_probability=0.5,0.9&is_rainy=true&terminal=absorb",
    "discretise:Pendulum-v1?mass=0.7,1.3&cells=5x5",
    "discretise:Pendulum-v1?length=0.7,1.3&cells=4x5",
    "discretise:MountainCar-v0?gravity=0.0022,0.0028&cells=7x5",
    "discretise:MountainCar-v0?cells=6x5&terminal=absorb",
    "discretise:CartPole-v1?length=0.3,1.0&cells=2x2x3x2",
)
FILES = tuple(
    (f"{kind}-{offset}-{factor}{ending}", kind, offset, factor, ending)
    for at, (offset, factor) in enumerate(
        ((0.0, 1.0), (-1.0, 6.0), (-100.0, 99.0), (1e6, 1.0), (7.0, 1e-6), (-0.1, 0.3))
    )
    for kind, ending in (
        ("written", ".npz"),
        ("meant", (".npz", ".simgap")[at % 2]),
        ("terminal", (".simgap", ".npz")[at % 2]),
    )
)


@final
@dataclass(frozen=True)
class Case:
    """A class by the name that the command line knows it by."""

    argument: str
    rewards: FloatArray | None  # (M, S, A), the user's own; None: those of an instance

    @property
    def latent(self) -> LatentMDP:
        return read(self.argument)

    def verb(self, verb: str, *options: str) -> Any:
        return answer(verb, self.argument, *options)


@cache
def read(argument: str) -> LatentMDP:
    return read_model(argument).latent


@cache
def answer(verb: str, *arguments: str) -> Any:
    from contextlib import redirect_stderr, redirect_stdout
    from io import StringIO

    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        status = main([verb, *arguments, "--json"])
    assert status in (0, 1), (verb, arguments)
    return json.loads(out.getvalue())


def case_of_file(
    folder: Path, name: str, kind: str, offset: float, factor: float, ending: str
) -> Case:
    """Three models in eighths, with rewards written in [0, 1] or as they are meant."""
    rng = np.random.default_rng(len(name))
    drawn = rng.multinomial(6, [1 / 3] * 3, size=(3, 3, 2))
    kernel = (drawn + np.array([1, 0, 1])) / 8.0
    inner = rng.integers(0, 9, (3, 3, 2)) / 8.0
    if kind == "terminal":
        kernel[:, 2], inner[:, 2] = [0.0, 0.0, 1.0], -offset / factor  # paid 0 for ever
    meant = offset + factor * inner
    written = kind == "written"
    theta = Parameters(("grip",), np.array([[0.1], [0.2], [0.4]]))
    path = folder / name
    if written:  # the way to write such a file without simgap
        np.savez(
            path, transitions=kernel, rewards=inner, reward_offset=offset,
            reward_factor=factor, parameters=theta.values, parameter_names=theta.names,
        )  # fmt: skip
    else:
        units = RewardUnits(offset, factor)
        details = Details(parameters=theta, units=units if ending == ".npz" else PLAIN)
        rewards = inner if ending == ".npz" else meant
        order = IndexOrder.STATE_ACTION
        worlds = class_from_arrays(kernel, rewards, order=order, details=details)
        save_model(LatentMDP.uniform(worlds), path)
    return Case(str(path), meant)
