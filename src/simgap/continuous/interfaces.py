"""What a simulator and a policy are: four small interfaces, many episodes at once.

A *simulator* has named parameters, each with the value it has when nothing is
randomized. `instantiate(values)` builds *worlds*: a batch of independent copies, each
with its own parameters, which step together. No simulator draws a parameter, and no
distribution knows a simulator.

A *policy* is asked for the actions of a whole batch. What it remembers is a value that
the caller carries: `reset` returns the memory of a new batch of episodes, `act` takes
one and returns the next one. Nothing else is kept, so that episodes cannot leak into
each other.

Everything that happens in an episode is a function of its world's parameters, its seed
and the actions: two policies that meet the same seed meet the same start and the same
noise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple, Protocol, final

from simgap.arrays import BoolArray, FloatArray, OffsetArray, read_only
from simgap.errors import InvalidArgument

LARGEST = 3.4e38  # of an observation or reward: networks know no larger numbers


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a simulator that may be randomized."""

    name: str  # for instance "mass" or "body.torso.mass"
    nominal: float  # what it is if nobody changes it
    low: float = -inf  # what it may be at least
    high: float = inf
    low_open: bool = False  # the end itself is refused: a mass is above 0
    high_open: bool = False
    whole: bool = False  # only whole numbers
    unit: str = ""
    meaning: str = ""

    def allows(self, value: float) -> bool:
        """Return whether a value lies in the domain."""
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below and (not self.whole or float(value).is_integer())


@final
@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """Actions or observations of so many numbers, each between two ends."""

    low: FloatArray  # (size,), may be -inf
    high: FloatArray  # (size,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", read_only(self.low))
        object.__setattr__(self, "high", read_only(self.high))
        if self.low.ndim != 1 or self.low.shape != self.high.shape:
            raise InvalidArgument(
                f"ends of shapes {self.low.shape} and {self.high.shape}",
                hint="give two lists of numbers of the same length",
            )

    @property
    def size(self) -> int:
        """Return how many numbers there are."""
        return self.low.size


@final
@dataclass(frozen=True, slots=True)
class Choices:
    """One of n actions, called 0 to n - 1, or one of n observations."""

    n: int

    @property
    def size(self) -> int:
        """Return how many numbers an observation or an action has: one."""
        return 1


Space = Box | Choices


class Stepped(NamedTuple):
    """What one step of a batch of B worlds leads to."""

    observation: FloatArray  # (B, O)
    reward: FloatArray  # (B,)
    ended: BoolArray  # (B,), the episode is over, whatever the reason
    success: BoolArray | None = None  # (B,), where the simulator says so
    broken: Mapping[int, str] = {}  # row -> what went wrong; that episode is over


class Worlds(Protocol):
    """A batch of B worlds, each with its own parameters."""

    def reset(self, seeds: OffsetArray) -> FloatArray:
        """Start a new episode in each world, (B,) seeds -> observations (B, O)."""
        ...

    def step(self, actions: FloatArray, alive: BoolArray) -> Stepped:
        """Make one step; rows that are not alive are not looked at any more.

        `actions` is (B, A) for a `Box`, (B,) of whole numbers for `Choices`.
        """
        ...

    def close(self) -> None:
        """Give back what the worlds hold."""
        ...


def parameter_of(simulator: Any, name: str) -> Parameter | None:
    """Return the parameter of a name, also one that the simulator does not list."""
    for each in simulator.parameters:
        if each.name == name:
            found: Parameter = each
            return found
    unlisted: Parameter | None = getattr(simulator, "unlisted", lambda _: None)(name)
    return unlisted


class Placeable(Worlds, Protocol):
    """Worlds that can be put where an observation says: one-step predictions."""

    def place(self, observations: FloatArray) -> None:
        """Put world i into the state that shows observation i, (B, O)."""
        ...


class Simulator(Protocol):
    """A simulator with hidden parameters."""

    @property
    def name(self) -> str:
        """How the command line names it, or what its maker calls it."""
        ...

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every parameter that can be set."""
        ...

    @property
    def observation(self) -> Space:
        """What is seen."""
        ...

    @property
    def action(self) -> Space:
        """What can be done."""
        ...

    @property
    def horizon(self) -> int | None:
        """Steps after which the simulator itself ends an episode, if it does."""
        ...

    def return_bounds(self, horizon: int) -> tuple[float, float] | None:
        """Return what the sum of `horizon` rewards certainly lies between, if known."""
        ...

    def instantiate(self, values: Mapping[str, FloatArray]) -> Worlds:
        """Return B worlds: absolute values (B,) of parameters, others are nominal.

        With no values at all there is one world, B = 1.
        """
        ...


@final
@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B episodes that are about to begin: what a policy may be told of them.

    `seeds` are for policies that draw random numbers. `theta` is for informed policies
    only: the drawn parameters by name, (B,) each.
    """

    seeds: OffsetArray  # (B,)
    theta: Mapping[str, FloatArray] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return the number of episodes."""
        return self.seeds.size


class BroughtPolicy(Protocol):
    """A policy of whatever origin, for a batch of episodes at once."""

    @property
    def name(self) -> str:
        """What a table calls it."""
        ...

    def reset(self, batch: Batch) -> Any:
        """Return what is remembered when the episodes begin."""
        ...

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        """Return actions (B, A) or (B,), and what is remembered from now on."""
        ...
