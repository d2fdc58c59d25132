"""A claim that is wrong on purpose: the verdict machinery must refute it.

"An agent without memory loses no more over a long episode than over a short one." The
gap is certified on both sides and grows with the horizon, so the check fails with its
whole interval. A true check stands beside it, because one refutation has to be enough,
and if this claim ever holds, no other verdict can be trusted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from simgap.experiments.framework.claim import (
    ROOM,
    Claim,
    ClaimResult,
    Tell,
    check,
    curve,
    figure,
)
from simgap.experiments.framework.without_memory import memory_gaps
from simgap.records.claim import ClaimVerdict


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Horizons of three needles: from the first to the last the gap must not grow."""

    horizons: tuple[int, ...]
    with_memory: bool = False  # with it the same sentence is true


QUICK = Settings(horizons=(16, 32, 64))
FULL = Settings(horizons=(16, 32, 64, 128, 256))


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    tell("three needles")
    both = [memory_gaps(3, 0.0, 1.0, h, seed=seed) for h in settings.horizons]
    oracle = [remembering for remembering, _ in both]
    agent = oracle if settings.with_memory else [forgetting for _, forgetting in both]
    short, long = settings.horizons[0], settings.horizons[-1]
    return ClaimResult(
        checks=(
            check(
                f"H = {long}: the best agent with memory loses no more than the agent "
                "(one part in 10^9 allowed)",
                oracle[-1],
                agent[-1] * (1.0 + ROOM),
            ),
            check(
                f"the agent loses no more over H = {long} than over H = {short} "
                "(one part in 10^9 allowed)",
                agent[-1],
                agent[0] * (1.0 + ROOM),
            ),
        ),
        key=(f"gap at H = {long} over gap at H = {short}", agent[-1] / agent[0]),
        summary=f"The agent loses {agent[0].middle:.4g} over {short} steps and "
        f"{agent[-1].middle:.4g} over {long}.",
        figures=(
            figure(
                "Three needles",
                "horizon H",
                "average gap",
                curve("the agent", settings.horizons, agent),
            ),
        ),
    )


CLAIM = Claim(
    name="control",
    title="A wrong claim, to see that wrong claims are refuted",
    statement="The gap of an agent without memory stays bounded as the horizon grows. "
    "(This is false, and stated here to test the verdicts themselves.)",
    source="a control of this library; the paper says the opposite",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
)
