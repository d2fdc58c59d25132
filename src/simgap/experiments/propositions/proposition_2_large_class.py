"""Proposition 2: with many simulators the oracle does not explore, and loses linearly.

Means (1/2, 1/2 - p_i) in the models i < M, 1/4 < p_i < 1/2, and (1/2, 1/2 + bonus) in
the last. If sum p_i > (H - 1) bonus, the first pull of the second arm costs the average
more than it can ever earn, so no oracle pulls it: its gap in the last model is (H - 1)
bonus (`instances.linear_bandit`). Two classes of diameter 2 and eluder dimension 1:

* bonus 1/2 and M = 4H + 5, the instance in print. There is a base policy that loses
  less than 1/2 in every model.
* bonus 1/4 and M = H: the proposition as it is stated, for M >= H. The instance in
  print does not show it: with M = H its oracle explores (errata E33).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Annotated, final

from simgap.complexity import covering_number, eluder_dimension, function_class
from simgap.experiments.framework.claim import (
    ROOM,
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.experiments.framework.second_arm import large_class
from simgap.intervals import Certified, Estimate, greatest, least
from simgap.planning import diameter


@final
@dataclass(frozen=True, slots=True)
class Class:
    """A class of M = per_step H + more models for every horizon."""

    per_step: int
    more: int
    bonus: float  # of the second arm in the last model

    def members(self, horizon: int) -> int:
        return self.per_step * horizon + self.more


PRINTED = Class(per_step=4, more=5, bonus=0.5)
SMALLEST = Class(per_step=1, more=0, bonus=0.25)  # M = H


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons and which classes."""

    horizons: tuple[int, ...]
    classes: tuple[Class, ...] = (PRINTED, SMALLEST)


QUICK = Settings(horizons=(5, 20, 40, 80))
FULL = Settings(horizons=(5, 20, 40, 80, 120, 160))


@final
@dataclass(frozen=True, slots=True)
class Row:
    """The class for one horizon."""

    horizon: Annotated[int, "H"]
    members: Annotated[int, "M"]
    bonus: Annotated[float, "bonus"]
    value: Annotated[Certified, "W*"]
    last_gap: Annotated[Certified, "gap, last model"]  # the least of all oracles
    other_gaps: Annotated[Certified, "gap, others"]  # the greatest of all oracles
    base: Annotated[Certified, "base policy"]  # worst of "second arm until it fails"
    diameter: Annotated[Certified, "diameter"]
    eluder: Annotated[Certified, "d_e(1/H)"]
    cover: Annotated[int, "N(F, 1/H)"]  # from above


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings; nothing is drawn."""
    rows = []
    for each, horizon in product(settings.classes, settings.horizons):
        tell(f"M = {each.members(horizon)}, H = {horizon}")
        rows.append(_row(horizon, each))
    of_class = {
        each: [row for row in rows if row.bonus == each.bonus]
        for each in settings.classes
    }
    exponents = [_exponent(own) for own in of_class.values()]
    room = ROOM * max(settings.horizons)
    checks = (
        *(
            check(
                f"M = {_words(each)}: the gap of every oracle in the last model is "
                f"{each.bonus:g} (H - 1): the greatest difference, 1e-9 per step "
                "allowed",
                greatest([abs(r.last_gap - (r.horizon - 1) * r.bonus) for r in own]),
                room,
            )
            for each, own in of_class.items()
        ),
        check(
            "and 0 in every other model: the greatest, 1e-9 per step allowed",
            greatest([row.other_gaps for row in rows]),
            room,
        ),
        check("it grows at least like (H - 1)^0.99", 0.99, least(exponents)),
        check("and no faster than (H - 1)^1.01", greatest(exponents), 1.01),
        check(
            "the diameter of the class is 2 (1e-9 allowed)",
            greatest([row.diameter for row in rows]),
            2.0 + ROOM,
        ),
        check(
            "the eluder dimension at 1/H is 1",
            greatest([row.eluder for row in rows]),
            1.0,
        ),
        *(
            check(
                '"the second arm until it fails" loses at most 1/2 in every model, '
                "where the second arm of the last one never fails",
                greatest([row.base for row in own]),
                0.5,
            )
            for each, own in of_class.items()
            if each.bonus == PRINTED.bonus
        ),
    )
    curves = []
    for each, own in of_class.items():
        words, lost = _words(each), [row.last_gap for row in own]
        base = [row.base for row in own]
        curves += [
            curve(f"oracle, last of M = {words}", settings.horizons, lost),
            curve(f"base policy, worst of M = {words}", settings.horizons, base),
        ]
    last, smallest = rows[-1], settings.classes[-1]
    return ClaimResult(
        checks=checks,
        key=(
            f"exponent of the gap in the number of pulls, M = {_words(smallest)}",
            exponents[-1],
        ),
        summary=f"With M = {last.members} models and H = {last.horizon} no oracle "
        f"tries the second arm: it loses {last.last_gap.middle:g}, with exponent "
        f"{exponents[-1].middle:.4f} in H - 1."
        + "".join(
            f" With M = {own[-1].members} it loses {own[-1].last_gap.middle:g}."
            for own in list(of_class.values())[:-1]
        ),
        figures=(
            figure(
                "Too many bad simulators: the oracle never looks for the good one",
                "horizon H",
                "gap",
                *curves,
                note='The base policy plays "the second arm until it fails".',
            ),
        ),
        tables=(table("Proposition 2's class", rows),),
    )


def _words(each: Class) -> str:
    """Return M as a formula in H."""
    many = "H" if each.per_step == 1 else f"{each.per_step}H"
    return f"{many} + {each.more}" if each.more else many


def _exponent(rows: list[Row]) -> Certified | Estimate:
    """Return the exponent in H - 1, or 0 if some gap may be 0: nothing grows there."""
    if min(row.last_gap.lower for row in rows) <= 0.0:
        return Certified(0.0, 0.0)
    pulls = [row.horizon - 1 for row in rows]
    return growth_exponent(pulls, [row.last_gap for row in rows])


def _row(horizon: int, each: Class) -> Row:
    members = each.members(horizon)
    large = large_class(horizon, members, each.bonus)
    functions = function_class(large.simulators)
    eluder = eluder_dimension(functions, 1.0 / horizon)
    far = diameter(large.simulators)
    return Row(
        horizon=horizon,
        members=members,
        bonus=each.bonus,
        value=large.oracle.value,
        last_gap=large.oracle.least_gaps[-1],
        other_gaps=greatest(large.oracle.greatest_gaps[:-1]),
        base=greatest(large.base_gaps),
        diameter=Certified(far.lower, far.upper),
        eluder=Certified(float(eluder.lower), float(eluder.upper)),
        cover=covering_number(functions, 1.0 / horizon).upper,
    )


CLAIM = Claim(
    name="proposition-2",
    title="With very many simulators the randomized policy does not explore",
    statement="There is a class of simulators of diameter 2, as many as steps in the "
    "horizon, on which every policy trained on all of them never tries the action that "
    "the real model rewards, and loses a quarter of the horizon there; with the "
    "paper's own instance, of four times the horizon and more, it loses a half.",
    source="Proposition 2 (theory 4.9, rows 23-26)",
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E33",),
)
