"""The remark after Theorem 4: d_e <= M. Four models can have six (errata E7).

The eluder dimension of F at 1/H is said to be at most the number of models, so that
Theorem 4 contains Theorem 2. What is true is d_e <= M(M - 1)/2: a pair of functions can
witness one independent point only. Theory row 27 reaches it with four
functions on six points, and divided by 1.01 these are the means of six arms in four
bandits of diameter at most 2. The dimension does not fall when the scale does, so it is
6 for every horizon from 2 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

import numpy as np

from simgap.arrays import FloatArray
from simgap.complexity import (
    FunctionClass,
    eluder_dimension,
    function_class,
    function_class_from_matrix,
)
from simgap.experiments.framework.claim import (
    ROOM,
    Claim,
    ClaimResult,
    Tell,
    check,
    table,
)
from simgap.instances import bandit, linear_bandit, needle, riverswim
from simgap.intervals import Certified, greatest
from simgap.mdp import SimulatorClass
from simgap.planning import diameter
from simgap.records.claim import ClaimVerdict

SIX_POINTS: FloatArray = np.array(
    [
        (0.0, 1.01, 0.505, 0.505),
        (0.505, 0.505, 0.0, 1.01),
        (0.0, 0.67, 1.01, 0.34),
        (0.0, 1.01, 1.01, 1.01),
        (0.0, 0.0, 0.0, 1.01),
        (0.0, 0.0, 1.01, 0.0),
    ]
)  # theory row 27: a row per point, a column per function
LARGEST = 1.01


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """At which horizons, and whether with the class that refutes the remark."""

    horizons: tuple[int, ...]
    six_points: bool = True  # a control leaves them out, and the remark stands
    members: int = 6  # of the classes that agree with it


QUICK = Settings(horizons=(2, 10, 100))
FULL = Settings(horizons=(2, 3, 10, 100, 1000, 10**4), members=8)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A class at one scale."""

    name: Annotated[str, "class"]
    members: Annotated[int, "M"]
    epsilon: Annotated[float, "scale"]
    dimension: Annotated[Certified, "d_e"]
    pairs: Annotated[int, "M(M - 1)/2"]
    diameter: Annotated[float | str, "diameter"]  # "-": functions alone


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    rows = []
    if settings.six_points:
        tell("six points")
        functions = function_class_from_matrix(SIX_POINTS.T)
        rows.append(_row("four functions", functions, 1.0, "-"))
    for name, simulators in _classes(settings):
        tell(name)
        functions, far = function_class(simulators), diameter(simulators).upper
        rows += [_row(name, functions, 1.0 / h, far) for h in settings.horizons]
    names = list(dict.fromkeys(row.name for row in rows))
    checks = (
        *(
            check(
                f"{name}: the eluder dimension is at most M, the greatest ratio",
                greatest([r.dimension / r.members for r in rows if r.name == name]),
                1.0 + ROOM,
            )
            for name in names
        ),
        check(
            "what is true: it is at most M(M - 1)/2 in all of them, the greatest ratio",
            greatest([row.dimension / row.pairs for row in rows]),
            1.0 + ROOM,
        ),
    )
    worst = max(rows, key=lambda r: (r.dimension.middle - r.members, r.diameter != "-"))
    return ClaimResult(
        checks=checks,
        key=(
            f"eluder dimension of {worst.name} with M = {worst.members}",
            worst.dimension,
        ),
        summary=f"The class {worst.name!r} has M = {worst.members} members and eluder "
        f"dimension {worst.dimension.middle:g} at the scale {worst.epsilon:g}; no "
        "class had more than M(M - 1)/2.",
        tables=(table("Eluder dimensions beside M", rows),),
    )


def _row(name: str, functions: FunctionClass, epsilon: float, far: float | str) -> Row:
    found, members = eluder_dimension(functions, epsilon), functions.function.size
    ends = Certified(float(found.lower), float(found.upper))
    return Row(name, members, epsilon, ends, members * (members - 1) // 2, far)


def four_bandits() -> SimulatorClass:
    """Return the six points as means of six arms in four bandits (theory 4.9)."""
    return bandit((SIX_POINTS.T / LARGEST).tolist())


def _classes(settings: Settings) -> tuple[tuple[str, SimulatorClass], ...]:
    members = settings.members
    agreeing = (
        ("needles", needle(members)),
        ("Proposition 2", linear_bandit(members)),
        ("rivers", riverswim(4, tuple(np.linspace(0.2, 0.7, members)))),
    )
    six = (("four bandits", four_bandits()),) if settings.six_points else ()
    return six + agreeing


CLAIM = Claim(
    name="eluder-remark",
    title="The eluder dimension is at most the number of simulators, as printed",
    statement="The eluder dimension, which measures how many surprises a class of "
    "simulators can hold, is never larger than the number of simulators in it.",
    source="Remark after Theorem 4, as printed (theory 2.11, rows 27-28)",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E7",),
)
