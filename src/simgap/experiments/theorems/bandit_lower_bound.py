"""The bandit behind Theorem 3: no policy avoids a gap of order sqrt(MH) (theory 4.10).

M arms, n = H - 1 pulls; in model m arm m wins with probability 1/2 + e, the others with
1/2. Every policy, the oracle included, has on average over the class

    gap >= n e (1 - 1/M - sqrt(n kl / (2M))),   kl = -log(1 - 4 e^2) / 2.

With e = sqrt(M/n)/4 that is at least 0.052 sqrt(Mn). The oracle's own gap is computed
exactly by going through all beliefs; it grows like sqrt(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Annotated, final

from simgap.bounds import best_arm_lower, hardest_best_arm_lower
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.exact_oracle import exact_oracle
from simgap.experiments.framework.growth import growth_exponent
from simgap.instances import best_arm
from simgap.intervals import Certified, greatest

CONSTANT = 0.052  # of sqrt(Mn), at e = sqrt(M/n)/4


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Pulls to try for each number of arms, and single rows."""

    pulls: tuple[tuple[int, tuple[int, ...]], ...]  # (M, pulls)
    fixed: tuple[tuple[int, int, float], ...]  # (M, pulls, e)
    raised: float = 1.0  # the bound is multiplied by it; a control takes more


ROW_19, ROW_20 = (2, 50, 0.05), (2, 10, 0.25 * sqrt(0.2))
QUICK = Settings(
    pulls=((2, (8, 16, 32, 64)), (3, (4, 8, 16, 24))),
    fixed=(ROW_19, ROW_20, (2, 20, 0.2), (4, 10, 0.1)),
)
FULL = Settings(
    pulls=((2, (8, 16, 32, 64, 128, 160)), (3, (4, 8, 16, 32)), (4, (4, 8, 12, 16))),
    fixed=(ROW_19, ROW_20, (2, 20, 0.2), (4, 10, 0.1), (2, 100, 0.01), (3, 20, 0.3)),
)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One class: the exact average gap of its oracle beside the bound."""

    members: Annotated[int, "M"]
    pulls: Annotated[int, "pulls"]
    e: Annotated[float, "e"]
    value: Annotated[Certified, "W*"]
    gap: Annotated[Certified, "average gap"]
    bound: Annotated[float, "bound"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    families: list[tuple[int, list[Row]]] = []
    for members, pulls in settings.pulls:
        tell(f"M = {members}")
        families.append((members, [_row(members, n, None, settings) for n in pulls]))
    tell("fixed e")
    fixed = [_row(m, n, e, settings) for m, n, e in settings.fixed]
    rows = [row for _, family in families for row in family] + fixed
    exponents = [
        growth_exponent([r.pulls for r in family], [r.gap for r in family])
        for _, family in families
    ]
    checks = [
        check(
            f"no one of {len(rows)} oracles loses less on average than the bound: the "
            "greatest ratio of bound to exact gap",
            greatest([row.bound / row.gap for row in rows]),
            1.0,
        )
    ]
    for (members, family), exponent in zip(families, exponents, strict=True):
        checks += [
            check(
                f"M = {members}, e = sqrt(M/n)/4: every gap is at least 0.052 "
                "sqrt(Mn), the greatest ratio",
                greatest([CONSTANT * sqrt(members * r.pulls) / r.gap for r in family]),
                1.0,
            ),
            check(f"M = {members}: the gap grows at least like n^0.4", 0.4, exponent),
            check(f"M = {members}: and no faster than n^0.6", exponent, 0.6),
        ]
    members, family = families[0]
    last, across = family[-1], [row.pulls for row in family]
    hardest = [
        hardest_best_arm_lower(horizon=n + 1, members=members).value for n in across
    ]
    return ClaimResult(
        checks=tuple(checks),
        key=(f"exponent of the oracle's gap in pulls, M = {members}", exponents[0]),
        summary=f"With {members} arms and {last.pulls} pulls the oracle loses "
        f"{last.gap.middle:.4f}, the bound is {last.bound:.4f}; the gap grows with "
        f"exponent {exponents[0].estimate:.3f} "
        f"[{exponents[0].lower:.3f}, {exponents[0].upper:.3f}].",
        figures=(
            figure(
                f"Two arms that differ by sqrt({members}/n)/4: nobody can do better",
                "pulls n = H - 1",
                "average gap",
                curve("oracle, exact", across, [row.gap for row in family]),
                curve("lower bound", across, [row.bound for row in family], bound=True),
                curve("lower bound at its hardest e", across, hardest, bound=True),
            ),
        ),
        tables=(table("Exact average gaps and the bound", rows),),
    )


def _row(members: int, pulls: int, e: float | None, settings: Settings) -> Row:
    """Return one class, with e = sqrt(M/n)/4 unless it is given."""
    apart = sqrt(members / pulls) / 4.0 if e is None else e
    oracle = exact_oracle(best_arm(members, apart), pulls + 1)
    bound = best_arm_lower(horizon=pulls + 1, members=members, e=apart).value
    return Row(
        members=members,
        pulls=pulls,
        e=apart,
        value=oracle.value,
        gap=oracle.average_gap,
        bound=bound * settings.raised,
    )


CLAIM = Claim(
    name="bandit-lower-bound",
    title="Even the best policy pays sqrt(MH) for not knowing which of M arms is good",
    statement="When M simulators differ in which of M actions is slightly better, "
    "every policy, trained in whatever way, loses on average a constant times the "
    "square root of M times the horizon.",
    source="Lower bound of Theorem 3's kind for bandits (theory 4.10, rows 19-20)",
    measure=measured,
    quick=QUICK,
    full=FULL,
)
