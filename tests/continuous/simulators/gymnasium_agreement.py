"""How far our equations are from Gymnasium's objects, measured (practical DR 1.5).

Pendulum, cart-pole and acrobot magnify the last bit of a number, at some parameters a
million times and more in 200 steps. So each of Gymnasium's objects has a shadow that
starts 1e-15 away: our trajectories may leave it as far as its shadow does, times 10.

As a program, with `JAX_ENABLE_X64=1`, it prints the differences in float64 as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from simgap.continuous import episode_keys, open_jax
from simgap.continuous.simulators.delay import neutral_action
from simgap.continuous.simulators.tasks.catalogue import TASKS

CHANGED, NOMINAL = 50, 10  # parameter sets that are not nominal, and that are
SETS, STATES, STEPS = CHANGED + NOMINAL, 40, 200  # states of each set, steps
SHADOW, TIMES = 1e-15, 10.0


@dataclass(frozen=True)
class Peer:
    """Gymnasium's environment of a task, and how to set and to see it."""

    gym_id: str
    attributes: Mapping[str, str]  # our name -> its attribute
    wide: tuple[float, ...]  # states are drawn up to here, both ways
    seen: Callable[[Any], Any]  # state -> observation, in float64
    middle: tuple[float, ...] = (0.0, 0.0, 0.0, 0.0)
    follow: Callable[[Any], None] = lambda env: None


def _cart_pole_followers(env: Any) -> None:
    env.total_mass = env.masspole + env.masscart
    env.polemass_length = env.masspole * env.length


def _torques(env: Any) -> None:
    env.AVAIL_TORQUE = [-env.torque, 0.0, env.torque]


PEERS = {
    "pendulum": Peer(
        "Pendulum-v1",
        {"mass": "m", "length": "l", "g": "g"},
        (9.0, 8.0),
        lambda s: np.array([np.cos(s[0]), np.sin(s[0]), s[1]]),
    ),
    "cartpole": Peer(
        "CartPole-v1",
        {n: n for n in ("gravity", "masscart", "masspole", "length", "force_mag")},
        (2.5, 3.0, 0.3, 3.0),
        np.array,
        follow=_cart_pole_followers,
    ),
    "acrobot": Peer(
        "Acrobot-v1",
        {
            n: n.upper()
            for n in (
                *("link_length_1", "link_mass_1", "link_mass_2"),
                *("link_com_pos_1", "link_com_pos_2", "link_moi"),
            )
        }
        | {"torque": "torque"},
        (3.14, 3.14, 6.0, 6.0),
        lambda s: np.array(
            [np.cos(s[0]), np.sin(s[0]), np.cos(s[1]), np.sin(s[1]), s[2], s[3]]
        ),
        follow=_torques,
    ),
    "mountain-car": Peer(
        "MountainCar-v0",
        {"gravity": "gravity", "force": "force"},
        (0.9, 0.07),
        np.array,
        middle=(-0.3, 0.0),
    ),
    "mountain-car-continuous": Peer(
        "MountainCarContinuous-v0",
        {"power": "power"},
        (0.9, 0.07),
        np.array,
        middle=(-0.3, 0.0),
    ),
}


@dataclass(frozen=True)
class Difference:
    """The greatest differences, and what must be equal."""

    one_step: float
    one_step_nominal: float  # at nominal parameters
    one_reward: float
    ends_equal: bool
    ends: int  # seen in all, in Gymnasium
    nominal: float = 0.0  # of whole trajectories, at nominal parameters
    changed: float = 0.0  # at all parameters, if the shadow stays within 1e-10
    steady: int = 0  # how many trajectories those are
    beyond: float = 0.0  # the greatest, in parts of max(1e-8, TIMES x the shadow's)


def drawn_thetas(name: str, kind: Any) -> dict[str, Any]:
    """Return values of every parameter Gymnasium has; the last sets are nominal."""
    random = np.random.default_rng(31)
    nominal = {each.name: each.nominal for each in open_jax(name).parameters}
    drawn = {
        key: nominal[key] * random.uniform(0.5, 1.8, SETS)
        for key in PEERS[name].attributes
    }
    if "force_mag" in drawn:
        drawn["force_mag"] *= random.choice([-1.0, 1.0], SETS)  # sides swapped
    for key, each in drawn.items():
        each[CHANGED:] = nominal[key]
    return {key: each.astype(kind).astype(float) for key, each in drawn.items()}


def peer_of(name: str, theta: Mapping[str, float], *, follow: bool = True) -> Any:
    """Return Gymnasium's own object with these parameters."""
    import gymnasium

    env: Any = gymnasium.make(PEERS[name].gym_id).unwrapped
    env.reset(seed=0)
    for key, attribute in PEERS[name].attributes.items():
        setattr(env, attribute, theta[key])
    if follow:
        PEERS[name].follow(env)
    return env


def peer_step(env: Any, action: Any) -> tuple[Any, float, bool]:
    """Return state, reward and end of a step; what was over goes on."""
    env.steps_beyond_terminated = None  # of CartPole, which counts them
    _, reward, ended, _, _ = env.step(action)
    return np.array(env.state, np.float64), float(reward), bool(ended)


def chosen(name: str, env: Any, random: Any) -> Any:
    """Return an action: random, of the cart one that keeps the pole up for a while."""
    if name == "cartpole":
        x, speed, angle, turning = env.state
        right = angle + 0.3 * turning + 0.02 * x + 0.05 * speed > 0.0
        return int(right == (env.force_mag > 0.0))
    space = env.action_space
    if hasattr(space, "n"):
        return int(random.integers(space.n))
    return random.uniform(space.low, space.high).astype(np.float64)


def all_of(name: str) -> Difference:
    """Return the differences of a task in float64: one step, and trajectories."""
    simulator = open_jax(name, precision=np.float64)
    thetas = drawn_thetas(name, np.float64)
    envs = peers_of(name, thetas)
    return trajectories(name, simulator, envs, thetas, one_steps(name, np.float64))


def peers_of(name: str, thetas: Any, *, follow: bool = True) -> list[Any]:
    """Return Gymnasium's objects for all parameter sets."""
    sets = ({key: each[i] for key, each in thetas.items()} for i in range(SETS))
    return [peer_of(name, theta, follow=follow) for theta in sets]


def one_steps(name: str, precision: Any, *, follow: bool = True) -> Difference:
    """Return the differences of one step from STATES random states of each set."""
    import jax

    peer, simulator = PEERS[name], open_jax(name, precision=precision)
    random = np.random.default_rng(7)
    thetas = drawn_thetas(name, precision)
    envs = peers_of(name, thetas, follow=follow)
    middle = np.array(peer.middle)[: len(peer.wide)]
    states = random.uniform(-1.0, 1.0, (SETS, STATES, len(peer.wide)))
    states = (middle + states * peer.wide).astype(precision)
    acts = [[chosen(name, env, random) for _ in range(STATES)] for env in envs]
    if name == "cartpole":
        acts = random.integers(2, size=(SETS, STATES)).tolist()
    nominal = {each.name: np.full(SETS, each.nominal) for each in simulator.parameters}
    given = {
        key: np.repeat(each, STATES).astype(precision)
        for key, each in (nominal | thetas).items()
    }
    acted = np.array(acts).reshape(SETS * STATES, *np.shape(acts[0][0]))
    if np.issubdtype(acted.dtype, np.floating):
        acted = acted.astype(precision)
    keys = jax.random.split(jax.random.key(0), SETS * STATES)
    after = jax.jit(jax.vmap(simulator.advance, in_axes=(0, 0, 0, 0, None)))(
        states.reshape(SETS * STATES, -1), acted, given, keys, 1
    )
    moved, rewards, ends_here = (
        np.asarray(each) for each in (after.state, after.reward, after.ended)
    )
    far, paid, equal, ends = np.zeros(SETS), 0.0, True, 0
    for i, env in enumerate(envs):
        for j in range(STATES):
            env.state = states[i, j].astype(np.float64)
            at = i * STATES + j
            state, reward, ended = peer_step(
                env, acts[i][j] if acted.ndim == 1 else acted[at].astype(np.float64)
            )
            far[i] = max(far[i], np.abs(moved[at] - state).max())
            paid = max(paid, abs(rewards[at] - reward))
            equal &= bool(ends_here[at]) == ended
            ends += ended
    return Difference(
        far.max().item(), far[CHANGED:].max().item(), float(paid), equal, ends
    )


def trajectories(
    name: str, simulator: Any, envs: Any, thetas: Any, one: Difference
) -> Difference:
    """Return what is found up to the end of an episode as well, at most STEPS."""
    random, peer = np.random.default_rng(11), PEERS[name]
    shadows = [copy(env) for env in envs]
    for i, (env, shadow) in enumerate(zip(envs, shadows, strict=True)):
        env.reset(seed=i)
        env.state = np.array(env.state, np.float64)  # Acrobot starts in float32
        shadow.state = env.state + SHADOW
    worlds = simulator.instantiate(thetas)
    worlds.place(np.stack([peer.seen(env.state) for env in envs]))
    far, own, equal, ends = np.zeros(SETS), np.zeros(SETS), one.ends_equal, one.ends
    alive = np.ones(SETS, np.bool_)
    for step in range(1, STEPS + 1):
        acts = [chosen(name, env, random) for env in envs]
        told = worlds.step(np.array(acts), alive)
        over = step >= (simulator.horizon or STEPS + 1)
        for i in np.flatnonzero(alive).tolist():
            state, reward, ended = peer_step(envs[i], acts[i])
            moved, other, _ = peer_step(shadows[i], acts[i])
            seen, shadow = peer.seen(state), peer.seen(moved)
            mine = np.append(told.observation[i] - seen, told.reward[i] - reward)
            far[i] = max(far[i], np.abs(mine).max())
            own[i] = max(own[i], np.abs(np.append(shadow - seen, other - reward)).max())
            equal &= bool(told.ended[i]) == (ended or over)
            ends, alive[i] = ends + ended, not ended
    steady = own <= 1e-10
    return replace(
        one,
        nominal=float(far[CHANGED:].max()),
        changed=float(far[steady].max(initial=0.0)),
        steady=int(steady.sum()),
        beyond=float((far / np.maximum(1e-8, TIMES * own)).max()),
        ends_equal=equal,
        ends=ends,
    )


def acrobot_gravity() -> float:
    """Return the difference where gravity is changed, which Gymnasium cannot.

    With c times the gravity and the torque everything happens the root of c faster.
    """
    import jax

    random, simulator = np.random.default_rng(3), open_jax("acrobot", precision=float)
    far = 0.0
    for factor in (0.3, 0.8, 1.7):
        root = np.sqrt(factor)
        env = peer_of("acrobot", dict.fromkeys(PEERS["acrobot"].attributes, 1.0))
        env.dt = 0.2 * root
        theta = dict.fromkeys(PEERS["acrobot"].attributes, 1.0)
        theta |= {"torque": factor, "gravity": 9.8 * factor}
        for action in (0, 1, 2):
            env.state = random.uniform(-1.0, 1.0, 4)
            given = env.state * [1.0, 1.0, root, root]
            after = simulator.advance(given, action, theta, jax.random.key(0), 1)
            state, _, _ = peer_step(env, action)
            far = max(far, np.abs(after.state - state * [1, 1, root, root]).max())
    return float(far)


def continuous_car_gravity() -> float:
    """Return the difference from the discrete car, whose gravity can be set."""
    import jax

    random = np.random.default_rng(4)
    simulator = open_jax("mountain-car-continuous", precision=float)
    far = 0.0
    for _ in range(50):
        gravity, force = random.uniform(0.001, 0.004), random.uniform(0.0005, 0.002)
        env = peer_of("mountain-car", {"gravity": gravity, "force": force})
        env.state = np.array([random.uniform(-1.1, 0.3), random.uniform(-0.06, 0.06)])
        theta, action = {"gravity": gravity, "power": force}, int(random.integers(3))
        command = np.array([action - 1.0])
        after = simulator.advance(env.state, command, theta, jax.random.key(0), 1)
        state, _, _ = peer_step(env, action)
        far = max(far, np.abs(after.state - state).max())
    return float(far)


def episode_of(name: str, precision: Any) -> list[float]:
    """Return what is seen at the start of an episode of a task, and a step later."""
    simulator = open_jax(name, precision=precision)
    theta = {each.name: precision(each.nominal) for each in simulator.parameters}
    theta |= {"gusts": precision(1.0)} if "gusts" in theta else {}
    key, action = episode_keys(np.array([5]))[0], neutral_action(simulator.action, 1)[0]
    state, seen = simulator.begin(theta, key)
    after = simulator.advance(state, action.astype(precision), theta, key, 1)
    return [*np.asarray(seen).tolist(), *np.asarray(after.observation).tolist()]


if __name__ == "__main__":
    gravity = {"acrobot": acrobot_gravity(), "car": continuous_car_gravity()}
    found = {name: asdict(all_of(name)) for name in PEERS}
    seen = {name: episode_of(name, np.float64) for name in TASKS}
    print(json.dumps({"tasks": found, "gravity": gravity, "seen": seen}))
