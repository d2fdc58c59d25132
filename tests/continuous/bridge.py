"""The sampled path held to certified numbers: classes that are run as black boxes.

A class of tables has values and gaps that are proved. Here it is measured like any
simulator, by `transfer`, and every interval is compared with the proved number. The
table of docs/validation.md is made by: python -m tests.continuous.bridge
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, final

import numpy as np

import simgap
from simgap.arrays import AnyArray, FloatArray, OffsetArray
from simgap.continuous import Batch
from simgap.gap import gaps
from simgap.instances import build_instance
from simgap.intervals import Certified, Estimate
from simgap.mdp import LatentMDP, SimulatorClass
from simgap.oracle import BoundedOracle, domain_randomization_oracle
from simgap.planning import optimal_values, solve_episodic
from simgap.policies import MarkovPolicy, Policy, save_policy
from simgap.records.transfer import Transfer, TransferPolicy, WorstPoint

DOCUMENT = Path(__file__).parents[2] / "docs" / "validation.md"
MARK = "<!-- made by: python -m tests.continuous.bridge 20 -->\n"
OPTIMAL = "optimal"
PLANNING = BoundedOracle(time_limit=1.0, gap_tolerance=0.3, episodes=100)


@final
@dataclass(frozen=True, slots=True)
class Case:
    """A class with proved numbers, and the simulator that it is run as."""

    name: str
    model: str  # an instance
    horizon: int
    randomize: str  # every model once, in the order of the class
    episodes: int
    simulator: str = ""  # other than the class itself

    @property
    def door(self) -> str:
        return "Gymnasium" if self.simulator else "`model:`"


LAKE = "gym:FrozenLake-v1?success_rate=1/3,0.5,0.75,1&terminal=absorb"
CLIFF = "gym:CliffWalking-v1?is_slippery=true&terminal=absorb"
RATES = "success_rate={0.333333333333333333,0.5,0.75,1}"
CASES = (
    Case("FrozenLake", LAKE, 20, RATES, 200),
    Case("FrozenLake", LAKE, 20, RATES, 100, "gym:FrozenLake-v1"),
    Case("CliffWalking, slippery", CLIFF, 40, "model={0}", 200),
    Case(
        "CliffWalking, slippery",
        CLIFF,
        40,
        "delay={0}",
        48,
        "gym:CliffWalking-v1?is_slippery=true",
    ),
    Case(
        "pendulum on 9x9 nodes",
        "discretise:Pendulum-v1?mass=0.5,1,1.5&cells=9x9&actions=3",
        15,
        "mass={0.5,1,1.5}",
        100,
    ),
    Case(
        "RiverSwim",
        "riverswim?success=0.2,0.4,0.6",
        20,
        "success={0.2,0.4,0.6}",
        200,
    ),
)


class Compared(NamedTuple):
    """An interval that was measured, what it must hold, and what it should not."""

    column: str  # intervals of one column and different rows are independent
    lower: float
    upper: float
    guaranteed: bool
    proved: Certified
    elsewhere: Certified | None  # the same number in another model
    warned: bool = False  # few episodes differ, or none

    @property
    def missed(self) -> bool:
        return not self.holds(self.proved)

    def holds(self, number: Certified) -> bool:
        return self.lower <= number.upper and number.lower <= self.upper


@final
@dataclass(frozen=True, slots=True, eq=False)
class Optimal:
    """The optimal plan of each model, for who is told which one it is."""

    worlds: SimulatorClass
    plans: AnyArray  # (M, H, S)
    name: str = OPTIMAL
    informed: bool = True

    def reset(self, batch: Batch) -> tuple[OffsetArray, int]:
        """Return the model of each episode, and that it begins."""
        if len(self.worlds) == 1:
            return np.zeros(batch.size, np.int64), 0
        (name,) = self.worlds.theta.names
        apart = np.abs(batch.theta[name][:, None] - self.worlds.theta.values[:, 0])
        return apart.argmin(axis=1), 0

    def act(self, observations: FloatArray, memory: Any) -> tuple[FloatArray, Any]:
        model, step = memory
        at = min(step, self.plans.shape[1] - 1)  # tried before its episodes begin
        actions = self.plans[model, at, observations[:, 0].astype(np.int64)]
        return actions.astype(np.float64), (model, step + 1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Proved:
    """What the certified half says of a class and its policies."""

    policies: dict[str, Policy[Any]]
    plans: Optimal
    optimal: tuple[Certified, ...]  # (M,)
    gaps: dict[str, tuple[Certified, ...]]  # by policy, (M,)

    def value(self, policy: str, member: int) -> Certified:
        return self.optimal[member] - self.gap(policy, member)

    def gap(self, policy: str, member: int) -> Certified:
        members = self.gaps.get(policy)
        return Certified(0.0, 0.0) if members is None else members[member]


@lru_cache(maxsize=32)
def proved(model: str, horizon: int) -> Proved:
    """Return the oracle's graph, a plan without memory and chance, with their gaps."""
    worlds = build_instance(model)
    oracle = domain_randomization_oracle(
        LatentMDP.uniform(worlds), horizon=horizon, solver=PLANNING
    )
    n_states, n_actions = worlds.n_states, worlds.n_actions
    plans = solve_episodic(worlds, horizon).policy
    chance = np.full((n_states, n_actions), 1.0 / n_actions)
    policies: dict[str, Policy[Any]] = {
        "oracle": replace(oracle.policy, fallback=None),  # nothing leaves the class
        "memoryless": MarkovPolicy("memoryless", n_actions, plans[0]),
        "random": MarkovPolicy("random", n_actions, chance),
    }
    ends = optimal_values(worlds, horizon).start_ends
    return Proved(
        policies,
        Optimal(worlds, plans),
        tuple(Certified(*each) for each in ends.tolist()),
        {name: gaps(worlds, each, horizon) for name, each in policies.items()},
    )


def measured(case: Case, seed: int, folder: Path) -> Transfer:
    """Return what the sampled path says of the case, policies brought as files."""
    known = proved(case.model, case.horizon)
    brought: dict[str, Any] = {"random": "random"}
    for name in ("oracle", "memoryless"):
        path = folder / f"{name}.simgap"
        save_policy(known.policies[name], path)
        brought[name] = str(path)
    return simgap.transfer(
        case.simulator or f"model:{case.model}",
        brought,
        references={OPTIMAL: known.plans},
        randomize=case.randomize,
        horizon=case.horizon,
        episodes=case.episodes,
        beyond=1.0,
        checked=False,  # one value of a parameter has no effect
        seed=seed,
    )


def compared(case: Case, answer: Transfer) -> Iterator[Compared]:
    """Yield every interval of the answer beside its proved number."""
    known = proved(case.model, case.horizon)
    members = len(known.optimal)
    assert [len(each.points) for each in answer.policies] == [members] * 4
    for policy in answer.policies:
        name = policy.name
        values = tuple(known.value(name, member) for member in range(members))
        lost = tuple(known.gap(name, member) for member in range(members))
        for member, point in enumerate(policy.points):
            yield from _compared(f"return {name}", point.returned, values, member)
            if point.gap is not None:
                yield from _compared(f"gap {name}", point.gap, lost, member)
        yield from _compared(f"mean {name}", policy.mean, (_mean(values),), 0)
        if policy.gap is not None:
            yield from _compared(f"mean gap {name}", policy.gap, (_mean(lost),), 0)
        yield from _compared(
            f"worst {name}", policy.worst.number, values, _place(policy, policy.worst)
        )
        if policy.worst_gap is not None:
            at = _place(policy, policy.worst_gap)
            number = policy.worst_gap.number
            yield from _compared(f"worst gap {name}", number, lost, at)


def _compared(
    column: str, found: Estimate, numbers: tuple[Certified, ...], member: int
) -> Iterator[Compared]:
    """Yield both intervals of a number; the t interval with room for rounding."""
    other = numbers[member - 1] if len(numbers) > 1 else None
    room = 1e-9 * (1.0 + abs(found.estimate))
    ends = (found.lower - room, found.upper + room)
    warned = found.warning is not None
    yield Compared(column, *ends, False, numbers[member], other, warned)
    if found.guaranteed is not None:
        yield Compared(column, *found.guaranteed.ends, True, numbers[member], other)


def _mean(numbers: tuple[Certified, ...]) -> Certified:
    return sum(numbers, Certified(0.0, 0.0)) / Certified(len(numbers), len(numbers))


def _place(policy: TransferPolicy, worst: WorstPoint) -> int:
    return [each.theta for each in policy.points].index(worst.theta)


def every(cases: tuple[Case, ...], seeds: range) -> list[tuple[Case, list[Compared]]]:
    """Return all comparisons of each case, over runs with different seeds."""
    found = []
    with TemporaryDirectory() as folder:
        for number, case in enumerate(cases):
            rows = [
                each
                for seed in seeds
                for each in compared(
                    case, measured(case, 1000 * number + seed, Path(folder))
                )
            ]
            found.append((case, rows))
    return found


def table(found: list[tuple[Case, list[Compared]]]) -> str:
    """Return one line per case."""
    lines = [
        "| class | run as | models | H | episodes | numbers | 95 % intervals hold | "
        "numbers with a warning | 95 % intervals hold | guaranteed ones hold | beside "
        "another model's number, 95 % intervals hold |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for case, rows in found:
        models = len(proved(case.model, case.horizon).optimal)
        told = f"{case.name} | {case.door} | {models} | {case.horizon}"
        lines.append(f"| {told} | {case.episodes} | {_counts(rows)} |")
    total = _counts([each for _, rows in found for each in rows])
    return "\n".join([*lines, f"| all | | | | | {total} |"]) + "\n"


def _counts(rows: list[Compared]) -> str:
    usual = [each for each in rows if not (each.guaranteed or each.warned)]
    warned = [each for each in rows if each.warned]
    sure = [each for each in rows if each.guaranteed]
    other = [each.holds(each.elsewhere) for each in usual if each.elsewhere is not None]
    return (
        f"{len(usual)} | {_share([not e.missed for e in usual])} | "
        f"{len(warned)} | {_share([not e.missed for e in warned])} | "
        f"{_share([not e.missed for e in sure])} | " + (_share(other) if other else "-")
    )


def _share(held: list[bool]) -> str:
    return f"{100.0 * held.count(True) / len(held):.1f} %" if held else "-"


def table_after(mark: str, text: str) -> str:
    """Return the table that follows a mark in the document."""
    found = re.match(r"\n((\|[^\n]*\n)*)", text.partition(mark)[2])
    return found[1] if found else ""


def main() -> None:
    """Write the table of the document, after so many runs of each case."""
    runs = range(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
    text = DOCUMENT.read_text()
    old, made = table_after(MARK, text), table(every(CASES, runs))
    DOCUMENT.write_text(text.replace(f"{MARK}\n{old}", f"{MARK}\n{made}"))


if __name__ == "__main__":
    main()
