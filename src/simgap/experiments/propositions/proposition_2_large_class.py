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
from typing import final

from simgap.complexity import covering_number, eluder_dimension, function_class
from simgap.experiments.framework.claim import (
    Check,
    Claim,
    ClaimResult,
    Figure,
    KeyNumber,
    Scale,
    Table,
    Tell,
    Verdict,
    exactly,
)
from simgap.experiments.framework.intervals import (
    ROOM,
    curve,
    extreme,
    greatest,
    growth,
    middle,
    minus,
    size,
)
from simgap.experiments.framework.second_arm import large_class
from simgap.intervals import Certified
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

    horizon: int
    members: int
    bonus: float
    last_gap: Certified  # the least of all oracles in the last model
    other_gaps: Certified  # the greatest of all oracles in the others
    base: Certified  # worst gap of "the second arm until it fails"
    value: Certified  # W*
    diameter: Certified
    eluder: Certified  # d_e at 1/H
    cover: int  # N(F, 1/H), from above


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


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
    exponents = [
        growth([row.horizon - 1.0 for row in own], [row.last_gap for row in own])
        for own in of_class.values()
    ]
    checks = (
        *(
            Check(
                f"M = {_words(each)}: the gap of every oracle in the last model is "
                f"{each.bonus:g} (H - 1): the greatest difference, 1e-9 per step "
                "allowed",
                greatest(
                    [
                        size(minus(row.last_gap, (row.horizon - 1) * row.bonus))
                        for row in own
                    ]
                ),
                exactly(ROOM * max(settings.horizons)),
            )
            for each, own in of_class.items()
        ),
        Check(
            "and 0 in every other model: the greatest, 1e-9 per step allowed",
            greatest([row.other_gaps for row in rows]),
            exactly(ROOM * max(settings.horizons)),
        ),
        Check(
            "it grows at least like (H - 1)^0.99",
            exactly(0.99),
            extreme(exponents, min),
        ),
        Check(
            "and no faster than (H - 1)^1.01", extreme(exponents, max), exactly(1.01)
        ),
        Check(
            "the diameter of the class is 2 (1e-9 allowed)",
            greatest([row.diameter for row in rows]),
            exactly(2.0 + ROOM),
        ),
        Check(
            "the eluder dimension at 1/H is 1",
            greatest([row.eluder for row in rows]),
            exactly(1.0),
        ),
        *(
            Check(
                '"the second arm until it fails" loses at most 1/2 in every model, '
                "where the second arm of the last one never fails",
                greatest([row.base for row in own]),
                exactly(0.5),
            )
            for each, own in of_class.items()
            if each.bonus == PRINTED.bonus
        ),
    )
    across = [float(horizon) for horizon in settings.horizons]
    last, smallest = rows[-1], settings.classes[-1]
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            f"exponent of the gap in the number of pulls, M = {_words(smallest)}",
            exponents[-1],
        ),
        summary=f"With M = {last.members} models and H = {last.horizon} no oracle "
        f"tries the second arm: it loses {middle(last.last_gap):g}, with exponent "
        f"{middle(exponents[-1]):.4f} in H - 1."
        + "".join(
            f" With M = {own[-1].members} it loses {middle(own[-1].last_gap):g}."
            for own in list(of_class.values())[:-1]
        ),
        figures=(
            Figure(
                "Too many bad simulators: the oracle never looks for the good one",
                "horizon H",
                "gap",
                tuple(
                    line
                    for each, own in of_class.items()
                    for line in (
                        curve(f"oracle, last of M = {_words(each)}", across,
                              [row.last_gap for row in own]),
                        curve(f"base policy, worst of M = {_words(each)}", across,
                              [row.base for row in own]),
                    )
                ),
                log_x=True,
                log_y=True,
                note='The base policy plays "the second arm until it fails".',
            ),
        ),
        tables=(
            Table(
                "Proposition 2's class",
                ("H", "M", "bonus", "W*", "gap, last model", "gap, others",
                 "base policy", "diameter", "d_e(1/H)", "N(F, 1/H)"),
                tuple(
                    (
                        row.horizon,
                        row.members,
                        row.bonus,
                        middle(row.value),
                        middle(row.last_gap),
                        middle(row.other_gaps),
                        middle(row.base),
                        middle(row.diameter),
                        middle(row.eluder),
                        row.cover,
                    )
                    for row in rows
                ),
                ("exact",) * 10,
            ),
        ),
    )  # fmt: skip


def _words(each: Class) -> str:
    """Return M as a formula in H."""
    many = "H" if each.per_step == 1 else f"{each.per_step}H"
    return f"{many} + {each.more}" if each.more else many


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
        last_gap=large.oracle.least_gaps[-1],
        other_gaps=greatest(large.oracle.greatest_gaps[:-1]),
        base=greatest(large.base_gaps),
        value=large.oracle.value,
        diameter=Certified(far.lower, far.upper),
        eluder=Certified(float(eluder.lower), float(eluder.upper)),
        cover=covering_number(functions, 1.0 / horizon).upper,
    )


CLAIM = Claim(
    name="proposition-2",
    title="With very many simulators the randomized policy does not explore",
    statement="There is a class of simulators of diameter 2, as many as steps in the "
    "horizon, on which every policy trained on all of them never tries the action that "
    "the real world rewards, and loses a quarter of the horizon there; with the "
    "paper's own instance, of four times the horizon and more, it loses a half.",
    source="Proposition 2 (theory 4.9, rows 23-26)",
    expected=Verdict.HOLDS,
    run=run,
    errata=("E33",),
)
