"""Algorithm 3 as printed: its threshold is 0 at the first step (errata E17, E18).

Print compares the statistic of an episode with D sqrt(2 (h - h0) log(2HM)). At the
first step h = h0, so that any step that is not certain contradicts the model that is
played, the real one included. Then

* a fair coin that is the real model is dropped with probability 1 (theory row 33);
* the class of theory row 34 (four rivers) is empty after four steps, whatever is real;
  print does not say what happens then (E18), here the class is taken up again;
* what is lost grows like H where sqrt(H log H) is promised.

Chances are computed without sampling. With n = h - h0 + 1 all three promises hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, final

from simgap.base_policies.paper import (
    OptimisticExploration,
    Threshold,
    optimistic_exploration,
)
from simgap.bounds import ProvedThreshold, optimistic_gap
from simgap.experiments.framework.agent_losses import KnownClass
from simgap.experiments.framework.claim import (
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
    table,
)
from simgap.experiments.framework.growth import growth_exponent
from simgap.gap import OptimisticGap, elimination_tests, first_passage_gap
from simgap.instances import bandit, best_arm, riverswim
from simgap.intervals import Certified, Estimate, least
from simgap.records.claim import ClaimVerdict

SQUARE_ROOT = 0.6  # exponents up to here would pass as a square root


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Which horizons and how many runs."""

    coin_horizon: int
    horizons: tuple[int, ...]  # of two arms
    runs: int
    literal: bool = True  # a control repairs the count


QUICK = Settings(coin_horizon=50, horizons=(10**3, 10**4, 10**5), runs=60)
FULL = Settings(coin_horizon=1000, horizons=(10**3, 10**4, 10**5, 10**6), runs=50)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """What happens within some steps, and how often."""

    name: Annotated[str, "class"]
    steps: Annotated[int, "steps"]
    event: Annotated[str, "event"]
    chance: Annotated[Certified, "chance"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    tell("a fair coin")
    horizon, literal = settings.coin_horizon, settings.literal
    (coin,) = _followed(KnownClass.of("", bandit((0.5,))), horizon, literal)
    dropped = coin.eliminated[0]
    rows = [Row("a fair coin", horizon, "the real model goes", dropped)]
    tell("four rivers")
    rivers = KnownClass.of("four rivers", riverswim(6, (0.35, 0.25, 0.45, 0.30)))
    for steps in (rivers.members - 1, rivers.members):
        empty = least([f.exhausted for f in _followed(rivers, steps, literal)])
        rows.append(Row(rivers.name, steps, "all models go", empty))
    arms = KnownClass.of("two arms", best_arm(2, 0.4))
    printed, repaired = [], []
    for steps in settings.horizons:
        tell(f"two arms, H = {steps:,}")
        printed.append(_lost(arms, steps, literal, settings.runs, seed))
        repaired.append(_lost(arms, steps, False, settings.runs, seed))
    across = settings.horizons
    bounds = [_bound(arms, h) for h in across]
    exponent = growth_exponent(across, printed)
    checks = (
        check(
            f"a fair coin that is real is dropped within {horizon} steps with chance "
            "at most 1/H (theory row 33)",
            dropped,
            1.0 / horizon,
        ),
        check(
            f"the class of four rivers is empty after {rivers.members} steps with "
            "chance at most 1/H, whichever is real (theory row 34)",
            empty,
            1.0 / rivers.members,
        ),
        check(
            f"two arms, H = {across[-1]:,}: the gap is at most C2",
            printed[-1],
            bounds[-1],
        ),
        check(
            f"two arms: the gap grows at most like a square root of H, H^{SQUARE_ROOT}",
            exponent,
            SQUARE_ROOT,
        ),
    )
    return ClaimResult(
        checks=checks,
        key=(f"chance to drop a real fair coin in {horizon} steps", dropped),
        summary=f"Run as printed, Algorithm 3 drops the real model with chance "
        f"{dropped.middle:g}, and four rivers are all gone after {rivers.members} "
        f"steps with chance {empty.middle:g}; on two arms its gap grows like "
        f"H^{exponent.estimate:.2f}.",
        figures=(
            figure(
                "Algorithm 3 on two arms, as printed and repaired",
                "horizon H",
                "gap in the worst model",
                curve("as printed", across, printed),
                curve("repaired", across, repaired),
                curve("C2", across, bounds, bound=True),
                note="Both use the paper's threshold; only the count differs.",
            ),
        ),
        tables=(table("What is dropped by the printed rule", rows),),
    )


def _agent(known: KnownClass, horizon: int, literal: bool) -> OptimisticExploration:
    return optimistic_exploration(
        known.known, horizon, threshold=Threshold.PAPER, literal=literal
    )


def _followed(known: KnownClass, horizon: int, literal: bool) -> list[OptimisticGap]:
    """Return what the agent does in every model, without sampling."""
    tests = elimination_tests(_agent(known, horizon, literal))
    return [
        first_passage_gap(model, known.known.average, tests, horizon)
        for model in known.simulators
    ]


def _lost(
    known: KnownClass, horizon: int, literal: bool, runs: int, seed: int
) -> Estimate:
    agent = _agent(known, horizon, literal)
    return known.losses(agent, horizon, runs=runs, seed=seed).worst_gap


def _bound(known: KnownClass, horizon: int) -> float:
    """Return C2 with the paper's threshold."""
    return optimistic_gap(
        horizon=horizon,
        spans=[known.diameter] * known.members,
        threshold=ProvedThreshold.PAPER,
        diameter=known.diameter,
    ).value


CLAIM = Claim(
    name="algorithm-3-printed",
    title="Algorithm 3, run to the letter",
    statement="The optimistic agent, run exactly as the paper prints it, keeps the "
    "real simulator with probability at least 1 - 1/H and loses at most a constant "
    "times sqrt(H log H).",
    source="Algorithm 3 as printed (theory 3.2, rows 33 and 34)",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E17", "E18"),
)
