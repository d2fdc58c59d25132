"""Two links that hang from a pivot, a motor between them: `Acrobot-v1`.

The free end is to be swung above a line. The equations are those of the book (Sutton
and Barto) in Gymnasium's form and with its Runge-Kutta step. The length of the second
link is not a parameter: no equation has it.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from simgap.continuous.interfaces import Box, Choices, Parameter
from simgap.continuous.simulators.jax_task import JaxTask
from simgap.continuous.simulators.tasks.classic import evenly

STEP = 0.2  # s
FASTEST = 4 * pi, 9 * pi  # rad/s


def _start(theta: Any, key: Any) -> Any:
    return evenly(key, [-0.1] * 4, [0.1] * 4)


def _observe(state: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    one, two = state[0], state[1]
    angles = [jnp.cos(one), jnp.sin(one), jnp.cos(two), jnp.sin(two)]
    return jnp.stack([*angles, state[2], state[3]])


def _step(state: Any, action: Any, theta: Any, key: Any) -> Any:
    import jax.numpy as jnp

    torque = (action - 1) * theta["torque"]
    first = _slope(state, torque, theta)
    second = _slope(state + STEP / 2.0 * first, torque, theta)
    third = _slope(state + STEP / 2.0 * second, torque, theta)
    fourth = _slope(state + STEP * third, torque, theta)
    moved = state + STEP / 6.0 * (first + 2 * second + 2 * third + fourth)
    after = jnp.stack(
        [
            _wrapped(moved[0]),
            _wrapped(moved[1]),
            jnp.clip(moved[2], -FASTEST[0], FASTEST[0]),
            jnp.clip(moved[3], -FASTEST[1], FASTEST[1]),
        ]
    )
    ended = _success(after, theta)
    return after, jnp.where(ended, 0.0, -1.0), ended


def _slope(state: Any, torque: Any, theta: Any) -> Any:
    """Return how fast angles and angular speeds change."""
    import jax.numpy as jnp

    m1, m2, moi = theta["link_mass_1"], theta["link_mass_2"], theta["link_moi"]
    l1, g = theta["link_length_1"], theta["gravity"]
    lc1, lc2 = theta["link_com_pos_1"], theta["link_com_pos_2"]
    one, two, speed1, speed2 = state
    cos, sin = jnp.cos(two), jnp.sin(two)
    d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos) + moi + moi
    d2 = m2 * (lc2**2 + l1 * lc2 * cos) + moi
    phi2 = m2 * lc2 * g * jnp.cos(one + two - pi / 2.0)
    phi1 = (
        -m2 * l1 * lc2 * speed2**2 * sin
        - 2 * m2 * l1 * lc2 * speed2 * speed1 * sin
        + (m1 * lc1 + m2 * l1) * g * jnp.cos(one - pi / 2)
        + phi2
    )
    acceleration2 = (
        torque + d2 / d1 * phi1 - m2 * l1 * lc2 * speed1**2 * sin - phi2
    ) / (m2 * lc2**2 + moi - d2**2 / d1)
    acceleration1 = -(d2 * acceleration2 + phi1) / d1
    return jnp.stack([speed1, speed2, acceleration1, acceleration2])


def _wrapped(angle: Any) -> Any:
    """Return the same angle between -pi and pi; one that is there stays as it is."""
    import jax.numpy as jnp

    over = jnp.ceil((angle - pi) / (2 * pi)).clip(0.0)
    under = jnp.floor((angle + pi) / (2 * pi)).clip(None, 0.0)
    return angle - 2 * pi * (over + under)


def _place(seen: Any, theta: Any) -> Any:
    import jax.numpy as jnp

    one, two = jnp.arctan2(seen[1], seen[0]), jnp.arctan2(seen[3], seen[2])
    return jnp.stack([one, two, seen[4], seen[5]])


def _success(state: Any, theta: Any) -> Any:
    import jax.numpy as jnp

    return -jnp.cos(state[0]) - jnp.cos(state[1] + state[0]) > 1.0


def _return_bounds(steps: int) -> tuple[float, float]:
    return -float(steps), 0.0


def _positive(name: str, nominal: float, unit: str, meaning: str) -> Parameter:
    return Parameter(name, nominal, 0.0, low_open=True, unit=unit, meaning=meaning)


ENDS = np.array([1.0, 1.0, 1.0, 1.0, *FASTEST])

ACROBOT = JaxTask(
    name="acrobot",
    parameters=(
        _positive("link_length_1", 1.0, "m", "of the upper link"),
        _positive("link_mass_1", 1.0, "kg", "of the upper link"),
        _positive("link_mass_2", 1.0, "kg", "of the lower link"),
        _positive("link_com_pos_1", 0.5, "m", "from pivot to the upper centre of mass"),
        _positive("link_com_pos_2", 0.5, "m", "from joint to the lower centre of mass"),
        _positive("link_moi", 1.0, "kg m^2", "moment of inertia of each link"),
        Parameter("gravity", 9.8, 0.0, unit="m/s^2", meaning="pull on the links"),
        Parameter("torque", 1.0, unit="N m", meaning="of a push; negative: swapped"),
    ),
    observation=Box(-ENDS, ENDS),
    action=Choices(3),
    horizon=500,
    seconds=STEP,
    start=_start,
    observe=_observe,
    step=_step,
    place=_place,
    success=_success,
    return_bounds=_return_bounds,
)
