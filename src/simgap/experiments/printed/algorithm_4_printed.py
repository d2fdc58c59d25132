"""Algorithm 4 as printed: fresh data are merged again and again (errata E20).

Print adds Z_new to Z at every switch and never empties Z_new, so that Z_new holds all
data, and Z the data of the k-th episode once for every switch since. The least-squares
fit, the confidence set and the importance score then weigh early samples many times, as
if they had been seen that often. The proof (Lemmas 9 and 10) needs every sample once.

Here the algorithm is run to the letter: alpha = 4 D^2 + 1, the importance score of
Appendix C.3 over all pairs of F, no reset. Print leaves the constant c of beta = c D^2
log(H N) open; it is c = 2 + 6 / (D log(HN)), the least for which the proof holds with a
reset. The class has two models that differ by a quarter at the arm that both play, so
that what Z weighs for this pair, over 1/16, is the number of its samples: they are
counted, on a path, and what follows a step does not change them.

How often the real model leaves the confidence set is reported beside it. With these
constants it does not within reach of sampling: what falls is the argument, not, as far
as can be seen here, the guarantee.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, final

from simgap.base_policies.paper import GeneralOptimistic, general_optimistic
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
from simgap.instances import bandit
from simgap.policies import Step
from simgap.records.claim import ClaimVerdict
from simgap.simulation import real_models, run_program

REAL, OTHER = 0.5, 0.75  # means of the arm that both models play
KNOWN = 0.2  # of the arm that is the same in both


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """How many steps are counted, and in how many runs the real model is watched."""

    steps: int
    runs: int
    watched: int  # steps of these runs
    literal: bool = True  # a control empties Z_new


QUICK = Settings(steps=10_000, runs=2_000, watched=2_000)
FULL = Settings(steps=100_000, runs=100_000, watched=5_000)


@final
@dataclass(frozen=True, slots=True)
class Merge:
    """Z after a switch."""

    step: Annotated[int, "step"]
    drawn: Annotated[int, "samples drawn"]  # so far
    held: Annotated[int, "samples in Z"]  # a sample as often as it is there
    copies: Annotated[int, "copies of the first"]


def measured(settings: Settings, seed: int, tell: Tell) -> ClaimResult:
    """Return what was found with given settings."""
    known = KnownClass.of("two models", bandit([[REAL, KNOWN], [OTHER, KNOWN]]))
    printed = general_optimistic(known.known, settings.steps, literal=True)
    agent = replace(printed, literal=settings.literal)
    tell(f"what Z holds after {settings.steps:,} steps")
    merges = _merges(agent)
    tell(f"{settings.runs:,} runs")
    lost = _lost(known, agent, settings, seed)
    last, drawn = merges[-1], [each.drawn for each in merges]
    return ClaimResult(
        checks=(
            check(
                f"after {len(merges)} switches in {settings.steps:,} steps Z holds no "
                "more samples than were drawn: its size over theirs",
                last.held / last.drawn,
                1.0,
            ),
        ),
        key=("samples in Z over samples drawn", last.held / last.drawn),
        summary=f"After {last.drawn:,} samples and {len(merges)} switches Z holds "
        f"{last.held:,}, the first ones {last.copies} times. The real model left the "
        f"confidence set in {lost} of {settings.runs:,} runs of {settings.watched:,} "
        "steps.",
        figures=(
            figure(
                "Z holds early samples again and again",
                "samples drawn",
                "samples in Z",
                curve(
                    "as printed" if settings.literal else "with Z_new emptied",
                    drawn,
                    [each.held for each in merges],
                ),
                curve("every sample once", drawn, drawn, bound=True),
            ),
        ),
        tables=(
            table(
                f"Switches with alpha = {agent.ridge:g} and beta = {agent.radius:.4g}",
                merges,
            ),
        ),
    )


def _merges(agent: GeneralOptimistic) -> list[Merge]:
    """Return the size of Z after every switch, by the mass that it keeps of the pair.

    Every step of the arm that both play adds as much to this mass as any other.
    """
    apart = (REAL - OTHER) ** 2
    found: list[Merge] = []
    state, memory = 0, agent.start(0)
    for h in range(agent.horizon):
        action = int(agent.act(memory, h, state).argmax())
        following = h % 2  # half of them win, as in the real model
        before = memory.switches
        memory = agent.observe(memory, Step(h, state, action, following, None))
        state = following
        if memory.switches > before:
            held = memory.settled.apart[0] / apart
            if abs(held - round(held)) > 1e-6 * held:
                raise AssertionError(f"{held} samples in Z: a defect of the count")
            copies = len(found) + 1 if agent.literal else 1
            found.append(Merge(h + 1, h + 1, round(held), copies))
    return found


def _lost(
    known: KnownClass, agent: GeneralOptimistic, settings: Settings, seed: int
) -> int:
    """Return in how many runs the real model leaves the set at some switch."""
    worlds = real_models(agent.observed, known.simulators, settings.watched)
    (found,) = run_program(agent, worlds, runs=settings.runs, seed=seed, models=[0])
    return int(found.truth_eliminated.sum())


CLAIM = Claim(
    name="algorithm-4-printed",
    title="Algorithm 4, run to the letter",
    statement="The agent that refits to all its data, run exactly as the paper prints "
    "it, counts every sample once, as its analysis does.",
    source="Algorithm 4 as printed (theory 3.3, 4.7)",
    expected=ClaimVerdict.REFUTED,
    measure=measured,
    quick=QUICK,
    full=FULL,
    errata=("E20",),
)
