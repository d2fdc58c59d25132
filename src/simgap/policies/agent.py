"""Policies at work: an agent with a memory of its own, and episodes in Gymnasium."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, final

import numpy as np

from simgap.arrays import FloatArray, IndexArray, owned
from simgap.errors import InvalidArgument, OutsideClass
from simgap.policies.interface import Policy, Step

Memory = TypeVar("Memory")


@final
class Agent(Generic[Memory]):
    """A policy being run: call `reset`, then `act` and `observe` in turn.

    Actions are drawn with the agent's own generator, so that a seed repeats them. With
    `on_outside="flag"` an observation that no model with a positive prior allows does
    not raise: `outside` becomes true, the agent goes on, and `fallbacks` counts how
    often it had to stand in for its policy. A posterior stays what it was. Outside a
    policy graph the belief that the oracle saves with it plays on, from all that was
    seen; without one, another node of the same state; without that, chance.
    """

    def __init__(
        self,
        policy: Policy[Memory],
        *,
        seed: int = 0,
        on_outside: Literal["raise", "flag"] = "raise",
    ) -> None:
        if on_outside not in ("raise", "flag"):
            raise InvalidArgument(
                f"on_outside is {on_outside!r}", hint='it is "raise" or "flag"'
            )
        self.policy = policy
        self.outside = False  # whether this episode showed something impossible
        self.fallbacks = 0  # steps of this episode in which the policy had no answer
        self._flag = on_outside == "flag"
        self._random = np.random.default_rng(seed)
        self._spare: Agent[Any] | None = None  # watches until it is needed
        spare = getattr(policy, "fallback", None)
        if self._flag and spare is not None:
            self._spare = Agent(spare, on_outside="flag")
        self._memory: Memory | None = None
        self._state = -1  # no episode yet
        self._action = -1  # no action since the last observation
        self._steps = 0
        self._lost = False  # there is no memory to act on

    def copied(self) -> Agent[Memory]:
        """Return an agent that goes on from here without changing this one."""
        other = copy(self)
        bits: np.random.BitGenerator = np.random.PCG64(0)
        bits.state = self._random.bit_generator.state
        other._random = np.random.Generator(bits)
        other._spare = copy(self._spare)  # it draws nothing, and has no spare itself
        return other

    @property
    def memory(self) -> Memory | None:
        """What the policy remembers of this episode."""
        return self._memory

    @property
    def steps(self) -> int:
        """How many steps of this episode are over."""
        return self._steps

    def reset(self, observation: int) -> None:
        """Begin an episode in a state."""
        self.outside = self._lost = False
        self.fallbacks = 0
        self._state, self._action, self._steps = int(observation), -1, 0
        if self._spare is not None:
            self._spare.reset(self._state)
        try:
            self._memory = self.policy.start(self._state)
        except OutsideClass:
            if not self._flag:
                raise
            self._memory = None
            self._left()

    def act(self) -> int:
        """Return an action, drawn from the probabilities of the policy."""
        if self._state < 0:
            raise InvalidArgument(
                "the agent has no episode", hint="call reset(observation) first"
            )
        if self._lost:
            self.fallbacks += 1
        self._action = _drawn(self._chances(), float(self._random.random()))
        return self._action

    def observe(self, next_state: int) -> None:
        """Take in the state that followed the last action."""
        if self._action < 0:
            raise InvalidArgument(
                "the agent has not acted since it last observed",
                hint="call act() and observe(next_state) in turn",
            )
        step = Step(self._steps, self._state, self._action, int(next_state))
        self._state, self._action = step.next_state, -1
        self._steps += 1
        if self._spare is not None:
            self._spare._action = step.action
            self._spare.observe(step.next_state)
        if self._lost:
            self._find_a_node()
            return
        try:
            self._memory = self.policy.observe(self._memory, step)  # type: ignore[arg-type]
        except OutsideClass:
            if not self._flag:
                raise
            self._left()

    def _chances(self) -> FloatArray:
        """Return the probabilities of the next action."""
        if not self._lost:
            return self.policy.act(self._memory, self._steps, self._state)  # type: ignore[arg-type]
        if self._spare is not None:
            return self._spare._chances()
        sizes: Any = getattr(self.policy, "pattern", self.policy)
        count = getattr(sizes, "n_actions", None)
        if count is None:
            raise InvalidArgument(
                f"the policy {self.policy.name!r} has nothing to go on with in state "
                f"{self._state}",
                hint="the world is not in the class: add a model that allows this",
            )
        return np.full(count, 1.0 / count)

    def _left(self) -> None:
        """Go on after something impossible, with what there is."""
        self.outside = True
        horizon = getattr(self.policy, "horizon", None)
        if horizon is not None and self._steps >= horizon:
            return
        prior = getattr(self.policy, "prior", None)
        if prior is not None and self._memory is None:
            self._memory = tuple(prior.tolist())  # type: ignore[assignment]
        if self._memory is not None and self._usable():
            self.fallbacks += 1
            return
        self._lost = True
        self._find_a_node()

    def _usable(self) -> bool:
        """Return whether the memory is one for the state and the step."""
        try:
            self.policy.act(self._memory, self._steps, self._state)  # type: ignore[arg-type]
        except InvalidArgument:
            return False
        return True

    def _find_a_node(self) -> None:
        """Return to a graph that has a node of this state, if nothing else plays."""
        find = getattr(self.policy, "node_of", None)
        if self._spare is not None or find is None:
            return
        horizon = getattr(self.policy, "horizon", None)
        if horizon is not None and self._steps >= horizon:
            return
        node = find(self._steps, self._state)
        if node is not None:
            self._memory, self._lost = node, False
            self.fallbacks += 1


@final
@dataclass(frozen=True, slots=True, eq=False)
class Episode:
    """What happened: state h, action h and reward h belong together."""

    states: IndexArray  # (steps + 1,), the last is where the episode ended
    actions: IndexArray  # (steps,)
    rewards: FloatArray  # (steps,)
    terminated: bool  # by the environment, before or at the horizon
    truncated: bool  # by a limit of the environment
    outside: bool  # whether something impossible was seen
    seed: int
    fallbacks: int = 0  # steps in which the policy had no answer (`Agent`)

    @property
    def total(self) -> float:
        """Return the sum of rewards."""
        return float(self.rewards.sum())


def run_episode(env: Any, agent: Agent[Any], *, horizon: int, seed: int) -> Episode:
    """Return one episode of an agent in a Gymnasium environment, at most H steps.

    The environment has discrete observations and actions; it is reset with the seed.
    """
    first_state = _offset(env.observation_space, "observations")
    first_action = _offset(env.action_space, "actions")
    if isinstance(horizon, bool) or not isinstance(horizon, int) or horizon < 0:
        raise InvalidArgument(f"horizon is {horizon!r}", hint="a whole number from 0")
    observation, _ = env.reset(seed=seed)
    states = [int(observation) - first_state]
    actions: list[int] = []
    rewards: list[float] = []
    terminated = truncated = False
    agent.reset(states[0])
    while len(actions) < horizon and not (terminated or truncated):
        action = agent.act()
        observation, reward, terminated, truncated, _ = env.step(action + first_action)
        actions.append(action)
        rewards.append(float(reward))
        states.append(int(observation) - first_state)
        agent.observe(states[-1])
    return Episode(
        states=owned(np.array(states, np.int32)),
        actions=owned(np.array(actions, np.int32)),
        rewards=owned(np.array(rewards, np.float64)),
        terminated=bool(terminated),
        truncated=bool(truncated),
        outside=agent.outside,
        seed=seed,
        fallbacks=agent.fallbacks,
    )


def _drawn(chances: FloatArray, draw: float) -> int:
    """Return the action at a quantile of the probabilities."""
    total, last = 0.0, 0
    for action, chance in enumerate(chances.tolist()):
        if chance > 0.0:
            total, last = total + chance, action
            if draw < total:
                break
    return last


def _offset(space: Any, what: str) -> int:
    """Return the first number of a discrete space, or raise."""
    if not hasattr(space, "n") or not hasattr(space, "start"):
        raise InvalidArgument(
            f"the {what} of the environment are {space}, not discrete",
            hint="tabular policies need spaces of type Discrete",
        )
    return int(space.start)
