"""Will it transfer? The paper's assumptions checked on a class, and a verdict.

Every assumption becomes a finding in plain words. With a horizon the verdict rests on
certified losses, which need no assumption: one that fails is then a warning. Without a
horizon it rests on the theorems, and an assumption that fails voids it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from simgap.answers.audit.finding import Finding, Status
from simgap.answers.audit.grid import Judged, grid_findings, on_this_grid
from simgap.answers.audit.large_oracle import Report
from simgap.answers.audit.losses import PlanningSettings, Transfer, transfer
from simgap.answers.audit.numbers import conditioning_finding, number_findings
from simgap.answers.audit.separation import Apart, models_apart, separation_findings
from simgap.answers.audit.smoothness import smoothness_finding
from simgap.answers.audit.theory import Theory, theory
from simgap.answers.audit.verdict import Verdict, verdict_in_the_long_run
from simgap.answers.audit.ways_back import WaysBack, ways_back, ways_back_finding
from simgap.answers.audit.words import (
    Words,
    words_in_steps,
    words_in_the_long_run,
    words_of_one_model,
)
from simgap.answers.planned_class import PlannedClass
from simgap.answers.weighted_models import WeightedModels, weighted_models
from simgap.errors import InvalidArgument
from simgap.mdp import LatentMDP, checked_latent
from simgap.oracle import Outcome
from simgap.planning import checked_horizon
from simgap.records import Certainty


@final
@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """What was found; numbers are in the class's own units of reward."""

    horizon: int | None
    models: WeightedModels
    ways_back: WaysBack
    apart: Apart
    theory: Theory
    transfer: Transfer | None  # None without a horizon
    verdict: Verdict
    certainty: Certainty  # of the verdict
    words: Words
    code: str | None  # why a grid leaves the verdict open
    findings: tuple[Finding, ...]
    settings: PlanningSettings

    @property
    def failed(self) -> bool:
        """Whether a script should stop here."""
        fails = any(each.status is Status.FAIL for each in self.findings)
        return fails or self.verdict.bad


DEFAULT = PlanningSettings()


def audit(
    latent: LatentMDP,
    horizon: int | None = None,
    *,
    settings: PlanningSettings = DEFAULT,
    planned: PlannedClass | None = None,
    progress: Report = None,
) -> Audit:
    """Return every finding about a class and whether its oracle transfers.

    What is `planned` of the class already, at this horizon, is not planned again.
    """
    checked_latent(latent)
    if not 0.0 < settings.acceptable < 1.0:
        raise InvalidArgument(
            f"an acceptable loss of {settings.acceptable!r}",
            hint="it is a part of what is at stake, above 0 and below 1: 0.1",
        )
    if horizon is not None and checked_horizon(horizon) < 1:
        raise InvalidArgument(
            f"a horizon of {horizon}", hint="one step or more, or None for the long run"
        )
    models = weighted_models(latent)
    back = ways_back(models.simulators)
    apart = models_apart(models, back)
    known = theory(
        latent, models, back, apart, horizon=horizon, thorough=settings.thorough
    )
    lost = None
    if horizon is not None:
        lost = transfer(
            latent,
            horizon,
            settings,
            promised=known.promised,
            planned=planned,
            progress=progress,
        )
    if lost is None:
        verdict = verdict_in_the_long_run(
            different=apart.different,
            ways_back=back.sound,
            loss_per_step=apart.loss_per_step,
        )
        words = words_in_the_long_run(verdict, models, back, apart)
    else:
        verdict = lost.verdict
        words = words_in_steps(latent, lost, back, settings)
    if apart.different == 1:  # whatever rounding makes of it
        verdict, words = Verdict.YES, words_of_one_model()
        lost = None if lost is None else replace(lost, verdict=verdict)
        judged = Judged(verdict, words, None)
    else:
        judged = on_this_grid(
            verdict, words, models.simulators, lost, settings.acceptable
        )
    return Audit(
        horizon=horizon,
        models=models,
        ways_back=back,
        apart=apart,
        theory=known,
        transfer=lost,
        verdict=judged.verdict,
        certainty=_certainty(latent, lost, apart),
        words=judged.words,
        code=judged.code,
        findings=(
            *grid_findings(models.simulators),
            *_findings(latent, models, back, apart, known, lost, settings),
        ),
        settings=settings,
    )


def _certainty(latent: LatentMDP, lost: Transfer | None, apart: Apart) -> Certainty:
    """Return how sure a verdict is; graphs and equal numbers are exact."""
    proved = lost is not None or apart.confused or latent.on_grid is not None
    return latent.certified if proved else "exact"


def _findings(
    latent: LatentMDP,
    models: WeightedModels,
    back: WaysBack,
    apart: Apart,
    known: Theory,
    lost: Transfer | None,
    settings: PlanningSettings,
) -> tuple[Finding, ...]:
    horizon = None if lost is None else lost.horizon
    stake = None
    if lost is not None and lost.stakes is not None:
        stake = lost.stakes.average.lower
    gaps, rounding = None, None
    if lost is not None and lost.gaps is not None:
        gaps = lost.gaps[models.index]
    if lost is not None and lost.rounding is not None and stake:
        rounding = lost.rounding / stake
    facts = None if known.measured is None else known.measured.facts
    return (
        *number_findings(latent),
        ways_back_finding(models.simulators, back, horizon=horizon),
        known.findings[0],
        *separation_findings(models, apart, horizon=horizon),
        smoothness_finding(models, gaps, stake=stake, acceptable=settings.acceptable),
        *known.findings[1:],
        *_planning(models, lost),
        conditioning_finding(
            models.simulators,
            spans=None if facts is None else facts.spans,
            residual=0.0 if facts is None else facts.residual,
            rounding=rounding,
        ),
    )


def _planning(models: WeightedModels, lost: Transfer | None) -> tuple[Finding, ...]:
    """Return why planning stopped, if there was any."""
    if lost is None:
        return ()
    if lost.outcome is None:
        text = (
            f"not planned: {lost.horizon} steps are too many for this class; losses "
            "are bounded by theory and by what acting at random loses"
        )
        return (Finding("planning", Status.INFO, text),)
    done = lost.outcome in (Outcome.EXACT, Outcome.SOLVED)
    text = lost.outcome.value
    if not done:
        text += ": the bracket is valid but wider than asked"
    if lost.planned < len(models.names):
        text += (
            f"; planned for {lost.planned} of {len(models.names)} models, evaluated in "
            "all of them (--thorough plans for all)"
        )
    status = Status.OK if done else Status.WARNING
    return (Finding("planning", status, text, float(lost.planned)),)
