"""Algorithm 4 as printed: fresh data are merged again and again (errata E20).

Print adds Z_new to Z at every switch and never empties Z_new. Early samples are in Z
once per switch, so that the least-squares fit and the confidence set weigh them many
times, as if they had been seen that often. What the analysis needs is then false:

* Z holds each sample once. After k switches of one pair it holds about twice as many
  samples as were drawn, the first ones k times.
* With beta = 2 Dl^2 log(|F| H), which keeps the real model in the set with probability
  1 - 1/H if Z_new is emptied (spec 4.7, item 1), it is lost more often. Weights w_t
  divide the exponent of the proof by sum w^2 / sum w, which comes to about 3.

Print leaves the factor c of beta open; a larger one hides the fault at a price. The
class has two models that differ by a quarter at the arm that both play. Where the
horizon is long only the first steps are run: by then the real model is gone already.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.base_policies.general_optimistic import (
    GeneralOptimistic,
    general_optimistic,
)
from simgap.base_policies.stage_one import error_rate
from simgap.experiments.agent_losses import (
    CONFIDENCE,
    KnownClass,
    known_class,
    over,
)
from simgap.experiments.claim import (
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
from simgap.experiments.intervals import curve
from simgap.instances import bandit
from simgap.policies.interface import Step
from simgap.simulation.runs import run_program
from simgap.simulation.worlds import real_models
from simgap.statistics import Estimate

REAL, OTHER = 0.5, 0.25  # means of the arm that both models play
KNOWN = 0.2  # of the arm that is the same in both
FIRST_STEPS = 500  # by which the fourth switch has come


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons and how many runs."""

    horizons: tuple[int, ...]
    runs: int
    literal: bool = True  # a control empties Z_new


QUICK = Settings((500, 1_000_000), runs=60_000)
FULL = Settings((500, 1_000_000, 1_500_000), runs=1_000_000)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """How often the real model is lost at one horizon."""

    horizon: int
    printed: Estimate
    repaired: Estimate


def run(scale: Scale, seed: int, tell: Tell) -> ClaimResult:
    """Run the claim at a scale."""
    return measured(FULL if scale is Scale.FULL else QUICK, seed, tell)


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    known = known_class("two models", bandit([[REAL, KNOWN], [OTHER, KNOWN]]))
    rows = []
    for horizon in settings.horizons:
        tell(f"H = {horizon:,}")
        rates = [
            _lost(known, horizon, literal, settings.runs, seed)
            for literal in (settings.literal, False)
        ]
        rows.append(Row(horizon, *rates))
    tell("what Z holds")
    copies = _copies(_agent(known, FIRST_STEPS, settings.literal))
    checks = (
        *(
            Check(
                f"H = {row.horizon:,}: the real model leaves the confidence set with "
                "chance at most 1/H (chance times H)",
                over(row.printed, 1.0 / row.horizon),
                exactly(1.0),
            )
            for row in rows
        ),
        Check(
            f"after {FIRST_STEPS} steps Z holds no sample twice: its size over the "
            "samples drawn",
            exactly(copies),
            exactly(1.0),
        ),
    )
    last = rows[-1]
    times = last.printed.estimate * last.horizon
    return ClaimResult(
        checks=checks,
        key_number=KeyNumber(
            f"chance to lose the real model times H, H = {last.horizon:,}",
            over(last.printed, 1.0 / last.horizon),
        ),
        summary=f"Run as printed, Algorithm 4 loses the real model {times:.0f} times "
        f"as often as allowed at H = {last.horizon:,}, and Z holds {copies:.2f} times "
        f"as many samples as were drawn in {FIRST_STEPS} steps.",
        figures=(_figure(rows),),
        tables=(
            Table(
                f"Chance to lose the real model within {FIRST_STEPS} steps",
                ("H", "as printed", "with Z_new emptied", "allowed in all of H"),
                tuple(
                    (
                        row.horizon,
                        row.printed.estimate,
                        row.repaired.estimate,
                        1.0 / row.horizon,
                    )
                    for row in rows
                ),
                ("exact", "estimated", "estimated", "exact"),
            ),
        ),
    )


def _agent(known: KnownClass, horizon: int, literal: bool) -> GeneralOptimistic:
    """Return the algorithm with the proof's constants: the reset is in question."""
    return replace(general_optimistic(known.known, horizon), literal=literal)


def _lost(
    known: KnownClass, horizon: int, literal: bool, runs: int, seed: int
) -> Estimate:
    agent = _agent(known, horizon, literal)
    steps = min(horizon, FIRST_STEPS)
    worlds = real_models(agent.observed, known.simulators, steps)
    (found,) = run_program(agent, worlds, runs=runs, seed=seed, models=[0])
    return error_rate(int(found.truth_eliminated.sum()), runs, CONFIDENCE)


def _copies(agent: GeneralOptimistic) -> float:
    """Return the size of Z over the steps behind it, by the masses that it keeps.

    Every step of the arm that both play adds the same to the pair's mass, and what it
    brings does not change it, so that one path stands for all until models are dropped.
    """
    apart, drawn = (REAL - OTHER) ** 2, 0
    state, memory, behind = 0, agent.start(0), 0
    for h in range(agent.horizon):
        action = int(agent.act(memory, h, state).argmax())
        following = h % 2  # half of them win, as in the real model
        before = memory.switches
        memory = agent.observe(memory, Step(h, state, action, following, None))
        state, drawn = following, drawn + 1
        if memory.switches > before:
            behind = drawn
    return memory.settled.apart[0] / apart / behind


def _figure(rows: list[Row]) -> Figure:
    across = [float(row.horizon) for row in rows]
    seen = [row for row in rows if row.repaired.estimate > 0.0]  # the axis is a log
    return Figure(
        "How often Algorithm 4 loses the real model",
        "horizon H",
        "chance",
        (
            curve(
                "as printed",
                across,
                [row.printed for row in rows],
                certainty="estimated",
            ),
            curve(
                "with Z_new emptied",
                [float(row.horizon) for row in seen],
                [row.repaired for row in seen],
                certainty="estimated",
            ),
            curve("1/H", across, [1.0 / h for h in across], bound=True),
        ),
        log_x=True,
        log_y=True,
        note=f"Within the first {FIRST_STEPS} steps.",
    )


CLAIM = Claim(
    name="algorithm-4-printed",
    title="Algorithm 4, run to the letter",
    statement="The agent that refits to all its data, run exactly as the paper prints "
    "it, counts every sample once and keeps the real simulator in its confidence set "
    "with probability at least 1 - 1/H.",
    source="Algorithm 4 as printed, Lemma 10 (spec 3.3, 4.7)",
    expected=Verdict.REFUTED,
    run=run,
    errata=("E20",),
)
