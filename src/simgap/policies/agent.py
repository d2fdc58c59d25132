"""Policies at work: an agent with a memory of its own, and episodes in Gymnasium."""

from __future__ import annotations

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
    not raise: `outside` becomes true and the agent goes on, with the memory it had, or
    from the start if its memory is of no use in the new state.
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
        self._flag = on_outside == "flag"
        self._random = np.random.default_rng(seed)
        self._memory: Memory | None = None
        self._state = -1  # no episode yet
        self._action = -1  # no action since the last observation
        self._steps = 0
        self._lost = False  # there is no memory to act on

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
        self._state, self._action, self._steps = int(observation), -1, 0
        self._recall(self._state)

    def act(self) -> int:
        """Return an action, drawn from the probabilities of the policy.

        An agent that has lost its way (flagged, and without any usable memory) plays
        action 0.
        """
        if self._state < 0:
            raise InvalidArgument(
                "the agent has no episode", hint="call reset(observation) first"
            )
        if self._lost:
            self._action = 0
            return 0
        chances = self.policy.act(self._memory, self._steps, self._state)  # type: ignore[arg-type]
        self._action = _drawn(chances, float(self._random.random()))
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
        if self._lost:
            self._recall(self._state)
            return
        try:
            self._memory = self.policy.observe(self._memory, step)  # type: ignore[arg-type]
        except OutsideClass:
            if not self._flag:
                raise
            self.outside = True
            self._keep_or_recall()

    def _keep_or_recall(self) -> None:
        """Go on with the old memory if it can be used in the new state."""
        horizon = getattr(self.policy, "horizon", None)
        if horizon is not None and self._steps >= horizon:
            return
        try:
            self.policy.act(self._memory, self._steps, self._state)  # type: ignore[arg-type]
        except InvalidArgument:
            self._recall(self._state)

    def _recall(self, state: int) -> None:
        """Remember what the policy remembers at the start of an episode in a state."""
        try:
            self._memory = self.policy.start(state)
            if self._steps:
                self.policy.act(self._memory, self._steps, state)
            self._lost = False
        except (OutsideClass, InvalidArgument) as error:
            if not self._flag or (
                self._steps == 0 and isinstance(error, InvalidArgument)
            ):
                raise
            self.outside = True
            self._lost = not self._fall_back_on_prior()

    def _fall_back_on_prior(self) -> bool:
        """Remember the prior, if memories are posteriors, and return whether so."""
        prior = getattr(self.policy, "prior", None)
        if prior is None:
            return False
        self._memory = tuple(prior.tolist())  # type: ignore[assignment]
        return True


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
