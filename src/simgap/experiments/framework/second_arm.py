"""Proposition 2's class and the base policy that beats its oracle (theory 4.1b, 4.9).

Two arms. The first wins half the time in every model. The second wins less often in all
models but the last, where it always wins. An oracle that averages over many models
never tries it. "The second arm until it first fails" loses p (1 - q^n) / (1 - q) over n
pulls where the arm has mean q = 1/2 - p, which is less than 1/2, and nothing where it
always wins. Where it wins 3/4 of the time, one failure tells less, and it loses more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.arrays import FloatArray
from simgap.experiments.framework.exact_oracle import SolvedOracle, exact_oracle
from simgap.gap import gaps
from simgap.instances import linear_bandit
from simgap.intervals import Certified
from simgap.mdp import SimulatorClass
from simgap.policies import Step, check_state, surely

FIRST, SECOND = 0, 1
LOSE = 0


@final
@dataclass(frozen=True, slots=True, eq=False)
class LargeClass:
    """The class of Proposition 2 for a horizon, its oracle and the base policy."""

    horizon: int
    simulators: SimulatorClass
    oracle: SolvedOracle
    base_gaps: tuple[Certified, ...]  # (M,), of "the second arm until it fails"


def large_class(
    horizon: int, members: int | None = None, bonus: float = 0.5
) -> LargeClass:
    """Return the class with 4 H + 5 models, as in print, or with so many."""
    many = 4 * horizon + 5 if members is None else members
    simulators = linear_bandit(many, bonus=bonus)
    return LargeClass(
        horizon=horizon,
        simulators=simulators,
        oracle=exact_oracle(simulators, horizon),
        base_gaps=gaps(simulators, UntilFailure(), horizon),
    )


@final
@dataclass(frozen=True, slots=True)
class UntilFailure:
    """Play the second arm until it fails once, then the first for good.

    Memory is whether it has failed.
    """

    @property
    def name(self) -> str:
        return "second arm until it fails"

    def start(self, state: int) -> bool:
        """Return False: nothing was tried."""
        check_state(state, 2)
        return False

    def act(self, memory: bool, h: int, state: int) -> FloatArray:
        """Return the probabilities of the two arms."""
        return surely(FIRST if memory else SECOND, 2)

    def observe(self, memory: bool, step: Step) -> bool:
        """Return whether the second arm has failed by now."""
        return memory or (step.action == SECOND and step.next_state == LOSE)
