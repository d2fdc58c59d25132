"""What is known of Gymnasium's own small environments: domains, followers, bounds.

Names, domains and followers of classic control are those of the discretised simulators.
An environment is recognised by its class, so that all its registered ids are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.continuous.interfaces import Parameter
from simgap.continuous.simulators.gym_parameters import Attribute, Way
from simgap.continuous.simulators.gym_worlds import Put
from simgap.instances import CONTROLS

Returns = Callable[[int], tuple[float, float]]  # of a horizon
Domain = tuple[float, float, bool]  # low, high, low end excluded


def _nothing(env: Any) -> None:
    """Nothing is computed from the parameters."""


@final
@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one environment."""

    parameters: Mapping[str, tuple[Parameter, Way]] = field(default_factory=dict)
    domains: Mapping[str, Domain] = field(default_factory=dict)  # of numbers found
    followers: Callable[[Any], None] = _nothing
    put: Put | None = None
    returns: Returns | None = None
    seconds: str = ""  # the attribute that says how long a step is
    # arguments that change what is paid, and so are no parameters of the world
    rewards: tuple[str, ...] = ()


def known_of(env: Any) -> Known:
    """Return what is known of an innermost environment; nothing of a stranger."""
    kind = type(env)
    return _KNOWN.get(f"{kind.__module__}.{kind.__qualname__}", Known())


def _control(
    gym_id: str, returns: Returns, rewards: tuple[str, ...] = (), seconds: str = ""
) -> Known:
    """Return what the discretised simulators know of a classic environment."""
    control = CONTROLS[gym_id]

    def put(env: Any, observation: FloatArray) -> None:
        env.unwrapped.state = control.state_of(observation)

    return Known(
        parameters={
            name: (
                Parameter(
                    name,
                    each.default,
                    each.allowed.low,
                    each.allowed.high,
                    each.allowed.low_open,
                    each.allowed.high_open,
                    unit=each.unit,
                    meaning=each.meaning,
                ),
                Attribute(each.attribute),
            )
            for name, each in control.parameters.items()
        },
        followers=control.derived,
        put=put,
        returns=returns,
        seconds=seconds,
        rewards=rewards,
    )


def _put_angles(env: Any, observation: FloatArray) -> None:
    cos1, sin1, cos2, sin2, *speeds = observation.tolist()
    angles = [np.arctan2(sin1, cos1), np.arctan2(sin2, cos2)]
    env.unwrapped.state = np.array([*angles, *speeds])


def _put_car(env: Any, observation: FloatArray) -> None:
    env.unwrapped.state = np.array(observation)


def _put_cell(env: Any, observation: FloatArray) -> None:
    env.unwrapped.s = int(observation[0])


_POSITIVE = (0.0, inf, True)
_PROBABILITY = (0.0, 1.0, False)
_CLASSIC = "gymnasium.envs.classic_control"
_TOY = "gymnasium.envs.toy_text"
_PENDULUM = CONTROLS["Pendulum-v1"].reward_range
_KNOWN: Mapping[str, Known] = {
    f"{_CLASSIC}.cartpole.CartPoleEnv": _control(
        "CartPole-v1", lambda h: (1.0, float(h)), ("sutton_barto_reward",), "tau"
    ),
    f"{_CLASSIC}.pendulum.PendulumEnv": _control(
        "Pendulum-v1", lambda h: (h * _PENDULUM[0], h * _PENDULUM[1]), seconds="dt"
    ),
    f"{_CLASSIC}.mountain_car.MountainCarEnv": _control(
        "MountainCar-v0", lambda h: (-float(h), 0.0)
    ),
    f"{_CLASSIC}.continuous_mountain_car.Continuous_MountainCarEnv": Known(
        put=_put_car, returns=lambda h: (-0.1 * h, 100.0)
    ),
    f"{_CLASSIC}.acrobot.AcrobotEnv": Known(
        domains={
            f"LINK_{what}_{which}": _POSITIVE
            for what in ("LENGTH", "MASS", "COM_POS")
            for which in (1, 2)
        }
        | {
            "LINK_MOI": _POSITIVE,
            "dt": _POSITIVE,
            "torque_noise_max": (0.0, inf, False),
        },
        put=_put_angles,
        seconds="dt",
        returns=lambda h: (-float(h), 0.0),
    ),
    f"{_TOY}.frozen_lake.FrozenLakeEnv": Known(
        domains={"success_rate": _PROBABILITY},
        put=_put_cell,
        returns=lambda h: (0.0, 1.0),
        rewards=("reward_schedule",),
    ),
    f"{_TOY}.cliffwalking.CliffWalkingEnv": Known(
        put=_put_cell, returns=lambda h: (-100.0 * h, 0.0)
    ),
    f"{_TOY}.taxi.TaxiEnv": Known(
        domains=dict.fromkeys(
            ("rainy_probability", "fickle_probability"), _PROBABILITY
        ),
        put=_put_cell,
        returns=lambda h: (-10.0 * h, 20.0),
    ),
}
