"""The equations of Gymnasium's classic control, for many states at once.

The same formulas, clipping, time step and order of operations as `Pendulum-v1`,
`MountainCar-v0` and `CartPole-v1`; tests compare them step by step. States are arrays
(..., d) of NumPy (float64: the tables) or of JAX: a formula asks its state which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, pi
from typing import Any, final

import numpy as np

from simgap.arrays import BoolArray, FloatArray
from simgap.errors import InvalidInstance
from simgap.instances.arguments import Interval
from simgap.instances.spelling import suggestion
from simgap.mdp import Moved, Theta

POSITIVE = Interval(0.0, low_open=True)
NOT_NEGATIVE = Interval(0.0)
ANY = Interval(-inf, inf)

TORQUE, SPEED = 2.0, 8.0  # Pendulum: greatest torque and angular speed
FALLEN = 12 * 2 * pi / 360  # CartPole: angle at which an episode ends
TRACK = 2.4  # CartPole: where the track ends


@final
@dataclass(frozen=True, slots=True)
class PhysicalParameter:
    """A number of the simulator that models may differ in."""

    default: float
    allowed: Interval
    meaning: str
    attribute: str  # of Gymnasium's environment
    unit: str = ""

    @property
    def described(self) -> str:
        """Return the meaning with the unit, for a person."""
        return ", ".join(filter(None, (self.meaning, self.unit)))


@final
@dataclass(frozen=True, slots=True)
class Coordinate:
    """An axis of the state without its number of nodes."""

    name: str
    low: float
    high: float
    periodic: bool = False


@final
@dataclass(frozen=True, slots=True)
class Control:
    """One environment: its parameters, coordinates, actions and equations."""

    gym_id: str
    about: str
    parameters: Mapping[str, PhysicalParameter]
    coordinates: tuple[Coordinate, ...]
    cells: tuple[int, ...]  # unless others are asked for
    step: Callable[[Theta, FloatArray, FloatArray], Moved]
    actions: tuple[float, ...]  # () where the user says how many there are
    action_names: tuple[str, ...]
    start: tuple[tuple[float, float], ...]
    reward_range: tuple[float, float]
    ends: bool
    state_of: Callable[[Any], FloatArray]  # observations (..., O) -> (..., d)
    played: Callable[[float], Any]  # an action -> what env.step takes
    derived: Callable[[Any], None]  # recomputes what env derives from parameters


def control(gym_id: str) -> Control:
    """Return the description of an environment, or refuse with a suggestion."""
    if gym_id in CONTROLS:
        return CONTROLS[gym_id]
    family = gym_id.partition("-")[0].lower()
    same = [name for name in CONTROLS if name.lower().startswith(family + "-")]
    hint = f"did you mean {same[0]!r}?" if same else suggestion(gym_id, tuple(CONTROLS))
    raise InvalidInstance(f"there is no simulator {gym_id!r} to discretise", hint=hint)


def pendulum_step(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """Return one step of Pendulum-v1; the angle is 0 upright and is not wrapped."""
    xp = _namespace(state)
    g, m, length, dt = theta["g"], theta["mass"], theta["length"], 0.05
    angle, speed = state[..., 0], state[..., 1]
    u = xp.clip(action, -TORQUE, TORQUE)
    wrapped = xp.mod(angle + pi, 2 * pi) - pi
    cost = wrapped**2 + 0.1 * speed**2 + 0.001 * u**2
    pull = 3 * g / (2 * length) * xp.sin(angle) + 3.0 / (m * length**2) * u
    faster = xp.clip(speed + pull * dt, -SPEED, SPEED)
    return Moved(
        xp.stack([angle + faster * dt, faster], axis=-1),
        -cost,
        xp.zeros(state.shape[:-1], xp.bool_),
    )


def mountain_car_step(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """Return one step of MountainCar-v0; the goal is position 0.5, not moving back."""
    push = (action - 1.0) * theta["force"]
    after, ended = pushed_car(state, push, theta["gravity"], goal=0.5)
    return Moved(after, _namespace(state).full(state.shape[:-1], -1.0), ended)


def pushed_car(
    state: FloatArray, push: FloatArray, gravity: float, *, goal: float
) -> tuple[FloatArray, BoolArray]:
    """Return where a car in the valley gets to, and whether that is the goal."""
    xp = _namespace(state)
    position, velocity = state[..., 0], state[..., 1]
    velocity = velocity + (push + xp.cos(3 * position) * (-gravity))
    velocity = xp.clip(velocity, -0.07, 0.07)
    position = xp.clip(position + velocity, -1.2, 0.6)
    velocity = xp.where((position == -1.2) & (velocity < 0.0), 0.0, velocity)
    after = xp.stack([position, velocity], axis=-1)
    return after, (position >= goal) & (velocity >= 0.0)


def cart_pole_step(theta: Theta, state: FloatArray, action: FloatArray) -> Moved:
    """Return one step of CartPole-v1 (Euler); `length` is half the pole's."""
    xp = _namespace(state)
    force = xp.where(action == 1.0, theta["force_mag"], -theta["force_mag"])
    return pushed_cart(theta, state, force)


def pushed_cart(theta: Theta, state: FloatArray, force: FloatArray) -> Moved:
    """Return one step of a cart with a pole under a force; every step pays 1."""
    xp = _namespace(state)
    dt = 0.02
    total = theta["masspole"] + theta["masscart"]
    moment = theta["masspole"] * theta["length"]
    x, x_dot, angle, turning = (state[..., i] for i in range(4))
    cos, sin = xp.cos(angle), xp.sin(angle)
    temp = (force + moment * xp.square(turning) * sin) / total
    angle_acc = (theta["gravity"] * sin - cos * temp) / (
        theta["length"] * (4.0 / 3.0 - theta["masspole"] * xp.square(cos) / total)
    )
    x_acc = temp - moment * angle_acc * cos / total
    after = xp.stack(
        [
            x + dt * x_dot,
            x_dot + dt * x_acc,
            angle + dt * turning,
            turning + dt * angle_acc,
        ],
        axis=-1,
    )
    ended = (xp.abs(after[..., 0]) > TRACK) | (xp.abs(after[..., 2]) > FALLEN)
    return Moved(after, xp.ones(state.shape[:-1]), ended)


def _namespace(state: Any) -> Any:
    """Return the functions for an array: `numpy` or `jax.numpy`."""
    return state.__array_namespace__()


def _angle_and_speed(observation: Any) -> FloatArray:
    cos, sin, speed = np.moveaxis(np.asarray(observation, np.float64), -1, 0)
    return np.stack([np.arctan2(sin, cos), speed], axis=-1)


def _as_it_is(observation: Any) -> FloatArray:
    return np.asarray(observation, np.float64)


def _torque(action: float) -> Any:
    return np.array([action])


def _number(action: float) -> Any:
    return int(action)


def _nothing(env: Any) -> None:
    """Pendulum and MountainCar derive nothing from their parameters."""


def _cart_pole_sums(env: Any) -> None:
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length


CONTROLS: Mapping[str, Control] = {
    "Pendulum-v1": Control(
        gym_id="Pendulum-v1",
        about="swing a pendulum up and hold it, with too little torque to lift it",
        parameters={
            "mass": PhysicalParameter(1.0, POSITIVE, "of the pendulum", "m", "kg"),
            "length": PhysicalParameter(1.0, POSITIVE, "of the pendulum", "l", "m"),
            "g": PhysicalParameter(10.0, NOT_NEGATIVE, "gravity", "g", "m/s^2"),
        },
        coordinates=(
            Coordinate("angle", -pi, pi, periodic=True),
            Coordinate("speed", -SPEED, SPEED),
        ),
        cells=(41, 41),
        step=pendulum_step,
        actions=(),
        action_names=(),
        start=((-pi, pi), (-1.0, 1.0)),
        reward_range=(-(pi**2 + 0.1 * SPEED**2 + 0.001 * TORQUE**2), 0.0),
        ends=False,
        state_of=_angle_and_speed,
        played=_torque,
        derived=_nothing,
    ),
    "MountainCar-v0": Control(
        gym_id="MountainCar-v0",
        about="a weak car that needs a run-up to get out of a valley",
        parameters={
            "gravity": PhysicalParameter(
                0.0025, NOT_NEGATIVE, "pull of the valley", "gravity"
            ),
            "force": PhysicalParameter(
                0.001, ANY, "of the engine; negative: gears swapped", "force"
            ),
        },
        # positions beyond the goal at 0.5 are ends, not states
        coordinates=(
            Coordinate("position", -1.2, 0.5),
            Coordinate("velocity", -0.07, 0.07),
        ),
        cells=(61, 61),
        step=mountain_car_step,
        actions=(0.0, 1.0, 2.0),
        action_names=("left", "coast", "right"),
        start=((-0.6, -0.4), (0.0, 0.0)),
        reward_range=(-1.0, 0.0),
        ends=True,
        state_of=_as_it_is,
        played=_number,
        derived=_nothing,
    ),
    "CartPole-v1": Control(
        gym_id="CartPole-v1",
        about="keep a pole upright on a cart; four coordinates, so coarse",
        parameters={
            "gravity": PhysicalParameter(
                9.8, NOT_NEGATIVE, "pull on the pole", "gravity", "m/s^2"
            ),
            "masscart": PhysicalParameter(
                1.0, POSITIVE, "of the cart", "masscart", "kg"
            ),
            "masspole": PhysicalParameter(
                0.1, POSITIVE, "of the pole", "masspole", "kg"
            ),
            "length": PhysicalParameter(
                0.5, POSITIVE, "half the pole's", "length", "m"
            ),
            "force_mag": PhysicalParameter(
                10.0, ANY, "of a push; negative: sides swapped", "force_mag", "N"
            ),
        },
        # speeds have no limit in the simulator: faster ones are moved to these ends
        coordinates=(
            Coordinate("x", -TRACK, TRACK),
            Coordinate("x_dot", -3.0, 3.0),
            Coordinate("angle", -FALLEN, FALLEN),
            Coordinate("turning", -3.5, 3.5),
        ),
        cells=(7, 7, 9, 9),
        step=cart_pole_step,
        actions=(0.0, 1.0),
        action_names=("left", "right"),
        start=((-0.05, 0.05),) * 4,
        reward_range=(0.0, 1.0),
        ends=True,
        state_of=_as_it_is,
        played=_number,
        derived=_cart_pole_sums,
    ),
}
